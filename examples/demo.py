"""The main job from end to end: sample a site with Chrome, learn it, clean a page, say what was dropped and why.

``python -m examples.demo`` serves the demo site on this machine and cleans that; ``--site URL`` takes a real one.
"""

import argparse
import asyncio
import logging
import re
import sys
import tempfile
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.writers.evidence import dropped_blocks
from domsieve.analysis.writers.text import write_text
from domsieve.errors import ContentError, DomsieveError
from domsieve.files import default_cache_dir
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.network.egress import Egress
from domsieve.renderer.network.upstream import environment_proxies
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import from_record
from domsieve.tasks.sampling import describe, sample
from examples.serve import serve_demo

_SHOWN = "/articles/owl-pellets"  # of the demo site: a table, an advert, readers' letters in a frame
_PAGES = 30
_LINES = 14
_BLOCKS = 9


def main() -> int:
    """Run the demo; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", help="address of a real site instead of the demo site")
    parser.add_argument("--pages", type=int, default=_PAGES, help="pages to sample (default: %(default)s)")
    asked = parser.parse_args()
    logging.basicConfig(format="%(message)s", stream=sys.stderr)
    with ExitStack() as stack:
        # The demo site has another port each time, so its captures are of no use afterwards.
        folder = (
            default_cache_dir() if asked.site else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        )
        start = asked.site or stack.enter_context(serve_demo()) + _SHOWN
        store = stack.enter_context(PageStore(folder))
        try:
            records = asyncio.run(sample_demo(start, store, pages=asked.pages))
            _show(records, store)
        except DomsieveError as error:
            print(f"demo: {error}", file=sys.stderr)
            return 1
    return 0


async def sample_demo(
    start: str, store: PageStore, *, pages: int = _PAGES, viewport_px: tuple[int, int] = (1280, 800)
) -> list[PageRecord]:
    """Render a random sample of a site; the first page is `start`."""
    records: list[PageRecord] = []
    options, budget = CaptureOptions(scroll=True, viewport_px=viewport_px), Budget(time=timedelta(seconds=30))
    egress = Egress(upstreams=environment_proxies())
    egress.name(start)
    async with Renderer(options, budget, concurrency=2, egress=egress) as renderer:
        async for event, record in sample(
            renderer,
            start,
            store,
            options=options,
            pages=pages,
            seed=0,
            delay=None,
            concurrency=2,
            since=None,
            egress=egress,
        ):
            print(describe(event), file=sys.stderr)
            if record is not None:
                records.append(record)
    return records


def _show(records: list[PageRecord], store: PageStore) -> None:
    pages = [store.get(record.page_id) for record in records]
    visible = NoCleaning().transform(pages)
    rendered = [_words(write_text(page, verdict)) for page, verdict in zip(pages, visible, strict=True)]
    raw = [_raw_words(record, store) for record in records]
    _title(f"Rendered: {len(pages)} pages; words that a reader sees in the raw source, and after rendering")
    for record, source, words in zip(records, raw, rendered, strict=True):
        print(f"{source:>6} -> {words:>6}  {record.nodes:>6,} nodes  {record.url}")
    print(f"{sum(raw):>6} -> {sum(rendered):>6}  in all")

    model = SiteStyleTree().fit(pages)
    page = pages[0]
    verdict = drop_hidden(page, model.transform(page), hidden="layout")
    text = write_text(page, verdict)
    lines = [_short(line) for line in text.splitlines() if line.strip()]
    _title(f"Clean text of {page.provenance.url}: {_words(text)} of {rendered[0]} words")
    print("\n".join(lines[:_LINES]))
    if len(lines) > _LINES:
        print(f"... {len(lines) - _LINES} more lines")

    _title(f"Dropped, largest first; a score up to {verdict.parameters['threshold']:.2f} is noise")
    for block in dropped_blocks(page, verdict, limit=_BLOCKS):
        numbers = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in block.numbers.items())
        print(f"{block.words:>4} words  {block.reason}: {numbers}\n            {_short(block.text)}")


def _raw_words(record: PageRecord, store: PageStore) -> int:
    """Return the words that the raw source of the same navigation shows."""
    try:
        source: Snapshot = from_record(record, store, raw=True).load()
    except ContentError:
        return 0
    return _words(write_text(source, NoCleaning().transform(source)))


def _words(text: str) -> int:
    return len(re.findall(r"\w{2,}", text))


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 110 else flat[:109] + "…"


def _title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


if __name__ == "__main__":
    sys.exit(main())
