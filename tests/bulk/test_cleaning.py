"""Parts of rows: whatever the shards, the rows are those of the pages; what is there is not made again."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from domsieve.analysis.registry import page_cleaner
from domsieve.analysis.writers.evidence import text_blocks
from domsieve.bulk.job import Job
from domsieve.bulk.local import LocalEngine
from domsieve.bulk.plan import Shard
from domsieve.bulk.records_job import RecordsJob
from domsieve.bulk.runs import Summary, mine_pages
from domsieve.bulk.scheduling import Outcome
from domsieve.errors import StorageError, UsageError
from domsieve.options import CaptureOptions
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_cleaning import clean
from domsieve.tasks.pages import from_file
from domsieve.tasks.sites import Placed
from domsieve.tasks.targets import FileTarget, ListedWord
from tests.analysis.pages import page as rendered
from tests.archive.made import page_record, url_of, written
from tests.bulk.made import Inline, cleaned, digest_of, rows_of, stamps, write_sites
from tests.command import fill, page
from tests.snapshot.pictured import captured


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    return write_sites(tmp_path / "in")


def test_rows_are_those_of_the_pages_cleaned_one_by_one(sites: Path, tmp_path: Path) -> None:
    summary = cleaned(tmp_path / "out", [sites])
    assert (summary.pages, summary.failed, summary.made, summary.kept) == (28, 0, 3, 0)
    rows = rows_of(tmp_path / "out")
    assert len(rows) == 28
    for row in rows:
        target = FileTarget(Path(row["page"]), sites)
        ((_, result),) = clean([from_file(target, Placed("", "", ()))], siblings=lambda _: ())
        assert not isinstance(result, Exception)
        assert row["text"].split()
        assert row["method"] == "auto"
        assert row["expected_f1"] == result[1].expected_f1
        assert row["words"] == len(row["text"].split())
        assert (row["model_pages"], row["known_share"]) == (0, None)
    assert {row["site"] for row in rows} == {str(sites / f"s{number}") for number in range(4)}


@pytest.mark.parametrize("per_shard", [1, 7, 14, 28])
def test_shards_change_no_row(sites: Path, tmp_path: Path, per_shard: int) -> None:
    cleaned(tmp_path / "one", [sites], per_shard=100)
    cleaned(tmp_path / "many", [sites], per_shard=per_shard)
    assert digest_of(tmp_path / "many") == digest_of(tmp_path / "one")


def test_a_second_run_writes_nothing(sites: Path, tmp_path: Path) -> None:
    first = cleaned(tmp_path / "out", [sites])
    before = stamps(tmp_path / "out")
    engine = Inline()
    second = cleaned(tmp_path / "out", [sites], engine=lambda: engine)
    assert stamps(tmp_path / "out") == before
    assert engine.closed == []  # there was none to close
    assert (second.made, second.kept, second.pages) == (0, first.made, first.pages)


def test_a_lost_part_alone_is_made_again(sites: Path, tmp_path: Path) -> None:
    cleaned(tmp_path / "out", [sites])
    digest, before = digest_of(tmp_path / "out"), stamps(tmp_path / "out")
    lost = sorted((tmp_path / "out").glob("part-*"))[1]
    lost.unlink()
    assert cleaned(tmp_path / "out", [sites]).made == 1
    after = stamps(tmp_path / "out")
    assert {name for name in before if before[name] != after[name]} == {lost.name}
    assert digest_of(tmp_path / "out") == digest


def test_results_of_another_call_are_not_mixed(sites: Path, tmp_path: Path) -> None:
    cleaned(tmp_path / "out", [sites])
    with pytest.raises(UsageError, match="another call"):
        cleaned(tmp_path / "out", [sites], method="tps")
    with pytest.raises(UsageError, match="parts of other pages"):
        cleaned(tmp_path / "out", [sites / "s1"])


def test_failed_pages_have_a_line_each_and_no_row(sites: Path, tmp_path: Path) -> None:
    (sites / "s1" / "p3.html").write_bytes(b"\x00\x01\x02\x03" * 50)
    summary = cleaned(tmp_path / "out", [sites])
    assert (summary.pages, summary.failed) == (28, 1)
    (lines,) = (tmp_path / "out" / "_failed").glob("*.jsonl")
    assert '"error":"' in lines.read_text()
    assert "p3.html" in lines.read_text()
    assert len(rows_of(tmp_path / "out")) == 27
    again = cleaned(tmp_path / "out", [sites])
    assert (again.failed, again.made) == (1, 0)


def test_lines_of_a_former_attempt_do_not_stay(sites: Path, tmp_path: Path) -> None:
    bad = sites / "s1" / "p3.html"
    good = bad.read_bytes()
    bad.write_bytes(b"\x00\x01\x02\x03" * 50)
    cleaned(tmp_path / "out", [sites])
    bad.write_bytes(good)
    for part in (tmp_path / "out").glob("part-*"):
        part.unlink()
    assert cleaned(tmp_path / "out", [sites]).failed == 0


def test_rows_of_blocks_are_the_blocks(sites: Path, tmp_path: Path) -> None:
    cleaned(tmp_path / "out", [sites / "s1"], blocks=True)
    rows = [row for row in rows_of(tmp_path / "out") if row["page"].endswith("p2.html")]
    snapshot = parse_html((sites / "s1" / "p2.html").read_bytes(), url="http://x.example/")
    blocks = text_blocks(snapshot, page_cleaner("auto")(snapshot))
    assert [row["text"] for row in rows] == [block.text for block in blocks]
    assert [row["path"] for row in rows] == [block.path for block in blocks]
    assert [row["block"] for row in rows] == [*range(len(blocks))]


def test_metadata_are_columns(sites: Path, tmp_path: Path) -> None:
    cleaned(tmp_path / "out", [sites / "s1"], metadata=True)
    assert rows_of(tmp_path / "out")[2]["title"] == "Heading 102"


def test_pages_of_archives_come_by_their_hosts(tmp_path: Path) -> None:
    archive = written(tmp_path, b"".join(page_record(number) for number in range(1, 6)))
    summary = cleaned(tmp_path / "out", [archive], per_shard=2)
    rows = rows_of(tmp_path / "out")
    assert summary.made == 3
    assert [row["url"] for row in rows] == [url_of(number) for number in range(1, 6)]
    assert {row["site"] for row in rows} == {"moss.example (raw)"}


def test_damaged_parts_of_archives_are_failures(tmp_path: Path) -> None:
    archive = written(tmp_path, page_record(1) + b"WARC/1.0\r\nContent-Length: x\r\n\r\n" + page_record(2))
    summary = cleaned(tmp_path / "out", [archive])
    assert summary.failed >= 1
    assert len(rows_of(tmp_path / "out")) == 2


def test_stores_of_captures_give_the_newest_of_each_page(tmp_path: Path) -> None:
    urls = [f"http://x.example/{number}" for number in range(5)]
    fill(tmp_path / "stores" / "a", urls, site="x.example")
    fill(tmp_path / "stores" / "b", urls[:2], site="y.example")
    with PageStore(tmp_path / "stores" / "a") as store:
        store.put(parse_html(page(77).encode(), url=urls[0]), site="x.example")
    summary = cleaned(tmp_path / "out", [tmp_path / "stores"], per_shard=2)
    rows = rows_of(tmp_path / "out")
    assert (summary.pages, len(rows)) == (7, 7)
    assert "Heading 77" in rows[0]["text"]


def test_captures_without_pixels_fail_one_by_one_where_they_are_asked_for(tmp_path: Path) -> None:
    store = tmp_path / "store"
    urls = [f"http://x.example/{number}" for number in range(3)]
    with PageStore(store) as pages:
        for url, options in zip(urls, (CaptureOptions(), *[CaptureOptions(pixels=True)] * 2), strict=True):
            snapshot = rendered(
                "<html><body><p>Words of a page.</p></body></html>", producer="rendered", url=url
            )
            pages.put(captured(snapshot, options), site="x.example")
    summary = cleaned(tmp_path / "out", [store], hidden="pixels")
    assert (summary.pages, summary.failed) == (3, 1)
    assert [row["url"] for row in rows_of(tmp_path / "out")] == urls[1:]
    (line,) = next((tmp_path / "out" / "_failed").iterdir()).read_text(encoding="utf-8").splitlines()
    assert urls[0] in line
    assert "render it with `--hidden pixels`" in line
    assert cleaned(tmp_path / "layout", [store]).failed == 0


def test_what_a_killed_run_left_is_swept(sites: Path, tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=-1, check=True)
    left = tmp_path / "out" / f".domsieve.{int(dead.stdout)}-0a1b.part"

    class Killing(Inline):
        """Leaves a part while it works, as a worker of a killed run that ends late."""

        def start(self, job: Job, shard: Shard) -> None:
            left.touch()
            super().start(job, shard)

    for _ in range(2):  # the second run has nothing to do
        cleaned(tmp_path / "out", [sites / "s0"], engine=Killing)
        assert not left.exists()
        left.touch()


def test_a_line_of_a_list_that_names_nothing_is_a_failure(sites: Path, tmp_path: Path) -> None:
    words = [
        ListedWord(word, f"list, line {n}", is_path=True)
        for n, word in enumerate((str(sites / "s0"), "nowhere"), 1)
    ]
    summary = cleaned(tmp_path / "out", words)
    assert (summary.pages, summary.failed) == (8, 1)
    assert "list, line 2" in next((tmp_path / "out" / "_failed").iterdir()).read_text()


@pytest.mark.parametrize(
    ("word", "why"), [("http://x.example/", "bulk render"), ("nowhere", "neither a file")]
)
def test_what_is_no_page_is_refused(tmp_path: Path, word: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        cleaned(tmp_path / "out", [word])


def test_a_method_that_learns_needs_models(sites: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="give the folder of models"):
        cleaned(tmp_path / "out", [sites], method="sst")


def test_records_are_rows(tmp_path: Path) -> None:
    items = "".join(
        f"<li><a href=/{n}>Thing {n}</a> <b>{n}.99 EUR</b> <i>described in words {n}</i></li>"
        for n in range(9)
    )
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.html").write_text(f"<title>T</title><h1>Shop</h1><ul>{items}</ul>")
    job = RecordsJob(output=str(tmp_path / "out"))
    summary = mine_pages(job, [str(tmp_path / "in")], Inline, lambda _: None)
    rows = rows_of(tmp_path / "out")
    assert isinstance(summary, Summary)
    assert [row["record"] for row in rows] == [*range(1, 10)]
    assert "Thing 3" in dict(rows[3]["fields"]).values()


def test_processes_give_the_rows_of_one(sites: Path, tmp_path: Path) -> None:
    cleaned(tmp_path / "one", [sites], per_shard=100)
    for workers in (1, 2, 4):
        output = tmp_path / f"{workers}"
        cleaned(output, [sites], per_shard=4, engine=partial(LocalEngine, workers))
        assert digest_of(output) == digest_of(tmp_path / "one")


def test_an_engine_is_closed_at_once_where_results_cannot_be_written(sites: Path, tmp_path: Path) -> None:
    class Full(Inline):
        def finished(self) -> list[tuple[Shard, Outcome]]:
            return [(self._waiting.pop()[1], StorageError("no room"))]

    engines: list[Inline] = []

    def made(kind: type[Inline]) -> Inline:
        engines.append(kind())
        return engines[-1]

    with pytest.raises(StorageError, match="no room"):
        cleaned(tmp_path / "out", [sites], engine=partial(made, Full))
    cleaned(tmp_path / "out", [sites], engine=partial(made, Inline))
    assert [engine.closed for engine in engines] == [[True], [False]]
