"""k-means on inner products against a plain one, and what it does where pages are equal."""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from experiments.experiments.clustering import score_runs
from experiments.page_classes.clusters import cluster, draw_seeds


def unit_points(count: int, *, seed: int) -> np.ndarray:
    points = np.random.default_rng(seed).random((count, 12)) ** 4
    points /= np.linalg.norm(points, axis=1)[:, None]
    return points


@pytest.mark.parametrize("seed", range(3))
def test_partitions_are_those_of_a_plain_lloyd(seed: int) -> None:
    points = unit_points(80, seed=seed)
    seeds = draw_seeds(80, 4, runs=25, seed=seed)
    found = cluster(points @ points.T, seeds)
    for label, first in zip(found, seeds, strict=True):
        plain = KMeans(4, init=points[first], n_init=1, max_iter=300, tol=0, algorithm="lloyd").fit(points)
        assert label.tolist() == plain.labels_.tolist()


def test_the_number_of_rounds_is_bounded() -> None:
    points = unit_points(80, seed=0)
    seeds = draw_seeds(80, 4, runs=5, seed=0)
    once = cluster(points @ points.T, seeds, most_rounds=1)
    nearest = (points @ points[seeds].transpose(0, 2, 1)).argmax(axis=2)
    assert once.tolist() == nearest.tolist()
    assert once.tolist() != cluster(points @ points.T, seeds).tolist()


def test_runs_know_nothing_of_each_other_and_scale_does_not_matter() -> None:
    points = unit_points(60, seed=3)
    seeds = draw_seeds(60, 5, runs=8, seed=1)
    together = cluster(points @ points.T, seeds)
    alone = [cluster(1000 * points @ points.T, seeds[run : run + 1])[0].tolist() for run in range(8)]
    assert together.tolist() == alone


def test_equally_near_centres_leave_a_page_to_the_first() -> None:
    points = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert cluster(points @ points.T, np.array([[0, 1], [1, 0]])).tolist() == [[0, 1, 0], [1, 0, 0]]


def test_an_empty_cluster_gets_the_farthest_page() -> None:
    points = np.array([[1.0, 0.0], [1.0, 0.0], [0.9, 0.3], [0.0, 1.0]])
    assert cluster(points @ points.T, np.array([[0, 1]])).tolist() == [[0, 0, 0, 1]]
    # Pages without words are points too; two clusters that both lose all their pages get two pages.
    points = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert cluster(points @ points.T, np.array([[0, 1, 2]])).tolist() == [[0, 0, 0, 1, 2]]


def test_draws_are_distinct_pages_and_repeat() -> None:
    seeds = draw_seeds(6, 5, runs=40, seed=0)
    assert seeds.shape == (40, 5)
    assert all(len(set(row)) == 5 for row in seeds.tolist())
    assert seeds.tolist() == draw_seeds(6, 5, runs=40, seed=0).tolist()
    assert seeds.tolist() != draw_seeds(6, 5, runs=40, seed=1).tolist()


def test_clusters_that_are_classes_or_sites() -> None:
    units = [(site, name) for site in "ab" for name in ("x", "y") for _ in range(3)]
    by_class, by_site = [0, 0, 0, 1, 1, 1] * 2, [1] * 6 + [0] * 6
    scores, purity = score_runs(np.array([by_class, by_site]), units)
    assert scores == pytest.approx([1.0, 0.5])
    assert purity == pytest.approx([0.5, 1.0])
