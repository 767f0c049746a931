"""Cut a version of a page into passages at the places where the last version was cut.

A long section has several passages. If text is inserted in the first of them, the words in all of them shift,
although nothing changed in the later ones. So they begin where they began before, unless they become too long.
"""

from collections.abc import Sequence
from itertools import accumulate, groupby, pairwise

import msgspec

from domsieve.analysis.changes.passages import Passage
from domsieve.analysis.changes.words import edits, words_in
from domsieve.analysis.writers.chunks import MAX_WORDS

_MOST_WORDS = 2 * MAX_WORDS
_FENCES = ("```", "~~~")


def cut_as_before(passages: Sequence[Passage], before: Sequence[Passage]) -> list[Passage]:
    """Return passages with the same text, cut where the last version of the page was cut.

    Parameters
    ----------
    passages : of the page, in their order.
    before : of its last version.
    """
    old = [_parts(passage.text) for passage in before]
    new = [_parts(passage.text) for passage in passages]
    inside = [
        number > 0 and _section(passage) == _section(before[number - 1])
        for number, passage in enumerate(before)
    ]
    starts = _starts(old, inside, [part for parts in new for part in parts])
    found: list[Passage] = []
    place = 0
    for _, several in groupby(zip(passages, new, strict=True), lambda pair: _section(pair[0])):
        pairs = [*several]
        own, parts = [one for one, _ in pairs], [part for _, some in pairs for part in some]
        cuts = [number for number in range(1, len(parts)) if place + number in starts]
        place += len(parts)
        if len(own) == 1 and not cuts:
            found += own
            continue
        edges = [0, *cuts, len(parts)]
        texts = ["\n\n".join(parts[first:last]) for first, last in pairwise(edges)]
        if max(len(words_in(text)) for text in texts) > _MOST_WORDS:
            found += own
        else:
            found += [msgspec.structs.replace(own[0], text=text) for text in texts]
    return found


def _section(passage: Passage) -> tuple[tuple[str, ...], str]:
    return passage.headings, passage.fragment


def _starts(old: Sequence[Sequence[str]], inside: Sequence[bool], new: Sequence[str]) -> set[int]:
    """Return the places of parts in the new version at which passages of the old version would begin.

    Parameters
    ----------
    old : the parts of the passages.
    inside : whether the passages begin inside of a section.
    new : the parts of the new version.
    """
    parts = [part for one in old for part in one]
    begins = accumulate(map(len, old), initial=0)
    changed = edits(parts, new)
    found: set[int] = set()
    for start, is_inside in zip(begins, inside, strict=False):
        if not is_inside:
            continue
        shift = 0
        for edit in changed:
            if start < edit.old_start:
                break
            if start < edit.old_end:
                # Inside of what was replaced: as far from its beginning, or at its end.
                shift = min(edit.new_start + start - edit.old_start, edit.new_end) - start
                break
            shift = edit.new_end - edit.old_end
        found.add(start + shift)
    return found


def _parts(text: str) -> list[str]:
    """Return the parts of a Markdown text between blank lines, code in one part."""
    parts: list[str] = []
    fence = ""
    for part in text.split("\n\n"):
        if fence:
            parts[-1] += f"\n\n{part}"
        else:
            parts.append(part)
        for line in part.split("\n"):
            mark = line.lstrip()[:3]
            if mark in _FENCES and (not fence or mark == fence):
                fence = "" if fence else mark
    return parts
