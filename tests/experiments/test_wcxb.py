"""Single pages of several types: how texts are scored, and what the tables say."""

import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from domsieve.analysis.writers.text import write_text
from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from experiments.corpora.wcxb_pages import ReviewedPage, page_files, read_page
from experiments.experiments.wcxb import CLEANERS, EXTRACTORS, WCXB, keep_records, measure, score_text
from experiments.frame.experiment import Inputs, Row
from experiments.frame.tables import Table

LIST = """<html><body><div id="menu"><a href="a">Home</a></div><div class="hits">{records}</div>
<p>Imprint of the shop</p></body></html>"""
RECORD = """<div class="hit"><h3><a href="{n}">Thing {n}</a></h3>
<p>It costs {n} euros and is good.</p><img src="{n}"></div>"""


def reviewed(truth: str, *, wanted: Sequence[str] = (), unwanted: Sequence[str] = ()) -> ReviewedPage:
    return ReviewedPage(
        "0001", "article", "0001", "example.org", b"<p>", truth, "", tuple(wanted), tuple(unwanted)
    )


def write_page(data: Path, name: str, **truth: Any) -> tuple[Path, Path]:
    """Write a page of the corpus below a folder."""
    folder = data / "wcxb" / "dev"
    for kind in ("html", "ground-truth"):
        (folder / kind).mkdir(parents=True, exist_ok=True)
    entry = {
        "_internal": {"page_type": {"primary": "forum"}},
        "ground_truth": {"with": [], "without": [], **truth},
    }
    (folder / "ground-truth" / f"{name}.json").write_text(json.dumps(entry))
    (folder / "html" / f"{name}.html.gz").write_bytes(
        gzip.compress(b"<html><body><p>A post.</p></body></html>")
    )
    return folder / "html" / f"{name}.html.gz", folder / "ground-truth" / f"{name}.json"


def test_two_empty_texts_agree_and_one_does_not_with_another() -> None:
    assert score_text(reviewed(""), "") == [1.0, 1.0, 1.0, 0, 0]
    assert score_text(reviewed(""), "words")[0] == 0.0
    assert score_text(reviewed("words"), "")[0] == 0.0
    assert score_text(reviewed("One two two"), "two TWO three") == [0.6667, 0.6667, 0.6667, 0, 0]


def test_pieces_are_found_where_case_and_white_space_are_the_only_difference() -> None:
    page = reviewed("x", wanted=["A  post", "gone"], unwanted=["menu"])
    assert score_text(page, "Such a\nPost. Menus")[3:] == [1, 1]


def test_pages_are_read_by_name_and_a_missing_truth_is_empty(tmp_path: Path) -> None:
    for name in ("0002", "0001"):
        write_page(tmp_path, name, main_content=None if name == "0001" else "A post.")
    first, second = (read_page(*pair) for pair in page_files(tmp_path))
    assert [(page.name, page.type, page.truth) for page in (first, second)] == [
        ("0001", "forum", ""),
        ("0002", "forum", "A post."),
    ]
    assert "A post." in first.html


def test_a_page_without_its_html_is_named(tmp_path: Path) -> None:
    html, truth = write_page(tmp_path, "0003")
    html.unlink()
    with pytest.raises(TargetError, match="0003"):
        read_page(html, truth)


def test_records_are_kept_and_what_is_around_them_is_not() -> None:
    source = LIST.format(records="".join(RECORD.format(n=n) for n in range(6)))
    page = parse_html(source.encode(), url="list.html")
    text = write_text(page, keep_records(page))
    assert [line for line in text.split("\n") if "Thing" in line] == [f"Thing {n}" for n in range(6)]
    assert "Home" not in text
    assert "Imprint" not in text


def test_tasks_hold_all_pages_once(tmp_path: Path) -> None:
    for number in range(201):
        write_page(tmp_path, f"{number:04}")
    tasks = WCXB.tasks(Inputs(tmp_path, tmp_path))
    assert [task.name for task in tasks] == ["0000-0199", "0200-0200"]
    assert sum(len(task.files) for task in tasks) == 402


def made_row(page: str, kind: str, f1: float, *, empty: bool = False) -> Row:
    return {
        "page": page,
        "type": kind,
        "half": "test" if page == "3" else "development",
        "empty": empty,
        "wanted": 2,
        "unwanted": 1,
        "systems": {"none": [0.5, 0.5, 0.5, 2, 1], "trafilatura": [f1, f1, f1, 1, 0]},
        "failures": ["trafilatura"] if empty else [],
        "cost": {"cpu_ms": {"none": 5.0, "trafilatura": 20.0}},
    }


def test_tables_part_types_and_empty_references() -> None:
    rows = [
        made_row("1", "article", 0.9),
        made_row("2", "article", 0.0, empty=True),
        made_row("3", "forum", 0.6),
    ]
    found = {table.title: table for table in WCXB.tables(rows)}
    line = figures(found["Word F1 by page type"], "trafilatura")
    assert (line["all pages (3)"], line["article (2)"], line["forum (1)"]) == pytest.approx((0.5, 0.45, 0.6))
    assert line["product (0)"] is None
    line = figures(found["Word F1 by page type without the empty references"], "trafilatura")
    assert (line["all pages (2)"], line["article (1)"]) == pytest.approx((0.75, 0.9))
    sides = next(table for title, table in found.items() if title.startswith("Precision"))
    line = figures(sides, "trafilatura")
    assert (line["precision"], line["with"], line["without"]) == pytest.approx((0.75, 0.5, 0.0))
    assert line["failures"] == 1
    assert figures(found["Figures in the notes of the corpus, repeated"], "trafilatura")["ours"] == 0.5
    assert figures(found["Processor time per page"], "none")["over trafilatura"] == 0.25


def figures(table: Table, row: str) -> dict[str, Any]:
    return dict(zip(table.head, next(line for line in table.rows if line[0] == row), strict=True))


def test_the_figure_draws_the_types_that_are_there() -> None:
    pytest.importorskip("matplotlib")
    assert WCXB.figure is not None
    axes = WCXB.figure([made_row("1", "article", 0.9), made_row("3", "forum", 0.6)]).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["article\n(1)", "forum\n(1)"]


@pytest.mark.data
def test_every_system_gives_a_figure_for_real_pages() -> None:
    if not os.environ.get("DOMSIEVE_DATA"):
        pytest.skip("DOMSIEVE_DATA does not name the folder of the corpora")
    pytest.importorskip("trafilatura")
    files = page_files(Path(os.environ["DOMSIEVE_DATA"]))
    assert len(files) == 1491
    task = WCXB.tasks(Inputs(Path(os.environ["DOMSIEVE_DATA"]), Path()))[0]
    assert task.files[0] == files[0][0]
    rows = measure(tuple(files[:6]))
    assert [list(row["systems"]) for row in rows] == [[*CLEANERS, *EXTRACTORS]] * 6
    assert all(row["systems"]["trafilatura"][0] > 0.5 for row in rows)
    assert all(row["cost"]["cpu_ms"]["none"] > 0 for row in rows)
