"""Tag path sequences: the codes of paths, and the search for the largest region.

Velloso, Dorneles: Web Page Structured Content Detection by Tag Path Sequences, JIDM 4(3), 2013.

    paper                         here
    TPS[1..n]                     `codes` (n,), from `tag_path_codes` (Algorithm 2)
    searchRegion, filterAlphabet  `largest_region` (Algorithms 3 and 4)
    parts of the page (6.3)       `page_regions`
    FT, frequency thresholds      the distinct counts of one round
    pruneDOMTree                  `prune` (Algorithm 5)

Deliberate deviations from Algorithm 3 as printed: the size test uses the absolute difference (as printed, no region
can be cut off at the end of a page), and the search stops after the last threshold.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.budget import check

Ints = NDArray[np.integer]
Cuts = Literal["leftmost", "best"]


@dataclass(frozen=True, slots=True)
class Round:
    """One accepted cut.

    Parameters
    ----------
    length : number of symbols before the round.
    threshold : the count f for which the cut was possible.
    cut : number of symbols left of the cut.
    side : the side that was kept, ``"left"`` or ``"right"``.
    """

    length: int
    threshold: int
    cut: int
    side: str


@dataclass(frozen=True, slots=True)
class Region:
    """A range of positions in a tag path sequence.

    Parameters
    ----------
    lo, hi : first and last position, counted from 1; the range is empty if ``hi < lo``.
    rounds : the cuts that led to the region, without single symbols that were removed at the start.
    """

    lo: int
    hi: int
    rounds: tuple[Round, ...]


def tag_path_codes(parent: Ints, step: Ints) -> NDArray[np.int64]:
    """Return the code of the tag path of each of N nodes (Algorithm 2), in O(N).

    Parameters
    ----------
    parent : (N,), the parent of each node; -1 for node 0.
    step : (N,), a number for each node's tag and style; negative for nodes without a step, which share the path of
        their parent.

    Returns
    -------
    int64 (N,), numbered from 1 by first appearance in document order; 0 for nodes without any step.
    """
    width = int(step.max(initial=0)) + 1
    known: dict[int, int] = {}
    codes = [0] * parent.size
    for node, (above, own) in enumerate(zip(parent.tolist(), step.tolist(), strict=True)):
        path = codes[above]
        codes[node] = path if own < 0 else known.setdefault(path * width + own, len(known) + 1)
    return np.array(codes, np.int64)


def largest_region(
    codes: Ints,
    *,
    gap: float = 0.20,
    strict: bool = False,
    cuts: Cuts = "leftmost",
    max_rounds: int | None = None,
    min_fraction: float = 0.0,
) -> Region:
    """Return the largest region whose paths do not occur in the rest of the sequence (Algorithms 3 and 4).

    A cut after position i is possible at threshold f if no code of count f or more occurs on both sides, and each
    side has such a code: a gap in the union of the intervals from first to last occurrence. Each round takes O(n).
    The paper reports 4 to 5 rounds; the worst case is O(n) rounds.

    Parameters
    ----------
    codes : (n,), tag path codes, small non-negative numbers.
    gap : the two sides of a cut must differ in length by more than this share of n, in [0, 1); 0.20 is the paper's.
    strict : follow the authors' program, which gave Table I: codes must occur more often than the threshold, and a
        cut that keeps the left side drops its last node.
    cuts : ``"leftmost"`` tries one cut per threshold, as printed; ``"best"`` tries all and takes the one that removes
        most, the first of equals.
    max_rounds : the maximum number of cuts, without single symbols removed at the start; None for no limit.
    min_fraction : the search ends when a cut would keep less than this share of the n symbols, in [0, 1].
    """
    ratio = Fraction(gap).limit_denominator(10_000)
    least = min_fraction * codes.size
    lo, hi = 0, codes.size
    rounds: list[Round] = []
    while hi > lo:
        check()
        first, last, count = _occurrences(codes[lo:hi])
        peeled = 0 if strict else _peel(first, count, hi - lo, ratio, least)
        lo += peeled
        length = hi - lo
        if max_rounds is not None and len(rounds) >= max_rounds:
            break
        best = _first_cut(
            first[peeled:] - peeled,
            last[peeled:] - peeled,
            count[peeled:],
            length,
            ratio,
            strict=strict,
            cuts=cuts,
        )
        if best is None:
            break
        threshold, cut = best
        right = 2 * cut < length
        if (length - cut if right else cut) < least:
            break
        rounds.append(Round(length, threshold, cut, "right" if right else "left"))
        if right:
            lo += cut
        else:
            hi = lo + cut - strict
    return Region(lo + 1, hi, tuple(rounds))


def page_regions(
    codes: Ints,
    *,
    gap: float = 0.20,
    strict: bool = False,
    cuts: Cuts = "leftmost",
    max_rounds: int | None = None,
    min_fraction: float = 0.0,
) -> list[Region]:
    """Divide a sequence into parts: the result of `largest_region`, then the others by size and position.

    The parts that cuts remove are searched in the same way (section 6.3 of the paper). Every position is in exactly
    one part; wrapper elements that were removed together are one part. A removed part has less than half of the
    symbols, so the cost is at most that of `largest_region` times log n. The parameters are those of
    `largest_region`.
    """
    parts: list[Region] = []
    unsearched = [(0, codes.size)]
    while unsearched:
        lo, hi = unsearched.pop()
        region = largest_region(
            codes[lo:hi],
            gap=gap,
            strict=strict,
            cuts=cuts,
            max_rounds=max_rounds,
            min_fraction=min_fraction,
        )
        region = Region(lo + region.lo, lo + region.hi, region.rounds)
        parts.append(region)
        for cut in region.rounds:
            start = hi - cut.length
            parts += [Region(lo + 1, start, ())] * (start > lo)
            middle = start + cut.cut - (strict and cut.side == "left")
            if cut.side == "right":
                unsearched.append((start, middle))
                lo = middle
            else:
                unsearched.append((middle, hi))
                lo, hi = start, middle
        parts += [Region(lo + 1, region.lo - 1, ())] * (region.lo - 1 > lo)
    main, *others = parts
    return [main, *sorted(others, key=lambda part: (part.lo - part.hi, part.lo))]


def _occurrences(segment: Ints) -> tuple[Ints, Ints, Ints]:
    """Return first position, last position and count of each code of `segment`, by first appearance."""
    position = np.arange(segment.size)
    count = np.bincount(segment)
    first = np.empty(count.size, np.int64)
    last = np.empty(count.size, np.int64)
    first[segment[::-1]] = position[::-1]  # numpy keeps the last of several assignments
    last[segment] = position
    order = segment[first[segment] == position]
    return first[order], last[order], count[order]


def _peel(first: Ints, count: Ints, length: int, ratio: Fraction, least: float) -> int:
    """Return how many consecutive rounds would each remove a single symbol at the start, such as a wrapper element.

    While the first symbol is the only one of its code, the lowest threshold is 1, its leftmost cut is 1, and the size
    test requires a length above 2 / (1 - gap).
    """
    single = (count == 1) & (first == np.arange(first.size))
    run = single.size if single.all() else int(single.argmin())
    return max(0, min(run, length - int(2 / (1 - ratio)), int(length - least)))


def _first_cut(
    first: Ints, last: Ints, count: Ints, length: int, ratio: Fraction, *, strict: bool, cuts: Cuts
) -> tuple[int, int] | None:
    """Return the lowest threshold with a cut that passes the size test, and that cut; None if there is none.

    A code of count c remains for at most c thresholds, so all steps together touch at most `length` entries.
    """
    for threshold in np.unique(count).tolist():
        check()
        frequent = count > threshold if strict else count >= threshold
        first, last, count = first[frequent], last[frequent], count[frequent]
        if first.size < 2:
            return None
        reach = np.maximum.accumulate(last)
        possible = reach[:-1][first[1:] > reach[:-1]] + 1
        if cuts == "leftmost":
            possible = possible[:1]
        difference = np.abs(length - 2 * possible)
        possible = possible[ratio.denominator * difference > ratio.numerator * length]
        if possible.size:
            return threshold, int(possible[np.abs(length - 2 * possible).argmin()])
    return None
