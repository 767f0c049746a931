"""Every method under its name, pages to try them on, and a result as bytes: what the contract is checked with."""

import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

from domsieve.analysis import registry
from domsieve.analysis.cleaning.entropy import EntropyFilter
from domsieve.analysis.cleaning.template import TemplateFilter
from domsieve.analysis.columns.batch import prune
from domsieve.analysis.records.iepad import RepeatedPatterns
from domsieve.analysis.records.mdr import DataRegionMiner
from domsieve.analysis.records.result import Records
from domsieve.analysis.registry import MINERS, variants
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot
from tests.analysis.pages import page

Method = Callable[[], Any]
Result = Verdict | Records

SITE_METHODS: Mapping[str, Method] = {
    **variants(registry.SITE_METHODS),
    "entropy of subtrees": lambda: EntropyFilter(idf_docs="blocks", aggregate="subtree", h_norm="unit"),
    "template global": lambda: TemplateFilter(detection="global"),
}
PAGE_METHODS: Mapping[str, Method] = {
    **variants(registry.PAGE_METHODS),
    **variants(MINERS),
    "mdr tree": lambda: DataRegionMiner(similarity="tree"),
    "iepad all": lambda: RepeatedPatterns(encoding="all", choose="all"),
}
METHODS = {**SITE_METHODS, **PAGE_METHODS}

SENTENCE = (
    "The mill was built in 1804, burned down twice, and grinds the flour of the whole valley to this day. "
)
ARTICLE = (
    "<header><ul><li><a href=/>Home</a></li><li><a href=/shop>Shop</a></li></ul></header>"
    "<nav><ul><li><a href=/a>Roads</a></li><li><a href=/b>Rivers</a></li></ul></nav>"
    f"<main><article><h1>The old mill</h1><p>{SENTENCE * 3}</p><p>{SENTENCE * 2}</p></article></main>"
    "<footer><p>© 2026 All rights reserved</p></footer>"
)


def shop(number: int, *, producer: Any = "raw") -> Snapshot:
    """Return a page with a menu and a footer as on every page, and an article and a list of its own."""
    items = "".join(
        f"<li><a href='/p{number}{k}'>thing {number}{k}</a> <img src='{number}{k}.png' alt='view'> "
        f"<span>{k + number}.50</span><p>word{number}{k} and more{k}</p></li>"
        for k in range(3 + number % 4)
    )
    return page(
        "<html><head><title>t</title></head><body>"
        "<div class=nav><ul><li><a href=/>home</a></li><li><a href=/b>about us</a></li></ul></div>"
        f"<div><h1>heading {number}</h1><p>text{number} of page {'abcdefg'[number % 7]}</p>"
        f"<table><tr><th>size</th><td>{number} cm</td></tr></table><ul>{items}</ul></div>"
        "<div style='display:none'>secret words</div><div>all rights reserved</div></body></html>",
        producer=producer,
        url=f"https://example.org/dir/{number}.html",
    )


def site(count: int = 7, *, producer: Any = "raw") -> list[Snapshot]:
    """Return `count` different pages of one site."""
    return [shop(number, producer=producer) for number in range(count)]


def body(html: str, *, producer: Any = "raw") -> Snapshot:
    """Return a page of this body."""
    return page(f"<html><head></head><body>{html}</body></html>", producer=producer)


ODD_BODIES: Mapping[str, str] = {
    "empty": "",
    "no text": "<div><p></p><img src=a.png></div>",
    "loose text": "loose text",
    "one word": "<p>word</p>",
    "right to left": "<div>" + "<p>نص عربي طويل</p>" * 4 + "</div><p>עברית כאן</p>",
    "chinese": "<ul>" + "<li><b>漢字かな</b>交じり文。</li>" * 4 + "</ul>",
    "deep": "<div>" * 1000 + "<p>deep</p>" + "</div>" * 1000,
    "frame": "<iframe><x-document><html><body><p>within</p></body></html></x-document></iframe>",
    "shadow": "<div><x-shadow-root><p>in shadow</p></x-shadow-root></div>",
}


