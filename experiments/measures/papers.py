"""How well pages are clustered, classified and mined: the figures that the papers print."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """The one-to-one assignment of classes to clusters that has the highest mean F.

    Parameters
    ----------
    cluster : int (C,), the cluster of each class.
    f : float (C,), F of each class, in [0, 1].
    """

    cluster: Counts
    f: Floats

    @property
    def mean_f(self) -> float:
        """Score of the clustering, in [0, 1]."""
        return float(self.f.mean())


@dataclass(frozen=True, slots=True, eq=False)
class ClassScores:
    """Scores of each of C classes, float (C,), and the accuracy over all; all in [0, 1]."""

    precision: Floats
    recall: Floats
    f: Floats
    accuracy: float

    @property
    def mean_f(self) -> float:
        """Mean of the F of the classes."""
        return float(self.f.mean())


@dataclass(frozen=True, slots=True)
class RecordScores:
    """Scores of mined records, in [0, 1]."""

    precision: float
    recall: float

    @property
    def f(self) -> float:
        """Harmonic mean of precision and recall."""
        together = self.precision + self.recall
        return 2 * self.precision * self.recall / together if together else 0.0


def assign_classes(counts: Counts) -> Assignment:
    """Return the best assignment of classes to clusters (CST and SST experiments).

    Parameters
    ----------
    counts : int (C, C), pages by cluster and class. An empty cluster has F = 0 with every class.
    """
    together = counts.sum(axis=1)[:, None] + counts.sum(axis=0)[None]
    f = 2 * counts / np.maximum(together, 1)
    from scipy.optimize import linear_sum_assignment  # slow to load, and clustering alone needs it

    _, cluster = linear_sum_assignment(f.T, maximize=True)
    return Assignment(cluster.astype(np.int64), f[cluster, np.arange(len(f))])


def class_scores(counts: Counts) -> ClassScores:
    """Return the scores of a classification.

    Parameters
    ----------
    counts : int (C, C), pages by true and by predicted class. A class never predicted has precision 0.
    """
    correct = np.diagonal(counts).astype(np.float64)
    predicted, true = counts.sum(axis=0), counts.sum(axis=1)
    return ClassScores(
        correct / np.maximum(predicted, 1),
        correct / np.maximum(true, 1),
        2 * correct / np.maximum(predicted + true, 1),
        float(correct.sum() / max(int(counts.sum()), 1)),
    )


def record_scores(*, correct: int, wrong: int, true: int) -> RecordScores:
    """Return the scores of `correct` and `wrong` mined records, of which there are `true` (WOBM experiment)."""
    return RecordScores(correct / max(correct + wrong, 1), correct / max(true, 1))


def noise_share(raw: int, raw_targets: int, pruned: int, pruned_targets: int) -> float | None:
    """Return the share of wrong records that pruning removed (TPS, equation 4).

    Parameters
    ----------
    raw, raw_targets : records found on the raw page, and how many of them are targets.
    pruned, pruned_targets : the same on the pruned page.

    Returns
    -------
    None where the raw page has no wrong records, or the pruned page has records and no target among them.
    """
    if raw == raw_targets or (pruned and not pruned_targets):
        return None
    return noise_removed(raw, raw_targets, pruned, pruned_targets)


def noise_removed(total_raw: int, targets_raw: int, total_pruned: int, targets_pruned: int) -> float:
    """Return the share of wrongly extracted records that pruning has removed, at most 1 (equation 4 of the paper).

    Parameters
    ----------
    total_raw, targets_raw : the number of extracted records, and of correct ones, before pruning.
    total_pruned, targets_pruned : the same after pruning.
    """
    return 1 - (total_pruned - targets_pruned) / (total_raw - targets_raw)


def mean_noise_removed(rows: Sequence[tuple[int, int, int, int]]) -> float:
    """Return the mean of `noise_share` in which a page that lost its targets counts 0; those without noise do not."""
    noisy = [row for row in rows if row[0] != row[1]]
    return fmean(noise_share(*row) or 0.0 for row in noisy)


def bootstrap_interval(values: Sequence[float], *, seed: int, resamples: int = 10_000) -> tuple[float, float]:
    """Return the 95 % interval of the mean of `values`: percentiles of the means of samples of as many, seeded."""
    column = np.asarray(values, np.float64)
    drawn = np.random.default_rng(seed).integers(len(column), size=(resamples, len(column)))
    low, high = np.quantile(column[drawn].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


def ratio_with_interval(
    parts: Sequence[float],
    wholes: Sequence[float],
    groups: Sequence[str],
    *,
    seed: int,
    resamples: int = 2_000,
) -> tuple[float, float, float]:
    """Return the sum of `parts` over the sum of `wholes`, and its 95 % interval: bootstrap over groups, seeded.

    With wholes of 1 that is a mean. What has one group, such as the pages of a domain, is drawn together. Where all
    wholes are 0, the ratio is 0.
    """
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    part, whole = (np.bincount(group, np.asarray(column, np.float64)) for column in (parts, wholes))
    drawn = np.random.default_rng(seed).integers(len(part), size=(resamples, len(part)))
    above, below = part[drawn].sum(axis=1), whole[drawn].sum(axis=1)
    low, high = np.quantile(above / np.where(below, below, 1.0), (0.025, 0.975))
    return float(part.sum() / (whole.sum() or 1.0)), float(low), float(high)
