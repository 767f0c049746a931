"""Which answers of an archive are pages: those that it lists, or else those that a browser opened as pages."""

import json
import logging
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.archive.made import HOST, answer, numbers, packed, page_record, read, record, url_of, written
from tests.command import page

MISSING = answer(b"<h1>Not found</h1>", status="404 Not Found")


def asset(number: int, *fields: str) -> bytes:
    """Return the record of a file that the server answers with an error page."""
    return record(MISSING, *fields, url=f"{HOST}/assets/{number}.js", number=100 + number)


def wacz(folder: Path, records: Sequence[bytes], *listed: str, extra: Sequence[str] = ()) -> Path:
    path = folder / "crawl.wacz"
    lists = {"pages/pages.jsonl": listed, "pages/extraPages.jsonl": extra}
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.warc.gz", packed(records))
        for name, urls in lists.items():
            lines = ['{"format": "json-pages-1.0"}', *(json.dumps({"url": url}) for url in urls)]
            file.writestr(name, "\n".join(lines))
    return path


def test_only_listed_pages_count(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    records = [page_record(1), *map(asset, range(100)), page_record(2), page_record(3)]
    with caplog.at_level(logging.INFO, "domsieve"):
        pages, damages = read(wacz(tmp_path, records, url_of(1), f"{url_of(3)}#top", extra=[url_of(2)]))
    assert (numbers(pages), damages) == ([1, 2, 3], [])
    assert f"{tmp_path / 'crawl.wacz'}: 3 pages, 100 other answers" in caplog.messages


def test_a_listed_page_that_fails_is_a_page(tmp_path: Path) -> None:
    pages, _ = read(wacz(tmp_path, [record(MISSING, url=url_of(4))], url_of(4)))
    assert [(one.url, one.status) for one in pages] == [(url_of(4), 404)]


def test_the_page_that_a_listed_one_redirects_to_counts(tmp_path: Path) -> None:
    moved = record(answer(b"", "Location: /p/2", status="301 Moved"), url=url_of(1))
    away = record(answer(b"", "Location: /p/3", status="302 Found"), url=f"{HOST}/assets/1.js", number=2)
    records = [moved, away, page_record(2), page_record(3)]
    assert numbers(read(wacz(tmp_path, records, url_of(1)))[0]) == [2]


def test_a_list_of_other_addresses_is_ignored(tmp_path: Path) -> None:
    path = wacz(tmp_path, [page_record(1), record(b"x", length="no")], "http://other.example/")
    pages, damages = read(path)
    assert (numbers(pages), len(damages)) == ([1], 1)


@pytest.mark.parametrize("kind", ["script", "Image", "stylesheet"])
def test_without_a_list_the_kind_of_the_resource_counts(tmp_path: Path, kind: str) -> None:
    records = [
        page_record(1),
        page_record(2, "WARC-Resource-Type: document"),
        asset(1, f"WARC-Resource-Type: {kind}"),
        record(answer(page(3).encode()), f"WARC-Resource-Type: {kind}", url=url_of(3), number=3),
    ]
    assert numbers(read(written(tmp_path, packed(records), "a.warc.gz"))[0]) == [1, 2]
    assert numbers(read(wacz(tmp_path, records))[0]) == [1, 2]
