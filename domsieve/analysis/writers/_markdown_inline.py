"""Write one line or paragraph of Markdown: escape text that would be read as markup, and add inline markup.

Only characters that CommonMark, with GitHub's tables and strikethrough, would read as markup get a backslash, so
``snake_case``, ``2 * 3`` and ``a < b`` are unchanged. Emphasis that CommonMark could not parse, such as bold text
that ends in a full stop inside a word, is dropped, and its text is kept.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from html.entities import html5
from itertools import groupby
from operator import attrgetter

from domsieve.budget import check

_TEXT, _CODE, _RAW, _OPEN, _CLOSE, _BREAK = range(6)
_DELIMITERS = {"strong": "**", "em": "*", "del": "~~"}
_TAGS = frozenset(["kbd", "mark", "sub", "sup"])
MARKS = frozenset([*_DELIMITERS, *_TAGS, "a", "code"])
# A no-break space is written as a space, as in text output.
_SPACES = re.compile("[ \t\n\r\f\v\xa0\u2028\u2029]+")
_SPACE = frozenset(" \t\n\r\f\v\xa0\u2028\u2029")
_SPECIAL = re.compile(r"[]*_~`$<&\\[]")
_RUNS = re.compile(r"\*+|_+|~+|`+|\$+")
_PLAIN_ESCAPES = re.compile(
    r"\\(?=[!-/:-@[-`{-~]|$)|<(?=[A-Za-z/!?])|&(?=#?[0-9A-Za-z]{1,32};)|\](?=\()|\[(?=\^)"
)
_BRACKETS = re.compile(r"[\[\]]")
_ENTITY = re.compile("&([A-Za-z][0-9A-Za-z]{0,31});")
_BACKTICKS = re.compile("`+")
# At the start of a paragraph this is a link reference definition, which readers do not show, even with code in it.
_LABEL = re.compile(r"\[(?:[^][\\]|\\.)*\]:", re.DOTALL)
_PASSES = 3  # removing one mark can make others unreadable; after three passes all are removed


@dataclass(slots=True)
class _Piece:
    kind: int
    text: str
    mark: "Mark | None" = None
    element: int = 0  # for code: the node of its element


@dataclass(slots=True, eq=False)
class Mark:
    """An inline element with markup.

    Parameters
    ----------
    name : one of `MARKS`.
    address : address of a link, empty for other marks.
    """

    name: str
    address: str = ""

    def opening(self) -> str:
        """Return the markup before the text."""
        if self.name == "a":
            return "["
        return f"<{self.name}>" if self.name in _TAGS else _DELIMITERS[self.name]

    def closing(self) -> str:
        """Return the markup after the text."""
        if self.name == "a":
            return f"]({self.address})"
        return f"</{self.name}>" if self.name in _TAGS else _DELIMITERS[self.name]


@dataclass(slots=True)
class Inline:
    """Builder of a paragraph: texts, code, marks and line breaks in document order."""

    _pieces: list[_Piece] = field(default_factory=list)
    _opening: list[Mark] = field(default_factory=list)  # opened marks that have no text yet
    _space: bool = False
    _broken: bool = False  # a line break is pending until there is text
    _same: dict[Mark, Mark] = field(default_factory=dict)  # marks that were merged into the previous one

    @property
    def empty(self) -> bool:
        """Whether the paragraph has no content yet."""
        return not self._pieces

    @property
    def broken(self) -> bool:
        """Whether the last thing in the paragraph is a line break."""
        return self._broken

    def text(self, text: str) -> None:
        """Add text; white space is collapsed."""
        self._words(_TEXT, text)

    def code(self, text: str, element: int) -> None:
        """Add inline code; white space is collapsed, and all texts of one `element` become a single code span."""
        self._words(_CODE, text, element)

    def raw(self, markdown: str) -> None:
        """Add finished Markdown that begins and ends with a punctuation character, such as an image or a formula."""
        self._begin()
        self._pieces.append(_Piece(_RAW, markdown))

    def space(self) -> None:
        """Add a space between the previous and the next text."""
        self._space = True

    def line_break(self) -> None:
        """Add a line break, unless it would be at the start or end of the paragraph."""
        self._broken = bool(self._pieces)

    def open(self, mark: Mark) -> None:
        """Begin a mark; marks must be closed in the reverse order."""
        self._opening.append(mark)

    def close(self, mark: Mark) -> None:
        """End a mark; a mark without text is not written."""
        if self._opening and self._opening[-1] is mark:
            self._opening.pop()
        else:
            self._pieces.append(_Piece(_CLOSE, mark.closing(), self._same.get(mark, mark)))

    def _words(self, kind: int, text: str, element: int = 0) -> None:
        if "  " in text or not text.isprintable():  # the only printable white space is the space
            text = _SPACES.sub(" ", text)
        words = text.strip(" ")
        self._space |= text.startswith(" ")
        if not words:
            return
        last = self._pieces[-1] if self._pieces else None
        joins = last and last.kind == kind == _CODE and (last.element == element or not self._space)
        if last and joins and not (self._opening or self._broken):
            self._pieces.append(_Piece(_CODE, f" {words}" if self._space else words, element=last.element))
        else:
            self._begin()
            self._pieces.append(_Piece(kind, words, element=element))
        self._space = text.endswith(" ")

    def _begin(self) -> None:
        """Write the pending space, line break and marks before text."""
        if self._broken:
            self._pieces.append(_Piece(_BREAK, ""))
        elif self._space and self._pieces:
            self._pieces.append(_Piece(_TEXT, " "))
        self._space = self._broken = False
        for mark in self._opening:
            last = self._pieces[-1] if self._pieces else None
            if last and last.kind == _CLOSE and last.mark and _continues(last.mark, mark):
                # Adjacent marks of the same kind would not be parsed, so the first is continued instead.
                self._same[mark] = last.mark
                self._pieces.pop()
                continue
            self._pieces.append(_Piece(_OPEN, mark.opening(), mark))
        self._opening.clear()

    def lines(self, *, escape_starts: bool = True) -> list[str]:
        """Return the lines of the paragraph, without line ends.

        Parameters
        ----------
        escape_starts : the lines are at the start of lines of Markdown, where more characters are markup.
        """
        pieces = self._pieces
        lines = _lines(pieces, escape_starts=escape_starts)
        if escape_starts and _LABEL.match("\n".join(lines)):
            if link := next(piece.mark for piece in pieces if not _is_delimiter(piece)):
                return _lines(_without_code(pieces, link), escape_starts=True)
            lines[0] = f"\\{lines[0]}"
        return lines


def _lines(pieces: list[_Piece], *, escape_starts: bool) -> list[str]:
    if _is_plain(pieces):
        begins = pieces[0] if pieces else None
        whole = _line([*_plain_texts(pieces)], begins, 0, escape_starts=escape_starts)
        return [whole] if whole else []
    pieces = _merged(_readable(pieces))
    needed = _needed(pieces)
    lines: list[str] = []
    line: list[str] = []
    first: _Piece | None = None
    linked = False
    for i, piece in enumerate(pieces):
        if piece.kind == _BREAK:
            lines.append(_line(line, first, len(lines), escape_starts=escape_starts))
            line, first = [], None
            continue
        first = first or piece
        text = piece.text
        if piece.kind == _TEXT:
            after = pieces[i + 1] if i + 1 < len(pieces) else None
            text = _escaped(text, needed.get(i, ()), linked=linked)
            if text.endswith("!") and after and after.text.startswith("["):
                text = f"{text[:-1]}\\!"
        elif piece.kind == _CODE:
            text = code_span(text)
        elif piece.mark and piece.mark.name == "a":
            linked = piece.kind == _OPEN
        line.append(text)
    lines.append(_line(line, first, len(lines), escape_starts=escape_starts))
    return [line for line in lines if line]


def _without_code(pieces: list[_Piece], link: Mark) -> list[_Piece]:
    """Return the pieces with plain text in place of code up to the end of a link.

    Inside code a backslash cannot escape anything.
    """
    end = next(i for i, piece in enumerate(pieces) if piece.kind == _CLOSE and piece.mark is link)
    return [
        replace(piece, kind=_TEXT) if i < end and piece.kind == _CODE else piece
        for i, piece in enumerate(pieces)
    ]


def _is_plain(pieces: list[_Piece]) -> bool:
    """Return whether the pieces can be written in one line without any escapes."""
    for piece in pieces:
        kind = piece.kind
        if kind == _TEXT:
            if _SPECIAL.search(piece.text):
                return False
        elif kind in {_CODE, _BREAK} or (piece.mark and piece.mark.name in _DELIMITERS):
            return False
    return True


def _plain_texts(pieces: list[_Piece]) -> Iterator[str]:
    """Yield the texts of the pieces of a plain line; a ``!`` before a link is escaped, as it would make an image."""
    for i, piece in enumerate(pieces):
        text = piece.text
        if text.endswith("!") and piece.kind == _TEXT and pieces[i + 1 : i + 2]:
            text = f"{text[:-1]}\\!" if pieces[i + 1].text.startswith("[") else text
        yield text


def _continues(last: Mark, mark: Mark) -> bool:
    return last.name == mark.name != "a"


def plain_alt(text: str) -> str:
    """Return the description of an image, escaped for use in brackets."""
    text = _SPACES.sub(" ", text).strip(" ")
    if not _SPECIAL.search(text):
        return text
    return _escaped(text, _needed([_Piece(_TEXT, text)], marked=True).get(0, ()), linked=True)


def safe_address(address: str) -> str:
    """Return an absolute address, escaped for use in parentheses."""
    address = address.replace("(", "%28").replace(")", "%29")
    return _PLAIN_ESCAPES.sub(r"\\\g<0>", address) if "&" in address else address


def code_span(text: str) -> str:
    """Return inline code between backticks, of a number that does not occur inside."""
    if "`" not in text:
        return f"`{text}`"
    runs = {len(run) for run in _BACKTICKS.findall(text)}
    fence = "`" * next(length for length in range(1, len(text) + 2) if length not in runs)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _line(pieces: list[str], first: _Piece | None, number: int, *, escape_starts: bool) -> str:
    text = "".join(pieces).strip(" ")
    if escape_starts and first and first.kind == _TEXT:
        cut = _start(text, number)
        if cut >= 0:
            # All of a run of delimiters, because the rest of it could pair with others.
            run = _RUNS.match(text)
            end = run.end() if cut == 0 and run else cut + 1
            text = text[:cut] + "".join(f"\\{sign}" for sign in text[cut:end]) + text[end:]
    return text


def _start(line: str, number: int) -> int:
    """Return where a line needs a backslash so that it does not begin a block, -1 if nowhere."""
    sign, rest = line[:1], line[1:2]
    cut = -1
    if sign.isdigit() and sign.isascii():
        digits = next((i for i in range(min(len(line), 10)) if not line[i].isdigit()), 10)
        if (
            digits < 10
            and line[digits : digits + 1] in {".", ")"}
            and line[digits + 1 : digits + 2] in {"", " "}
        ):
            cut = digits
    elif sign == "#":
        level = len(line) - len(line.lstrip("#"))
        cut = 0 if level < 7 and line[level : level + 1] in {"", " "} else -1
    elif sign == ">" or (sign in {"-", "+", "*"} and rest in {"", " "}) or line.startswith(("~~~", "```")):
        cut = 0
    elif sign == "[" and number == 0:
        box = line[:3] in {"[ ]", "[x]", "[X]"} and line[3:4] in {"", " "}
        cut = 0 if line.startswith("[!") or box else -1
    if cut < 0 and sign in {"-", "*", "_", "="}:
        cut = 0 if set(line) <= {sign, " "} else -1
    if cut < 0 and number and sign in {"|", ":", "-"}:
        cut = 0 if "-" in line and set(line) <= set("|:- ") else -1
    return cut


def _escaped(text: str, needed: Sequence[tuple[int, int]], *, linked: bool) -> str:
    """Return text with backslashes; `needed` are the runs of delimiters that must be escaped."""
    if not _SPECIAL.search(text):
        return text
    parts = []
    at = 0
    for start, end in needed:
        parts += [_plainly(text[at:start], linked=linked), *(f"\\{sign}" for sign in text[start:end])]
        at = end
    parts.append(_plainly(text[at:], linked=linked))
    return "".join(parts)


def _plainly(text: str, *, linked: bool) -> str:
    def backslash(match: re.Match[str]) -> str:
        if match[0] == "&":
            named = _ENTITY.match(text, match.start())
            if named and f"{named[1]};" not in html5:
                return "&"
        return f"\\{match[0]}"

    text = _PLAIN_ESCAPES.sub(backslash, text)
    if linked:
        text = _BRACKETS.sub(lambda match: _bracket(text, match.start()), text)
    return text


def _bracket(text: str, at: int) -> str:
    """Return a bracket with a backslash, unless it was already escaped because of a parenthesis."""
    before = at
    while before and text[before - 1] == "\\":
        before -= 1
    return text[at] if (at - before) % 2 else f"\\{text[at]}"


def _merged(pieces: list[_Piece]) -> list[_Piece]:
    """Return the pieces with adjacent texts merged, and adjacent code merged."""
    merged: list[_Piece] = []
    for kind, group in groupby(pieces, key=attrgetter("kind")):
        same = list(group)
        if kind in {_TEXT, _CODE} and len(same) > 1:
            same = [_Piece(kind, "".join(piece.text for piece in same))]
        merged += same
    return merged


def _needed(pieces: list[_Piece], *, marked: bool = False) -> dict[int, list[tuple[int, int]]]:
    """Return, for each piece of text, the runs of delimiters that would pair with others."""
    runs: dict[str, list[tuple[int, int, int, bool, bool]]] = {}
    own = set("*_~`$") if marked else set()
    for i, piece in enumerate(pieces):
        check()
        if piece.kind == _TEXT:
            for match in _RUNS.finditer(piece.text):
                opens, closes = _sides(pieces, i, match)
                if opens or closes:
                    runs.setdefault(match[0][0], []).append((i, *match.span(), opens, closes))
        elif piece.kind == _CODE:
            own.add("`")
        elif piece.kind == _RAW:
            own.update(sign for sign in "*_~`$" if sign in piece.text)
        elif piece.mark and piece.mark.name in _DELIMITERS:
            own.add(piece.text[0])
    needed: dict[int, list[tuple[int, int]]] = {}
    for sign, same in runs.items():
        opener = next((n for n, run in enumerate(same) if run[3]), len(same))
        if sign in own or any(run[4] for run in same[opener + 1 :]) or (sign == "`" and _long(same)):
            for i, start, end, _, _ in same:
                needed.setdefault(i, []).append((start, end))
    for spans in needed.values():
        spans.sort()
    return needed


def _long(runs: list[tuple[int, int, int, bool, bool]]) -> bool:
    return any(end - start > 2 for _, start, end, _, _ in runs)


def _sides(pieces: list[_Piece], i: int, match: re.Match[str]) -> tuple[bool, bool]:
    """Return whether a run of delimiters in a text can open emphasis, and whether it can close it."""
    text, sign = match.string, match[0][0]
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    before = before or _neighbour(pieces, i - 1)
    after = after or _neighbour(pieces, i + 1)
    if sign == "`":
        return True, True
    if sign == "$":
        return not _is_space(after), not (_is_space(before) or after.isdigit())
    left, right = _flanks(before, after), _flanks(after, before)
    if sign == "_":
        return left and not (right and before.isalnum()), right and not (left and after.isalnum())
    return left, right


def _neighbour(pieces: list[_Piece], i: int) -> str:
    """Return a character that represents the neighbour of a text: marks, code and links count as punctuation."""
    return "." if 0 <= i < len(pieces) and pieces[i].kind != _BREAK else ""


def _flanks(outer: str, inner: str) -> bool:
    """Return whether delimiters between two characters can be attached to `inner`; True in case of doubt."""
    return not _is_space(inner) and (not _is_punctuation(inner, sure=True) or not outer.isalnum())


def _is_space(sign: str) -> bool:
    return not sign or sign.isspace()


def _is_punctuation(sign: str, *, sure: bool) -> bool:
    """Return whether a character is punctuation.

    Whether non-ASCII symbols are punctuation depends on the version of CommonMark; they count unless `sure`.
    """
    kind = unicodedata.category(sign)[0] if sign else "Z"
    return kind == "P" or (kind == "S" and (sign.isascii() or not sure))


def _readable(pieces: list[_Piece]) -> list[_Piece]:
    """Return the pieces without the marks whose delimiters CommonMark would not parse."""
    for _ in range(_PASSES):
        lost = _unreadable(pieces)
        if not lost:
            return pieces
        pieces = [piece for piece in pieces if piece.mark is None or piece.mark not in lost]
    return [piece for piece in pieces if not _is_delimiter(piece)]


def _is_delimiter(piece: _Piece) -> bool:
    return piece.mark is not None and piece.mark.name in _DELIMITERS


def _unreadable(pieces: list[_Piece]) -> set[Mark | None]:
    """Return the marks whose delimiters CommonMark would not parse as opening or closing."""
    lost: set[Mark | None] = set()
    depth = 0
    for start, end in _delimiter_runs(pieces):
        check()
        before, after = _last_sign(pieces, start - 1), _first_sign(pieces, end)
        opening = [piece.mark for piece in pieces[start:end] if piece.kind == _OPEN]
        closing = [piece.mark for piece in pieces[start:end] if piece.kind == _CLOSE]
        depth -= len(closing)
        # Inside other marks, a delimiter that could both open and close may be taken for the wrong one.
        if opening and (closing or not _surely_flanks(before, after) or (depth and _flanks(after, before))):
            lost.update(opening)
        elif closing and (not _surely_flanks(after, before) or (depth and _flanks(before, after))):
            lost.update(closing)
        depth += len(opening)
    return lost


def _delimiter_runs(pieces: list[_Piece]) -> Iterator[tuple[int, int]]:
    """Yield ranges of adjacent pieces that form one run of the same delimiter character."""
    start = 0
    while start < len(pieces):
        end = start + 1
        if _is_delimiter(pieces[start]):
            sign = pieces[start].text[0]
            while end < len(pieces) and _is_delimiter(pieces[end]) and pieces[end].text[0] == sign:
                end += 1
            yield start, end
        start = end


def _last_sign(pieces: list[_Piece], i: int) -> str:
    if i < 0 or pieces[i].kind == _BREAK:
        return ""
    return "`" if pieces[i].kind == _CODE else pieces[i].text[-1:]


def _first_sign(pieces: list[_Piece], i: int) -> str:
    if i >= len(pieces) or pieces[i].kind == _BREAK:
        return ""
    return "`" if pieces[i].kind == _CODE else pieces[i].text[:1]


def _surely_flanks(outer: str, inner: str) -> bool:
    """Return whether delimiters between two characters are attached to `inner` in all versions of CommonMark."""
    if _is_space(inner):
        return False
    return not _is_punctuation(inner, sure=False) or _is_space(outer) or _is_punctuation(outer, sure=True)
