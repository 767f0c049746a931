"""Digests of records and of files in WACZ files: what does not match is used, told and counted."""

import base64
import hashlib
import io
import json
import logging
import zipfile
from pathlib import Path

import pytest

from domsieve.archive._decompression import ArchiveLimits
from domsieve.archive._digests import digest_in
from domsieve.archive.responses import Answers
from tests.archive.made import answer, numbers, packed, page_record, read, record, url_of, written
from tests.archive.test_reading import zipped
from tests.command import page, run

BODY = page(1).encode()
CONTENT = answer(BODY)
CHUNKED = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (BODY[:50], BODY[50:], b""))


def base32(data: bytes) -> str:
    return base64.b32encode(data).decode()


def sha1(data: bytes) -> str:
    return f"sha1:{base32(hashlib.sha1(data).digest())}"


def sha256(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [entry.getMessage() for entry in caplog.records if entry.levelno == logging.WARNING]


@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "SHA-1", "SHA-256"])
def test_digests_are_read_in_the_forms_that_programs_write(algorithm: str) -> None:
    name = algorithm.lower().replace("-", "")
    value = hashlib.new(name, b"moss").digest()
    base64_ = base64.b64encode(value).decode()
    for text in (
        value.hex(),
        value.hex().upper(),
        base32(value),
        base32(value).rstrip("=").lower(),
        base64_,
        base64.urlsafe_b64encode(value).decode().rstrip("="),
    ):
        assert digest_in(f"{algorithm}:{text}") == (name, value)
        assert digest_in(f"{algorithm}:{text}A") is None
        assert digest_in(f"{algorithm}:{text.rstrip('=')[:-4]}") is None


@pytest.mark.parametrize(
    "text", ["", "sha1:", "md5:" + "0" * 32, "sha1:" + "x" * 40, "sha1:" + "1" * 32, "sha256:" + "é" * 43]
)
def test_other_digests_say_nothing(text: str) -> None:
    assert digest_in(text) is None


MATCHING = {
    "of the record": record(CONTENT, f"WARC-Block-Digest: {sha1(CONTENT)}"),
    "of the record, by SHA-256": record(CONTENT, f"WARC-Block-Digest: {sha256(CONTENT)}"),
    "of the payload": record(CONTENT, f"WARC-Payload-Digest: {sha1(BODY)}"),
    "of the record, and one of a payload that others digest otherwise": record(
        CONTENT, f"WARC-Block-Digest: {sha1(CONTENT)}", f"WARC-Payload-Digest: {sha1(b'x')}"
    ),
    "of the chunks": record(
        answer(CHUNKED, "Transfer-Encoding: chunked"), f"WARC-Payload-Digest: {sha1(CHUNKED)}"
    ),
    "without the chunks": record(
        answer(CHUNKED, "Transfer-Encoding: chunked"), f"WARC-Payload-Digest: {sha1(BODY)}"
    ),
    "of a resource": record(BODY, f"WARC-Payload-Digest: {sha256(BODY)}", kind="resource", form="text/html"),
    "of all of what is cut": record(CONTENT, "WARC-Truncated: time", f"WARC-Payload-Digest: {sha1(b'x')}"),
    "of all segments": record(CONTENT, "WARC-Segment-Number: 1", f"WARC-Payload-Digest: {sha1(b'x')}"),
    "by another algorithm": record(CONTENT, "WARC-Block-Digest: md5:d41d8cd98f00b204e9800998ecf8427e"),
}
WRONG = {
    "of the record": (record(CONTENT, f"WARC-Block-Digest: {sha1(b'x')}"), "SHA-1"),
    "of the payload": (record(CONTENT, f"WARC-Payload-Digest: {sha256(b'x')}"), "SHA-256"),
    "of the chunks": (
        record(answer(CHUNKED, "Transfer-Encoding: chunked"), f"WARC-Payload-Digest: {sha1(b'x')}"),
        "SHA-1",
    ),
    "of a resource": (
        record(BODY, f"WARC-Payload-Digest: {sha1(b'x')}", kind="resource", form="text/html"),
        "SHA-1",
    ),
    "of a page that is longer than what is looked at": (
        record(answer(BODY + b" moss" * 40_000), f"WARC-Block-Digest: {sha1(CONTENT)}"),
        "SHA-1",
    ),
}


