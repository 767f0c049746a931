"""Words that readers read otherwise than they are written, although each letter looks like itself."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import starmap

import numpy as np

from domsieve.renderer.page.pixels._boxes import neighbours
from domsieve.renderer.page.pixels._fonts import mixes_alphabets
from domsieve.renderer.page.pixels._letters import Letters
from domsieve.renderer.page.pixels._parts import Bools, count_sharp, px
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.snapshot.page import Kind

# Between words there is as much room, in sizes of their letters; between letters there is less. A guess.
_LEAST_SPACE = 0.15
# Words are in one row that have so much of their height in common, in sizes of their letters.
_ROW = 0.6
# From here on, radicals of Chinese, letters are written without spaces between words.
_FIRST_WITHOUT_SPACES = "\u2e80"
_IN_LINES = "inline", "ruby"
# Letters are upside down if their line is turned by more than 120 degrees, of which this is the cosine.
_TO_THE_LEFT = -0.5
# Letters go backwards that are set back by more than most are wide, but stay near, in their size. Guesses.
_LEAST_BACK, _MOST_BACK = 0.7, 20.0
# Scripts of which many letters look like Latin capitals.
_LATIN_LOOKING = "CHEROKEE", "LISU"
# The letters of other alphabets that look like Latin ones.
_LOOK_ALIKE = {"GREEK": frozenset("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"), "CYRILLIC": frozenset("АВЕЅІЈКМНОРСТУХаеѕіјорсух")}
# Letters with a stroke of their own over them (Combining Diacritical Marks), which may be others then.
_STRUCK = re.compile("[a-z][\u0300-\u036f]{0,9}+(?<=[\u0334-\u0338])", re.IGNORECASE)
# Words have at least so many letters; icons stand alone, or are a row of the same ones.
_FEWEST = 3
_ROMAN = frozenset("ivxlcdm")
_NUMERALS = "ARMENIAN", "CJK", "ETHIOPIC", "GEORGIAN", "HANGUL", "HEBREW", "HIRAGANA", "KATAKANA"


def read_otherwise(scene: Scene, letters: Letters, seen: Bools) -> dict[str, float]:
    """Return how many letters of the parts that are seen (B,) may be read otherwise, by why."""
    raised = np.array([value == "uppercase" for value in scene.column["text-transform"]])[scene.font_of]
    parts = zip(np.flatnonzero(seen).tolist(), raised[scene.owner[seen]].tolist(), strict=True)
    texts = [
        letters.all_said[part].upper() if is_raised else letters.all_said[part] for part, is_raised in parts
    ]
    said = [word for text in texts if not text.isascii() for word in _words(text)]
    found = {
        "words stand without a space between them": _without_space(scene, letters, seen),
        "letters stand upside down": seen & _upside_down(scene),
        "letters go against the order of their script": seen & (scene.against != 0),
    }
    return {why: float(scene.letters[parts].sum()) for why, parts in found.items()} | {
        "letters look like those of another alphabet": float(_like_others(said)),
        "words are of letters of several alphabets": float(sum(map(len, filter(mixes_alphabets, said)))),
        "letters have strokes over them": float(sum(len(text) for text in texts if _STRUCK.search(text))),
        "letters have no name, but may look like others": float(_unnamed(scene, seen)),
        "markers of lists have words": float(sum(map(len, _markers(scene)))),
        "letters go backwards": float(scene.letters_of[_going_back(scene)].sum()),
        "letters have shadows that may be letters of their own": float(_copies(scene, seen | scene.is_sign)),
    }


def _words(text: str) -> list[str]:
    """Return the runs of letters of a text."""
    return "".join(sign if sign.isalpha() else " " for sign in text).split()


def _without_space(scene: Scene, letters: Letters, seen: Bools) -> Bools:
    """Return the parts (B,) that touch others although they are written apart, by a space or in boxes."""
    found = np.zeros_like(seen)
    parts, size = np.flatnonzero(seen), scene.drawn_px(np.arange(seen.size))
    tight = letters.tight(scene.box)
    begin, end = np.maximum(scene.box[:, :2], tight[:, :2]), np.minimum(scene.box[:, 2:], tight[:, 2:])
    in_rows = neighbours(begin[parts, 0], (begin + end)[parts, 1] / 2, size[parts], _ROW)
    pairs = [(parts[:-1], parts[1:]), *((parts[one], parts[other]) for one, other in in_rows)]
    one, other = (np.concatenate(side) for side in zip(*pairs, strict=True))
    follows = np.zeros(one.size, np.bool_)  # those that stand after each other in the page
    follows[: max(parts.size - 1, 0)] = True
    apart = np.maximum(begin[other] - end[one], begin[one] - end[other])
    is_near = (apart[:, 0] < _LEAST_SPACE * size[one]) & (apart[:, 1] < -_ROW * size[one])
    is_of_one = follows & (scene.line[one] == scene.line[other])
    is_near &= is_of_one | (apart[:, 0] > -_LEAST_SPACE * size[one])  # not on top of each other
    for boxes in (scene.fixed_box, scene.scroller):
        is_near &= boxes[one] == boxes[other]
    blocks = dict[int, int]()
    near = zip(one[is_near].tolist(), other[is_near].tolist(), follows[is_near].tolist(), strict=True)
    for first, second, are_next in near:
        ends = _seen_of(letters.all_said[first])[-1:] + _seen_of(letters.all_said[second])[:1]
        if max(ends, default="") >= _FIRST_WITHOUT_SPACES:
            continue
        if scene.line[first] == scene.line[second]:
            between = scene.pieces[scene.line[first]][scene.chars[first, 1] : scene.chars[second, 0]]
            is_parted = are_next and _seen_of(between).isspace()
        elif ends.isalnum():
            owners = np.unique(scene.owner[[first, second]]).tolist()
            known = {_block_of(scene, owner, blocks) for owner in owners}
            is_parted = abs(first - second) > 1 or len(known) > 1
            is_parted |= len(owners) > 1 and _is_spaced(scene, *owners)
        else:
            is_parted = False
        found[[first, second]] |= is_parted
    return found


def _seen_of(text: str) -> str:
    """Return a text without what draws nothing, such as zero-width spaces, and soft hyphens within a line."""
    return text if text.isascii() else "".join(sign for sign in text if unicodedata.category(sign) != "Cf")


def _is_spaced(scene: Scene, one: int, other: int) -> bool:
    """Return whether a space is written between two texts that follow each other; not beside generated ones.

    It is also written in place of a text between them that is hidden.
    """
    if scene.is_generated[[one, other]].any() or scene.document_of[one] != scene.document_of[other]:
        return False
    document = int(scene.document_of[one])
    values, start = scene.capture.documents[document].nodes.node_value, int(scene.starts[document])
    first, *inner, last = (
        scene.capture.strings[values[node - start]]
        for node in range(one, other + 1)
        if scene.kind[node] == Kind.TEXT
    )
    return first[-1:].isspace() or last[:1].isspace() or any(inner)


def _block_of(scene: Scene, text: int, known: dict[int, int]) -> int:
    """Return the element around a text that is no part of a line."""
    node = int(scene.parent[text])
    if node not in known:
        at = node
        # What has no box of its own (`contents`) has no styles here.
        while at >= 0 and ((display := scene.style(at, "display")[0]) == "" or display.startswith(_IN_LINES)):
            at = int(scene.parent[at])
        known[node] = at
    return known[node]


def _going_back(scene: Scene) -> Bools:
    """Return which nodes (N,) are texts that a negative `letter-spacing` writes from their end."""
    styles = zip(*(map(px, scene.column[name]) for name in ("letter-spacing", "font-size")), strict=True)
    are = np.array([-_MOST_BACK * size < space < -_LEAST_BACK * size for space, size in styles])
    return np.asarray(are[scene.font_of] & scene.has_letters)


def _copies(scene: Scene, parts: Bools) -> int:
    """Return how many letters and signs sharp shadows draw once more, elsewhere."""
    styles = zip(scene.column["text-shadow"], map(px, scene.column["font-size"]), strict=True)
    times = np.array([*starmap(count_sharp, styles)], np.intp)[scene.font_of[scene.owner[parts]]]
    return int(np.maximum(scene.letters[parts], 1) @ times)


def _upside_down(scene: Scene) -> Bools:
    """Return the parts (B,) whose letters have their feet above their heads."""
    turned = scene.reading[:, 0] < _TO_THE_LEFT * np.linalg.norm(scene.reading, axis=1)
    return np.asarray(turned[scene.owner])


def _like_others(said: list[str]) -> int:
    """Return how many letters of words look like Latin ones, if most words of their script are such."""
    alike, others, found = Counter[str](), Counter[str](), 0
    for piece in said:
        script = unicodedata.name(piece[0], "").partition(" ")[0]
        if script in _LATIN_LOOKING:
            found += len(piece)
        elif own := _LOOK_ALIKE.get(script):
            (alike if own.issuperset(piece) else others)[script] += len(piece)
    return found + sum(count for script, count in alike.items() if count > others[script])


def _unnamed(scene: Scene, seen: Bools) -> int:
    """Return how many signs that have no meaning but in a font stand in words of them."""
    found, lines = 0, np.unique(scene.line[seen])
    for piece in (scene.pieces[line] for line in lines.tolist()):
        if piece.isascii():
            continue
        for word in piece.split():
            private = [sign for sign in word if unicodedata.category(sign) in {"Co", "Cn"}]
            found += len(private) if len({*private}) >= _FEWEST else 0
    return found


def _markers(scene: Scene) -> Iterator[str]:
    """Yield the letters of each marker of a list that has words, not only a number or the next letter."""
    strings, before = scene.capture.strings, ""
    for document, start in zip(scene.capture.documents, scene.starts, strict=False):
        for node, text in zip(document.layout.node_index, document.layout.text, strict=True):
            if text < 0 or scene.names[start + node] != "::marker":
                continue
            # Outlined and similar letters are plain ones in this form.
            letters = "".join(filter(str.isalpha, unicodedata.normalize("NFKC", strings[text]))).casefold()
            content, style = scene.style(start + node, "content", "list-style-type")
            if not letters:
                continue
            if content not in {"", "normal"} or style.startswith('"'):
                is_number = False
            elif style.endswith("-roman"):
                is_number = _ROMAN.issuperset(letters)
            elif len(letters) == 1 == len(before):
                is_number = letters == "a" or abs(ord(letters) - ord(before)) == 1
            else:
                is_number = len(letters) == 1 or all(map(_is_numeral, letters))
            before = letters
            if not is_number:
                yield letters


def _is_numeral(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith(_NUMERALS)
