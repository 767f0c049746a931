"""Bodies of HTTP as archives keep them: coded or not, whatever their heads say."""

import gzip
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard

from domsieve.archive.http_exchange import body_of, dechunked, head_of
from tests.command import page

PAGE = page(1).encode()
MOST = 100_000


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "GZIP": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
    "identity": bytes,
    "none": bytes,
}


def chunks(data: bytes, size: int = 100, *, end: bytes = b"0\r\n\r\n") -> bytes:
    parts = [data[start : start + size] for start in range(0, len(data), size)]
    return b"".join(b"%X;a=b\r\n%s\r\n" % (len(part), part) for part in parts) + end


def body(content: bytes, **headers: str) -> tuple[bytes, list[str]]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    found, cuts = body_of(content, named, most_bytes=MOST, is_cut=False)
    return found, [cut.kind for cut in cuts]


@pytest.mark.parametrize("coding", CODINGS)
def test_codings_are_undone(coding: str) -> None:
    assert body(CODINGS[coding](PAGE), content_encoding=coding) == (PAGE, [])


@pytest.mark.parametrize("coding", CODINGS)
def test_a_coding_that_was_undone_before_is_not_undone_again(coding: str) -> None:
    assert body(PAGE, content_encoding=coding, content_length="9") == (PAGE, [])


def test_deflate_without_its_head() -> None:
    assert body(raw_deflate(PAGE), content_encoding="deflate") == (PAGE, [])


def test_several_codings() -> None:
    packed = chunks(brotli.compress(gzip.compress(PAGE)))
    assert body(packed, content_encoding="gzip, br", transfer_encoding="chunked") == (PAGE, [])


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_what_breaks_off_is_read_as_far_as_it_goes(coding: str) -> None:
    text = PAGE * 40
    packed = CODINGS[coding](text + bytes(range(256)) * 8)
    found, cuts = body(packed[: len(packed) * 3 // 4], content_encoding=coding)
    assert text.startswith(found[: len(text)])
    assert cuts == ["document"]


def test_that_it_breaks_off_is_not_said_twice() -> None:
    packed = gzip.compress(PAGE)[:-30]
    _, cuts = body_of(packed, {"content-encoding": "gzip"}, most_bytes=MOST, is_cut=True)
    assert cuts == []


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (chunks(b"<p>words"), b"<p>words"),
        (chunks(b"<p>words", 3), b"<p>words"),
        (chunks(b"<p>words", 3).replace(b"\r\n", b"\n"), b"<p>words"),
        (b" 5 \r\n<p>ab\r\n0\r\nTrailer: x\r\n\r\n", b"<p>ab"),
        (b"<p>it was undone before</p>", b"<p>it was undone before</p>"),
        (b"", b""),
    ],
)
@pytest.mark.parametrize("length", ["3", "99999", "-1", "99999999999999999999999", "\u0663"])
def test_chunks_go_before_a_length_that_lies(content: bytes, found: bytes, length: str) -> None:
    assert body(content, transfer_encoding="chunked", content_length=length) == (found, [])


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (chunks(b"<p>words", 4, end=b""), b"<p>words"),
        (b"8\r\n<p>words\r\nzz\r\n", b"<p>words"),
        (b"fffffff\r\n<p>words", b"<p>words"),
        (b"5\r\n<p>wo", b"<p>wo"),
        (b"5\r\n<p>wo-1\r\nx", b"<p>wo"),
    ],
)
def test_broken_chunks_are_read_as_far_as_they_go(content: bytes, found: bytes) -> None:
    assert [found, ["document"]] == [*body(content, transfer_encoding="chunked")]


def test_a_length_tells_that_the_end_is_missing() -> None:
    assert body(b"<p>words", content_length="9") == (b"<p>words", ["document"])
    assert body(b"<p>words", content_length="8") == (b"<p>words", [])
    assert body(b"<p>words", content_length="7") == (b"<p>words", [])


def test_bodies_are_bounded_packed_and_unpacked() -> None:
    assert body(b"a" * (MOST + 1)) == (b"a" * MOST, ["bytes"])
    for coding in ("gzip", "deflate", "br", "zstd"):
        bomb = CODINGS[coding](bytes(20 * MOST))
        assert body(bomb, content_encoding=coding) == (bytes(MOST), ["bytes"])


@pytest.mark.parametrize(
    "content",
    [b"", b"<p>x", b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 2000 OK\r\n\r\n", b"HTTP/1.1 100 Go on\r\n\r\n" * 9],
)
def test_what_is_no_answer_has_no_head(content: bytes) -> None:
    assert head_of(content) is None


def test_a_head_that_breaks_off_has_no_body() -> None:
    head = head_of(b"HTTP/1.1 200 OK\r\nContent-Type: text/ht")
    assert head
    assert (head.status, head.headers, head.end) == (200, {"content-type": "text/ht"}, 38)


def test_many_chunks_cost_in_proportion() -> None:
    assert dechunked(b"1\na\n" * 200_000 + b"0\n\n") == (b"a" * 200_000, [])
