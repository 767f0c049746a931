"""Write the kept nodes of a page as Markdown, in one walk in document order.

`markdown_blocks` writes blocks with the prefixes of the lists and quotes around them, and `markdown_inline` the text
of a paragraph. Headings, terms, cells and footnotes are always a single line. There is no recursion: open elements
are on two stacks, and lists and quotes that are nested too deeply become paragraphs.
"""

import re
from collections.abc import Callable

from domsieve.analysis.columns.flow import BLOCK, BREAK, CELL, SPACE
from domsieve.analysis.columns.invisible import visible_page
from domsieve.analysis.columns.page_columns import PLAYERS
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers._annotations import TAGS, says_kind
from domsieve.analysis.writers._code import code_language, code_lines
from domsieve.analysis.writers._formulas import Formula
from domsieve.analysis.writers._markdown_blocks import Block, Blocks, Role, TableRows
from domsieve.analysis.writers._markdown_inline import Inline, Mark, plain_alt, safe_address
from domsieve.analysis.writers._markdown_plan import Plan
from domsieve.analysis.writers._media import embedded, shown_image
from domsieve.analysis.writers.html import BLOCK_TAGS, Written
from domsieve.budget import check, spending
from domsieve.snapshot.page import Snapshot

_MARKS = {
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("em", "i"), "em"),
    **dict.fromkeys(("del", "s", "strike"), "del"),
    **{name: name for name in ("a", "kbd", "mark", "sub", "sup")},
}
_CODE = frozenset(["code", "samp", "tt"])
_PRE = frozenset(["listing", "plaintext", "pre", "xmp"])
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_ROUTES = ("/", "!")
_FENCES = re.compile("`{3,}")
_MOST_DIGITS = 9


