"""The worked examples of the tag path sequence paper, and the linear search against its plain twin."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domsieve.analysis.cleaning._tps_search import Cuts, Region, largest_region, page_regions, tag_path_codes
from domsieve.analysis.columns.batch import prune


def plain_region(
    s: list[int], *, strict: bool = False, literal: bool = False
) -> tuple[int, int, list[tuple[int, int, int, str]]]:
    """Algorithms 3 and 4 as printed, with the absolute value and the end of the thresholds put right.

    `literal` keeps the printed sign of the size test. Positions are 1-based and inclusive.
    """
    lo, hi = 1, len(s)
    rounds: list[tuple[int, int, int, str]] = []
    while True:
        part = s[lo - 1 : hi]
        n, counts = len(part), Counter(part)
        found = None
        for f in sorted(set(counts.values())):
            alphabet = {x for x, c in counts.items() if (c > f if strict else c >= f)}
            if len(alphabet) < 2:
                break
            left, seen = dict(counts), set[int]()
            for i, x in enumerate(part, 1):
                if x not in alphabet:
                    continue
                seen.add(x)
                left[x] -= 1
                if left[x] == 0 and all(left[y] == 0 for y in seen):
                    apart = (n - 2 * i) if literal else abs(n - 2 * i)
                    if len(seen) < len(alphabet) and 100 * apart > 20 * n:
                        found = (f, i)
                    break
            if found:
                break
        if not found:
            return lo, hi, rounds
        f, i = found
        rounds.append((n, f, i, "R" if i < n / 2 else "L"))
        if i < n / 2:
            lo += i
        else:
            hi = lo + i - 1 - strict


def search(s: list[int]) -> Region:
    return largest_region(np.array(s, np.int64))


def separated(a: int, b: int, c: int) -> list[int]:
    return [1, 2, 3, *[4] * a, 3, *[5] * b, 3, *[6] * c, 2]


def test_e1_codes_of_figure_2() -> None:
    # body / table / (tr / (td, td), tr / (td, td))
    codes = tag_path_codes(np.array([-1, 0, 1, 2, 2, 1, 5, 5]), np.array([0, 1, 2, 3, 3, 2, 3, 3]))
    assert codes.tolist() == [1, 2, 3, 4, 4, 3, 4, 4]


def test_e1_region_is_the_two_rows() -> None:
    s = [1, 2, 3, 4, 4, 3, 4, 4]
    assert plain_region(s) == (3, 8, [(8, 1, 1, "R"), (7, 1, 1, "R")])
    assert search(s) == Region(3, 8, ())


def test_e1_pruning_keeps_the_ancestors_and_the_complement_drops_the_rows() -> None:
    end = np.array([8, 8, 5, 4, 5, 8, 7, 8])
    inside = np.array([False, False, True, True, True, True, True, True])
    assert prune(inside, end).all()
    assert np.flatnonzero(prune(~inside, end)).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("abc", "lo", "hi", "rounds"),
    [
        ((10, 10, 10), 3, 25, [(36, 1, 1, "R"), (35, 3, 24, "L"), (24, 1, 1, "R")]),
        ((5, 20, 5), 9, 30, [(36, 1, 1, "R"), (35, 3, 29, "L"), (29, 1, 1, "R"), (28, 5, 6, "R")]),
        ((5, 5, 20), 16, 35, [(36, 1, 1, "R"), (35, 5, 7, "R"), (28, 1, 7, "R"), (21, 1, 20, "L")]),
        (
            (20, 5, 5),
            4,
            23,
            [(36, 1, 1, "R"), (35, 3, 29, "L"), (29, 1, 1, "R"), (28, 5, 21, "L"), (21, 1, 1, "R")],
        ),
        ((4, 8, 16), 18, 33, [(34, 1, 1, "R"), (33, 4, 6, "R"), (27, 1, 10, "R"), (17, 1, 16, "L")]),
    ],
)
def test_e2_regions_with_separators(
    abc: tuple[int, int, int], lo: int, hi: int, rounds: list[tuple[int, int, int, str]]
) -> None:
    s = separated(*abc)
    assert plain_region(s) == (lo, hi, rounds)
    region = search(s)
    assert (region.lo, region.hi) == (lo, hi)
    peeled = [r for r in rounds if r[1:] != (1, 1, "R")]
    assert [(r.length, r.threshold, r.cut, r.side[0].upper()) for r in region.rounds] == peeled


@pytest.mark.parametrize(
    ("abc", "lo"), [((10, 10, 10), 14), ((5, 20, 5), 9), ((5, 5, 20), 16), ((20, 5, 5), 2), ((4, 8, 16), 18)]
)
def test_e2_the_printed_sign_never_cuts_at_the_end(abc: tuple[int, int, int], lo: int) -> None:
    s = separated(*abc)
    assert plain_region(s, literal=True)[:2] == (lo, len(s))


def test_e2_threshold_4_leaves_the_spans() -> None:
    counts = Counter(separated(4, 4, 4))
    assert sorted(set(counts.values())) == [1, 2, 3, 4]
    assert {x for x, c in counts.items() if c >= 4} == {4, 5, 6}


def test_e3_footer_is_cut_off() -> None:
    s = [1, *[2, 3] * 6, *[4, 5] * 2]
    assert plain_region(s) == (2, 13, [(17, 1, 1, "R"), (16, 2, 12, "L")])
    assert plain_region(s, literal=True)[:2] == (2, 17)
    region = search(s)
    assert (region.lo, region.hi) == (2, 13)


@pytest.mark.parametrize(
    ("s", "lo", "hi"),
    [
        ([1, 2, 1, 2], 1, 4),
        ([7, 7, 8, 8], 1, 4),
        ([7, 7, 7, 8, 8], 1, 5),
        ([7, 7, 7, 7, 8, 8], 1, 4),
        ([1, 2, 3, 4, 5, 6, 7, 8], 7, 8),
        ([1], 1, 1),
        ([], 1, 0),
    ],
)
def test_e4_limits(s: list[int], lo: int, hi: int) -> None:
    region = search(s)
    assert (region.lo, region.hi) == (lo, hi)


def test_e5_pruning() -> None:
    # body(1)[div(2)[a(3)], ul(4)[li(5), li(6)]]
    end = np.array([6, 3, 3, 6, 5, 6])
    inside = np.array([False, False, False, False, True, True])
    assert prune(inside, end).tolist() == [True, False, False, True, True, True]
    assert prune(~inside, end).tolist() == [True, True, True, True, False, False]


def test_e3_parts_of_the_page() -> None:
    s = [1, *[2, 3] * 6, *[4, 5] * 2]
    assert [(r.lo, r.hi) for r in page_regions(np.array(s))] == [(2, 13), (14, 17), (1, 1)]


SEQUENCES = st.integers(1, 8).flatmap(lambda k: st.lists(st.integers(1, k), max_size=30))


@given(SEQUENCES)
def test_linear_search_equals_the_printed_one(s: list[int]) -> None:
    lo, hi, rounds = plain_region(s)
    region = search(s)
    assert (region.lo, region.hi) == (lo, hi)
    peeled = [r for r in rounds if r[1:] != (1, 1, "R")]
    assert [(r.length, r.threshold, r.cut, r.side[0].upper()) for r in region.rounds] == peeled


@given(SEQUENCES)
def test_strict_search_equals_the_printed_one(s: list[int]) -> None:
    region = largest_region(np.array(s, np.int64), strict=True)
    assert (region.lo, region.hi) == plain_region(s, strict=True)[:2]


@given(SEQUENCES, st.floats(0, 1))
def test_min_fraction_bounds_what_is_cut(s: list[int], share: float) -> None:
    region = largest_region(np.array(s, np.int64), min_fraction=share)
    assert region.hi - region.lo + 1 >= share * len(s)


def test_max_rounds_stops_early() -> None:
    s = np.array(separated(20, 5, 5))
    assert len(largest_region(s, max_rounds=1).rounds) == 1
    assert largest_region(s, max_rounds=0) == Region(2, 36, ())


def test_a_chain_of_50000_wrappers_is_peeled() -> None:
    n = 50_000
    codes = tag_path_codes(np.arange(-1, n - 1), np.zeros(n, np.int64))
    assert codes[-1] == n
    assert largest_region(codes) == Region(n - 1, n, ())


def test_nodes_without_a_step_share_the_path_above() -> None:
    assert tag_path_codes(np.array([-1, 0, 1, 2]), np.array([-1, 0, -1, 0])).tolist() == [0, 1, 1, 2]


@given(SEQUENCES, st.sampled_from(["leftmost", "best"]), st.booleans())
def test_the_parts_cover_the_page_once_and_begin_with_the_region(
    s: list[int], cuts: Cuts, strict: bool
) -> None:
    codes = np.array(s, np.int64)
    parts = page_regions(codes, cuts=cuts, strict=strict)
    assert parts[0] == largest_region(codes, cuts=cuts, strict=strict)
    covered = [i for part in parts for i in range(part.lo, part.hi + 1)]
    assert sorted(covered) == list(range(1, len(s) + 1))
    assert all(part.lo <= part.hi for part in parts[1:])


@given(SEQUENCES)
def test_the_best_cut_is_one_that_no_other_of_its_threshold_beats(s: list[int]) -> None:
    rounds = largest_region(np.array(s, np.int64), cuts="best", max_rounds=1).rounds
    leftmost = largest_region(np.array(s, np.int64), max_rounds=1).rounds
    if leftmost:
        assert rounds[0].threshold <= leftmost[0].threshold
        if rounds[0].threshold == leftmost[0].threshold:
            assert abs(rounds[0].length - 2 * rounds[0].cut) <= abs(leftmost[0].length - 2 * leftmost[0].cut)


def test_the_best_cut_finds_a_footer_behind_a_cut_that_is_refused() -> None:
    s = np.array([*[1, 2] * 4, *[3, 4] * 3, *[5, 6] * 2])  # the first cut leaves 8 and 10
    assert largest_region(s) == Region(1, 18, ())
    found = largest_region(s, cuts="best")
    assert (found.lo, found.hi) == (1, 14)
