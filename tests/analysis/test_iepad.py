"""IEPAD: the worked examples, and whole pages."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.records._repeats import maximal_repeats, page_tokens
from domsieve.analysis.records.iepad import (
    Pattern,
    RepeatedPatterns,
    _different,
    apart,
    density,
    regular_runs,
    regularity,
)
from domsieve.analysis.records.result import Records
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot
from tests.analysis.contract import body
from tests.analysis.pages import page

LIST = "<ul>" + "<li><a>x</a></li>" * 3 + "</ul>"
DEFAULTS: dict[str, Any] = {"least_count": 3, "most_regularity": 0.5, "least_density": 0.25}


def told(snapshot: Snapshot, **options: Any) -> list[str]:
    """Return the text of each record."""
    return texts(snapshot, RepeatedPatterns(**options).transform(snapshot))


def texts(snapshot: Snapshot, records: Records) -> list[str]:
    return [
        "".join(snapshot.text_of(n) for a, b in records.pieces_of(i) for n in range(a, b))
        for i in range(len(records))
    ]


def names(snapshot: Snapshot, encoding: Any) -> list[str]:
    """Return the tokens as they are written in the paper."""
    tags = snapshot.tags.to_list()
    found = page_tokens(Batch.of([snapshot]), encoding=encoding).token.tolist()
    return ["T" if not t else "/" * (t % 2 == 0) + tags[(t - 1) // 2] for t in found]


def positions(*at: int) -> NDArray[np.int64]:
    return np.array(at, np.int64)


def test_c9_list_of_links() -> None:
    snapshot = page(LIST)
    tokens = page_tokens(Batch.of([snapshot]), encoding="all")
    assert names(snapshot, "all") == ["ul", *["li", "a", "T", "/a", "/li"] * 3, "/ul"]
    repeats = maximal_repeats(tokens.token, least_length=3, least_count=3)
    assert repeats.length.tolist() == [5]
    at = repeats.positions(0)
    assert (at + 1).tolist() == [2, 7, 12]
    assert regularity(at) == pytest.approx(0, abs=1e-6)
    assert density(at, 5) == pytest.approx(1, abs=1e-6)
    records = RepeatedPatterns(encoding="all").transform(snapshot)
    assert records.length.tolist() == [5]
    assert texts(snapshot, records) == ["x", "x", "x"]
    assert [snapshot.tag_name(a) for a, _ in records.pieces.tolist()] == ["li", "li", "li"]
    assert snapshot.tag_name(int(records.parent[0])) == "ul"


def test_c9_a_gap_makes_the_regularity_too_large_and_the_run_too_rare() -> None:
    at = positions(2, 7, 22)
    assert regularity(at) == pytest.approx(0.5, abs=1e-6)
    assert density(at, 5) == pytest.approx(0.5, abs=1e-6)
    assert regular_runs(at, 5, **DEFAULTS) == []
    run, *others = regular_runs(at, 5, **{**DEFAULTS, "least_count": 2})
    assert (run.tolist(), others) == ([2, 7], [])
    assert regularity(run) == pytest.approx(0, abs=1e-6)
    assert density(run, 5) == pytest.approx(1, abs=1e-6)


def test_c9_two_far_pairs_are_no_pattern() -> None:
    at = positions(1, 4, 40, 43)
    assert regularity(at) == pytest.approx(1.111168, abs=1e-6)
    assert density(at, 3) == pytest.approx(0.214286, abs=1e-6)
    assert regular_runs(at, 3, **DEFAULTS) == []


def test_occurrences_are_read_off_leftmost_without_overlap() -> None:
    assert apart(positions(0, 2, 4, 6, 9), 4).tolist() == [0, 4, 9]
    assert apart(positions(0, 4, 9), 4).tolist() == [0, 4, 9]


def test_gaps_part_a_pattern_into_runs() -> None:
    at = positions(0, 5, 10, 60, 65, 70, 75)
    assert [run.tolist() for run in regular_runs(at, 5, **DEFAULTS)] == [[0, 5, 10], [60, 65, 70, 75]]


def test_block_encoding_folds_text_level_tags_into_one_token() -> None:
    html = "<p>a <b>bold</b><img><i></i></p><p><i></i> </p><script>x</script><p><br>c</p>"
    snapshot = page(f"<body>{html}</body>")
    assert names(snapshot, "block") == ["body", "p", "T", "/p", "p", "/p", "p", "T", "/p", "/body"]
    tokens = page_tokens(Batch.of([snapshot]), encoding="block")
    first, stop = int(tokens.first[2]), int(tokens.stop[2])
    assert snapshot.text_of(first) == "a "
    assert snapshot.tag_name(stop - 1) == "i"


def test_text_before_and_behind_all_blocks_is_a_token() -> None:
    assert names(body("loose"), "block") == ["body", "T", "/body"]
    assert names(page("loose <b>x</b>"), "block") == ["T"]


@pytest.mark.parametrize("producer", ["raw", "rendered"])
def test_hidden_nodes_make_no_tokens(producer: Any) -> None:
    snapshot = body("<p style='display: none'>x</p><p>y</p>", producer=producer)
    assert names(snapshot, "block") == ["body", "p", "T", "/p", "/body"]


def test_records_of_definition_lists_and_two_row_tables() -> None:
    definitions = "".join(f"<dt>term {n}</dt><dd>meaning {n}</dd>" for n in range(4))
    wanted = [f"term {n}meaning {n}" for n in range(4)]
    assert told(body(f"<h1>h</h1><dl>{definitions}</dl>")) == wanted
    rows = "".join(f"<tr><td>term {n}</td></tr><tr><td>meaning {n}</td><td></td></tr>" for n in range(4))
    assert told(body(f"<h1>h</h1><table>{rows}</table>")) == wanted


def test_alignment_takes_in_what_only_some_records_have() -> None:
    def item(n: int) -> str:
        return f"<li><h3>name {n}</h3><p>text {n}</p>{'<div>new</div>' * (n in {2, 5})}</li>"

    snapshot = body("<ul>" + "".join(map(item, range(7))) + "</ul><p>end</p>")
    whole = [f"name {n}text {n}{'new' * (n in {2, 5})}" for n in range(7)]
    assert told(snapshot) == whole
    assert told(snapshot, align=False) == [text.removesuffix("new") for text in whole]


def pattern(text: str, *start: int) -> Pattern:
    return Pattern(text, positions(*start), positions(*start) + len(text))


def test_of_rotations_at_one_place_the_balanced_one_stands() -> None:
    text = "".join(chr(token + 1) for token in (1, 3, 4, 2))  # li a /a /li
    whole, turned = pattern(text, 10, 14, 18), pattern(text[1:] + text[0], 11, 15, 19, 23)
    assert _different([turned, whole]) == [whole]
    assert len(_different([turned, pattern(text, 30, 34, 38)])) == 2


def test_a_pattern_inside_a_longer_one_all_along_is_dropped() -> None:
    longer, inside, elsewhere = (
        pattern("abcd", 0, 9, 18),
        pattern("bcd", 1, 10, 19),
        pattern("bcd", 1, 10, 30),
    )
    assert _different([inside, longer, elsewhere]) == [elsewhere, longer]


def test_a_list_is_found_though_a_tag_stands_before_it() -> None:
    cells = "<p>a</p><hr>"
    snapshot = body(f"<div>{cells * 4}</div><h1>x</h1><h2>y</h2><h3>z</h3><div><hr>{cells * 3}</div>")
    for choose in ("coverage", "all"):
        assert told(snapshot, choose=choose) == ["a"] * 7


def test_all_reports_at_least_what_coverage_chooses() -> None:
    snapshot = body(LIST * 2 + "<table>" + "<tr><td>a</td><td>b</td></tr>" * 5 + "</table>")
    chosen, all_of_them = (RepeatedPatterns(choose=c).transform(snapshot) for c in ("coverage", "all"))
    assert set(map(tuple, chosen.span.tolist())) <= set(map(tuple, all_of_them.span.tolist()))
    spans = chosen.span.tolist()
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


def test_figures_of_a_region() -> None:
    records = RepeatedPatterns().transform(page(LIST))
    assert {name: figure.tolist() for name, figure in records.numbers.items()} == {
        "regularity": [0.0],
        "density": [1.0],
        "coverage": [pytest.approx(9 / 11)],
    }
    assert records.parameters == RepeatedPatterns().get_params()


@pytest.mark.parametrize("html", ["", "<html></html>", "<p>x</p>", "x"])
@pytest.mark.parametrize("encoding", ["block", "all"])
def test_pages_without_patterns(html: str, encoding: Any) -> None:
    records = RepeatedPatterns(encoding=encoding).transform(page(html))
    assert len(records) == records.parent.size == 0


def test_ten_thousand_equal_siblings() -> None:
    snapshot = body("<ul>" + "<li><a>x</a></li>" * 10_000 + "</ul>")
    every: tuple[dict[str, Any], ...] = ({}, {"choose": "all"}, {"encoding": "all"})
    for options in every:
        assert len(RepeatedPatterns(**options).transform(snapshot)) == 10_000


def test_parameters() -> None:
    method = clone(RepeatedPatterns(encoding="all", least_count=2))
    assert method.get_params()["least_count"] == 2
    assert len(method.transform([page(LIST)])) == 1


@pytest.mark.parametrize(
    "wrong", [{"encoding": "x"}, {"choose": "x"}, {"least_length": 0}, {"least_count": 1}]
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        RepeatedPatterns(**wrong).transform(page(LIST))
