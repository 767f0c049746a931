"""The one contract of all methods: estimators that change nothing they are given and answer the same every time."""

import os
import pickle
import subprocess
import sys
from copy import copy, deepcopy
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

from domsieve.analysis.model_file import load_model, model_from_bytes, model_to_bytes, save_model
from domsieve.analysis.records.result import Records
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.evidence import write_json
from domsieve.analysis.writers.html import write_html
from domsieve.analysis.writers.text import write_text
from domsieve.errors import DamagedFileError, ModelError
from tests.analysis.contract import (
    METHODS,
    ODD_BODIES,
    ODD_SITES,
    PAGE_METHODS,
    SITE_METHODS,
    assert_sound,
    body,
    calls,
    column,
    digests,
    fitted,
    site,
    told,
    wide,
)

every_method = pytest.mark.parametrize("name", METHODS)
every_site_method = pytest.mark.parametrize("name", SITE_METHODS)


@every_method
def test_parameters_make_an_equal_estimator(name: str) -> None:
    method = METHODS[name]()
    before = method.get_params()
    twin = clone(method)
    assert twin.get_params() == before
    pages = site()
    if name in SITE_METHODS:
        assert method.fit(pages) is method
        twin.fit(pages)
    assert method.get_params() == before
    assert told(method.transform(pages[0])) == told(twin.transform(pages[0]))
    assert before.items() <= {**before, **METHODS[name]().set_params(**before).get_params()}.items()


@every_method
def test_a_sequence_gives_what_its_pages_give(name: str) -> None:
    pages = site()
    method = fitted(name, pages)
    together = [told(result) for result in method.transform(pages)]
    assert together == [told(method.transform(page)) for page in pages]
    assert together == [told(result) for result in method.transform(pages[::-1])][::-1]
    assert len(set(together)) > 1, "different pages, different results"


@every_method
@pytest.mark.parametrize("producer", ["raw", "rendered"])
def test_pages_and_results_stay_as_they_are(name: str, producer: str) -> None:
    pages = site(producer=producer)
    before = [page.digest() for page in pages]
    results = fitted(name, pages).transform(pages)
    assert [page.digest() for page in pages] == before
    with pytest.raises(ValueError, match="read-only"):
        column(results[0])[:] = 0


@every_method
@pytest.mark.parametrize("kind", ODD_BODIES)
@pytest.mark.parametrize("producer", ["raw", "rendered"])
def test_odd_pages_have_a_result(name: str, kind: str, producer: str) -> None:
    page = body(ODD_BODIES[kind], producer=producer)
    for pages in ([page], [page, page], [*site(producer=producer), page]):
        check(page, fitted(name, pages).transform(page))


@every_method
@pytest.mark.parametrize("kind", ODD_SITES)
def test_odd_sites_have_a_result_for_every_page(name: str, kind: str) -> None:
    pages = [body(html) for html in ODD_SITES[kind]]
    method = fitted(name, pages)
    results = method.transform(pages)
    for page, result in zip(pages, results, strict=True):
        check(page, result)
    told_of = {page.digest(): told(result) for page, result in zip(pages, results, strict=True)}
    assert [told(result) for result in results] == [told_of[page.digest()] for page in pages], (
        "equal pages, equal results"
    )


@every_method
@pytest.mark.parametrize("producer", ["raw", "rendered"])
def test_results_hold_what_their_types_say(name: str, producer: str) -> None:
    pages = site(producer=producer)
    method = fitted(name, pages)
    for page, result in zip(pages, method.transform(pages), strict=True):
        check(page, result)
        known = {**method.get_params(), **result.parameters}
        if known.get("has_text", "") is None:  # nothing depends on it
            del known["has_text"]
        assert known.keys() == result.parameters.keys(), "every option that shaped the result is told"


