"""Packed pages as bytes: web archives (WARC, WACZ), compressed files, bodies of HTTP."""

from domsieve.archive.answers import ANY_PAGE, Answer, Answers, ArchivedPage, Turns
from domsieve.archive.exchange import Exchange, Fields, Outcome, Recorded
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
    "ANY_PAGE",
    "ARCHIVE_SUFFIXES",
    "PACKED_SUFFIXES",
    "USUAL_LIMITS",
    "Answer",
    "Answers",
    "ArchiveLimits",
    "ArchivedPage",
    "Body",
    "DamagedPart",
    "Exchange",
    "Fields",
    "Outcome",
    "Recorded",
    "Recording",
    "StoredPage",
    "Turns",
    "archives_below",
    "is_archive",
    "read_archive",
    "unpacked",
]
