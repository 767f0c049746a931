"""The command line of domsieve: parse, call, print. Results go to stdout, everything else to stderr.

Exit codes: 0 all done; 1 some pages failed, the rest is done; 2 the call was wrong; 3 nothing could be done;
4 no usable browser; 5 a file of the cache or a model cannot be used; 130 interrupted.
"""

import asyncio
import inspect
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import wraps
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from renderer import CaptureOptions, Renderer
    from service import Page, Target
    from snapshot import DomsieveError, PageRecord, PageStore

EXIT_SOME_FAILED, EXIT_USAGE, EXIT_NOTHING, EXIT_BROWSER, EXIT_STORAGE, EXIT_INTERRUPTED = 1, 2, 3, 4, 5, 130

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Render web pages with headless Chrome and keep their content.",
)
cache_app = typer.Typer(no_args_is_help=True, help="Look after the cache of captured pages.")
app.add_typer(cache_app, name="cache")

Targets = Annotated[
    list[str],
    typer.Argument(help="URLs, HTML files, folders of them, ids of cached pages or hosts of cached sites."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines for machines.")]
Cache = Annotated[
    Path | None,
    typer.Option("--cache", envvar="DOMSIEVE_CACHE", help="Folder of the cache [default: pages_cache]."),
]


@dataclass(frozen=True, slots=True)
class Capture:
    """How URLs are rendered; the options that every rendering command shares."""

    renderer: "Renderer"
    options: "CaptureOptions"
    concurrency: int
    refresh: bool


def capture_options(
    *,
    refresh: Annotated[bool, typer.Option("--refresh", help="Render even what the cache holds.")] = False,
    viewport: Annotated[str, typer.Option(help="Width x height of the window in CSS px.")] = "1280x800",
    user_agent: Annotated[str | None, typer.Option(help="User-Agent header.")] = None,
    header: Annotated[list[str] | None, typer.Option(help="'Name: value', repeatable.")] = None,
    cookie: Annotated[list[str] | None, typer.Option(help="'name=value', repeatable.")] = None,
    storage_state: Annotated[Path | None, typer.Option(help="Playwright's storage-state file.")] = None,
    locale: Annotated[str | None, typer.Option(help="Language tag, such as de-DE.")] = None,
    images: Annotated[bool, typer.Option(help="Load images; without, boxes change.")] = True,
    settle: Annotated[
        Literal["adaptive", "load", "networkidle"], typer.Option(help="When a page counts as complete.")
    ] = "adaptive",
    settle_extra: Annotated[float, typer.Option(help="Further seconds to wait then.")] = 0.0,
    scroll: Annotated[bool, typer.Option("--scroll", help="Scroll to the end first.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds one page may take.")] = 20.0,
    concurrency: Annotated[int | None, typer.Option(min=1, help="Pages at once [default: cores].")] = None,
    browser: Annotated[
        str | None, typer.Option(help="Path or name of Chrome [env: DOMSIEVE_BROWSER].")
    ] = None,
) -> Capture:
    """Return the renderer that the options describe."""
    from renderer import Budget, CaptureOptions, Renderer
    from snapshot import UsageError

    width, _, height = viewport.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) and int(height)):
        raise UsageError(f"--viewport {viewport}: give width x height in px, such as 1280x800.")
    options = CaptureOptions(
        viewport_px=(int(width), int(height)),
        user_agent=user_agent,
        headers=tuple(_pair("--header", text, ":") for text in header or ()),
        cookies=tuple(_pair("--cookie", text, "=") for text in cookie or ()),
        storage_state=storage_state,
        locale=locale,
        images=images,
        settle=settle,
        settle_extra=_seconds("--settle-extra", settle_extra),
        scroll=scroll,
    )
    budget = Budget(time=_seconds("--timeout", timeout))
    at_once = concurrency or os.cpu_count() or 1
    renderer = Renderer(options, budget, concurrency=at_once, executable=browser)
    return Capture(renderer, options, at_once, refresh)


