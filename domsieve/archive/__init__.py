"""Packed pages as bytes: web archives (WARC, WACZ), compressed files, bodies of HTTP."""

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

__all__ = [
    "ARCHIVE_SUFFIXES",
    "PACKED_SUFFIXES",
    "USUAL_LIMITS",
    "ArchiveLimits",
    "Body",
    "DamagedPart",
    "StoredPage",
    "archives_below",
    "is_archive",
    "read_archive",
    "unpacked",
]
