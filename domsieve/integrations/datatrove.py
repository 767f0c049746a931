"""Steps for datatrove pipelines: an extractor for single pages, and a step that learns from the pages of each site.

Needs the package `datatrove`.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.extractors.base import BaseExtractor

from domsieve.errors import BudgetError, PageError, UsageError
from domsieve.library.calls import clean
from domsieve.library.parameters import MethodChoice
from domsieve.library.results import CleanResult
from domsieve.renderer.network.egress import is_web_address
from domsieve.tasks.targets import site_of
from domsieve.types import BlockKind

__all__ = ["DomsieveExtractor", "DomsieveSites"]

logger = logging.getLogger("domsieve")

TextFormat = Literal["text", "markdown", "html"]
_FORMATS: tuple[TextFormat, ...] = ("text", "markdown", "html")
# Imported before the sandbox forks a process, so that imports do not count as time of documents.
_WARM = "<title>Warm</title><h1>Warm</h1><ul><li><a href=/>Home</a></ul>" + "<p>Some words of a text.</p>" * 8
_MOST_PAGES = 1_000


class DomsieveExtractor(BaseExtractor):  # type: ignore[misc]
    """Extract the content of each document by itself, in the sandbox of datatrove.

    The sandbox counts the outcome of each document: extracted, timed out, or dropped if nothing remains. Pages that
    are empty, are not text, or exceed the budget of the analysis are dropped.

    Parameters
    ----------
    timeout : seconds for one document, after which datatrove drops it; datatrove's default of 1 s is too short for
        long pages on a busy machine.
    form : the format of the text: ``"text"``, ``"markdown"`` or ``"html"``.
    method, keep_kinds, drop_kinds : see `domsieve.clean`.
    """

    name = "⛏ domsieve"

    def __init__(
        self,
        timeout: float = 10.0,
        *,
        form: TextFormat = "text",
        method: MethodChoice | None = None,
        keep_kinds: Iterable[BlockKind] = (),
        drop_kinds: Iterable[BlockKind] = (),
    ) -> None:
        super().__init__(timeout=timeout)
        self._form = _checked(form)
        self._how: dict[str, Any] = _how(method, keep_kinds, drop_kinds)

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yield the documents that have content."""
        self.extract(_WARM)  # in this process, before the sandbox forks it
        yield from super().run(data, rank, world_size)

    def extract(self, text: str) -> str:
        """Return the content of a page; empty without any."""
        try:
            return _written(clean(_source(text), **self._how), self._form)
        except PageError as error:  # an exception would end the sandbox
            if isinstance(error, BudgetError):
                logger.warning("A page was dropped: %s", error.message)
            return ""


