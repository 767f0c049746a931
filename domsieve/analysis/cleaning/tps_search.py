"""Tag path sequences on node tables: codes, the search for the largest region, pruning.

Velloso, Dorneles: Web Page Structured Content Detection by Tag Path Sequences, JIDM 4(3), 2013.

    paper                         here
    TPS[1..n]                     `codes` (n,), from `tag_path_codes` (Algorithm 2)
    searchRegion, filterAlphabet  `largest_region` (Algorithms 3 and 4)
    parts of the page (6.3)       `page_regions`
    FT, frequency thresholds      the distinct counts of one round
    pruneDOMTree                  `prune` (Algorithm 5)

Deliberate deviations from the printed Algorithm 3: the size test takes the absolute difference (as printed,
no region can be cut off at the end of a page), and the search stops when the thresholds are used up.
Imports the budget.
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
    length : symbols before the cut.
    threshold : the count f whose filter made the cut possible.
    cut : symbols left of the cut.
    side : the side that was kept.
    """

    length: int
    threshold: int
    cut: int
    side: str  # "left" or "right"


@dataclass(frozen=True, slots=True)
class Region:
    """A range of positions in a tag path sequence, 1-based and inclusive; empty when ``hi < lo``.

    Parameters
    ----------
    lo, hi : first and last position.
    rounds : the cuts that led here; symbols peeled off one by one at the start are not listed.
    """

    lo: int
    hi: int
    rounds: tuple[Round, ...]


def tag_path_codes(parent: Ints, step: Ints) -> NDArray[np.int64]:
    """Return the code of the tag path of each of N nodes in document order (Algorithm 2), in O(N).

    Parameters
    ----------
    parent : (N,), parent of each node, -1 for node 0.
    step : (N,), number of the node's step (its tag with its style), negative for a node that adds no step and
        so shares the path of its parent.

    Returns
    -------
    int64 (N,): 1, 2, 3 ... by first appearance, 0 for nodes without any step.
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
    """Return the largest region whose paths do not occur in the smaller rest (Algorithms 3 and 4).

    A cut after position i is possible at threshold f when every code of count f or more that starts at or
    before i has also ended there and another one follows: the first gap in the union of the intervals from
    first to last occurrence. Each round costs O(n); the paper reports 4 to 5 rounds, the worst case is O(n)
    of them.

    Parameters
    ----------
    codes : (n,), tag path codes, small non-negative numbers.
    gap : a cut must leave sides that differ by more than this share of n, in [0, 1); 0.20 is the paper's.
    strict : the conventions of the authors' program, which gave Table I: codes must occur more often than the
        threshold, and a cut that keeps the left side drops its last node.
    cuts : ``"leftmost"`` tries one cut per threshold as printed; ``"best"`` tries all of them and takes the one
        that cuts off most, the first of equals.
    max_rounds : most cuts, None for no limit; nodes peeled off one by one at the start are not counted.
    min_fraction : a cut that would keep less than this share of the n symbols ends the search, in [0, 1].
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
        found = _first_cut(
            first[peeled:] - peeled,
            last[peeled:] - peeled,
            count[peeled:],
            length,
            ratio,
            strict=strict,
            cuts=cuts,
        )
        if found is None:
            break
        threshold, cut = found
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
    """Return the parts of the page, the one of `largest_region` first, then by size and place (section 6.3).

    What a cut takes off is searched in the same way. Every position lies in one part; wrapper elements that were
    peeled off together are one. Each part cut off is less than half of what it is cut from, so the cost is that
    of `largest_region` times the logarithm of n at most. Parameters as for `largest_region`.
    """
    found: list[Region] = []
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
        found.append(region)
        for cut in region.rounds:
            start = hi - cut.length
            found += [Region(lo + 1, start, ())] * (start > lo)
            middle = start + cut.cut - (strict and cut.side == "left")
            if cut.side == "right":
                unsearched.append((start, middle))
                lo = middle
            else:
                unsearched.append((middle, hi))
                lo, hi = start, middle
        found += [Region(lo + 1, region.lo - 1, ())] * (region.lo - 1 > lo)
    main, *others = found
    return [main, *sorted(others, key=lambda part: (part.lo - part.hi, part.lo))]


def _occurrences(segment: Ints) -> tuple[Ints, Ints, Ints]:
    """Return first and last position and count of each code of `segment`, in order of first appearance."""
    here = np.arange(segment.size)
    count = np.bincount(segment)
    first = np.empty(count.size, np.int64)
    last = np.empty(count.size, np.int64)
    first[segment[::-1]] = here[::-1]  # numpy keeps the last of several assignments
    last[segment] = here
    order = segment[first[segment] == here]
    return first[order], last[order], count[order]


def _peel(first: Ints, count: Ints, length: int, ratio: Fraction, least: float) -> int:
    """Return how many rounds in a row would cut off a single symbol at the start, as wrapper elements are.

    While the first symbol is the only one of its code, the lowest threshold is 1, its leftmost cut is 1, and
    the size test asks for a length above 2 / (1 - gap).
    """
    single = (count == 1) & (first == np.arange(first.size))
    run = single.size if single.all() else int(single.argmin())
    return max(0, min(run, length - int(2 / (1 - ratio)), int(length - least)))


def _first_cut(
    first: Ints, last: Ints, count: Ints, length: int, ratio: Fraction, *, strict: bool, cuts: Cuts
) -> tuple[int, int] | None:
    """Return the lowest threshold with a cut that is tried and passes the size test, and that cut.

    A code of count c survives at most c thresholds, so all steps together touch at most `length` entries.
    """
    for threshold in np.unique(count).tolist():
        check()
        frequent = count > threshold if strict else count >= threshold
        first, last, count = first[frequent], last[frequent], count[frequent]
        if first.size < 2:
            return None
        reach = np.maximum.accumulate(last)
        found = reach[:-1][first[1:] > reach[:-1]] + 1
        if cuts == "leftmost":
            found = found[:1]
        apart = np.abs(length - 2 * found)
        found = found[ratio.denominator * apart > ratio.numerator * length]
        if found.size:
            return threshold, int(found[np.abs(length - 2 * found).argmin()])
    return None
