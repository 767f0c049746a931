"""Commands for very many pages, processed in shards by local processes or a cluster."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from domsieve.analysis.registry import DEFAULT_METHOD, SiteMethod
from domsieve.budget import AnalysisBudget, budgeted
from domsieve.commands.capture_options import (
    DEFAULT_MEGABYTES,
    DEFAULT_SECONDS,
    INPUT_FILE,
    INPUT_PATHS,
    AnalysisMegabytes,
    AnalysisTimeout,
    Capture,
    Hidden,
    HiddenCapture,
    KeepErrors,
    analysis_budget,
    rendering,
)
from domsieve.commands.console import (
    EXIT_NOTHING,
    EXIT_SOME_FAILED,
    check_place,
    count,
    failures,
    need_extra,
    progress,
    say,
    say_error,
    say_kept,
)
from domsieve.commands.general_options import with_parameters
from domsieve.commands.input_words import lines_of
from domsieve.commands.method_options import (
    FavorOption,
    MethodOption,
    MiningMethodOption,
    ModeOption,
    ParamOption,
    params_of,
)

if TYPE_CHECKING:
    from domsieve.bulk.page_list import Named
    from domsieve.bulk.runs import Progress, Summary
    from domsieve.bulk.scheduling import Engine
    from domsieve.tasks.targets import Word

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        show_default=False,
        help="HTML files, WARC or WACZ archives, stores from `bulk render`, or folders of them.",
    ),
]
OutputDir = Annotated[
    str,
    typer.Option(
        help="Folder for the results, or an address that fsspec supports, such as s3://bucket/clean."
    ),
]
Workers = Annotated[int | None, typer.Option(min=1, help="Processes [default: one per processor].")]
Runner = Annotated[Literal["local", "ray"], typer.Option(help="Where to run: this machine or a Ray cluster.")]
RayAddress = Annotated[
    str | None, typer.Option(help="Address of the Ray cluster [default: one on this machine].")
]
Tell = Callable[["Progress"], None]


@dataclass(frozen=True)
class Shards:
    """The options that all bulk commands share: targets, output and workers."""

    words: "Iterable[Named]"
    output: str
    keep_errors: bool
    budget: AnalysisBudget
    engine: "Callable[[], Engine]"
    per_shard: int | None
    workers: int | None


def _shards_of(
    targets: Targets = None,
    *,
    input_file: INPUT_FILE = None,
    input_paths: INPUT_PATHS = False,
    output_dir: OutputDir,
    keep_errors: KeepErrors = False,
    workers: Workers = None,
    runner: Runner = "local",
    ray_address: RayAddress = None,
    shard_pages: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Pages per shard, which is done or repeated as a whole [default: by workers, at most 500].",
        ),
    ] = None,
    analysis_timeout: AnalysisTimeout = DEFAULT_SECONDS,
    analysis_megabytes: AnalysisMegabytes = DEFAULT_MEGABYTES,
) -> Shards:
    """Return the shared options from their values."""
    from domsieve.bulk.runs import processors

    _check_output(output_dir)
    return Shards(
        words=_words(targets, input_file, are_paths=input_paths),
        output=output_dir,
        keep_errors=keep_errors,
        budget=analysis_budget(analysis_timeout, analysis_megabytes),
        engine=_engine(runner, ray_address, workers),
        per_shard=shard_pages,
        workers=workers or (processors() if runner == "local" else None),
    )


def _in_shards(command: "Callable[..., Summary]") -> Callable[..., None]:
    """Replace the parameters `shards` and `tell` of a command by the options of `_shards_of`, and report its run."""
    shared = inspect.signature(_shards_of).parameters
    own = [p for p in inspect.signature(command).parameters.values() if p.name not in {"shards", "tell"}]

    @wraps(command)
    def run(**values: Any) -> None:
        with failures():
            shards = _shards_of(**{name: values.pop(name) for name in shared})
            with budgeted(shards.budget):
                with _telling() as tell:
                    summary = command(**values, shards=shards, tell=tell)
                _finish(summary)

    parameters = [shared["targets"], *own, *(shared[name] for name in shared if name != "targets")]
    return with_parameters(run, parameters)


@_in_shards
def clean(
    *,
    models: Annotated[
        str | None, typer.Option(help="Folder or address of site models written by `bulk learn`.")
    ] = None,
    method: MethodOption = None,
    favor: FavorOption = None,
    param: ParamOption = None,
    output_format: Annotated[
        Literal["text", "markdown"], typer.Option("--format", help="What is written.")
    ] = "text",
    metadata: Annotated[
        bool, typer.Option("--metadata", help="Add title, authors, dates, language.")
    ] = False,
    blocks: Annotated[
        bool,
        typer.Option("--blocks", help="Write a row for each block, kept or dropped, instead of each page."),
    ] = False,
    hidden: Hidden = "layout",
    write: Annotated[
        Literal["parquet", "files"], typer.Option(help="Write Parquet parts, or a file for each page.")
    ] = "parquet",
    shards: Shards,
    tell: Tell,
) -> "Summary":
    """Clean very many pages, by the models of their sites or each by itself, into Parquet parts or files."""
    from domsieve.bulk.clean_job import CleanJob
    from domsieve.bulk.page_files import parts_of, write_files
    from domsieve.bulk.runs import clean_pages

    job = CleanJob(
        output=shards.output,
        keep_errors=shards.keep_errors,
        budget=shards.budget,
        models=models or "",
        method=method,
        params=params_of(method or DEFAULT_METHOD, param, favor=favor),
        hidden=hidden,
        text=output_format,
        metadata=metadata,
        writes_files=write == "files",
        blocks=blocks,
    )
    if write == "files":
        job = replace(job, output=parts_of(shards.output))
    summary = clean_pages(
        job, shards.words, shards.engine, tell, per_shard=shards.per_shard, workers=shards.workers
    )
    if write == "files":
        say(f"writing files to {shards.output}")
        for kept in write_files(job, Path(shards.output)):
            say_kept(kept)
    return summary


@_in_shards
def learn(
    *,
    method: Annotated[SiteMethod, typer.Option(help="Method of the models.")] = DEFAULT_METHOD,
    favor: FavorOption = None,
    mode: ModeOption = "site",
    param: ParamOption = None,
    pages_per_site: Annotated[
        int, typer.Option(min=1, help="Learn from at most this many pages of a site, the first ones named.")
    ] = 2_000,
    period: Annotated[
        str,
        typer.Option(help="Period of the pages, such as 2026-11; models of all periods are used together."),
    ] = "",
    cap: Annotated[
        bool,
        typer.Option(
            "--cap", help="Make models smaller: store only totals for what a single page has at a place."
        ),
    ] = False,
    shards: Shards,
    tell: Tell,
) -> "Summary":
    """Learn a model of each site of very many pages, for `bulk clean --models` and `clean --model`."""
    from domsieve.bulk.learn_job import LearnJob
    from domsieve.bulk.runs import learn_sites

    job = LearnJob(
        output=shards.output,
        keep_errors=shards.keep_errors,
        budget=shards.budget,
        method=method,
        params=params_of(method, param, mode=mode, favor=favor),
    )
    return learn_sites(
        job,
        shards.words,
        shards.engine,
        tell,
        per_shard=shards.per_shard,
        workers=shards.workers,
        per_site=pages_per_site,
        period=period,
        cap=cap,
    )


@_in_shards
def records(
    *,
    method: MiningMethodOption = "wobm",
    param: ParamOption = None,
    shards: Shards,
    tell: Tell,
) -> "Summary":
    """Write the records of very many pages into Parquet parts, a row each."""
    from domsieve.bulk.records_job import RecordsJob
    from domsieve.bulk.runs import mine_pages

    job = RecordsJob(
        output=shards.output,
        keep_errors=shards.keep_errors,
        budget=shards.budget,
        method=method,
        params=params_of(method, param),
    )
    return mine_pages(
        job, shards.words, shards.engine, tell, per_shard=shards.per_shard, workers=shards.workers
    )


@rendering
def render(
    targets: "Sequence[Word]",
    *,
    output_dir: OutputDir,
    pages: Annotated[
        int,
        typer.Option(
            min=0, help="Sample this many pages of each site, starting at its first URL; 0 renders the URLs."
        ),
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the random samples.")] = 0,
    hidden: HiddenCapture = "layout",
    workers: Workers = None,
    runner: Runner = "local",
    ray_address: RayAddress = None,
    capture: Capture,
) -> None:
    """Render the URLs of very many sites, each site into a store of its own, for the other bulk commands."""
    from domsieve.bulk.render_job import RenderJob
    from domsieve.bulk.runs import processors, render_sites
    from domsieve.errors import UsageError
    from domsieve.tasks.targets import ListedWord

    if capture.since is not None:
        raise UsageError(
            "--refresh and --max-age are for the cache; give a new --output-dir to render again."
        )
    _check_output(output_dir)
    capture = capture.for_hidden(hidden).adapted()
    words = [word for word in targets if isinstance(word, str | ListedWord)]
    if len(words) < len(targets):
        raise UsageError("Only URLs can be rendered; standard input contains a page.")
    job = RenderJob(
        output=output_dir,
        budget=capture.analysis,
        options=capture.options,
        page_budget=capture.budget,
        driver=capture.driver,
        browser=capture.browser,
        allow_private=capture.allow_private,
        rules=capture.rules,
        delay=capture.delay,
        concurrency=max(capture.concurrency // (workers or processors()), 1),
        pages=pages,
        seed=seed,
    )
    with _telling() as tell:
        summary = render_sites(job, words, _engine(runner, ray_address, workers), tell)
    _finish(summary)


def _check_output(output_dir: str) -> None:
    if "://" not in output_dir:
        check_place("--output-dir", Path(output_dir), is_folder=True)


def _engine(runner: str, ray_address: str | None, workers: int | None) -> "Callable[[], Engine]":
    from domsieve.bulk.local import LocalEngine
    from domsieve.bulk.on_ray import RayEngine
    from domsieve.bulk.runs import processors
    from domsieve.errors import UsageError

    if runner == "ray":
        need_extra("ray", ["ray"])
        return lambda: RayEngine(ray_address, workers)
    if ray_address:
        raise UsageError("--ray-address is for --runner ray.")
    return lambda: LocalEngine(workers or processors())


def _words(targets: Sequence[str] | None, input_file: Path | None, *, are_paths: bool) -> "Iterable[Named]":
    """Return the targets in the arguments and in the lines of the file, which is read during the run."""
    from domsieve.errors import UsageError

    if not targets and input_file is None:
        raise UsageError("Name the pages: give files, archives or folders, or --input-file.")
    if input_file and not are_paths:
        raise UsageError("The lines of --input-file are addresses; add --input-paths if they are files.")
    return chain(targets or (), lines_of(input_file, are_paths=are_paths) if input_file else ())


@contextmanager
def _telling() -> "Iterator[Tell]":
    """Provide a function that reports the progress of a run, with a line for each shard and a bar of its pages."""
    with progress("working") as bar:

        def tell(state: "Progress") -> None:
            if state.pages:
                bar.set_total(state.pages)
                # Pages of a worker that died are done again, and the bar waits for them.
                bar.advance(max(state.ended_pages - bar.done, 0))
            _tell(state)

        yield tell


def _tell(state: "Progress") -> None:
    event, number = state.event, f"[{state.ended}/{state.of}]"
    if event is None:
        return
    if event.what == "done" and event.done:
        failed = f", {event.done.failed:,} failed" if event.done.failed else ""
        say(f"{number} {event.shard.name}: {count(event.done.pages, 'page')}{failed}")
    elif event.what in {"suspect", "condemned"}:
        outcome = "it is done again alone later" if event.what == "suspect" else "given up"
        say_error(f"{number} {event.shard.name}: {event.reason}; {outcome}")


def _finish(summary: "Summary") -> None:
    """Report the end of a run, and end the command with its exit code."""
    say(
        f"{count(summary.pages, 'page')}, {count(summary.made, 'part')} written, {summary.kept:,} already there."
    )
    for site, drift in summary.drifts.items():
        if drift.is_over:
            say(f"{site}: {drift}")
    if summary.failed:
        say_error(f"{count(summary.failed, 'page')} failed; {summary.failures} says why, one line each.")
    for name, reason in summary.condemned.items():
        say_error(f"given up: {name}: {reason}")
    if summary.failed or summary.condemned:
        raise typer.Exit(EXIT_SOME_FAILED if summary.pages > summary.failed else EXIT_NOTHING)
