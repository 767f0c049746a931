"""Compare records and files of an archive with the digests that the archive gives.

A record that differs is reported but still used: it may be damaged or changed, but some programs also write digests
of something else.
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
_MAX_WARNINGS = 20
_LONGEST = 200


class Digest(NamedTuple):
    """A digest and its algorithm.

    Parameters
    ----------
    algorithm : ``"sha1"`` or ``"sha256"``.
    value : the digest, 20 or 32 bytes.
    """

    algorithm: str
    value: bytes

    @property
    def name(self) -> str:
        """Name of the algorithm for messages, such as ``"SHA-1"``."""
        return _NAMES[self.algorithm]


def digest_in(text: str) -> Digest | None:
    """Parse a digest such as ``sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ``; return None if that is not possible.

    The algorithm is SHA-1 or SHA-256, the value in base 16, 32 or 64.
    """
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
    said : the digest that the record gives.
    skip : number of bytes at the start of the content that are not part of the digest.
    held_bytes : bytes of a chunked body to hold at most, because some programs digest it without its chunk sizes; 0
        for bodies that are not chunked.
    """

    def __init__(self, said: Digest, *, skip: int = 0, held_bytes: int = 0) -> None:
        self.said = said
        self._digest = hashlib.new(said.algorithm, usedforsecurity=False)
        self._skip, self._most = skip, held_bytes
        self._held: list[bytes] = []
        self._size = 0

    def add(self, part: bytes) -> None:
        """Add the next bytes of the content."""
        if self._skip:
            part, self._skip = part[self._skip :], max(self._skip - len(part), 0)
        self._digest.update(part)
        if self._most:
            self._size += len(part)
            if self._size <= self._most:
                self._held.append(part)

    def differs(self) -> bool:
        """Return whether the content does not match the digest; False if that cannot be decided."""
        if self._digest.digest() == self.said.value:
            return False
        if not self._most:
            return True
        if self._size > self._most:
            return False  # too large to try without its chunk sizes
        plain, cuts = dechunked(b"".join(self._held))
        return (
            bool(cuts)
            or hashlib.new(self.said.algorithm, plain, usedforsecurity=False).digest() != self.said.value
        )


def check_of(
    kind: str, headers: Mapping[str, str], beginning: bytes, *, most_bytes: int
) -> DigestCheck | None:
    """Return the check for the digest of a record, or None if it has no digest that can be compared.

    The digest of the whole block is preferred. The digest of the payload is compared with the body both with and
    without chunk sizes, because programs do not agree on which of them to digest.

    Parameters
    ----------
    kind, headers, beginning : of the record, see `RecordHead`.
    most_bytes : size of a chunked body that is held in memory at most.
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
    """Logs a warning for each record or file that differs from its digest; after 20 records it only counts.

    Parameters
    ----------
    path : the archive.

    Attributes
    ----------
    records : number of records that differ.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.records = 0

    def tell(self, place: str, url: str, digest: str) -> None:
        """Report a record.

        Parameters
        ----------
        place : where the record is in the archive.
        url : its address.
        digest : name of the algorithm.
        """
        self.records += 1
        if self.records <= _MAX_WARNINGS:
            logger.warning("%s, %s: The bytes of %s do not match their %s.", self._path, place, url, digest)

    def tell_file(self, name: str) -> None:
        """Report a file in a WACZ file."""
        logger.warning("%s, %s: Its bytes do not match the digest in the WACZ file.", self._path, name)

    def end(self) -> None:
        """Report the number of records that were only counted."""
        if self.records > _MAX_WARNINGS:
            logger.warning("%s: %d further records do not match.", self._path, self.records - _MAX_WARNINGS)