def check(page: Any, result: Verdict | Records) -> None:
    assert_sound(page, result)
    if isinstance(result, Verdict):
        assert set("".join(write_text(page, result).split())) <= set("".join(page.strings.to_list()))
        write_html(page, result)
        write_json(page, result)


@every_method
@pytest.mark.parametrize("alike", [True, False])
def test_many_siblings_cost_in_proportion(name: str, alike: bool) -> None:
    few, many = wide(2_500, alike=alike), wide(10_000, alike=alike)
    fitted(name, [few]).transform(few)  # imports and caches

    def work(page: Any) -> int:
        return calls(lambda: fitted(name, [page, page]).transform(page))

    assert work(many) <= 4 * 1.5 * work(few) + 1000


def test_two_processes_with_different_hash_seeds_say_the_same() -> None:
    program = "from tests.analysis.contract import digests\nprint(*digests(), sep='\\n')"
    root = Path(__file__).parents[2]
    answers = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert answers[0] == answers[1] == list(digests())


@every_site_method
def test_the_order_of_pages_is_of_no_account(name: str) -> None:
    pages = site()
    forth, back = fitted(name, pages), fitted(name, pages[::-1])
    assert [told(r) for r in forth.transform(pages)] == [told(r) for r in back.transform(pages)]


@every_site_method
def test_parts_merge_into_the_whole(name: str) -> None:
    pages = site(14)
    whole = [told(result) for result in fitted(name, pages).transform(pages)]
    parts = [fitted(name, part) for part in (pages[9:], pages[:4], pages[4:9])]
    assert [told(r) for r in parts[0].merge(parts[1]).merge(parts[2]).transform(pages)] == whole
    grown = METHODS[name]()
    for page in pages[::-1]:
        grown.partial_fit([page])
    assert [told(r) for r in grown.transform(pages)] == whole
    assert grown.learned == len(pages)


@every_site_method
def test_fit_forgets(name: str) -> None:
    pages = site()
    assert told(fitted(name, site(3)).fit(pages).transform(pages[0])) == told(
        fitted(name, pages).transform(pages[0])
    )


@every_site_method
def test_nothing_learned_nothing_said(name: str) -> None:
    model = METHODS[name]()
    if name == "auto":
        # It judges a page by itself, and has nothing that could be kept.
        assert model.transform(site(1))
        with pytest.raises(ModelError, match="learned no page"):
            model.facts()
    else:
        with pytest.raises(ModelError, match="learned no page"):
            model.transform(site(1))


@every_site_method
def test_models_survive_their_file(name: str, tmp_path: Path) -> None:
    pages = site()
    model = fitted(name, pages)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert told(again.transform(pages[0])) == told(model.transform(pages[0]))
    save_model(again, tmp_path / "twin")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "twin").read_bytes()
    assert b"pickle" not in (tmp_path / "model").read_bytes()
    assert again.partial_fit(site(9)[7:]).learned == model.learned + 2


@every_site_method
def test_models_survive_their_bytes_and_pickling(name: str) -> None:
    pages = site()
    model = fitted(name, pages)
    data = model_to_bytes(model)
    told(model.transform(pages[0]))  # what is derived is not written
    for again in (model_from_bytes(data), pickle.loads(pickle.dumps(model)), deepcopy(model), copy(model)):
        assert model_to_bytes(again) == data
        assert told(again.transform(pages[0])) == told(model.transform(pages[0]))
        assert again.partial_fit(site(9)[7:]).learned == model.learned + 2
    assert model_to_bytes(model) == data
    assert len(pickle.dumps(model)) < 1.2 * len(data) + 1_000
    new = pickle.loads(pickle.dumps(METHODS[name]()))
    assert (new.learned, new.get_params()) == (0, METHODS[name]().get_params())
    with pytest.raises(DamagedFileError, match="This is not a valid site model"):
        model_from_bytes(data[:-1])


def test_every_method_is_either_kind() -> None:
    assert not set(SITE_METHODS) & set(PAGE_METHODS)
