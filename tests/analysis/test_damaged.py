"""Pages that no browser makes, or that nobody writes: every method has a result for them, and nothing warns."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from msgspec import structs

from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.template import TemplateFilter
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.compare.comparison import compare_page
from domsieve.analysis.registry import METHODS, MINERS, PAGE_METHODS, SITE_METHODS
from domsieve.analysis.report.thresholds import threshold_help
from domsieve.analysis.report.view import Recurrences, page_view
from domsieve.analysis.trees.cst import CompressedStructureTree
from domsieve.analysis.trees.outline import Outliner
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.writers.evidence import write_json
from domsieve.analysis.writers.html import write_html
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.record_tables import RecordSheet, write_records_csv
from domsieve.analysis.writers.text import write_text
from domsieve.errors import InvalidSnapshotError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.strings import Interner
from domsieve.types import Mode
from tests.analysis.pages import page as laid_out

_LIST = "".join(f"<li><a href='/{n}'>Title {n}</a> <b>Price {n}</b> text</li>" for n in range(6))
USUAL = laid_out(
    f"<html><body><h1>Heading</h1><p>Some words.</p><ul>{_LIST}</ul></body></html>", producer="rendered"
)
ENDLESS = "9" * 400


def at(url: str) -> Snapshot:
    """Return a page of this address."""
    return replace(USUAL, provenance=structs.replace(USUAL.provenance, url=url, final_url=url))


def boxed(value: float, *edges: int) -> Snapshot:
    """Return a page whose boxes have this value at some edges."""
    box = USUAL.box.copy()
    box[:, edges] = np.where(np.isnan(box[:, edges]), np.nan, value)
    return replace(USUAL, box=box)


def styled(name: str, value: str) -> Snapshot:
    """Return a page on which every element has a value of one property."""
    strings = Interner()
    known = strings.ids(USUAL.strings.to_list())
    styles = known[USUAL.styles]
    styles[:, USUAL.style_names.index(name)] = strings(value)
    columns: dict[str, Any] = {
        column: np.where(getattr(USUAL, column) < 0, -1, known[getattr(USUAL, column)]).astype(np.int32)
        for column in ("text", "attr_name", "attr_value")
    }
    return replace(USUAL, strings=strings.table(), styles=styles.astype(np.int32), **columns)


def source(html: str) -> Snapshot:
    return parse_html(html.encode(), url="https://example.org/")


PAGES: dict[str, Callable[[], Snapshot]] = {
    **{
        f"address {url!r}": lambda url=url: at(url)  # type: ignore[misc]
        for url in (
            "http://[",
            "http://[v1.x]/",
            "//",
            "",
            "http://a:99999999/",
            "http://\u2100/",
            "http://a b/",
        )
    },
    **{
        f"boxes of {value} at {edges}": lambda value=value, edges=edges: boxed(value, *edges)  # type: ignore[misc]
        for value in (0.0, -1.0, 3e38, -3e38)
        for edges in ((0, 1, 2, 3), (2,), (3,))
    },
    **{
        f"{name} of {value[:9]}": lambda name=name, value=value: styled(name, value)  # type: ignore[misc]
        for name, value in (
            *(("font-size", f"{ENDLESS}px"), ("font-size", ""), ("font-size", "-1px")),
            *(("display", ""), ("visibility", ""), ("position", "fixed")),
        )
    },
    "nothing": lambda: source(""),
    "an empty element": lambda: source("<p>"),
    "blanks": lambda: source("<p>  </p><p> </p>"),
    "no letters": lambda: source("<p>123</p>" * 9),
    "empty items": lambda: source("<ul>" + "<li>" * 50),
    "a word of a megabyte": lambda: source("<p>" + "x" * 1_000_000 + "</p><p>Some words.</p>"),
    "marks of 100 kB": lambda: source("<p>x" + "." * 100_000 + "</p>"),
    "runs in runs": lambda: source("<div></div><div>" * 60 + "words"),
    "links that are none": lambda: source(
        "<base href='http://['><a href='//['>a</a><img src='http://['><a href>b</a>"
    ),
}


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("edge", range(4))
def test_boxes_beyond_all_numbers_are_no_page(edge: int) -> None:
    with pytest.raises(InvalidSnapshotError):
        boxed(float("inf"), edge)


@pytest.mark.parametrize("name", PAGES)
def test_page_methods_and_miners(name: str) -> None:
    page = PAGES[name]()
    for method in PAGE_METHODS.values():
        verdict = drop_hidden(page, method.make().transform(page), hidden="layout")
        assert np.isfinite(verdict.score).all()
    for miner in MINERS.values():
        sheet = RecordSheet.of(page, miner.make().transform(page))
        assert write_records_csv([sheet])


@pytest.mark.parametrize("name", PAGES)
def test_site_methods(name: str) -> None:
    page = PAGES[name]()
    for method in SITE_METHODS.values():
        for mode in get_args(Mode) if method.estimator.paper is not None else ("site",):
            for others in ([], [page, page]):
                model = method.estimator.of_mode(mode)
                verdict = model.fit([page, *others]).transform(page)
                assert np.isfinite(verdict.score).all(), (method.name, mode)
                assert model.facts()
    model = SiteStyleTree().fit([page] * 3)
    for figure in (model.figures_.node, model.figures_.composite):
        assert np.isfinite(figure).all()
    assert threshold_help(model, [page])
    Outliner(model).place(page)
    assert TemplateFilter(detection="global").fit([page, page]).facts()
    assert CompressedStructureTree().fit([page, page]).weigh([page]).shape[0] == 1


@pytest.mark.parametrize("name", PAGES)
def test_writers_comparison_and_report(name: str) -> None:
    page, none = PAGES[name](), METHODS["none"].make()
    verdict, usual = none.transform(page), none.transform(USUAL)
    for write in (write_text, write_markdown, write_html, write_json):
        write(page, verdict)
    compare_page(page, USUAL, raw_verdict=verdict, verdict=usual)
    compare_page(USUAL, page, raw_verdict=usual, verdict=verdict)
    records = {str(name): miner.make().transform(page) for name, miner in MINERS.items() if page.has_layout}
    view = page_view(
        page,
        page_blocks(page),
        {"none": verdict},
        records=records,
        recurrences=Recurrences(),
        number=0,
        places=None,
    )
    assert np.isfinite([view.width, view.height]).all()
