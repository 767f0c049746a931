"""Maximal repeats against every substring tried."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domsieve.analysis.records._repeats import maximal_repeats, suffix_array

STRINGS = st.integers(1, 4).flatmap(lambda k: st.lists(st.integers(0, k), max_size=24))


def plain_repeats(s: list[int]) -> dict[tuple[int, ...], list[int]]:
    """Return the positions of each maximal repeat, by trying all substrings."""
    places: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for start in range(len(s)):
        for stop in range(start + 1, len(s) + 1):
            places[tuple(s[start:stop])].append(start)
    edged = [None, *s, None]
    found = {}
    for pattern, at in places.items():
        before = {(edged[p], p if p == 0 else -1) for p in at}
        after = {(edged[p + len(pattern) + 1], p if p + len(pattern) == len(s) else -1) for p in at}
        if len(at) > 1 and len(before) > 1 and len(after) > 1:
            found[pattern] = at
    return found


def repeats(s: list[int], **options: int) -> dict[tuple[int, ...], list[int]]:
    found = maximal_repeats(np.array(s, np.int64), **options)
    result = {}
    for i, length in enumerate(found.length.tolist()):
        at = found.positions(i).tolist()
        result[tuple(s[at[0] : at[0] + length])] = at
    assert len(result) == found.length.size
    return result


@given(STRINGS)
def test_maximal_repeats_equal_those_of_all_substrings(s: list[int]) -> None:
    assert repeats(s) == plain_repeats(s)


@given(STRINGS, st.integers(1, 4), st.integers(2, 4))
def test_short_and_rare_repeats_are_left_out(s: list[int], length: int, count: int) -> None:
    wanted = {p: at for p, at in plain_repeats(s).items() if len(p) >= length and len(at) >= count}
    assert repeats(s, least_length=length, least_count=count) == wanted


@given(STRINGS)
def test_the_suffix_array_is_sorted(s: list[int]) -> None:
    order, common = suffix_array(np.array(s, np.int64))
    suffixes = [s[i:] for i in order.tolist()]
    assert suffixes == sorted(s[i:] for i in range(len(s)))
    for a, b, n in zip(suffixes, suffixes[1:], common[1:].tolist(), strict=False):
        assert a[:n] == b[:n]
        assert a[n : n + 1] != b[n : n + 1]


@pytest.mark.parametrize("s", [[], [3], [1, 2, 3]])
def test_strings_without_repeats(s: list[int]) -> None:
    assert repeats(s) == {}
