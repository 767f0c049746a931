"""Every parameter of every estimator is checked against what it may be, in one place and with one kind of message."""

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from domsieve.analysis.cleaning.entropy import EntropyFilter
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.cleaning.template import TemplateFilter
from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.estimator import Bounds, Estimator
from domsieve.analysis.model_file import load_model, save_model
from domsieve.analysis.records.mdr import DataRegionMiner
from domsieve.analysis.records.wobm import WebObjectBlocks
from domsieve.analysis.registry import METHODS, MINERS
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.cst import CompressedStructureTree
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.writers.evidence import write_json
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot
from tests.analysis.contract import body, site

ESTIMATORS: list[type[Estimator]] = [entry.estimator for entry in (*METHODS.values(), *MINERS.values())]
# Parameters that are words; every other one is a number or a flag, as its default says.
CHOICES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "AutoCleaner": {
        "favor": ("balance", "precision", "recall"),
        "style": ("none", "html", "layout", "full", "auto"),
    },
    "SiteStyleTree": {
        "style": ("none", "html", "layout", "full", "auto"),
        "runs": ("exact", "collapse"),
        "siblings": ("style", "label"),
    },
    "CompressedStructureTree": {
        "style": ("none", "html", "layout", "full", "auto"),
        "runs": ("exact", "collapse"),
        "siblings": ("style", "label"),
        "merge_by": ("words", "all"),
    },
    "EntropyFilter": {
        "h_norm": ("bits", "unit"),
        "idf_docs": ("auto", "pages", "blocks"),
        "language": ("auto", "none", "en", "de"),
        "aggregate": ("own", "subtree"),
    },
    "TemplateFilter": {"detection": ("local", "global"), "count": ("pages", "pagelets")},
    "TagPathFilter": {
        "mode": ("site", "paper"),
        "style": ("none", "html", "layout", "full"),
        "cuts": ("leftmost", "best"),
    },
    "NoCleaning": {},
    "WebObjectBlocks": {"norm": ("sum", "mean")},
    "DataRegionMiner": {"similarity": ("edit", "tree"), "records": ("parts", "whole")},
    "RepeatedPatterns": {"encoding": ("block", "all"), "choose": ("coverage", "all")},
    "MainRegionMiner": {},
}
# The edges of the numbers: what is just in, and what is just out.
IN_AND_OUT: Mapping[str, tuple[tuple[float, ...], tuple[float, ...]]] = {
    "SiteStyleTree.threshold": ((0, 1, 0.5), (-0.01, 1.01)),
    "SiteStyleTree.attenuation": ((0, 1), (-0.01, 1.01)),
    "SiteStyleTree.leaf_height": ((0, 3), (-1,)),
    "SiteStyleTree.merge_similarity": ((), (0, 1.01)),
    "SiteStyleTree.merge_frequency": ((1, 0.01), (0, 1.01)),
    "SiteStyleTree.local_noise": ((0, 1), (-0.01, 1.01)),
    "SiteStyleTree.link_discount": ((0, 1), (-0.01, 1.01)),
    "SiteStyleTree.list_share": ((0, 1), (-0.01, 1.01)),
    "SiteStyleTree.rare_share": ((0, 1), (-0.01, 1.01)),
    "SiteStyleTree.context": ((0, 100), (-0.01,)),
    "CompressedStructureTree.leaf_height": ((0, 3), (-1,)),
    "CompressedStructureTree.merge_similarity": ((), (0, 1.01)),
    "CompressedStructureTree.merge_frequency": ((1, 0.01), (0, 1.01)),
    "EntropyFilter.threshold": ((0, 7), (-0.01,)),
    "TemplateFilter.k": ((1, 9), (0,)),
    "TemplateFilter.window": ((1, 9), (0,)),
    "TagPathFilter.has_text": ((), (3,)),
    "TagPathFilter.gap": ((0, 0.99), (-0.01, 1)),
    "TagPathFilter.regions": ((1, 9), (0,)),
    "TagPathFilter.max_rounds": ((0, 9), (-1,)),
    "TagPathFilter.min_fraction": ((0, 1), (-0.01, 1.01)),
    "WebObjectBlocks.max_length": ((1, 9), (0,)),
    "WebObjectBlocks.threshold": ((0, 2), (-0.01,)),
    "WebObjectBlocks.min_fields": ((0, 9), (-1,)),
    "WebObjectBlocks.max_link_share": ((0, 2), (-0.01,)),
    "WebObjectBlocks.record_threshold": ((0, 2), (-0.01,)),
    "WebObjectBlocks.max_gap": ((0, 9), (-1,)),
    "WebObjectBlocks.main_share": ((0, 1), (-0.01, 1.01)),
    "DataRegionMiner.threshold": ((0, 2), (-0.01,)),
    "DataRegionMiner.max_length": ((1, 9), (0,)),
    "DataRegionMiner.min_depth": ((0, 9), (-1,)),
    "RepeatedPatterns.least_length": ((1, 9), (0,)),
    "RepeatedPatterns.least_count": ((2, 9), (1,)),
    "RepeatedPatterns.most_regularity": ((0, 9), (-0.01,)),
    "RepeatedPatterns.least_density": ((0, 1), (-0.01, 1.01)),
}
TEXTS = {"TagPathFilter.has_text"}
MAY_BE_NONE = {
    "SiteStyleTree.threshold",
    "SiteStyleTree.merge_similarity",
    "CompressedStructureTree.merge_similarity",
    "TagPathFilter.has_text",
    "TagPathFilter.max_rounds",
    "WebObjectBlocks.record_threshold",
    "DataRegionMiner.threshold",
}


