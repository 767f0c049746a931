"""Archives on the command line: pages by site, names by address, what failed is told."""

import json
import logging
from pathlib import Path

import numpy as np
import pytest

from domsieve.analysis.model_file import load_model
from domsieve.snapshot.store import PageStore
from domsieve.tasks.file_names import fault_of_name
from domsieve.tasks.targets import FileTarget, find_targets
from tests.archive.made import answer, packed, page_record, record, url_of, written
from tests.command import page, result_files, run, write_pages

OTHER = "http://fern.example"


def name(number: int) -> str:
    """Return the name of the file of a page, if all pages are of one site."""
    return f"p/{number}.txt"


def crawl(folder: Path, name: str = "crawl.warc.gz") -> Path:
    """Return an archive of two sites, six pages of the one and one of the other, and of a picture."""
    return written(
        folder,
        packed(
            [
                *(page_record(number) for number in range(1, 7)),
                record(answer(b"\x89PNG", kind="image/png"), url=url_of(8)),
                record(answer(page(7).encode()), url=f"{OTHER}/a"),
            ]
        ),
        name,
    )


def test_pages_are_cleaned_into_files_named_by_their_addresses(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = crawl(tmp_path)
    with caplog.at_level(logging.INFO, "domsieve"):
        done = run("clean", path, "--output-dir", tmp_path / "out", cache=tmp_path / "cache")
    assert done.exit_code == 0
    assert f"{path}: 7 pages, 1 other answer" in caplog.messages
    hosts = [url.partition("//")[2].partition("/")[0] for url in (url_of(1), OTHER)]
    pages = [f"{hosts[0]}/{name(number)}" for number in range(1, 7)]
    assert result_files(tmp_path / "out") == sorted([*pages, f"{hosts[1]}/a.txt"])
    text = (tmp_path / "out" / pages[2]).read_text("utf-8")
    assert "word3a" in text
    assert "Imprint" not in text


def test_pages_of_a_host_are_learned_from_together(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    done = run("clean", crawl(tmp_path), "--method", "sst", "--json", cache=tmp_path / "cache")
    (warning,) = caplog.messages
    assert warning.startswith(f"{OTHER.partition('//')[2]} (raw): only 1 page to learn from")
    assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == [
        f"{OTHER}/a",
        *(url_of(number) for number in range(1, 7)),
    ]


def test_a_page_that_was_captured_twice_is_learned_from_once(tmp_path: Path) -> None:
    path = written(tmp_path, packed([page_record(1)] * 3 + [page_record(2)]), "a.warc.gz")
    done = run("learn", path, "--json", "-o", tmp_path / "model", cache=tmp_path / "cache")
    assert json.loads(done.stdout)["pages"] == 2
    done = run("clean", path, "--method", "none", "--output-dir", tmp_path / "out", cache=tmp_path / "cache")
    stem = name(1).removesuffix(".txt")
    expected = [f"{stem}-2.txt", f"{stem}-3.txt", f"{stem}.txt", name(2)]
    assert result_files(tmp_path / "out") == sorted(expected)


def test_records_are_those_of_the_files(tmp_path: Path) -> None:
    items = "".join(f"<li><b>Moss {n}</b> <i>{n}.50 EUR</i></li>" for n in range(12))
    source = f"<h1>Shop</h1><ul>{items}</ul>".encode()
    (tmp_path / "shop.html").write_bytes(source)
    path = written(tmp_path, record(answer(source), url=url_of(1)))
    of_file = run("records", tmp_path / "shop.html", "--url", url_of(1), cache=tmp_path / "cache")
    of_archive = run("records", path, cache=tmp_path / "cache")
    assert of_archive.exit_code == of_file.exit_code == 0
    assert of_archive.stdout == of_file.stdout.replace(str(tmp_path / "shop.html"), url_of(1))
    assert "Moss 11" in of_archive.stdout


def test_a_model_is_learned_and_used(tmp_path: Path) -> None:
    model = tmp_path / "model"
    learned = run("learn", crawl(tmp_path), "-o", model, "--method", "sst", cache=tmp_path / "cache")
    assert learned.exit_code == 0
    assert load_model(model).learned == 7
    done = run("clean", crawl(tmp_path), "--model", model, cache=tmp_path / "cache")
    assert "word7a" in done.stdout


def test_words_are_weighed(tmp_path: Path) -> None:
    done = run("vectorize", crawl(tmp_path), "-o", tmp_path / "m.npz", "--json", cache=tmp_path / "cache")
    assert json.loads(done.stdout)["pages"] == 7
    assert np.load(tmp_path / "m.npz")
    assert json.loads((tmp_path / "m.npz.names.json").read_text("utf-8"))["pages"][0] == url_of(1)


def test_a_report_shows_pages_and_leaves_damaged_parts_out(tmp_path: Path) -> None:
    path = written(tmp_path, page_record(1) + page_record(2, length=7) + page_record(3))
    done = run("report", path, "-o", tmp_path / "r.html", cache=tmp_path / "cache")
    assert done.exit_code == 1
    assert "2 pages" in done.stderr
    assert "1 of 3 pages failed." in done.stderr


def test_a_folder_may_hold_files_and_archives(tmp_path: Path) -> None:
    write_pages(tmp_path / "in", 2)
    (tmp_path / "in" / "deep").mkdir()
    crawl(tmp_path / "in" / "deep", "B.WARC.GZ")
    crawl(tmp_path / "in", "a.warc")
    (tmp_path / "in" / "notes.txt").write_text("no page")
    with PageStore(tmp_path / "cache") as store:
        found = find_targets([str(tmp_path / "in")], store)
    assert [isinstance(target, FileTarget) for target in found] == [True] * 2 + [False] * 14
    done = run("clean", tmp_path / "in", "--output-dir", tmp_path / "out", cache=tmp_path / "cache")
    assert (done.exit_code, len(result_files(tmp_path / "out"))) == (0, 16)


def test_failed_pages_are_told_as_those_of_files(tmp_path: Path) -> None:
    wrong = [
        record(answer(page(1).encode(), status="404 Not Found"), url=url_of(11)),
        record(answer(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"), url=url_of(12)),
        record(answer(b""), url=url_of(13)),
    ]
    path = written(tmp_path, packed([*wrong, page_record(1)]), "a.warc.gz")
    done = run("clean", path, "--output-dir", tmp_path / "out", cache=tmp_path / "cache")
    assert done.exit_code == 1
    assert f"{url_of(11)}: The server answers HTTP 404 (Not Found)." in done.stderr
    assert f"{url_of(12)}: It is application/pdf, not an HTML page." in done.stderr
    assert f"{url_of(13)}: The document is empty" in done.stderr
    assert "3 of 4 pages failed." in done.stderr
    assert result_files(tmp_path / "out") == [name(1)]
    kept = run("clean", path, "--keep-errors", "--method", "none", cache=tmp_path / "cache")
    assert kept.stdout.count("word1a") == 4


def test_a_page_that_is_cut_off_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, record(answer(page(1).encode(), "Content-Length: 9999"), url=url_of(1)))
    done = run("clean", path, cache=tmp_path / "cache")
    assert done.exit_code == 0
    assert (
        f"{url_of(1)}: It is incomplete: document: {len(page(1).encode())} of 9,999 bytes arrived."
        in done.stderr
    )
    path = written(tmp_path, record(answer(b"", "Content-Length: 9999"), url=url_of(1)))
    done = run("clean", path, cache=tmp_path / "cache")
    assert done.exit_code == 3
    assert "Nothing of the page arrived: document: 0 of 9,999 bytes arrived." in done.stderr


@pytest.mark.parametrize("command", ["clean", "records", "learn", "vectorize", "report"])
def test_damaged_parts_are_told_and_count_as_failed(command: str, tmp_path: Path) -> None:
    path = written(tmp_path, page_record(1) + page_record(2, length=7) + page_record(3))
    done = run(command, path, "-o", tmp_path / "out", cache=tmp_path / "cache")
    assert done.exit_code == 1
    assert f"{path}, byte {len(page_record(1)):,}: Skipped: the length of a record is wrong." in done.stderr
    assert "1 of 3 pages failed." in done.stderr


def test_of_many_damaged_parts_the_first_are_told(tmp_path: Path) -> None:
    data = b"".join(page_record(number, length=7 if number % 2 else None) for number in range(60))
    done = run("clean", written(tmp_path, data), "--method", "none", cache=tmp_path / "cache")
    assert done.stderr.count("Skipped: ") == 20
    assert "10 further parts of archives or lines of lists cannot be read." in done.stderr
    assert "30 of 60 pages failed." in done.stderr


def test_an_archive_without_pages_fails(tmp_path: Path) -> None:
    done = run("clean", written(tmp_path, b"no archive"), cache=tmp_path / "cache")
    assert done.exit_code == 3
    assert "Skipped: no record begins here." in done.stderr


def test_only_urls_are_rendered(tmp_path: Path) -> None:
    for command in ("render", "compare"):
        assert run(command, crawl(tmp_path), cache=tmp_path / "cache").exit_code == 2
    assert run("clean", crawl(tmp_path), "--url", url_of(1), cache=tmp_path / "cache").exit_code == 2


def test_addresses_from_archives_name_files_in_the_folder_only(tmp_path: Path) -> None:
    hostile = [
        "http://a.example/../../x",
        "http://con/",
        "http://a.example/" + "y" * 400,
        "http://A.example/%2e%2e/",
    ]
    path = written(
        tmp_path, packed([record(answer(page(1).encode()), url=url) for url in hostile]), "a.warc.gz"
    )
    done = run("clean", path, "--output-dir", tmp_path / "out", cache=tmp_path / "cache")
    assert done.exit_code == 0
    found = result_files(tmp_path / "out")
    assert len(found) == 4
    assert not any(map(fault_of_name, found))


def test_heads_of_archives_steer_no_terminal(tmp_path: Path) -> None:
    head = record(answer(b"<p>x"), "WARC-Payload-Digest: x", url=f"{OTHER}/\x1b[2J", kind="revisit")
    path = written(tmp_path, head + page_record(1, "WARC-Truncated: \x1b[2J"))
    done = run("clean", path, cache=tmp_path / "cache")
    assert "\x1b" not in done.stderr + done.stdout
