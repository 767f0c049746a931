"""What the command line and the service do with pages: find, render, keep, learn, clean. Holds no algorithm."""

from service._cleaning import ENDINGS, FEWEST_PAGES, WRITERS, Cleaned, Format, Method, clean, learn
from service._output import Results
from service._pages import Page, cached, from_record, keep, readable, render_pages, site_records, wanted_urls
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

__all__ = [
    "ENDINGS",
    "FEWEST_PAGES",
    "WRITERS",
    "CacheTarget",
    "Cleaned",
    "FileTarget",
    "Format",
    "Method",
    "Page",
    "Results",
    "Target",
    "UrlTarget",
    "cached",
    "clean",
    "describe",
    "find_targets",
    "from_record",
    "keep",
    "learn",
    "output_name",
    "readable",
    "render_pages",
    "sample",
    "site_of",
    "site_records",
    "wanted_urls",
]
