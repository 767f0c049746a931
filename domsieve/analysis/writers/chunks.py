"""Write the kept nodes of a page as passages for retrieval: cut at headings, and where a section is too long."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import dedent

import msgspec
import numpy as np

from domsieve.analysis.columns.batch import Ints
from domsieve.analysis.columns.flow import SPACE
from domsieve.analysis.columns.words import Characters
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers._markdown_blocks import Piece, Role
from domsieve.analysis.writers._markdown_plan import Plan
from domsieve.analysis.writers.markdown import written_blocks
from domsieve.budget import check, spending
from domsieve.errors import UsageError
from domsieve.files import digest_of
from domsieve.sanitize import utf8
from domsieve.snapshot.page import Snapshot

MAX_WORDS = 300
"""Default for the maximum number of words in a passage."""
FEWEST_WORDS = 20
"""Smallest maximum that can be chosen."""

_LINK_ADDRESS = re.compile(r"\]\([^()\s]*\)")
_UNCUT = re.compile(r"!?\[[^\[\]]*\]\([^()\s]*\)|`[^`]*`")
_BLANKS = re.compile(r"\s+")
_SENTENCE_ENDS = re.compile(r"[.!?…][\"'”’)\]]{0,3}\s+|[。！？]")
_ANCHORED = frozenset({"article", "div", "section"})


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A passage.

    Parameters
    ----------
    id : hash of the page's address and of `text`, 32 hex digits; if the page has the same text again, also of how
        often it came before.
    headings : headings above the passage, from the top level down to its own.
    fragment : id of its section, for the address of the page; empty if there is none.
    text : Markdown, including the headings directly above the passage.
    words : number of words in `text` without addresses of links; in Chinese, Japanese, Thai and similar scripts, of
        characters.
    nodes : first node of the Snapshot that the passage has words of, and one past the last; nodes between them may be
        dropped. Passages that were cut from one block have the same.
    path : tag names from the root to the element around these nodes, at most the last 16, as in `Block`.
    """

    id: str
    headings: tuple[str, ...]
    fragment: str
    text: str
    words: int
    nodes: tuple[int, int]
    path: str


def chunks_of(page: Snapshot, verdict: Verdict, *, max_words: int = MAX_WORDS) -> list[Chunk]:
    """Return the kept nodes of a page as passages in document order.

    A passage never extends beyond a heading. Code, tables and formulas are never cut, even if they exceed
    `max_words`. A paragraph is cut only if it exceeds `max_words` on its own, after a sentence if possible.

    Parameters
    ----------
    page : the page.
    verdict : verdict of a method on this page.
    max_words : maximum number of words in a passage, at least 20.

    Raises
    ------
    UsageError : `max_words` is less than 20.
    BudgetError : the page exceeded its budget.
    """
    if max_words < FEWEST_WORDS:
        raise UsageError(f"max_words must be {FEWEST_WORDS} or more, not {max_words}.", parameter="max_words")
    with spending("write", page.provenance.url):
        blocks, plan = written_blocks(page, verdict)
        cutter = _Cutter(plan, max_words, page.provenance.final_url)
        return list(cutter.chunks(blocks.pieces, blocks.parts()))


def passage_id(url: str, text: str, *, before: int = 0) -> str:
    """Return the id of a passage, 32 hex digits.

    Parameters
    ----------
    url : address of the page.
    text : text of the passage.
    before : how often the page has the same text before it.
    """
    number = f"{before}\0" if before else ""
    return digest_of(utf8(f"{url}\0{number}{text}").encode())


def write_chunks(page: Snapshot, verdict: Verdict, *, max_words: int = MAX_WORDS) -> str:
    """Return the passages of `chunks_of` as JSON lines, each with address, headings, metadata and text."""
    chunks = chunks_of(page, verdict, max_words=max_words)
    fields = msgspec.to_builtins(read_metadata(page))
    metadata = {name: value for name, value in fields.items() if value}
    url = page.provenance.final_url
    lines = []
    for number, chunk in enumerate(chunks, 1):
        check()
        facts = {
            "url": url,
            # An address with a fragment, such as the route of an app, cannot have a second one.
            "address": f"{url}#{chunk.fragment}" if chunk.fragment and "#" not in url else url,
            "number": number,
            "of": len(chunks),
            **msgspec.to_builtins(chunk),
            "metadata": metadata,
            "expected_f1": None if verdict.expected_f1 is None else round(verdict.expected_f1, 3),
        }
        lines.append(utf8(json.dumps(facts, ensure_ascii=False)) + "\n")
    return "".join(lines)


@dataclass(slots=True)
class _Passage:
    """Builder of a passage."""

    parts: list[str] = field(default_factory=list)
    words: int = 0
    has_text: bool = False
    nodes: tuple[int, int] | None = None

    def add(self, part: str, words: int, nodes: tuple[int, int], *, is_text: bool) -> None:
        if nodes[1]:
            before = self.nodes or nodes
            self.nodes = (min(before[0], nodes[0]), max(before[1], nodes[1]))
        self.parts.append(part)
        self.words += words
        self.has_text |= is_text


