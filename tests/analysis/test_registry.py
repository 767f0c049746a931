"""One registry of methods: its names are those of the vocabulary, and every list of methods comes from it."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from domsieve import analysis
from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.estimator import Estimator
from domsieve.analysis.registry import (
    METHODS,
    MIN_SITE_PAGES,
    MINERS,
    PAGE_METHODS,
    SITE_METHODS,
    Method,
    MethodEntry,
    MethodParams,
    MiningMethod,
    PageMethod,
    SiteMethod,
    check_fixed,
    entry_of,
    new_site_model,
    page_cleaner,
    variants,
)
from domsieve.analysis.site_model import SiteModel
from domsieve.errors import ParameterError, UsageError
from tests.analysis.contract import site

ROOT = Path(__file__).parents[2]
ENTRIES: tuple[MethodEntry[Estimator], ...] = (*METHODS.values(), *MINERS.values())


def test_its_names_are_those_of_the_vocabulary() -> None:
    lists: tuple[tuple[Any, Mapping[Any, MethodEntry[Estimator]]], ...] = (
        (SiteMethod, SITE_METHODS),
        (PageMethod, PAGE_METHODS),
        (Method, METHODS),
        (MiningMethod, MINERS),
    )
    for words, entries in lists:
        assert get_args(words) == tuple(entries)
        assert [entry.name for entry in entries.values()] == list(entries)


def test_it_has_every_estimator_of_the_package_once() -> None:
    for module in pkgutil.walk_packages(analysis.__path__, "domsieve.analysis."):
        importlib.import_module(module.name)
    found, bases = set(), [Estimator]
    while bases:
        subclasses = [
            one for one in bases.pop().__subclasses__() if one.__module__.startswith("domsieve.analysis.")
        ]
        bases += subclasses
        found |= {one for one in subclasses if hasattr(one, "name")}
    assert {entry.estimator for entry in ENTRIES} == found
    assert len({entry.estimator for entry in ENTRIES}) == len(ENTRIES)


def test_every_method_has_its_card() -> None:
    for entry in ENTRIES:
        card = (ROOT / entry.card).read_text(encoding="utf-8")
        assert re.search(rf"`(.+ --method |--method )?{re.escape(entry.name)}`", card.splitlines()[0]), (
            "the heading"
        )
    named = {entry.card for entry in ENTRIES}
    assert {f"docs/methods/{path.name}" for path in (ROOT / "docs/methods").glob("*.md")} == named


def test_the_guide_of_the_command_line_names_every_method() -> None:
    guide = (ROOT / "docs/cli.md").read_text(encoding="utf-8")
    for name in METHODS:
        assert f"| [`{name}`](methods/{name}.md) |" in guide
    for miner in MINERS:
        assert re.search(rf"[`|]{re.escape(miner)}[`\\|]", guide), miner


def test_no_other_module_lists_the_methods() -> None:
    """Three names of methods in one list or mapping are a list of methods."""
    names = {*METHODS, *MINERS} - {"none"}
    lists = set()
    for path in sorted((ROOT / "domsieve").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            held: list[Any] = getattr(node, "elts", None) or getattr(node, "keys", None) or []
            words = {
                one.value for one in held if isinstance(one, ast.Constant) and isinstance(one.value, str)
            }
            if len(words & names) > 2:
                lists.add(path.relative_to(ROOT).as_posix())
    assert lists == {"domsieve/analysis/registry.py"}


def test_parameters_that_users_write() -> None:
    read = METHODS["sst"].read
    assert read(["threshold=0.2", "presence=True", "merge_similarity=None", "runs=collapse"]) == {
        "threshold": 0.2,
        "presence": True,
        "merge_similarity": None,
        "runs": "collapse",
    }
    assert METHODS["tps"].read(["has_text= in = stock", "regions=2"]) == {
        "has_text": " in = stock",
        "regions": 2,
    }
    assert METHODS["tps"].read(["has_text=3"]) == {"has_text": "3"}


@pytest.mark.parametrize(
    ("text", "message", "parameter"),
    [
        ("threshold", "write NAME=VALUE", "params"),
        (
            "thresold=0.2",
            r"no parameter 'thresold'; it has attenuation, .*did you mean 'threshold'",
            "thresold",
        ),
        ("threshold=2", "threshold is 2; it may be a number from 0 to 1 or None", "threshold"),
        ("threshold=", "threshold is ''; it may be a number", "threshold"),
        ("style=htlm", r"style is 'htlm'; it may be 'none', .*did you mean 'html'", "style"),
        ("presence=1", "presence is 1; it may be True or False", "presence"),
        ("mode=paper", "mode is not one of the parameters", "mode"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused_with_the_choices(
    text: str, message: str, parameter: str
) -> None:
    with pytest.raises(ParameterError, match=message) as caught:
        METHODS["sst"].read([text])
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("name", [*METHODS, *MINERS])
def test_an_estimator_is_the_same_after_its_parameters_were_taken(name: Any) -> None:
    entry = entry_of(name)
    for mode in ("site", "paper"):
        if mode == "paper" and entry.estimator.paper is None:
            continue
        made = entry.estimator.of_mode(mode)
        params = MethodParams.of(made)
        assert entry.make(params).get_params() == made.get_params()
        assert params.given == {}
    changed: dict[str, Any] = {}
    if "threshold" in entry.estimator.parameter_names():
        changed["threshold"] = 0.3
    assert MethodParams.of(entry.estimator(**changed)).given == changed


def test_parameters_of_another_method_or_mode_are_refused() -> None:
    with pytest.raises(ParameterError, match="TemplateFilter has no parameter 'threshold'; it has "):
        METHODS["template"].make(MethodParams(given={"threshold": 0.3}))
    with pytest.raises(ParameterError, match="NoCleaning has no parameter 'style'; it has none"):
        METHODS["none"].make(MethodParams(given={"style": "html"}))
    with pytest.raises(UsageError, match="mode is 'paper', which this method does not have") as caught:
        METHODS["auto"].check(MethodParams(mode="paper"))
    assert caught.value.parameter == "mode"
    with pytest.raises(ParameterError, match="style is fixed by the mode 'paper'"):
        METHODS["tps"].check(MethodParams("paper", {"style": "full"}))
    for params, name in ((MethodParams("paper"), "mode"), (MethodParams(given={"style": "html"}), "style")):
        with pytest.raises(UsageError, match=f"{name} was fixed when the model was learned") as caught:
            check_fixed(params)
        assert caught.value.parameter == name
    check_fixed(MethodParams(given={"threshold": 0.3, "favor": "recall"}))


def test_only_site_methods_make_models() -> None:
    for name in METHODS:
        if name in SITE_METHODS:
            assert isinstance(new_site_model(name, MethodParams()), SiteModel)
        else:
            with pytest.raises(
                UsageError, match=f"The method {name} does not learn; use one of auto, "
            ) as caught:
                new_site_model(name, MethodParams())
            assert caught.value.parameter == "method"


def test_has_text_chooses_the_side_of_a_page() -> None:
    page = site(1)[0]
    kept = TagPathFilter().transform(page).kept
    inside = page_cleaner("tps", MethodParams(given={"has_text": "THING  00"}))(page)
    outside = page_cleaner("tps", MethodParams(given={"has_text": "no such text"}))(page)
    assert (inside.kept == kept).all()
    assert (outside.kept == TagPathFilter(complement=True).transform(page).kept).all()


def test_variants_are_the_methods_and_what_was_published_otherwise() -> None:
    assert list(variants(METHODS)) == [
        *("auto", "sst", "sst paper", "cst", "cst paper", "entropy", "template"),
        *("tps", "tps paper", "none"),
    ]
    assert variants(METHODS)["tps paper"]().get_params() == TagPathFilter(mode="paper").get_params()
    assert [name for name in variants(MINERS) if "paper" in name] == ["wobm paper"]


def test_the_fewest_pages_are_told() -> None:
    assert {name: entry.min_pages for name, entry in METHODS.items() if entry.min_pages > 1} == {
        "sst": MIN_SITE_PAGES,
        "cst": MIN_SITE_PAGES,
        "entropy": 2,
        "template": 2,
    }
