"""Write what a method kept and dropped, block by block, with the numbers behind its decisions."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.block_types.detection import node_kinds
from domsieve.analysis.columns.flow import BLOCK, CELL, NONE, boundaries, text_flow
from domsieve.analysis.columns.invisible import invisible_characters, visible_page
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.metadata.values import Metadata
from domsieve.analysis.page_flags.flags import Mark
from domsieve.analysis.verdict import PageWarning, Verdict
from domsieve.analysis.writers.html import Source, written_texts
from domsieve.analysis.writers.text import write_text
from domsieve.budget import check, spending
from domsieve.sanitize import utf8
from domsieve.snapshot.fault import Fault
from domsieve.snapshot.page import Kind, Producer, Scalar, Snapshot
from domsieve.snapshot.pixels import unsure_texts
from domsieve.types import BLOCK_KINDS, BlockKind

_JOINTS = ("", " ", "\t", "\n", "\n")  # by gap


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Adjacent lines of text with the same decision.

    Parameters
    ----------
    start, end : node range ``start .. end`` of the text; it may contain further nodes.
    path : tag names from the root to the element around the text, at most the last 16.
    kept : the text is part of the result.
    score : score of the method, in [0, 1].
    reason : the rule that decided.
    numbers : numbers behind the decision, by name.
    kind : type of the block, None for main text; see ``docs/kinds.md``.
    words : number of words in `text`, separated by white space.
    text : the text, with one line per block of the page.
    """

    start: int
    end: int
    path: str
    kept: bool
    score: float
    reason: str
    numbers: dict[str, float]
    kind: BlockKind | None
    words: int
    text: str


class _Words(msgspec.Struct, frozen=True, kw_only=True):
    kept: int
    dropped: int


class _Evidence(msgspec.Struct, frozen=True, kw_only=True):
    url: str
    final_url: str
    producer: Producer
    rendered: bool
    reason: str
    complete: bool
    reasons: tuple[str, ...]
    status: int | None
    fault: Fault | None
    marks: tuple[Mark, ...]
    warnings: tuple[PageWarning, ...]
    metadata: Metadata
    method: str
    instead_of: str
    parameters: dict[str, Scalar]
    threshold: float | None
    expected_f1: float | None
    site_pages: int
    words: _Words
    invisible_characters: int
    unsure_texts: int
    text: str
    blocks: list[Block]


