"""The classifiers against those of scikit-learn, and the numbers of runs of the papers."""

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import SVC

from experiments.experiments.classification import score_pairs
from experiments.measures.papers import class_scores
from experiments.page_classes.classifiers import Scored, naive_bayes, rows_by_unit, support_vectors
from experiments.page_classes.runs import runs_of_pair

SHOPS = [
    (shop, product)
    for shop in ("Amazon", "CNet", "J&R", "PCMag", "ZDnet")
    for product in ("camera", "mobile", "notebook", "printer", "TV")
    if product != "TV" or shop not in {"PCMag", "ZDnet"}
]
UNITS = [(site, name) for site in "abc" for name in ("x", "y") for _ in range(6)]
CLASSES = {site: {"x", "y"} for site in "abc"}


def counts(seed: int = 0) -> np.ndarray:
    """Return counts of words in which classes differ, sites too, and some words are of one site alone."""
    draw = np.random.default_rng(seed)
    rate = np.full((len(UNITS), 20), 0.5)
    for row, (site, name) in enumerate(UNITS):
        rate[row, {"x": slice(4), "y": slice(4, 8)}[name]] = 1.2
        rate[row, 12 + 2 * "abc".index(site) : 14 + 2 * "abc".index(site)] = 2.5
        rate[row, 18:] = 2.0 if site == "c" else 0.0
    return draw.poisson(rate).astype(np.float64)


def test_naive_bayes_is_that_of_scikit_learn_on_the_words_that_were_learned() -> None:
    table, rows = counts(), rows_by_unit(UNITS)
    scored = naive_bayes(csr_matrix(table), rows)
    for configuration in (1, 2, 3):
        for run in runs_of_pair(CLASSES, ("x", "y"), configuration=configuration):
            learned = np.concatenate([rows[unit] for unit in run.train])
            tested = np.concatenate([rows[unit] for unit in run.test])
            known = table[learned].sum(axis=0) > 0
            names = np.array([name == "y" for _, name in UNITS], np.int64)
            model = MultinomialNB(alpha=1).fit(table[learned][:, known], names[learned])
            confusion = np.zeros((2, 2), np.int64)
            np.add.at(confusion, (names[tested], model.predict(table[tested][:, known])), 1)
            found, wanted = scored(run), class_scores(confusion)
            assert (found.f.tolist(), found.accuracy) == (wanted.f.tolist(), wanted.accuracy)


def test_support_vectors_are_those_of_the_vectors_themselves() -> None:
    table, rows = counts(), rows_by_unit(UNITS)
    scored = support_vectors(table @ table.T, rows)
    names = np.array([name == "y" for _, name in UNITS], np.int64)
    for run in runs_of_pair(CLASSES, ("x", "y"), configuration=2):
        learned = np.concatenate([rows[unit] for unit in run.train])
        tested = np.concatenate([rows[unit] for unit in run.test])
        cost = 1 / (table[learned] ** 2).sum(axis=1).mean()
        right = SVC(kernel="linear", C=cost).fit(table[learned], names[learned]).predict(table[tested])
        assert scored(run).accuracy == pytest.approx((right == names[tested]).mean())


def test_pages_without_words_can_be_learned_from() -> None:
    rows = rows_by_unit(UNITS)
    table = np.zeros((len(UNITS), 3))
    (run, *_) = runs_of_pair(CLASSES, ("x", "y"), configuration=2)
    for scored in (support_vectors(table @ table.T, rows), naive_bayes(csr_matrix(table), rows)):
        assert scored(run).accuracy == 0.5


def test_numbers_of_runs_are_those_of_the_papers() -> None:
    pages = csr_matrix(np.ones((len(SHOPS), 1)))
    scored: Scored = naive_bayes(pages, rows_by_unit(SHOPS))
    rows = score_pairs(scored, SHOPS, (1, 2, 3))
    assert len(rows) == 3 * len(list(combinations(range(5), 2)))
    assert sum(row["runs"] for row in rows if row["configuration"] == 2) == 168
    assert sum(row["runs"] for row in rows) == 378
