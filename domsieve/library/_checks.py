"""Checks of parameters; each raises a `UsageError` that says which values are valid."""

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, TypeVar

from domsieve.analysis.selection.selection import Selection
from domsieve.declaration import wrong

_Choice = TypeVar("_Choice", bound=str)


def check_choice(parameter: str, value: object, choices: Collection[str], *, optional: bool = False) -> None:
    """Raise an error unless a value is one of the choices; `optional` also allows None."""
    if not (optional and value is None) and (not isinstance(value, str) or value not in choices):
        raise wrong(parameter, value, f"choose one of {', '.join(choices)}")


def checked_choices(parameter: str, values: object, choices: Collection[_Choice]) -> tuple[_Choice, ...]:
    """Return the values without repetitions; raise an error unless all are among the choices."""
    if isinstance(values, Iterable) and not isinstance(values, str | bytes):
        given = tuple(values)
        if all(isinstance(value, str) and value in choices for value in given):
            return tuple(dict.fromkeys(given))
        values = given
    raise wrong(parameter, values, f"give a list of {', '.join(choices)}")


def check_flag(parameter: str, value: object) -> None:
    """Raise an error unless a value is True or False."""
    if not isinstance(value, bool):
        raise wrong(parameter, value, "give True or False")


def texts_of(parameter: str, value: object, wish: str) -> tuple[str, ...]:
    """Return a list of texts as a tuple; `wish` describes the texts in the error of a wrong value."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        texts = tuple(value)
        if all(isinstance(text, str) for text in texts):
            return texts
    raise wrong(parameter, value, f"give a list of {wish}")


def selection_of(select: object, drop: object) -> Selection | None:
    """Return the selection for two lists of CSS selectors; None if both are empty."""
    wish = "CSS selectors, such as ['main']"
    chosen = {"select": texts_of("select", select, wish), "drop": texts_of("drop", drop, wish)}
    return Selection(**chosen) if any(chosen.values()) else None


def path_of(parameter: str, value: Any) -> Path:
    """Return a str or a path-like object as a Path."""
    if isinstance(value, str | os.PathLike) and isinstance(name := os.fspath(value), str) and name:
        return Path(name)
    raise wrong(parameter, value, "give a path, as str or Path")
