"""Keep the content of web pages and drop what surrounds it.

`clean` keeps the content of pages, `records` finds their lists as tables, `learn_fields` and `fields` find what two
or three examples show, `compare` shows what the browser adds to the raw source, `render` returns the page that a
browser shows, `site` visits the pages of a site, and `pages` reads files, folders and web archives.
Each call has an async twin.

Importing domsieve is quick: each name is loaded when it is first used.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from domsieve.analysis.auto.cleaner import AutoCleaner as AutoCleaner
    from domsieve.analysis.cleaning.entropy import EntropyFilter as EntropyFilter
    from domsieve.analysis.cleaning.template import TemplateFilter as TemplateFilter
    from domsieve.analysis.cleaning.tps import TagPathFilter as TagPathFilter
    from domsieve.analysis.fields.fields_model import FieldsModel as FieldsModel
    from domsieve.analysis.fields.fields_model import load_fields_model as load_fields_model
    from domsieve.analysis.fields.fields_model import save_fields_model as save_fields_model
    from domsieve.analysis.metadata.values import Metadata as Metadata
    from domsieve.analysis.model_file import load_model as load_model
    from domsieve.analysis.model_file import save_model as save_model
    from domsieve.analysis.records.iepad import RepeatedPatterns as RepeatedPatterns
    from domsieve.analysis.records.mdr import DataRegionMiner as DataRegionMiner
    from domsieve.analysis.records.wobm import WebObjectBlocks as WebObjectBlocks
    from domsieve.analysis.trees.cst import CompressedStructureTree as CompressedStructureTree
    from domsieve.analysis.trees.sst import SiteStyleTree as SiteStyleTree
    from domsieve.archive.stored_page import StoredPage as StoredPage
    from domsieve.budget import AnalysisBudget as AnalysisBudget
    from domsieve.errors import BrowserError as BrowserError
    from domsieve.errors import BudgetError as BudgetError
    from domsieve.errors import DomsieveError as DomsieveError
    from domsieve.errors import PageError as PageError
    from domsieve.errors import PolicyError as PolicyError
    from domsieve.errors import StorageError as StorageError
    from domsieve.errors import UsageError as UsageError
    from domsieve.library.calls import clean as clean
    from domsieve.library.calls import clean_async as clean_async
    from domsieve.library.calls import compare as compare
    from domsieve.library.calls import compare_async as compare_async
    from domsieve.library.calls import records as records
    from domsieve.library.calls import records_async as records_async
    from domsieve.library.calls import render as render
    from domsieve.library.calls import render_async as render_async
    from domsieve.library.field_calls import fields as fields
    from domsieve.library.field_calls import fields_async as fields_async
    from domsieve.library.field_calls import learn_fields as learn_fields
    from domsieve.library.field_calls import learn_fields_async as learn_fields_async
    from domsieve.library.field_results import FieldsResult as FieldsResult
    from domsieve.library.inputs import PageInput as PageInput
    from domsieve.library.inputs import pages as pages
    from domsieve.library.results import CleanResult as CleanResult
    from domsieve.library.results import CompareResult as CompareResult
    from domsieve.library.results import RecordsResult as RecordsResult
    from domsieve.library.results import to_pandas as to_pandas
    from domsieve.library.sampling import site as site
    from domsieve.library.sampling import site_async as site_async
    from domsieve.library.site_results import SiteProgress as SiteProgress
    from domsieve.library.site_results import SiteResult as SiteResult
    from domsieve.library.syncing import sync as sync
    from domsieve.library.syncing import sync_async as sync_async
    from domsieve.options import CaptureOptions as CaptureOptions
    from domsieve.options import NetworkOptions as NetworkOptions
    from domsieve.renderer.page.from_playwright import capture as capture
    from domsieve.snapshot.page import Snapshot as Snapshot
    from domsieve.snapshot.store import PageStore as PageStore
    from domsieve.tasks.site_sync.values import SyncResult as SyncResult

    __version__: str

_MODULE_OF = {
    "AnalysisBudget": "budget",
    "AutoCleaner": "analysis.auto.cleaner",
    "BrowserError": "errors",
    "BudgetError": "errors",
    "CaptureOptions": "options",
    "CleanResult": "library.results",
    "CompareResult": "library.results",
    "CompressedStructureTree": "analysis.trees.cst",
    "DataRegionMiner": "analysis.records.mdr",
    "DomsieveError": "errors",
    "EntropyFilter": "analysis.cleaning.entropy",
    "FieldsModel": "analysis.fields.fields_model",
    "FieldsResult": "library.field_results",
    "Metadata": "analysis.metadata.values",
    "NetworkOptions": "options",
    "PageError": "errors",
    "PageInput": "library.inputs",
    "PageStore": "snapshot.store",
    "PolicyError": "errors",
    "RecordsResult": "library.results",
    "RepeatedPatterns": "analysis.records.iepad",
    "SiteProgress": "library.site_results",
    "SiteResult": "library.site_results",
    "SiteStyleTree": "analysis.trees.sst",
    "Snapshot": "snapshot.page",
    "StorageError": "errors",
    "StoredPage": "archive.stored_page",
    "SyncResult": "tasks.site_sync.values",
    "TagPathFilter": "analysis.cleaning.tps",
    "TemplateFilter": "analysis.cleaning.template",
    "UsageError": "errors",
    "WebObjectBlocks": "analysis.records.wobm",
    "capture": "renderer.page.from_playwright",
    "clean": "library.calls",
    "clean_async": "library.calls",
    "compare": "library.calls",
    "compare_async": "library.calls",
    "fields": "library.field_calls",
    "fields_async": "library.field_calls",
    "learn_fields": "library.field_calls",
    "learn_fields_async": "library.field_calls",
    "load_fields_model": "analysis.fields.fields_model",
    "load_model": "analysis.model_file",
    "pages": "library.inputs",
    "records": "library.calls",
    "records_async": "library.calls",
    "render": "library.calls",
    "render_async": "library.calls",
    "save_fields_model": "analysis.fields.fields_model",
    "save_model": "analysis.model_file",
    "site": "library.sampling",
    "site_async": "library.sampling",
    "sync": "library.syncing",
    "sync_async": "library.syncing",
    "to_pandas": "library.results",
}
__all__ = [  # noqa: PLE0604 (names of the map, which a test compares with the imports above)
    "__version__",
    *_MODULE_OF,
]


def __dir__() -> list[str]:
    return sorted(__all__)


# Type checkers know the names from the imports above; they must not take this for a promise of any other.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            value: object = version("domsieve")
        elif name in _MODULE_OF:
            from importlib import import_module

            value = getattr(import_module(f"domsieve.{_MODULE_OF[name]}"), name)
        else:
            raise AttributeError(f"module 'domsieve' has no attribute {name!r}")
        globals()[name] = value
        return value
