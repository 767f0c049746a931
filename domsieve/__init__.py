"""Keeps the content of web pages and drops what surrounds it.

One call each, with a twin to await: `clean` keeps the content of pages, `records` finds their lists as tables,
`compare` says what the browser makes of raw source, `render` returns the page that the browser shows. `pages` yields
those of files, folders and web archives. What lies behind them is in `domsieve.analysis`, `domsieve.renderer`,
`domsieve.snapshot` and `domsieve.tasks`.

All of it is loaded when it is first used, so that importing this takes no time.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from domsieve import analysis as analysis
    from domsieve import errors as errors
    from domsieve import renderer as renderer
    from domsieve import snapshot as snapshot
    from domsieve import tasks as tasks
    from domsieve.analysis import Metadata
    from domsieve.archive import StoredPage
    from domsieve.budget import AnalysisBudget
    from domsieve.errors import (
        BrowserError,
        BudgetError,
        DomsieveError,
        PageError,
        PolicyError,
        StorageError,
        UsageError,
    )
    from domsieve.library import (
        CleanResult,
        CompareResult,
        PageInput,
        RecordsResult,
        clean,
        clean_async,
        compare,
        compare_async,
        pages,
        records,
        records_async,
        render,
        render_async,
    )
    from domsieve.renderer import CaptureOptions, capture
    from domsieve.snapshot import Snapshot

    __version__: str

__all__ = [
    "AnalysisBudget",
    "BrowserError",
    "BudgetError",
    "CaptureOptions",
    "CleanResult",
    "CompareResult",
    "DomsieveError",
    "Metadata",
    "PageError",
    "PageInput",
    "PolicyError",
    "RecordsResult",
    "Snapshot",
    "StorageError",
    "StoredPage",
    "UsageError",
    "__version__",
    "capture",
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

_ROOMS = ("analysis", "errors", "renderer", "snapshot", "tasks")
_ELSEWHERE = {
    "AnalysisBudget": "budget",
    "BrowserError": "errors",
    "BudgetError": "errors",
    "CaptureOptions": "renderer",
    "DomsieveError": "errors",
    "Metadata": "analysis",
    "PageError": "errors",
    "PolicyError": "errors",
    "Snapshot": "snapshot",
    "StorageError": "errors",
    "StoredPage": "archive",
    "UsageError": "errors",
    "capture": "renderer",
}


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])


# Type checkers, which know all names from above, shall not take this for a promise of any other.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in _ROOMS:
            return import_module(f"domsieve.{name}")
        if name not in __all__:
            raise AttributeError(f"module 'domsieve' has no attribute {name!r}")
        if name == "__version__":
            from importlib.metadata import version

            value: object = version("domsieve")
        else:
            value = getattr(import_module(f"domsieve.{_ELSEWHERE.get(name, 'library')}"), name)
        globals()[name] = value
        return value
