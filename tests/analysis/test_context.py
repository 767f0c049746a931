"""Figures of element nodes in the light of what stands around them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.trees._forest import Forest, build_forest, in_context
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.writers.text import write_text
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot
from tests.analysis.pages import page


def plain(value: list[float], weight: list[int], forest: Forest, strength: float) -> list[float]:
    """Return the same figures node by node: weighted means from below, then mixed with the parent's."""

    def below(node: int) -> list[int]:
        if forest.leaf[node]:
            return [node]
        children = [i for i, above in enumerate(forest.parent.tolist()) if above == node]
        return [leaf for child in children for leaf in below(child)]

    def seen(node: int) -> float:
        amount = sum(weight[leaf] for leaf in below(node))
        total = sum(weight[leaf] * value[leaf] for leaf in below(node))
        if forest.depths()[node] < 3:  # document, body, blocks of the body
            return total / max(amount, 1)
        return (total + strength * seen(int(forest.parent[node]))) / (amount + strength)

    return [seen(node) for node in range(len(value))]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_figures_agree_with_the_plain_walk(data: st.DataObject) -> None:
    bodies = data.draw(st.lists(_bodies(3), min_size=1, max_size=3))
    batch = Batch.of([page(f"<html><body>{body}</body></html>") for body in bodies])
    forest = build_forest(batch, level="none", flatten_inline=True, leaf_height=1)
    count = forest.leaf.size
    value = data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))
    weight = data.draw(st.lists(st.sampled_from([0, 1, 3, 50]), min_size=count, max_size=count))
    found = in_context(np.array(value), np.array(weight), forest, strength=8.0)
    assert found == pytest.approx(plain(value, weight, forest, 8.0))


def _bodies(depth: int) -> st.SearchStrategy[str]:
    leaf = st.sampled_from(["<p>a</p>", "<p>b <b>c</b></p>", "text", "<img src=x>"])
    if not depth:
        return leaf
    inner = st.lists(_bodies(depth - 1), min_size=1, max_size=3).map("".join)
    return st.one_of(leaf, inner.map("<div>{}</div>".format))


def _site(body: str) -> list[Snapshot]:
    """Twelve pages with an article, and `body` with numbers for i."""
    pages = []
    for i in range(12):
        words = " ".join(f"word{i}x{k}" for k in range(40))
        changed = body.replace("#", str(i))
        pages.append(
            page(f"<html><body><nav><p>Menu of the site</p></nav>{changed}<p>{words}</p></body></html>")
        )
    return pages


def test_a_heading_that_repeats_amid_content_stays() -> None:
    text = " ".join(f"n#w{k}" for k in range(30))
    pages = _site(f"<main><article><h2>Summary</h2><div><p>{text}</p></div></article></main>")
    verdict = SiteStyleTree().fit(pages).transform(pages[4])
    assert "Summary" in write_text(pages[4], verdict)
    assert "Menu" not in write_text(pages[4], verdict)
    node = next(i for i in range(len(pages[4])) if pages[4].text_of(i) == "Summary")
    assert verdict.reasons[verdict.reason[node]] == "holds little, amid content"
    assert "Summary" not in write_text(pages[4], SiteStyleTree(context=0.0).fit(pages).transform(pages[4]))


def test_a_few_words_amid_teasers_go() -> None:
    teaser = '<li><h3><a href="/#{k}">Story t#n{k} of a town far from here</a></h3><div><p>#{k} hours</p></div></li>'
    teasers = "".join(teaser.format(k=k) for k in range(5))
    pages = _site(f"<div><h2>More</h2><ul>{teasers}</ul></div>")
    verdict = SiteStyleTree().fit(pages).transform(pages[4])
    assert "hours" not in write_text(pages[4], verdict)
    assert "hours" in write_text(pages[4], SiteStyleTree(context=0.0).fit(pages).transform(pages[4]))


def test_what_two_of_many_pages_share_is_no_template() -> None:
    pages = _site("")
    post = " ".join(f"post{k}" for k in range(30))
    twice = [page(f"<html><body><main><h1>A {i}</h1><p>{post}</p></main></body></html>") for i in range(2)]
    many = [*twice, *(pages * 9)]
    assert "post7" in write_text(twice[0], SiteStyleTree().fit(many).transform(twice[0]))
    assert "post7" not in write_text(twice[0], SiteStyleTree(rare_share=0.0).fit(many).transform(twice[0]))


def test_a_context_of_negative_weight_is_refused() -> None:
    with pytest.raises(UsageError, match="context is -1"):
        SiteStyleTree(context=-1.0).fit(_site(""))
