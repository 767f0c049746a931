"""The report: learn every method on the sites of the pages, and clean every page with each; help with thresholds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import msgspec

from domsieve.analysis.columns.hiding import HIDING_REASONS
from domsieve.analysis.columns.page_blocks import PageBlocks, page_blocks
from domsieve.analysis.document.damage import with_warnings
from domsieve.analysis.estimator import PageEstimator
from domsieve.analysis.fields.fields_model import FieldsModel
from domsieve.analysis.metadata.title import restore_title
from domsieve.analysis.registry import DEFAULT_METHOD, METHODS, MINERS, PAGE_METHODS, SITE_METHODS, Method
from domsieve.analysis.report.document import ReportPart, Tile, write_report
from domsieve.analysis.report.thresholds import ThresholdHelp, threshold_help
from domsieve.analysis.report.view import PageView, Recurrences, page_view, tree_view
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.outline import Outliner
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.verdict import Verdict
from domsieve.errors import BudgetError, DomsieveError, ModelError, PageError
from domsieve.renderer.protocol import SCREENSHOT
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import Page, from_record, readable, unscripted
from domsieve.tasks.postprocess import without_extras
from domsieve.tasks.site_learning import NODES_AT_ONCE, Batch, Failed, learn_batch, snapshots
from domsieve.tasks.targets import CacheTarget, DamagedTarget, Fetched, UrlTarget
from domsieve.types import BLOCK_KINDS

_A_FEW = 8


def explain(
    model: SiteModel[Any], pages: Sequence[Page], *, failed: Callable[[Page, DomsieveError], None]
) -> ThresholdHelp:
    """Return what different thresholds would keep of up to eight of `pages`, chosen evenly in the order of labels.

    Raises
    ------
    ModelError : the model has no such threshold.
    PageError : none of the pages could be read.
    """
    if not isinstance(model, SiteStyleTree):
        raise ModelError(
            f"Only the threshold of the method sst can be explained; this model is for the method {model.name}."
        )
    ordered = sorted(pages, key=lambda page: page.label)
    few = {i * (len(ordered) - 1) // max(1, min(_A_FEW, len(ordered)) - 1) for i in range(_A_FEW)}
    chosen = [ordered[i] for i in sorted(few) if i < len(ordered)]
    read = [snapshot for _, snapshot in snapshots(chosen, failed)]
    if not read:
        raise PageError("None of the pages could be read, so there is nothing to explain.")
    return threshold_help(model, read)


@dataclass(frozen=True, slots=True)
class Edition:
    """One version of a page: functions that read it and its screenshot, which has any number of tiles."""

    page: Page
    tiles: Callable[[], Sequence[Tile]] = tuple


@dataclass(frozen=True, slots=True)
class Reported:
    """A page of a report in its versions; None for versions that do not exist.

    Parameters
    ----------
    page : the page, with its label and site.
    rendered : the rendered version.
    unscripted : the raw source as the browser shows it without scripts.
    raw : the raw source, parsed.
    """

    page: Page
    rendered: Edition | None
    unscripted: Edition | None
    raw: Edition | None


@dataclass(slots=True)
class _Site:
    """The models learned from one version of the pages of a site."""

    models: dict[Method, SiteModel[Any]]
    recurrences: Recurrences = field(default_factory=Recurrences)
    blocks: dict[int, PageBlocks] = field(default_factory=dict)


def reported(
    fetched: Fetched,
    store: PageStore,
    *,
    keep_errors: bool = False,
) -> list[Reported]:
    """Return the targets in all versions that are cached, without those that failed."""
    known = fetched.outcomes
    pages = readable(fetched, store, raw=False, keep_errors=keep_errors)
    records = [
        target.record if isinstance(target, CacheTarget) else known.get(getattr(target, "url", ""))
        for target in fetched.targets
        if not (
            isinstance(target, DamagedTarget)
            or (isinstance(target, UrlTarget) and isinstance(known[target.url], DomsieveError))
        )
    ]
    return [
        of_record(page, record, store)
        if isinstance(record, PageRecord)
        else Reported(page, None, None, Edition(page))
        for page, record in zip(pages, records, strict=True)
    ]


def of_record(page: Page, record: PageRecord, store: PageStore) -> Reported:
    """Return the page of a record in all versions that are cached."""
    if record.producer == "raw":
        return Reported(page, None, None, Edition(page))
    twin = unscripted(record, store)
    plain = Edition(_beside(page, from_record(twin, store)), lambda: _tiles(twin, store)) if twin else None
    raw = Edition(_beside(page, from_record(record, store, raw=True))) if record.source_digest else None
    return Reported(page, Edition(page, lambda: _tiles(record, store)), plain, raw)


def _beside(page: Page, other: Page) -> Page:
    """Return another version of a page; it fails if the page does, but may be empty."""

    def load() -> Snapshot:
        page.read()
        return other.load()

    return replace(other, load=load, keep_errors=True)


def report(
    pages: Sequence[Reported],
    *,
    siblings: Callable[[str], Sequence[Reported]],
    failed: Failed,
    model: FieldsModel | None = None,
) -> tuple[bytes, int]:
    """Return a report on `pages` as one HTML file that loads nothing, and the number of pages in it.

    Parameters
    ----------
    siblings : returns other known pages of a site; they are learned from and searched for recurring text.
    failed : called for each version of a page that cannot be read and is left out, once for each error.
    model : fields whose values are shown; None for those of the product that a page is about.

    Raises
    ------
    PageError : no page could be read.
    """
    told: set[tuple[str, str]] = set()

    def tell_once(page: Page, error: DomsieveError) -> None:
        if (what := (page.label, error.message)) not in told:
            told.add(what)
            failed(page, error)

    writer = _Writer(tell_once, model)
    ordered = sorted(pages, key=lambda one: one.page.site)
    whole = b"".join(write_report(writer.parts(ordered, siblings), lambda: writer.index))
    if not writer.pages:
        raise PageError("None of the pages could be read, so there is nothing to report.")
    return whole, len(writer.pages)


class _Writer:
    def __init__(self, failed: Failed, model: FieldsModel | None) -> None:
        self._failed, self._model = failed, model
        self.labels: list[str] = []
        self.pages: list[dict[str, Any]] = []
        self.sites: list[dict[str, Any]] = []

    @property
    def index(self) -> dict[str, Any]:
        return {
            "labels": [_utf8(label) for label in self.labels],
            "pages": self.pages,
            "sites": self.sites,
            "hiding": HIDING_REASONS,
            "kinds": ("", *BLOCK_KINDS),
            "titles": {name: entry.title for name, entry in METHODS.items()},
            "start": DEFAULT_METHOD,
        }

    def parts(
        self, pages: Sequence[Reported], siblings: Callable[[str], Sequence[Reported]]
    ) -> Iterator[ReportPart]:
        for name, group in groupby(pages, key=lambda one: one.page.site):
            members = list(group)
            labels = {one.page.label for one in members}
            known = [*members, *(one for one in siblings(name) if one.page.label not in labels)]
            first = len(self.labels)
            self.labels += [one.page.label for one in known]
            site: dict[str, Any] = {"name": _utf8(name), "known": len(known), "editions": {}}
            entries = [
                {
                    "number": first + i,
                    "site": len(self.sites),
                    "editions": {},
                    "words": {},
                    "expected_f1": {},
                    "problems": [],
                }
                for i in range(len(members))
            ]
            self.sites.append(site)
            for edition, of_known in _editions(known, members=len(members)):
                yield from self._edition(edition, of_known, entries, site)
            shown = [entry for entry in entries if entry["editions"]]
            self.pages += sorted(shown, key=_sureness)

    def _edition(
        self,
        name: str,
        known: Sequence[Edition | None],
        entries: Sequence[dict[str, Any]],
        site: dict[str, Any],
    ) -> Iterator[ReportPart]:
        of_site = _Site({method: entry.make() for method, entry in SITE_METHODS.items()})
        self._learn(of_site, known, entries)
        models = {method: model for method, model in of_site.models.items() if model.learned}
        tree = models.get("sst")
        try:
            outliner = Outliner(tree) if isinstance(tree, SiteStyleTree) else None
        except BudgetError:  # the method gives these for each page
            outliner = None
        for i, (edition, entry) in enumerate(zip(known, entries, strict=False)):
            if edition is None or i not in of_site.blocks:
                continue
            part = f"{name}-{entry['number']}"
            try:
                with edition.page.at_work("report"):
                    page = edition.page.read()
                    view, problems = self._view(page, i, of_site, models, outliner, entry["number"])
            except BudgetError as error:
                self._failed(edition.page, error)
                continue
            entry["problems"] += problems
            entry["editions"][name] = part
            entry["words"][name] = {method: said.words for method, said in view.methods.items()}
            if DEFAULT_METHOD in view.methods:
                entry["expected_f1"][name] = view.methods[DEFAULT_METHOD].expected_f1
            entry["problems"] += [
                reason for reason in page.provenance.reasons if reason not in entry["problems"]
            ]
            tiles: Sequence[Tile] = ()
            try:
                tiles = edition.tiles()
            except DomsieveError as error:
                entry["problems"].append(_utf8(error.message))
            yield ReportPart(name=part, data=view, tiles=tiles)
        site["editions"][name] = {}
        if outliner and isinstance(tree, SiteStyleTree):
            part = f"tree-{name}-{entries[0]['site']}"
            site["editions"][name]["tree"] = part
            yield ReportPart(name=part, data=tree_view(outliner.outline))

    def _view(
        self,
        page: Snapshot,
        i: int,
        of_site: _Site,
        models: Mapping[Method, SiteModel[Any]],
        outliner: Outliner | None,
        number: int,
    ) -> tuple[PageView, list[str]]:
        """Return what the report shows of a page, and why some methods have no result."""
        cleaners: dict[Method, SiteModel[Any] | PageEstimator[Verdict]] = {
            **models,
            **{method: one.make() for method, one in PAGE_METHODS.items()},
        }
        verdicts: dict[str, Verdict] = {}
        problems: list[str] = []
        for method, cleaner in cleaners.items():
            try:
                verdict = without_extras(page, cleaner.transform(page), hidden="layout")
                verdicts[method] = with_warnings(page, restore_title(page, verdict))
            except DomsieveError as error:
                problems.append(f"{method}: {_utf8(error.message)}")
        view = page_view(
            page,
            of_site.blocks.pop(i),
            verdicts,
            records={
                name: miner.make().transform(page)
                for name, miner in MINERS.items()
                if page.has_layout and not miner.combined
            },
            recurrences=of_site.recurrences,
            number=number,
            places=outliner.place(page) if outliner else None,
            model=self._model,
        )
        return view, problems

    def _learn(
        self, of_site: _Site, known: Sequence[Edition | None], entries: Sequence[dict[str, Any]]
    ) -> None:
        first = entries[0]["number"]
        held: Batch = []
        nodes = 0
        for i, edition in enumerate(known):
            if edition is None:
                continue
            try:
                with edition.page.at_work("read"):
                    page = edition.page.read()
                    blocks = page_blocks(page)
            except DomsieveError as error:
                if i < len(entries) or getattr(error, "reason", None) is None:
                    self._failed(edition.page, error)
                continue
            of_site.recurrences.add(first + i, blocks)
            if i < len(entries):
                of_site.blocks[i] = blocks
            held.append((edition.page, page))
            nodes += len(page)
            if nodes >= NODES_AT_ONCE:
                _fit(of_site, held)
                held, nodes = [], 0
        _fit(of_site, held)


def _sureness(entry: Mapping[str, Any]) -> float:
    """Return the F1 that the default method expects for the first version of a page; 1 if unknown."""
    return next((expected for expected in entry["expected_f1"].values() if expected is not None), 1.0)


def _fit(of_site: _Site, held: Batch) -> None:
    for model in of_site.models.values():
        # A page that costs too much is reported when it is shown.
        learn_batch(model, held, lambda *_: None)


def _editions(known: Sequence[Reported], *, members: int) -> Iterator[tuple[str, list[Edition | None]]]:
    """Yield the versions that exist, by name.

    The raw versions of a site are all of one kind, because models cannot mix them: those with a layout if all of the
    first `members` pages have one, else parsed sources.
    """
    rendered = [one.rendered for one in known]
    if any(rendered):
        yield "rendered", rendered
    unscripted = [one.unscripted for one in known]
    raw = unscripted if all(unscripted[:members]) else [one.raw for one in known]
    if any(raw):
        yield "raw", raw


def _tiles(record: PageRecord, store: PageStore) -> list[Tile]:
    """Return the tiles of the screenshot of a page; empty without a screenshot."""
    facts = store.extra(record, SCREENSHOT)
    if facts is None:
        return []
    tiles: list[Tile] = []
    for tile in msgspec.json.decode(facts)["tiles"]:
        image = store.extra(record, tile["name"])
        if image is not None:
            tiles.append(Tile(tile["y"], tile["height"], image))
    return tiles


def _utf8(text: str) -> str:
    """Return text without lone surrogates, which file names may contain."""
    return text.encode("utf-8", "replace").decode()
