"""The configuration file: defaults of options, for one command or for all commands that have the option.

It is in the user's configuration folder, or at the path in ``--config``. It is never read from the working folder,
because it can name a browser to start, and working folders may come from strangers.
"""

import inspect
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer

from domsieve.commands.removed import replacement_in_file

FOR_ALL = "all"
"""The table for all commands that have an option."""

# Options of a single call, which have no defaults.
_NOT_IN_FILES = {"--config", "--help", "--version", "--install-completion", "--show-completion"}
# Repeatable on the command line; a table in a file.
_PARAM = "--param"
_NAMES: Mapping[type, str] = {
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    Path: "a path in quotes",
    dict: "a table of parameters, such as {threshold = 0.2}",
    str: "a text in quotes",
}


@dataclass(frozen=True)
class _Option:
    """An option that a file may set: its name, the parameter of the command, and its type."""

    key: str
    parameter: Any
    kind: type
    choices: tuple[str, ...]
    is_list: bool
    is_table: bool = False


def user_file() -> Path | None:
    """Return the path of the user's file; None without a home folder."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not Path(
        base
    ).is_absolute():  # XDG requires an absolute path; a relative one would be in the working folder
        base = os.path.expanduser("~/.config")  # noqa: PTH111 (it keeps the ~ where there is no home)
    return Path(base) / "domsieve" / "config.toml" if Path(base).is_absolute() else None


def defaults_of(path: Path, root: Any, command: Any, context: typer.Context) -> dict[str, Any]:
    """Return the defaults of a command from a file.

    Parameters
    ----------
    path : the file. All of its tables are checked, so that mistakes appear at once.
    root, command : the program, and the command that is called.
    context : the context of the call.

    Raises
    ------
    UsageError : the file cannot be read, or a key or value is wrong; the message has the file, the key and the
        choices.
    """
    import tomllib

    from domsieve.errors import UsageError

    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        raise UsageError(f"The configuration file {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"The configuration file {path} is not valid TOML: {error}.") from error
    commands = dict(_commands(root))
    for_all = _table(path, FOR_ALL, tables.pop(FOR_ALL, {}))
    flat = [(name, _table(path, name, table)) for name, table in _flat(path, tables, commands)]
    values = {name: _values(path, name, table, commands) for name, table in flat}
    for key in for_all:
        if not any(key in _options(one) for one in commands.values()):
            known = sorted({key for one in commands.values() for key in _options(one)})
            raise _unknown(path, FOR_ALL, key, known)
    found: dict[str, Any] = {}
    for name, one in commands.items():
        options = _options(one)
        mine = {key: value for key, value in for_all.items() if key in options}
        checked = {
            options[key].parameter.name: _checked(path, FOR_ALL, options[key], value, context, of=name)
            for key, value in mine.items()
        }
        checked |= {
            options[key].parameter.name: _checked(path, name, options[key], value, context)
            for key, value in values.get(name, {}).items()
        }
        if one is command:
            found = checked
    return found


def _commands(root: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command with its name: ``clean``, ``cache.list``."""
    for name, command in root.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{above}{name}.")
        else:
            yield f"{above}{name}", command


def _flat(path: Path, tables: Mapping[str, Any], commands: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the tables of commands with their names, such as ``cache.list`` in groups."""
    groups = {name.partition(".")[0] for name in commands if "." in name}
    for name, table in tables.items():
        if name in groups:
            for inner, value in _table(path, name, table).items():
                yield f"{name}.{inner}", value
        else:
            yield name, table


def _values(
    path: Path, name: str, values: Mapping[str, Any], commands: Mapping[str, Any]
) -> Mapping[str, Any]:
    if name not in commands:
        raise _unknown(path, "", name, [FOR_ALL, *commands], what="table")
    options = _options(commands[name])
    for key in values:
        if key not in options:
            raise _unknown(path, name, key, sorted(options))
    return values


def _table(path: Path, name: str, value: Any) -> Mapping[str, Any]:
    from domsieve.errors import UsageError

    if not isinstance(value, dict):
        raise UsageError(
            f"{path}: {name} is outside of a table; "
            f"write it below [{FOR_ALL}] or below a command, such as [clean]."
        )
    return value


def _options(command: Any) -> dict[str, _Option]:
    """Return the options of a command that files may set, by name without dashes."""
    annotations = {p.name: p.annotation for p in inspect.signature(command.callback).parameters.values()}
    found = {}
    for parameter in command.params:
        name = next((name for name in parameter.opts if name.startswith("--")), "")
        if name == _PARAM:
            found["params"] = _Option("params", parameter, dict, (), is_list=True, is_table=True)
        elif name and name not in _NOT_IN_FILES:
            key = name.removeprefix("--")
            found[key] = _option(key, parameter, annotations.get(parameter.name, bool))
    return found


def _option(key: str, parameter: Any, annotation: Any) -> _Option:
    """Return an option from the annotation of its parameter."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in {Union, UnionType}:
        annotation = next(one for one in get_args(annotation) if one is not NoneType)
    is_list = get_origin(annotation) is list
    if is_list:
        annotation = get_args(annotation)[0]
    choices = tuple(get_args(annotation)) if get_origin(annotation) is Literal else ()
    return _Option(key, parameter, str if choices else annotation, choices, is_list)


def _checked(
    path: Path, table: str, option: _Option, value: Any, context: typer.Context, *, of: str = ""
) -> Any:
    """Return a value converted for its option.

    Raises
    ------
    UsageError : it has the wrong type, or is not one of the choices.
    """
    from domsieve.errors import UsageError

    beside = f" for {of.replace('.', ' ')}" if of else ""
    shown = value if isinstance(value, str) else repr(value)
    wrong = f"{path}: {option.key} of [{table}] is {shown!a}{beside}; "
    values = value if option.is_list and isinstance(value, list) else [value]
    if option.is_table:
        if isinstance(value, dict) and all(
            isinstance(one, bool | int | float | str) for one in value.values()
        ):
            return [
                f"{name}={str(one).lower() if isinstance(one, bool) else one}" for name, one in value.items()
            ]
        raise UsageError(f"{wrong}give {_NAMES[dict]}.")
    if not all(_is_of(option, one) for one in values) or (isinstance(value, list) and not option.is_list):
        wish = f"one of {', '.join(option.choices)}" if option.choices else _NAMES[option.kind]
        raise UsageError(f"{wrong}give {wish}{', or a list of them' * option.is_list}.")
    if option.kind is Path:
        values = [os.path.expanduser(one) for one in values]  # noqa: PTH111 (it stays a text for the parser)
    given = list(values) if option.is_list else values[0]
    if option.kind is not bool:
        try:
            option.parameter.process_value(context, given)
        except typer.BadParameter as error:
            raise UsageError(f"{wrong}{error.message}") from error
    return given


def _is_of(option: _Option, value: Any) -> bool:
    if option.choices:
        return value in option.choices
    if option.kind is bool or isinstance(value, bool):
        return option.kind is bool and isinstance(value, bool)
    if option.kind is float:
        return isinstance(value, int | float)
    return isinstance(value, int) if option.kind is int else isinstance(value, str)


def _unknown(path: Path, table: str, key: str, known: list[str], *, what: str = "key") -> Exception:
    from difflib import get_close_matches

    from domsieve.errors import UsageError

    now = replacement_in_file(table, key)
    near = get_close_matches(key, known, n=1)
    hint = f"It is now {now}. " if now else f"Did you mean {near[0]}? " if near else ""
    where = f" in [{table}]" if table else ""
    return UsageError(f"{path}: unknown {what} {key!a}{where}. {hint}There are: {', '.join(known)}.")
