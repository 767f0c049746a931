"""`domsieve.pages` yields the pages of files, folders and archives, which the other calls take."""

import logging
from itertools import islice
from pathlib import Path

import pytest

import domsieve
from domsieve.errors import ContentError, TargetError, UsageError
from tests.archive.made import answer, numbers, packed, page_record, record, url_of, written
from tests.command import page, write_pages

CANONICAL = '<link rel=canonical href="http://fern.example/a">'


def test_pages_of_an_archive(tmp_path: Path) -> None:
    path = written(tmp_path, packed([page_record(1), page_record(2)]), "a.warc.gz")
    first, second = domsieve.pages(path)
    assert isinstance(first, domsieve.StoredPage)
    assert numbers([first, second]) == [1, 2]
    assert (first.status, first.headers["content-type"]) == (200, "text/html")
    assert [one.url for one in domsieve.pages(str(path))] == [url_of(1), url_of(2)]


def test_pages_of_files_and_folders(tmp_path: Path) -> None:
    one, two = write_pages(tmp_path / "in", 2)
    two.write_text(CANONICAL + page(2), "utf-8")
    written(tmp_path / "in", page_record(3))
    found = list(domsieve.pages(tmp_path / "in"))
    assert [each.url for each in found] == ["", "http://fern.example/a", url_of(3)]
    assert [each.label for each in found] == [str(one), str(two), url_of(3)]
    assert [each.source for each in found] == [one.read_bytes(), two.read_bytes(), page(3).encode()]
    assert (found[0].status, found[0].headers, found[0].captured_at) == (None, {}, "")
    assert [each.label for each in domsieve.pages(one)] == [str(one)]


def test_they_are_yielded_before_the_rest_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, b"".join(page_record(number) for number in range(1, 2_000)))
    found = domsieve.pages(path)
    assert numbers(list(islice(found, 2))) == [1, 2]
    path.unlink()
    with pytest.raises(TargetError):
        list(found)


def test_they_are_cleaned_and_mined(tmp_path: Path) -> None:
    path = written(tmp_path, packed([page_record(number) for number in range(1, 7)]), "a.warc.gz")
    results = domsieve.clean(domsieve.pages(path))
    assert [result.url for result in results] == [url_of(number) for number in range(1, 7)]
    assert all(f"word{number}a" in result.text for number, result in enumerate(results, 1))
    assert "Imprint" not in results[0].text
    one = domsieve.clean(next(domsieve.pages(path)), method="none")
    assert (one.url, one.snapshot.provenance.status) == (url_of(1), 200)
    assert len(domsieve.records(domsieve.pages(path))) == 6


def test_files_are_cleaned_as_by_their_paths(tmp_path: Path) -> None:
    paths = write_pages(tmp_path / "in", 6)
    stored = domsieve.clean(domsieve.pages(tmp_path / "in"), method="sst")
    assert [one.text for one in stored] == [one.text for one in domsieve.clean(paths, method="sst")]


def test_failed_pages_fail_and_may_be_kept(tmp_path: Path) -> None:
    path = written(tmp_path, record(answer(page(1).encode(), status="500 No"), url=url_of(1)))
    (only,) = domsieve.pages(path)
    assert only.status == 500
    with pytest.raises(ContentError) as caught:
        domsieve.clean(only)
    assert caught.value.reason == "status"
    assert "word1a" in domsieve.clean(only, network=domsieve.NetworkOptions(keep_errors=True)).text


def test_pages_that_are_gone_are_results_with_errors(tmp_path: Path) -> None:
    path = written(tmp_path, page_record(1) + page_record(2))
    found = list(domsieve.pages(path))
    path.write_bytes(page_record(1) + b"words" * 200)
    first, second = domsieve.clean(found, method="none")
    assert "word1a" in first.text
    assert isinstance(second.error, ContentError)


def test_damaged_parts_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(tmp_path, page_record(1) + page_record(2, length=7) + page_record(3))
    with caplog.at_level(logging.WARNING, "domsieve"):
        assert numbers(list(domsieve.pages(path))) == [1, 3]
    assert [entry.getMessage() for entry in caplog.records] == [
        f"{path}, byte {len(page_record(1)):,}: Skipped: the length of a record is wrong."
    ]


def test_what_holds_no_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TargetError):
        list(domsieve.pages(tmp_path))
    with pytest.raises(TargetError):
        list(domsieve.pages(tmp_path / "no.warc"))
    with pytest.raises(TargetError):
        _ = [one.source for one in domsieve.pages(tmp_path / "no.html")]
    with pytest.raises(UsageError):
        domsieve.pages(7)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        domsieve.clean(next(domsieve.pages(written(tmp_path, page_record(1)))), url=url_of(2))