def rendering(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `capture_options` in place of its parameter `capture`."""
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "capture"]
    shared = inspect.signature(capture_options).parameters

    @wraps(command)
    def run(**values: Any) -> None:
        with _failures():
            capture = capture_options(**{name: values.pop(name) for name in shared})
            command(**values, capture=capture)

    run.__signature__ = inspect.Signature([*own, *shared.values()])  # type: ignore[attr-defined]
    return run


def _pair(option: str, text: str, mark: str) -> tuple[str, str]:
    from snapshot import UsageError

    name, found, value = text.partition(mark)
    if not found or not name.strip():
        raise UsageError(f"{option} {text!r}: write name{mark}value.")
    return name.strip(), value.strip()


def _seconds(option: str, value: float) -> timedelta:
    from snapshot import UsageError

    if not 0 <= value <= 86_400:
        raise UsageError(f"{option} {value:g}: give seconds from 0 to 86400.")
    return timedelta(seconds=value)


@contextmanager
def _failures() -> Iterator[None]:
    """Turn errors of the project's tree into one line on stderr and the exit code of their branch."""
    from snapshot import BrowserNotFoundError, DomsieveError, StorageError, UsageError

    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    if isinstance(sys.stdout, TextIOWrapper):  # results are UTF-8 everywhere; file names need not be
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
    codes = ((UsageError, EXIT_USAGE), (BrowserNotFoundError, EXIT_BROWSER), (StorageError, EXIT_STORAGE))
    try:
        yield
        sys.stdout.flush()
    except DomsieveError as error:
        _say(f"domsieve: {error}")
        raise typer.Exit(
            next((code for kind, code in codes if isinstance(error, kind)), EXIT_NOTHING)
        ) from error
    except KeyboardInterrupt as error:
        _say("domsieve: interrupted; what was finished is kept, and the same command goes on from there.")
        raise typer.Exit(EXIT_INTERRUPTED) from error
    except BrokenPipeError as error:
        # The reader of our output has seen enough; Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from error


def _say(text: str) -> None:
    typer.echo(text, err=True)


def _open(cache: Path | None) -> "PageStore":
    from snapshot import PageStore, default_cache_dir

    return PageStore(cache or default_cache_dir())


def _finish(done: int, failed: int) -> None:
    if failed:
        _say(f"{failed} of {done + failed} pages failed.")
        raise typer.Exit(EXIT_SOME_FAILED if done else EXIT_NOTHING)


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, default=str))


def _fetch(
    targets: "Sequence[Target]", store: "PageStore", capture: Capture
) -> "dict[str, PageRecord | DomsieveError]":
    """Return a capture, or why there is none, of every URL among the targets; render what is not cached."""
    from service import cached, render_pages, wanted_urls
    from snapshot import DomsieveError

    urls = wanted_urls(targets)
    known = {} if capture.refresh else {url: cached(url, store, capture.options) for url in urls}
    outcomes: dict[str, PageRecord | DomsieveError] = {url: r for url, r in known.items() if r is not None}
    missing = [url for url in urls if url not in outcomes]
    done = 0

    def report(url: str, outcome: "PageRecord | DomsieveError") -> None:
        nonlocal done
        done += 1
        if isinstance(outcome, DomsieveError):
            what = f"failed: {outcome.message}"
        else:
            what = f"{outcome.nodes:,} nodes" + "".join(f"; cut: {reason}" for reason in outcome.reasons)
        _say(f"[{done}/{len(missing)}] {url} {what}")

    async def run() -> None:
        async with capture.renderer:
            outcomes.update(await render_pages(capture.renderer, missing, store, report))

    if missing:
        asyncio.run(run())
    return {url: outcomes[url] for url in urls}


@app.command()
@rendering
def render(targets: Targets, *, cache: Cache = None, as_json: AsJson = False, capture: Capture) -> None:
    """Render URLs and keep the pages in the cache."""
    from service import UrlTarget, find_targets
    from snapshot import DomsieveError, TargetError

    with _open(cache) as store:
        found = find_targets(targets, store)
        if not all(isinstance(target, UrlTarget) for target in found):
            raise TargetError("Only URLs can be rendered; files and cached pages are cleaned as they are.")
        outcomes = _fetch(found, store, capture)
    failed = [outcome for outcome in outcomes.values() if isinstance(outcome, DomsieveError)]
    for url, outcome in outcomes.items():
        if isinstance(outcome, DomsieveError):
            if as_json:
                _print_json({"url": url, "error": outcome.message, "retry": outcome.retry})
        elif as_json:
            _print_json(asdict(outcome))
        else:
            typer.echo(f"{outcome.page_id[:12]} {url}")
    _finish(len(outcomes) - len(failed), len(failed))