def write_markdown(page: Snapshot, verdict: Verdict) -> str:
    """Return the kept nodes of a page as Markdown.

    The dialect is CommonMark with GitHub's tables, strikethrough (``~~``) and footnotes; links are absolute. The only
    HTML tags are ``kbd``, ``mark``, ``sub`` and ``sup``, without attributes. The title in the head of the page is not
    included. The result ends in a newline unless it is empty.

    Parameters
    ----------
    page : the page.
    verdict : verdict of a method on this page.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    return written_blocks(page, verdict)[0].document()


def written_blocks(page: Snapshot, verdict: Verdict) -> tuple[Blocks, Plan]:
    """Return the kept nodes as blocks of Markdown, and the plan they were written by."""
    with spending("write", page.provenance.url):
        plan = Plan(visible_page(page, verdict.kept), verdict)
        return _Walk(plan).write(), plan


class _Walk:
    """Writes the kept nodes of a page in document order."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.reader = plan, plan.reader
        self.blocks = Blocks()
        self.inline = Inline()
        self.marks: list[tuple[int, Mark]] = []  # open marks and the nodes where they end
        self.opened: list[Mark] = []  # open marks that are written in this paragraph
        self.muted = ""  # name of a mark that is not written
        self.open: list[
            tuple[int, Callable[[], None] | None]
        ] = []  # ends of open blocks, and what to do there
        self.numbers: list[tuple[int, int]] = []  # by open list: the next number and the step
        self.node = 0  # the visited node
        self.single = False  # the current block becomes a single line
        self.broken = True  # a line ended after the last text
        self.code_end = self.head_end = self.foot_end = self.table_end = self.skip = 0
        self.box = ""  # checkbox of a task, until text follows
        self.fresh = ""  # kind of a callout that is still empty
        self.rows = TableRows()

    def write(self) -> Blocks:
        """Return the document."""
        plan, reader = self.plan, self.reader
        for node in plan.nodes:
            check()
            if node < self.skip:
                continue
            # Most nodes end nothing, and checking that here is cheaper than a call.
            if (self.open and self.open[-1][0] <= node) or (self.marks and self.marks[-1][0] <= node):
                self._leave(node)
            self.node = node
            if node in plan.texts:
                self._text(node, plan.texts[node])
            elif node in plan.formulas:
                self._formula(plan.formulas[node])
            elif node in plan.notes.references:
                self._raw(f"[^{plan.notes.references[node]}]")
                self.skip = reader.end[node]
            elif node in plan.notes.skipped:
                self.skip = reader.end[node]
            else:
                self._element(node, reader.names[reader.tag[node]])
        self._leave(reader.end[0])
        self._end_line()
        return self.blocks

    # Ends of lines, marks and blocks.

    def _leave(self, node: int) -> None:
        """Close the marks and blocks that end before `node`."""
        while self.marks and self.marks[-1][0] <= node:
            mark = self.marks.pop()[1]
            if mark in self.opened:
                self.opened.remove(mark)
                self.inline.close(mark)
        while self.open and self.open[-1][0] <= node:
            close = self.open.pop()[1]
            self._end_line()
            if close:
                close()

    def _end_line(self) -> None:
        """End the paragraph; inside a single-line block, add a space instead."""
        self.broken = True
        if not self.single and not self.opened and self.inline.empty:
            return
        if self.single:
            self.inline.space()
        elif lines := self._finish():
            kind, self.fresh = self.fresh, ""
            if not (kind and says_kind(" ".join(lines), kind)):
                self._add([*(f"{line}  " for line in lines[:-1]), lines[-1]], Block.PARAGRAPH)

    def _finish(self) -> list[str]:
        """Return the lines of the current paragraph, and begin another with the same open marks."""
        if self.inline.empty and not self.opened:
            return []
        for mark in reversed(self.opened):
            self.inline.close(mark)
        lines = self.inline.lines(escape_starts=not self.single)
        self._restart()
        return lines

    def _restart(self, outer: Mark | None = None) -> None:
        self.inline = Inline()
        self.opened = [outer] if outer else []
        if self.marks:
            self.opened += [mark for _, mark in self.marks if mark.name != self.muted]
        for mark in self.opened:
            self.inline.open(mark)

    def _block(self, node: int, close: Callable[[], None] | None = None) -> None:
        self._end_line()
        self.open.append((self.reader.end[node], close))

    def _one_line(
        self, node: int, write: Callable[[str], None], *, muted: str = "", outer: Mark | None = None
    ) -> None:
        """Write everything in `node` as a single line.

        Parameters
        ----------
        node : the element.
        write : called with the line.
        muted : name of a mark that is not written.
        outer : a mark around the whole line.
        """
        self._end_line()

        def close() -> None:
            text = " ".join(self._finish())
            self.single, self.muted = False, ""
            self._restart()
            write(text)

        self.single, self.muted = True, muted
        self._restart(outer)
        self.open.append((self.reader.end[node], close))

    # Inline content.

    def _text(self, node: int, written: Written) -> None:
        text, gap = written.text, written.gap
        if gap == SPACE:
            self.inline.space()
        if gap >= CELL and not self.broken:
            if gap == BREAK:
                self._break()
            else:
                self._end_line()
        if not text.strip():
            self.inline.space()
            return
        self._begin_words()
        if node < self.code_end:
            self.inline.code(text, self.code_end)
        elif "\n" in text and not self.single:
            first, *rest = text.split("\n")
            self.inline.text(first)
            for line in rest:
                self._break()
                self.inline.text(line)
        else:
            self.inline.text(text)

    def _begin_words(self) -> None:
        self.broken = False
        self.blocks.take(self.node, self.reader.end[self.node])
        if self.box:
            box, self.box = self.box, ""
            self.inline.raw(box)
            self.inline.space()

    def _raw(self, markdown: str) -> None:
        self._begin_words()
        self.inline.raw(markdown)

    def _break(self) -> None:
        """Add a line break; two consecutive ones begin a new paragraph."""
        if self.single:
            self.inline.space()
        elif self.inline.broken:
            self._end_line()
        else:
            self.inline.line_break()
        self.broken = True

    def _formula(self, formula: Formula) -> None:
        self.skip = formula.end
        if not formula.displayed or self.single:
            # The space between two formulas is known from the first text of the second.
            inside = (self.plan.texts[one] for one in range(self.node, formula.end) if one in self.plan.texts)
            if (first := next(inside, None)) and first.gap == SPACE:
                self.inline.space()
            self._raw(f"${formula.tex}$")
            return
        self._end_line()
        self.blocks.take(self.node, formula.end)
        # TeX that could begin a block of Markdown stays in the same line as the dollars.
        own_line = formula.tex[0] in "\\{(" or formula.tex[0].isalpha()
        self._add(["$$", formula.tex, "$$"] if own_line else [f"$${formula.tex}$$"], role=Role.WHOLE)

    def _element(self, node: int, tag: str) -> None:
        if tag in _MARKS:
            self._border(node, tag)
            self._mark(node, _MARKS[tag])
        elif tag in _CODE:
            self._code(node)
        elif tag == "br":
            self._break()
        elif tag == "img":
            self._border(node, tag)
            self._image(node)
        elif tag in PLAYERS:
            self._media(node, tag)
        elif self.single:
            self._border(node, tag)
            if tag in _PRE:
                self.code_end = max(self.code_end, self.reader.end[node])
        else:
            self._structure(node, tag)

    def _border(self, node: int, tag: str) -> None:
        """Separate an element from its neighbours if it is a block or displayed as one."""
        if self.plan.around[node] in {CELL, BLOCK} or tag in BLOCK_TAGS:
            self._block(node)

    def _mark(self, node: int, name: str) -> None:
        if any(mark.name == name for _, mark in self.marks) or (name != "a" and node < self.code_end):
            return
        address = ""
        if name == "a":
            value = self.reader.given(node).get("href")
            address = "" if value is None else self.reader.address(node, value, linked=True)
            # A link in a heading to the page itself or an anchor of it is a permalink, and is not written.
            if not address or (self.muted == "strong" and value and self._is_own(value, address)):
                return
        mark = Mark(name, safe_address(address))
        self.marks.append((self.reader.end[node], mark))
        if name != self.muted:
            self.inline.open(mark)
            self.opened.append(mark)

    def _is_own(self, value: str, address: str) -> bool:
        """Return whether a link leads to the page itself or an anchor of it.

        What follows ``#`` may also be the route of an app, which is another page.
        """
        page, _, fragment = address.partition("#")
        return not fragment.startswith(_ROUTES) and (value.startswith("#") or page == self.plan.address)

    def _code(self, node: int) -> None:
        if node < self.code_end:
            return
        plan = self.plan
        alone = plan.has_newlines(node) and plan.is_alone(node)
        if not self.single and (plan.around[node] == BLOCK or alone) and self._fence(node):
            return
        self._border(node, "code")
        self.code_end = self.reader.end[node]

    def _image(self, node: int) -> None:
        if address := shown_image(self.reader, node):
            alt = self.reader.given(node).get("alt", "")
            self._raw(f"![{plain_alt(alt)}]({safe_address(address)})")

    def _media(self, node: int, tag: str) -> None:
        """Write embedded media as a link; the content of other frames is written in place."""
        words, address = embedded(self.reader, node)
        self._border(node, tag)
        in_link = any(mark.name == "a" for _, mark in self.marks)
        if not address or in_link or self.plan.no_players[node]:
            return
        self._end_line()
        mark = Mark("a", safe_address(address))
        self._begin_words()
        self.inline.open(mark)
        self.inline.text(words)
        self.inline.close(mark)
        self._end_line()
        if tag == "iframe":  # others show their text, if it is kept
            self.skip = max(self.skip, self.reader.end[node])

    # Blocks.

    def _structure(self, node: int, tag: str) -> None:
        plan = self.plan
        kind = plan.callouts.get(node) if tag in TAGS else None
        kind = kind or (plan.details.get(node) if tag == "details" else None)
        if kind and self.blocks.has_room and node not in plan.tables:
            self._quote(node, f"[!{kind}]")
            self.fresh = kind
        elif self.fresh and (node in plan.titles or tag == "summary"):
            self._one_line(node, self._title, muted="strong", outer=Mark("strong"))
        elif node in plan.notes.notes:
            label = plan.notes.notes[node]
            self._one_line(node, lambda text: self._note(label, text))
        elif tag in _HEADINGS or node in plan.headings:
            self._heading(node, tag)
        elif tag in _PRE:
            if not self._fence(node):
                self._block(node)
        elif tag in {"ol", "ul"}:
            self._list(node, numbered=tag == "ol")
        elif tag == "li" and self.blocks.in_list:
            self._item(node)
        elif tag == "dt" and not plan.has_blocks(node):
            self._one_line(node, self._paragraph, muted="strong", outer=Mark("strong"))
        elif tag == "blockquote" and self.blocks.has_room:
            self._quote(node)
        elif tag == "hr":
            self._end_line()
            self._table()
            self.blocks.add_rule()
        elif node in plan.tables:
            self._block(node, self._table)
            self.table_end = self.reader.end[node]
        elif tag in {"thead", "tfoot", "tr", "td", "th"} and node < self.table_end:
            self._part_of_table(node, tag)
        else:
            self._border(node, tag)

    def _add(self, lines: list[str], kind: Block = Block.OTHER, *, role: Role = Role.TEXT) -> None:
        self._table()  # content between the rows of a table keeps its place
        self.blocks.add(lines, kind, role=role)

    def _paragraph(self, text: str) -> None:
        if text:
            self._add([text], Block.PARAGRAPH)

    def _quote(self, node: int, head: str = "") -> None:
        self._block(node, self.blocks.close)
        self._table()
        self.blocks.open_quote(head)

    def _title(self, text: str) -> None:
        kind, self.fresh = self.fresh, ""
        if not (kind and says_kind(text, kind)):
            self._paragraph(text)

    def _heading(self, node: int, tag: str) -> None:
        level = _HEADINGS.get(tag) or min(
            max(_number(self.reader.given(node).get("aria-level", "")) or 2, 1), 6
        )

        def write(text: str) -> None:
            kind, self.fresh = self.fresh, ""
            if text and not (kind and says_kind(text, kind)):
                # Number signs at the end would be read as the closing sequence of the heading.
                body = text.rstrip("#")
                if body != text and body[-1:] in {"", " "}:
                    text = f"{body}\\{text[len(body) :]}"
                self._table()
                self.blocks.add_heading(f"{'#' * level} {text}", level=level, node=node)

        self._one_line(node, write, muted="strong")

    def _note(self, label: str, text: str) -> None:
        if not text:
            return
        # Readers without footnotes read `[^label]: text` as a link definition; this form cannot be read as one.
        after = text.split(None, 1)[1:]
        plain = not after or after[0][0] in "\"'("
        self._add([f"\\[{label}\\] {text}" if plain else f"[^{label}]: {text}"])

    def _fence(self, node: int) -> bool:
        """Write a fenced code block; return whether there was any text to write."""
        plan = self.plan
        if not plan.has_words(node):
            return False
        lines = code_lines(self.reader, node, texts=plan.texts, around=plan.around, lines=plan.code_lines)
        self._end_line()
        self.blocks.take(node, self.reader.end[node])
        self.fresh = ""
        runs = [len(run) for line in lines for run in _FENCES.findall(line)]
        fence = "`" * max(3, *(length + 1 for length in runs)) if runs else "```"
        self._add([f"{fence}{code_language(self.reader, node)}", *lines, fence], role=Role.WHOLE)
        self.skip = self.reader.end[node]
        return True

    def _list(self, node: int, *, numbered: bool) -> None:
        if not self.blocks.has_room:
            self._block(node)
            return

        def close() -> None:
            self.blocks.close()
            self.numbers.pop()

        self._block(node, close)
        self._table()
        self.blocks.open_list(numbered=numbered)
        given = self.reader.given(node) if numbered else {}
        step = -1 if "reversed" in given else 1
        first = self.plan.items[node] if step < 0 else 1
        start = _number(given.get("start", ""))
        self.numbers.append((first if start is None else start, step))

    def _item(self, node: int) -> None:
        self._block(node, self._close_item)
        number, step = self.numbers[-1]
        given = _number(self.reader.given(node).get("value", ""))
        number = number if given is None else given
        self.numbers[-1] = (min(max(number + step, 0), 10**_MOST_DIGITS - 1), step)
        self.blocks.open_item(number)
        self.box = self.plan.tasks.get(node, "")

    def _close_item(self) -> None:
        self.blocks.close()
        self.box = ""

    def _table(self) -> None:
        if self.rows.begun:
            self.fresh = ""
            self.blocks.add(self.rows.lines(), role=Role.WHOLE)
            self.rows = TableRows()

    def _part_of_table(self, node: int, tag: str) -> None:
        if tag == "thead":
            self._block(node)
            self.head_end = self.reader.end[node]
        elif tag == "tfoot":
            self._block(node)
            self.foot_end = self.reader.end[node]
        elif tag == "tr":
            self._block(node)
            self.rows.add_row(head=node < self.head_end, foot=node < self.foot_end)
        else:
            given = self.reader.given(node)
            head = tag == "th"
            rows = self.rows
            self._one_line(
                node, lambda text: rows.add_cell(text, given, head=head), muted="strong" if head else ""
            )


def _number(text: str) -> int | None:
    """Return the number in an attribute, at least 0; None if it is not a number or has too many digits."""
    text = text.strip()
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
        return None
    return max(int(text), 0)
