"""Text that changes by itself: from load to load, or only in its numbers, dates and times.

What two loads of a page at the same time do not share rotates: adverts, times, tokens, counters. Other texts change
only from day to day. Of these it is known where they are: on the same line of a passage, or on lines of many pages
that are equal except for their numbers.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from domsieve.analysis.changes.matching import NOT_MATCHED, match_passages, moved
from domsieve.analysis.changes.passages import Passage
from domsieve.analysis.changes.words import NUMBER, Edit, is_number, line_edits, lines_in, skeleton
from domsieve.budget import check

_ROTATING_SHARE = 0.25
"""Of the words of a line, the share that differs between two loads from which the whole line rotates. A guess; equal
words of two adverts are equal by chance."""
_CONTEXT = 2


@dataclass(slots=True)
class Mask:
    """What rotates in a passage.

    Parameters
    ----------
    words : whether each of its words does.
    gaps : places before words at which text comes and goes.
    is_whole : whether only one of the two loads has the passage.
    """

    words: bytearray
    gaps: set[int] = field(default_factory=set)
    is_whole: bool = False

    @classmethod
    def of(cls, passage: Passage) -> "Mask":
        """Return what is known to rotate in a passage."""
        words = bytearray(sum(map(len, lines_in(passage.text))))
        for start, end in passage.volatile:
            words[start:end] = b"\1" * (min(end, len(words)) - start)
        return cls(words, {*passage.gaps})

    def add(self, start: int, end: int) -> None:
        """Add words; a place if there are none."""
        self.words[start:end] = b"\1" * (end - start)
        if start == end:
            self.gaps.add(start)

    def has_all(self, start: int, end: int) -> bool:
        """Return whether all of these words rotate; for none, whether text comes and goes there."""
        return all(self.words[start:end]) if end > start else start in self.gaps

    def ranges(self) -> tuple[tuple[int, int], ...]:
        """Return the ranges of words that rotate."""
        found: list[tuple[int, int]] = []
        for place, marked in enumerate(self.words):
            if marked and found and found[-1][1] == place:
                found[-1] = (found[-1][0], place + 1)
            elif marked:
                found.append((place, place + 1))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Rotation:
    """What rotates between two loads of a page.

    Parameters
    ----------
    masks : of each passage of the first load.
    moving : passages of the first load whose places differ.
    others : passages that only the second load has.
    """

    masks: list[Mask]
    moving: frozenset[int] = frozenset()
    others: tuple[Passage, ...] = ()


def rotation(first: Sequence[Passage], second: Sequence[Passage] | None) -> Rotation:
    """Return what differs between two loads of a page.

    Parameters
    ----------
    first, second : the passages of the loads; without a second one, nothing rotates.
    """
    masks = [Mask.of(passage) for passage in first]
    if second is None:
        return Rotation(masks)
    first_of = match_passages(first, second)
    for number, place in enumerate(first_of):
        if place == NOT_MATCHED:
            continue
        check()
        lines = lines_in(first[place].text)
        mask = masks[place]
        for edit in line_edits(lines, lines_in(second[number].text)):
            mask.add(edit.old_start, edit.old_end)
            if edit.new_end > edit.new_start:
                mask.gaps |= {edit.old_start, edit.old_end}
        _widen(mask, lines)
    matched = {*first_of}
    for number, mask in enumerate(masks):
        if number not in matched:
            mask.add(0, len(mask.words))
            mask.is_whole = True
    return Rotation(
        masks,
        frozenset(first_of[number] for number in moved(first_of)),
        tuple(passage for passage, place in zip(second, first_of, strict=True) if place == NOT_MATCHED),
    )


def _widen(mask: Mask, lines: Sequence[Sequence[str]]) -> None:
    """Add lines that rotate for the most part, and the numbers next to numbers that do, such as those of a date."""
    start = 0
    for line in lines:
        end = start + len(line)
        marked = sum(mask.words[start:end])
        if marked and marked >= _ROTATING_SHARE * len(line):
            mask.add(start, end)
        elif marked:
            for step in (1, -1):
                for place in range(start, end)[::step]:
                    before = place - step
                    if (
                        start <= before < end
                        and mask.words[before]
                        and is_number(line[before - start])
                        and is_number(line[place - start])
                    ):
                        mask.words[place] = 1
        start = end


@dataclass(frozen=True, slots=True)
class NumberEdit:
    """An edit that changes only numbers, dates or times.

    Parameters
    ----------
    on_page : hash of the passage and the words around the edit, for the same place in later runs.
    on_site : hash of the line without its numbers, for the same place on other pages; empty if there is none.
    """

    on_page: str
    on_site: str = ""


def number_edit(old: Passage, new: Passage, edit: Edit) -> NumberEdit | None:
    """Return an edit of a passage as one of numbers; None if it changes anything else."""
    lines = [lines_in(old.text), lines_in(new.text)]
    words = [[word for line in each for word in line] for each in lines]
    changed = skeleton(words[0][edit.old_start : edit.old_end])
    if NUMBER not in changed.split() or changed != skeleton(words[1][edit.new_start : edit.new_end]):
        return None
    line, start = _line_at(lines[1], edit.new_start)
    before = line[max(0, edit.new_start - start - _CONTEXT) : edit.new_start - start]
    after = line[edit.new_end - start : edit.new_end - start + _CONTEXT]
    on_page = key_of(old.id, skeleton([*before, NUMBER, *after]))
    old_line, _ = _line_at(lines[0], edit.old_start)
    is_line = skeleton(old_line) == skeleton(line) and edit.new_end <= start + len(line)
    return NumberEdit(on_page, line_key(line) if is_line else "")


def line_key(line: Sequence[str]) -> str:
    """Return the hash of a line without its numbers; empty if it has none, or no other words."""
    bare = skeleton(line)
    parts = bare.split()
    return key_of("line", bare) if NUMBER in parts and {*parts} != {NUMBER} else ""


def key_of(*parts: str) -> str:
    """Return a hash of texts."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _line_at(lines: Sequence[list[str]], place: int) -> tuple[list[str], int]:
    start = 0
    for line in lines:
        if start <= place < start + len(line):
            return line, start
        start += len(line)
    return [], start