@app.command()
@rendering
def site(
    url: Annotated[str, typer.Argument(help="A page of the site.")],
    *,
    pages: Annotated[int, typer.Option(min=1, help="How many different pages.")] = 100,
    seed: Annotated[int, typer.Option(help="Each one draws another sample.")] = 0,
    delay: Annotated[
        float | None, typer.Option(help="Seconds between two pages (default: 0.5, none on this machine).")
    ] = None,
    cache: Cache = None,
    as_json: AsJson = False,
    capture: Capture,
) -> None:
    """Render a random sample of the pages of a site into the cache."""
    from renderer import PageDone, PageFailed
    from service import describe, sample

    done, failed, kept_as = 0, 0, ""

    async def run(store: "PageStore") -> None:
        nonlocal done, failed, kept_as
        async with capture.renderer:
            async for event, record in sample(
                capture.renderer,
                url,
                store,
                options=capture.options,
                pages=pages,
                seed=seed,
                delay=None if delay is None else _seconds("--delay", delay),
                concurrency=min(capture.concurrency, 8),
                refresh=capture.refresh,
            ):
                _say(describe(event))
                failed += isinstance(event, PageFailed)
                if record is None or not isinstance(event, PageDone):
                    continue
                done += 1
                kept_as = record.site
                if as_json:
                    _print_json(asdict(record))
                else:
                    typer.echo(f"{record.page_id[:12]} {record.url}")

    with _open(cache) as store:
        asyncio.run(run(store))
    if kept_as:
        _say(f"Next: domsieve clean {kept_as} --output-dir clean")
    _finish(done, failed)


MethodOption = Annotated[
    Literal["sst", "tps", "none"] | None,
    typer.Option(help="Default: sst where 5 pages of the site are known, else tps."),
]
ModeOption = Annotated[
    Literal["site", "paper"], typer.Option(help="Ours for today's sites, or as published.")
]
ThresholdOption = Annotated[
    float | None, typer.Option(help="Importance up to which a node is noise, in [0, 1].")
]
StyleOption = Annotated[
    Literal["none", "html", "layout", "full"] | None,
    typer.Option(help="What tells elements apart [default: layout for rendered pages, html for raw ones]."),
]
RawOption = Annotated[bool, typer.Option("--raw", help="Use the raw source of rendered pages.")]


@app.command()
@rendering
def clean(
    targets: Targets,
    *,
    method: MethodOption = None,
    output_format: Annotated[
        Literal["text", "markdown", "html", "json"], typer.Option("--format", help="What is written.")
    ] = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for all results.")] = None,
    output_dir: Annotated[Path | None, typer.Option(help="Folder for one file per page.")] = None,
    model: Annotated[Path | None, typer.Option(help="Site model written by `learn`.")] = None,
    mode: ModeOption = "site",
    threshold: ThresholdOption = None,
    style: StyleOption = None,
    raw: RawOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
    cache: Cache = None,
    capture: Capture,
) -> None:
    """Write what remains of pages without menus, adverts and footers."""
    from analysis import load_model
    from service import ENDINGS, WRITERS, Results, find_targets, from_record, readable, site_records
    from service import clean as clean_pages
    from snapshot import DomsieveError, UsageError

    if output and output_dir:
        raise UsageError("Give either --output or --output-dir.")
    if model and method not in {None, "sst"}:
        raise UsageError(f"--model is for the method sst, not {method}.")
    form = "json" if as_json else output_format
    with _open(cache) as store:
        found = find_targets(targets, store)
        outcomes = _fetch(found, store, capture)
        pages = readable(found, outcomes, store, raw=raw)

        def siblings(site: str) -> "list[Page]":
            records = site_records(site, store, capture.options)
            return [from_record(record, store, raw=raw) for record in records]

        results = clean_pages(
            pages,
            method=method,
            mode=mode,
            threshold=threshold,
            style=style,
            model=load_model(model) if model else None,
            siblings=siblings,
        )
        done, failed = 0, sum(isinstance(outcome, DomsieveError) for outcome in outcomes.values())
        heads = form != "json" and len(pages) > 1
        with Results(output, output_dir, ENDINGS[form], heads=heads) as results_out:
            for page, result in results:
                if isinstance(result, DomsieveError):
                    failed += 1
                    _say(f"{page.label}: {result}")
                    continue
                results_out.write(page, WRITERS[form](*result))
                done += 1
    _finish(done, failed)