def bad_values(estimator: type[Estimator], name: str, default: object) -> list[object]:
    """Return what a parameter may not be: misspelt, of another type, out of range."""
    words = CHOICES[estimator.__name__].get(name)
    if words:
        return [words[0] + "x", words[0].upper(), "", 1, None, True, [words[0]]]
    if isinstance(default, bool):
        return ["yes", 1, 0.0, None]
    parameter = f"{estimator.__name__}.{name}"
    if parameter in TEXTS:
        return ["", " \n", 1, True, b"text", ["text"]]
    out_of_range = IN_AND_OUT[parameter][1]
    whole: list[object] = [1.5, 2.0] if isinstance(default, int) else []
    nothing = [] if parameter in MAY_BE_NONE else [None]
    return [*out_of_range, math.nan, math.inf, -math.inf, True, "1", "", [1], 1j, *whole, *nothing]


def tried() -> Iterator[tuple[type[Estimator], str, object]]:
    """Yield every parameter of every estimator with each value that it may not be."""
    for estimator in ESTIMATORS:
        for name, default in estimator().get_params().items():
            for value in bad_values(estimator, name, default):
                yield estimator, name, value


def use(method: Any) -> None:
    """Do what a method first does with pages."""
    if isinstance(method, SiteModel):
        method.fit(site(2)).transform(site(1))
    else:
        method.transform(body("<p>one</p>"))


def test_what_a_parameter_may_not_be_is_one_clear_error() -> None:
    seen = set()
    for estimator, name, value in tried():
        with pytest.raises(UsageError) as caught:
            use(estimator(**{name: value}))
        message = caught.value.message
        assert caught.value.parameter == name, message
        assert re.match(rf"{estimator.__name__}: {name} is .+; it may be .+\.$", message), message
        for word in CHOICES[estimator.__name__].get(name, ())[:2]:
            assert repr(word) in message, message
        seen.add((estimator, name))
    assert seen == {(e, name) for e in ESTIMATORS for name in e.parameter_names()}, "every parameter"


def test_what_a_parameter_may_be_is_taken() -> None:
    for estimator in ESTIMATORS:
        for name, default in estimator().get_params().items():
            words = CHOICES[estimator.__name__].get(name)
            flags = (True, False, np.True_)
            numbers = IN_AND_OUT.get(f"{estimator.__name__}.{name}", ((), ()))[0]
            if f"{estimator.__name__}.{name}" in TEXTS:
                words = ("text", " 3 ")
            values: tuple[Any, ...] = words or (flags if isinstance(default, bool) else numbers)
            for value in values:
                estimator(**{name: value}).check()
                if isinstance(value, int) and not isinstance(value, bool):
                    estimator(**{name: np.int64(value)}).check()
                if isinstance(value, float):
                    estimator(**{name: np.float32(value)}).check()
            if f"{estimator.__name__}.{name}" in MAY_BE_NONE:
                estimator(**{name: None}).check()
    assert SiteStyleTree(siblings="style", merge_similarity=1).fit(site(2)).learned == 2


def test_misspelt_words_are_told_what_was_meant() -> None:
    with pytest.raises(UsageError) as caught:
        SiteStyleTree(siblings="lable").fit(site(2))  # type: ignore[arg-type]
    assert str(caught.value) == (
        "SiteStyleTree: siblings is 'lable'; it may be 'style' or 'label' (did you mean 'label'?)."
    )
    with pytest.raises(
        UsageError, match=r"has no parameter 'treshold'; it has .+ \(did you mean 'threshold'\?\)"
    ):
        SiteStyleTree().set_params(attenuation=0.5, treshold=1)
    with pytest.raises(UsageError, match=re.escape("language is 'english'")):
        EntropyFilter(language="english").fit(site(2))


def test_long_values_are_cut_short() -> None:
    with pytest.raises(UsageError) as caught:
        OwnWord(word="x" * 10_000).fit([])  # type: ignore[arg-type]
    assert len(str(caught.value)) < 200


class OwnWord(NoCleaning):
    """A method with a parameter of its own."""

    def __init__(self, *, word: Literal["one"] = "one") -> None:
        self.word = word


class Uncheckable(NoCleaning):
    """A method with a parameter that nothing is said of."""

    def __init__(self, *, text: str = "") -> None:
        self.text = text


def test_a_parameter_that_nothing_is_said_of_is_a_bug_that_shows_at_once() -> None:
    with pytest.raises(TypeError, match="cannot be checked"):
        Uncheckable().fit([])