def write_json(page: Snapshot, verdict: Verdict) -> str:
    """Return one line of JSON with origin, metadata, method, kept text, and the evidence by block.

    Parameters
    ----------
    page : the page.
    verdict : verdict of a method on this page.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("write", page.provenance.url):
        return _json(page, verdict)


def _json(page: Snapshot, verdict: Verdict) -> str:
    blocks = text_blocks(page, verdict)
    evidence = _Evidence(
        url=utf8(page.provenance.url),
        final_url=utf8(page.provenance.final_url),
        producer=page.provenance.producer,
        rendered=page.has_layout,
        reason=utf8(page.provenance.reason),
        complete=page.provenance.complete,
        reasons=page.provenance.reasons,
        status=page.provenance.status,
        fault=verdict.fault,
        marks=verdict.marks,
        warnings=verdict.warnings,
        metadata=read_metadata(page),
        method=verdict.method,
        instead_of=verdict.instead_of,
        parameters={
            name: utf8(value) if isinstance(value, str) else value
            for name, value in sorted(verdict.parameters.items())
        },
        threshold=None if verdict.threshold is None else round(verdict.threshold, 6),
        expected_f1=None if verdict.expected_f1 is None else round(verdict.expected_f1, 3),
        site_pages=verdict.site_pages,
        words=_Words(
            kept=sum(block.words for block in blocks if block.kept),
            dropped=sum(block.words for block in blocks if not block.kept),
        ),
        invisible_characters=invisible_characters(page, verdict.kept),
        unsure_texts=unsure_texts(page),
        text=write_text(page, verdict),
        blocks=blocks,
    )
    return msgspec.json.encode(evidence).decode() + "\n"


def dropped_blocks(page: Snapshot, verdict: Verdict, *, limit: int = 10) -> list[Block]:
    """Return the dropped blocks with the most words, at most `limit`, sorted by number of words."""
    dropped = [block for block in text_blocks(page, verdict) if not block.kept]
    return sorted(dropped, key=lambda block: -block.words)[:limit]


def text_blocks(page: Snapshot, verdict: Verdict) -> list[Block]:
    """Return all text of the page as blocks in document order; adjacent lines with the same decision are one block.

    Decisions are the same if rule, score, numbers and type of block are equal. A single line is divided only where
    kept and dropped text meet.
    """
    with spending("write", page.provenance.url):
        return _blocks(page, verdict)


def block_columns(page: Snapshot, verdict: Verdict) -> dict[str, list[Any]]:
    """Return the blocks of `text_blocks` as columns of a table; faster than objects for many pages."""
    with spending("write", page.provenance.url):
        page = visible_page(page, verdict.kept)
        kinds = node_kinds(page)
        cuts = list(_cuts(page, verdict, kinds))
        first = np.array([cut.nodes[0] for cut in cuts], np.int64)
        return {
            "path": [cut.path for cut in cuts],
            "kind": [cut.kind for cut in cuts],
            "kept": verdict.kept[first].tolist(),
            "score": verdict.score[first].tolist(),
            "reason": [verdict.reasons[number] for number in verdict.reason[first].tolist()],
            "words": [len(cut.text.split()) for cut in cuts],
            "text": [cut.text for cut in cuts],
        }


def _blocks(page: Snapshot, verdict: Verdict) -> list[Block]:
    page = visible_page(page, verdict.kept)
    return [_block(verdict, cut) for cut in _cuts(page, verdict, node_kinds(page))]


class _Cut(NamedTuple):
    """A block before it becomes a `Block`: text nodes, path, type and text."""

    nodes: list[int]
    path: str
    kind: BlockKind | None
    text: str


def _cuts(page: Snapshot, verdict: Verdict, kinds: NDArray[np.uint8]) -> Iterator[_Cut]:
    around = boundaries(page)
    flow = text_flow(page, page.kind == Kind.TEXT, around)
    source = Source(page)
    texts = written_texts(source, flow)
    wide = ((around == CELL) | (around == BLOCK)).tolist()
    paths: dict[int, str] = {}
    kept = verdict.kept[flow.node].tolist()
    columns = (verdict.kept, verdict.reason, verdict.score, kinds, *verdict.numbers.values())
    decisions = _decisions([column[flow.node] for column in columns])
    nodes: list[int] = []
    pieces: list[str] = []
    made, made_kept = b"", False

    def cut() -> _Cut:
        check()
        first, last = nodes[0], nodes[-1]
        above = source.parent[first]
        while above > 0 and (source.end[above] <= last or not wide[above]):
            above = source.parent[above]
        if above not in paths:
            paths[above] = source.path(above)
        return _Cut(nodes, paths[above], _kind(source, kinds, nodes), "".join(pieces).strip())

    for node, is_kept, decision in zip(flow.node.tolist(), kept, decisions, strict=True):
        text, gap = texts[node][:2] if node in texts else ("", NONE)
        if text.strip():
            # Within a line, only whether the text is kept matters, not the numbers of single elements.
            if nodes and (is_kept != made_kept if gap < CELL else decision != made):
                yield cut()
                nodes, pieces = [], []
            if not nodes:
                made, made_kept = decision, is_kept
            nodes.append(node)
        pieces += [_JOINTS[gap], text]
    if nodes:
        yield cut()


def _decisions(columns: Sequence[NDArray[Any]]) -> list[bytes]:
    """Return the rows of the columns as bytes; equal rows are equal bytes, also with NaN."""
    table = np.empty((columns[0].size, len(columns)), np.float32)
    for number, column in enumerate(columns):
        table[:, number] = column
    table[np.isnan(table)] = np.nan
    rows = table.view(np.dtype((np.void, table.itemsize * len(columns))))
    return cast(list[bytes], rows.ravel().tolist())


def _block(verdict: Verdict, cut: _Cut) -> Block:
    first, last = cut.nodes[0], cut.nodes[-1]
    numbers = {name: float(column[first]) for name, column in verdict.numbers.items()}
    return Block(
        start=first,
        end=last + 1,
        path=cut.path,
        kept=bool(verdict.kept[first]),
        score=round(float(verdict.score[first]), 6),
        reason=verdict.reasons[verdict.reason[first]],
        numbers={name: round(number, 6) for name, number in numbers.items() if isfinite(number)},
        kind=cut.kind,
        words=len(cut.text.split()),
        text=cut.text,
    )


def _kind(source: Source, kinds: NDArray[np.uint8], nodes: list[int]) -> BlockKind | None:
    """Return the type of block that most of the text in the nodes has."""
    if len(nodes) == 1:
        number = int(kinds[nodes[0]])
        return BLOCK_KINDS[number - 1] if number else None
    sizes = [len(source.text(node)) for node in nodes]
    number = int(np.argmax(np.bincount(kinds[nodes], sizes)))
    return BLOCK_KINDS[number - 1] if number else None
