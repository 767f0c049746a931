"""The kept nodes of a page as passages for retrieval: cut at headings, and where a section is too long.

Imports the Snapshot, the characters of texts and parts of the other writers.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import dedent

import msgspec
import numpy as np

from domsieve.analysis.columns.batch import Ints
from domsieve.analysis.columns.flow import SPACE
from domsieve.analysis.columns.words import Characters
from domsieve.analysis.metadata.reading import read_metadata
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.markdown import written_blocks
from domsieve.analysis.writers.markdown_blocks import Piece, Role
from domsieve.analysis.writers.markdown_plan import Plan
from domsieve.budget import check, spending
from domsieve.errors import UsageError
from domsieve.plain import utf8
from domsieve.snapshot.page import Snapshot

MAX_WORDS = 300
"""Words of a passage by default."""
FEWEST_WORDS = 20

_LINK_ADDRESS = re.compile(r"\]\([^()\s]*\)")
_UNCUT = re.compile(r"!?\[[^\[\]]*\]\([^()\s]*\)|`[^`]*`")
_BLANKS = re.compile(r"\s+")
_SENTENCE_ENDS = re.compile(r"[.!?…][\"'”’)\]]{0,3}\s+|[。！？]")
_ANCHORED = frozenset({"article", "div", "section"})


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """A passage.

    Parameters
    ----------
    headings : those that it stands below, from the top one down to its own.
    fragment : of its section in the address of the page, empty where it has none.
    text : Markdown; the headings right above the passage are part of it.
    words : words of `text`, addresses left out; Chinese, Japanese, Thai and their like by characters.
    """

    headings: tuple[str, ...]
    fragment: str
    text: str
    words: int


def chunks_of(page: Snapshot, verdict: Verdict, *, max_words: int = MAX_WORDS) -> list[Chunk]:
    """Return the kept nodes of a page as passages of at most so many words, in order.

    A passage never reaches beyond a heading. Code, tables and formulas stay whole, even where one of them alone has
    more words. Paragraphs are cut only where one alone has more, after sentences if that can be.

    Raises
    ------
    UsageError : fewer than 20 words.
    """
    if max_words < FEWEST_WORDS:
        raise UsageError(f"max_words must be {FEWEST_WORDS} or more, not {max_words}.", parameter="max_words")
    with spending("write", page.provenance.url):
        blocks, plan = written_blocks(page, verdict)
        return list(_Cutter(plan, max_words).chunks(blocks.pieces, blocks.parts()))


def write_chunks(page: Snapshot, verdict: Verdict, *, max_words: int = MAX_WORDS) -> str:
    """Return the passages of `chunks_of` as lines of JSON, each with address, headings, metadata and text."""
    chunks = chunks_of(page, verdict, max_words=max_words)
    said = msgspec.to_builtins(read_metadata(page))
    metadata = {name: value for name, value in said.items() if value}
    url = page.provenance.final_url
    lines = []
    for number, chunk in enumerate(chunks, 1):
        check()
        facts = {
            "url": url,
            # Behind a route no place can be named.
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
    """A passage in the making."""

    parts: list[str] = field(default_factory=list)
    words: int = 0
    has_text: bool = False

    def add(self, part: str, words: int, *, is_text: bool) -> None:
        self.parts.append(part)
        self.words += words
        self.has_text |= is_text


class _Cutter:
    """Cuts the blocks of a document into passages."""

    def __init__(self, plan: Plan, max_words: int) -> None:
        self._plan = plan
        self._most = max_words
        self._headings: list[tuple[int, str]] = []  # levels and texts
        self._fragment = ""
        self._passage = _Passage()

    def chunks(self, pieces: Sequence[Piece], parts: Sequence[list[str]]) -> Iterator[Chunk]:
        """Yield the passages."""
        texts = ["\n".join(part) for part in parts]
        for piece, text, words in zip(pieces, texts, _words(texts), strict=True):
            check()
            if piece.role == Role.HEADING:
                if self._passage.has_text:
                    yield self._end()
                self._enter(piece)
                self._passage.add(text, words, is_text=False)
                continue
            short = (
                [(text, words)] if words <= self._most or piece.role == Role.WHOLE else _cut(text, self._most)
            )
            for one, count in short:
                if self._passage.has_text and self._passage.words + count > self._most:
                    yield self._end()
                self._passage.add(one, count, is_text=True)
        if self._passage.parts:
            yield self._end()

    def _end(self) -> Chunk:
        passage, self._passage = self._passage, _Passage()
        # What follows within an item of a list is indented, which alone would make it code.
        text = dedent("\n\n".join(passage.parts)).strip("\n")
        headings = tuple(heading for _, heading in self._headings)
        return Chunk(headings=headings, fragment=self._fragment, text=text, words=passage.words)

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
        """Return the id of a heading, of what stands in it, or of the section that begins with it."""
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
    """Yield a text in parts of at most so many words: cut after a sentence, else between words."""
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
    """Return the places, ascending, that do not lie within one of the spans, ascending and apart."""
    edges = np.array(spans, np.int64).reshape(-1, 2)
    begun, ended = np.searchsorted(edges[:, 0], places), np.searchsorted(edges[:, 1], places, "right")
    return np.asarray(places[begun == ended])


def _last(places: Ints, after: int, limit: int) -> int:
    """Return the last of the places that is more than `after` and at most `limit`, 0 without one."""
    at = int(np.searchsorted(places, limit, "right")) - 1
    return int(places[at]) if at >= 0 and places[at] > after else 0
