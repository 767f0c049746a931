"""The options for a method and its parameters."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.analysis.registry import Method, MiningMethod
from domsieve.types import Favor, Mode

if TYPE_CHECKING:
    from domsieve.analysis.registry import MethodParams

MethodOption = Annotated[
    Method | None, typer.Option(help="Cleaning method [default: the model's, else auto].")
]
MiningMethodOption = Annotated[MiningMethod, typer.Option(help="Method to find records.")]
FavorOption = Annotated[
    Favor | None,
    typer.Option(help="auto: keep less but surer text (precision) or more text (recall) [default: balance]."),
]
ModeOption = Annotated[Mode, typer.Option(help="site: adapted to today's sites; paper: as published.")]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE", help="Parameter of the method, such as threshold=0.2 for sst; repeatable."
    ),
]


def params_of(
    method: Method | MiningMethod,
    texts: Sequence[str] | None,
    *,
    mode: Mode = "site",
    favor: Favor | None = None,
) -> "MethodParams":
    """Return the parameters of a method from ``--param``, ``--mode`` and ``--favor``.

    Raises
    ------
    ParameterError : the method does not have a parameter, or its value is not valid.
    """
    from domsieve.analysis.registry import MethodParams, entry_of

    entry = entry_of(method)
    given = entry.read(texts or ())
    params = MethodParams(mode, {**given, "favor": favor} if favor else given)
    entry.check(params)
    return params
