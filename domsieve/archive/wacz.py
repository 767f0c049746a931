"""The archives in a WACZ file, which is a zip file: where each of them lies.

Nothing is unpacked to disk, so that names in the zip file name nothing outside. Imports digests, the budget and the
errors of the project.
"""

import hashlib
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from domsieve.archive.decompression import ArchiveLimits, InflatedSource, InflateError
from domsieve.archive.digests import Digest, digest_in
from domsieve.archive.stored_page import FileSource, Source, unreadable
from domsieve.budget import check

if TYPE_CHECKING:
    from zipfile import ZipInfo  # loaded by those who read such files

_ENDINGS = (".warc", ".warc.gz", ".warc.zst")
_LARGEST_DIRECTORY = 5_000_000
_LOCAL_HEAD = struct.Struct("<4s22xHH")
_LOCAL_SIGN = b"PK\x03\x04"
_END_SIGN, _END_SIZE = b"PK\x05\x06", 22
_LONGEST_COMMENT = 65_535
_LARGE_END_SIGN, _LARGE_END_BEFORE = b"PK\x06\x06", 56 + 20  # that of zip files beyond 4 GB, and its locator
_ENCRYPTED = 1
_STORED, _DEFLATED = 0, 8
_AT_ONCE = 65_536
_PACKAGE, _PACKAGE_DIGEST = "datapackage.json", "datapackage-digest.json"


class ZipError(Exception):
    """A zip file, or an entry of it, that cannot be read; the text ends a sentence."""


def archives_in(path: Path, limits: ArchiveLimits) -> Iterator[tuple[str, Source | ZipError]]:
    """Yield the name of each archive in a WACZ file with its bytes, or with why there are none.

    Raises
    ------
    ZipError : it is no zip file.
    TargetError : it cannot be read.
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
    """Return a file of a WACZ file, as far as a page may be long; empty where there is none that can be read.

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
    """Yield the names of the files in a WACZ file that do not match the digests in it; all are read for that.

    Nothing comes of what is no WACZ file, and of digests that cannot be read.

    Raises
    ------
    TargetError : the file cannot be read.
    """
    import zipfile

    if path.suffix.lower() != ".wacz":
        return
    whole = FileSource.of(path)
    package = member_of(path, _PACKAGE, limits)
    said = _digests_in(package) | _digests_in(member_of(path, _PACKAGE_DIGEST, limits))
    try:
        _check_directory(whole)
        with zipfile.ZipFile(path) as file:
            entries = {entry.filename: entry for entry in file.infolist()}
    except OSError as error:
        raise unreadable(path, error) from error
    except (ZipError, zipfile.BadZipFile, ValueError, NotImplementedError, struct.error, EOFError):
        return
    # Files that lie in each other are not read over and over, and bombs not one after another.
    left = whole.size
    unpacked_left = limits.unpacked_bytes(whole.size)
    for name, digest in said.items():
        entry = entries.get(name)
        if entry is None or (left := left - entry.compress_size) < 0:
            continue
        try:
            source = _source(whole, entry, limits)
            found, place = hashlib.new(digest.algorithm, usedforsecurity=False), 0
            while part := source.read_at(place, _AT_ONCE):
                check()
                found.update(part)
                place += len(part)
                if (unpacked_left := unpacked_left - len(part)) < 0:
                    return
        except (ZipError, InflateError):
            continue  # told where it is read
        if found.digest() != digest.value:
            yield name


def _digests_in(text: bytes) -> dict[str, Digest]:
    """Return the digests that a file of a package gives, by the names of the files that they are of."""
    if len(text) > _LARGEST_DIRECTORY:
        return {}
    try:
        package = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    listed = package.get("resources", [package]) if isinstance(package, dict) else []
    found = {
        str(one.get("path", "")): digest_in(str(one.get("hash", "")))
        for one in (listed if isinstance(listed, list) else [])
        if isinstance(one, dict)
    }
    return {name: digest for name, digest in found.items() if digest}


def _check_directory(whole: FileSource) -> None:
    """Refuse a file whose list of entries would fill the memory."""
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
        raise ZipError("lists more files than any archive holds")


def _source(whole: FileSource, entry: "ZipInfo", limits: ArchiveLimits) -> Source:
    """Return the bytes of an entry, which the directory alone describes."""
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
    raise ZipError("is compressed in a way that is not read")
