"""Metadata beside the notes of a corpus: what is taken out of pages, and what counts as right."""

import gzip
import json
from pathlib import Path

import pytest

from experiments.corpora.wcxb_metadata import LabelledPage, without_structured_data
from experiments.experiments.metadata import METADATA, VARIANTS, judged, measure_page
from experiments.frame.experiment import Inputs
from experiments.measures.metadata_scores import plain_names, plain_title, same_day
from experiments.systems import metadata_readers
from experiments.systems.metadata_readers import NOTHING, Labels, read_labels_with

SOURCE = b"""<head><META name="description" content="a > b"><meta content="x" property = "og:title">
<meta name='article:author' content='Bo'>
<script type="application/ld+json">{"@type": "Article", "headline": "X"}</script>
<script>var a = "<meta property='og:title'>"</script><title>Rain</title></head><body><h1>Rain</h1><p>By Ann Lee</p>
<p>4 March 2025</p></body>"""
PAGE = LabelledPage(
    "0001", "article", "test", "https://example.org/", SOURCE, "Rain!", "By Ann Lee, MD", "2025-03"
)


def test_json_ld_and_open_graph_are_taken_out_and_nothing_else() -> None:
    left = without_structured_data(SOURCE)
    assert b"ld+json" not in left
    assert b'content="x"' not in left
    assert b"article:author" not in left
    assert b'content="a > b"' in left
    assert b"var a = \"<meta property='og:title'>\"" in left
    assert without_structured_data(b"<p>none") == b"<p>none"
    assert without_structured_data(b"<meta property=og:title") == b""


def test_titles_names_and_days_are_compared_alike_for_all() -> None:
    assert plain_title("The\u00a0“Rain” – Part\u2009II") == plain_title('the "rain" part ii')
    assert plain_names(["By Ann Lee, MD & Bo Kim"]) == plain_names(["Bo Kim", "Ann Lee"])
    assert plain_names([]) == frozenset()
    assert same_day("2025-03-04T01:02:03", "2025-03-04")
    assert same_day("2025-03-04", "2025-03")
    assert not same_day("2025-03-05", "2025-03-04")
    assert not same_day("2025-03-05", "")


def test_right_wrong_and_never_given_are_told_apart() -> None:
    assert judged(PAGE, Labels("rain", ("Ann Lee",), "2025-03-04")) == [[True, True]] * 3
    assert judged(PAGE, Labels("Snow", (), "")) == [[True, False], [False, False], [False, False]]
    assert judged(PAGE, Labels(None, None, "2024-01-01")) == [None, None, [True, False]]


def test_what_fails_has_found_nothing() -> None:
    def fail(source: bytes, url: str) -> Labels:
        raise RuntimeError

    assert read_labels_with(fail, b"", "") == (NOTHING, True)


def test_a_run_gives_a_table_for_each_variant(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ours = metadata_readers.readers()["domsieve"]
    monkeypatch.setattr("experiments.experiments.metadata.readers", lambda: {"domsieve": ours})
    for kind, name, data in (
        ("html", "0001.html.gz", gzip.compress(SOURCE)),
        ("ground-truth", "0001.json", _truth()),
    ):
        folder = tmp_path / "wcxb" / "dev" / kind
        folder.mkdir(parents=True)
        (folder / name).write_bytes(data)
    (task,) = METADATA.tasks(Inputs(tmp_path, tmp_path))
    rows = task.measure()
    assert rows[0]["said"][VARIANTS[1]]["domsieve"] == [[True, True]] * 3
    tables = METADATA.tables(rows)
    assert [table.title.partition(",")[0] for table in tables] == [f"Pages {variant}" for variant in VARIANTS]
    assert tables[1].rows[0] == ["domsieve", 1.0, 1.0, 0, 1.0, 1.0, 0, 1.0, 1.0, 0, 0]
    assert METADATA.tables([]) == []


@pytest.mark.parametrize("name", ["trafilatura", "htmldate"])
def test_the_others_read_a_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(name)
    readers = {name: metadata_readers.readers()[name]}
    monkeypatch.setattr("experiments.experiments.metadata.readers", lambda: readers)
    row = measure_page(PAGE)
    assert row["failures"] == []
    assert row["said"][VARIANTS[1]][name][2] == [True, True]


def _truth() -> bytes:
    known = {"title": "Rain", "author": "Ann Lee", "publish_date": "2025-03-04", "with": [], "without": []}
    entry = {"url": "https://example.org/", "_internal": {"page_type": {"primary": "article"}}}
    return json.dumps({**entry, "ground_truth": known}).encode()
