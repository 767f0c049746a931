"""The calls for fields: learn them from example pages, and read them from others; each with an async twin."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Unpack, overload

from domsieve.analysis.fields.examples import Example, check_examples, example_of
from domsieve.analysis.fields.fields_model import FieldsModel, load_fields_model
from domsieve.budget import budgeted
from domsieve.declaration import wrong
from domsieve.errors import DomsieveError
from domsieve.library._checks import path_of, selection_of
from domsieve.library._fetch_options import Captured, FetchOptions
from domsieve.library._running import PagesCall, in_thread, run_coroutine
from domsieve.library._work import readable_pages
from domsieve.library.field_results import FieldsResult
from domsieve.library.inputs import PageInput, Source, is_list, sources_of
from domsieve.library.parameters import (
    FetchKeywords,
    FieldsKeywords,
    LearnFieldsKeywords,
    given,
    takes,
)
from domsieve.tasks.field_extraction import extract_fields, learn_from
from domsieve.tasks.pages import Page

FieldsExample = tuple[PageInput, Mapping[str, Any] | Sequence[Mapping[str, Any]]] | Mapping[str, Any]
"""An example: a page with the values of its fields, or with those of each record; or a line of an example file."""

_HOW = (
    'give pairs of a page and its fields, such as (page, {"title": "…"}), or dicts with "url" or "file" and with '
    '"fields" or "records"'
)


@takes(LearnFieldsKeywords)
def learn_fields(examples: Iterable[FieldsExample], **how: Unpack[LearnFieldsKeywords]) -> FieldsModel:
    """Learn the fields of a site from one to three example pages, and return the model for `fields`.

    Parameters
    ----------
    examples : pairs of a page and the values that a person sees on it: a dict with a text, a list of texts or None
        for each field, or with ``{"css": ".price"}``. For list pages, a list with a dict for each of the first
        records. In place of a pair, a dict as in example files: ``{"url": …, "fields": {…}}``.
    pages : other pages of the site, which show what all pages say. Up to 40 are used; 20 are enough.
    cache, capture, network : see `clean`.

    Raises
    ------
    UsageError : an example is wrong, a value is not on its page, or the examples contradict each other.
    DomsieveError : a page cannot be read.
    """
    return _LearningCall.of("learn_fields", examples, how).run()


@takes(LearnFieldsKeywords)
async def learn_fields_async(
    examples: Iterable[FieldsExample], **how: Unpack[LearnFieldsKeywords]
) -> FieldsModel:
    """Do the same as `learn_fields`, with the same parameters, without blocking the event loop."""
    return await _LearningCall.of("learn_fields_async", examples, how).run_async()


@overload
def fields(  # type: ignore[overload-overlap]
    page: PageInput, *, url: str | None = None, **how: Unpack[FieldsKeywords]
) -> FieldsResult: ...
@overload
def fields(
    page: Iterable[PageInput], *, url: Sequence[str | None] | None = None, **how: Unpack[FieldsKeywords]
) -> list[FieldsResult]: ...
@takes(FieldsKeywords)
def fields(
    page: PageInput | Iterable[PageInput],
    *,
    url: str | Sequence[str | None] | None = None,
    **how: Unpack[FieldsKeywords],
) -> FieldsResult | list[FieldsResult]:
    """Return the fields of a page: those that were learned from examples, or without a model those of its product.

    For several pages, the result is a list in their order.

    If one of several pages fails, its result has `error` set.

    Parameters
    ----------
    page, url, cache, capture, network, select, drop : see `clean`.
    model : a model from `learn_fields`, or its file. Without one, the fields are `name`, `price`, `currency`,
        `availability`, `sku`, `gtin`, `brand`, `rating`, `best_rating` and `rating_count` of the product that the
        page is taken to be about, in schema.org's terms; `description` says where each comes from.

    Raises
    ------
    UsageError, StorageError, BrowserNotFoundError, DomsieveError : see `clean`.
    """
    return _fields("fields", page, url, how).run()


@overload
async def fields_async(  # type: ignore[overload-overlap]
    page: PageInput, *, url: str | None = None, **how: Unpack[FieldsKeywords]
) -> FieldsResult: ...
@overload
async def fields_async(
    page: Iterable[PageInput], *, url: Sequence[str | None] | None = None, **how: Unpack[FieldsKeywords]
) -> list[FieldsResult]: ...
@takes(FieldsKeywords)
async def fields_async(
    page: PageInput | Iterable[PageInput],
    *,
    url: str | Sequence[str | None] | None = None,
    **how: Unpack[FieldsKeywords],
) -> FieldsResult | list[FieldsResult]:
    """Do the same as `fields`, with the same parameters, without blocking the event loop."""
    return await _fields("fields_async", page, url, how).run_async()


def _fields(call: str, page: object, url: object, how: FieldsKeywords) -> PagesCall[FieldsResult]:
    values = given(call, FieldsKeywords, how)
    fetching = _fetching(values).adapted()
    model = values["model"]
    if model is not None and not isinstance(model, FieldsModel):
        model = load_fields_model(path_of("model", model))
    selection = selection_of(values["select"], values["drop"])

    def extracted(
        sources: Sequence[Source], outcomes: Mapping[str, Captured], fetching: FetchOptions
    ) -> list[FieldsResult]:
        with fetching.store() as store, budgeted(fetching.network.analysis_budget):
            pages, faults = readable_pages(sources, outcomes, store, fetching, selection)
            found = {number: FieldsResult(sources[number].label, fault) for number, fault in faults.items()}
            for one, result in extract_fields(pages, model):
                outcome = result if isinstance(result, DomsieveError) else (one.load(), result)
                found[int(one.name)] = FieldsResult(one.label, outcome, meter=one.meter)
        return [found[number] for number in range(len(sources))]

    return PagesCall(sources_of(page, url), is_list(page), fetching, extracted)


@dataclass(frozen=True, slots=True)
class _LearningCall:
    """A call that fetches pages if necessary and then learns their fields.

    Parameters
    ----------
    examples : the examples; their pages are the first sources.
    sources : all pages.
    fetching : how URLs among the pages are fetched.
    """

    examples: Sequence[Example]
    sources: Sequence[Source]
    fetching: FetchOptions

    @classmethod
    def of(cls, call: str, examples: object, how: LearnFieldsKeywords) -> "_LearningCall":
        """Return the call for checked parameters.

        Raises
        ------
        UsageError : a parameter is wrong.
        """
        values = given(call, LearnFieldsKeywords, how)
        pages: list[object] = []
        found: list[Example] = []
        if not isinstance(examples, Iterable) or isinstance(examples, str | bytes | Mapping):
            raise wrong("examples", examples, _HOW)
        for number, one in enumerate(examples, 1):
            page, example = _example(one, f"example {number}")
            pages.append(page)
            found.append(example)
        check_examples(found, name="examples")
        others = values["pages"]
        if not is_list(others):
            raise wrong("pages", others, "give a list of pages")
        return cls(found, sources_of([*pages, *others]), _fetching(values).adapted())

    def run(self) -> FieldsModel:
        """Return the model."""
        urls = self._urls()
        return self._learned(run_coroutine(self.fetching.captured(urls)) if urls else {})

    async def run_async(self) -> FieldsModel:
        """Return the same as `run`, without blocking the event loop."""
        return await in_thread(partial(self._learned, await self.fetching.captured(self._urls())))

    def _urls(self) -> list[str]:
        return [source.label for source in self.sources if source.load is None and source.fault is None]

    def _learned(self, outcomes: Mapping[str, Captured]) -> FieldsModel:
        with self.fetching.store() as store, budgeted(self.fetching.network.analysis_budget):
            pages, faults = readable_pages(self.sources, outcomes, store, self.fetching, None)
            by_number: dict[int, Page] = {int(page.name): page for page in pages}
            count = len(self.examples)
            for number in range(count):
                if number in faults:
                    raise faults[number]
            own = {number: by_number[number] for number in range(count)}
            others = [page for number, page in by_number.items() if number >= count]
            return learn_from(self.examples, own, others, failed=lambda *_: None)


def _example(one: object, label: str) -> tuple[object, Example]:
    if isinstance(one, Mapping):
        page: object = one.get("url")
        if page is None and isinstance(one.get("file"), str):
            page = Path(one["file"])
        if page is None:
            raise wrong("examples", one, _HOW)
        return page, example_of(one, label=label, page=str(page))
    if isinstance(one, tuple) and len(one) == 2:
        page, values = one
        key = "fields" if isinstance(values, Mapping) else "records"
        return page, example_of({key: values}, label=label)
    raise wrong("examples", one, _HOW)


def _fetching(values: Mapping[str, Any]) -> FetchOptions:
    return FetchOptions.of(**{name: values[name] for name in FetchKeywords.__annotations__})
