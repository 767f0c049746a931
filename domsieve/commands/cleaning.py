"""Commands that clean pages and learn the sites they come from."""

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from domsieve.analysis.registry import DEFAULT_METHOD, Method, SiteMethod
from domsieve.commands.capture_options import (
    AsJson,
    Cache,
    Capture,
    Drop,
    Hidden,
    KeepErrors,
    Select,
    rendering,
    rendering_every_page,
    selection_of,
    url_of_file,
)
from domsieve.commands.console import (
    FailedPages,
    check_place,
    count,
    finish,
    open_cache,
    print_json,
    print_text,
    progress,
    say,
    say_kept,
    say_more,
)
from domsieve.commands.fetching import fetch
from domsieve.commands.method_options import FavorOption, MethodOption, ModeOption, ParamOption, params_of
from domsieve.types import BLOCK_KINDS, PageFormat

if TYPE_CHECKING:
    from domsieve.analysis.report.thresholds import ThresholdHelp
    from domsieve.analysis.site_model import SiteModel
    from domsieve.analysis.verdict import Verdict
    from domsieve.errors import DomsieveError
    from domsieve.snapshot.page import Snapshot
    from domsieve.snapshot.store import PageStore
    from domsieve.tasks.output import ResultFolder, Results
    from domsieve.tasks.pages import Page
    from domsieve.tasks.targets import Target, Word

_LONGEST = 60
_NAMED = 3


def help_table(found: "ThresholdHelp") -> str:
    """Return the help on thresholds as a table for people."""
    low, high = found.gap
    lines = [
        f"{count(found.pages, 'page')} with {count(found.words, 'word')} in {count(found.blocks, 'block')}",
        "",
        "threshold   kept words   kept blocks   first dropped here",
    ]
    for step in found.steps:
        share = 100 * step.words / max(found.words, 1)
        words = f"{step.words:,} ({share:.0f} %)"
        shown = " · ".join(map(_one_line, step.border))
        lines.append(f"{step.threshold:9.2f}   {words:>10}   {step.blocks:>11,}   {shown}".rstrip())
    lines += [
        "",
        f"widest gap: no block between {low:.3f} and {high:.3f}",
        f"proposed: --param threshold={found.proposed:.2f} (the model's own: {found.used:.2f})",
    ]
    return "\n".join(lines)


def help_facts(found: "ThresholdHelp") -> dict[str, Any]:
    """Return the help on thresholds as values for JSON."""
    return asdict(found)


def _one_line(text: str) -> str:
    """Return captured text as a short line without control characters."""
    flat = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"


RawOption = Annotated[bool, typer.Option("--raw", help="Use the raw source of rendered pages.")]


_KINDS = f"{', '.join(BLOCK_KINDS[:-1])} or {BLOCK_KINDS[-1]}"


def _kind(word: str) -> str:
    if word not in BLOCK_KINDS:
        raise typer.BadParameter(f"'{word}' is not one of {', '.join(map(repr, BLOCK_KINDS))}.")
    return word


