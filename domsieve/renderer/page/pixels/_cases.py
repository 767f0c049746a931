"""Texts before and after a style changes their case (``text-transform``), and so how many letters they have."""

import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from domsieve.renderer.page.pixels._parts import Ints, count_letters

_NOWHERE = sys.maxsize
_DOTLESS = {"ı": "i"}


def units(text: str) -> int:
    """Return the length of a text in code units of UTF-16, which browsers count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def in_case(text: str, transform: str) -> str:
    """Return a text in the case that ``text-transform`` says, if it says that of all letters."""
    return {"uppercase": str.upper, "lowercase": str.lower}.get(transform, str)(text)


def pieces_of(
    texts: Sequence[str],
    originals: Sequence[str],
    layout_index: Sequence[int],
    starts: Sequence[int],
    lengths: Sequence[int],
) -> list[tuple[str, str]]:
    """Return what stands in each text box, after what stands before it in its entry.

    Parameters
    ----------
    texts, originals : the text of each entry of the layout, and before its case was changed.
    layout_index, starts, lengths : of each text box, its entry, where it begins in the latter, and how long it is in
        the former.
    """
    begins = {entry: begins_in(originals[entry], texts[entry]) or [] for entry in {*layout_index}}
    encoded: dict[int, bytes] = {}  # browsers count code units of UTF-16
    found = []
    following = _following(layout_index, starts)
    for entry, start, length, next_start in zip(layout_index, starts, lengths, following, strict=True):
        text, places = texts[entry], begins[entry]
        first, end = (places[at] if at < len(places) else at for at in (start, next_start))
        last = min(first + length, end)
        if text.isascii():
            found.append((text[:first], text[first:last]))
            continue
        if entry not in encoded:
            encoded = {entry: text.encode("utf-16-le", "surrogatepass")}
        data = encoded[entry]
        before, own = data[: 2 * first], data[2 * first : 2 * last]
        found.append((before.decode("utf-16-le", "replace"), own.decode("utf-16-le", "replace")))
    return found


def _following(entries: Sequence[int], starts: Sequence[int]) -> list[int]:
    """Return for each text box where the one after it in its entry begins: it ends there at the latest.

    A first line may be longer in a case of its own, which the text does not have.
    """
    later: dict[int, list[int]] = {}
    found = []
    for entry, start in zip(reversed(entries), reversed(starts), strict=True):
        own = later.setdefault(entry, [])
        at = bisect_right(own, start)
        found.append(own[at] if at < len(own) else _NOWHERE)
        own.insert(at, start)
    return found[::-1]


def begins_in(original: str, text: str) -> list[int] | None:
    """Return where each code unit of a text, and the end, is after its case was changed; None if where they were.

    If the first letter of the original is not in the text, neither is it counted.
    """
    if _is_alike(text, original) or not (sources := _sources(original, text)):
        return None
    found: list[int] = []
    place = at = 0
    for number in range(sources[0], len(original)):
        while at < len(text) and sources[at] < number:
            place += units(text[at])
            at += 1
        found += [place] * units(original[number])
    return [*found, units(text)]


def letters_before(node: Ints, texts: Sequence[str]) -> tuple[Ints, dict[int, int]]:
    """Return how many letters of its node come before each entry, and how many each node has.

    A first letter of its own style may be an entry.
    """
    before, total = np.zeros(len(texts), np.intp), dict[int, int]()
    for entry, (owner, text) in enumerate(zip(node.tolist(), texts, strict=True)):
        if text:
            before[entry] = total.get(owner, 0)
            total[owner] = int(before[entry]) + count_letters(text)
    return before, total


def letter_sources(node: Ints, texts: Sequence[str], originals: Sequence[str]) -> dict[int, list[int]]:
    """Return for each letter of a node which letter of its original it comes from.

    Nodes whose letters all come from those at their own place are left out. The list is empty if it is not known, or
    if all letters are in the first letter, which has a style of its own.
    """
    found: dict[int, list[int]] = {}
    unknown = set()
    for owner, text, original in zip(node.tolist(), texts, originals, strict=True):
        if _is_alike(text, original) or not original.strip():
            continue
        if not text.strip():
            unknown.add(owner)
        elif sources := _sources(original, text):
            places = np.cumsum([not sign.isspace() for sign in original]) - 1
            own = [source for source, sign in zip(sources, text, strict=True) if not sign.isspace()]
            found.setdefault(owner, []).extend(places[own].tolist())
        elif not _is_parallel(text, original):
            unknown.add(owner)
    changed = {owner: own for owner, own in found.items() if own != [*range(len(own))]}
    return changed | {owner: [] for owner in unknown}


def _is_alike(text: str, original: str) -> bool:
    """Return whether each character surely comes from the one at its own place."""
    return text == original or (len(text) == len(original) and original.isascii())


def _is_parallel(text: str, original: str) -> bool:
    """Return whether each character is that at its own place in another case, which Python may not know."""
    return len(text) == len(original) and all(
        sign == source or _bases(sign) == _bases(source) or (_is_caseless(sign) and _is_caseless(source))
        for sign, source in zip(text, original, strict=True)
    )


def _is_caseless(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cn", "Ll", "Lo", "Lu") and sign.lower() == sign == sign.upper()


def _sources(original: str, text: str) -> list[int] | None:
    """Return for each character of a text which one of the original it comes from; None if that is not clear.

    The text may lack the beginning of the original, which a style for the first letter parts from it, or the rest.
    """
    before, after = _bases(original), _bases(text)
    bases, own = "".join(base for base, _ in before), "".join(base for base, _ in after)
    if bases.endswith(own):
        offset = len(bases) - len(own)
    elif bases.startswith(own):
        offset = 0
    else:
        return None
    found = [-1] * len(text)
    for (_, source), (_, at) in zip(before[offset:], after, strict=False):
        if found[at] < 0:
            found[at] = source
    latest = before[offset][1] if own else 0
    for at, source in enumerate(found):  # marks stand on the letter before
        latest = found[at] = latest if source < 0 else source
    return found


def _bases(text: str) -> list[tuple[str, int]]:
    """Return the letters of a text without case and marks, each with the place of the character it is from."""
    found = []
    for at, sign in enumerate(text):
        folded = unicodedata.normalize("NFKD", sign.casefold()).casefold()
        found += [(_DOTLESS.get(base, base), at) for base in folded if not unicodedata.combining(base)]
    return found
