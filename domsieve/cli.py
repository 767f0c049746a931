"""The command line of domsieve. Results go to stdout, everything else to stderr.

Exit codes: 0 all done; 1 some pages failed, the rest is done; 2 the call was wrong; 3 nothing could be done;
4 no usable browser; 5 a file of the cache or a model cannot be used; 130 interrupted.
"""

from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from domsieve import commands
from domsieve.commands import HelpfulCommand, HelpfulGroup, general, general_of_all

app = typer.Typer(
    cls=HelpfulGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
cache_app = typer.Typer(cls=HelpfulGroup, no_args_is_help=True, help="Manage the cache of captured pages.")
app.add_typer(cache_app, name="cache")
bulk_app = typer.Typer(
    cls=HelpfulGroup,
    no_args_is_help=True,
    help="Process very many pages in shards that can be resumed.",
)
app.add_typer(bulk_app, name="bulk")


def _print_version(wanted: bool) -> None:
    if wanted:
        from domsieve import __version__

        typer.echo(f"domsieve {__version__}")
        raise typer.Exit


@app.callback()
@general_of_all
def main(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Render web pages with headless Chrome and keep their content."""


_COMMANDS: tuple[tuple[typer.Typer, Mapping[str, Callable[..., None]]], ...] = (
    (
        app,
        {
            "render": commands.render,
            "site": commands.site,
            "login": commands.login,
            "clean": commands.clean,
            "compare": commands.compare,
            "learn": commands.learn,
            "records": commands.records,
            "weigh": commands.weigh,
            "report": commands.report,
            "evaluate": commands.evaluate,
            "serve": commands.serve,
            "mcp": commands.mcp,
            "doctor": commands.doctor,
        },
    ),
    (
        cache_app,
        {
            "list": commands.cache_list,
            "show": commands.cache_show,
            "verify": commands.cache_verify,
            "remove": commands.cache_remove,
            "prune": commands.cache_prune,
        },
    ),
    (
        bulk_app,
        {
            "clean": commands.bulk_clean,
            "learn": commands.bulk_learn,
            "records": commands.bulk_records,
            "render": commands.bulk_render,
        },
    ),
)
for group, named in _COMMANDS:
    for name, command in named.items():
        group.command(name, cls=HelpfulCommand)(general(command))

if __name__ == "__main__":
    app()
