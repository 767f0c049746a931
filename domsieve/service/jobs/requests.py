"""Request models of the service. Their fields are checked scalars: no script, browser flag, path or proxy."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import (
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from domsieve.analysis.fields.examples import Example
from domsieve.analysis.registry import (
    DEFAULT_METHOD,
    METHODS,
    MINERS,
    SITE_METHODS,
    Method,
    MethodEntry,
    MethodParams,
    MiningMethod,
)
from domsieve.analysis.selection.selection import Selection
from domsieve.analysis.writers.chunks import MAX_WORDS
from domsieve.analysis.writers.formats import RECORD_FORMATS
from domsieve.errors import UsageError
from domsieve.options import CaptureOptions, NetworkOptions, RenderMode, Scope
from domsieve.service.jobs.field_requests import (
    MOST_FIELD_PAGES,
    MOST_LEARNED_PAGES,
    FieldExamples,
    FieldsModelText,
    PageUrls,
    parsed_examples,
)
from domsieve.service.jobs.job_request import NOT_FOR_ALL, JobKind, JobRequest, serving
from domsieve.service.jobs.request_fields import (
    FieldNames,
    Html,
    HtmlUrl,
    Kinds,
    Params,
    Selectors,
    Whole,
)
from domsieve.service.jobs.request_schemas import (
    BY_THEMSELVES,
    DEFAULT_MINER,
    NOT_BY_PIXELS,
    cleaning_rules,
    mining_rules,
    unrendered_rules,
)
from domsieve.service.jobs.sync_request import SyncRequest
from domsieve.snapshot.page import Scalar
from domsieve.tasks.render_modes import cleaning_needs
from domsieve.types import Favor, HiddenText, PageFormat, RecordFormat

_METADATA = (
    "Whether text and Markdown begin with the metadata as YAML front matter, and HTML has it in its head."
)
_PARAMS = "Parameters of the method by name, such as threshold of sst; the others keep their defaults."
_FORMAT = "What is returned; parquet needs pyarrow."
_HIDDEN = (
    "Hidden text: layout drops what computed styles and boxes hide, pixels what pictures of the page do not show; "
    "keep keeps it in kept text."
)
_KEEP_KINDS = "Kinds of blocks that are kept whatever the method says of them."
_DROP_KINDS = (
    "Kinds of blocks that are dropped though the method keeps them; those that are kept by kind go first."
)


def _checked_params(
    entry: MethodEntry[Any], given: Mapping[str, Scalar], *, favor: Favor | None = None
) -> MethodParams:
    """Return the parameters of a method.

    Raises
    ------
    ValueError : one is unknown or has a wrong value, or stands by itself in requests.
    """
    for name in BY_THEMSELVES:
        if name in given:
            raise ValueError(f"{name} is not one of the params")
    params = MethodParams(given={**given, "favor": favor} if favor else given)
    try:
        entry.check(params)
    except UsageError as error:
        raise ValueError(error.message) from error
    return params


if TYPE_CHECKING:

    class _RenderedPage(JobRequest):
        """`JobRequest` with the served options of rendering; these are the ones used by name."""

        settle_extra_s: float = 0
        time_s: float = 0
        keep_errors: bool = False

else:
    _RenderedPage = serving(JobRequest, CaptureOptions, NetworkOptions)


class PageRequest(_RenderedPage):
    """Base of requests that use the cache."""

    refresh: bool = Field(default=False, description="Whether to render again even if the page is cached.")
    max_age_days: float | None = Field(
        default=None, ge=0, le=36_500, description="Render again if the capture is older than this many days."
    )

    def since(self) -> datetime | None:
        """Return the earliest time of a cached capture that may be used, in UTC; None if any may be."""
        now = datetime.now(UTC)
        if self.refresh or self.max_age_days is None:
            return now if self.refresh else None
        return now - timedelta(days=self.max_age_days)


if TYPE_CHECKING:

    class _ChoosingRequest(PageRequest):
        """`PageRequest` with the options of requests that need not render."""

        render: RenderMode = "always"

else:
    _ChoosingRequest = serving(PageRequest, CaptureOptions, only=NOT_FOR_ALL)


class SelectingRequest(_ChoosingRequest):
    """Base of requests that can be limited to parts of a page, and need not render it."""

    select: Selectors = Field(
        default=(),
        description="CSS selectors of the parts to use, besides the head of the page; none for all. A page without "
        "any of them counts as failed.",
    )
    drop: Selectors = Field(
        default=(), description="CSS selectors of parts that are dropped before all else, selected ones too."
    )

    @field_validator("select", "drop")
    @classmethod
    def _can_be_matched(cls, selectors: tuple[str, ...]) -> tuple[str, ...]:
        try:
            Selection(selectors)
        except UsageError as error:
            raise ValueError(error.message.removeprefix("select ")) from error
        return selectors

    def selection(self) -> Selection | None:
        """Return the parts of the page to work on; None for the whole page."""
        return Selection(self.select, self.drop) if self.select or self.drop else None


class CleaningRequest(SelectingRequest):
    """Base of requests that clean one page or a site."""

    model_config = ConfigDict(json_schema_extra=cleaning_rules(site=False))

    method: Method | None = Field(
        default=None,
        description="Null means auto. Methods that learn from a site learn from the pages of the sample; for one "
        "page, from the pages of its site in your earlier jobs. auto does so with five or more of them.",
    )
    favor: Favor | None = Field(
        default=None,
        description="auto: prefer surer text (precision) or more text (recall). Null means balance.",
    )
    params: Params = Field(default={}, description=_PARAMS)
    format: PageFormat = Field(
        default="markdown", description="Output format; chunks are passages as JSON lines."
    )
    max_words: Whole = Field(default=MAX_WORDS, ge=20, le=10_000, description="Most words in a passage.")
    metadata: bool = Field(default=False, description=_METADATA)
    hidden: HiddenText = Field(default="layout", description=_HIDDEN)
    keep_kinds: Kinds = Field(default=(), description=_KEEP_KINDS)
    drop_kinds: Kinds = Field(default=(), description=_DROP_KINDS)

    @model_validator(mode="after")
    def _favors_what_can_be(self) -> Self:
        if self.favor is not None and self.method not in {None, "auto"}:
            raise ValueError(f"favor is for the method auto, not for {self.method}.")
        self.method_params()
        return self

    def _requested(self) -> CaptureOptions:
        # Finding hidden text by pixels needs pictures.
        return replace(super()._requested(), pixels=self.hidden == "pixels")

    def _needs(self) -> Mapping[str, bool]:
        return cleaning_needs(
            super()._requested(),
            uses_default_method=self.method in {None, DEFAULT_METHOD},
            hidden=self.hidden,
            style=self.params.get("style"),
        )

    def method_params(self) -> MethodParams:
        """Return the parameters of the method."""
        return _checked_params(METHODS[self.method or DEFAULT_METHOD], self.params, favor=self.favor)


class CleanRequest(CleaningRequest):
    """Clean one page: remove menus, adverts and footers."""

    kind: ClassVar[JobKind] = "clean"


class RecordsRequest(SelectingRequest):
    """Find the records of one page, such as the entries of a list."""

    kind: ClassVar[JobKind] = "records"

    model_config = ConfigDict(json_schema_extra=mining_rules())

    method: MiningMethod = Field(default=DEFAULT_MINER, description="How records are found.")
    params: Params = Field(default={}, description=_PARAMS)
    fields: FieldNames = Field(
        default=(),
        description="Only these fields, by what they hold, in this order; none: all that the page has.",
    )
    format: RecordFormat = Field(default="jsonl", description=_FORMAT)

    @model_validator(mode="after")
    def _has_params(self) -> Self:
        self.method_params()
        return self

    def method_params(self) -> MethodParams:
        """Return the parameters of the method."""
        return _checked_params(MINERS[self.method], self.params)

    @field_validator("format")
    @classmethod
    def _can_be_written(cls, form: RecordFormat) -> RecordFormat:
        return _writable(form)


class FieldsRequest(SelectingRequest):
    """Return the fields of pages that were learned from examples, or without a model those of the product of each."""

    kind = "fields"
    model_config = ConfigDict(json_schema_extra=unrendered_rules())

    urls: PageUrls = Field(default=(), description="Addresses of more pages, each a row of the result.")
    known_pages: Whole = Field(
        default=0,
        ge=0,
        le=MOST_FIELD_PAGES,
        description="Also so many of the pages of this site that your earlier jobs captured, the newest first.",
    )
    model: FieldsModelText | None = Field(
        default=None,
        description="The text of a model: the content of the result of a job that learned fields. Null: each page is "
        "read as the page of a product.",
    )
    format: RecordFormat = Field(default="jsonl", description=_FORMAT)

    @field_validator("format")
    @classmethod
    def _can_be_written(cls, form: RecordFormat) -> RecordFormat:
        return _writable(form)

    def pages(self) -> tuple[str, ...]:
        """Return the addresses of the pages, each once."""
        return tuple(dict.fromkeys((self.url, *self.urls)))


class LearnFieldsRequest(_ChoosingRequest):
    """Learn the fields of a site from one to three example pages, and return the model."""

    kind = "learn_fields"
    model_config = ConfigDict(json_schema_extra=unrendered_rules())

    url: HtmlUrl = Field(
        default="", description="A name for the job; by default, the page of the first example."
    )
    examples: FieldExamples = Field(
        description="Pages with the values that a person sees on them: a text, a list of texts, null or a selector "
        "for each of the `fields`. For list pages, `records` has the first records in place of `fields`.",
        examples=[[{"url": "https://example.org/shop/1", "fields": {"title": "Kettle", "price": "€ 24.00"}}]],
    )
    urls: PageUrls = Field(
        default=(), description="Addresses of other pages of the site, which show what all pages say."
    )
    known_pages: Whole = Field(
        default=20,
        ge=0,
        le=MOST_LEARNED_PAGES,
        description="Also so many of the pages of this site that your earlier jobs captured, the newest first.",
    )

    @model_validator(mode="before")
    @classmethod
    def _has_address(cls, values: object) -> object:
        if isinstance(values, dict) and values.get("url", "") == "":
            first = values.get("examples")
            one = first[0] if isinstance(first, list | tuple) and first else None
            if isinstance(one, dict) and isinstance(one.get("url"), str):
                return {**values, "url": one["url"]}
        return values

    def parsed(self) -> list[Example]:
        """Return the examples."""
        return [*parsed_examples(self.examples)]

    def pages(self) -> tuple[str, ...]:
        """Return the addresses of the pages, those of the examples first, each once."""
        return tuple(dict.fromkeys((*(str(one["url"]) for one in self.examples), *self.urls)))


class CompareRequest(PageRequest):
    """Compare a rendered page with its raw source, to see whether it needs a browser."""

    kind = "compare"

    twice: bool = Field(
        default=False,
        description="Whether to load the page twice, whatever the cache has, and say what differs: adverts, times, "
        "tokens.",
    )

    def _requested(self) -> CaptureOptions:
        return replace(super()._requested(), both_versions=True)


class ReportRequest(PageRequest):
    """Write an HTML report that shows what each method keeps of a page."""

    kind = "report"

    model: FieldsModelText | None = Field(
        default=None, description="The text of a model of fields, whose values are shown on the page."
    )

    def _requested(self) -> CaptureOptions:
        # The report also shows what a comparison needs.
        return replace(super()._requested(), screenshot=True)


if TYPE_CHECKING:

    class _CleanedSite(CleaningRequest):
        """`CleaningRequest` with the served options of which pages are visited."""

else:
    _CleanedSite = serving(CleaningRequest, Scope)


class SiteRequest(_CleanedSite):
    """Render a random sample of the pages of a site and clean them."""

    kind = "site"
    model_config = ConfigDict(json_schema_extra=cleaning_rules(site=True))

    pages: Whole = Field(default=20, ge=1, le=200, description="How many different pages.")
    seed: Whole = Field(default=0, ge=0, le=2**31 - 1, description="Seed of the random sample.")

    def scope(self) -> Scope:
        """Return the rules for which pages the sample may contain."""
        return Scope(**self.options_of(Scope))

    @model_validator(mode="after")
    def _has_enough_pages(self) -> Self:
        learner = SITE_METHODS.get(self.method) if self.method else None
        min_pages = learner.min_pages if learner else 1
        if self.pages < min_pages:
            raise ValueError(
                f"The method {self.method} learns from at least {min_pages} pages; ask for more."
            )
        return self


class CleanHtmlRequest(CleanRequest):
    """Clean the HTML in the request: remove menus, adverts and footers."""

    kind = "clean_html"
    model_config = ConfigDict(json_schema_extra=cleaning_rules(site=False) | NOT_BY_PIXELS)

    url: HtmlUrl = ""
    html: Html

    @field_validator("hidden")
    @classmethod
    def _needs_no_pictures(cls, hidden: HiddenText) -> HiddenText:
        if hidden == "pixels":
            raise ValueError(
                "HTML is not rendered, so there are no pixels; give url, or choose layout or keep"
            )
        return hidden


class RecordsHtmlRequest(RecordsRequest):
    """Find the records of the HTML in the request."""

    kind = "records_html"

    url: HtmlUrl = ""
    html: Html


HtmlRequest = CleanHtmlRequest | RecordsHtmlRequest

REQUESTS: dict[JobKind, type[JobRequest]] = {
    model.kind: model
    for model in (
        CleanRequest,
        RecordsRequest,
        FieldsRequest,
        LearnFieldsRequest,
        CompareRequest,
        ReportRequest,
        SiteRequest,
        SyncRequest,
    )
}
"""The models of requests for a URL, by job kind."""
_ALL = REQUESTS | {model.kind: model for model in (CleanHtmlRequest, RecordsHtmlRequest)}


def request_of(kind: str, values: dict[str, Any]) -> JobRequest:
    """Return the request of a stored job.

    Raises
    ------
    UsageError : the job was stored by a version with other kinds or fields.
    """
    try:
        return _ALL[kind](**values)  # type: ignore[index]
    except (KeyError, ValidationError) as error:
        raise UsageError(
            "This version of the service does not support this request; send a new one."
        ) from error


def shown(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request for lists, without HTML and models, which may be long."""
    return {name: value for name, value in values.items() if name not in {"html", "model"}}


def _writable(form: RecordFormat) -> RecordFormat:
    entry = RECORD_FORMATS[form]
    if entry.package and not _has(entry.package):
        raise ValueError(f"{entry.title} needs {entry.package}, which this service does not have.")
    return form


@cache
def _has(package: str) -> bool:
    return find_spec(package) is not None
