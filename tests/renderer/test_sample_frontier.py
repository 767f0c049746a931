"""The frontier: a uniform order that the seed fixes, whenever pages become known."""

import random
from collections import Counter

import pytest

from domsieve.renderer.sampling.frontier import Frontier

NAMES = [f"/page/{number}" for number in range(200)]


def drawn(frontier: Frontier, count: int) -> list[str]:
    return [frontier.draw()[0] for _ in range(count)]


def filled(names: list[str], *, seed: int = 0, capacity: int = 1000) -> Frontier:
    frontier = Frontier(seed, capacity=capacity)
    for name in names:
        frontier.add(name, clicks=1)
    return frontier


def test_the_order_of_adding_does_not_matter() -> None:
    shuffled = random.Random(1).sample(NAMES, len(NAMES))
    assert drawn(filled(NAMES), 200) == drawn(filled(shuffled), 200)


def test_every_page_has_the_same_chance() -> None:
    counts = Counter(name for seed in range(400) for name in drawn(filled(NAMES[:40], seed=seed), 10))
    # Binomial with 400 trials of 1/4: mean 100, standard deviation 8.7.
    assert len(counts) == 40
    assert min(counts.values()) > 65
    assert max(counts.values()) < 135


def test_pages_known_late_have_it_too() -> None:
    counts: Counter[bool] = Counter()
    for seed in range(200):
        frontier = filled(NAMES[:20], seed=seed)
        names = drawn(frontier, 1)
        for name in NAMES[20:40]:
            frontier.add(name, clicks=2)
        counts.update(name in NAMES[20:40] for name in names + drawn(frontier, 9))
    # 200 x 10 draws; the first draw cannot be late.
    assert 0.42 < counts[True] / 2000 < 0.52


def test_forgetting_changes_nothing() -> None:
    small = filled(NAMES, capacity=50)
    assert 50 <= len(small) < 100
    assert drawn(small, 50) == drawn(filled(NAMES), 50)


def test_visited_pages_do_not_come_back() -> None:
    frontier = filled(["/a", "/b", "/c"])
    frontier.visit("/a")
    names = drawn(frontier, 2)
    for name in ("/a", *names):
        frontier.add(name, clicks=1)
    assert sorted(names) == ["/b", "/c"]
    assert not frontier
    with pytest.raises(LookupError):
        frontier.draw()


def test_the_shortest_way_counts() -> None:
    frontier = Frontier(0, capacity=10)
    for clicks in (5, 2, 4):
        frontier.add("/a", clicks=clicks)
    assert frontier.draw() == ("/a", 2)
