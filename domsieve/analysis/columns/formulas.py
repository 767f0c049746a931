"""Formulas that MathJax 3 draws without text: what they say is in MathML beside them, for those who do not see."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, Ints, below
from domsieve.analysis.columns.css_shapes import shape
from domsieve.analysis.columns.page_columns import (
    MEDIA,
    attributes_of,
    count_letters,
    has_tag,
    in_tag,
    page_texts,
)
from domsieve.budget import check
from domsieve.snapshot.page import Snapshot

CONTAINER = "mjx-container"
"""The element of MathJax with a formula."""

LONGEST = 20_000
"""Signs that a formula has at most; longer texts are no formulas."""

_DESCRIPTION = "mjx-assistive-mml"
# Shorter runs of letters are variables, which may be drawn in another order.
_FEWEST_IN_WORD = 3
_LEAST_PX, _LEAST_HEIGHT_PX = 1.0, 4.0  # of a letter
_LAST_CODE = 0x10FFFF
# The least area of a letter, as a share of the rectangle around it. A guess: thin letters have ten times that.
_LEAST_AREA = 0.01
# What is drawn has no more letters and digits than it is said to have, and so many.
_MOST_MORE = 10
# More punctuation, operators and accents than are drawn would be hidden text in a code, such as Morse's. Of shapes,
# minus signs and points are too thin to count as drawn.
_MOST_MARKS, _MARKS_PER_LETTER = 10, 0.5
# Each is drawn as a whole, so words in it must be in one piece, too.
_TOKENS = "mi", "mn", "mo", "ms", "mtext"
# White space, what draws nothing, punctuation and operators are no part of words, and are often drawn by other signs
# than the page says. Quantifiers, sums, unions, integrals and similar look like letters.
_NOTHING = frozenset({"Cc", "Cf"})
_SPACES = frozenset("\t\n\v\f\r")
_BLANK = _NOTHING | {"Zl", "Zp", "Zs"}
_UNSAID = _BLANK | {"Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sm"}
_LIKE_LETTERS = re.compile(
    "[\u2118\u2140-\u2144\u2200-\u2211\u2227-\u2233\u2282-\u2287\u228f-\u2294\u22a2-\u22a5\u22c0-\u22c3"
    "\u22ce\u22cf\u2a0b-\u2a1c]"
)
# Marks on letters, but not those that are letters themselves, and marks with a place of their own.
_ACCENTS = re.compile("[\u0300-\u0362\u20d0-\u20f0\u02c6-\u02cb\u02d8-\u02dd`^\u00a8\u00af\u00b4\u00b8]")


def drawn_nodes(page: Snapshot) -> Bools:
    """Return which of the N nodes draw a formula that has its MathML beside them: this is its text.

    If they have many more letters and digits than that, they are text themselves.
    """
    described = np.zeros(len(page), np.bool_)
    described[page.parent[has_tag(page, _DESCRIPTION)]] = True
    described &= has_tag(page, CONTAINER)
    if not described.any():
        return described
    end, is_said = page.end.astype(np.int64), in_tag(page, _DESCRIPTION)
    text = np.flatnonzero(below(described, end) & (page.text >= 0))
    letters = np.zeros(len(page), np.int64)
    letters[text] = count_letters(page, text)
    drawn, said = (np.append(0, np.cumsum(letters * of)) for of in (~is_said, is_said))
    found = np.flatnonzero(described)
    counts = (total[end[found]] - total[found] for total in (drawn, said))
    described[found] = np.subtract(*counts) <= _MOST_MORE
    return below(described, end) & ~described & ~is_said


def shapes(page: Snapshot) -> dict[int, str]:
    """Return the shapes of letters in formulas, in document order, each with its letter."""
    inside = below(has_tag(page, "svg") & in_tag(page, CONTAINER), page.end.astype(np.int64))
    if not inside.any():
        return {}
    is_there = inside & (page.box[:, 2:] >= _LEAST_PX).all(axis=1)
    is_there &= page.box[:, 2:].max(axis=1) >= _LEAST_HEIGHT_PX
    is_there &= _has_area(page)
    letters = attributes_of(page).found("data-c", _letter)
    return {node: letter for node, letter in letters.items() if is_there[node]}


def _has_area(page: Snapshot) -> Bools:
    """Return which of the N nodes are paths that enclose an area, or uses of such paths: MathJax draws no others."""
    attributes, area = attributes_of(page), np.zeros(len(page), np.bool_)
    area[[*attributes.found("d", lambda path: _encloses(path) or None)]] = True
    area &= has_tag(page, "path")
    named: dict[str, int] = {}
    for node, name in attributes.found("id", str).items():
        named.setdefault(name, node)
    is_use = has_tag(page, "use")
    for reference in ("xlink:href", "href"):
        used = attributes.found(reference, lambda address: named.get(address.removeprefix("#")))
        area[[node for node, path in used.items() if is_use[node] and area[path]]] = True
    return area


def _encloses(path: str) -> bool:
    """Return whether a path has an area, with its control points as corners."""
    check()
    drawn = shape(f"path({path})", 0.0, 0.0)
    if drawn is None:
        return False
    left, top, right, bottom = drawn.edges
    with np.errstate(all="ignore"):  # numbers may be too large
        area = sum(
            abs(float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))) / 2
            for x, y in ((ring - ring[0]).T for ring in drawn.rings)
        )
    return area > _LEAST_AREA * (right - left) * (bottom - top) > 0


def seen_shapes(page: Snapshot, reason: NDArray[np.uint8]) -> dict[int, str]:
    """Return those of the `shapes` that are seen; of several in one place, the first.

    Parameters
    ----------
    reason : why each of the N nodes cannot be seen by the rules, 0 for those that can.
    """
    letters = {node: letter for node, letter in shapes(page).items() if not reason[node]}
    nodes = np.array([*letters], np.intp)
    first = np.sort(np.unique(np.round(page.box[nodes]), axis=0, return_index=True)[1])
    return {node: letters[node] for node in nodes[first].tolist()}


def descriptions(page: Snapshot, reason: NDArray[np.uint8]) -> Ints:
    """Return the texts in MathML of the formulas that readers see, if what they see has its words and letters.

    Parameters
    ----------
    reason : see `seen_shapes`.
    """
    is_container = has_tag(page, CONTAINER)
    if not is_container.any():
        return np.zeros(0, np.intp)
    # Only those that are in no other one, so that each text is looked at once.
    containers = np.flatnonzero(is_container & ~below(is_container, page.end.astype(np.int64))[page.parent])
    texts = page_texts(page)
    # MathML has no pictures; in other XML, text in one would keep it, and its description.
    is_said = (in_tag(page, _DESCRIPTION) & ~in_tag(page, *MEDIA))[texts.node]
    # Letters are generated by style sheets, or texts if its fonts do not have them, or shapes.
    is_drawn = ~is_said & (reason[texts.node] == 0) & (page.style[texts.node] >= 0)
    token = _tokens(page, texts.node)
    letters = seen_shapes(page, reason)
    shaped = np.array([*letters], np.intp)
    found = [np.zeros(0, np.intp)]
    for node in containers.tolist():
        check()
        own = np.arange(*np.searchsorted(texts.node, [node, page.end[node]]))
        first, last = np.searchsorted(shaped, [node, page.end[node]])
        drawn = {int(texts.node[one]): texts.text[one] for one in own[is_drawn[own]].tolist()}
        drawn |= {one: letters[one] for one in shaped[first:last].tolist()}
        said = own[is_said[own]]
        words: dict[int, str] = {}
        for one in said.tolist():
            owner = int(token[one])
            words[owner] = words.get(owner, "") + texts.text[one]
        if _has("".join(drawn[one] for one in sorted(drawn)), [*words.values()]):
            found.append(texts.node[said])
    return np.concatenate(found)


def _tokens(page: Snapshot, text: Ints) -> Ints:
    """Return the outermost element that each text is a piece of, of those that have texts in MathML."""
    is_token = has_tag(page, *_TOKENS)
    tokens = np.flatnonzero(is_token & ~below(is_token, page.end.astype(np.int64))[page.parent])
    at = np.searchsorted(tokens, text) - 1
    within = (at >= 0) & (text < page.end[tokens[at]]) if tokens.size else np.zeros(text.size, np.bool_)
    return np.where(within, tokens[at] if tokens.size else 0, page.parent[text])


def _letter(code: str) -> str | None:
    """Return the letter with a number in hexadecimal."""
    try:
        number = int(code, 16)
    except ValueError:
        return None
    return chr(number) if 0 <= number <= _LAST_CODE else None


def _has(drawn: str, said: list[str]) -> bool:
    """Return whether some texts have no letters, digits and words that what is drawn has not."""
    if sum(map(len, said)) > LONGEST:
        return False
    runs, *words = (parted(unicodedata.normalize("NFKC", one)) for one in (drawn, *said))
    shown, letters = (one.replace(" ", "") for one in (runs, "".join(words)))
    if has_more_marks("".join(said), drawn):
        return False
    # Braces are drawn from many signs for private use.
    if sum(unicodedata.category(sign) != "Co" for sign in shown) > len(letters) + _MOST_MORE:
        return False
    if Counter(letters) - Counter(shown):
        return False
    return not unshown((one for one in " ".join(words).split() if len(one) >= _FEWEST_IN_WORD), runs)


def unshown(words: Iterable[str], runs: str) -> frozenset[str]:
    """Return those of some words that are in no piece of a text, also not as a part of a longer one.

    Takes O(length), and that again for each distinct word that is no whole piece, so `LONGEST` bounds texts.
    """
    pieces = dict.fromkeys(runs.split())
    whole = " ".join(pieces)
    found = set[str]()
    for word in dict.fromkeys(words):
        check()
        if word not in pieces and word not in whole:
            found.add(word)
    return frozenset(found)


def parted(text: str) -> str:
    """Return a text with spaces in place of white space, punctuation and operators: no word goes across these."""
    return "".join(one if says(one) else " " for one in drawing(text) if not is_accent(one))


def drawing(text: str) -> str:
    """Return a text without the controls and marks that draw nothing and do not part words, either."""
    return "".join(one for one in text if one in _SPACES or unicodedata.category(one) not in _NOTHING)


def says(sign: str) -> bool:
    """Return whether a sign may be part of a word: all but white space, punctuation, operators and accents."""
    if _LIKE_LETTERS.match(sign):
        return True
    return unicodedata.category(sign) not in _UNSAID and not is_accent(sign)


def has_more_marks(said: str, drawn: str) -> bool:
    """Return whether a text has far more punctuation, operators and accents than what is drawn for it."""
    letters = sum(map(says, drawn))
    return marks(said) > marks(drawn) + _MOST_MARKS + _MARKS_PER_LETTER * letters


def marks(text: str) -> int:
    """Return how many signs of a text are punctuation, operators and accents."""
    plain = unicodedata.normalize("NFKC", text)
    return sum(not says(sign) and unicodedata.category(sign) not in _BLANK for sign in plain)


def is_accent(sign: str) -> bool:
    """Return whether a sign is a mark on letters, which some formulas draw apart from them."""
    return bool(_ACCENTS.match(sign))
