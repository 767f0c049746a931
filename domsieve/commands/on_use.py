"""Commands that are loaded when they are named, for to build them all takes longer than to clean a small page."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer

from domsieve.commands.general_options import general
from domsieve.commands.help_text import HelpfulCommand, HelpfulGroup


class CommandsOnUse(Mapping[str, Any]):
    """The commands of a group by their names.

    Parameters
    ----------
    places : the module of ``domsieve.commands`` and the function in it, as ``module:function``, by name.
    groups : groups below this one, which come last.
    """

    def __init__(self, places: Mapping[str, str], groups: Mapping[str, Any]) -> None:
        self._places = places
        self._loaded = dict(groups)

    def __getitem__(self, name: str) -> Any:
        if name not in self._loaded:
            self._loaded[name] = _loaded(name, self._places[name])
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._places, *self._loaded]))

    def __len__(self) -> int:
        return len(self._places.keys() | self._loaded.keys())


def group_of(places: Mapping[str, str]) -> type[HelpfulGroup]:
    """Return the class of a group with these commands, see `CommandsOnUse`."""

    class Group(HelpfulGroup):
        def __init__(self, *, commands: Mapping[str, Any], **settings: Any) -> None:
            # Typer says dict, and reads it only.
            super().__init__(commands=CommandsOnUse(places, commands), **settings)  # type: ignore[arg-type]

    return Group


def _loaded(name: str, place: str) -> Any:
    module, _, function = place.partition(":")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    command = getattr(import_module(f"domsieve.commands.{module}"), function)
    alone.command(name, cls=HelpfulCommand)(general(command))
    return typer.main.get_command(alone)
