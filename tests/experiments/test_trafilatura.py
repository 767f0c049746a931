"""trafilatura's benchmark: what counts as kept and dropped, and what the tables say."""

import os
from itertools import islice
from pathlib import Path

import pytest

from domsieve.errors import TargetError
from experiments.corpora.annotated_pages import count_notes, segment_pages
from experiments.corpora.text_corpora import TextPage, parts_of
from experiments.experiments.texts import measure_texts
from experiments.experiments.trafilatura import TRAFILATURA
from experiments.frame.experiment import Inputs, Row
from experiments.measures.segment_scores import count_segments
from experiments.systems.peers import Extracted
from experiments.systems.text_systems import TEXT_SYSTEMS
from tests.experiments.annotated import write_segments
from tests.experiments.test_peers import PAGE


def test_segments_are_counted_where_white_space_is_the_only_difference() -> None:
    text = "One  two\nthree"
    assert count_segments(text, ["one", "two three", "One\ttwo"], ["four", "three"]) == [2, 1, 1, 1]
    assert count_segments("", ["one"], ["two"]) == [0, 0, 1, 1]


def test_pages_are_read_with_their_address_and_by_their_encoding(tmp_path: Path) -> None:
    write_segments(
        tmp_path,
        {
            "https://www.e.example/a ": '<meta charset="latin1"><p>Öl'.encode("latin-1"),
            "hard::e.html": "<p>Öl",
            "https://e.example/a b": "<p>Öl",
        },
    )
    pages = list(segment_pages(tmp_path))
    assert [page.url for page in pages] == ["https://www.e.example/a", "", ""]
    assert [page.domain for page in pages] == ["e.example", "1.html", "2.html"]
    assert all("Öl" in page.html for page in pages)
    assert [page.name for page in segment_pages(tmp_path, 1, 2)] == ["1.html"]
    assert count_notes(tmp_path / "trafilatura" / "evaldata.json") == 3


def test_a_corpus_without_its_pages_is_named(tmp_path: Path) -> None:
    write_segments(tmp_path, {"https://e.example/": PAGE})
    (tmp_path / "trafilatura" / "pages.zip").unlink()
    with pytest.raises(TargetError, match="trafilatura"):
        list(segment_pages(tmp_path))
    assert parts_of("trafilatura", tmp_path / "gone") == []


@pytest.mark.parametrize("name", ["auto", "auto, without an address"])
def test_ours_is_what_users_get(name: str, tmp_path: Path) -> None:
    write_segments(tmp_path, {"https://e.example/": PAGE, "hard::e.html": PAGE, "https://f.example/": "none"})
    (part,) = parts_of("trafilatura", tmp_path)
    rows = measure_texts({name: TEXT_SYSTEMS[name]}, part.read())
    assert [row["systems"][name] for row in rows] == [[1, 0, 0, 2], [1, 0, 0, 2], [0, 0, 1, 2]]
    assert [row["failures"] for row in rows] == [[], [], [name]]
    assert [row["domain"] for row in rows] == ["e.example", "1.html", "f.example"]


def test_the_address_reaches_ours(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[str | None] = []

    class Cleaned:
        text = ""

    def clean(html: str, *, url: str | None = None) -> Cleaned:
        seen.append(url)
        return Cleaned()

    monkeypatch.setattr("domsieve.clean", clean)
    write_segments(tmp_path, {"https://e.example/": PAGE})
    (part,) = parts_of("trafilatura", tmp_path)
    measure_texts({n: s for n, s in TEXT_SYSTEMS.items() if n.startswith("auto")}, part.read())
    assert seen == ["https://e.example/", None]


def made_row(page: str, language: str, counts: list[int], *, failed: bool = False) -> Row:
    systems = {"auto": counts, "trafilatura": [1, 0, 0, 1]}
    return {
        "corpus": "trafilatura",
        "page": page,
        "domain": page,
        "language": language,
        "systems": systems,
        "failures": ["auto"] * failed,
        "late": [],
    }


def test_tables_pool_segments_and_part_languages() -> None:
    rows = [made_row("a", "German", [2, 1, 0, 1]), made_row("b", "English", [0, 0, 2, 2], failed=True)]
    first, second = TRAFILATURA.tables(rows)
    assert first.title == "Segments of 2 pages of 2 domains"
    ours = dict(zip(first.head, first.rows[0], strict=True))
    assert [str(ours[name]).split()[0] for name in ("precision", "recall", "accuracy", "F1")] == [
        *("0.667", "0.500", "0.625", "0.571"),
    ]
    assert ours["failures"] == 1
    assert first.note == "4 segments to keep and 4 to drop."
    assert second.head == ("system", "German (1)", "English (1)")
    assert second.rows[0] == ["auto", "0.800", "0.000"]
    assert TRAFILATURA.tables([]) == []


def test_its_tasks_hold_all_pages_once(tmp_path: Path) -> None:
    write_segments(tmp_path, {f"https://e.example/{n}": "<p>x" for n in range(101)})
    tasks = TRAFILATURA.tasks(Inputs(tmp_path, tmp_path))
    assert [task.name for task in tasks] == ["trafilatura 0", "trafilatura 100"]
    pages = [page.name for part in parts_of("trafilatura", tmp_path) for page in part.read()]
    assert len(set(pages)) == len(pages) == 101


def test_what_fails_or_is_late_is_counted(tmp_path: Path) -> None:
    def late(page: TextPage) -> Extracted:
        return Extracted("", True, 1.0, late=True)

    write_segments(tmp_path, {"https://e.example/": PAGE})
    (part,) = parts_of("trafilatura", tmp_path)
    (row,) = measure_texts({"slow": late}, part.read())
    assert (row["failures"], row["late"]) == (["slow"], ["slow"])


@pytest.mark.data
def test_every_system_gives_text_for_real_pages() -> None:
    if not os.environ.get("DOMSIEVE_DATA"):
        pytest.skip("DOMSIEVE_DATA does not name the folder of the corpora")
    pytest.importorskip("trafilatura")
    data = Path(os.environ["DOMSIEVE_DATA"])
    pages = list(segment_pages(data))
    assert (len(pages), sum(not page.url for page in pages)) == (491, 22)
    assert sum(len(page.wanted) for page in pages) == 1457
    assert sum(len(page.unwanted) for page in pages) == 1471
    rows = measure_texts(TEXT_SYSTEMS, islice(parts_of("trafilatura", data)[0].read(), 8))
    assert all(not row["failures"] for row in rows)
    kept = {name: sum(row["systems"][name][0] for row in rows) for name in TEXT_SYSTEMS}
    assert min(kept[name] for name in ("auto", "auto, without an address", "trafilatura")) > 15, kept