@rendering
def clean(
    targets: "Sequence[Word]",
    *,
    method: MethodOption = None,
    output_format: Annotated[
        PageFormat,
        typer.Option("--format", help="Output format; chunks are passages for retrieval, as JSON lines."),
    ] = "text",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File for all results.")] = None,
    output_dir: Annotated[Path | None, typer.Option(help="Folder for one file per page.")] = None,
    model: Annotated[Path | None, typer.Option(help="Site model written by `learn`.")] = None,
    models: Annotated[
        Path | None, typer.Option(help="Folder of site models written by `bulk learn`, one per site.")
    ] = None,
    favor: FavorOption = None,
    mode: ModeOption = "site",
    param: ParamOption = None,
    raw: RawOption = False,
    hidden: Hidden = "layout",
    keep_kind: Annotated[
        list[str] | None,
        typer.Option(
            parser=_kind, metavar="KIND", help=f"Keep all blocks of this kind: {_KINDS}; repeatable."
        ),
    ] = None,
    drop_kind: Annotated[
        list[str] | None,
        typer.Option(parser=_kind, metavar="KIND", help="Drop all blocks of this kind; repeatable."),
    ] = None,
    max_words: Annotated[
        int | None, typer.Option(min=20, help="chunks: maximum words per passage [default: 300].")
    ] = None,
    metadata: Annotated[
        bool,
        typer.Option(
            "--metadata",
            help="Put title, authors and dates before text and Markdown (as YAML), or in the head of HTML.",
        ),
    ] = False,
    alone: Annotated[
        bool, typer.Option("--alone", help="Judge each page without other pages of its site.")
    ] = False,
    url: Annotated[str | None, typer.Option(help="Address of the page, if you give one file.")] = None,
    select: Select = None,
    drop: Drop = None,
    keep_errors: KeepErrors = False,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
    cache: Cache = None,
    capture: Capture,
) -> None:
    """Write the content of pages, without menus, adverts and footers."""
    from domsieve.analysis.block_types.detection import KindChoice
    from domsieve.analysis.registry import PAGE_METHODS
    from domsieve.analysis.writers.formats import PAGE_FORMATS
    from domsieve.errors import UsageError
    from domsieve.tasks.output import ResultFolder, Results
    from domsieve.tasks.page_cleaning import clean as clean_pages
    from domsieve.tasks.pages import known_pages, readable, with_selection
    from domsieve.tasks.render_modes import cleaning_needs
    from domsieve.tasks.site_models import clean_by_site, models_in
    from domsieve.tasks.targets import find_targets

    if output and output_dir:
        raise UsageError("Give either --output or --output-dir.")
    if model and method in PAGE_METHODS:
        raise UsageError(f"--model is for methods that learn, not for {method}.")
    if models and (model or alone):
        raise UsageError(f"Give either --models or {'--model' if model else '--alone'}.")
    check_place("--output", output)
    check_place("--output-dir", output_dir, is_folder=True)
    kinds = KindChoice.of(keep_kind or (), drop_kind or ())
    form = "json" if as_json else output_format
    entry = PAGE_FORMATS[form]
    if max_words is not None and "max_words" not in entry.options:
        raise UsageError("--max-words is for --format chunks.")
    selection = selection_of(select, drop)
    learned = _model(model) if model else None
    by_site = models_in(models) if models else None
    params = params_of(
        method or cast(Method, learned.name if learned else DEFAULT_METHOD), param, mode=mode, favor=favor
    )
    name = method or (learned.name if learned else DEFAULT_METHOD)
    needs = cleaning_needs(
        capture.options,
        uses_default_method=name == DEFAULT_METHOD,
        hidden=hidden,
        style=params.given.get("style"),
    )
    needs["param"] = needs.pop("style")
    capture = capture.for_hidden(hidden).adapted(**needs)
    with ExitStack() as stack, open_cache(cache) as store:
        folder = stack.enter_context(ResultFolder(output_dir, entry)) if output_dir else None
        found = find_targets(targets, store)
        if hidden == "pixels":
            _check_pixels(found, store, raw=raw)
        fetched = fetch(found, store, capture, tell_cuts=False)
        pages = readable(
            fetched,
            store,
            raw=raw,
            keep_errors=keep_errors,
            selection=selection,
            url=url_of_file(url, fetched.targets),
        )

        def siblings(site: str) -> "list[Page]":
            known = known_pages(site, store, capture.options, raw=raw)
            return [with_selection(page, selection) for page in known]

        cleaner = partial(
            clean_pages, method=method, params=params, hidden=hidden, kinds=kinds, siblings=siblings
        )
        results = (
            clean_by_site(pages, by_site, cleaner, method=method)
            if by_site
            else cleaner(pages, model=learned, alone=alone)
        )
        writing = Writing(form, metadata=metadata, max_words=max_words)
        heads = not entry.is_lines and len(pages) > 1
        if folder:
            folder.expect(page.key for page in pages)
        out = folder or stack.enter_context(Results(output, heads=heads, write=partial(print_text, end="")))
        bar = stack.enter_context(progress("cleaning", total=len(pages)))
        for page, result in results:
            bar.advance()
            writing.write(page, result, out)
    if not (model or models):
        writing.report_sites()
    if (model or models) and writing.drift.known_share is not None:
        say(f"{model or models}: {writing.drift}.")
    writing.report()
    if folder:
        say(folder.summary())
    finish(writing.done, fetched.failed + writing.failed.count)


