"""Packed pages as bytes: web archives (WARC, WACZ), compressed files, bodies of HTTP."""

from typing import TYPE_CHECKING

from domsieve.doors import opened_on_use

if TYPE_CHECKING:
    from domsieve.archive.answers import ANY_PAGE, Answer, Answers, ArchivedPage, Turns
    from domsieve.archive.exchange import Exchange, Fields, Outcome, Recorded
    from domsieve.archive.limits import USUAL_LIMITS, ArchiveLimits
    from domsieve.archive.packed import PACKED_SUFFIXES, unpacked
    from domsieve.archive.reading import read_archive
    from domsieve.archive.recording import Recording
    from domsieve.archive.stored_page import (
        ARCHIVE_SUFFIXES,
        Body,
        DamagedPart,
        StoredPage,
        archives_below,
        is_archive,
    )
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

_PLACES = {
    "archive.answers": "ANY_PAGE Answer Answers ArchivedPage Turns",
    "archive.exchange": "Exchange Fields Outcome Recorded",
    "archive.limits": "USUAL_LIMITS ArchiveLimits",
    "archive.packed": "PACKED_SUFFIXES unpacked",
    "archive.reading": "read_archive",
    "archive.recording": "Recording",
    "archive.stored_page": "ARCHIVE_SUFFIXES Body DamagedPart StoredPage archives_below is_archive",
}

# Type checkers, which know all names from above, shall not take this for a promise of any other.
if not TYPE_CHECKING:
    __getattr__, __dir__ = opened_on_use(__name__, _PLACES)
