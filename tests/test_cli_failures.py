"""Pages that failed look like it on the command line: one line, the exit code, no file; what is odd is said."""

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.cut import Cut
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from tests.command import page, result_files, run, write_pages

PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj << /Type /Catalog >> endobj"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10"
URL = "http://example.org/page"


def put(
    cache: Path, html: str = "", *, url: str = URL, source: bytes | None = None, **origin: Any
) -> PageRecord:
    """Put a page of these facts into the cache."""
    snapshot = parse_html((html or page(1)).encode(), url=url)
    provenance = msgspec.structs.replace(snapshot.provenance, **origin)
    with PageStore(cache) as store:
        return store.put(replace(snapshot, provenance=provenance), source=source, site="example.org")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (PDF, "application/pdf"),
        (PNG, "image/png"),
        (gzip.compress(gzip.compress(page(1).encode(), mtime=0), mtime=0), "application/gzip"),
        (b'{"a": "no page"}', "application/json"),
        (bytes(range(32)) * 20, "application/octet-stream"),
        (b"", "The document is empty"),
        (b"<html><body></body></html>", "The document is empty"),
        (gzip.compress(b"", mtime=0)[:-6], "Nothing of the page arrived"),
    ],
)
@pytest.mark.parametrize("command", ["clean", "records", "learn", "vectorize", "report"])
def test_files_that_are_no_pages_fail(
    content: bytes, says: str, command: str, cache: Path, tmp_path: Path
) -> None:
    path = tmp_path / "x.html"
    path.write_bytes(content)
    out = tmp_path / "out"
    where = ["-o", str(out)]
    alone = run(command, path, *where, cache=cache)
    assert alone.exit_code == 3
    assert says in alone.stderr
    assert not out.exists()
    pages = write_pages(tmp_path / "good", 3)
    beside = run(command, path, *pages, *where, cache=cache)
    assert beside.exit_code == 1
    assert "1 of 4 pages failed" in beside.stderr
    assert beside.stderr.count(says) == 1
    assert out.stat().st_size


def test_each_failure_is_one_line_and_no_file(cache: Path, tmp_path: Path) -> None:
    write_pages(tmp_path / "in", 1)
    (tmp_path / "in" / "paper.html").write_bytes(PDF)
    result = run("clean", tmp_path / "in", "--output-dir", tmp_path / "out", cache=cache)
    assert result.exit_code == 1
    [line] = [line for line in result.stderr.splitlines() if "paper.html" in line]
    assert "It is application/pdf, not an HTML page." in line
    assert result_files(tmp_path / "out") == ["p1.txt"]


@pytest.mark.parametrize(
    ("origin", "html", "says"),
    [
        ({"status": 404}, "", "The server answers HTTP 404 (Not Found)."),
        ({"status": 500}, "", "The server answers HTTP 500 (Internal Server Error)."),
        ({"content_type": "application/pdf"}, "", "It is application/pdf, not an HTML page."),
        (
            {"complete": False, "reasons": (str(Cut("time", "20 s are used up")),)},
            "<img src=a.png>",
            "Nothing of the page arrived: time: 20 s are used up.",
        ),
    ],
)
def test_captures_that_failed_are_judged_when_they_are_read(
    origin: dict[str, Any], html: str, says: str, cache: Path
) -> None:
    record = put(cache, html, **origin)
    for command in ("clean", "records"):
        result = run(command, record.page_id, cache=cache)
        assert (result.exit_code, result.stdout) == (3, "")
        assert says in result.stderr


def test_the_source_of_a_page_that_failed_failed_too(cache: Path) -> None:
    record = put(cache, status=404, producer="unscripted", source=page(1).encode())
    assert run("clean", record.page_id, cache=cache).exit_code == 3
    assert run("clean", record.page_id, "--raw", cache=cache).exit_code == 3


def test_errors_may_be_kept(cache: Path, tmp_path: Path) -> None:
    record = put(cache, status=404)
    result = run("clean", record.page_id, "--keep-errors", cache=cache)
    assert result.exit_code == 0
    assert "Heading 1" in result.stdout
    assert "It counts as failed: The server answers HTTP 404 (Not Found)." in result.stderr
    told = json.loads(run("clean", record.page_id, "--keep-errors", "--json", cache=cache).stdout)
    assert told["status"] == 404
    assert told["fault"]["reason"] == "status"
    assert run("records", record.page_id, "--keep-errors", cache=cache).exit_code == 0
    (tmp_path / "x.html").write_bytes(PDF)
    assert run("clean", tmp_path / "x.html", "--keep-errors", cache=cache).exit_code == 0


