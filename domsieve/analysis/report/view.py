"""What the report shows of one page, as columns that become JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.block_types.detection import node_kinds
from domsieve.analysis.columns.batch import F64, Ints
from domsieve.analysis.columns.page_blocks import PageBlocks, box_around
from domsieve.analysis.fields.extraction import extract
from domsieve.analysis.fields.fields_model import FieldsModel
from domsieve.analysis.metadata.product import read_product
from domsieve.analysis.metadata.values import LONGEST_URL, clean_text
from domsieve.analysis.records.result import Records
from domsieve.analysis.trees.outline import SiteOutline
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Scalar, Snapshot

DROPPED, KEPT, PARTLY = range(3)
# Limits of the drawing; content beyond is shown at the edge.
_WIDEST_PX, _TALLEST_PX = 10_000.0, 300_000.0


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Decisions of a method on B blocks. All but `state` are those of the block's main text node, its voice.

    Parameters
    ----------
    state : int64 (B,), DROPPED, KEPT, or PARTLY if only some of the texts are kept.
    score : float32 (B,), in [0, 1].
    reason : int64 (B,), indices into the reasons of the verdict.
    numbers : float32 (B,) each, by name; NaN where they do not apply.
    """

    state: Ints
    score: NDArray[np.float32]
    reason: Ints
    numbers: dict[str, NDArray[np.float32]]


def judge(blocks: PageBlocks, verdict: Verdict) -> Judgement:
    """Return the decisions of `verdict` on the blocks of its page."""
    kept = verdict.kept[blocks.node]
    count = np.bincount(blocks.block, minlength=len(blocks))
    share = np.bincount(blocks.block, kept, len(blocks))
    return Judgement(
        state=np.select((share == 0, share == count), (DROPPED, KEPT), PARTLY),
        score=verdict.score[blocks.voice],
        reason=verdict.reason[blocks.voice].astype(np.int64),
        numbers={name: column[blocks.voice] for name, column in verdict.numbers.items()},
    )


def record_boxes(page: Snapshot, records: Records) -> tuple[F64, Ints]:
    """Return the boxes (R, 4), in CSS px, of the R records that have one, and their regions (R,)."""
    boxes, regions = [np.zeros((0, 4))], list[int]()
    for record in range(len(records)):
        rows = np.concatenate([page.box[a:b] for a, b in records.pieces_of(record)]).astype(np.float64)
        rows = rows[~np.isnan(rows[:, 0]) & (rows[:, 2] > 0) & (rows[:, 3] > 0)]
        if len(rows):
            boxes.append(box_around(rows, np.array([0, len(rows)])))
            regions.append(int(records.region[record]))
    return np.concatenate(boxes), np.array(regions, np.int64)


def page_extent(page: Snapshot, blocks: PageBlocks) -> tuple[float, float]:
    """Return width and height of the drawing of a page in CSS px; 0, 0 without layout."""
    if not page.has_layout or not len(page):
        return 0.0, 0.0
    roots = page.box[:8][~np.isnan(page.box[:8, 0])].astype(np.float64)
    width = float(roots[:, 2].max(initial=0)) or 1280.0
    seen = blocks.box[(blocks.hidden == 0) & ~np.isnan(blocks.box[:, 0])]
    bottom = float((seen[:, 1] + seen[:, 3]).max(initial=0))
    height = max(bottom, float((roots[:, 1] + roots[:, 3]).max(initial=0)))
    return min(width, _WIDEST_PX), min(height, _TALLEST_PX)


LONGEST_TEXT = 4_000
MOST_RECURRENCES = 50
_MOST_RECORDS = 3_000


class MethodView(msgspec.Struct, frozen=True, kw_only=True):
    """Decisions of one method on the B blocks of a page. A column of equal entries is written as a single entry."""

    state: Any
    score: Any
    reason: Any
    reasons: tuple[str, ...]
    numbers: dict[str, Any]
    parameters: dict[str, Scalar]
    words: tuple[int, int]  # kept and dropped; blocks that are kept in part count as kept
    threshold: float | None
    expected_f1: float | None
    warnings: list[str]


class RecordsView(msgspec.Struct, frozen=True, kw_only=True):
    """Boxes of records, four numbers each, and their regions."""

    box: list[int]
    region: list[int]


class ValueView(msgspec.Struct, frozen=True, kw_only=True):
    """A value that was extracted from a page, where it was found, and its block; -1 without one."""

    name: str
    text: str
    source: str
    block: int