class DomsieveSites(PipelineStep):  # type: ignore[misc]
    """Clean documents together with others of their site, which show what repeats.

    Documents need the addresses of their pages. Each gets its text and, in ``metadata["domsieve"]``, the method, the
    expected F1 and the metadata of its page. Failed documents are dropped and counted by reason, so that `total` is
    the sum of `forwarded`, `dropped` and `failed`. Put the pages of a site into one shard.

    Parameters
    ----------
    form : the format of the text: ``"text"``, ``"markdown"`` or ``"html"``.
    method, keep_kinds, drop_kinds : see `domsieve.clean`.
    url_key : the key of the address in the metadata of documents.
    pages_at_once : maximum number of documents in memory; beyond, the site with most documents is cleaned with what
        is there.
    """

    type = "🛢 - EXTRAC"
    name = "⛏ domsieve by site"

    def __init__(
        self,
        *,
        form: TextFormat = "text",
        method: MethodChoice | None = None,
        keep_kinds: Iterable[BlockKind] = (),
        drop_kinds: Iterable[BlockKind] = (),
        url_key: str = "url",
        pages_at_once: int = _MOST_PAGES,
    ) -> None:
        super().__init__()
        if pages_at_once < 1:
            raise UsageError("pages_at_once must be at least 1.", parameter="pages_at_once")
        self._form = _checked(form)
        self._how: dict[str, Any] = _how(method, keep_kinds, drop_kinds)
        self._url_key = url_key
        self._most = pages_at_once

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:  # noqa: ARG002
        """Yield the documents that have content, site by site."""
        held = _Held()
        for document in data or ():
            self.stat_update("total")
            held.add(_Waiting(document, _address(document.metadata.get(self._url_key))))
            while held.count > self._most:
                yield from self._cleaned(held.largest())
        while held.count:
            yield from self._cleaned(held.first())

    def _cleaned(self, site: "list[_Waiting]") -> Iterator[Any]:
        with self.track_time("site"):
            results = clean(
                [_source(one.document.text) for one in site], url=[one.url for one in site], **self._how
            )
        for one, result in zip(site, results, strict=True):
            with self.track_time():
                text = self._text(result)
            if text is None:
                continue
            if not text.strip():
                self.stat_update("dropped")
                continue
            one.document.text = text
            one.document.metadata["domsieve"] = {
                "method": result.method,
                "expected_f1": result.expected_f1,
                "warnings": [warning.kind for warning in result.warnings],
                "metadata": _facts(result),
            }
            self.stat_update("forwarded")
            self.update_doc_stats(one.document)
            yield one.document

    def _text(self, result: CleanResult) -> str | None:
        """Return the content of a page; None for a failed one, which is counted."""
        try:
            return _written(result, self._form)
        except PageError as error:
            logger.warning("%s: %s", result.url, error.message)
            self.stat_update("failed", f"failed_{error.reason or 'budget'}")
            return None


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A document, and the address of its page; None without one."""

    document: Any
    url: str | None


@dataclass(slots=True)
class _Held:
    """Documents that wait for others of their site."""

    sites: dict[str, list[_Waiting]] = field(default_factory=dict)
    count: int = 0

    def add(self, one: _Waiting) -> None:
        """Add a document."""
        self.sites.setdefault(site_of(one.url) if one.url else "", []).append(one)
        self.count += 1

    def largest(self) -> list[_Waiting]:
        """Remove and return the documents of the site with most of them; of equal sites, the first."""
        return self._taken(max(self.sites, key=lambda site: len(self.sites[site])))

    def first(self) -> list[_Waiting]:
        """Remove and return the documents of the first site."""
        return self._taken(next(iter(self.sites)))

    def _taken(self, site: str) -> list[_Waiting]:
        taken = self.sites.pop(site)
        self.count -= len(taken)
        return taken


def _source(text: str) -> bytes:
    """Return a text as bytes of HTML, so that it cannot be taken for an address to fetch.

    A byte order mark overrides the encoding that the source declares.
    """
    return f"\ufeff{text}".encode("utf-8", "replace")


def _address(url: object) -> str | None:
    """Return a valid address; None for other values."""
    return url if isinstance(url, str) and " " not in url and is_web_address(url) else None


def _checked(form: TextFormat) -> TextFormat:
    if form not in _FORMATS:
        raise UsageError(f"form is {form!r}; it may be {', '.join(map(repr, _FORMATS))}.", parameter="form")
    return form


def _how(method: MethodChoice | None, keep: Iterable[BlockKind], drop: Iterable[BlockKind]) -> dict[str, Any]:
    how: dict[str, Any] = {
        "method": method,
        "keep_kinds": tuple(keep),
        "drop_kinds": tuple(drop),
    }
    clean([], **how)  # wrong values are reported before the pipeline runs
    return how


def _written(result: CleanResult, form: TextFormat) -> str:
    if form == "markdown":
        return result.markdown
    return result.html if form == "html" else result.text


def _facts(result: CleanResult) -> dict[str, Any]:
    """Return the metadata of a page as JSON values."""
    facts: dict[str, Any] = msgspec.to_builtins(result.metadata)
    return {name: value for name, value in facts.items() if value}