class Writing:
    """Writes cleaned pages, and reports what a reader of the results should know.

    Parameters
    ----------
    form, metadata, max_words : see `domsieve.tasks.page_cleaning.written`.

    Attributes
    ----------
    done : the number of pages written.
    failed : the pages that failed.
    drift : how well a model knows the pages.
    """

    def __init__(self, form: PageFormat, *, metadata: bool = False, max_words: int | None = None) -> None:
        from domsieve.tasks.site_learning import Drift

        self._form, self._metadata, self._max_words = form, metadata, max_words
        self.done, self.failed = 0, FailedPages()
        self.drift = Drift()
        self._hidden_in, self._given, self._known = Counter[str](), Counter[str](), Counter[str]()
        self._unsure = self._unpictured = self._invisible = 0

    def write(
        self,
        page: "Page",
        result: "tuple[Snapshot, Verdict] | DomsieveError",
        out: "Results | ResultFolder",
    ) -> None:
        """Write the result of a page, or report its error."""
        from domsieve.analysis.cleaning.hidden_text import hidden_words
        from domsieve.analysis.columns.invisible import invisible_characters
        from domsieve.errors import BudgetError, DomsieveError
        from domsieve.snapshot.pixels import is_unpictured, unsure_texts
        from domsieve.tasks.output import Results, encoded
        from domsieve.tasks.page_cleaning import written
        from domsieve.tasks.postprocess import how_loaded, remarks

        self._given[page.site] += 1
        if isinstance(result, DomsieveError):
            self.failed(page, result)
            return
        snapshot, verdict = result
        self._known[page.site] = verdict.site_pages
        try:
            text = written(page, result, self._form, metadata=self._metadata, max_words=self._max_words)
            with page.at_work("write"):
                said = remarks(snapshot, verdict)
                removed = invisible_characters(snapshot, verdict.kept)
        except BudgetError as error:
            self.failed(page, error)
            return
        for remark in said:
            say(f"{page.label}: {remark}")
        if how := how_loaded(snapshot):
            say_more(f"{page.label}: {how}")
        if isinstance(out, Results):
            out.write(page, text)
        else:
            origin, expected = snapshot.provenance, verdict.expected_f1
            say_kept(out.write(page.key, encoded(text), origin, expected_f1=expected))
        self._hidden_in[page.label] += hidden_words(snapshot, verdict)
        if is_unpictured(snapshot):
            self._unpictured += 1
        else:
            self._unsure += unsure_texts(snapshot)
        self._invisible += removed
        self.drift.add(verdict.known_share)
        self.done += 1

    def report_sites(self) -> None:
        """Report where further pages, which were not given, had a say."""
        for site, known in self._known.items():
            if (others := known - self._given[site]) > 0:
                say(
                    f"{site}: judged with {count(others, 'other page')} of this site; --alone judges without."
                )

    def report(self) -> None:
        """Report what was dropped from all pages together."""
        if dropped := self._hidden_in.total():
            most = _most(self._hidden_in)
            say(f"Hidden text was dropped: {count(dropped, 'word')}{most}; --hidden keep keeps it.")
        if self._unsure:
            so = "it counts" if self._unsure == 1 else "they count"
            say(f"Pictures do not show whether {count(self._unsure, 'text')} can be seen, so {so} as hidden.")
        if self._unpictured:
            say(f"Hidden text was found by layout where pictures failed: {count(self._unpictured, 'page')}.")
        if self._invisible:
            say(f"Invisible characters were removed: {self._invisible:,}.")


