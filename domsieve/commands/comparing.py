"""The command that compares rendered pages with their raw source."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from domsieve.commands.capture_options import AsJson, Cache, Capture, KeepErrors, comparing
from domsieve.commands.console import count, finish, open_cache, print_json, print_line, say_failed
from domsieve.commands.fetching import fetch

if TYPE_CHECKING:
    from domsieve.analysis.compare.compared_blocks import DifferingBlock
    from domsieve.analysis.compare.comparison import BrowserNeed, Comparison, TwoLoads
    from domsieve.snapshot.index import PageRecord
    from domsieve.snapshot.store import PageStore
    from domsieve.tasks.page_comparison import Advice
    from domsieve.tasks.targets import Fetched, Target, Word

_SHOWN_BLOCKS = 10
_SHOWN_TEXT, _SHOWN_BEFORE = 60, 20  # maximum length of a text, and of its part before the first difference

Twice = Annotated[
    bool,
    typer.Option(
        "--twice", help="Load each page twice, and show which texts differ: adverts, times, tokens."
    ),
]


@comparing
def compare(
    targets: "Sequence[Word]",
    *,
    twice: Twice = False,
    keep_errors: KeepErrors = False,
    cache: Cache = None,
    as_json: AsJson = False,
    capture: Capture,
) -> None:
    """Compare the raw source of pages with the rendered pages, and say where you need a browser."""
    from msgspec import to_builtins

    from domsieve.errors import DomsieveError, TargetError, UsageError
    from domsieve.tasks.page_comparison import advise, prefix_of
    from domsieve.tasks.page_comparison import compare as compare_pages
    from domsieve.tasks.pages import site_records
    from domsieve.tasks.targets import CacheTarget, DamagedTarget, UrlTarget, find_targets

    if twice and capture.replay:
        raise UsageError(
            "--twice needs the network, because an archive has one load of each page; leave out one of them."
        )
    with open_cache(cache) as store:
        found = find_targets(targets, store)
        if not all(isinstance(target, CacheTarget | DamagedTarget | UrlTarget) for target in found):
            raise TargetError("Files have no rendered version to compare with; give URLs or cached pages.")
        if twice and any(isinstance(target, CacheTarget) for target in found):
            raise TargetError("--twice loads pages again; give URLs, not pages of the cache.")
        loads: dict[str, PageRecord] = {}
        failed = 0
        if twice:
            plain = replace(capture, options=capture.options.without_extras())
            found, loads, failed = _loaded(fetch(found, store, _afresh(plain)))
            capture = _afresh(capture)
        fetched = fetch(found, store, capture)
        failed += fetched.failed
        records = [
            target.record if isinstance(target, CacheTarget) else fetched.outcomes[target.url]
            for target in fetched.targets
            if isinstance(target, CacheTarget | UrlTarget)
        ]
        captured = [record for record in records if not isinstance(record, DomsieveError)]
        only_fetched = dict(_only_fetched(captured, store))
        for record in captured:
            if reason := only_fetched.get(record.page_id):
                facts = {"url": record.url, "page_id": record.page_id, "prefix": prefix_of(record.url)}
                if as_json:
                    print_json({**facts, "rendered": False, "reason": reason})
                else:
                    print_line(record.url)
                    print_line(f"  only fetched: {reason}")
        by_site: dict[str, list[tuple[str, Comparison]]] = {}
        for page in compare_pages(
            [record for record in captured if record.page_id not in only_fetched],
            store,
            siblings=lambda site: site_records(site, store, capture.options),
            keep_errors=keep_errors,
            loads=loads,
        ):
            record, result = page.record, page.result
            if isinstance(result, DomsieveError):
                failed += 1
                say_failed(record.url, result)
                continue
            by_site.setdefault(record.site, []).append((record.url, result))
            if as_json:
                facts = {"url": record.url, "page_id": record.page_id, "prefix": prefix_of(record.url)}
                if record.url in loads:
                    facts["other_page_id"] = loads[record.url].page_id
                print_json({**facts, **to_builtins(result)})
            else:
                for line in _page_lines(record.url, result):
                    print_line(line)
        for site, pages in by_site.items():
            advice = advise(pages)
            if as_json:
                print_json({"site": site, "advice": to_builtins(advice)})
            else:
                for line in ("", site, *map(_advice_line, advice)):
                    print_line(line)
    finish(sum(map(len, by_site.values())) + len(only_fetched), failed)


def _only_fetched(records: "Iterable[PageRecord]", store: "PageStore") -> "Iterator[tuple[str, str]]":
    """Yield the ids of the pages that were not rendered because they needed no browser, and why."""
    from domsieve.tasks.render_modes import NOT_JUDGED

    for record in records:
        if record.producer == "raw":
            reason = store.get(record.page_id).provenance.reason
            if reason and not reason.startswith(NOT_JUDGED):
                yield record.page_id, reason


def _afresh(capture: Capture) -> Capture:
    """Return the options for rendering pages again: in a new browser, without the cache."""
    return replace(capture, since=datetime.now(UTC))


def _loaded(fetched: "Fetched") -> "tuple[list[Target], dict[str, PageRecord], int]":
    """Return the pages to load a second time, the captures of their first load, and the number of failed pages."""
    from domsieve.snapshot.index import PageRecord
    from domsieve.tasks.targets import UrlTarget

    records = {url: outcome for url, outcome in fetched.outcomes.items() if isinstance(outcome, PageRecord)}
    targets: list[Target] = [
        target for target in fetched.targets if isinstance(target, UrlTarget) and target.url in records
    ]
    return targets, records, fetched.failed


def _page_lines(url: str, result: "Comparison") -> list[str]:
    from domsieve.analysis.compare.compared_blocks import CHANGES

    raw, rendered, words = result.raw, result.rendered, dict.fromkeys(CHANGES, 0)
    for block in result.blocks:
        words[block.change] += block.words
    counts = {
        "words": (raw.words, rendered.words),
        "cleaned words": (raw.cleaned_words, rendered.cleaned_words),
        "nodes": (raw.nodes, rendered.nodes),
        "links": (raw.links, rendered.links),
        "images": (raw.images, rendered.images),
        "records": (raw.records, rendered.records),
    }
    changes = ", ".join(f"{name} {_number(a)} → {_number(b)}" for name, (a, b) in counts.items())
    content, seen = result.content, result.visible
    return [
        url,
        f"  raw → rendered: {changes}",
        f"  of the content in the raw source: {_share(content.recall, content.both, content.wanted)}",
        f"  of all words: {_share(seen.recall, seen.both, seen.wanted)}; "
        f"and back: {_share(seen.precision, seen.both, seen.found_in)}",
        "  words by block: " + ", ".join(f"{name} {number:,}" for name, number in words.items() if number),
        *(f"  data: {d.delivered:,} words by {d.url}" for d in result.data if d.delivered),
        *(["  the source was parsed, not laid out: render with --screenshot"] if not result.styled else []),
        *([_need_line(result.need)] if result.need else []),
        *(_load_lines(result.loads) if result.loads else []),
    ]


def _need_line(need: "BrowserNeed") -> str:
    said = {"enough": "the source is enough", "needed": "a browser is needed", "unknown": "not known"}
    why = f": {need.why}" if need.why else ""
    sign = f"; a sign of it: {need.signs[0]}" if need.signs else ""
    if need.signs and need.outcome == "enough":
        sign = f", but a sign says otherwise: {need.signs[0]}"
    return f"  for --render auto: {said[need.outcome]}{why}{sign}"


def _load_lines(loads: "TwoLoads") -> list[str]:
    seen, number = loads.visible, len(loads.blocks)
    same = _share(seen.recall, seen.both, seen.wanted)
    more = [f"    … {number - _SHOWN_BLOCKS:,} more; --json has all"] if number > _SHOWN_BLOCKS else []
    return [
        f"  in both loads: {same}; {count(number, 'text')} differ{'s' * (number == 1)}",
        *(f"    {_differing(block)}" for block in loads.blocks[:_SHOWN_BLOCKS]),
        *more,
    ]


def _differing(block: "DifferingBlock") -> str:
    here, there = (" ".join(text.split()) for text in (block.text, block.other_text))
    if block.seen == "rendered":
        return f"only here: {_shown(here, 0)}"
    if block.seen == "other":
        return f"only in the other load: {_shown(there, 0)}"
    same = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), 0)
    start = here.rfind(" ", 0, max(same - _SHOWN_BEFORE, 0)) + 1
    return f"{_shown(here, start)} ≠ {_shown(there, start)}"


def _shown(text: str, start: int) -> str:
    part = text[start : start + _SHOWN_TEXT]
    return f"{'…' if start else ''}{part}{'…' if start + len(part) < len(text) else ''}"


def _advice_line(advice: "Advice") -> str:
    what = "browser needed" if advice.browser_needed else "raw source is enough"
    share = _share(advice.recall, advice.content.both, advice.content.wanted)
    return f"  {advice.prefix:<20} {advice.pages:>4} pages  {what:<20}  {share}"


def _share(ratio: float, part: int, whole: int) -> str:
    return f"{ratio:.3f} ({part:,} of {whole:,} words)"


def _number(value: int | None) -> str:
    return "?" if value is None else f"{value:,}"