_TABLE = "<table>" + "<tr>" + "<td>cell</td><td>other</td>" * 3 + "</tr>"
ODD_SITES: Mapping[str, Sequence[str]] = {
    "one page": ["<div><p>alone</p></div>"],
    "two identical pages": ["<div><p>same</p><p>words</p></div>"] * 2,
    "all noise": ["<ul><li>menu</li><li>about</li></ul><p>all rights reserved</p>"] * 12,
    "all unique": [
        f"<{tag}><p>word{i} only{i}</p></{tag}>" for i, tag in enumerate(["div", "main", "ul", "b"] * 3)
    ],
    "no text anywhere": ["<div><img src=a.png><p></p></div>"] * 4,
    "alternating templates": [
        f"<div><h1>head{i}</h1><p>text{i}</p></div><p>foot</p>"
        if i % 2
        else f"<ul><li>menu</li></ul><table><tr><td>cell{i}</td></tr></table>"
        for i in range(10)
    ],
    "giant tables": [
        _TABLE.replace("cell", f"c{i}") + "<tr><td>x</td></tr>" * 1000 + "</table>" for i in range(2)
    ],
    "right to left": [
        f"<div dir=rtl><p>שלום {i} עולם</p><p>مرحبا بالعالم</p></div><p>תפריט</p>" for i in range(5)
    ],
    "chinese and thai": [
        f"<div><p>第{i}章。漢字かな交じり文。</p><p>ภาษาไทย{i}</p></div><p>菜单</p>" for i in range(5)
    ],
    "a page and its empty twins": ["<div><p>words</p></div>", "", "", ""],
}


def wide(count: int, *, alike: bool) -> Snapshot:
    """Return a page of `count` siblings, all alike or all different."""
    return replace(_wide(count, alike))  # one of its own, of which no method has seen anything


@cache
def _wide(count: int, alike: bool) -> Snapshot:
    items = (
        f"<li>item <b>x{i if not alike else ''}</b>{'<i></i>' * (0 if alike else i % 7)}</li>"
        for i in range(count)
    )
    return body("<ul>" + "".join(items) + "</ul>")


def fitted(name: str, pages: Sequence[Snapshot]) -> Any:
    """Return the method of this name; a site method has learned `pages`."""
    method = METHODS[name]()
    return method.fit(pages) if name in SITE_METHODS else method


def told(result: Result) -> bytes:
    """Return a result as bytes: equal results, equal bytes."""
    columns = (
        (result.kept, result.score, result.reason)
        if isinstance(result, Verdict)
        else (result.parent, result.span, result.length, result.region, result.start, result.pieces)
    )
    names = json.dumps([result.method, list(result.numbers), dict(result.parameters)], sort_keys=True)
    parts = [names.encode(), *(c.tobytes() for c in columns), *(c.tobytes() for c in result.numbers.values())]
    return hashlib.sha256(b"|".join(parts)).digest()


def calls(work: Callable[[], object]) -> int:
    """Return how many calls of functions, in Python or C, `work` makes."""
    count = 0

    def profile(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def digests() -> Iterator[str]:
    """Yield what each method says of some pages, for comparison between processes."""
    pages = site()
    for name in METHODS:
        method = fitted(name, pages)
        yield from (told(result).hex() for result in method.transform(pages))


def column(result: Result) -> np.ndarray[Any, Any]:
    """Return a column of the result, to try to write into."""
    return result.kept if isinstance(result, Verdict) else result.pieces


def assert_sound(page: Snapshot, result: Verdict | Records) -> None:
    """Fail unless a result keeps the contract of all methods."""
    if isinstance(result, Verdict):
        assert result.kept.size == len(page)
        assert ((result.score >= 0) & (result.score <= 1)).all()
        assert (prune(result.kept, page.end) == result.kept).all(), "what is above kept content is kept"
        assert result.expected_f1 is None or 0 <= result.expected_f1 <= 1
        return
    assert (np.diff(result.region) >= 0).all()
    assert ((result.span[:, 0] < result.span[:, 1]) & (result.span[:, 1] <= len(page))).all()
    assert (np.diff(result.start) > 0).all(), "no record is empty"
    for record in range(len(result)):
        pieces = result.pieces_of(record)
        first, last = result.span[result.region[record]]
        edges = [edge for piece in pieces for edge in piece]
        assert edges == sorted(edges)
        assert all(a < b for a, b in pieces)
        assert first <= pieces[0][0]
        assert pieces[-1][1] <= last
