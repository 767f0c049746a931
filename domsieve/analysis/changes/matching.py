"""Match the passages of two versions of a page, so that a passage that moved or was edited stays the same passage.

Three steps: equal texts, those under the same headings first; then similar texts at the same place, which is between
the same neighbours; then similar texts elsewhere. The cost is near-linear in the words of the page.
"""

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from functools import cached_property

from domsieve.analysis.changes.passages import Passage
from domsieve.analysis.changes.words import words_in
from domsieve.budget import check

NOT_MATCHED = -1

# Guesses. A text at the same place may differ more than one that is found somewhere else.
_ALIKE_HERE, _ALIKE_ELSEWHERE = 0.3, 0.5
_SHORT = 12
"""Words of a passage that may be replaced as a whole and still be the same passage, alone in its place."""
_NEAR = 8
"""Passages of a place that are compared with each other, on either side."""
_SHINGLE = 3
_MOST_WITH_SHINGLE = 20


class _Text:
    """The words of a passage, counted when they are needed."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self.words = words_in(passage.text)

    @property
    def section(self) -> tuple[tuple[str, ...], str]:
        return self.passage.headings, self.passage.fragment

    @cached_property
    def counted(self) -> Counter[str]:
        return Counter(self.words)

    def likeness(self, other: "_Text") -> float:
        """Return the Dice coefficient of the words, in [0, 1]; 1 for two empty texts."""
        total = len(self.words) + len(other.words)
        return 2 * (self.counted & other.counted).total() / total if total else 1.0

    def shingles(self) -> set[tuple[str, ...]]:
        length = min(_SHINGLE, len(self.words))
        return (
            {tuple(self.words[i : i + length]) for i in range(len(self.words) - length + 1)}
            if length
            else set()
        )


def match_passages(old: Sequence[Passage], new: Sequence[Passage]) -> list[int]:
    """Return the number of the matching passage in `old` for each passage of `new`; `NOT_MATCHED` without one.

    No passage of `old` occurs twice.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    before, after = [_Text(one) for one in old], [_Text(one) for one in new]
    old_of = [NOT_MATCHED] * len(new)
    _equal(before, after, old_of)
    _at_the_same_place(before, after, old_of)
    _elsewhere(before, after, old_of)
    return old_of


def moved(old_of: Sequence[int]) -> set[int]:
    """Return which of the new passages stand at another place, as the fewest that explain the order."""
    matched = [(number, one) for number, one in enumerate(old_of) if one != NOT_MATCHED]
    stay = _increasing([one for _, one in matched])
    return {number for place, (number, _) in enumerate(matched) if place not in stay}


def _equal(old: Sequence[_Text], new: Sequence[_Text], old_of: list[int]) -> None:
    taken: set[int] = set()
    for with_section in (True, False):
        places: dict[object, deque[int]] = defaultdict(deque)
        for number, text in enumerate(old):
            if number not in taken:
                places[tuple(text.words), text.section if with_section else None].append(number)
        for number, text in enumerate(new):
            check()
            if old_of[number] == NOT_MATCHED:
                rest = places[tuple(text.words), text.section if with_section else None]
                if rest:
                    old_of[number] = rest.popleft()
                    taken.add(old_of[number])


def _at_the_same_place(old: Sequence[_Text], new: Sequence[_Text], old_of: list[int]) -> None:
    taken = {one for one in old_of if one != NOT_MATCHED}
    for old_part, new_part in _gaps(old_of, len(old), len(new)):
        before = [number for number in old_part if number not in taken]
        after = [number for number in new_part if old_of[number] == NOT_MATCHED]
        if not before or not after:
            continue
        alone = len(before) == len(after) == 1
        pairs: list[tuple[float, int, int, int]] = []
        for rank, number in enumerate(after):
            check()
            middle = rank * len(before) // len(after)
            for other_rank in range(max(0, middle - _NEAR), min(len(before), middle + _NEAR + 1)):
                one, text = old[before[other_rank]], new[number]
                likeness = one.likeness(text)
                short = (
                    alone and one.section == text.section and max(len(one.words), len(text.words)) <= _SHORT
                )
                if likeness >= _ALIKE_HERE or short:
                    same = one.section == text.section
                    pairs.append(
                        (-likeness - 0.1 * same, abs(other_rank - middle), before[other_rank], number)
                    )
        _take_best(pairs, taken, old_of)


def _elsewhere(old: Sequence[_Text], new: Sequence[_Text], old_of: list[int]) -> None:
    taken = {one for one in old_of if one != NOT_MATCHED}
    having: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, text in enumerate(old):
        check()
        if number not in taken:
            for shingle in text.shingles():
                having[shingle].append(number)
    pairs: list[tuple[float, int, int, int]] = []
    for number, text in enumerate(new):
        check()
        if old_of[number] != NOT_MATCHED:
            continue
        common: Counter[int] = Counter()
        for shingle in text.shingles():
            places = having.get(shingle, ())
            if len(places) <= _MOST_WITH_SHINGLE:
                common.update(places)
        for one, _ in sorted(common.items(), key=lambda item: (-item[1], item[0]))[:_NEAR]:
            likeness = old[one].likeness(text)
            if likeness >= _ALIKE_ELSEWHERE:
                pairs.append((-likeness, abs(one - number), one, number))
    _take_best(pairs, taken, old_of)


def _take_best(pairs: list[tuple[float, int, int, int]], taken: set[int], old_of: list[int]) -> None:
    for _, _, one, number in sorted(pairs):
        if one not in taken and old_of[number] == NOT_MATCHED:
            old_of[number] = one
            taken.add(one)


def _gaps(old_of: Sequence[int], old: int, new: int) -> Iterator[tuple[range, range]]:
    """Yield what is between two neighbouring matches that kept their order, in both versions."""
    matched = [(number, one) for number, one in enumerate(old_of) if one != NOT_MATCHED]
    stay = _increasing([one for _, one in matched])
    last_new = last_old = -1
    for number, one in [*(pair for place, pair in enumerate(matched) if place in stay), (new, old)]:
        yield range(last_old + 1, one), range(last_new + 1, number)
        last_new, last_old = number, one


def _increasing(numbers: Sequence[int]) -> set[int]:
    """Return the places of a longest increasing subsequence of distinct numbers, in O(n log n)."""
    ends: list[int] = []
    end_places: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        at = bisect_left(ends, number)
        before.append(end_places[at - 1] if at else -1)
        ends[at : at + 1] = [number]
        end_places[at : at + 1] = [place]
    found: set[int] = set()
    place = end_places[-1] if end_places else -1
    while place >= 0:
        found.add(place)
        place = before[place]
    return found
