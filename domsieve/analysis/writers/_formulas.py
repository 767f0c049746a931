"""Formulas of a page as TeX, if a page has that beside what readers see."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.columns.formulas import (
    LONGEST,
    drawing,
    has_more_marks,
    is_accent,
    marks,
    parted,
    says,
    unshown,
)
from domsieve.analysis.columns.page_columns import AttributeIndex, has_tag
from domsieve.analysis.writers._media import Reader
from domsieve.budget import check
from domsieve.snapshot.page import Snapshot

_WRAPPERS = word_set(
    "katex katex-display mathjax mathjax_display mathjax_chtml mathjax_svg mathjax_mathml mathjax_svg_display "
    "mjx-chtml mjxc-display mwe-math-element ltx_math"
)
_DISPLAYED = word_set(
    "katex-display mathjax_display mathjax_svg_display mjxc-display mwe-math-element-block mwe-math-mathml-display"
)
_IMAGES = word_set("latex mwe-math-fallback-image-display mwe-math-fallback-image-inline tex")
_FORMULA_LEVELS = 8
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_SPACES = re.compile(r"\s+")
_DOLLAR = re.compile(r"(?<!\\)\$")
_STYLED = re.compile(r"\{\\(?:display|text)style (.*)\}")
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])|\](?=[(:])")
_LENGTH = r"-?(?:[0-9]{1,3}(?:\.[0-9]{0,5})?|\.[0-9]{1,5})\s?(?:em|ex|mu|p[tx]|[cm]m|in)\b"
# Commands, also with the name of an environment and its columns, or of a colour; and lengths.
_COMMAND = re.compile(
    r"\\(?:begin|end)\{([A-Za-z]{1,20})\*?\}(?:\{[lcr| ]{1,40}\})?|\\(?:text)?color\{([a-z]{1,10})\}|\\([A-Za-z]+)"
    rf"|\\\\(?:\[{_LENGTH}\])?|\\[ -/:-@[-`{{-~\s]|{_LENGTH}"
)
_SYNTAX = re.compile(r"[{}^_&~#]")
# What draws nothing, or a little space: no word ends there.
_THIN = frozenset(["\\-", "\\,", "\\!", "\\/", "\\:", "\\>"])
_EMPTY = re.compile(r"[\^_]?(?<!\{)\{+\}+")
# Numbers are no words: fractions draw their parts in another order than TeX has them.
_WORD = re.compile(r"[^\W\d_][^\W_]+")
# Unseen letters of a formula, such as those of names of macros, and of these the ones that are no words.
_MOST_LETTERS, _MOST_SINGLE = 10, 3
# Commands and signs of the syntax of TeX: so many, and more for each sign that the formula shows. Of 2,295 formulas
# in the documentation of SciPy and others, none has more than two commands and three such signs for each.
_COMMANDS, _COMMANDS_EACH = 4, 2
_SYNTAX_SIGNS, _SYNTAX_SIGNS_EACH = 10, 3
# A text with more letters than its TeX has signs, and so many, is no formula.
_MOST_MORE = 20
_COLORS = word_set(
    "black blue brown cyan gray green magenta olive orange pink purple red teal violet white yellow"
)


@dataclass(frozen=True, slots=True)
class Formula:
    """One formula.

    Parameters
    ----------
    end : one past the last node of the elements that display it.
    tex : TeX in one line, safe between dollar signs in Markdown.
    displayed : it is a display formula, on a line of its own.
    """

    end: int
    tex: str
    displayed: bool


def formulas(page: Snapshot, reader: Reader, attributes: AttributeIndex) -> dict[int, Formula]:
    """Return the formulas of a page whose TeX is known, by the outermost node that displays them."""
    has_tex = has_tag(page, "annotation", "math", "mjx-container", "mjx-math", "img")
    # MathJax 4 has TeX in all parts of a drawing.
    has_tex[[*attributes.found("data-mml-node", lambda name: True if name == "math" else None)]] = True
    candidates = np.flatnonzero(has_tex).tolist()
    if not candidates:
        return {}
    wrappers = attributes.found("class", _wrapper)
    found: dict[int, Formula] = {}
    for node, tex, displayed in _given(reader, candidates):
        check()
        clean = clean_tex(tex)
        root, displayed = _root(reader, node, wrappers, displayed=displayed)
        if clean and root not in found:
            found[root] = Formula(reader.end[root], clean, displayed)
    return found


def clean_tex(tex: str) -> str:
    """Return TeX in one line that is safe between dollar signs in Markdown, or an empty string if that is impossible.

    Spaces have no meaning in formulas, so a space is inserted where Markdown would read a tag or a link.
    """
    if len(tex) > LONGEST:
        return ""
    tex = _SPACES.sub(" ", _COMMENT.sub("", tex)).strip(" ")
    if styled := _STYLED.fullmatch(tex):
        tex = styled[1].strip(" ")
    if _DOLLAR.search(tex) or tex.endswith("\\"):
        return ""
    return _MARKUP.sub(r"\g<0> ", tex).replace("*", r"\ast ").replace("`", "‘").strip(" ")


def unseen_words(formula: Formula, text: str) -> tuple[int, int] | None:
    """Return how many words, and letters, the TeX of a formula has that its text does not show to readers.

    The letters are those that are in none of the words. None if there are too many, or it is another text. Variables
    and names of functions have letters in both. Commands that KaTeX and MathJax have are no words, but others are.
    TeX with many words that nobody sees would be hidden text, and so would many commands and signs, which can spell
    it.
    """
    runs = parted(_plain(text))
    shown = runs.replace(" ", "")
    if len(shown) > len(formula.tex) + _MOST_MORE:
        return None
    tex, commands = _COMMAND.subn(_without_names, drawing(formula.tex))
    given = _EMPTY.sub("", tex)
    syntax = len(tex) - len(given)
    given, more = _SYNTAX.subn(" ", given)
    syntax += more
    visible = len(shown) + marks(text)
    if (
        commands > _COMMANDS + _COMMANDS_EACH * visible
        or syntax > _SYNTAX_SIGNS + _SYNTAX_SIGNS_EACH * visible
        or has_more_marks(given, text)
    ):
        return None
    given = _plain(given)
    unseen = (Counter(filter(says, given)) - Counter(shown)).total()
    words = _WORD.findall(given)
    hidden = unshown(words, runs)
    rest = _WORD.sub(lambda word: word[0] if word[0] in shown else " ", given)
    single = (Counter(filter(says, rest)) - Counter(shown)).total()
    count = sum(word in hidden for word in words)
    return (count, single) if unseen <= _MOST_LETTERS and single <= _MOST_SINGLE else None


def _plain(text: str) -> str:
    """Return a text without accents, which some formulas draw apart from their letters."""
    return "".join(one for one in unicodedata.normalize("NFKD", text) if not is_accent(one))


def _without_names(match: re.Match[str]) -> str:
    """Return what may be words in a command; nothing if it parts no words."""
    if match[0] in _THIN:
        return ""
    environment, color, command = match.groups()
    if environment or command:
        name = environment or command
        # Any words can be spelled with names of one letter.
        return " " if name in _names() and len(name) > 1 else f" {name} "
    return f" {color} " if color and color not in _COLORS else " "


@cache
def _names() -> frozenset[str]:
    """Return the names of commands and environments of KaTeX 0.19, and of those of MathJax that are common."""
    return frozenset(Path(__file__).with_name("tex_names.txt").read_text().split())


def _wrapper(value: str) -> bool | None:
    """Return whether a class is that of a display formula, or None if it is not that of a formula."""
    tokens = frozenset(value.lower().split())
    if _WRAPPERS.isdisjoint(tokens):
        return None
    return not _DISPLAYED.isdisjoint(tokens)


def _given(reader: Reader, nodes: list[int]) -> Iterator[tuple[int, str, bool]]:
    """Yield nodes with TeX, the TeX, and whether the node is marked as a display formula."""
    for node in nodes:
        tag, given = reader.names[reader.tag[node]], reader.given(node)
        if tag == "annotation" and "tex" in given.get("encoding", "").lower():
            yield node, _text(reader, node), False
        elif tag in {"math", "mjx-container", "mjx-math", "g"}:
            tex = given.get("data-latex") or given.get("alttext") or ""
            if tex:
                yield node, tex, given.get("display") in {"block", "true"}
        elif tag == "img" and not _IMAGES.isdisjoint(given.get("class", "").lower().split()):
            tex = described(given)
            if "\\" in tex or "^" in tex or "_" in tex or len(tex) < 4:
                yield node, tex, "display" in given["class"].lower()


def described(image: Mapping[str, str]) -> str:
    """Return the TeX that the description of a picture may be, from its attributes."""
    return image.get("alt", "").strip("$ ")


def _text(reader: Reader, node: int) -> str:
    return "".join(
        reader.text(n) for n in range(node + 1, reader.end[node]) if reader.names[reader.tag[n]] == "#text"
    )


def _root(reader: Reader, node: int, wrappers: dict[int, bool], *, displayed: bool) -> tuple[int, bool]:
    """Return the outermost node that displays only the formula, and whether it is a display formula."""
    root = above = node
    for _ in range(_FORMULA_LEVELS):
        if above <= 0:
            break
        tag = reader.names[reader.tag[above]]
        if tag in {"math", "mjx-container"} or above in wrappers:
            root = above
            given = reader.given(above)
            displayed |= wrappers.get(above, False) or given.get("display") in {"block", "true"}
        above = reader.parent[above]
    return root, displayed
