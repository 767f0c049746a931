"""Digests that archives give of their own bytes, compared with the bytes that are there.

What differs is used all the same: it may be damaged, changed, or written by a program that digests something else.
So it is told, and nothing more. Imports heads of records and of HTTP.
"""

import base64
import binascii
import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from domsieve.archive.http_exchange import dechunked, head_of

logger = logging.getLogger("domsieve")

_SIZES = {"sha1": 20, "sha256": 32}
_NAMES = {"sha1": "SHA-1", "sha256": "SHA-256"}
_TOLD = 20
_LONGEST = 200


class Digest(NamedTuple):
    """What bytes are said to digest to.

    Parameters
    ----------
    algorithm : ``"sha1"`` or ``"sha256"``.
    value : the digest.
    """

    algorithm: str
    value: bytes

    @property
    def name(self) -> str:
        """The algorithm as people write it."""
        return _NAMES[self.algorithm]


def digest_in(text: str) -> Digest | None:
    """Return a digest as archives write it, ``sha1:`` or ``sha256:`` and base 32, 16 or 64; None for any other."""
    name, _, value = text[:_LONGEST].strip().partition(":")
    algorithm = name.lower().replace("-", "")
    size = _SIZES.get(algorithm, 0)
    bits, value = 8 * size, value.rstrip("=")
    try:
        if size and len(value) == 2 * size:
            return Digest(algorithm, bytes.fromhex(value))
        if size and len(value) == -(-bits // 5):
            return Digest(algorithm, base64.b32decode(value.upper() + "=" * (-len(value) % 8)))
        if size and len(value) == -(-bits // 6):
            return Digest(
                algorithm, base64.urlsafe_b64decode(value.replace("+", "-").replace("/", "_") + "=")
            )
    except (ValueError, binascii.Error):
        pass
    return None


class DigestCheck:
    """Compares the content of a record with its digest while it is read.

    Parameters
    ----------
    said : the digest.
    skip : bytes of the content that are not digested.
    held_bytes : of a content that may have been digested without its chunks, what is held for that at most; 0 for any
        other.
    """

    def __init__(self, said: Digest, *, skip: int = 0, held_bytes: int = 0) -> None:
        self.said = said
        self._digest = hashlib.new(said.algorithm, usedforsecurity=False)
        self._skip, self._most = skip, held_bytes
        self._held: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        """Take the next bytes."""
        if self._skip:
            part, self._skip = part[self._skip :], max(self._skip - len(part), 0)
        self._digest.update(part)
        if self._most:
            self._size += len(part)
            if self._size <= self._most:
                self._held.append(part)

    def differs(self) -> bool:
        """Return whether the bytes are others than those that were digested."""
        if self._digest.digest() == self.said.value:
            return False
        if not self._most:
            return True
        if self._size > self._most:
            return False  # nobody knows
        plain, cuts = dechunked(b"".join(self._held))
        return (
            bool(cuts)
            or hashlib.new(self.said.algorithm, plain, usedforsecurity=False).digest() != self.said.value
        )


def check_of(
    kind: str, headers: Mapping[str, str], beginning: bytes, *, most_bytes: int
) -> DigestCheck | None:
    """Return what compares a record with its digest; None where it has none that says something of its bytes.

    The digest of the whole record counts. Without one, that of the payload does, with or without chunks, for programs
    do not agree whether they belong to it.

    Parameters
    ----------
    kind, headers, beginning : of the record.
    most_bytes : of a page.
    """
    if whole := digest_in(headers.get("warc-block-digest", "")):
        return DigestCheck(whole)
    payload = digest_in(headers.get("warc-payload-digest", ""))
    if not payload or kind == "revisit" or {"warc-truncated", "warc-segment-number"} & headers.keys():
        return None
    if kind == "resource":
        return DigestCheck(payload)
    head = head_of(beginning)
    if head is None:
        return None
    is_chunked = "chunked" in head.headers.get("transfer-encoding", "").lower()
    return DigestCheck(payload, skip=head.end, held_bytes=most_bytes if is_chunked else 0)


class Differing:
    """Tells what of an archive differs from its digests, the first few one by one.

    Parameters
    ----------
    path : the archive.

    Attributes
    ----------
    records : how many records do.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.records = 0

    def tell(self, place: str, url: str, digest: str) -> None:
        """Tell of a record."""
        self.records += 1
        if self.records <= _TOLD:
            logger.warning("%s, %s: The bytes of %s do not match their %s.", self._path, place, url, digest)

    def tell_file(self, name: str) -> None:
        """Tell of a file in a WACZ file."""
        said = "%s, %s: Its bytes do not match the digest in the WACZ file."
        logger.warning(said, self._path, name)

    def end(self) -> None:
        """Tell how many were not told one by one."""
        if self.records > _TOLD:
            logger.warning("%s: %d further records do not match.", self._path, self.records - _TOLD)
