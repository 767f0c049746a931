"""Read the archives in a WACZ file, which is a zip file.

Nothing is unpacked to disk, so names in the zip file never become file names.
"""

import hashlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from domsieve.archive._decompression import ArchiveLimits, InflatedSource, InflateError
from domsieve.archive._digests import Digest, digest_in
from domsieve.archive.stored_page import FileSource, Source, unreadable
from domsieve.budget import check

if TYPE_CHECKING:
    from zipfile import ZipInfo  # imported late elsewhere: rarely needed

_ENDINGS = (".warc", ".warc.gz", ".warc.zst")
_LARGEST_DIRECTORY = 5_000_000
_LOCAL_HEAD = struct.Struct("<4s22xHH")
_LOCAL_SIGN = b"PK\x03\x04"
_END_SIGN, _END_SIZE = b"PK\x05\x06", 22
_LONGEST_COMMENT = 65_535
_LARGE_END_SIGN, _LARGE_END_BEFORE = b"PK\x06\x06", 56 + 20  # zip64: end record and its locator
_ENCRYPTED = 1
_STORED, _DEFLATED = 0, 8
_AT_ONCE = 65_536
_PACKAGE, _PACKAGE_DIGEST = "datapackage.json", "datapackage-digest.json"


class ZipError(Exception):
    """A zip file, or a file in it, cannot be read; the message ends a sentence, such as "is encrypted"."""


def archives_in(path: Path, limits: ArchiveLimits) -> Iterator[tuple[str, Source | ZipError]]:
    """Yield the name of each archive in a WACZ file with its bytes, or with the error why it cannot be read.

    Parameters
    ----------
    path : the WACZ file.
    limits : limits on what is read.

    Raises
    ------
    ZipError : the file is not a sound zip file.
    TargetError : the file cannot be read.
    """
    import zipfile

    whole = FileSource.of(path)
    _check_directory(whole)
    try:
        with zipfile.ZipFile(path) as file:
            entries = file.infolist()
    except OSError as error:
        raise unreadable(path, error) from error
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error, EOFError) as error:
        raise ZipError("is not a zip file, or is damaged") from error
    found = [entry for entry in entries if entry.filename.lower().endswith(_ENDINGS)]
    if sum(entry.compress_size for entry in found) > whole.size:
        raise ZipError("has files that overlap")
    for entry in sorted(found, key=lambda entry: entry.filename):
        try:
            yield entry.filename, _source(whole, entry, limits)
        except ZipError as error:
            yield entry.filename, error


def member_of(path: Path, name: str, limits: ArchiveLimits) -> bytes:
    """Return the content of a file in a WACZ file, truncated to the maximum size of a page.

    The result is empty if there is no such file, or if it cannot be unpacked.

    Raises
    ------
    TargetError : the WACZ file cannot be read.
    """
    import zipfile

    whole = FileSource.of(path)
    held: list[bytes] = []
    size = 0
    try:
        _check_directory(whole)
        with zipfile.ZipFile(path) as file:
            source = _source(whole, file.getinfo(name), limits)
        while size < limits.page_bytes and (part := source.read_at(size, _AT_ONCE)):
            held.append(part)
            size += len(part)
    except OSError as error:
        raise unreadable(path, error) from error
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error, EOFError, KeyError):
        return b""
    except (ZipError, InflateError):
        pass
    return b"".join(held)[: limits.page_bytes]


def differing_files(path: Path, limits: ArchiveLimits) -> Iterator[str]:
    """Yield the names of the files in a WACZ file that do not match their digests; reads the whole file.

    Yields nothing for files that are not WACZ files, and for digests that cannot be parsed.

    Raises
    ------
    TargetError : the WACZ file cannot be read.
    """
    import zipfile

    if path.suffix.lower() != ".wacz":
        return
    whole = FileSource.of(path)
    package = member_of(path, _PACKAGE, limits)
    digests = _digests_in(package) | _digests_in(member_of(path, _PACKAGE_DIGEST, limits))
    try:
        _check_directory(whole)
        with zipfile.ZipFile(path) as file:
            entries = {entry.filename: entry for entry in file.infolist()}
    except OSError as error:
        raise unreadable(path, error) from error
    except (ZipError, zipfile.BadZipFile, ValueError, NotImplementedError, struct.error, EOFError):
        return
    # Bounds the work for overlapping files and for many zip bombs.
    left = whole.size
    unpacked_left = limits.unpacked_bytes(whole.size)
    for name, digest in digests.items():
        entry = entries.get(name)
        if entry is None or (left := left - entry.compress_size) < 0:
            continue
        try:
            source = _source(whole, entry, limits)
            actual, place = hashlib.new(digest.algorithm, usedforsecurity=False), 0
            while part := source.read_at(place, _AT_ONCE):
                check()
                actual.update(part)
                place += len(part)
                if (unpacked_left := unpacked_left - len(part)) < 0:
                    return
        except (ZipError, InflateError):
            continue  # reported by whoever reads the file
        if actual.digest() != digest.value:
            yield name


def _digests_in(text: bytes) -> dict[str, Digest]:
    """Return the digests in ``datapackage.json`` or ``datapackage-digest.json``, by name of the file."""
    if len(text) > _LARGEST_DIRECTORY:
        return {}
    try:
        package = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    listed = package.get("resources", [package]) if isinstance(package, dict) else []
    digests = {
        str(resource.get("path", "")): digest_in(str(resource.get("hash", "")))
        for resource in (listed if isinstance(listed, list) else [])
        if isinstance(resource, dict)
    }
    return {name: digest for name, digest in digests.items() if digest}


def _check_directory(whole: FileSource) -> None:
    """Raise `ZipError` for a file whose directory is too large for memory."""
    most = _LARGE_END_BEFORE + _END_SIZE + _LONGEST_COMMENT
    tail = whole.read_at(max(whole.size - most, 0), most)
    found = tail.rfind(_END_SIGN)
    if found < 0 or len(tail) - found < _END_SIZE:
        raise ZipError("is not a zip file, or is damaged")
    size = int.from_bytes(tail[found + 12 : found + 16], "little")
    large = tail[max(found - _LARGE_END_BEFORE, 0) : found]
    if large.startswith(_LARGE_END_SIGN):
        size = int.from_bytes(large[40:48], "little")
    if size > _LARGEST_DIRECTORY:
        raise ZipError("lists more files than any archive contains")


def _source(whole: FileSource, entry: "ZipInfo", limits: ArchiveLimits) -> Source:
    """Return the bytes of an entry; sizes in the local header are not trusted."""
    head = whole.read_at(entry.header_offset, _LOCAL_HEAD.size) if entry.header_offset >= 0 else b""
    if len(head) < _LOCAL_HEAD.size or not head.startswith(_LOCAL_SIGN):
        raise ZipError("is not where the zip file says")
    _, name, extra = _LOCAL_HEAD.unpack(head)
    start = entry.header_offset + _LOCAL_HEAD.size + name + extra
    packed = FileSource(whole.path, start, max(min(entry.compress_size, whole.size - start), 0))
    if entry.flag_bits & _ENCRYPTED:
        raise ZipError("is encrypted")
    if entry.compress_type == _STORED:
        return packed
    if entry.compress_type == _DEFLATED:
        return InflatedSource(packed, limits)
    raise ZipError("is compressed with an unsupported method")