class PageView(msgspec.Struct, frozen=True, kw_only=True):
    """One version (rendered or raw) of a page; `box` has four numbers per block, and is empty without layout."""

    url: str
    values: list[ValueView]
    learned: bool  # whether the values are those of a model; else they are those of the product
    width: int
    height: int
    text: list[str]
    cut: dict[int, int]  # characters of texts that were cut
    words: list[int]
    node: list[int]
    end: list[int]
    path: Any
    paths: list[str]
    box: list[int | None]
    hidden: Any
    kind: Any  # numbers of `BLOCK_KINDS`, from 1; 0 for none
    recurs: Any
    groups: list[tuple[int, list[int]]]  # number of pages, and the first of them
    tree: Any
    methods: dict[str, MethodView]
    records: dict[str, RecordsView]


class TreeView(msgspec.Struct, frozen=True, kw_only=True):
    """The outline of a site tree."""

    pages: int
    nodes: int
    threshold: float
    parent: list[int]
    label: list[str]
    importance: list[float]
    count: list[int]
    words: list[int]
    below: list[int]
    mark: list[int]


@dataclass(slots=True)
class Recurrences:
    """The pages of a site on which each text recurs.

    Parameters
    ----------
    pages : numbers of the pages by hash of the words of the text, in the order they were added.
    """

    pages: dict[int, list[int]] = field(default_factory=dict)

    def add(self, number: int, blocks: PageBlocks) -> None:
        """Add the blocks of page `number` of the report."""
        for key in np.unique(blocks.key[blocks.key != 0]).tolist():
            self.pages.setdefault(key, []).append(number)

    def of(self, blocks: PageBlocks, *, own: int) -> tuple[list[int], list[tuple[int, list[int]]]]:
        """Group blocks by the other pages that contain them.

        Parameters
        ----------
        blocks : blocks of a page.
        own : number of this page.

        Returns
        -------
        The group of each block, -1 for blocks that are on no other page; and for each group the number of other pages
        and the numbers of the first `MOST_RECURRENCES`.
        """
        groups: dict[tuple[int, ...], int] = {}
        group_of: list[int] = []
        sizes: list[tuple[int, list[int]]] = []
        for key in blocks.key.tolist():
            others = [number for number in self.pages.get(key, ()) if number != own]
            if not others:
                group_of.append(-1)
                continue
            first = tuple(others[:MOST_RECURRENCES])
            group = groups.setdefault((len(others), *first), len(sizes))
            if group == len(sizes):
                sizes.append((len(others), list(first)))
            group_of.append(group)
        return group_of, sizes


def page_view(
    page: Snapshot,
    blocks: PageBlocks,
    verdicts: Mapping[str, Verdict],
    *,
    records: Mapping[str, Records],
    recurrences: Recurrences,
    number: int,
    places: Ints | None,
    model: FieldsModel | None = None,
) -> PageView:
    """Return what the report shows about a page of N nodes.

    Parameters
    ----------
    page, blocks : the page and its blocks.
    verdicts, records : results of methods for this page, by name of the method.
    recurrences : texts of all pages of the site.
    number : number of this page in the report.
    places : int64 (N,), the node of the site tree's outline for each node; None without an outline.
    model : the fields whose values are shown; None for those of the product.
    """
    width, height = page_extent(page, blocks)
    paths = sorted(set(blocks.path))
    path_number = {path: i for i, path in enumerate(paths)}
    recurs, groups = recurrences.of(blocks, own=number)
    return PageView(
        url=clean_text(page.provenance.url, LONGEST_URL),
        values=_product_values(page, blocks) if model is None else _learned_values(page, blocks, model),
        learned=model is not None,
        width=round(width),
        height=round(height),
        text=[text[:LONGEST_TEXT] for text in blocks.text],
        cut={i: len(text) for i, text in enumerate(blocks.text) if len(text) > LONGEST_TEXT},
        words=blocks.words.tolist(),
        node=blocks.start.tolist(),
        end=blocks.end.tolist(),
        path=_short([path_number[path] for path in blocks.path]),
        paths=paths,
        box=_whole(blocks.box) if page.has_layout else [],
        hidden=_short(blocks.hidden.tolist()),
        kind=_short(node_kinds(page)[blocks.voice].tolist()),
        recurs=_short(recurs),
        groups=groups,
        tree=-1 if places is None else _short(places[blocks.voice].tolist()),
        methods={name: _method_view(blocks, verdict) for name, verdict in verdicts.items()},
        records={name: _records_view(page, found) for name, found in records.items()},
    )


