"""The site style tree beyond the worked examples: plain twin, additivity, traps, and the mode for today's sites."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.columns.hash import hashes_of
from domsieve.analysis.columns.words import fold, words_of
from domsieve.analysis.model_file import load_model, save_model
from domsieve.analysis.trees._alignment import _collapsed
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.trees.style_tree import StyleTree
from domsieve.analysis.writers.text import write_text
from domsieve.errors import DamagedFileError, ModelError, StorageError, UsageError
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.strings import StringTable
from domsieve.types import Mode
from tests.analysis import contract
from tests.analysis.pages import page
from tests.analysis.plain_sst import Element, add, composite, tree_of


def site(count: int = 12) -> list[Snapshot]:
    """Pages of a small site: menu, changing teasers, one advert on every third page, an article, a footer."""
    pages = []
    for i in range(count):
        teasers = "".join(
            f'<li><a href="/t{i}{k}">Teaser t{i}x{k} of another story</a></li>' for k in range(4)
        )
        advert = "<aside><p>Buy one get one free today</p></aside>" if i % 3 == 0 else ""
        words = " ".join(f"word{i}x{k}" for k in range(40))
        pages.append(
            page(
                "<html><head><title>T</title></head><body>"
                '<nav><ul><li><a href="/">Home</a></li><li><a href="/about">About us</a></li></ul></nav>'
                f"{advert}<main><div><h1>Title {i}</h1><p>{words} and the end</p>"
                f"<p>Second <b>paragraph</b> n{i} m{i}</p></div></main>"
                f"<div><h2>Read next</h2><ul>{teasers}</ul></div>"
                "<footer><div><p>All rights reserved</p></div></footer></body></html>"
            )
        )
    return pages


def same_trees(first: StyleTree, second: StyleTree) -> bool:
    def flat(tree: StyleTree) -> list[bytes]:
        tables = [getattr(tree, f.name) for f in fields(StyleTree) if f.name not in {"pages", "words"}]
        return [
            column.tobytes()
            for table in tables
            if table is not None
            for column in (table.key, *table.fixed.values(), *table.sums.values())
        ]

    return first.pages == second.pages and flat(first) == flat(second)


def test_site_mode_keeps_the_article_alone() -> None:
    pages = site()
    model = SiteStyleTree().fit(pages)
    text = write_text(pages[3], model.transform(pages[3]))
    assert text.split("\n")[0] == "Title 3"
    assert "word3x0" in text
    assert "Second paragraph n3 m3" in text
    for noise in ("Home", "Teaser", "Buy one", "All rights", "Read next"):
        assert noise not in text, noise


def test_a_new_page_of_the_site_is_cleaned_by_the_model() -> None:
    pages = site(20)
    model = SiteStyleTree().fit(pages[:-1])
    text = write_text(pages[-1], model.transform(pages[-1]))
    assert "word19x39" in text
    assert "About us" not in text
    assert "Teaser" not in text


def test_reasons_and_numbers_explain_each_drop() -> None:
    pages = site()
    verdict = SiteStyleTree().fit(pages).transform(pages[3])
    node = next(i for i in range(len(pages[3])) if pages[3].text_of(i) == "About us")
    assert verdict.reasons[verdict.reason[node]] == "repeats on the site"
    assert verdict.numbers["importance"][node] == 0
    assert verdict.numbers["pages"][node] == 12
    assert verdict.numbers["link_share"][node] == 1


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_tables_agree_with_the_plain_tree(data: st.DataObject) -> None:
    bodies = data.draw(st.lists(_bodies(3), min_size=1, max_size=6))
    pages = [page(f"<html><body>{body}</body></html>") for body in bodies]
    model = SiteStyleTree.of_mode("paper", leaf_height=0, merge_similarity=None).fit(pages)
    whole = Element()
    for number, snapshot in enumerate(pages):
        add(whole, ("#root", [tree_of(snapshot, 2)], []), number)
    root = np.flatnonzero(model.tree_.elements.fixed["depth"] == 0)[0]
    assert model.figures_.composite[root] == pytest.approx(composite(whole), abs=1e-9)


def _bodies(depth: int) -> st.SearchStrategy[str]:
    leaf = st.builds("<p>{}</p>".format, st.sampled_from(["a", "a b", "b c c", "d", ""]))
    if not depth:
        return leaf
    inner = st.lists(_bodies(depth - 1), min_size=1, max_size=3).map("".join)
    tag = st.sampled_from(["div", "ul", "table"])
    return st.one_of(leaf, st.builds(lambda t, x: f"<{t}>{x}</{t}>", tag, inner))


@pytest.mark.parametrize("mode", ["site", "paper"])
def test_merge_of_parts_equals_the_whole_in_any_order(mode: Mode) -> None:
    pages = site(14)
    whole = SiteStyleTree.of_mode(mode).fit(pages)
    parts = [SiteStyleTree.of_mode(mode).fit(part) for part in (pages[9:], pages[:4], pages[4:9])]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    assert same_trees(merged.tree_, whole.tree_)
    one_by_one = SiteStyleTree.of_mode(mode)
    for snapshot in reversed(pages):
        one_by_one.partial_fit([snapshot])
    assert same_trees(one_by_one.tree_, whole.tree_)
    for ours, theirs in zip(merged.transform(pages), whole.transform(pages), strict=True):
        assert ours.kept.tobytes() == theirs.kept.tobytes()
        assert np.allclose(ours.score, theirs.score, atol=1e-9)


def test_a_model_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    model = SiteStyleTree().fit(site(3))
    save_model(model, tmp_path / "new" / "m")
    with pytest.raises(StorageError, match=f"^The model {tmp_path / 'new'} cannot be written: "):
        save_model(model, tmp_path / "new")
    assert [*tmp_path.rglob("*")] == [tmp_path / "new", tmp_path / "new" / "m"]


def test_facts_are_of_the_tree_that_pages_are_mapped_on() -> None:
    model = SiteStyleTree.of_mode("paper").fit(contract.site(producer="rendered"))
    facts = model.facts()
    assert facts["element_nodes"] < len(model.tree_.elements), "similar element nodes merged"
    assert 0 < facts["of_them_in_the_simplified_tree"] <= facts["element_nodes"]


@pytest.mark.parametrize("at", [0, 10, -3])
def test_a_damaged_model_is_named(tmp_path: Path, at: int) -> None:
    save_model(SiteStyleTree().fit(site(3)), tmp_path / "m")
    data = bytearray((tmp_path / "m").read_bytes())
    data[at] ^= 0x55
    (tmp_path / "m").write_bytes(bytes(data))
    with pytest.raises(DamagedFileError, match="m is not a valid site model"):
        load_model(tmp_path / "m")


def test_rendered_and_raw_pages_do_not_mix() -> None:
    raw, rendered = (
        page("<html><body><p>x</p></body></html>"),
        page("<html><body><p>x</p></body></html>", producer="rendered"),
    )
    with pytest.raises(ModelError, match="rendered or raw"):
        SiteStyleTree().fit([raw, rendered])
    with pytest.raises(ModelError, match="rendered or raw"):
        SiteStyleTree().fit([raw]).transform(rendered)
    with pytest.raises(ModelError, match="no computed CSS for the style 'layout'"):
        SiteStyleTree(style="layout").fit([raw])
    with pytest.raises(ModelError, match="learned no page"):
        SiteStyleTree().transform(raw)
    with pytest.raises(UsageError, match="threshold is 7; it may be a number from 0 to 1 or None"):
        SiteStyleTree(threshold=7).fit([raw])
    with pytest.raises(ModelError, match="equal parameters"):
        SiteStyleTree().fit([raw]).merge(SiteStyleTree(threshold=0.3).fit([raw]))


@pytest.mark.parametrize("mode", ["site", "paper"])
@pytest.mark.parametrize(
    "body",
    [
        "",
        "<div></div>",
        "loose text",
        '<img src="a.png">',
        "<p>" + "نص عربي طويل " * 5 + "</p><p>漢字かな交じり文</p>",
        "<div>" * 1000 + "<p>deep</p>" + "</div>" * 1000,
        "<ul>" + "<li>item <b>x</b></li>" * 10_000 + "</ul>",
    ],
    ids=["empty", "no text", "loose", "image", "scripts", "deep", "wide"],
)
def test_odd_pages(mode: Mode, body: str) -> None:
    pages = [page(f"<html><body>{body}</body></html>") for _ in range(2)]
    model = SiteStyleTree.of_mode(mode).fit(pages)
    same = model.transform(pages[0])
    assert same.kept.size == len(pages[0])
    assert not write_text(pages[0], same).strip(), "what both pages hold is noise"
    alone = SiteStyleTree.of_mode(mode).fit(pages[:1]).transform(pages[0])
    assert write_text(pages[0], alone).split() == write_text(pages[0], alone).split()


@given(st.lists(st.text(max_size=30), max_size=5))
@settings(deadline=None)
def test_words_agree_with_their_plain_twin(texts: list[str]) -> None:
    base = page("<html><body><p>x</p></body></html>")
    batch = Batch.of([replace(base, strings=StringTable.from_strings([*base.strings, *texts]))])
    found = words_of(batch, np.ones(len(batch.strings), np.bool_))
    for index, text in enumerate(batch.strings.to_list()):
        plain = hashes_of(fold(text).split()).tolist()
        words = np.arange(found.start[index], found.stop[index])
        assert found.hashes(words).tolist() == plain, text


@given(st.lists(st.integers(0, 3), max_size=30))
@settings(deadline=None)
def test_collapsed_runs_agree_with_their_plain_twin(labels: list[int]) -> None:
    parent = np.zeros(len(labels), np.int64)
    found = _collapsed(parent, np.array(labels, np.uint64))
    sequence = list(labels)
    owner = list(range(len(labels)))
    for period in (1, 2, 3):
        at = 0
        while at < len(sequence):
            stop = at + period
            while stop < len(sequence) and sequence[stop] == sequence[stop - period]:
                stop += 1
            if stop - at >= 2 * period:
                folded = {k: at + (k - at) % period for k in range(at, stop)}
                owner = [folded.get(o, o) for o in owner]
                kept = [k for k in range(len(sequence)) if folded.get(k, k) == k]
                owner = [kept.index(o) for o in owner]
                sequence = [sequence[k] for k in kept]
                at += period
            else:
                at += 1
    assert found.tolist() == owner
