"""The classifiers of the papers on runs across sites: a linear support vector machine (CST), Naive Bayes (SST)."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from experiments.corpora.class_grids import Unit
from experiments.measures.papers import ClassScores, class_scores
from experiments.page_classes.runs import Run

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]
Rows = Mapping[Unit, NDArray[np.int64]]
Scored = Callable[[Run], ClassScores]


def rows_by_unit(units: Sequence[Unit]) -> dict[Unit, NDArray[np.int64]]:
    """Return the rows of each unit, ascending."""
    return {unit: np.flatnonzero([other == unit for other in units]) for unit in sorted(set(units))}


def support_vectors(gram: Floats, rows: Rows) -> Scored:
    """Return what scores a run of a linear support vector machine with hinge loss and a free offset.

    C is the default of SVMlight, one over the mean squared length of the pages learned from: 1 at unit length, and
    where all these pages are without words.

    Parameters
    ----------
    gram : (P, P), inner products of the pages.
    rows : the pages of each unit.
    """
    from sklearn.svm import SVC

    square = gram.diagonal()

    def scored(run: Run) -> ClassScores:
        learned = np.concatenate([rows[unit] for unit in run.train])
        tested = np.concatenate([rows[unit] for unit in run.test])
        names = np.repeat([0, 1], [rows[unit].size for unit in run.train])
        machine = SVC(kernel="precomputed", C=1 / (float(square[learned].mean()) or 1.0))
        machine.fit(gram[np.ix_(learned, learned)], names)
        return _score(run, rows, machine.predict(gram[np.ix_(tested, learned)]))

    return scored


def naive_bayes(counts: "csr_matrix", rows: Rows) -> Scored:
    """Return what scores a run of multinomial Naive Bayes with add-one smoothing.

    The vocabulary is that of the pages learned from, the prior of a class its share of them; of two equally likely
    classes the first is taken.

    Parameters
    ----------
    counts : (P, T), words by page.
    rows : the pages of each unit.
    """
    sums = {unit: np.asarray(counts[at].sum(axis=0)).ravel() for unit, at in rows.items()}

    def scored(run: Run) -> ClassScores:
        known = np.add(*(sums[unit] for unit in run.train)) > 0
        logs = []
        for unit in run.train:
            smooth = np.where(known, sums[unit] + 1, 1.0)
            logs.append(np.where(known, np.log(smooth / max(float(smooth[known].sum()), 1.0)), 0.0))
        prior = np.log(rows[run.train[0]].size / rows[run.train[1]].size)
        tested = np.concatenate([rows[unit] for unit in run.test])
        return _score(run, rows, (counts[tested] @ (logs[0] - logs[1]) + prior < 0).astype(np.int64))

    return scored


def _score(run: Run, rows: Rows, predicted: NDArray[np.int64]) -> ClassScores:
    """Return the scores of the predicted classes, 0 or 1, of the tested pages."""
    second = run.train[1][1]
    true = np.repeat([int(name == second) for _, name in run.test], [rows[unit].size for unit in run.test])
    return class_scores(np.bincount(2 * true + predicted, minlength=4).reshape(2, 2))
