"""What a method kept and dropped of a page, block by block, with the figures behind it.

Imports the Snapshot, the flow of text and parts of the other writers.
"""

from math import isfinite

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.flow import BLOCK, CELL, NONE, boundaries, text_flow
from domsieve.analysis.kinds.finding import node_kinds
from domsieve.analysis.marks.mark import Mark
from domsieve.analysis.metadata.reading import read_metadata
from domsieve.analysis.metadata.values import Metadata
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.html import Source, written_texts
from domsieve.analysis.writers.text import write_text
from domsieve.budget import check, spending
from domsieve.plain import utf8
from domsieve.snapshot import Fault, Kind, Producer, Scalar, Snapshot
from domsieve.vocabulary import BLOCK_KINDS, BlockKind

_MOST_STEPS = 16
_JOINTS = ("", " ", "\t", "\n", "\n")  # by gap


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Neighbouring lines of text on which one decision was made.

    Parameters
    ----------
    start, end : the nodes ``start .. end - 1`` of the page hold the text, and perhaps more.
    path : tags from the root down to the element around the text, the last 16 of them.
    kept : whether the text is in the result.
    score : the method's score, in [0, 1].
    reason : the rule that decided.
    numbers : the figures behind the decision, by name.
    kind : what the block is besides main text, None for that: see ``docs/kinds.md``.
    words : words of `text`, parted by white space.
    text : the text, a line per block of the page.
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
    complete: bool
    reasons: tuple[str, ...]
    status: int | None
    fault: Fault | None
    marks: tuple[Mark, ...]
    metadata: Metadata
    method: str
    instead_of: str
    parameters: dict[str, Scalar]
    expected_f1: float | None
    words: _Words
    text: str
    blocks: list[Block]


def write_json(page: Snapshot, verdict: Verdict) -> str:
    """Return one line of JSON: its origin and metadata, the method, the kept text, the evidence by block."""
    with spending("write", page.provenance.url):
        return _json(page, verdict)


def _json(page: Snapshot, verdict: Verdict) -> str:
    blocks = text_blocks(page, verdict)
    evidence = _Evidence(
        url=utf8(page.provenance.url),
        final_url=utf8(page.provenance.final_url),
        producer=page.provenance.producer,
        complete=page.provenance.complete,
        reasons=page.provenance.reasons,
        status=page.provenance.status,
        fault=verdict.fault,
        marks=verdict.marks,
        metadata=read_metadata(page),
        method=verdict.method,
        instead_of=verdict.instead_of,
        parameters={
            name: utf8(value) if isinstance(value, str) else value
            for name, value in sorted(verdict.parameters.items())
        },
        expected_f1=None if verdict.expected_f1 is None else round(verdict.expected_f1, 3),
        words=_Words(
            kept=sum(block.words for block in blocks if block.kept),
            dropped=sum(block.words for block in blocks if not block.kept),
        ),
        text=write_text(page, verdict),
        blocks=blocks,
    )
    return msgspec.json.encode(evidence).decode() + "\n"


def dropped_blocks(page: Snapshot, verdict: Verdict, *, limit: int = 10) -> list[Block]:
    """Return the `limit` dropped blocks with the most words, most words first."""
    dropped = [block for block in text_blocks(page, verdict) if not block.kept]
    return sorted(dropped, key=lambda block: -block.words)[:limit]


def text_blocks(page: Snapshot, verdict: Verdict) -> list[Block]:
    """Return all text of the page as blocks in document order; neighbouring lines of one decision are one.

    One decision means the same rule, score and numbers on the same kind of block; a line is parted only where what is
    kept begins or ends.
    """
    with spending("write", page.provenance.url):
        return _blocks(page, verdict)


def _blocks(page: Snapshot, verdict: Verdict) -> list[Block]:
    around = boundaries(page)
    flow = text_flow(page, page.kind == Kind.TEXT, around)
    source = Source(page)
    texts = written_texts(source, flow)
    wide = ((around == CELL) | (around == BLOCK)).tolist()
    kinds = node_kinds(page)
    columns = [verdict.kept, verdict.reason, verdict.score, kinds, *verdict.numbers.values()]
    decisions = list(zip(*(column[flow.node].tolist() for column in columns), strict=True))
    blocks: list[Block] = []
    nodes: list[int] = []
    pieces: list[str] = []
    made: tuple[float, ...] = ()
    for node, decision in zip(flow.node.tolist(), decisions, strict=True):
        text, gap = texts[node][:2] if node in texts else ("", NONE)
        if text.strip():
            # Inside a line the verdicts of single elements differ in numbers that say nothing new.
            told = 1 if gap < CELL else len(decision)
            if nodes and repr(decision[:told]) != repr(made[:told]):  # by repr, since NaN is not NaN
                blocks.append(_block(source, verdict, kinds, wide, nodes, pieces))
                nodes, pieces = [], []
            if not nodes:
                made = decision
            nodes.append(node)
        pieces += [_JOINTS[gap], text]
    if nodes:
        blocks.append(_block(source, verdict, kinds, wide, nodes, pieces))
    return blocks


def _block(
    source: Source,
    verdict: Verdict,
    kinds: NDArray[np.uint8],
    wide: list[bool],
    nodes: list[int],
    pieces: list[str],
) -> Block:
    check()
    first, last = nodes[0], nodes[-1]
    around = source.parent[first]
    while around > 0 and (source.end[around] <= last or not wide[around]):
        around = source.parent[around]
    numbers = {name: float(column[first]) for name, column in verdict.numbers.items()}
    text = "".join(pieces).strip()
    return Block(
        start=first,
        end=last + 1,
        path=_path(source, around),
        kept=bool(verdict.kept[first]),
        score=round(float(verdict.score[first]), 6),
        reason=verdict.reasons[verdict.reason[first]],
        numbers={name: round(number, 6) for name, number in numbers.items() if isfinite(number)},
        kind=_kind(source, kinds, nodes),
        words=len(text.split()),
        text=text,
    )


def _kind(source: Source, kinds: NDArray[np.uint8], nodes: list[int]) -> BlockKind | None:
    """Return the kind of most of the text in the nodes."""
    sizes = [len(source.text(node)) for node in nodes]
    number = int(np.argmax(np.bincount(kinds[nodes], sizes)))
    return BLOCK_KINDS[number - 1] if number else None


def _path(source: Source, node: int) -> str:
    steps: list[str] = []
    while node > 0 and len(steps) < _MOST_STEPS:
        steps.append(source.names[source.tag[node]])
        node = source.parent[node]
    return "/".join(reversed([*steps, "…"] if node > 0 else steps))
