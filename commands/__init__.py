"""The commands of the command line: parse, call, print. What they do with pages is the service's business."""

from commands._cache import cache_list, cache_remove, cache_show, cache_verify, doctor
from commands._cleaning import clean, learn
from commands._comparing import compare
from commands._evaluating import evaluate
from commands._mining import records
from commands._pages import render, site
from commands._reporting import report
from commands._serving import serve
from commands._weighing import weigh

__all__ = [
    "cache_list",
    "cache_remove",
    "cache_show",
    "cache_verify",
    "clean",
    "compare",
    "doctor",
    "evaluate",
    "learn",
    "records",
    "render",
    "report",
    "serve",
    "site",
    "weigh",
]
