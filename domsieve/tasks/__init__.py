"""What one can do with pages: find, render, keep, learn, clean, mine, compare, weigh, report. Holds no algorithm."""

from typing import TYPE_CHECKING

from domsieve.doors import opened_on_use

if TYPE_CHECKING:
    from domsieve.archive.recording import Recording
    from domsieve.tasks.cleaning import (
        ENDINGS,
        FEW_PAGES,
        Cleaned,
        Format,
        clean,
        learn,
        metadata_of,
        written,
    )
    from domsieve.tasks.comparing import ENOUGH, Advice, ComparedPage, advise, compare, prefix_of
    from domsieve.tasks.drift import LEAST_KNOWN, RECENT_PAGES, Drift
    from domsieve.tasks.explaining import explain
    from domsieve.tasks.fetching import fetch_targets
    from domsieve.tasks.judging import keeps_text, remarks
    from domsieve.tasks.learning import fit
    from domsieve.tasks.mining import RECORD_WRITERS, RecordFormat, mine
    from domsieve.tasks.output import OUTPUT_FILE, Results
    from domsieve.tasks.pages import (
        Page,
        cached,
        fault_in,
        from_archive,
        from_file,
        from_html,
        from_record,
        keep,
        keep_pages,
        readable,
        render_pages,
        site_records,
        unscripted,
        with_selection,
    )
    from domsieve.tasks.recording import RecordedSource, add_page, is_recorded, lacks
    from domsieve.tasks.reporting import Edition, Reported, of_record, report, reported
    from domsieve.tasks.sampling import PageMarked, describe, sample
    from domsieve.tasks.sites import RAW, Placed, placed
    from domsieve.tasks.stored import read_stored
    from domsieve.tasks.targets import (
        ArchiveTarget,
        CacheTarget,
        DamagedTarget,
        Fetched,
        FileTarget,
        ListedWord,
        PipedTarget,
        Target,
        UrlTarget,
        Word,
        find_targets,
        output_name,
        site_of,
    )
    from domsieve.tasks.weighing import MATRIX_WRITERS, MatrixFormat, weigh, write_matrix
__all__ = [
    "ENDINGS",
    "ENOUGH",
    "FEW_PAGES",
    "LEAST_KNOWN",
    "MATRIX_WRITERS",
    "OUTPUT_FILE",
    "RAW",
    "RECENT_PAGES",
    "RECORD_WRITERS",
    "Advice",
    "ArchiveTarget",
    "CacheTarget",
    "Cleaned",
    "ComparedPage",
    "DamagedTarget",
    "Drift",
    "Edition",
    "Fetched",
    "FileTarget",
    "Format",
    "ListedWord",
    "MatrixFormat",
    "Page",
    "PageMarked",
    "PipedTarget",
    "Placed",
    "RecordFormat",
    "RecordedSource",
    "Recording",
    "Reported",
    "Results",
    "Target",
    "UrlTarget",
    "Word",
    "add_page",
    "advise",
    "cached",
    "clean",
    "compare",
    "describe",
    "explain",
    "fault_in",
    "fetch_targets",
    "find_targets",
    "fit",
    "from_archive",
    "from_file",
    "from_html",
    "from_record",
    "is_recorded",
    "keep",
    "keep_pages",
    "keeps_text",
    "lacks",
    "learn",
    "metadata_of",
    "mine",
    "of_record",
    "output_name",
    "placed",
    "prefix_of",
    "read_stored",
    "readable",
    "remarks",
    "render_pages",
    "report",
    "reported",
    "sample",
    "site_of",
    "site_records",
    "unscripted",
    "weigh",
    "with_selection",
    "write_matrix",
    "written",
]

_PLACES = {
    "tasks.cleaning": "ENDINGS FEW_PAGES Cleaned Format clean learn metadata_of written",
    "tasks.comparing": "ENOUGH Advice ComparedPage advise compare prefix_of",
    "tasks.drift": "LEAST_KNOWN RECENT_PAGES Drift",
    "tasks.explaining": "explain",
    "tasks.fetching": "fetch_targets",
    "tasks.judging": "keeps_text remarks",
    "tasks.learning": "fit",
    "tasks.mining": "RECORD_WRITERS RecordFormat mine",
    "tasks.output": "OUTPUT_FILE Results",
    "tasks.pages": (
        "Page cached fault_in from_archive from_file from_html from_record keep readable render_pages site_records "
        "keep_pages unscripted with_selection"
    ),
    "archive": "Recording",
    "tasks.recording": "RecordedSource add_page is_recorded lacks",
    "tasks.reporting": "Edition Reported of_record report reported",
    "tasks.sampling": "PageMarked describe sample",
    "tasks.sites": "RAW Placed placed",
    "tasks.stored": "read_stored",
    "tasks.targets": (
        "ArchiveTarget CacheTarget DamagedTarget Fetched FileTarget ListedWord PipedTarget Target UrlTarget Word"
        " find_targets output_name site_of"
    ),
    "tasks.weighing": "MATRIX_WRITERS MatrixFormat weigh write_matrix",
}

# Type checkers, which know all names from above, shall not take this for a promise of any other.
if not TYPE_CHECKING:
    __getattr__, __dir__ = opened_on_use(__name__, _PLACES)
