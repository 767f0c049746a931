"""The template method: worked examples, plain twins, additivity."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.cleaning._pagelets import links_of, pagelets, shingles
from domsieve.analysis.cleaning.template import TemplateFilter
from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.columns.hash import hashes_of
from domsieve.analysis.columns.links import page_references
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.analysis.writers.text import write_text
from domsieve.errors import UsageError
from domsieve.snapshot.page import Kind, Snapshot
from tests.analysis.pages import page

MENU = "<ul>" + "".join(f"<li><a href=/m{k}>menu{k}</a></li>" for k in range(4)) + "</ul>"
FOOT = "<footer><a href=/f1>imprint</a><a href=/f2>terms</a></footer>"


def example(text: str = "text", *, number: int = 0, links: str = "") -> Snapshot:
    return page(
        f"<html><body><nav>{MENU}</nav><main><h1>{text}</h1><p><a href=/x>{text} link</a></p>"
        f"<p class=second>{text} more{links}</p></main>{FOOT}</body></html>",
        url=f"https://example.org/{number}.html",
    )


def tags_of_pagelets(snapshot: Snapshot, k: int) -> list[str]:
    batch = Batch.of([snapshot])
    found = pagelets(batch, visible_nodes(batch), k=k, window=10, exact=False)
    return sorted(snapshot.tag_name(int(node)) for node in found.node)


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (3, ["footer", "main", "ul"]),
        (2, ["footer", "main", "ul"]),
        (1, ["a"] * 7 + ["h1", "p"]),
        (5, ["body"]),
    ],
)
def test_a8_pagelets(k: int, expected: list[str]) -> None:
    assert tags_of_pagelets(example(), k) == expected


def test_a8_two_pages_share_menu_and_foot() -> None:
    pages = [example("one"), example("two", number=1)]
    model = TemplateFilter().fit(pages)
    assert model.groups_ == [2, 2]
    assert write_text(pages[0], model.transform(pages[0])).split() == ["one", "one", "link", "one", "more"]


def footed(number: int, *links: int) -> Snapshot:
    """Return a page with the common footer and links to other pages."""
    targets = "".join(f'<a href="/{n}.html">to</a>' for n in links)
    return page(
        f"<html><body><main><p>text{number}</p>{targets}</main><div><a href=/a>a</a><a href=/b>b</a>"
        "<a href=/c>c</a> common foot</div></body></html>",
        url=f"https://example.org/{number}.html",
    )


def footers_gone(pages: list[Snapshot]) -> list[bool]:
    model = TemplateFilter(detection="global").fit(pages)
    return ["common foot" not in write_text(p, model.transform(p)) for p in pages]


def test_a8_global_detection_in_two_components() -> None:
    pages = [footed(1, 2), footed(2), footed(3), footed(4, 3)]
    assert TemplateFilter(detection="global").fit(pages).groups_ == [2, 2]
    assert footers_gone(pages) == [True] * 4


def test_a8_global_detection_leaves_a_page_without_links() -> None:
    pages = [footed(1, 2), footed(2), footed(3)]
    assert TemplateFilter(detection="global").fit(pages).groups_ == [2]
    assert footers_gone(pages) == [True, True, False]


@pytest.mark.parametrize(
    ("address", "link"),
    [
        ("https://Example.org", "/"),
        ("https://example.org/shop?id=2#top", "/shop?id=2"),
        ("https://example.org/shop#/product/1", "/shop#/product/1"),
        ("pages/a.html", "a.html"),
    ],
)
def test_a_page_has_the_address_of_a_link_to_it(address: str, link: str) -> None:
    base = "pages/b.html" if "://" not in address else "https://example.org/x/../b.html"
    other = Batch.of([page(f"<html><body><a href='{link}'>to</a></body></html>", url=base)])
    target = links_of(other)[1]
    assert target.tolist() == page_references(Batch.of([page("<html></html>", url=address)])).tolist()


def test_a_new_page_is_compared_with_those_learned() -> None:
    model = TemplateFilter().fit([example("one")])
    assert "menu0" in write_text(example("one"), model.transform(example("one")))
    other = example("two", number=1)
    assert write_text(other, model.transform(other)).split() == ["two", "two", "link", "two", "more"]
    linked = TemplateFilter(detection="global").fit([footed(1), footed(2)])
    assert "foot" not in write_text(footed(3, 1), linked.transform(footed(3, 1)))
    assert "foot" in write_text(footed(3), linked.transform(footed(3)))


def test_pages_that_repeat_another_do_not_count() -> None:
    again = [example("one"), example("one", number=1), example("one", number=2)]
    model = TemplateFilter().fit(again)
    assert model.groups_ == []
    assert "menu0" in write_text(again[1], model.transform(again[1]))


def test_pagelets_of_one_page_count_when_asked() -> None:
    twice = page(f"<html><body><div>{MENU}</div><p>text</p><div>{MENU}</div></body></html>")
    assert "menu0" in write_text(twice, TemplateFilter().fit([twice]).transform(twice))
    literal = TemplateFilter(count="pagelets").fit([twice])
    assert write_text(twice, literal.transform(twice)).split() == ["text"]


def test_small_changes_leave_the_shingle() -> None:
    words = hashes_of([f"w{i}" for i in range(200)])
    changed = np.concatenate((words[:190], hashes_of(["x"]), words[191:]))
    both = np.concatenate((words, changed))
    group = np.repeat([0, 1], 200)
    assert len(set(shingles(both, group, 2, window=10, exact=False).tolist())) == 1
    assert len(set(shingles(both, group, 2, window=10, exact=True).tolist())) == 2


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(UsageError, match="k is 0"):
        TemplateFilter(k=0).fit([example()])


def plain_pagelets(snapshot: Snapshot, k: int) -> list[int]:
    """Read off the algorithm: a queue, from body."""

    def links(node: int) -> int:
        return sum(snapshot.tag_name(i) == "a" for i in range(node, int(snapshot.end[node])))

    body = next(i for i in range(len(snapshot)) if snapshot.tag_name(i) == "body")
    queue, found = [body], []
    while queue:
        node = queue.pop(0)
        children = [
            i
            for i in range(node + 1, int(snapshot.end[node]))
            if snapshot.parent[i] == node and snapshot.kind[i] == Kind.ELEMENT
        ]
        if any(links(child) >= k for child in children):
            queue += children
        else:
            found.append(node)
    return sorted(found)


def trees(depth: int) -> st.SearchStrategy[str]:
    leaf = st.sampled_from(["<a href=/>a</a>", "text", "<p>b c</p>", "<a href=/b>d</a>"])
    if not depth:
        return leaf
    inner = st.lists(trees(depth - 1), max_size=4).map("".join)
    return st.one_of(leaf, st.builds("<div>{}</div>".format, inner))


@given(trees(4), st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_pagelets_agree_with_their_plain_twin(body: str, k: int) -> None:
    snapshot = page(f"<html><body>{body}</body></html>")
    batch = Batch.of([snapshot])
    found = pagelets(batch, visible_nodes(batch), k=k, window=10, exact=False)
    assert found.node.tolist() == plain_pagelets(snapshot, k)


@pytest.mark.parametrize("detection", ["local", "global"])
def test_order_and_grouping_of_pages_change_nothing(detection: str) -> None:
    pages = [footed(n, *([n + 1] if n % 2 else [])) for n in range(6)] + [footed(1, 2), footed(9)]
    whole = TemplateFilter(detection=detection).fit(pages)  # type: ignore[arg-type]
    parts = [TemplateFilter(detection=detection).fit(pages[a::3]) for a in (2, 0, 1)]  # type: ignore[arg-type]
    merged = parts[0].merge(parts[1]).merge(parts[2])
    for name in ("kept", "pagelets", "addresses", "links"):
        first, second = getattr(whole.counts_, name), getattr(merged.counts_, name)
        assert (first is None) == (second is None)
        if first is not None:
            assert first.key.tolist() == second.key.tolist()
            assert {n: c.tolist() for n, c in first.fixed.items()} == {
                n: c.tolist() for n, c in second.fixed.items()
            }
    assert whole.learned == merged.learned == 8
    assert whole.groups_ == merged.groups_