def _product_values(page: Snapshot, blocks: PageBlocks) -> list[ValueView]:
    """Return the fields of the product that the page is about; none for other pages."""
    product = read_product(page)
    if product is None:
        return []
    values = []
    for name, source in product.sources.items():
        block = _block_of(page, blocks, product.nodes.get(name, -1))
        values.append(ValueView(name=name, text=getattr(product, name), source=source, block=block))
    return values


def _learned_values(page: Snapshot, blocks: PageBlocks, model: FieldsModel) -> list[ValueView]:
    """Return the values of the fields of a model, those of records with the number of the record."""
    found = extract(page, model)
    values: list[ValueView] = []
    for number, row in enumerate((found.records or (found.fields,))[:_MOST_RECORDS], 1):
        for name, one in row.items():
            if one.value is None:
                continue
            text = one.value if isinstance(one.value, str) else "; ".join(one.value)
            values.append(
                ValueView(
                    name=clean_text(f"{number}. {name}" if model.records else name, LONGEST_TEXT),
                    text=clean_text(text, LONGEST_TEXT),
                    source=clean_text(f"{one.confidence:.2f}, {one.description}", LONGEST_TEXT),
                    block=_block_of(page, blocks, one.node),
                )
            )
    return values


def _block_of(page: Snapshot, blocks: PageBlocks, node: int) -> int:
    """Return the first block that has texts of a node, or the one around a text; -1 if there is none."""
    inside = np.flatnonzero(_holds(page, blocks, node))
    return int(inside[0]) if len(inside) else -1


def _holds(page: Snapshot, blocks: PageBlocks, node: int) -> NDArray[np.bool_]:
    """Return for each block whether it has texts of a node."""
    held = np.zeros(len(blocks), np.bool_)
    if node >= 0:
        held[blocks.block[(blocks.node >= node) & (blocks.node < page.end[node])]] = True
    return held


def tree_view(outline: SiteOutline) -> TreeView:
    """Return the outline of a site tree as columns."""
    return TreeView(
        pages=outline.tree_pages,
        nodes=outline.tree_nodes,
        threshold=round(outline.threshold, 4),
        parent=outline.parent.tolist(),
        label=outline.label,
        importance=np.round(outline.importance, 4).tolist(),
        count=outline.pages.tolist(),
        words=outline.words.tolist(),
        below=outline.below.tolist(),
        mark=outline.mark.tolist(),
    )


def _method_view(blocks: PageBlocks, verdict: Verdict) -> MethodView:
    judgement = judge(blocks, verdict)
    return MethodView(
        state=_short(judgement.state.tolist()),
        score=_figures(judgement.score),
        reason=_short(judgement.reason.tolist()),
        reasons=verdict.reasons,
        numbers={name: _figures(column) for name, column in sorted(judgement.numbers.items())},
        parameters=dict(sorted(verdict.parameters.items())),
        words=_kept_words(blocks, judgement),
        threshold=None if verdict.threshold is None else round(verdict.threshold, 6),
        expected_f1=None if verdict.expected_f1 is None else round(verdict.expected_f1, 3),
        warnings=[warning.detail for warning in verdict.warnings],
    )


def _kept_words(blocks: PageBlocks, judgement: Judgement) -> tuple[int, int]:
    kept, dropped = (int(blocks.words[judgement.state == state].sum()) for state in (KEPT, DROPPED))
    partly = int(blocks.words.sum()) - kept - dropped
    return kept + partly, dropped


def _records_view(page: Snapshot, records: Records) -> RecordsView:
    box, region = record_boxes(page, records)
    return RecordsView(
        box=np.rint(_limited(box[:_MOST_RECORDS])).astype(int).ravel().tolist(),
        region=region[:_MOST_RECORDS].tolist(),
    )


def _whole(box: NDArray[np.float64]) -> list[int | None]:
    return [None if isnan(edge) else round(edge) for edge in _limited(box).ravel().tolist()]


def _limited(box: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(box, -1e6, 1e7)


def _figures(column: NDArray[np.float32]) -> Any:
    """Return numbers rounded to four significant digits, whole ones as int, NaN as None."""
    values = column.astype(np.float64).tolist()
    return _short([None if isnan(v) else int(v) if v.is_integer() else float(f"{v:.4g}") for v in values])


def _short(column: Sequence[Any]) -> Any:
    return column[0] if len(column) and all(value == column[0] for value in column) else list(column)
