"""The kept nodes of a page as Markdown; the library markdownify turns HTML into it.

markdownify calls itself once per level, so the HTML it gets is flat: wrappers only end a paragraph, blocks
and marks beyond a fixed depth are not written, and a mark such as a link that spans several blocks is written
in each of them. Tables stay tables where every cell is one line; layout tables become paragraphs. Text that
would read as HTML or Markdown is escaped here, where line starts are known. Imports the Snapshot and parts of
the HTML writer.
"""

import re
from html import escape

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.flow import BLOCK, BREAK, CELL, SPACE, Flow, boundaries, text_flow
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.html import (
    BLOCK_TAGS,
    Source,
    start_tag,
    written_nodes,
    written_tags,
    written_texts,
)
from domsieve.budget import check, spending
from domsieve.snapshot import Snapshot

_MOST_BLOCKS, _MOST_MARKS = 24, 8  # far below Python's recursion limit, above what people nest
_MARKS = {
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("em", "i"), "em"),
    **dict.fromkeys(("del", "s"), "del"),
    **dict.fromkeys(("code", "kbd", "samp"), "code"),
    "a": "a",
}
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_ONE_LINE = _HEADINGS | {"dt", "pre", "td", "th"}  # no blocks inside
_NO_START = _ONE_LINE - {"dt"}  # their text never begins a line of Markdown
_FREE_BLOCKS = _HEADINGS | {"blockquote", "dl", "ol", "pre", "ul"}
_INSIDE = {"li": ("ol", "ul"), "dd": ("dl",), "dt": ("dl",), "td": ("tr",), "th": ("tr",)}
_SPECIAL = re.compile(r"[\\`*\[\]<]|~(?=~)|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_AT_START = re.compile(r"\s*(?:(>|\||:-|[-+#=]+(?=[\s|]|$))|\d{1,9}([.)])(?=\s|$))")
_NUMBER = re.compile("[0-9]{1,9}")
_MOST_COLUMNS = 100


def write_markdown(page: Snapshot, verdict: Verdict) -> str:
    """Return the kept nodes as Markdown (CommonMark with GitHub's tables), links absolute, no raw HTML.

    The title is not part of it. Ends in a newline unless empty.
    """
    from domsieve.analysis.writers.markdown_syntax import to_markdown  # loads what takes a second

    with spending("write", page.provenance.url):
        text = to_markdown("".join(_Flat(page, verdict).write()))
    return f"{text}\n" if text else ""


class _Flat:
    """Writes the kept nodes as HTML of bounded depth whose text is escaped for Markdown."""

    def __init__(self, page: Snapshot, verdict: Verdict) -> None:
        around = boundaries(page)
        flow = text_flow(page, verdict.kept, around)
        self.source = Source(page)
        self.texts = written_texts(self.source, flow)
        self.nodes = written_nodes(page, verdict.kept, self.texts)
        self.tags = written_tags(page, around)
        self.breaks = ((around == BLOCK) | (around == CELL)).tolist()
        self.tables = _plain_tables(page, flow)
        self.out: list[str] = []
        self.around: list[tuple[int, str]] = []  # end and tag of the blocks we are in, "" for one not written
        self.blocks = [""]  # tags of those written
        self.items: list[int] = []  # number of the last item of each list we are in
        self.marks: list[tuple[int, str, str]] = []  # end, tag and start tag of the marks we are in
        self.line_open = self.line_before = self.at_start = False
        self.broken = True  # since the last text a line has ended
        self.table_end = self.head_end = 0

    def write(self) -> list[str]:
        """Return the pieces of the document."""
        for node in self.nodes:
            check()
            self._leave(node)
            if node in self.texts:
                text, gap = self.texts[node][:2]
                self._text(f" {text}" if gap == SPACE else text, gap)
            elif tag := self.tags[node]:
                self._element(node, tag)
        self._leave(self.source.end[0])
        self._end_line()
        return self.out

    def _leave(self, node: int) -> None:
        """Close what ended before `node`."""
        while self.marks and self.marks[-1][0] <= node:
            tag = self.marks.pop()[1]
            if self.line_open:
                self.out.append(f"</{tag}>")
        while self.around and self.around[-1][0] <= node:
            self._end_line()
            if tag := self.around.pop()[1]:
                self.out.append(f"</{tag}>")
                self.blocks.pop()
                if tag in {"ol", "ul"}:
                    self.items.pop()

    def _start_line(self) -> None:
        if self.line_open:
            return
        if self.blocks[-1] not in _ONE_LINE:
            self.out.append("<p>")
        elif self.line_before:
            self.out.append("\n" if self.blocks[-1] == "pre" else " ")
        self.at_start = not self.marks and self.blocks[-1] not in _NO_START
        self.out.extend(start for _, _, start in self.marks)
        self.line_open = self.line_before = True

    def _end_line(self) -> None:
        if self.line_open:
            self.out.extend(f"</{tag}>" for _, tag, _ in reversed(self.marks))
            if self.blocks[-1] not in _ONE_LINE:
                self.out.append("</p>")
            self.line_open = False
            self.broken = True

    def _break(self) -> None:
        if self.line_open:
            self.out.append("\n" if self.blocks[-1] == "pre" else "<br>")
            self.at_start = self.broken = True

    def _text(self, text: str, gap: int) -> None:
        pre = self.blocks[-1] == "pre"
        if gap >= CELL and not self.broken:
            if gap == BREAK:
                self._break()
            else:
                self._end_line()
        if not pre and not self.line_open:
            text = text.lstrip()
        if not text:
            return
        self._start_line()
        code = any(tag == "code" for _, tag, _ in self.marks)
        if not pre and not code:
            first, *rest = text.split("\n")
            lines = [
                _escaped(first, at_start=self.at_start),
                *(_escaped(line, at_start=True) for line in rest),
            ]
            text = "\n".join(lines)
        if self.blocks[-1] in {"td", "th"}:
            text = text.replace("|", "\\|")
        text = escape(text, quote=False)
        self.out.append(text if pre else text.replace("\n", "<br>"))
        self.at_start = self.broken = False

    def _element(self, node: int, tag: str) -> None:
        if tag == "br":
            self._break()
            return
        if tag == "hr":
            self._end_line()
            if self.blocks[-1] in {"", "blockquote", "li", "dd"}:
                self.out.append("<hr>")
            return
        if self.breaks[node] or tag in BLOCK_TAGS:
            self._block(node, tag)
        attributes = self.source.safe_attributes(node, tag)
        if tag == "img" and "src" in attributes and attributes.get("alt") != "":  # empty: it says nothing
            self._start_line()
            alt = _escaped(" ".join(attributes.get("alt", "").split()), at_start=False)
            self.out.append(start_tag("img", {"src": _no_brackets(attributes["src"]), "alt": alt}))
            self.at_start = False
        elif tag in _MARKS and len(self.marks) < _MOST_MARKS:
            self._mark(self.source.end[node], _MARKS[tag], attributes)

    def _mark(self, end: int, tag: str, attributes: dict[str, str]) -> None:
        if any(tag == active for _, active, _ in self.marks) or (tag == "a" and "href" not in attributes):
            return
        start = start_tag(tag, {"href": _no_brackets(attributes["href"])} if tag == "a" else {})
        if self.line_open:
            if tag == "a" and self.out[-1].endswith("!"):
                self.out.append(" ")  # or the link would read as an image
            self.out.append(start)
            self.at_start = False
        self.marks.append((end, tag, start))

    def _block(self, node: int, tag: str) -> None:
        self._end_line()
        end, above = self.source.end[node], self.blocks[-1]
        room = above not in _ONE_LINE and len(self.blocks) < _MOST_BLOCKS
        if tag == "thead":
            self.head_end = end
        if node in self.tables and room:
            self.table_end = max(self.table_end, end)
        if tag == "tr" and room and node < self.table_end:
            if above != "table":
                self._push(self.table_end, "table", {})
            self._push(end, tag, {})
        elif room and (tag in _FREE_BLOCKS or above in _INSIDE.get(tag, ())):
            self._push(end, "th" if tag == "td" and node < self.head_end else tag, self._numbers(node, tag))
        else:
            self.around.append((end, ""))

    def _push(self, end: int, tag: str, attributes: dict[str, str]) -> None:
        self.out.append(start_tag(tag, attributes))
        self.blocks.append(tag)
        self.around.append((end, tag))
        self.line_before = False

    def _numbers(self, node: int, tag: str) -> dict[str, str]:
        """Return the attributes with numbers in them that markdownify reads, and count list items."""
        given = {name: int(text) for name, text in self.source.attributes(node) if _NUMBER.fullmatch(text)}
        if tag in {"ol", "ul"}:
            self.items.append(given.get("start", 1) - 1)
        elif tag == "li":
            self.items[-1] = given.get("value", self.items[-1] + 1)
            return {"value": str(self.items[-1])}
        elif "colspan" in given:
            return {"colspan": str(min(given["colspan"], _MOST_COLUMNS))}
        return {}


def _escaped(text: str, *, at_start: bool) -> str:
    """Return `text` with a backslash before what Markdown would read as markup."""
    text = _SPECIAL.sub(r"\\\g<0>", text)
    if at_start and (match := _AT_START.match(text)):
        cut = match.start(match.lastindex or 0)
        text = f"{text[:cut]}\\{text[cut:]}"
    return text


def _no_brackets(address: str) -> str:
    return address.replace("(", "%28").replace(")", "%29")


def _plain_tables(page: Snapshot, flow: Flow) -> frozenset[int]:
    """Return the tables of several columns in which no cell holds more than one line."""
    tags = {name: page.tag == i for i, name in enumerate(page.tags) if name in {"table", "tr", "td", "th"}}
    if "table" not in tags:
        return frozenset()
    nothing = np.zeros(len(page), np.bool_)
    cells = tags.get("td", nothing) | tags.get("th", nothing)
    words = flow.node[[not text.isspace() for text in page.strings.take(page.text[flow.node].tolist())]]
    line = np.cumsum(flow.gap == BLOCK)[np.isin(flow.node, words)]
    first, last = np.searchsorted(words, np.flatnonzero(cells)), np.searchsorted(words, page.end[cells]) - 1
    long = nothing.copy()
    filled = last > first
    long[np.flatnonzero(cells)[filled]] = line[last[filled]] > line[first[filled]]
    table = np.flatnonzero(tags["table"])

    def inside(marked: NDArray[np.bool_]) -> NDArray[np.int64]:
        before = np.concatenate(([0], np.cumsum(marked)))
        return before[page.end[table]] - before[table]

    wide = inside(cells) > inside(tags.get("tr", nothing))
    return frozenset(table[wide & (inside(long) == 0)].tolist())