def test_parameters_that_do_not_go_together() -> None:
    with pytest.raises(UsageError) as caught:
        CompressedStructureTree(merge_similarity=0.85).fit(site(2))
    assert caught.value.parameter == "merge_similarity"
    with pytest.raises(UsageError, match='with similarity="tree"') as caught:
        DataRegionMiner(similarity="tree", threshold=2).transform(site(1))
    assert caught.value.parameter == "threshold"
    with pytest.raises(UsageError, match="style is fixed by the mode 'paper'") as caught:
        TagPathFilter.of_mode("paper", style="html")
    assert caught.value.parameter == "style"


def test_parameters_are_checked_whenever_pages_come() -> None:
    pages = site(2)
    model = SiteStyleTree().fit(pages).set_params(siblings="lable")
    for work in (model.transform, model.partial_fit, model.fit, model.fit_transform):
        with pytest.raises(UsageError, match="siblings is 'lable'"):
            work(pages)
    weights = CompressedStructureTree().fit(pages).set_params(runs="some")
    for weigh in (weights.weigh, weights.weigh_blocks):
        with pytest.raises(UsageError, match="runs is 'some'"):
            weigh(pages)
    with pytest.raises(UsageError, match="h_norm"):
        EntropyFilter().fit(pages).set_params(h_norm="bit").blocks(pages[0])
    with pytest.raises(UsageError, match="norm"):
        WebObjectBlocks(norm="max").on(pages[0])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="records"):
        DataRegionMiner(records="all").on(pages[0])  # type: ignore[arg-type]


def test_there_are_two_modes_and_one_word_for_each() -> None:
    for estimator in ESTIMATORS:
        assert estimator.of_mode("site").get_params() == estimator().get_params()
        for word in ("user", "default", "Paper", None):
            with pytest.raises(UsageError, match=r"mode is .+; it may be 'site' or 'paper'") as caught:
                estimator.of_mode(word)  # type: ignore[arg-type]
            assert caught.value.parameter == "mode"
        if estimator.paper is None:
            with pytest.raises(UsageError, match="mode is 'paper', which this method does not have"):
                estimator.of_mode("paper")
        else:
            estimator.of_mode("paper").check()
    assert TagPathFilter.of_mode("paper", gap=0.3).get_params()["mode"] == "paper"


def test_every_method_is_a_step_of_a_pipeline() -> None:
    pages = site(3)
    for estimator in ESTIMATORS:
        method = clone(estimator())
        assert method.set_params(**method.get_params()).get_params() == estimator().get_params()
        pipeline = make_pipeline(method)
        assert pipeline.fit(pages) is pipeline
        results = pipeline.transform(pages)
        assert len(results) == len(pages)
        again = make_pipeline(clone(method)).fit_transform(pages)
        assert [type(one) for one in again] == [type(one) for one in results]
        assert repr(method) == f"{estimator.__name__}()"


def test_page_methods_learn_nothing() -> None:
    read: list[Snapshot] = []

    def looked_at() -> Iterator[Snapshot]:
        for page in site(2):
            read.append(page)
            yield page

    pages = looked_at()
    method = TagPathFilter()
    assert method.fit(pages) is method
    assert read == []
    assert vars(method) == vars(TagPathFilter())
    with pytest.raises(UsageError, match="gap is 1"):
        TagPathFilter(gap=1).fit(pages)


def test_numbers_of_numpy_are_written_as_those_of_python(tmp_path: Path) -> None:
    pages = site(3)
    plain = TemplateFilter(k=2, exact=True).fit(pages)
    arrays = TemplateFilter(k=np.int64(2), exact=np.True_).fit(pages)  # type: ignore[arg-type]
    for model, name in ((plain, "plain"), (arrays, "arrays")):
        save_model(model, tmp_path / name)
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "arrays").read_bytes()
    assert load_model(tmp_path / "arrays").get_params() == plain.get_params()
    assert write_json(pages[0], arrays.transform(pages[0])) == write_json(pages[0], plain.transform(pages[0]))
    page = SiteStyleTree(threshold=np.float64(0.25)).fit(pages).transform(pages[0])
    assert type(page.parameters["threshold"]) is float


@pytest.mark.parametrize(
    ("bounds", "text"),
    [
        (Bounds(0, 1), "from 0 to 1"),
        (Bounds(0), "at least 0"),
        (Bounds(0, 1, above=True), "above 0 and at most 1"),
        (Bounds(0, 1, below=True), "at least 0 and below 1"),
        (Bounds(most=5), "at most 5"),
    ],
)
def test_bounds_in_words(bounds: Bounds, text: str) -> None:
    assert str(bounds) == text


def test_the_lists_above_name_every_parameter() -> None:
    assert {e.__name__ for e in ESTIMATORS} == CHOICES.keys()
    for estimator in ESTIMATORS:
        for name, default in estimator().get_params().items():
            parameter = f"{estimator.__name__}.{name}"
            known = name in CHOICES[estimator.__name__] or parameter in IN_AND_OUT.keys() | TEXTS
            assert known != isinstance(default, bool), parameter
