"""Groups of commands that are imported on use, and their help."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from domsieve.commands.general_options import general
from domsieve.commands.removed import refuse_removed
from domsieve.declaration import OptionGroup, declared
from domsieve.options import CaptureOptions, NetworkOptions, Scope

_OTHERS: Mapping[OptionGroup, str] = {
    "Pages": "all input-file input-paths pages pages-per-site period raw seed select drop url",
    "Capture": "archive archive-credentials delay fixed-time from max-age refresh twice",
    "Network": "host http port public-host token-file trusted-proxy",
    "Analysis": "alone analysis-megabytes analysis-timeout cap drop-kind examples explain fail-on-drift favor hidden "
    "keep-kind "
    "method mode model models param per-block",
    "Output": "blocks exit-code fields format json max-words metadata output output-dir write",
    "Storage": "cache data dry-run free-megabytes keep-days keep-jobs keep-megabytes repair store-megabytes "
    "stores",
    "Work": "client-queue free-memory-percent job-seconds max-load queue ray-address "
    "requests-per-minute runner shard-pages site-megabytes site-pages site-seconds step-seconds "
    "worker-megabytes workers",
    "General": "config help install-completion quiet show-completion verbose version",
}
OPTION_GROUPS: Mapping[str, OptionGroup] = {
    **{name: group for group, names in _OTHERS.items() for name in names.split()},
    **{
        one.flag: one.option.group
        for group in (CaptureOptions, NetworkOptions, Scope)
        for one in declared(group).values()
        if one.name != "analysis_budget"  # two options of commands
    },
}
"""The group of each option in help."""

# The metavar of a value, by Typer's name of its type.
_VALUES = {
    "<float>": "X",
    "<float range>": "X",
    "<int>": "N",
    "<int range>": "N",
    "<list[str]>": "TEXT",
    "<path>": "PATH",
    "<str>": "TEXT",
}

EXAMPLES: Mapping[str, str] = {
    "bulk clean": "domsieve bulk clean pages/ --output-dir clean",
    "bulk learn": "domsieve bulk learn pages/ --output-dir models",
    "bulk records": "domsieve bulk records pages/ --output-dir records",
    "bulk render": "domsieve bulk render --input-file urls.txt --output-dir pages",
    "cache list": "domsieve cache list example.org",
    "cache prune": "domsieve cache prune --keep-days 30 --keep-megabytes 5000",
    "cache remove": "domsieve cache remove example.org",
    "cache show": "domsieve cache show 38b641a1ce41",
    "cache verify": "domsieve cache verify --repair",
    "clean": "domsieve clean https://example.org/ --format markdown",
    "compare": "domsieve compare https://example.org/",
    "doctor": "domsieve doctor",
    "fields extract": "domsieve fields extract example.org --model shop.json --format csv",
    "fields learn": "domsieve fields learn example.org --examples examples.jsonl -o shop.json",
    "learn": "domsieve learn example.org -o example.model",
    "login": "domsieve login https://example.org/login -o state.json",
    "mcp": "domsieve mcp --private-host intranet.example",
    "records": "domsieve records https://example.org/shop -o shop.csv",
    "render": "domsieve render https://example.org/",
    "report": "domsieve report example.org -o report.html",
    "serve": "domsieve serve --token-file tokens.txt",
    "site": "domsieve site https://example.org/ --pages 50",
    "sync": "domsieve sync https://docs.example.org/ --output-dir docs",
    "vectorize": "domsieve vectorize example.org -o weights.npz",
}
"""An example of each command."""


# The class of all wrong calls, which Typer does not export.
_WRONG_CALL: Any = typer.BadParameter.__base__


def option_group(parameter: Any) -> OptionGroup:
    """Return the group in which an option is shown."""
    names = [name.removeprefix("--") for name in parameter.opts if name.startswith("--")]
    return OPTION_GROUPS[names[0]]


class HelpfulCommand(TyperCommand):
    """A command with options in groups and an example in its help; removed options are explained."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse a call; the error of a removed option says what to use instead."""
        try:
            return super().parse_args(ctx, args)
        except _WRONG_CALL as error:
            refuse_removed(" ".join(_path(ctx)), getattr(error, "option_name", ""))
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, the options group by group, and the example."""
        _write_options(self.get_params(ctx), ctx, formatter)
        words = [name for name in _path(ctx) if name]
        if example := EXAMPLES.get(" ".join(words)):
            with formatter.section("Example"):
                formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class HelpfulGroup(TyperGroup):
    """A group of commands with whole sentences in its help; removed commands are explained."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command of a call; the error of a removed command says what to use instead."""
        if not ctx.resilient_parsing:
            refuse_removed(" ".join([*_path(ctx), args[0]]))
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return only the names, so that no command is imported."""
        return list(self.commands)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, then the options."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, _first_line(command)) for name, command in commands])
        _write_options(self.get_params(ctx), ctx, formatter)


def _path(context: Any) -> list[str]:
    """Return the words of a command after the name of the program."""
    words: list[str] = []
    while context.parent is not None:
        words.insert(0, context.info_name or "")
        context = context.parent
    return words


def _first_line(command: Any) -> str:
    return " ".join((command.short_help or command.help or "").partition("\n\n")[0].split())


def _write_options(parameters: Any, context: Any, formatter: Any) -> None:
    rows: dict[str, list[tuple[str, str]]] = {
        "Arguments": [],
        **{group: [] for group in get_args(OptionGroup)},
    }
    for parameter in parameters:
        if record := parameter.get_help_record(context):
            is_option = parameter.param_type_name == "option"
            rows[option_group(parameter) if is_option else "Arguments"].append((_plain(record[0]), record[1]))
    for group, lines in rows.items():
        if lines:
            with formatter.section(group):
                formatter.write_dl(lines)


def _plain(name: str) -> str:
    """Return an option with its metavar: ``--port N``, ``--driver playwright|pipe``."""
    option, begin, kind = name.partition("<")
    if not begin:
        return name
    return option + _VALUES.get(f"<{kind}", kind.removesuffix(">"))


class CommandsOnUse(Mapping[str, Any]):
    """The commands of a group by name, imported on use.

    Parameters
    ----------
    places : by name, the module in ``domsieve.commands`` and its function, as ``module:function``.
    groups : the groups in this group, which come last.
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
    """Return the class of a group with these commands; see `CommandsOnUse`."""

    class Group(HelpfulGroup):
        def __init__(self, *, commands: Mapping[str, Any], **settings: Any) -> None:
            # Typer declares a dict, but only reads it.
            super().__init__(commands=CommandsOnUse(places, commands), **settings)  # type: ignore[arg-type]

    return Group


def _loaded(name: str, place: str) -> Any:
    module, _, function = place.partition(":")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    command = getattr(import_module(f"domsieve.commands.{module}"), function)
    alone.command(name, cls=HelpfulCommand)(general(command))
    return typer.main.get_command(alone)
