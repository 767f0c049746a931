"""The compressed structure tree beyond the worked examples: plain twin, blocks, masks, new pages."""

import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from domsieve.analysis.trees.cst import CompressedStructureTree
from domsieve.analysis.writers.evidence import write_json
from domsieve.analysis.writers.text import write_text
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot
from domsieve.types import Mode
from tests.analysis.pages import page
from tests.analysis.plain_cst import Tag, tags_of, weigh


def site(count: int = 12) -> list[Snapshot]:
    """Pages of a small site: menu, article, footer; the main part has one of two layouts."""
    pages = []
    for i in range(count):
        words = " ".join(f"word{i}x{k}" for k in range(20))
        advert = "<aside><div><div><p>Buy one get one free today</p></div></div></aside>" if i % 2 else ""
        pages.append(
            page(
                "<html><body><nav><div><ul><li><a href=/>Home</a></li><li><a href=/b>About us</a></li></ul>"
                f"</div></nav>{advert}<main><section><div><h1>Title {i}</h1><p>{words} and the end</p></div>"
                "</section></main><footer><div><div><p>All rights reserved</p></div></div></footer></body></html>"
            )
        )
    return pages


def weights(model: CompressedStructureTree, pages: list[Snapshot]) -> list[dict[str, float]]:
    matrix, names = model.weigh(pages), model.get_feature_names_out()
    rows = [matrix[row] for row in range(matrix.shape[0])]
    return [dict(zip(names[row.indices].tolist(), row.data.tolist(), strict=True)) for row in rows]


def bodies(depth: int) -> st.SearchStrategy[str]:
    leaf = st.sampled_from(
        ["<p>a</p>", "<p>a b</p>", "<p>b c c</p>", "<h1>d</h1>", "<p></p>", "e f", "<p>b c</p>"]
    )
    if not depth:
        return leaf
    inner = st.lists(bodies(depth - 1), min_size=1, max_size=3).map("".join)
    tag = st.sampled_from(["div", "ul"])
    return st.one_of(leaf, st.builds(lambda t, x: f"<{t}>{x}</{t}>", tag, inner))


@given(st.lists(bodies(4), min_size=1, max_size=5), st.integers(0, 2), st.sampled_from([None, 0.85, 0.5]))
@example(
    # Which nodes merge depends on the order in which they are tried.
    ["<ul>a<div><p>a</p>b c c</div></ul><ul><div><p>a</p></div><div>a b</div><p>a</p></ul>"],
    0,
    0.5,
)
@settings(max_examples=150, deadline=None)
def test_tables_agree_with_the_plain_tree(
    texts: list[str], leaf_height: int, similarity: float | None
) -> None:
    pages = [page(f"<html><body>{text}</body></html>") for text in texts]
    model = CompressedStructureTree.of_mode("paper", leaf_height=leaf_height, merge_similarity=similarity)
    roots = [
        Tag("#root", number, children=[tags_of(snapshot, number, 2, leaf_height)])
        for number, snapshot in enumerate(pages)
    ]
    expected = weigh(roots, similarity=similarity)
    for found, plain in zip(weights(model.fit(pages), pages), expected, strict=True):
        assert {w: v for w, v in found.items() if v > 1e-9} == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("mode", ["site", "paper"])
def test_what_repeats_weighs_nothing_and_what_varies_much(mode: Mode) -> None:
    pages = site()
    found = weights(CompressedStructureTree.of_mode(mode).fit(pages), pages)[3]
    assert found["word3x0"] > 0.5
    for word in ("home", "rights", "buy", "end"):
        assert found.get(word, 0) < 0.2 * found["word3x0"], word


def test_rows_of_blocks_add_up_to_rows_of_pages() -> None:
    pages = site()
    model = CompressedStructureTree().fit(pages)
    blocks = model.weigh_blocks(pages)
    assert (np.diff(blocks.page) >= 0).all()
    assert set(blocks.page.tolist()) == set(range(len(pages)))
    tags = {pages[p].tag_name(int(n)) for p, n in zip(blocks.page.tolist(), blocks.node, strict=True)}
    assert tags <= {"div", "ul", "section", "main", "nav", "footer"}
    whole = np.zeros((len(pages), blocks.matrix.shape[1]))
    np.add.at(whole, blocks.page, blocks.matrix.toarray())
    assert np.allclose(whole, model.weigh(pages).toarray())


