"""Remove invisible characters that can carry text which only machines read.

Tag characters spell ASCII, variation selectors spell bytes, and zero-width characters spell bits. Readers see none of
them, but language models read them. They are removed from everything that is written, unless they are part of
correct text:

- tag characters in the flags of England, Scotland and Wales, the only ones that browsers draw
- one variation selector after a character that has such a variation
- a single zero-width character between others; runs of several only where emoji or a script need them
- pairs of bidirectional controls with text between them

Runs of control characters, and of spaces of other widths than the usual, become one space: writers remove the former,
and so would join letters that stand far apart, and nobody can tell the latter apart. Two or more small letters on
another (U+0363) are removed: old manuscripts have one, as in `uͤ`, and readers see specks or boxes.

In scripts that need joiners, such as Persian or Hindi, a run is shortened to its first joiner. Snapshots keep all
characters; `visible_page` returns a copy without them, and `visible_text` does the same for one text.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import accumulate

import numpy as np

from domsieve.analysis.columns.batch import Bools, cached_per_page, distinct
from domsieve.analysis.columns.flow import CELL, SPACE, boundaries, text_flow
from domsieve.analysis.columns.hiding import hidden_texts
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.strings import StringTable

# Unicode 16: the characters with Default_Ignorable_Code_Point, and interlinear annotation.
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0000-\U000e0fff"  # with tags, and what is like them
_ZERO_WIDTH = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u2064\ufeff"
_INVISIBLE = (
    f"{_SELECTORS}{_ZERO_WIDTH}\u115f\u1160\u17b4\u17b5\u202a-\u202e\u2065-\u206f\u3164\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
# Scripts from Hebrew to Vedic signs, and later ones with joiners or marks of direction.
_COMPLEX = "\u0590-\u1cff\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00011fff\U0001e800-\U0001efff"
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"

# Browsers draw each control character as a box, or not at all, and each of these spaces with its own width.
_CONTROLS = "\x00-\x08\x0e-\x1f\x7f-\x9f"
_ODD_SPACES = "\u1680\u2000-\u200a\u202f\u205f"
_SPACES = f" \t\n\xa0\u3000{_ODD_SPACES}"
# Combining letters: Latin, Cyrillic and Glagolitic.
_ON_LETTERS = (
    "\u0363-\u036f\u1abf\u1ac0\u1acc-\u1ace\u1dd3-\u1df4\u2de0-\u2dff\ua674-\ua67b\ua69e\ua69f"
    "\U0001e000-\U0001e02a\U0001e08f"
)

_ANY = re.compile(f"[{_INVISIBLE}]")
_MAY_CARRY = f"{_INVISIBLE}{_CONTROLS}{_ODD_SPACES}{_ON_LETTERS}"
_UNUSUAL = re.compile(f"[{_MAY_CARRY}]")
# One or two control characters are a sign in a wrong encoding; letters between more of them stand apart.
_GAP = re.compile(
    f"[{_CONTROLS}](?:[{_INVISIBLE}]{{0,9}}[{_CONTROLS}]){{2,}}"
    f"|[{_ODD_SPACES}](?:[{_INVISIBLE}]{{0,9}}[{_SPACES}])+|(?<=[{_SPACES}])[{_ODD_SPACES}]"
)
_STACK = re.compile(f"[{_ON_LETTERS}](?:[{_INVISIBLE}]{{0,9}}[{_ON_LETTERS}])+")
_SELECTOR = re.compile(f"[{_SELECTORS}]")
_SUSPECT = re.compile(f"[{_INVISIBLE}]{{2,}}|[{_SELECTORS}]")
# Single ones, at most three characters apart and at least six in a row: bits between the letters of a word.
_DENSE = re.compile(
    f"(?:[{_ZERO_WIDTH}][^{_INVISIBLE}{_COMPLEX}{_EMOJI}\n\u2029]{{1,3}}){{5,}}[{_ZERO_WIDTH}]"
)
_AT_EDGE = re.compile(f"\n[{_MAY_CARRY}]|[{_MAY_CARRY}]\n")
_IN_COMPLEX_SCRIPT = re.compile(f"[{_COMPLEX}]")
# Emoji that browsers also draw as signs, or signs as emoji, with the blocks that have many of them.
_BOTH_WAYS = (
    f"{_EMOJI}\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u2300-\u23ff\u24c2\u25a0-\u25ff"
    "\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
)
_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Unicode 16: characters of which there is a variation by U+FE00: zeros, operators and letters of some scripts.
_VARIED = (
    "0\uff10\u2205\u2229-\u222a\u2268-\u22ff\u2a00-\u2aff\u1000-\u109f\uaa60-\uaa7f\ua840-\ua87f"
    "\U00010ac0-\U00010aff"
)
# With two: quotes and punctuation of East Asia, script capitals. With seven: hieroglyphs, which can be turned.
_VARIED_TWICE = (
    "\u2018\u2019\u201c\u201d\u3001\u3002\uff01\uff0c\uff0e\uff1a\uff1b\uff1f\U0001d49c-\U0001d4b5"
)
_VARIATION = re.compile(
    f"[{_BOTH_WAYS}][\ufe0e\ufe0f]|[0-9#*][\ufe0e\ufe0f](?=\u20e3)|[{_VARIED}]\ufe00|[{_VARIED_TWICE}][\ufe00\ufe01]"
    f"|[\U00013000-\U0001342f][\ufe00-\ufe06]|[{_IDEOGRAPHS}][\ufe00-\ufe02\U000e0100-\U000e011f]"
    "|[\u1800-\u18af][\u180b-\u180d\u180f]"
)
_FLAG = re.compile(
    "\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)\U000e007f"
)
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u2029]")

_USUAL = bytes((*range(9, 14), *range(32, 127)))
_BLACK_FLAG = "\U0001f3f4"
_JOINERS = frozenset("\u200b\u200c\u200d\u2060")
_UNLIGATED = "\u200d\u200c\u200d"  # between Arabic letters: joined, but no ligature (Unicode, chapter 9.2)
_MARKS = frozenset("\u061c\u200e\u200f")
_EMBEDDINGS, _POP_EMBEDDING = frozenset("\u202a\u202b\u202d\u202e"), "\u202c"
_ISOLATES, _POP_ISOLATE = frozenset("\u2066\u2067\u2068"), "\u2069"
_PASSES = 3  # what was kept can come closer together when others are removed; a guess that bounds the work
_MOST_OPENED = 2  # a guess: pairs of bidirectional controls that may begin at one place
_JAMO_FILLERS = "\u115f\u1160"  # a syllable with neither of the first two letters
# They look like a space, or like boxes where fonts do not have them.
_WIDE_FILLERS = frozenset(f"\u3164\uffa0{_JAMO_FILLERS}\U0001bca0\U0001bca1\U0001bca2\U0001bca3")
_PARAGRAPH = "\u2029"  # ends the effect of bidirectional controls
_ADDRESSES = frozenset(
    [
        "cite",
        "data-lazy-src",
        "data-lazy-srcset",
        "data-src",
        "data-srcset",
        "href",
        "poster",
        "src",
        "srcset",
    ]
)

_Cut = tuple[int, int, str]
"""Start and end of what is removed, and what takes its place."""


def visible_text(text: str) -> str:
    """Return a text without the invisible characters that can carry text."""
    if not _may_carry(text):
        return text
    return _without([text], [""])[0]


def visible_address(address: str) -> str:
    """Return an address with such characters in their percent-encoded form, which leads to the same place."""
    if not _may_carry(address):
        return address
    encoded, at = [], 0
    for start, stop, _ in _cuts(address, frozenset()):
        encoded += [address[at:start], "".join(f"%{byte:02X}" for byte in address[start:stop].encode())]
        at = stop
    return "".join(encoded) + address[at:]


def visible_page(page: Snapshot, kept: Bools | None = None) -> Snapshot:
    """Return the page without the invisible characters that can carry text; the page itself if it has none.

    A run may be spread over several text nodes. It counts as one if the nodes are next to each other in the page, or
    when only the `kept` nodes are written. Equal characters of which each is alone in its node are no run: formulas
    have them. Addresses in attributes are unchanged; `visible_address` is for them.

    Takes a single search for most pages, and O(N) for pages with such characters.

    Parameters
    ----------
    page : the page.
    kept : bool (N,), the nodes that are written; None for those whose text can be seen.
    """
    if not _is_suspect(page):
        return page
    kept = hidden_texts(page) == 0 if kept is None else kept
    clean, key = _clean_choices(page), np.packbits(kept).tobytes()
    if key in clean:
        return page
    texts, values = _texts(page, kept), _values(page)
    if not texts and not values:
        clean.add(key)
        return page
    known = len(page.strings)
    ids = {
        text: known + number for number, text in enumerate(dict.fromkeys([*texts.values(), *values.values()]))
    }
    text, value = page.text.copy(), page.attr_value.copy()
    text[list(texts)] = [ids[one] for one in texts.values()]
    value[list(values)] = [ids[one] for one in values.values()]
    return replace(page, text=text, attr_value=value, strings=_extended(page.strings, list(ids)))


def invisible_characters(page: Snapshot, kept: Bools) -> int:
    """Return the number of characters that `visible_page` removes from the `kept` (N,) nodes and their attributes."""
    visible = visible_page(page, kept)
    if visible is page:
        return 0
    owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
    texts = np.flatnonzero((visible.text != page.text) & kept)
    values = np.flatnonzero((visible.attr_value != page.attr_value) & kept[owner])
    before, after = (
        one.strings.take([*one.text[texts].tolist(), *one.attr_value[values].tolist()])
        for one in (page, visible)
    )
    return sum(map(len, before)) - sum(map(len, after))


def _may_carry(text: str) -> bool:
    return not _is_usual(text) and any(one.search(text) for one in (_SUSPECT, _GAP, _STACK, _DENSE))


def _is_usual(text: str) -> bool:
    """Return whether a text is ASCII without control characters."""
    return text.isascii() and not text.encode().translate(None, _USUAL)


@cached_per_page
def _is_suspect(page: Snapshot) -> bool:
    """Return whether any string of the page, or two of its texts together, may have something to remove."""
    data = page.strings.blob.tobytes()
    # Most of a page is ASCII, and deleting that is ten times as fast as searching it.
    if not _UNUSUAL.search(str(data.translate(None, _USUAL), "utf-8", "replace")):
        return False
    whole = str(data, "utf-8", "replace")
    if _may_carry(whole):
        return True
    texts = page_texts(page).text
    return bool(_AT_EDGE.search("\n".join(texts)) or _DENSE.search("".join(texts)))


@cached_per_page
def _clean_choices(_: Snapshot) -> set[bytes]:
    """Return the choices of nodes, as bits, that are known to have nothing to remove."""
    return set()


def _texts(page: Snapshot, kept: Bools) -> dict[int, str]:
    """Return the texts that change, by node."""
    found = page_texts(page)
    texts = list(found.text)
    around = boundaries(page)
    # Dropped text is written, too, as evidence. So first all nodes count as neighbours, and then those that are kept.
    for chosen in (page.kind == int(Kind.TEXT), kept):
        flow = text_flow(page, chosen, around)
        places = found.rank[flow.node].tolist()
        joints = [_PARAGRAPH if gap >= CELL else " " * (gap == SPACE) for gap in flow.gap.tolist()]
        pieces = [texts[place] for place in places]
        for place, text in zip(places, _without(pieces, joints), strict=True):
            texts[place] = text
    changed = enumerate(zip(found.text, texts, strict=True))
    return {int(found.node[i]): after for i, (before, after) in changed if before is not after}


def _values(page: Snapshot) -> dict[int, str]:
    """Return the values of attributes that change, by their index."""
    names = distinct(page.attr_name, len(page.strings))[0]
    is_address = np.zeros(len(page.strings), np.bool_)
    is_address[names] = [name in _ADDRESSES for name in page.strings.take(names.tolist())]
    at = np.flatnonzero(~is_address[page.attr_name])
    ids, which = distinct(page.attr_value[at], len(page.strings))
    values = page.strings.take(ids.tolist())
    visible = [visible_text(value) for value in values]
    changed = np.array([after is not before for before, after in zip(values, visible, strict=True)], np.bool_)
    return {int(at[i]): visible[which[i]] for i in np.flatnonzero(changed[which]).tolist()}


def _extended(table: StringTable, texts: list[str]) -> StringTable:
    more = StringTable.from_strings(texts)
    offsets = np.concatenate((table.offsets, more.offsets[1:] + table.offsets[-1]))
    return StringTable(np.concatenate((table.blob, more.blob)), offsets)


def _without(pieces: Sequence[str], joints: Sequence[str]) -> list[str]:
    """Return the pieces of one text without what is to be removed; unchanged pieces are the same objects.

    Parameters
    ----------
    pieces : the texts.
    joints : what separates each piece from the one before.
    """
    result = list(pieces)
    for _ in range(_PASSES):
        if not (inside := _cuts_by_piece(result, joints)):
            break
        for place, cuts in inside.items():
            kept, at = [], 0
            for start, stop, fill in cuts:
                kept += [result[place][at:start], fill]
                at = stop
            result[place] = "".join(kept) + result[place][at:]
    return result


def _cuts_by_piece(pieces: Sequence[str], joints: Sequence[str]) -> dict[int, list[_Cut]]:
    """Return what is to be removed from each piece, by its number; see `_without`."""
    starts = list(accumulate((len(j) + len(p) for j, p in zip(joints, pieces, strict=True)), initial=0))
    starts = [start + len(joint) for start, joint in zip(starts, joints, strict=False)]
    text = "".join(joint + piece for joint, piece in zip(joints, pieces, strict=True))
    inside: dict[int, list[_Cut]] = {}
    for start, stop, fill in _cuts(text, frozenset(starts)):
        place = bisect_right(starts, start) - 1
        while start < stop:
            first = starts[place]
            begin, end = max(start, first), min(stop, first + len(pieces[place]))
            if begin < end:
                inside.setdefault(place, []).append((begin - first, end - first, fill))
                fill = ""
            start = max(begin, end)
            place += 1
    return inside


def _cuts(text: str, borders: Set[int]) -> list[_Cut]:
    """Return what is to be removed from a text, in order.

    Parameters
    ----------
    text : the text.
    borders : where its pieces start, for texts of several nodes.
    """
    runs = {match.start(): match.end() for match in _SUSPECT.finditer(text)}
    runs = {start: stop for start, stop in runs.items() if not _is_spread(text, start, stop, borders)}
    pairs, apart = _bidi_pairs(text, runs)
    cuts: list[_Cut] = [(place, place + 1, "") for place in apart]
    for start, stop in runs.items():
        check()
        kept = _kept(text, start, stop, pairs)
        fill = "" if kept or _WIDE_FILLERS.isdisjoint(text[start:stop]) else " "
        cuts += [
            (place, place + 1, fill if place == start else "")
            for place in range(start, stop)
            if place not in kept and place not in apart
        ]
    for match in _DENSE.finditer(text):
        places = [place for place in range(*match.span()) if _ANY.match(text[place])]
        often = Counter(text[place] for place in places).most_common(2)
        if len(often) == 2 and often[1][1] > 1:
            cuts += [(place, place + 1, "") for place in places]
    cuts += [(*match.span(), "\n" if "\n" in match[0] else " ") for match in _GAP.finditer(text)]
    cuts += [(*match.span(), "") for match in _STACK.finditer(text)]
    ordered: list[_Cut] = []
    for cut in sorted(dict.fromkeys(cuts)):
        if not ordered or cut[0] >= ordered[-1][1]:  # else it is in a gap, which is removed as a whole
            ordered.append(cut)
    return ordered


def _is_spread(text: str, start: int, stop: int, borders: Set[int]) -> bool:
    """Return whether a run consists of equal zero-width characters, each alone in its text node."""
    return (
        stop - start > 1
        and text.count(text[start], start, stop) == stop - start
        and not _SELECTOR.match(text[start])
        and all(place in borders for place in range(start + 1, stop))
    )


def _kept(text: str, start: int, stop: int, pairs: Set[int]) -> Set[int]:
    """Return which places of a run are part of correct text.

    Parameters
    ----------
    text : the whole text.
    start, stop : the run, of invisible characters only; with others before and after it.
    pairs : the places of bidirectional controls that are part of a pair.
    """
    kept: set[int] = set()
    before, after = text[start - 1 : start], text[stop : stop + 1]
    at = start
    if before == _BLACK_FLAG and (flag := _FLAG.match(text, start, stop)):
        at = flag.end()
    elif before and _VARIATION.match(text, start - 1):
        at += 1
    kept.update(range(start, at))
    rest = text[at:stop]
    if rest == _JAMO_FILLERS and "\u11a8" <= after <= "\u11ff":
        kept.update(range(at, stop))
    elif len(rest) == 1 and not _SELECTOR.match(rest):
        kept.add(at)  # a single one, such as the joiner in an emoji
    elif len(rest) > 1:
        if _IN_COMPLEX_SCRIPT.match(before) and rest[0] in _JOINERS:
            kept.update(range(at, at + (len(_UNLIGATED) if rest.startswith(_UNLIGATED) else 1)))
        kept.update(place for place in range(at, stop) if place in pairs)
        mark = next((place for place in range(at, stop) if text[place] in _MARKS), None)
        kept.update(() if mark is None else (mark,))
    return kept


def _bidi_pairs(text: str, runs: Mapping[int, int]) -> tuple[Set[int], Set[int]]:
    """Return the places of bidirectional controls in pairs, and of those in pairs that say nothing.

    A pair says nothing if there is no text in it, or if more than two pairs begin at the same place.

    Parameters
    ----------
    text : the text, with a paragraph separator between paragraphs.
    runs : end of each run of several invisible characters, by its start.
    """
    if not any(_BIDI.search(text, start, stop) for start, stop in runs.items()):
        return frozenset(), frozenset()
    starts, stops = list(runs), list(runs.values())
    pairs, empty = set[int](), set[int]()
    opened: list[int] = []
    isolates = 0  # of those opened
    begun: Counter[int] = Counter()  # pairs by the run in which they begin
    for match in _BIDI.finditer(text):
        check()
        place, control = match.start(), match[0]
        if control == _PARAGRAPH:
            opened.clear()
            isolates = 0
        elif control in _EMBEDDINGS or control in _ISOLATES:
            opened.append(place)
            isolates += control in _ISOLATES
        elif isolates if control == _POP_ISOLATE else opened and text[opened[-1]] in _EMBEDDINGS:
            first = opened.pop()
            while control == _POP_ISOLATE and text[first] in _EMBEDDINGS:
                first = opened.pop()  # an isolate ends the embeddings in it
            isolates -= control == _POP_ISOLATE
            run = bisect_right(starts, first) - 1
            end = stops[run] if run >= 0 and stops[run] > first else first + 1
            begun[end] += 1
            says = place >= end and begun[end] <= _MOST_OPENED
            (pairs if says else empty).update((first, place))
    return pairs, empty
