"""Run experiments on the research corpora: ``python -m experiments NAME --data DIR``."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.commands.console import (
    EXIT_SOME_FAILED,
    check_place,
    failures,
    print_json,
    say,
    say_error,
    set_loudness,
)

if TYPE_CHECKING:
    from experiments.frame.experiment import Experiment

_PROGRAM = "python -m experiments"
_PACKAGES = (
    "boilerpy3",
    "cssselect",
    "html_text",
    "html5lib",
    "htmldate",
    "justext",
    "matplotlib",
    "readability",
    "resiliparse",
    "threadpoolctl",
    "trafilatura",
)

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def main(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Experiments, or all.", show_default=False)
    ] = None,
    *,
    data: Annotated[
        Path | None, typer.Option(envvar="DOMSIEVE_DATA", help="Folder of the corpora; nothing is fetched.")
    ] = None,
    node_modules: Annotated[
        Path | None, typer.Option(help="Folder of the npm packages that the JavaScript corpora name.")
    ] = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Folder of the results; existing results are not measured again."
        ),
    ] = Path("evaluation_results"),
    extractor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COMMAND",
            help="Measure a command that reads HTML on stdin and writes text, on all corpora of text.",
            show_default=False,
        ),
    ] = None,
    document: Annotated[
        Path | None, typer.Option(help="Write all results in the folder as one Markdown file.")
    ] = None,
    processes: Annotated[int | None, typer.Option(min=1, help="Tasks at once [default: cores].")] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="List the experiments, each in one line with what it reads.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines for machines.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors to stderr.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also print where errors come from.")
    ] = False,
) -> None:
    """Repeat the papers' experiments and public benchmarks, and print their tables; needs the extra `evaluate`."""
    if quiet and verbose:
        raise typer.BadParameter("Give either --quiet or --verbose.")
    set_loudness("quiet" if quiet else "verbose" if verbose else "normal")
    with failures():
        _need_packages()
        # Loaded on use, so that --help works without these packages.
        from domsieve.errors import TargetError
        from experiments.experiments.extractor import extractor_experiment
        from experiments.frame.document import print_tables, write_document
        from experiments.frame.experiment import Inputs, data_folder
        from experiments.frame.figures import save_figure
        from experiments.frame.running import run
        from experiments.registry import EXPERIMENTS

        if list_all:
            _list(list(EXPERIMENTS.values()), as_json=as_json)
            return
        check_place("--output", output, is_folder=True)
        if document is not None and document.absolute().parent != output.absolute():
            check_place("--document", document)
        chosen = _chosen(names or [], EXPERIMENTS, alone=document is None and not extractor)
        chosen += [extractor_experiment(command) for command in dict.fromkeys(extractor or ())]
        if node_modules is not None and not node_modules.is_dir():
            raise TargetError(f"The folder of npm packages '{node_modules}' is not there.")
        inputs = Inputs(data_folder(data), output.resolve(), node_modules and node_modules.resolve())
        undone = 0
        for experiment in chosen:
            if lacking := experiment.missing(inputs):
                lacking += " Give it with --node-modules." * (experiment.node_modules and not node_modules)
                if experiment.name not in EXPERIMENTS or experiment.name in (names or []):
                    raise TargetError(lacking)
                say(f"{experiment.name} is skipped: {lacking}")
                undone += 1
                continue
            ran = run(experiment, inputs, processes=processes, report=say)
            undone += len(ran.failed)
            if not ran.rows:
                continue
            if as_json:
                for row in ran.rows:
                    print_json({"experiment": experiment.name, **row})
            else:
                typer.echo(f"{experiment.title}\n")
                typer.echo(print_tables(experiment.tables(ran.rows)))
            if experiment.figure is not None:
                save_figure(experiment.figure(ran.rows), inputs.output, experiment.name)
        if document is not None:
            write_document(list(EXPERIMENTS.values()), inputs, document)
        if undone:
            say_error(f"{undone} tasks or experiments were not done; the same command tries them again.")
            raise typer.Exit(EXIT_SOME_FAILED)


def _need_packages() -> None:
    from domsieve.errors import UsageError

    if missing := [name for name in _PACKAGES if find_spec(name) is None]:
        raise UsageError(
            f"The experiments need packages that are not installed ({', '.join(missing)}): "
            "run `make setup`, or `pip install -e '.[evaluate]'` in the checkout."
        )


def _chosen(names: list[str], known: "dict[str, Experiment]", *, alone: bool) -> "list[Experiment]":
    from domsieve.errors import UsageError

    if not names and alone:
        raise UsageError(f"Which experiment? Name some, or all: {', '.join(known)}.")
    for name in names:
        if name != "all" and name not in known:
            raise UsageError(f"There is no experiment '{name}'; there are: {', '.join(known)}.")
    return list(known.values()) if "all" in names else [known[name] for name in dict.fromkeys(names)]


def _list(experiments: "list[Experiment]", *, as_json: bool) -> None:
    for one in experiments:
        modules = ["--node-modules"] * one.node_modules
        if as_json:
            needs = [f"DATA/{path}" for path in one.needs]
            print_json({"name": one.name, "title": one.title, "needs": needs + modules})
        else:
            folders = dict.fromkeys(f"DATA/{path.partition('/')[0]}" for path in one.needs)
            typer.echo(f"{one.name:<16} {one.title} (needs {', '.join([*folders, *modules])})")


if __name__ == "__main__":
    app(prog_name=_PROGRAM)
