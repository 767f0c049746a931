"""Help with thresholds: what each would keep, and the middle of the widest gap."""

import numpy as np
import pytest

from domsieve.analysis.report.thresholds import HIGH, LOW, _widest_gap, threshold_help
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.errors import ModelError
from tests.analysis.test_report import parsed, site


def test_the_widest_gap_lies_between_neighbouring_scores() -> None:
    assert _widest_gap(np.array([0.1, 0.12, 0.3, 0.31])) == (0.12, 0.3)
    assert _widest_gap(np.array([0.0, 0.01, 0.9])) == (LOW, HIGH)
    assert _widest_gap(np.array([0.3])) == (LOW, 0.3)
    assert _widest_gap(np.array([])) == (LOW, HIGH)


def test_of_equal_gaps_the_first_counts() -> None:
    assert _widest_gap(np.array([0.05 + 0.35 / 2])) == (LOW, 0.225)


def test_it_keeps_what_the_method_keeps_at_each_threshold() -> None:
    pages = site()
    help_ = threshold_help(SiteStyleTree(threshold=0.3).fit(pages), pages[:2])
    assert help_.pages == 2
    assert help_.used == pytest.approx(0.3)
    assert [step.threshold for step in help_.steps] == [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4]
    assert help_.gap[0] < help_.proposed < help_.gap[1]
    for step in help_.steps:
        model = SiteStyleTree(threshold=step.threshold).fit(pages)
        kept = [text for page in pages[:2] for text in model.content_words(page)]
        assert 0 < step.words <= help_.words
        assert kept
        assert step.blocks == 6, "a heading and two paragraphs on each page"


def test_hidden_text_counts_for_nothing() -> None:
    pages = [parsed(f"<p>seen {'abcdef'[i]}{i}</p><p hidden>planted {i}</p>") for i in range(6)]
    help_ = threshold_help(SiteStyleTree().fit(pages), pages)
    assert (help_.words, help_.blocks) == (12, 6)


def test_the_model_stays_as_it_was() -> None:
    pages = site()
    model = SiteStyleTree().fit(pages)
    before = model.transform(pages[0])
    threshold_help(model, pages)
    after = model.transform(pages[0])
    assert before.parameters == after.parameters
    assert (before.kept == after.kept).all()


def test_a_model_must_have_learned() -> None:
    with pytest.raises(ModelError):
        threshold_help(SiteStyleTree(), site(1))
