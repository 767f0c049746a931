"""Capped trees: smaller, read again, and judging as the whole ones do; how far they do not after merging."""

import os
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import zstandard

from benchmarks.generated_site import generated_site
from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.cleaning.entropy import EntropyFilter
from domsieve.analysis.model_file import load_model, model_from_bytes, model_to_bytes, save_model
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.cst import CompressedStructureTree
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.trees.style_tree import capped
from domsieve.errors import FormatVersionError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot

Kind = type[SiteStyleTree | AutoCleaner]
# The share of texts that may be judged otherwise where trees were capped before they merged.
MOST_CHANGED = {AutoCleaner: 0.01, SiteStyleTree: 0.06}


@pytest.fixture(scope="module")
def pages() -> list[Snapshot]:
    return [parse_html(page.html.encode(), url=page.url) for page in generated_site(24)]


def changed(pages: list[Snapshot], one: "SiteModel[Any]", other: "SiteModel[Any]") -> float:
    """Return which share of the texts two models judge otherwise."""
    pairs = zip(pages, one.transform(pages), other.transform(pages), strict=True)
    texts = [(one.kept != other.kept)[page.text >= 0] for page, one, other in pairs]
    return float(np.concatenate(texts).mean())


@pytest.mark.parametrize("kind", [SiteStyleTree, AutoCleaner])
def test_capped_trees_judge_as_whole_ones(pages: list[Snapshot], kind: Kind) -> None:
    model = kind().fit(pages[::2])
    smaller = capped(model)
    assert len(smaller.counts_.features) < 0.6 * len(model.counts_.features)
    assert len(model_to_bytes(smaller)) < 0.7 * len(model_to_bytes(model))
    assert smaller.learned == model.learned
    for mine, theirs in zip(smaller.transform(pages), model.transform(pages), strict=True):
        assert np.array_equal(mine.kept, theirs.kept)
        assert np.allclose(mine.score, theirs.score, atol=1e-6)
        assert mine.known_share == theirs.known_share


def test_paper_mode_and_noise_of_words_are_the_same(pages: list[Snapshot]) -> None:
    model = SiteStyleTree.of_mode("paper").fit(pages[::2])
    smaller = capped(model)
    assert isinstance(smaller, SiteStyleTree)
    for page in pages[:6]:
        assert smaller.content_words(page) == model.content_words(page)


def test_capping_twice_and_writing_change_nothing(pages: list[Snapshot], tmp_path: Path) -> None:
    smaller = capped(SiteStyleTree().fit(pages))
    data = model_to_bytes(smaller)
    assert model_to_bytes(capped(smaller)) == data
    save_model(smaller, tmp_path / "m")
    assert model_to_bytes(load_model(tmp_path / "m")) == data


def test_capped_trees_merge_in_any_order(pages: list[Snapshot]) -> None:
    parts = [SiteStyleTree().fit(pages[:12]), SiteStyleTree().fit(pages[12:])]
    one, other = (capped(SiteStyleTree().fit(pages[:12])), capped(SiteStyleTree().fit(pages[12:])))
    assert model_to_bytes(capped(parts[0]).merge(other)) == model_to_bytes(capped(parts[1]).merge(one))
    merged = capped(parts[0]).merge(other)
    assert merged.learned == 24
    assert changed(pages, SiteStyleTree().fit(pages), merged) <= MOST_CHANGED[SiteStyleTree]


def test_models_without_such_a_tree_stay_as_they_are(pages: list[Snapshot]) -> None:
    for model in (EntropyFilter().fit(pages[:6]), CompressedStructureTree().fit(pages[:6])):
        assert capped(model) is model


def test_older_programs_refuse_capped_models_and_read_others(pages: list[Snapshot]) -> None:
    model = SiteStyleTree().fit(pages[:6])
    versions = [
        msgspec.msgpack.decode(zstandard.decompress(model_to_bytes(each)))["version"]
        for each in (model, capped(model))
    ]
    assert versions == [3, 4]
    content = msgspec.msgpack.decode(zstandard.decompress(model_to_bytes(model)))
    data = zstandard.compress(msgspec.msgpack.encode({**content, "version": 5}))
    with pytest.raises(FormatVersionError):
        model_from_bytes(data)


@pytest.mark.data
@pytest.mark.parametrize("site", ["api-fpc", "api-rust-std", "docs-python"])
@pytest.mark.parametrize("kind", [SiteStyleTree, AutoCleaner])
def test_capping_changes_no_verdict_and_before_merging_few(kind: Kind, site: str) -> None:
    archive = Path(os.environ.get("DOMSIEVE_DATA", "")) / "sites" / f"{site}.zip"
    if not archive.is_file():
        pytest.skip("DOMSIEVE_DATA names no folder with sites/")
    with zipfile.ZipFile(archive) as file:
        names = sorted(n for n in file.namelist() if n.startswith("pages/") and not n.endswith("/"))[:60]
        pages = [parse_html(file.read(name), url=f"http://x.example/{name}") for name in names]
    model = kind().fit(pages[::2])
    assert changed(pages, model, capped(model)) == 0
    merged = capped(kind().fit(pages[:30:2])).merge(capped(kind().fit(pages[30::2])))
    assert changed(pages, model, merged) <= MOST_CHANGED[kind]
