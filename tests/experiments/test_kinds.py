"""Kinds that the markup of pages names: what is named, what is taken away, and what is counted."""

import numpy as np
import pytest

from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from domsieve.types import BlockKind
from experiments.corpora.marked_kinds import named_texts, without_markup
from experiments.experiments.kinds import VARIANTS, rows_of, tables

SOURCE = b"""<h1>Rain</h1><nav class=menu><a href=/a>One</a><a href=/b>Two</a></nav>
<ol itemtype=http://schema.org/BreadcrumbList><li><a href=/>Start</a></ol>
<p>By <a rel=author href=/ann>Ann</a></p><figure><img src=a><figcaption>Wet</figcaption></figure>
<table><tr><th>Year</th><td>1850</td></tr></table><table role=presentation><tr><th>None</th></tr></table>
<a href='https://www.facebook.com/sharer/sharer.php?u=x'>F</a>
<div itemscope itemtype=https://schema.org/Comment><b itemprop=author>Bo</b> So it is.</div>
<section aria-label='Related stories'>Snow</section>"""


def page() -> Snapshot:
    return parse_html(SOURCE, url="http://example.org/")


def words(kind: BlockKind) -> str:
    snapshot = page()
    nodes = np.flatnonzero(named_texts(snapshot)[kind]).tolist()
    return " ".join(" ".join(snapshot.text_of(node) for node in nodes).split())


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("navigation", "One Two"),
        ("breadcrumbs", "Start"),
        ("bylines", "Ann"),
        ("captions", "Wet"),
        ("tables", "Year 1850"),
        ("share", "F"),
        ("comments", "Bo So it is."),
        ("related", "Snow"),
    ],
)
def test_what_the_markup_names(kind: BlockKind, said: str) -> None:
    assert words(kind) == said


@pytest.mark.parametrize("kind", [*named_texts(page())])
def test_nothing_names_a_kind_any_more_where_its_markup_is_gone(kind: BlockKind) -> None:
    snapshot = page()
    for names in (False, True):
        left = without_markup(snapshot, kind, names=names)
        assert (kind in named_texts(left), len(left)) == (False, len(snapshot))
        assert left.parent is snapshot.parent
        spelt = set(left.strings.take(left.attr_name.tolist()))
        assert ("class" in spelt) is not names


def test_other_addresses_stay() -> None:
    left = without_markup(page(), "share", names=False)
    assert "/ann" in left.strings.take(left.attr_value.tolist())


def test_characters_are_counted_by_kind_and_variant() -> None:
    (row,) = rows_of(page(), {"page": "one", "group": "single pages", "half": "test"})
    first, second = VARIANTS
    assert row["kinds"]["navigation"] == {first: [6, 6, 6], second: [6, 0, 0]}
    assert row["kinds"]["captions"][second] == [3, 3, 3]
    table, _ = tables([row])
    (line,) = (line for line in table.rows if line[0] == "navigation")
    assert list(line) == ["navigation", 1, 1.0, 1.0, 0.0, None]


def test_a_page_that_names_nothing_has_no_row() -> None:
    assert list(rows_of(parse_html(b"<p>word", url="http://example.org/"), {})) == []
