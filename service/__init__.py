"""What the command line and the service do with pages: find, render, keep, learn, clean. Holds no algorithm."""

from service._cleaning import ENDINGS, WRITERS, Cleaned, Format, clean, learn
from service._comparing import ENOUGH, Advice, ComparedPage, advise, compare, prefix_of
from service._explaining import explain
from service._methods import FEWEST_PAGES, PAGE_METHODS, SITE_METHODS, Method
from service._mining import MINERS, RECORD_WRITERS, MiningMethod, RecordFormat, mine
from service._output import Results, write_file
from service._pages import (
    Page,
    cached,
    from_record,
    keep,
    readable,
    render_pages,
    site_records,
    unscripted,
    wanted_urls,
)
from service._reporting import Edition, Reported, of_record, report, reported
from service._sampling import describe, sample
from service._targets import (
    CacheTarget,
    FileTarget,
    Target,
    UrlTarget,
    find_targets,
    output_name,
    site_of,
)
from service._weighing import MATRIX_WRITERS, MatrixFormat, weigh, write_matrix

__all__ = [
    "ENDINGS",
    "ENOUGH",
    "FEWEST_PAGES",
    "MATRIX_WRITERS",
    "MINERS",
    "PAGE_METHODS",
    "RECORD_WRITERS",
    "SITE_METHODS",
    "WRITERS",
    "Advice",
    "CacheTarget",
    "Cleaned",
    "ComparedPage",
    "Edition",
    "FileTarget",
    "Format",
    "MatrixFormat",
    "Method",
    "MiningMethod",
    "Page",
    "RecordFormat",
    "Reported",
    "Results",
    "Target",
    "UrlTarget",
    "advise",
    "cached",
    "clean",
    "compare",
    "describe",
    "explain",
    "find_targets",
    "from_record",
    "keep",
    "learn",
    "mine",
    "of_record",
    "output_name",
    "prefix_of",
    "readable",
    "render_pages",
    "report",
    "reported",
    "sample",
    "site_of",
    "site_records",
    "unscripted",
    "wanted_urls",
    "weigh",
    "write_file",
    "write_matrix",
]