class _Cutter:
    """Cuts the blocks of a document into passages."""

    def __init__(self, plan: Plan, max_words: int, url: str) -> None:
        self._plan, self._url = plan, url
        self._most = max_words
        self._headings: list[tuple[int, str]] = []  # levels and texts
        self._fragment = ""
        self._passage = _Passage()
        self._seen: Counter[str] = Counter()  # texts
        self._reached = 0  # one past the last node

    def chunks(self, pieces: Sequence[Piece], parts: Sequence[list[str]]) -> Iterator[Chunk]:
        """Yield the passages."""
        texts = ["\n".join(part) for part in parts]
        for piece, text, words in zip(pieces, texts, _words(texts), strict=True):
            check()
            if piece.role == Role.HEADING:
                if self._passage.has_text:
                    yield self._end()
                self._enter(piece)
                self._passage.add(text, words, piece.nodes, is_text=False)
                continue
            short = (
                [(text, words)] if words <= self._most or piece.role == Role.WHOLE else _cut(text, self._most)
            )
            for one, count in short:
                if self._passage.has_text and self._passage.words + count > self._most:
                    yield self._end()
                self._passage.add(one, count, piece.nodes, is_text=True)
        if self._passage.parts:
            yield self._end()

    def _end(self) -> Chunk:
        passage, self._passage = self._passage, _Passage()
        # Later blocks of a list item are indented, and on their own would be read as code.
        text = dedent("\n\n".join(passage.parts)).strip("\n")
        headings = tuple(heading for _, heading in self._headings)
        before = self._seen[text]
        self._seen[text] += 1
        nodes = passage.nodes or (self._reached, self._reached)
        self._reached = nodes[1]
        return Chunk(
            id=passage_id(self._url, text, before=before),
            headings=headings,
            fragment=self._fragment,
            text=text,
            words=passage.words,
            nodes=nodes,
            path=self._path(*nodes),
        )

    def _path(self, first: int, end: int) -> str:
        reader = self._plan.reader
        around = reader.parent[first] if first < len(reader.parent) else 0
        while around > 0 and reader.end[around] < end:
            around = reader.parent[around]
        return reader.path(around)

    def _enter(self, heading: Piece) -> None:
        while self._headings and self._headings[-1][0] >= heading.level:
            self._headings.pop()
        plan, reader = self._plan, self._plan.reader
        inside = [
            plan.texts[node] for node in range(heading.node, reader.end[heading.node]) if node in plan.texts
        ]
        text = "".join(f"{' ' * (written.gap >= SPACE)}{written.text}" for written in inside)
        self._headings.append((heading.level, " ".join(text.split())))
        self._fragment = self._anchor(heading.node) or ""

    def _anchor(self, node: int) -> str:
        """Return the id of a heading, of an element in it, or of the section that begins with it."""
        reader = self._plan.reader
        for inside in range(node, reader.end[node]):
            given = reader.given(inside)
            if name := given.get("id") or (
                given.get("name", "") if reader.names[reader.tag[inside]] == "a" else ""
            ):
                return name
        above = reader.parent[node]
        if above == node - 1 and reader.names[reader.tag[above]] in _ANCHORED:
            return reader.given(above).get("id", "")
        return ""


def _words(texts: Sequence[str]) -> list[int]:
    counts: list[int] = Characters.of([_LINK_ADDRESS.sub("]", text) for text in texts]).words.tolist()
    return counts


def _cut(text: str, most: int) -> Iterator[tuple[str, int]]:
    """Yield parts of a text with their words, at most `most` each; cut after a sentence or else between words."""
    begin = Characters.of([text]).begin
    uncut = [match.span() for match in _UNCUT.finditer(text)]
    sentences = _outside(np.array([match.end() for match in _SENTENCE_ENDS.finditer(text)], np.int64), uncut)
    blanks = _outside(np.array([match.end() for match in _BLANKS.finditer(text)], np.int64), uncut)
    start = 0
    while start < len(text):
        check()
        first = int(np.searchsorted(begin, start))
        if first + most >= begin.size:
            end = len(text)
        else:
            limit = int(begin[first + most])
            half = int(begin[first + most // 2])
            end = _last(sentences, half, limit) or _last(blanks, start, limit) or limit
        part = text[start:end].strip()
        if part:
            yield part, _words([part])[0]
        start = end


def _outside(places: Ints, spans: Sequence[tuple[int, int]]) -> Ints:
    """Return those of the ascending places that are outside all spans; spans are ascending and disjoint."""
    edges = np.array(spans, np.int64).reshape(-1, 2)
    begun, ended = np.searchsorted(edges[:, 0], places), np.searchsorted(edges[:, 1], places, "right")
    return np.asarray(places[begun == ended])


def _last(places: Ints, after: int, limit: int) -> int:
    """Return the last of the places that is above `after` and at most `limit`, 0 if there is none."""
    at = int(np.searchsorted(places, limit, "right")) - 1
    return int(places[at]) if at >= 0 and places[at] > after else 0
