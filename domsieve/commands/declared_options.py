"""Make options of the command line from declared options, and convert their values."""

import inspect
import re
from collections.abc import Callable, Collection, Iterator
from datetime import timedelta
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_origin

import typer

from domsieve.commands.console import failures
from domsieve.commands.general_options import with_parameters
from domsieve.declaration import DeclaredOption, declared
from domsieve.errors import UsageError

_SIZE = re.compile("0*([1-9][0-9]{0,8})x0*([1-9][0-9]{0,8})")


def typer_option(group: type, name: str) -> Any:
    """Return the Typer option for a declared option of a group."""
    one = declared(group)[name]
    option = one.option
    names = [_flag(one)] if one.kind is not bool or one.default is False else []
    return typer.Option(
        *names,
        help=option.help,
        metavar=option.metavar or None,
        envvar=option.envvar or None,
        min=option.min_value if one.kind is int else None,
    )


def option_parameters(group: type, *, leave_out: Collection[str] = ()) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command for the options of a group."""
    for name, one in declared(group).items():
        if name not in leave_out:
            yield inspect.Parameter(
                _parameter(one),
                inspect.Parameter.KEYWORD_ONLY,
                default=_default(one),
                annotation=Annotated[_type(one), typer_option(group, name)],
            )


def option_values(group: type, values: dict[str, Any], *, leave_out: Collection[str] = ()) -> dict[str, Any]:
    """Remove the values of these parameters from `values`, and return them converted, by field of the group.

    Raises
    ------
    UsageError : a value is not valid.
    """
    return {
        name: _value(one, values.pop(_parameter(one)))
        for name, one in declared(group).items()
        if name not in leave_out
    }


def having(group: type, name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace the parameter `name` of a command by the options of a group."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**values: Any) -> None:
            with failures():
                given = group(**option_values(group, values))
            command(**values, **{name: given})

        own = [one for one in inspect.signature(command).parameters.values() if one.name != name]
        return with_parameters(run, [*own, *option_parameters(group)])

    return decorate


def seconds(option: str, value: float, *, least: float = 0) -> timedelta:
    """Return the value of an option in seconds as a timedelta.

    Raises
    ------
    UsageError : it is less than `least`, or more than a day.
    """
    if not least <= value <= 86_400:
        raise UsageError(f"{option} {value:g}: give seconds from {least:g} to 86400.")
    return timedelta(seconds=value)


def _flag(one: DeclaredOption) -> str:
    return f"--{one.flag}"


def _parameter(one: DeclaredOption) -> str:
    return one.flag.replace("-", "_")


def _is_size(one: DeclaredOption) -> bool:
    return get_origin(one.kind) is tuple and not one.is_list


def _type(one: DeclaredOption) -> Any:
    if one.is_list:
        return list[str] | None
    kind = float if one.kind is timedelta else str if _is_size(one) else one.kind
    return kind | None if one.is_optional else kind


def _default(one: DeclaredOption) -> Any:
    if one.is_list:
        return None
    if one.kind is timedelta:
        return one.default.total_seconds()
    return "{}x{}".format(*one.default) if _is_size(one) else one.default


def _value(one: DeclaredOption, value: Any) -> Any:
    flag = _flag(one)
    if one.is_list:
        items = value or ()
        return (
            tuple(_pair(flag, text, one.option.pair) for text in items) if one.option.pair else tuple(items)
        )
    if one.kind is timedelta:
        # A duration with a minimum must be above it.
        return seconds(flag, value, least=0 if one.option.min_value is None else 0.001)
    if _is_size(one):
        size = _SIZE.fullmatch(value)
        if not size:
            raise UsageError(f"{flag} {value}: give width x height in px, such as 1280x800.")
        return int(size[1]), int(size[2])
    return Path(value) if one.kind is Path and value is not None else value


def _pair(option: str, text: str, mark: str) -> tuple[str, str]:
    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{option} {text!r}: write name{mark}value.")
    return name.strip(), value.strip()