def test_good_pages_have_no_fault_in_json(cache: Path) -> None:
    record = put(cache, status=200, content_type="text/html")
    told = json.loads(run("clean", record.page_id, "--json", cache=cache).stdout)
    assert (told["status"], told["fault"], told["marks"], told["instead_of"]) == (200, None, [], "")


def test_pages_that_failed_teach_nothing(cache: Path, tmp_path: Path) -> None:
    pages = write_pages(tmp_path / "in", 5)
    errors = [put(cache, url=f"{URL}/{number}", status=404).page_id for number in range(3)]
    learned = run("learn", *pages, *errors, "-o", tmp_path / "m", "--json", cache=cache)
    assert learned.exit_code == 1
    assert json.loads(learned.stdout)["pages"] == 5


def test_a_page_cut_with_text_is_cleaned_and_said_to_be_incomplete(cache: Path) -> None:
    record = put(cache, complete=False, reasons=(str(Cut("time", "20 s are used up while loading")),))
    result = run("clean", record.page_id, cache=cache)
    assert result.exit_code == 0
    assert "Heading 1" in result.stdout
    assert "It is incomplete: time: 20 s are used up while loading." in result.stderr


def test_walls_are_cleaned_and_marked(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "wall.html"
    path.write_text(
        "<title>Just a moment...</title><h1>example.org</h1><p>Verify you are human by ticking.</p>"
    )
    result = run("clean", path, cache=cache)
    assert result.exit_code == 0
    assert "Verify you are human" in result.stdout
    assert "It looks like a wall against robots (verify you are human)." in result.stderr
    told = json.loads(run("clean", path, "--json", cache=cache).stdout)
    assert told["marks"] == [{"kind": "robot_wall", "evidence": "verify you are human"}]


def same_pages(folder: Path, count: int) -> None:
    """Write equal pages: to a method that learns from the site all of it repeats."""
    folder.mkdir()
    for number in range(count):
        # Not the same bytes, which would count once.
        (folder / f"p{number}.html").write_text(f"<!-- {number} -->{page(1)}", encoding="utf-8")


def test_where_a_method_keeps_nothing_the_next_best_is_taken_and_said(cache: Path, tmp_path: Path) -> None:
    same_pages(tmp_path / "in", 6)
    result = run(
        "clean",
        tmp_path / "in",
        "--method",
        "sst",
        "--param",
        "threshold=1",
        "--output-dir",
        tmp_path / "out",
        cache=cache,
    )
    assert result.exit_code == 0
    assert result.stderr.count("The method sst keeps nothing of it; auto was taken instead.") == 6
    assert all("word1a" in path.read_text() for path in (tmp_path / "out").glob("*.txt"))
    told = run(
        "clean", tmp_path / "in", "--method", "sst", "--param", "threshold=1", "--json", cache=cache
    ).stdout.splitlines()
    assert {(json.loads(line)["method"], json.loads(line)["instead_of"]) for line in told} == {
        ("auto", "sst")
    }


def test_as_published_no_other_method_is_taken(cache: Path, tmp_path: Path) -> None:
    same_pages(tmp_path / "in", 6)
    for options in (["--method", "sst", "--mode", "paper"], ["--model", str(tmp_path / "m")]):
        if "--model" in options:
            learn = ["--method", "sst", "--mode", "paper", "-o"]
            assert run("learn", tmp_path / "in", *learn, tmp_path / "m", cache=cache).exit_code == 0
        result = run(
            "clean",
            tmp_path / "in" / "p0.html",
            tmp_path / "in",
            *options,
            "--param",
            "threshold=1",
            "--json",
            cache=cache,
        )
        assert result.exit_code == 0, result.stderr
        assert {json.loads(line)["instead_of"] for line in result.stdout.splitlines()} == {""}
        assert "Nothing of it is kept" in result.stderr


@pytest.mark.parametrize(
    ("html", "why"),
    [
        ("<img src=a.png>", "it shows no text"),
        ("<div id=root></div><script src=app.js></script>", "which scripts may bring"),
        ("<p hidden>secret</p><img src=a.png>", "it shows no text"),
    ],
)
def test_no_file_is_empty_without_a_word(html: str, why: str, cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    path.write_text(html)
    result = run("clean", path, "--output-dir", tmp_path / "out", cache=cache)
    assert result.exit_code == 0
    assert "Nothing of it is kept: " in result.stderr
    assert why in result.stderr
