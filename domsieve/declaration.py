"""How options are declared: what each accepts, its default, and what every interface tells users about it.

An option is a field of a frozen dataclass, annotated with an `Option`. The library, the command line, the HTTP
service and its web form make their options from the same fields. The options themselves are in `domsieve.options`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, is_dataclass
from datetime import timedelta
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from domsieve.errors import UsageError

_LONGEST = timedelta(days=1)

OptionGroup = Literal["Pages", "Capture", "Network", "Analysis", "Output", "Storage", "Work", "General"]
"""The groups of options, in the order in which ``--help`` shows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How the HTTP service offers an option: the field of its requests, and of its web form.

    Parameters
    ----------
    label : the name in the web form and its messages.
    name : the name in requests; empty for the name of the option.
    example : a value, for the documentation and for the empty field of the form.
    takes : what to write instead of a wrong value, for messages; empty to give the limits.
    low, high : the limits of a number, or of a duration in seconds.
    max_length : the maximum length of a text, or of an item of a list.
    pattern : regular expression that a text, or an item of a list, must match.
    max_items : the maximum number of items of a list.
    choices : the label of each choice in the form.
    """

    label: str
    name: str = ""
    example: str = ""
    takes: str = ""
    low: float | None = None
    high: float | None = None
    max_length: int = 500
    pattern: str = r"\S"
    max_items: int = 20
    choices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Option:
    """What interfaces need to know about an option, besides its type and its default.

    Parameters
    ----------
    help : one sentence for users of the command line.
    group : the group of options in which ``--help`` shows it.
    served : how the HTTP service offers it; None if it does not.
    flag : the name on the command line, without dashes; empty for the name of the field.
    metavar : what stands for a value in help; empty for the usual word of its type.
    envvar : environment variable with the default; empty for none.
    pair : the mark between the two parts of each item of a list of pairs.
    items : what the items of a list are, as messages for Python callers show it.
    min_value : the least number or duration in seconds; a duration must be above it, a number may be equal.
    """

    help: str
    _: KW_ONLY
    group: OptionGroup = "Capture"
    served: Served | None = None
    flag: str = ""
    metavar: str = ""
    envvar: str = ""
    pair: str = ""
    items: str = ""
    min_value: float | None = None


@dataclass(frozen=True, slots=True)
class DeclaredOption:
    """An option of a group.

    Parameters
    ----------
    name : the name of its field.
    kind : the type of its value, or of the items of a list; without None.
    is_list, is_optional : whether it is a list, or may be None.
    default : the default.
    option : what its declaration says.
    """

    name: str
    kind: Any
    is_list: bool
    is_optional: bool
    default: Any
    option: Option

    @property
    def choices(self) -> tuple[str, ...]:
        """The words that it accepts; empty if it is not a choice of words."""
        return get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def flag(self) -> str:
        """The name on the command line, without dashes."""
        return self.option.flag or self.name.replace("_", "-")

    @property
    def served_name(self) -> str:
        """The name in requests of the HTTP service; durations are in seconds there."""
        served = self.option.served
        return (served and served.name) or (f"{self.name}_s" if self.kind is timedelta else self.name)


@cache
def declared(group: type) -> dict[str, DeclaredOption]:
    """Return the options of a group by their names, in the order of their declaration."""
    hints = get_type_hints(group, include_extras=True)
    found = {}
    for one in fields(group):
        annotation, *notes = get_args(hints[one.name]) if _is_annotated(hints[one.name]) else (None,)
        option = next((note for note in notes if isinstance(note, Option)), None)
        if option is None:
            continue
        parts = get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)
        kinds = [part for part in parts if part is not NoneType]
        kind = kinds[0]
        is_list = get_origin(kind) is Iterable or (
            get_origin(kind) is tuple and get_args(kind)[-1] is Ellipsis
        )
        found[one.name] = DeclaredOption(
            one.name,
            get_args(kind)[0] if is_list else kind,
            is_list,
            len(kinds) < len(parts),
            one.default,
            option,
        )
    return found


def check_group(group: Any) -> None:
    """Check the values of the options of a group; lists become tuples.

    Raises
    ------
    UsageError : a value is wrong; the message says what would be right.
    """
    kind: Any = type(group)
    for name, one in declared(kind).items():
        value = getattr(group, name)
        if value is None and one.is_optional:
            continue
        if one.is_list:
            items = (
                tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else None
            )
            if items is None or not all(_is_item(one.kind, item) for item in items):
                raise wrong(
                    name, value if items is None else list(items), f"give a list of {one.option.items}"
                )
            object.__setattr__(group, name, items)
        elif (wish := _wish(one, value)) is not None:
            raise wrong(name, value, wish)


def wrong(parameter: str, value: object, wish: str) -> UsageError:
    """Return the error of a parameter that must be something else."""
    shown = repr(value)
    shown = shown if len(shown) <= 80 else f"{shown[:79]}…"
    return UsageError(f"{parameter} is {shown}; {wish}.", parameter=parameter)


def _wish(one: DeclaredOption, value: object) -> str | None:
    """Return what to give instead of a wrong value, None for a right one."""
    least = one.option.min_value
    if one.choices:
        return (
            None
            if isinstance(value, str) and value in one.choices
            else f"choose one of {', '.join(one.choices)}"
        )
    if one.kind is bool:
        return None if isinstance(value, bool) else "give True or False"
    if one.kind is int:
        is_right = (
            isinstance(value, int) and not isinstance(value, bool) and (least is None or value >= least)
        )
        return None if is_right else f"give a whole number from {least:g}"
    if one.kind is timedelta:
        is_right = isinstance(value, timedelta) and value <= _LONGEST
        low = timedelta(seconds=least or 0)
        is_right = is_right and (value > low if least is not None else value >= low)  # type: ignore[operator]
        return None if is_right else "give a timedelta up to a day, such as timedelta(seconds=20)"
    if get_origin(one.kind) is tuple:
        is_right = isinstance(value, tuple) and len(value) == len(get_args(one.kind))
        is_right = is_right and all(isinstance(part, int) and part > 0 for part in value)  # type: ignore[attr-defined]
        return None if is_right else "give a pair of whole numbers from 1, such as (1280, 800)"
    if is_dataclass(one.kind):
        kind: Any = one.kind
        return None if isinstance(value, kind) else f"give {kind.__name__}"
    if one.kind is str:
        return None if isinstance(value, str) else "give a str"
    from os import PathLike

    return None if isinstance(value, str | PathLike) else "give a path, as str or Path"


def _is_item(kind: Any, item: object) -> bool:
    if kind is str:
        return isinstance(item, str)
    return isinstance(item, tuple) and len(item) == 2 and all(isinstance(part, str) for part in item)


def _is_annotated(hint: Any) -> bool:
    return get_origin(hint) is Annotated
