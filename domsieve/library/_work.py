"""Clean, mine and compare pages that have been fetched, with results in the order of the pages."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, get_args

from domsieve.analysis.block_types.detection import KindChoice
from domsieve.analysis.estimator import Estimator
from domsieve.analysis.model_file import load_model
from domsieve.analysis.registry import METHODS, Method, MethodEntry, MethodParams, MiningMethod
from domsieve.analysis.selection.selection import Selection
from domsieve.analysis.site_model import SiteModel
from domsieve.budget import budgeted
from domsieve.errors import DomsieveError, UsageError
from domsieve.library._checks import check_choice, path_of
from domsieve.library._fetch_options import Captured, FetchOptions
from domsieve.library.inputs import Source
from domsieve.library.results import CleanResult, CompareResult, RecordsResult
from domsieve.snapshot.fault import check_fault
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.page_cleaning import clean
from domsieve.tasks.page_comparison import compare
from domsieve.tasks.pages import Page, known_pages, site_records, with_selection
from domsieve.tasks.record_mining import mine
from domsieve.tasks.site_models import SiteModels, clean_by_site, models_in
from domsieve.tasks.sites import RAW
from domsieve.types import FieldName, HiddenText


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaning:
    """How pages are cleaned; see `domsieve.tasks.page_cleaning.clean`."""

    method: Method | None
    params: MethodParams
    model: SiteModel[Any] | None
    models: SiteModels | None
    hidden: HiddenText
    kinds: KindChoice
    alone: bool
    selection: Selection | None

    @classmethod
    def checked(
        cls,
        *,
        method: Any,
        model: Any,
        models: Any,
        hidden: Any,
        keep_kinds: Any,
        drop_kinds: Any,
        alone: bool,
        selection: Selection | None,
    ) -> "Cleaning":
        """Return the options for checked parameters.

        Raises
        ------
        UsageError : a parameter is wrong, or does not apply to the method.
        StorageError : the file of the model, or the folder of models, cannot be used.
        """
        name, params = (None, None) if method is None else method_of(method, METHODS)
        check_choice("hidden", hidden, get_args(HiddenText))
        kinds = KindChoice.of(keep_kinds, drop_kinds)
        if isinstance(model, SiteModel):
            model = copy(model)  # a copy, because cleaning sets parameters
        elif model is not None:
            model = load_model(path_of("model", model))
        if models is not None and (model is not None or alone):
            raise UsageError(
                f"models cannot be given together with {'alone' if model is None else 'model'}.",
                parameter="models",
            )
        return cls(
            method=name,
            params=params or MethodParams(),
            model=model,
            models=None if models is None else models_in(path_of("models", models)),
            hidden=hidden,
            kinds=kinds,
            alone=alone,
            selection=selection,
        )


def method_of(method: Any, known: Mapping[Any, MethodEntry[Any]]) -> tuple[Any, MethodParams | None]:
    """Return the name of a method, and its parameters if the caller gave an estimator.

    Raises
    ------
    UsageError : it is neither the name nor an estimator of one of these methods, or a parameter is wrong.
    """
    if (
        isinstance(method, Estimator)
        and method.name in known
        and type(method) is known[method.name].estimator
    ):
        method.check()
        return method.name, MethodParams.of(method)
    check_choice("method", method, known)
    return method, None


def cleaned(
    sources: Sequence[Source], outcomes: Mapping[str, Captured], fetching: FetchOptions, cleaning: Cleaning
) -> list[CleanResult]:
    """Return the content of each page; other cached pages of the site are learned from."""
    with fetching.store() as store, budgeted(fetching.network.analysis_budget):

        def siblings(site: str) -> list[Page]:
            if store is None:
                return []
            known = known_pages(site, store, fetching.options)
            return [with_selection(page, cleaning.selection) for page in known]

        pages, faults = readable_pages(sources, outcomes, store, fetching, cleaning.selection)
        found: dict[int, CleanResult] = {
            number: CleanResult(sources[number].label, fault) for number, fault in faults.items()
        }
        cleaner = partial(
            clean,
            method=cleaning.method,
            params=cleaning.params,
            hidden=cleaning.hidden,
            kinds=cleaning.kinds,
            siblings=siblings,
        )
        results = (
            clean_by_site(pages, cleaning.models, cleaner, method=cleaning.method)
            if cleaning.models
            else cleaner(pages, model=cleaning.model, alone=cleaning.alone)
        )
        for page, result in results:
            found[int(page.name)] = CleanResult(page.label, result, meter=page.meter)
    return [found[number] for number in range(len(sources))]


def mined(
    sources: Sequence[Source],
    outcomes: Mapping[str, Captured],
    fetching: FetchOptions,
    *,
    method: MiningMethod,
    params: MethodParams,
    fields: Sequence[FieldName],
    selection: Selection | None,
) -> list[RecordsResult]:
    """Return the records of each page."""
    with fetching.store() as store, budgeted(fetching.network.analysis_budget):
        pages, faults = readable_pages(sources, outcomes, store, fetching, selection)
        found: dict[int, RecordsResult] = {
            number: RecordsResult(sources[number].label, fault) for number, fault in faults.items()
        }
        for page, result in mine(pages, method=method, params=params, fields=fields):
            number = int(page.name)
            if isinstance(result, DomsieveError):
                found[number] = RecordsResult(page.label, result)
            else:
                found[number] = RecordsResult(page.label, (page.load(), result), meter=page.meter)
    return [found[number] for number in range(len(sources))]


def compared(
    urls: Sequence[str],
    outcomes: Mapping[str, PageRecord | DomsieveError],
    store: PageStore,
    fetching: FetchOptions,
    loads: Mapping[str, PageRecord],
) -> list[CompareResult]:
    """Return the comparison of each stored page, also with a second load of it if there is one."""
    records = [outcome for outcome in outcomes.values() if isinstance(outcome, PageRecord)]
    with budgeted(fetching.network.analysis_budget):
        pages = [
            *compare(
                records,
                store,
                siblings=lambda site: site_records(site, store, fetching.options),
                keep_errors=fetching.network.keep_errors,
                loads=loads,
            )
        ]
    sites: dict[str, list[Any]] = {}
    for page in pages:
        if not isinstance(page.result, DomsieveError):
            sites.setdefault(page.record.site, []).append((page.record.url, page.result))
    found = {
        url: CompareResult(url, fault) for url, fault in outcomes.items() if isinstance(fault, DomsieveError)
    }
    for page in pages:
        url = page.record.url
        found[url] = CompareResult(url, page.result, site=sites.get(page.record.site, ()))
    return [found[url] for url in urls]


def snapshot_of(outcome: Captured, fetching: FetchOptions) -> Snapshot:
    """Return a page that was fetched; raise its error if it failed or counts as failed."""
    with fetching.store() as store:
        page = _loader(outcome, store)()
    return page if fetching.network.keep_errors else check_fault(page)


def readable_pages(
    sources: Sequence[Source],
    outcomes: Mapping[str, Captured],
    store: PageStore | None,
    fetching: FetchOptions,
    selection: Selection | None,
) -> tuple[list[Page], dict[int, DomsieveError]]:
    """Return the pages that can be read, each named by its number, and the errors of the others."""
    pages: list[Page] = []
    faults: dict[int, DomsieveError] = {}
    for number, source in enumerate(sources):
        outcome = None if source.load else outcomes.get(source.label)
        if source.fault:
            faults[number] = source.fault
        elif isinstance(outcome, DomsieveError):
            faults[number] = outcome
        else:
            load = source.load or _loader(outcomes[source.label], store)
            site, keys = source.site, source.keys
            if _is_fetched(outcome):
                # Raw pages are never learned from together with rendered ones.
                site, keys = f"{site} {RAW}", (f"raw {source.label}",)
            page = Page(source.label, str(number), site, load, fetching.network.keep_errors, keys)
            pages.append(with_selection(page, selection))
    return pages, faults


def _is_fetched(outcome: Captured | None) -> bool:
    """Return whether a page was fetched and not rendered."""
    if isinstance(outcome, PageRecord):
        return outcome.producer == "raw"
    return isinstance(outcome, Snapshot) and not outcome.has_layout


def _loader(outcome: Captured, store: PageStore | None) -> Callable[[], Snapshot]:
    @cache
    def load() -> Snapshot:
        if isinstance(outcome, DomsieveError):
            raise outcome
        if isinstance(outcome, Snapshot):
            return outcome
        assert store
        return store.get(outcome.page_id)

    return load
