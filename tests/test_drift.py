"""Drift: the share of words at known places, and when a model should be learned anew."""

from pathlib import Path

import pytest

from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.cleaning.entropy import EntropyFilter
from domsieve.analysis.trees.cst import CompressedStructureTree
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.tasks.site_learning import RECENT_PAGES, Drift
from tests.command import page, run, write_pages

OTHER = (
    "<!doctype html><title>T</title><body><table><tr><td><blockquote>one two three four</blockquote></table>"
)


@pytest.mark.parametrize("kind", [SiteStyleTree, AutoCleaner, CompressedStructureTree])
def test_the_share_is_that_of_words_at_known_places(
    kind: type[SiteStyleTree | AutoCleaner | CompressedStructureTree],
) -> None:
    model = kind().fit([parse_html(page(n).encode(), url="http://x.example/") for n in range(8)])
    half = page(9).replace(
        "</main>", "</main><section><article><p>new place of words</p></article></section>"
    )
    sources = (page(9), half, OTHER, "<!doctype html><title>T</title><body>")
    shares = [model.transform(parse_html(s.encode(), url="http://x.example/")).known_share for s in sources]
    assert shares[0] == 1
    assert shares[1] is not None
    assert 0 <= shares[1] < 1
    # A leaf of two levels that grows a third is another place.
    assert (shares[1] > 0.8) == (kind is not CompressedStructureTree)
    assert shares[2:] == [0, None]


def test_methods_without_a_tree_have_no_share() -> None:
    pages = [parse_html(page(n).encode(), url="http://x.example/") for n in range(8)]
    assert EntropyFilter().fit(pages).transform(pages[0]).known_share is None
    assert AutoCleaner().transform(pages[0]).known_share is None


def test_only_a_full_row_of_pages_says_that_a_model_is_over() -> None:
    almost = Drift([0.1] * (RECENT_PAGES - 1))
    almost.add(None)
    assert (almost.known_share, almost.is_over) == (0.1, False)
    full = Drift([0.1] * RECENT_PAGES)
    assert (full.known_share, full.is_over) == (0.1, True)
    assert "learn the model again" in str(full)


def test_the_last_pages_count() -> None:
    drift = Drift([0.0] * 100)
    drift.add(*[0.9] * 11)
    assert drift.known_share == 0.9
    assert not drift.is_over
    assert Drift().known_share is None


def test_clean_tells_how_well_the_model_knows_the_pages(tmp_path: Path) -> None:
    write_pages(tmp_path / "site", 24)
    cache, model = tmp_path / "cache", tmp_path / "model"
    assert run("learn", tmp_path / "site", "-o", model, cache=cache).exit_code == 0
    same = run("clean", "--model", model, tmp_path / "site", cache=cache)
    assert f"{model}: the model knows the places of 100% of the words" in same.stderr
    assert "anew" not in same.stderr
    for path in (tmp_path / "site").iterdir():
        path.write_text(OTHER.replace("one", path.stem))
    other = run("clean", "--model", model, tmp_path / "site", cache=cache)
    assert "the places of 0% of the words (median of the last pages); learn the model again." in other.stderr
    assert "the model knows" not in run("clean", tmp_path / "site", cache=cache).stderr
