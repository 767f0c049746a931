"""One call each for what most users want of pages: clean, mine, compare, render. `import domsieve` shows them."""

from domsieve.library.calls import (
    clean,
    clean_async,
    compare,
    compare_async,
    records,
    records_async,
    render,
    render_async,
)
from domsieve.library.inputs import PageInput
from domsieve.library.results import CleanResult, CompareResult, RecordsResult
from domsieve.library.stored import pages

__all__ = [
    "CleanResult",
    "CompareResult",
    "PageInput",
    "RecordsResult",
    "clean",
    "clean_async",
    "compare",
    "compare_async",
    "pages",
    "records",
    "records_async",
    "render",
    "render_async",
]
