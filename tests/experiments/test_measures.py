"""The worked examples of the papers' measures and the numbers of their runs."""

from itertools import combinations

import numpy as np
import pytest

from experiments.measures.papers import (
    assign_classes,
    class_scores,
    mean_noise_removed,
    noise_removed,
    noise_share,
    record_scores,
)
from experiments.page_classes.runs import runs_of_pair

SHOPS = {
    "Amazon": {"camera", "notebook", "mobile", "printer", "TV"},
    "CNet": {"camera", "notebook", "mobile", "printer", "TV"},
    "J&R": {"camera", "notebook", "mobile", "printer", "TV"},
    "PCMag": {"camera", "notebook", "mobile", "printer"},
    "ZDnet": {"camera", "notebook", "mobile", "printer"},
}
PAIRS = list(combinations(sorted(SHOPS["Amazon"]), 2))


def test_e1_class_assignment() -> None:
    found = assign_classes(np.array([[40, 10, 0], [5, 30, 15], [5, 10, 35]]))
    assert found.cluster.tolist() == [0, 1, 2]
    assert found.f == pytest.approx([0.8, 0.6, 0.7], abs=1e-6)
    assert found.mean_f == pytest.approx(0.7, abs=1e-6)


def test_classes_are_assigned_whatever_the_clusters_are_called() -> None:
    counts = np.array([[40, 10, 0], [5, 30, 15], [5, 10, 35]])
    found = assign_classes(counts[[2, 0, 1]])
    assert found.cluster.tolist() == [1, 2, 0]
    assert found.mean_f == pytest.approx(0.7, abs=1e-6)
    assert assign_classes(np.array([[5, 0], [0, 0]])).f.tolist() == [1.0, 0.0]


def test_e2_binary_classification() -> None:
    found = class_scores(np.array([[90, 10], [30, 70]]))
    assert found.precision == pytest.approx([0.75, 0.875], abs=1e-6)
    assert found.recall == pytest.approx([0.9, 0.7], abs=1e-6)
    assert found.f == pytest.approx([0.818182, 0.777778], abs=1e-6)
    assert (found.mean_f, found.accuracy) == pytest.approx((0.797980, 0.8), abs=1e-6)


def test_e3_totals_of_mined_records() -> None:
    wobm = record_scores(correct=2081, wrong=121, true=2169)
    assert (wobm.recall, wobm.precision, wobm.f) == pytest.approx((0.959428, 0.945050, 0.952185), abs=1e-6)
    iepad = record_scores(correct=2122, wrong=451, true=2169)
    assert (iepad.recall, iepad.precision, iepad.f) == pytest.approx((0.978331, 0.824718, 0.894981), abs=1e-6)


def test_e6_noise_removed_by_pruning() -> None:
    assert noise_removed(82, 20, 20, 20) == 1
    assert noise_removed(61, 10, 16, 10) == pytest.approx(0.882353, abs=1e-6)
    assert noise_removed(225, 10, 23, 10) == pytest.approx(0.939535, abs=1e-6)


def test_e4_noise_removed() -> None:
    found = [noise_share(368, 15, 27, 15), noise_share(118, 11, 61, 11), noise_share(225, 10, 23, 10)]
    assert found == pytest.approx([0.966006, 0.532710, 0.939535], abs=1e-6)


def test_e5_noise_that_cannot_be_told() -> None:
    assert noise_share(20, 20, 20, 20) is None
    assert noise_share(30, 20, 7, 0) is None
    assert mean_noise_removed([(30, 20, 7, 0), (20, 20, 20, 20), (30, 20, 20, 20)]) == pytest.approx(0.5)


def test_e6_numbers_of_runs() -> None:
    runs = {k: [r for pair in PAIRS for r in runs_of_pair(SHOPS, pair, configuration=k)] for k in (1, 2, 3)}
    assert len(runs[2]) == 6 * 20 + 4 * 12 == 168
    assert sum(map(len, runs.values())) == 378


def test_configurations_test_what_they_say() -> None:
    sites = {"a": {"x", "y"}, "b": {"x", "y"}, "c": {"x"}}
    one, *_ = runs_of_pair(sites, ("x", "y"), configuration=1)
    assert (one.train, one.test) == ((("a", "x"), ("a", "y")), (("b", "x"), ("b", "y"), ("c", "x")))
    two, *_ = runs_of_pair(sites, ("x", "y"), configuration=2)
    assert (two.train, two.test) == ((("a", "x"), ("b", "y")), (("c", "x"),))
    three, *_ = runs_of_pair(sites, ("x", "y"), configuration=3)
    assert (three.train, three.test) == (two.train, (("a", "y"), ("b", "x"), ("c", "x")))