def test_columns_are_the_words_in_ascending_order() -> None:
    model = CompressedStructureTree().fit(
        [page('<html><body><p>b Ä a<img alt="z" src="q.png"></p></body></html>')]
    )
    assert model.get_feature_names_out().tolist() == ["a", "b", "z", "ä"]
    assert model.weigh([]).shape == (0, 4)
    assert model.weigh_blocks([]).matrix.shape == (0, 4)


def test_the_mask_keeps_the_article() -> None:
    pages = site()
    model = CompressedStructureTree().fit(pages)
    verdict = model.transform(pages[3])
    text = write_text(pages[3], verdict)
    assert "word3x0" in text
    assert "Home" not in text
    assert "All rights" not in text
    node = next(i for i in range(len(pages[3])) if pages[3].text_of(i) == "About us")
    assert verdict.reasons[verdict.reason[node]] == "weighs no more than most of the page"
    assert verdict.numbers["entropy"][node] == 1
    assert verdict.numbers["weight"][node] == 0
    article = next(i for i in range(len(pages[3])) if "word3x0" in pages[3].text_of(i))
    assert verdict.score[article] == 1


def test_a_page_alone_is_kept_and_an_equal_one_is_not() -> None:
    pages = site(1)
    alone = CompressedStructureTree().fit(pages)
    assert "Home" in write_text(pages[0], alone.transform(pages[0]))
    twins = CompressedStructureTree().fit([*pages, *pages])
    assert write_text(pages[0], twins.transform(pages[0])).strip() == ""
    assert twins.weigh(pages).nnz == 0


def test_new_words_and_places_weigh_as_on_one_page_alone() -> None:
    pages = site()
    model = CompressedStructureTree().fit(pages)
    other = page("<html><body><table><tr><td><b>home again unheard</b></td></tr></table></body></html>")
    assert weights(model, [other]) == [{"home": 1.0}]


def test_a_site_without_words_has_no_columns() -> None:
    bare = page("<html><body><div><img src=a.png></div></body></html>")
    assert CompressedStructureTree().fit([bare, bare]).weigh([bare, *site(1)]).shape == (2, 0)


def test_all_instances_of_a_run_are_tag_nodes_of_one_element_node() -> None:
    """Section 8.14: lists of different length have one style, and m counts instances."""
    pages = [page(f"<html><body><ul>{'<li>x</li>' * n}</ul></body></html>") for n in (3, 4)]
    model = CompressedStructureTree(leaf_height=0).fit(pages)
    elements, node = model.merged_tree_.elements, model.figures_.node
    deepest = elements.fixed["depth"] == 3
    assert elements.sums["units"][deepest].tolist() == [7]
    assert node[elements.fixed["depth"] == 2].tolist() == [0]
    assert model.weigh(pages).nnz == 0


def test_links_and_images_are_compared_when_asked() -> None:
    texts = ['<p>same<img src="{}.png"></p><div>x{}</div>'.format("a", i) for i in range(3)]
    texts += ['<p>same<img src="{}.png"></p><h1>x{}</h1>'.format("b", i) for i in range(3)]
    pages = [page(f"<html><body>{text}</body></html>") for text in texts]

    def nodes(merge_by: str) -> int:
        model = CompressedStructureTree.of_mode("paper", leaf_height=1, merge_by=merge_by).fit(pages)
        return len(model.merged_tree_.elements)

    assert nodes("all") == nodes("words") + 1


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(UsageError, match="merge_similarity is 7"):
        CompressedStructureTree.of_mode("paper", merge_similarity=7).fit(site(1))
    with pytest.raises(UsageError, match='needs siblings="style"'):
        CompressedStructureTree(merge_similarity=0.85).fit(site(1))


def test_each_score_agrees_with_its_reason_at_the_threshold_of_the_page() -> None:
    def mixed(i: int) -> Snapshot:
        texts = (f"<section><div><p>word{i % (k + 1)}of{k}</p></div></section>" for k in range(5))
        return page(f"<html><body>{''.join(texts)}<footer><div><p>Imprint</p></div></footer></body></html>")

    pages = [*site(), *map(mixed, range(11))]
    verdicts = CompressedStructureTree().fit_transform(pages)
    seen = set()
    for verdict in verdicts:
        assert verdict.threshold is not None
        for score, number in zip(verdict.score.tolist(), verdict.reason.tolist(), strict=True):
            reason = verdict.reasons[number]
            if reason.startswith("weighs"):
                seen.add(reason)
                assert (score > verdict.threshold) == (reason == "weighs more than most of the page")
    assert len(seen) == 2
    assert len({verdict.threshold for verdict in verdicts}) > 1
    said = json.loads(write_json(pages[0], verdicts[0]))
    assert said["threshold"] == round(verdicts[0].threshold or 0, 6)
