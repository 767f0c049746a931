"""The command line of domsieve. Results go to stdout, everything else to stderr.

Exit codes: 0 all done; 1 some pages failed, the rest is done; 2 the call was wrong; 3 nothing could be done;
4 no usable browser; 5 a file of the cache or a model cannot be used; 130 interrupted.
"""

from typing import Annotated

import typer

from domsieve import commands

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
cache_app = typer.Typer(no_args_is_help=True, help="Look after the cache of captured pages.")
app.add_typer(cache_app, name="cache")
bulk_app = typer.Typer(
    no_args_is_help=True, help="Work on very many pages, in shards that can be done again."
)
app.add_typer(bulk_app, name="bulk")


def _print_version(wanted: bool) -> None:
    if wanted:
        from domsieve import __version__

        typer.echo(f"domsieve {__version__}")
        raise typer.Exit


@app.callback()
def main(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and end.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Render web pages with headless Chrome and keep their content."""


for command in (
    commands.render,
    commands.site,
    commands.clean,
    commands.compare,
    commands.learn,
    commands.records,
    commands.weigh,
    commands.report,
    commands.evaluate,
    commands.serve,
    commands.mcp,
    commands.doctor,
):
    app.command()(command)
cache_app.command("list")(commands.cache_list)
cache_app.command("show")(commands.cache_show)
cache_app.command("verify")(commands.cache_verify)
cache_app.command("remove")(commands.cache_remove)
bulk_app.command("clean")(commands.bulk_clean)
bulk_app.command("learn")(commands.bulk_learn)
bulk_app.command("records")(commands.bulk_records)
bulk_app.command("render")(commands.bulk_render)

if __name__ == "__main__":
    app()
