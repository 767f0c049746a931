"""Clean the pages of a shard, and write one row per page or per block."""

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, cast

from domsieve.analysis.block_types.detection import KindChoice
from domsieve.analysis.registry import (
    DEFAULT_METHOD,
    METHODS,
    PAGE_METHODS,
    SITE_METHODS,
    Method,
    MethodParams,
    new_site_model,
)
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.evidence import block_columns
from domsieve.bulk._parquet_parts import Kinds, Table, part
from domsieve.bulk._places import place_at
from domsieve.bulk.job import Done, Failures, PageEnded, Reading, ignore, pages_of, place_of
from domsieve.bulk.plan import Shard
from domsieve.errors import DomsieveError, UsageError
from domsieve.sanitize import utf8
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.page_cleaning import Cleaned, clean, metadata_of, written
from domsieve.tasks.pages import Page
from domsieve.tasks.site_learning import RECENT_PAGES
from domsieve.tasks.site_models import SiteModels
from domsieve.types import HiddenText

Text = Literal["text", "markdown"]
_PAGE: Kinds = {
    "site": "text",
    "page": "text",
    "url": "text",
    "captured_at": "text",
    "status": "whole",
    "complete": "flag",
    "method": "text",
    "instead_of": "text",
    "model_pages": "whole",
    "known_share": "number",
    "expected_f1": "number",
    "marks": "texts",
    "warnings": "texts",
    "words": "whole",
    "text": "text",
}
_METADATA: Kinds = {
    "title": "text",
    "authors": "texts",
    "published": "text",
    "modified": "text",
    "language": "text",
    "description": "text",
}
_BLOCK: Kinds = {
    "site": "text",
    "page": "text",
    "url": "text",
    "block": "whole",
    "path": "text",
    "kind": "text",
    "kept": "flag",
    "score": "number",
    "reason": "text",
    "words": "whole",
    "text": "text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanJob(Reading):
    """Clean pages: with the model of their site if there is one, or each by itself if the method can do that.

    Parameters
    ----------
    models : the place of site models; empty for none.
    method : the method; None means that of the model or, without a model, `auto`.
    params : the parameters of the method.
    hidden, kinds : see `domsieve.tasks.page_cleaning.clean`.
    text : the format of the content in rows.
    metadata : whether rows contain the metadata of their pages.
    writes_files : whether the rows are for files, which have the metadata in front of the content.
    blocks : whether to write one row for each block, kept or dropped, instead of one for each page.
    """

    models: str = ""
    method: Method | None = None
    params: MethodParams = MethodParams()  # noqa: RUF009 (frozen)
    hidden: HiddenText = "layout"
    kinds: KindChoice = KindChoice()  # noqa: RUF009 (frozen)
    text: Text = "text"
    metadata: bool = False
    writes_files: bool = False
    blocks: bool = False

    def check(self) -> None:
        """Check the options before the run.

        Raises
        ------
        UsageError : the method needs models and there are none, or it does not have an option.
        """
        alone = self.method or DEFAULT_METHOD
        METHODS[alone].check(self.params)
        if self.models:
            SiteModels(place_at(self.models), self.models)
        elif alone not in PAGE_METHODS and not SITE_METHODS[alone].works_alone:
            raise UsageError(
                f"The method {alone} learns from a site; give the folder of models that were learned in bulk.",
                parameter="models",
            )
        if self.blocks and self.metadata:
            raise UsageError("Rows of blocks have no metadata; choose one of them.")
        if self.blocks and self.writes_files:
            raise UsageError("Rows of blocks are not written as a file per page; choose one of them.")

    def part(self, shard: str) -> str:
        """Return the name of the output file of a shard."""
        return f"{shard}.parquet"

    def on(self, shard: Shard, page_ended: PageEnded = ignore) -> Done:
        """Process a shard and write its output file."""
        failures, place = Failures(), place_of(self)
        known: dict[str, tuple[float, ...]] = {}
        kinds = _BLOCK if self.blocks else {**_PAGE, **_METADATA} if self.metadata else _PAGE
        with pages_of(shard, self, failures) as pages, part(place, self.part(shard.name), kinds) as table:
            for site, page, model_pages, result in self._cleaned(pages):
                page_ended()
                try:
                    if isinstance(result, DomsieveError):
                        raise result
                    self._add(table, site, page, model_pages, result)
                except DomsieveError as error:
                    failures.add(page.label, site, error)
                    continue
                share = result[1].known_share
                if share is not None:
                    known[site] = (*known.get(site, ()), share)[-RECENT_PAGES:]
            failures.write(place, shard.name)
        return Done(shard=shard.name, pages=shard.pages, failed=len(failures), rows=table.rows, known=known)

    def _cleaned(self, pages: list[Page]) -> Iterator[tuple[str, Page, int, Any]]:
        """Yield the site, the page, the number of pages that its model has learned from, and the result."""
        models = SiteModels(place_at(self.models), self.models) if self.models else None
        for site, group in groupby(sorted(pages, key=lambda page: page.site), key=lambda page: page.site):
            members = list(group)
            try:
                cleaned, learned = self._by_site(members, models.of(site) if models else None)
            except DomsieveError as error:  # of the model, which all of these pages share
                for page in members:
                    yield site, page, 0, error
                continue
            for page, result in cleaned:
                yield site, page, learned, result

    def _by_site(self, pages: list[Page], model: SiteModel[Any] | None) -> tuple[Iterator[Cleaned], int]:
        method = self.method or cast(Method, model.name if model else DEFAULT_METHOD)
        learned = model.learned if model else 0
        if model is not None and model.name != method:
            raise UsageError(f"The model of its site is for the method {model.name}, not {method}.")
        if model is not None:
            model = copy(model)  # cleaning sets parameters
        elif method not in PAGE_METHODS:
            if not SITE_METHODS[method].works_alone:
                raise UsageError(f"There is no model of its site, which the method {method} needs.")
            # A model that has learned nothing cleans each page by itself.
            model = new_site_model(method, self.params)
        return clean(
            pages,
            method=method,
            params=self.params if learned or method in PAGE_METHODS else MethodParams(),
            model=model,
            hidden=self.hidden,
            kinds=self.kinds,
            siblings=lambda _: (),
        ), learned

    def _add(
        self, table: Table, site: str, page: Page, model_pages: int, result: tuple[Snapshot, Verdict]
    ) -> None:
        snapshot, verdict = result
        same = {"site": utf8(site), "page": utf8(page.label), "url": utf8(snapshot.provenance.url)}
        if self.blocks:
            with page.at_work("write"):
                columns = block_columns(snapshot, verdict)
            count = len(columns["text"])
            table.add({**same, "block": list(range(count)), **columns}, count)
            return
        text = written(page, result, self.text, metadata=self.metadata and self.writes_files)
        more: Mapping[str, Any] = {}
        if self.metadata:
            said = metadata_of(page, result)
            more = {name: getattr(said, name) for name in _METADATA} | {"authors": list(said.authors)}
        table.add(
            {
                **same,
                "captured_at": snapshot.provenance.captured_at,
                "status": snapshot.provenance.status,
                "complete": snapshot.provenance.complete,
                "method": verdict.method,
                "instead_of": verdict.instead_of,
                "model_pages": model_pages,
                "known_share": verdict.known_share,
                "expected_f1": verdict.expected_f1,
                "marks": [mark.kind for mark in verdict.marks],
                "warnings": [warning.kind for warning in verdict.warnings],
                "words": len(text.split()),
                "text": text,
                **more,
            }
        )
