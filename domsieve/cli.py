"""The command line of domsieve. Results go to stdout, everything else to stderr.

Exit codes: 0 all done; 1 some pages failed, the rest is done; 2 the call was wrong; 3 nothing could be done;
4 no usable browser; 5 a file of the cache or a model cannot be used; 6 something changed (`sync --exit-code`);
7 a field of a model breaks (`fields extract --fail-on-drift`); 130 interrupted.
"""

import os
from typing import Annotated

# Our arrays are small: the threads that BLAS would start cost more than they bring. Read when numpy is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import typer

from domsieve.commands.command_groups import group_of
from domsieve.commands.general_options import general_of_all

_COMMANDS = {
    "render": "rendering:render",
    "site": "rendering:site",
    "sync": "syncing:sync",
    "login": "signing_in:login",
    "clean": "cleaning:clean",
    "compare": "comparing:compare",
    "learn": "cleaning:learn",
    "records": "mining:records",
    "vectorize": "vectorizing:vectorize",
    "report": "reporting:report",
    "serve": "serving:serve",
    "mcp": "mcp_serving:mcp",
    "doctor": "cache:doctor",
}
_OF_THE_CACHE = {
    "list": "cache:cache_list",
    "show": "cache:cache_show",
    "verify": "cache:cache_verify",
    "remove": "cache:cache_remove",
    "prune": "cache:cache_prune",
}
_OF_FIELDS = {"learn": "fields:learn", "extract": "fields:extract"}
_OF_BULK = {"clean": "bulk:clean", "learn": "bulk:learn", "records": "bulk:records", "render": "bulk:render"}

app = typer.Typer(
    cls=group_of(_COMMANDS),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
cache_app = typer.Typer(
    cls=group_of(_OF_THE_CACHE), no_args_is_help=True, help="Manage the cache of captured pages."
)
app.add_typer(cache_app, name="cache")
fields_app = typer.Typer(
    cls=group_of(_OF_FIELDS),
    no_args_is_help=True,
    help="Learn the fields of a site from examples, and extract them.",
)
app.add_typer(fields_app, name="fields")
bulk_app = typer.Typer(
    cls=group_of(_OF_BULK),
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


if __name__ == "__main__":
    app()