@app.command()
@rendering
def learn(
    targets: Targets,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="File of the model.")],
    mode: ModeOption = "site",
    threshold: ThresholdOption = None,
    style: StyleOption = None,
    raw: RawOption = False,
    as_json: AsJson = False,
    cache: Cache = None,
    capture: Capture,
) -> None:
    """Learn a site model from pages of one site, for `clean --model`."""
    from analysis import save_model, simplified
    from service import find_targets, readable
    from service import learn as learn_pages
    from snapshot import DomsieveError

    with _open(cache) as store:
        found = find_targets(targets, store)
        outcomes = _fetch(found, store, capture)
        pages = readable(found, outcomes, store, raw=raw)
        failed = sum(isinstance(outcome, DomsieveError) for outcome in outcomes.values())

        def report(page: "Page", error: "DomsieveError") -> None:
            nonlocal failed
            failed += 1
            _say(f"{page.label}: {error}")

        model = learn_pages(pages, mode=mode, threshold=threshold, style=style, failed=report)
    save_model(model, output)
    tree = model.tree_
    facts = {
        "model": str(output),
        "pages": tree.pages,
        "style": model.style_,
        "element_nodes": len(tree.elements),
        "of_them_in_the_simplified_tree": int(simplified(tree, model.figures_).sum()),
        "style_nodes": len(tree.styles),
        "features": len(tree.features),
        "noisy": int(model.figures_.noisy.sum()),
        "meaningful": int(model.figures_.meaningful.sum()),
    }
    if as_json:
        _print_json(facts)
    else:
        typer.echo("\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in facts.items()))
    _finish(tree.pages, failed)


@cache_app.command("list")
def cache_list(
    site: Annotated[str | None, typer.Argument(help="Only pages of this host.")] = None,
    *,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """List the captured pages."""
    with _failures(), _open(cache) as store:
        for record in store.records(site=site and site.lower()):
            if as_json:
                _print_json(asdict(record))
            else:
                mark = "" if record.complete else " incomplete"
                typer.echo(
                    f"{record.page_id[:12]} {record.nodes:>8,} nodes {record.bytes:>9,} B {record.url}{mark}"
                )


@cache_app.command("show")
def cache_show(
    page: Annotated[str, typer.Argument(help="Id of a page, or its beginning.")],
    *,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Show where a captured page came from and what it holds."""
    from msgspec import to_builtins

    with _failures(), _open(cache) as store:
        record = store.resolve(page)
        facts = {**asdict(record), "provenance": to_builtins(store.get(record.page_id).provenance)}
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=None if as_json else 2, default=str))


@cache_app.command("verify")
def cache_verify(
    *,
    repair: Annotated[bool, typer.Option("--repair", help="Put the index right.")] = False,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Check every file of the cache; exit code 5 when something is wrong."""
    with _failures(), _open(cache) as store:
        problems = store.verify(repair=repair)
        for problem in problems:
            if as_json:
                _print_json(asdict(problem))
            else:
                typer.echo(str(problem))
        _say(f"{len(store.records())} pages, {len(problems)} problems")
        if problems:
            raise typer.Exit(EXIT_STORAGE)


@cache_app.command("remove")
def cache_remove(
    pages: Annotated[list[str], typer.Argument(help="Ids of pages, or hosts of sites.")],
    *,
    cache: Cache = None,
) -> None:
    """Remove captured pages."""
    with _failures(), _open(cache) as store:
        found = [store.records(site=page.lower()) or [store.resolve(page)] for page in pages]
        ids = {record.page_id for records in found for record in records}
        store.remove(sorted(ids))
        _say(f"{len(ids)} pages removed")


@app.command()
def doctor(
    *,
    browser: Annotated[
        str | None, typer.Option(help="Path or name of Chrome [env: DOMSIEVE_BROWSER].")
    ] = None,
    cache: Cache = None,
    as_json: AsJson = False,
) -> None:
    """Say which Chrome is used, where the cache lies, and whether both work."""
    from playwright.async_api import async_playwright

    from renderer import find_browser

    async def find() -> object:
        async with async_playwright() as playwright:
            return await find_browser(playwright, browser)

    with _failures(), _open(cache) as store:
        facts = {"browser": str(asyncio.run(find())), "cache": str(store.root), "pages": len(store.records())}
        if as_json:
            _print_json(facts)
        else:
            typer.echo("\n".join(f"{name}: {value}" for name, value in facts.items()))


if __name__ == "__main__":
    app()
