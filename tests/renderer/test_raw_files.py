"""Files that hold no page, and pages in compressed files."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import brotli
import pytest
import zstandard

from domsieve.archive import packed
from domsieve.archive._decompression import ArchiveLimits
from domsieve.errors import ContentError
from domsieve.renderer.html_parser.parser import file_stem, html_files, parse_html, read_html_file
from domsieve.snapshot.fault import check_fault, fault_of
from tests.renderer.reading import visible_text

PAGE = b"<!doctype html><title>T</title><p>Words of a page, w\xc3\xb6rtlich.</p>" + b"<p>more words</p>" * 50
ZEROS = 3_000_000


def zipped() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("page.html", PAGE)
    return held.getvalue()


def tarred() -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("page.html"))
    return held.getvalue()


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF\0", "image/jpeg"),
        (b"GIF89a\x01\0", "image/gif"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x20ftypisom", "video/mp4"),
        (zipped(), "application/zip"),
        (tarred(), "application/x-tar"),
        (b"SQLite format 3\0", "application/vnd.sqlite3"),
        (bytes(range(256)) * 8, "application/octet-stream"),
        (b'{"title": "<p>no page</p>", "n": [1, 2]}\n', "application/json"),
        (b'\xef\xbb\xbf[{"a": 1}]', "application/json"),
        (b'<?xml version="1.0"?>\n<!-- made --><rss version="2.0"><channel>', "application/xml"),
        (
            b'<?xml version="1.0"?><!DOCTYPE svg PUBLIC "x"><svg xmlns="y"><text>a</text></svg>',
            "application/xml",
        ),
    ],
)
def test_what_is_no_page_is_named_by_its_type(source: bytes, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(source)
    snapshot = read_html_file(path)
    assert snapshot.provenance.content_type == kind
    with pytest.raises(ContentError, match=kind) as error:
        check_fault(snapshot)
    assert error.value.reason == "type"


@pytest.mark.parametrize(
    "source",
    [
        PAGE,
        b"words without a tag",
        b"{ braces } are no JSON",
        b"[1] is a note",
        b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><p>x</p></html>",
        "<p>Ümlaut</p>".encode("utf-16"),
        "<p>日本語のページ</p>".encode("shift_jis"),
        b"<p>one \0 zero and \x0c a feed</p>",
        b"<h1>%PDF- is how such files begin</h1>",
        b"<!-- a --><!-- b --><svg></svg><p>a picture first",
    ],
)
def test_what_may_be_a_page_is_one(source: bytes) -> None:
    snapshot = parse_html(source, url="page")
    if b"<svg>" not in source:
        assert snapshot.provenance.content_type == ""
        assert fault_of(snapshot) is None


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.html.gz", gzip.compress(PAGE, mtime=0)),
        (
            "two-members.htm.gz",
            gzip.compress(PAGE[:40], mtime=0) + gzip.compress(PAGE[40:], mtime=0) + b"\0\0\0",
        ),
        ("b.html.zst", zstandard.compress(PAGE)),
        ("frames.xhtml.zst", zstandard.compress(PAGE[:40]) + zstandard.compress(PAGE[40:])),
        ("c.html.br", brotli.compress(PAGE)),
        ("told-by-its-bytes.html", gzip.compress(PAGE, mtime=0)),
    ],
)
def test_compressed_files_are_read(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    [path] = html_files(tmp_path)
    snapshot = read_html_file(path)
    assert visible_text(snapshot) == visible_text(parse_html(PAGE, url=""))
    assert snapshot.provenance.complete
    assert file_stem(path).name == name.partition(".")[0]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.html.gz", gzip.compress(PAGE, mtime=0)),
        ("b.html.zst", zstandard.compress(PAGE)),
        ("c.html.br", brotli.compress(PAGE)),
    ],
)
def test_compressed_files_that_break_off_or_are_damaged_are_cut(
    name: str, data: bytes, tmp_path: Path
) -> None:
    path = tmp_path / name
    middle = len(data) // 2
    damaged = [] if name == "b.html.zst" else [data[:middle] + b"\xff\x00\xff\x00" + data[middle + 4 :]]
    for broken in (data[:-9], *damaged):  # Zstandard need not tell
        path.write_bytes(broken)
        snapshot = read_html_file(path)
        assert snapshot.provenance.was_cut_by("document")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, brotli.compress])
def test_bombs_are_unpacked_as_far_as_the_limit(
    pack: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(pack)
    monkeypatch.setattr(packed, "DEFAULT_LIMITS", ArchiveLimits(page_bytes=100_000))
    path = tmp_path / "bomb.html.br"
    path.write_bytes(pack(PAGE + b" " * ZEROS))
    snapshot = read_html_file(path)
    assert snapshot.provenance.was_cut_by("bytes")
    assert "100,000" in snapshot.provenance.reasons[0]
    assert fault_of(snapshot) is None
    path.write_bytes(pack(b"\0" * ZEROS))
    fault = fault_of(read_html_file(path))
    assert fault
    assert fault.reason == "type"


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, brotli.compress])
def test_small_files_unpack_to_less_than_a_page_may_hold(pack: object, tmp_path: Path) -> None:
    assert callable(pack)
    data = pack(bytes(20_000_000))
    text, cuts = packed.unpacked(data, tmp_path / "a.br")
    assert (len(text), [cut.kind for cut in cuts]) == (10_000_000 + 100 * len(data), ["bytes"])


def test_a_packed_file_in_a_packed_file_is_no_page(tmp_path: Path) -> None:
    path = tmp_path / "a.html.gz"
    path.write_bytes(gzip.compress(gzip.compress(PAGE)))
    fault = fault_of(read_html_file(path))
    assert fault
    assert "application/gzip" in fault.detail


def test_empty_files_are_empty(tmp_path: Path) -> None:
    for name in ("a.html", "a.html.gz", "a.html.br"):
        (tmp_path / name).write_bytes(b"")
        fault = fault_of(read_html_file(tmp_path / name))
        assert fault
        assert fault.reason in {"empty", "cut"}
