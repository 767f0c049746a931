"""The keyword parameters of the calls: their types, defaults and groups, each declared once.

The signatures of the calls and of their async versions are made from the classes here.
"""

import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict, TypeVar, get_args, get_type_hints

from domsieve.analysis.estimator import Estimator
from domsieve.analysis.fields.fields_model import FieldsModel
from domsieve.analysis.registry import Method, MiningMethod
from domsieve.analysis.site_model import SiteModel
from domsieve.errors import UsageError
from domsieve.library.inputs import PageInput
from domsieve.library.site_results import SiteProgress
from domsieve.options import CaptureOptions, NetworkOptions, Scope
from domsieve.types import BlockKind, FieldName, HiddenText, SyncFormat

AnyPath = str | os.PathLike[str]
MethodChoice = Method | Estimator
"""A cleaning method: its name, or an object with its parameters."""

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Default:
    """The default of a keyword parameter."""

    value: object


class FetchKeywords(TypedDict, total=False):
    """How pages are fetched."""

    cache: Annotated[AnyPath | None, Default(None)]
    capture: Annotated[CaptureOptions | None, Default(None)]
    network: Annotated[NetworkOptions | None, Default(None)]


class CompareKeywords(FetchKeywords, total=False):
    """How rendered pages are compared with their raw source."""

    twice: Annotated[bool, Default(value=False)]


class SelectKeywords(FetchKeywords, total=False):
    """Which parts of pages are used."""

    select: Annotated[Iterable[str], Default(())]
    drop: Annotated[Iterable[str], Default(())]


class CleanKeywords(SelectKeywords, total=False):
    """How pages are cleaned."""

    method: Annotated[MethodChoice | None, Default(None)]
    model: Annotated[SiteModel[Any] | AnyPath | None, Default(None)]
    models: Annotated[AnyPath | None, Default(None)]
    hidden: Annotated[HiddenText, Default("layout")]
    keep_kinds: Annotated[Iterable[BlockKind], Default(())]
    drop_kinds: Annotated[Iterable[BlockKind], Default(())]
    alone: Annotated[bool, Default(False)]


class RecordsKeywords(SelectKeywords, total=False):
    """How records are found, and which of their fields are wanted."""

    method: Annotated[MiningMethod | Estimator, Default("wobm")]
    fields: Annotated[Iterable[FieldName], Default(())]


class SiteKeywords(FetchKeywords, total=False):
    """Which pages of a site are visited."""

    pages: Annotated[int | None, Default(100)]
    seed: Annotated[int, Default(0)]
    include: Annotated[Iterable[str], Default(())]
    exclude: Annotated[Iterable[str], Default(())]
    depth: Annotated[int, Default(Scope().depth)]
    progress: Annotated[Callable[[SiteProgress], object] | None, Default(None)]


class SyncKeywords(TypedDict, total=False):
    """Which pages of a site are followed, and what is written."""

    format: Annotated[SyncFormat | None, Default(None)]
    include: Annotated[Iterable[str] | None, Default(None)]
    exclude: Annotated[Iterable[str] | None, Default(None)]
    depth: Annotated[int | None, Default(None)]
    pages: Annotated[int | None, Default(None)]
    capture: Annotated[CaptureOptions | None, Default(None)]
    network: Annotated[NetworkOptions | None, Default(None)]


class LearnFieldsKeywords(FetchKeywords, total=False):
    """Which other pages of a site its fields are learned from."""

    pages: Annotated[Iterable[PageInput], Default(())]


class FieldsKeywords(SelectKeywords, total=False):
    """How the fields of pages are found."""

    model: Annotated[FieldsModel | AnyPath | None, Default(None)]


_NETWORK = (
    "timeout",
    "concurrency",
    "private_hosts",
    "allow_private",
    "driver",
    "keep_errors",
    "analysis_budget",
)
_METHOD = {
    "favor": 'AutoCleaner(favor="precision")',
    "mode": 'SiteStyleTree.of_mode("paper")',
    "threshold": "SiteStyleTree(threshold=0.2)",
    "style": 'SiteStyleTree(style="html")',
    "regions": "TagPathFilter(regions=2)",
    "complement": "TagPathFilter(complement=True)",
    "has_text": 'TagPathFilter(has_text="in stock")',
}
REMOVED: Mapping[str, str] = {
    "options": "capture=CaptureOptions(...)",
    "keep_hidden": 'hidden="keep"',
    **{name: f"network=NetworkOptions({name}=...)" for name in _NETWORK},
    **{name: f"method={example}" for name, example in _METHOD.items()},
}
"""What to pass instead of keyword parameters that were removed."""


def takes(keywords: type) -> Callable[[F], F]:
    """Show the keyword parameters of a `TypedDict` in the signature of a call, for `help` and editors."""

    def with_signature(call: F) -> F:
        own = [*inspect.signature(call).parameters.values()][:-1]
        more = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default.value, annotation=annotation
            )
            for name, (annotation, default) in _declared(keywords).items()
        ]
        call.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]
        return call

    return with_signature


def given(call: str, keywords: type, how: Mapping[str, Any]) -> dict[str, Any]:
    """Return all keyword parameters of a call, with defaults for those that the caller did not give.

    Raises
    ------
    UsageError : a parameter was removed; the message says what to pass instead.
    TypeError : the call has no such parameter.
    """
    declared = _declared(keywords)
    for name in how:
        if name not in declared:
            if name in REMOVED:
                raise UsageError(f"{name} was removed from {call}(); pass {REMOVED[name]}.", parameter=name)
            raise TypeError(
                f"{call}() got an unexpected keyword argument {name!r}; it takes {', '.join(declared)}"
            )
    return {name: how.get(name, default.value) for name, (_, default) in declared.items()}


def _declared(keywords: type) -> dict[str, tuple[Any, Default]]:
    """Return the annotation and the default of each key of a `TypedDict`."""
    found = {}
    for name, hint in get_type_hints(keywords, include_extras=True).items():
        annotation, default = get_args(hint)
        found[name] = annotation, default
    return found