@pytest.mark.parametrize("case", MATCHING)
def test_pages_that_match_are_taken_silently(
    case: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pages, damaged = read(written(tmp_path, MATCHING[case]))
    assert (len(pages), damaged, warnings(caplog)) == (1, [], [])


@pytest.mark.parametrize("is_packed", [False, True])
@pytest.mark.parametrize("case", WRONG)
def test_pages_that_do_not_match_are_told_and_counted(
    case: str, is_packed: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data, name = WRONG[case]
    parts = [page_record(2), data, page_record(3)]
    parts = [packed([one]) for one in parts] if is_packed else parts
    path = written(tmp_path, b"".join(parts))
    with caplog.at_level(logging.INFO, "domsieve"):
        pages, damaged = read(path)
    assert (len(pages), damaged) == (3, [])
    assert BODY in pages[1].source
    place = f"{path}, byte {len(parts[0]):,}"
    assert warnings(caplog) == [f"{place}: The bytes of {url_of(1)} do not match their {name}."]
    assert caplog.messages[-1] == f"{path}: 3 pages, 1 with a wrong digest"


def test_long_pages_are_compared_as_a_whole(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    body = BODY + b" moss" * 40_000
    chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    data = [
        record(answer(body), f"WARC-Block-Digest: {sha1(answer(body))}"),
        record(answer(body), f"WARC-Payload-Digest: {sha1(body)}"),
        record(answer(chunks, "Transfer-Encoding: chunked"), f"WARC-Payload-Digest: {sha1(body)}"),
    ]
    read(written(tmp_path, b"".join(data)))
    assert warnings(caplog) == []
    # What is not held is not judged.
    wrong = record(answer(chunks, "Transfer-Encoding: chunked"), f"WARC-Payload-Digest: {sha1(b'x')}")
    read(written(tmp_path, wrong), ArchiveLimits(page_bytes=50_000))
    assert warnings(caplog) == []


def test_what_is_no_page_is_not_compared(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    picture = record(answer(b"\x89PNG", kind="image/png"), f"WARC-Block-Digest: {sha1(b'x')}")
    assert numbers(read(written(tmp_path, picture + page_record(2)))[0]) == [2]
    assert warnings(caplog) == []


def test_revisits_are_compared_by_their_own_bytes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    digest = f"WARC-Payload-Digest: {sha1(BODY)}"
    again = record(answer(b""), digest, kind="revisit", url=url_of(2), number=2)
    pages, damaged = read(written(tmp_path, record(CONTENT, digest) + again))
    assert (len(pages), damaged, warnings(caplog)) == (2, [], [])


def test_of_many_the_first_are_told_one_by_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    data = b"".join(record(CONTENT, f"WARC-Block-Digest: {sha1(b'x')}", number=n) for n in range(50))
    path = written(tmp_path, data)
    assert len(read(path)[0]) == 50
    assert len(warnings(caplog)) == 21
    assert warnings(caplog)[-1] == f"{path}: 30 further records do not match."


def test_the_command_line_tells_of_them(tmp_path: Path) -> None:
    path = written(tmp_path, WRONG["of the record"][0])
    done = run("clean", path, "--method", "none", cache=tmp_path / "cache")
    assert done.exit_code == 0
    assert "word1a" in done.stdout


def package(records: bytes, *, said: bytes | None = None, **more: object) -> bytes:
    """Return a WACZ file whose package says the digest of `said` of its records."""
    digest = sha256(records if said is None else said)
    resource = {"name": "a.warc", "path": "archive/a.warc", "hash": digest, "bytes": len(records)}
    data = json.dumps({"profile": "data-package", "resources": [resource], **more}).encode()
    whole = json.dumps({"path": "datapackage.json", "hash": sha256(data)}).encode()
    return zipped(
        [("archive/a.warc", records), ("datapackage.json", data), ("datapackage-digest.json", whole)]
    )


class TestPackages:
    """The digests in a WACZ file."""

    def test_files_that_match_are_taken_silently(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        read(written(tmp_path, package(page_record(1)), "a.wacz"))
        assert warnings(caplog) == []

    @pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    def test_files_that_do_not_are_told_and_read(
        self, kind: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        files = zipfile.ZipFile(io.BytesIO(package(page_record(1), said=b"x")))
        data = zipped([(name, files.read(name)) for name in files.namelist()], kind)
        path = written(tmp_path, data, "a.wacz")
        assert numbers(read(path)[0]) == [1]
        said = f"{path}, archive/a.warc: Its bytes do not match the digest in the WACZ file."
        assert warnings(caplog) == [said]
        caplog.clear()
        assert len(Answers(path).pages) == 1
        assert warnings(caplog) == [said]

    def test_the_package_itself_is_compared(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        data = package(page_record(1), title="Moss").replace(b"Moss", b"Fern")
        path = written(tmp_path, data, "a.wacz")
        assert numbers(read(path)[0]) == [1]
        assert warnings(caplog) == [
            f"{path}, datapackage.json: Its bytes do not match the digest in the WACZ file."
        ]

    @pytest.mark.parametrize(
        "data", [b"", b"[]", b"9", b"[" * 99_999, b'{"resources": 9}', b'{"resources": [9, {"path": []}]}']
    )
    def test_strange_packages_say_nothing(
        self, data: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        files = [("archive/a.warc", page_record(1)), ("datapackage.json", data)]
        pages, damaged = read(written(tmp_path, zipped(files), "a.wacz"))
        assert (numbers(pages), damaged, warnings(caplog)) == ([1], [], [])


def test_answers_of_any_type_are_compared_before_they_are_replayed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    picture = record(
        answer(b"\x89PNG", kind="image/png"), f"WARC-Block-Digest: {sha1(b'x')}", url=url_of(9), number=9
    )
    path = written(tmp_path, page_record(1) + picture)
    Answers(path)
    place = f"{path}, byte {len(page_record(1)):,}"
    assert warnings(caplog) == [f"{place}: The bytes of {url_of(9)} do not match their SHA-1."]
