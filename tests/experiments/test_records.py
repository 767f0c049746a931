"""Records whose truth is known by nodes or by characters, and what counts as found."""

import numpy as np
import pytest

from domsieve.analysis.records.result import Records
from domsieve.snapshot.page import Kind, Snapshot
from experiments.corpora.record_pages import (
    RecordCounts,
    Truth,
    correct_records,
    score_picked,
    score_records,
)
from experiments.corpora.wien_pages import label_page
from experiments.experiments.records import NAMES, figure, tables

SOURCE = """<html><body><h1>Shops</h1><ul>
<li><a href="/a">First</a> costs <b>$1</b>
<li><a href=/two>Second</a> costs <b>$2</b>
</ul><p>one, both</p></body></html>
"""


def span(text: str) -> tuple[int, int]:
    start = SOURCE.index(text)
    return start, start + len(text)


def mined(*regions: list[list[tuple[int, int]]]) -> Records:
    """Return records given as node ranges by region."""
    records = [record for region in regions for record in region]
    return Records(
        "made",
        parent=np.zeros(len(regions), np.int64),
        span=np.zeros((len(regions), 2), np.int64),
        length=np.ones(len(regions), np.int64),
        region=np.repeat(np.arange(len(regions)), [len(region) for region in regions]),
        start=np.cumsum([0, *map(len, records)]),
        pieces=np.array([piece for record in records for piece in record], np.int64),
    )


def test_a_record_must_hold_one_true_record_whole_alone_and_first() -> None:
    truth = Truth(np.array([2, 3, 6, 7]), np.array([0, 0, 1, 1]))
    records = mined([[(2, 4)], [(2, 3)], [(2, 8)], [(1, 5)], [(6, 7), (7, 8)], [(4, 5)]])
    assert correct_records(records, truth) == [True, False, False, False, True, False]


def test_the_best_region_is_picked() -> None:
    page = label_page("made", SOURCE, [[span("First")], [span("Second")]])
    one, two = ((int(node), int(node) + 1) for node in page.truth.node)
    regions = mined([[one], [(0, 1)]], [[one], [two]], [[two]])
    assert score_records([page], lambda _: regions) == RecordCounts(2, 5, 2, 0, 1)
    assert score_picked([page], lambda _: regions) == RecordCounts(2, 2, 2, 1, 1)
    assert score_picked([page], lambda _: mined([[(0, 1)]])) == RecordCounts(0, 0, 2, 0, 1)


def holders(page: Snapshot, truth: Truth, record: int) -> list[str]:
    nodes = truth.node[truth.record == record].tolist()
    return [page.text_of(n) if page.kind[n] == Kind.TEXT else page.tag_name(n) for n in nodes]


def test_characters_are_followed_to_the_nodes_that_hold_them() -> None:
    spans = [[span("/a"), span("First"), span("$1")], [span("/two"), span("Second"), span("<b>$2")]]
    page = label_page("made", SOURCE, spans)
    assert holders(page.snapshot, page.truth, 0) == ["a", "First", "$1"]
    assert holders(page.snapshot, page.truth, 1) == ["a", "Second", "$2"]
    assert page.snapshot.attributes(int(page.truth.node[0])) == {"href": "/a"}


def test_records_may_share_a_node_and_empty_attributes_do_not_count() -> None:
    page = label_page("made", SOURCE, [[span("one")], [span("both")], [span("\n</ul>")[:1] * 2]])
    assert holders(page.snapshot, page.truth, 0) == holders(page.snapshot, page.truth, 1) == ["one, both"]
    assert len(page.truth) == 2


def test_an_attribute_outside_of_texts_and_values_is_told() -> None:
    with pytest.raises(ValueError, match="in no text"):
        label_page(
            "made",
            SOURCE.replace("<h1>", "<!-- x --><h1>"),
            [[(SOURCE.index("<h1>") + 5, SOURCE.index("<h1>") + 6)]],
        )


def test_tables_and_figure_need_no_whole_set() -> None:
    counts = {"correct": 8, "found": 10, "true": 16, "perfect": 1, "pages": 2}
    rows = [
        {"collection": "zhao1", "part": part, "method": method, **counts}
        for part in ("development", "test")
        for method in NAMES
    ]
    paper, half, whole = tables(rows)
    assert paper.rows[0][4:] == pytest.approx([95.94, 94.50, 95.22], abs=0.005)
    assert half.rows[0] == ["WOBM", 8, 2, 16, 50.0, 80.0, pytest.approx(61.54, abs=0.01), 50.0]
    assert whole.rows[0][1:4] == [16, 4, 32]
    assert len(figure(rows).axes) == 1
