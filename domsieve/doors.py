"""Doors of rooms that load what is behind them when it is asked for.

A command needs a few modules of a room; those of the others, and the libraries that they stand on, would cost each
call its start. Imports nothing of the project.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def opened_on_use(
    door: str, places: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of the package `door`.

    Parameters
    ----------
    door : its full name.
    places : names that it hands on, parted by blanks, by the module of ``domsieve`` that has them.
    """
    module_of = {name: f"domsieve.{module}" for module, names in places.items() for name in names.split()}

    def get(name: str) -> object:
        if name not in module_of:
            raise AttributeError(f"module {door!r} has no attribute {name!r}")
        value: object = getattr(import_module(module_of[name]), name)
        setattr(sys.modules[door], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[door]), *module_of})