def _most(words: "Counter[str]") -> str:
    """Return the pages with most of the words, if some pages have more than others."""
    named = [(label, n) for label, n in words.most_common(_NAMED) if n > 2 * words.total() / len(words)]
    return ", most on " + ", ".join(f"{label} ({n:,})" for label, n in named) if named else ""


def _check_pixels(targets: "Sequence[Target]", store: "PageStore", *, raw: bool) -> None:
    """Raise an error unless all targets are rendered, or have been with pictures that show what can be seen."""
    from domsieve.errors import StorageError, UsageError
    from domsieve.snapshot.page import PIXELS
    from domsieve.tasks.pages import STDIN, no_pixels
    from domsieve.tasks.targets import ArchiveTarget, CacheTarget, FileTarget, PipedTarget

    if raw:
        raise UsageError("--raw is not rendered, and --hidden pixels needs pictures; leave out one of them.")
    checked = set[str]()
    for target in targets:
        if isinstance(target, ArchiveTarget):
            raise UsageError(
                "--hidden pixels needs pictures. Pages of archives are rendered if the archive is given with --from."
            )
        if isinstance(target, FileTarget | PipedTarget):
            raise no_pixels(STDIN if isinstance(target, PipedTarget) else str(target.path))
        # Captures with equal options are alike; failed pictures are reported when the page is read.
        if isinstance(target, CacheTarget) and target.record.capture not in checked:
            checked.add(target.record.capture)
            with suppress(StorageError):  # reported when the page is read
                if PIXELS not in store.get(target.record.page_id).provenance.options:
                    raise no_pixels(target.record.url)


def _model(path: Path) -> "SiteModel[Any]":
    # Most commands need no model, and start sooner without.
    from domsieve.analysis.model_file import load_model

    return load_model(path)


@rendering_every_page
def learn(
    targets: "Sequence[Word]",
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File of the model.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="sst: show what thresholds from 0.05 to 0.4 would keep.")
    ] = False,
    method: Annotated[SiteMethod, typer.Option(help="Method of the model.")] = DEFAULT_METHOD,
    favor: FavorOption = None,
    mode: ModeOption = "site",
    param: ParamOption = None,
    raw: RawOption = False,
    select: Select = None,
    drop: Drop = None,
    keep_errors: KeepErrors = False,
    as_json: AsJson = False,
    cache: Cache = None,
    capture: Capture,
) -> None:
    """Learn a model of a site from its pages, for `clean --model`."""
    from domsieve.analysis.model_file import save_model
    from domsieve.errors import UsageError
    from domsieve.tasks.page_cleaning import learn as learn_pages
    from domsieve.tasks.page_report import explain as explain_model
    from domsieve.tasks.pages import readable
    from domsieve.tasks.targets import find_targets

    if not (output or explain):
        raise UsageError("Give --output, the file of the model, or --explain, or both.")
    if explain and method != "sst":
        raise UsageError("--explain shows thresholds of the method sst; add --method sst.")
    check_place("--output", output)
    params = params_of(method, param, mode=mode, favor=favor)
    selection = selection_of(select, drop)
    with open_cache(cache) as store:
        fetched = fetch(find_targets(targets, store), store, capture)
        pages = readable(fetched, store, raw=raw, keep_errors=keep_errors, selection=selection)
        failed = FailedPages(fetched.failed)
        model = learn_pages(pages, method=method, params=params, failed=failed)
        # Pages that cannot be read were reported when the model was learned.
        thresholds = explain_model(model, pages, failed=lambda *_: None) if explain else None
    if output:
        save_model(model, output)
    style_of = {"style": model.style_} if model.style_ else {}
    facts = {"model": str(output or "not kept"), "pages": model.learned, **style_of, **model.facts()}
    if as_json:
        print_json({**facts, "thresholds": help_facts(thresholds)} if thresholds else facts)
    else:
        typer.echo("\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in facts.items()))
        if thresholds:
            typer.echo(f"\n{help_table(thresholds)}")
    finish(model.learned, failed.count)
