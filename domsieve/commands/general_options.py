"""The options of all commands: verbosity, and the configuration file."""

import inspect
import platform
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from domsieve.commands.console import Loudness, failures, loudness, say_more, set_loudness
from domsieve.commands.settings_file import defaults_of, user_file

Command = Callable[..., None]


def with_parameters(run: Command, parameters: Iterable[inspect.Parameter]) -> Command:
    """Return a function with these parameters in its signature instead of its own."""
    shown = list(parameters)
    run.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return run


_META = "domsieve."


def _note_config(context: typer.Context, path: Path | None) -> Path | None:
    """Read the defaults of a command from the configuration file, before its other options are parsed."""
    if context.resilient_parsing:
        return path
    context.meta[f"{_META}config"] = path = path or context.meta.get(f"{_META}config")
    root = context.find_root()
    if context is root or hasattr(context.command, "commands"):
        return path
    chosen = path or user_file()
    if chosen is not None and (path is not None or chosen.is_file()):
        context.meta[f"{_META}used"] = chosen
        with failures():
            context.default_map = defaults_of(chosen, root.command, context.command, context)
    return path


def _note_loudness(context: typer.Context, parameter: typer.CallbackParam, value: bool) -> None:
    """Apply ``--quiet`` or ``--verbose``; the command line overrides the file."""
    if context.resilient_parsing:
        return
    source = context.get_parameter_source(parameter.name or "")
    is_typed = source is not None and source.name == "COMMANDLINE"
    said: dict[str, bool] = context.meta.setdefault(f"{_META}said", {})
    if value and parameter.name:
        said[parameter.name] = said.get(parameter.name, False) or is_typed
    if all(said.get(name) for name in ("quiet", "verbose")):
        raise typer.BadParameter("Give either --quiet or --verbose.")
    typed = [name for name in said if said[name]] or [*said]
    loudness: Loudness = "verbose" if "verbose" in typed else "quiet" if "quiet" in typed else "normal"
    set_loudness(loudness)


_GENERAL = {
    "config": (
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="Configuration file, instead of domsieve/config.toml in your configuration folder.",
            callback=_note_config,
            is_eager=True,
        ),
        None,
    ),
    "quiet": (
        bool,
        typer.Option(
            "--quiet",
            "-q",
            help="Print only errors to stderr.",
            callback=_note_loudness,
        ),
        False,
    ),
    "verbose": (
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Also print the files and the browser in use, and where errors come from.",
            callback=_note_loudness,
        ),
        False,
    ),
}


def general(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of all commands to a command; they are applied before it is called."""

    @wraps(command)
    def run(context: typer.Context, **values: Any) -> None:
        if loudness() == "verbose":
            from domsieve import __version__

            say_more(f"domsieve {__version__}, Python {platform.python_version()}")
            say_more(f"configuration: {context.meta.get(f'{_META}used') or 'none'}")
        command(**_own(values))

    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    return _with_options(run, first, *inspect.signature(command).parameters.values())


def general_of_all(main: Callable[..., None]) -> Callable[..., None]:
    """Add the same options to the program, before the name of a command."""

    @wraps(main)
    def run(**values: Any) -> None:
        main(**_own(values))

    return _with_options(run, *inspect.signature(main).parameters.values())


def _own(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values without those of the options in this module."""
    return {name: value for name, value in values.items() if name not in _GENERAL}


def _with_options(run: Callable[..., None], *own: inspect.Parameter) -> Callable[..., None]:
    more = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
        )
        for name, (kind, option, default) in _GENERAL.items()
    ]
    return with_parameters(run, [*own, *more])
