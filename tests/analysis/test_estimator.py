"""Methods are estimators to scikit-learn, although they do not load it."""

import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.records.wobm import WebObjectBlocks
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.errors import UsageError
from tests.analysis.pages import page


def test_a_pipeline_sets_parameters_learns_and_cleans() -> None:
    pages = [page(f"<p>menu</p><div>own words {number}</div>") for number in range(3)]
    pipeline = clone(make_pipeline(SiteStyleTree()).set_params(sitestyletree__threshold=0.4))
    verdicts = pipeline.fit(pages).transform(pages)
    assert [verdict.parameters["threshold"] for verdict in verdicts] == [0.4] * 3


def test_the_name_of_an_estimator_says_what_was_changed() -> None:
    assert repr(WebObjectBlocks(norm="mean", max_gap=5)) == "WebObjectBlocks(norm='mean')"
    assert repr(NoCleaning()) == "NoCleaning()"


def test_a_parameter_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="no parameter 'x'"):
        NoCleaning().set_params(x=1)
