"""Packed pages as bytes: web archives (WARC, WACZ), compressed files, bodies of HTTP."""

from domsieve.archive.exchange import Exchange, Recorded
from domsieve.archive.limits import USUAL_LIMITS, ArchiveLimits
from domsieve.archive.packed import PACKED_SUFFIXES, unpacked
from domsieve.archive.reading import (
    ARCHIVE_SUFFIXES,
    Body,
    DamagedPart,
    StoredPage,
    archives_below,
    is_archive,
    read_archive,
)
from domsieve.archive.recording import Recording

__all__ = [
    "ARCHIVE_SUFFIXES",
    "PACKED_SUFFIXES",
    "USUAL_LIMITS",
    "ArchiveLimits",
    "Body",
    "DamagedPart",
    "Exchange",
    "Recorded",
    "Recording",
    "StoredPage",
    "archives_below",
    "is_archive",
    "read_archive",
    "unpacked",
]
