"""Lists of links: navigation where a site shows them beside other text page after page, content elsewhere."""

from collections import Counter, defaultdict
from pathlib import Path

import msgspec
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.model_file import load_model, save_model
from domsieve.analysis.trees._alignment import AlignedPages
from domsieve.analysis.trees._importance import LinkLists, navigation
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.writers.text import write_text
from domsieve.snapshot.page import Snapshot
from tests.analysis.pages import page

SHARE = 0.5


def page_of(main: str, number: int) -> Snapshot:
    """Return a page with a menu, related articles that vary, and a footer around its main part."""
    related = "".join(f'<li><a href="/r{number}{k}">Rumour r{number}x{k} retold</a></li>' for k in range(4))
    return page(
        '<html><body><nav><ul><li><a href="/">Home</a></li><li><a href="/all">Everything</a></li></ul></nav>'
        f"<main>{main}</main><aside><h2>See more</h2><ul>{related}</ul></aside>"
        "<footer><p>All rights reserved</p></footer></body></html>"
    )


def article(number: int) -> str:
    words = " ".join(f"word{number}x{k}" for k in range(40))
    return f"<h1>Title {number}</h1><p>{words}</p><p>More on n{number} by m{number}</p>"


def articles(count: int = 14) -> list[Snapshot]:
    return [page_of(article(number), number) for number in range(count)]


def text_of(model: SiteStyleTree, snapshot: Snapshot) -> str:
    return write_text(snapshot, model.transform(snapshot))


def index(number: int) -> Snapshot:
    links = "".join(f'<li><a href="/i{number}{k}">Chapter c{number}x{k} begins</a></li>' for k in range(20))
    return page_of(f'<h1>Part {number}</h1><ul class="index">{links}</ul>', 100 + number)


def listing(number: int) -> Snapshot:
    teasers = "".join(
        f'<li><img src="/{number}{k}.png"><div><h2><a href="/t{number}{k}">Story s{number}x{k} and what the town '
        f"made of it once the rain had gone</a></h2><p>In which a{number}x{k} of the town meets b{number}x{k} in the "
        f"rain and both of them go away to c{number}x{k} by the train to d{number}x{k}</p></div></li>"
        for k in range(6)
    )
    return page_of(f'<h1>List {number}</h1><ul class="entries">{teasers}</ul>', 200 + number)


def test_links_of_index_pages_are_content() -> None:
    pages = [*articles(), index(0), index(1)]
    text = text_of(SiteStyleTree().fit(pages), pages[-1])
    assert all(f"Chapter c1x{k} begins" in text for k in range(20))
    for noise in ("Home", "Rumour", "See more", "All rights"):
        assert noise not in text
    assert "Chapter" not in text_of(SiteStyleTree(list_share=0.0).fit(pages), pages[-1])


def test_a_list_in_a_box_that_code_has_too_is_judged_by_the_pages_that_have_the_list() -> None:
    def boxed(number: int) -> Snapshot:
        return page_of(f"<div>{article(number)}<div><pre>code{number}</pre></div></div>", number)

    def contents(number: int) -> Snapshot:
        links = "".join(
            f'<li><a href="/i{number}{k}">Chapter c{number}x{k} begins</a></li>' for k in range(20)
        )
        return page_of(f"<div><h1>Part {number}</h1><div><ul>{links}</ul></div></div>", 100 + number)

    pages = [*(boxed(number) for number in range(14)), contents(0), contents(1)]
    text = text_of(SiteStyleTree().fit(pages), pages[-1])
    assert all(f"Chapter c1x{k} begins" in text for k in range(20))
    assert "Rumour" not in text


def test_an_index_that_was_not_learned_is_content() -> None:
    model = SiteStyleTree().fit(articles())
    text = text_of(model, index(7))
    assert "Chapter c7x3 begins" in text
    assert "Rumour" not in text


def test_titles_go_with_their_teasers() -> None:
    pages = [*articles(), listing(0), listing(1)]
    text = text_of(SiteStyleTree().fit(pages), pages[-1])
    for k in range(6):
        assert f"Story s1x{k}" in text
        assert f"a1x{k} of the town" in text
    assert "Rumour" not in text
    before = text_of(SiteStyleTree(list_share=0.0).fit(pages), pages[-1])
    assert "a1x2 of the town" in before
    assert "Story" not in before


def test_teasers_beside_every_article_keep_no_titles() -> None:
    pages = []
    for number in range(16):
        teasers = "".join(
            f'<div><h3><a href="/t{number}{k}">Story s{number}x{k}</a></h3><p>All of it, today</p></div>'
            for k in range(4)
        )
        pages.append(page_of(f"{article(number)}<section>{teasers}</section>", number))
    text = text_of(SiteStyleTree().fit(pages), pages[5])
    assert "word5x3" in text
    assert "Story" not in text


def test_a_rare_list_beside_a_main_text_is_navigation() -> None:
    links = "".join(f'<li><a href="/p{k}">Turn to t{k}</a></li>' for k in range(5))
    pages = [*articles(), page_of(f'{article(90)}<div class="pager"><ul>{links}</ul></div>', 90)]
    text = text_of(SiteStyleTree().fit(pages), pages[-1])
    assert "word90x3" in text
    assert "Turn to" not in text


def test_lists_in_elements_of_a_page_alone_are_judged_within_these() -> None:
    pages = [
        page_of(
            f'<section class="post-{number}">{article(number)}<ul class="turn">'
            f'<li><a href="/b{number}">Older o{number}</a></li><li><a href="/a{number}">Newer n{number}</a></li>'
            "</ul></section>",
            number,
        )
        for number in range(14)
    ]
    text = text_of(SiteStyleTree().fit(pages), pages[3])
    assert "word3x3" in text
    assert "Older" not in text


def test_the_verdict_says_which_links_are_navigation() -> None:
    pages = [*articles(), index(0), index(1)]
    verdict = SiteStyleTree().fit(pages).transform(pages[-1])
    told = {
        pages[-1].text_of(node): verdict.numbers["navigation"][node]
        for node in range(len(pages[-1]))
        if pages[-1].text[node] >= 0
    }
    assert told["Everything"] == 1
    assert told["Rumour r101x0 retold"] == 1
    assert told["Chapter c1x0 begins"] == 0


def test_a_model_of_the_version_before_is_read(tmp_path: Path) -> None:
    pages = [*articles(), index(0), index(1)]
    model = SiteStyleTree().fit(pages)
    save_model(model, tmp_path / "m")
    content = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress((tmp_path / "m").read_bytes()))
    del content["parameters"]["list_share"]
    content["version"] = 2
    (tmp_path / "m").write_bytes(zstandard.ZstdCompressor().compress(msgspec.msgpack.encode(content)))
    old = load_model(tmp_path / "m")
    assert old.get_params() == model.get_params()
    assert old.transform(pages[-1]).kept.tobytes() == model.transform(pages[-1]).kept.tobytes()


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_navigation_agrees_with_the_plain_walk(data: st.DataObject) -> None:
    bodies = data.draw(st.lists(_bodies(3), min_size=2, max_size=5))
    pages = [page(f"<html><body>{body}</body></html>") for body in bodies]
    model = SiteStyleTree(style="html").fit(pages[:-1])
    laid = model._read(Batch.of(pages), None)
    row = model.tree_.elements.find(laid.paths.path)
    found = navigation(laid, LinkLists.of(model.tree_, SHARE), row.clip(0), row >= 0)
    assert found.tolist() == _plain(laid, len(pages) - 1)


def _bodies(depth: int) -> st.SearchStrategy[str]:
    leaf = st.sampled_from(
        [
            "<p>a b c</p>",
            "<p><a href=x>a b</a></p>",
            "<h2><a href=x>a</a></h2>",
            "<h2>t</h2>",
            "<a href=y><h3>u</h3></a>",
        ]
    )
    if not depth:
        return leaf
    inner = st.lists(_bodies(depth - 1), min_size=1, max_size=4).map("".join)
    return st.one_of(leaf, inner.map("<div>{}</div>".format), inner.map("<ul>{}</ul>".format))


def _plain(laid: AlignedPages, learned: int) -> list[bool]:
    """Return the answer for every node, said of one node after another; the last page was not learned."""
    batch, forest, path = laid.batch, laid.forest, laid.paths.path.tolist()
    parent, nodes = forest.parent.tolist(), range(len(path))
    leaf, words, linked = forest.leaf, laid.texts.word_count.tolist(), laid.texts.link_word_count.tolist()

    def around(node: int) -> list[int]:
        return [node] if parent[node] < 0 else [node, *around(parent[node])]

    def heading(node: int) -> bool:
        start = int(forest.node[node])
        names = batch.tags.take(batch.tag[start : int(batch.end[start])].tolist())
        return any(name in {"h1", "h2", "h3"} for name in names)

    here: dict[int, Counter[str]] = defaultdict(Counter)
    site: dict[int, Counter[str]] = defaultdict(Counter)
    shown: dict[int, set[int]] = defaultdict(set)
    inner: dict[int, set[int]] = defaultdict(set)
    titles = {n for n in nodes if leaf[n] and words[n] and words[n] == linked[n] and heading(n)}
    for node in nodes:
        known = forest.page[node] < learned
        if known:
            shown[path[node]].add(int(forest.page[node]))
            if parent[node] >= 0:
                inner[path[parent[node]]].add(path[node])
        if leaf[node]:
            for above in around(node):
                here[above].update(words=words[node], linked=linked[node], titles=node in titles)
                if known:
                    site[path[above]].update(words=words[node], linked=linked[node])

    def mostly(counts: Counter[str]) -> bool:
        return counts["linked"] > counts["words"] / 2

    def listed(node: int) -> bool:
        return mostly(site[path[node]] if path[node] in shown else here[node])

    def rare(node: int) -> bool:
        above = parent[node]
        if above < 0:
            return False
        if path[node] not in shown:
            return path[above] in shown
        return held(path[node]) < SHARE * len(shown[path[above]])

    def held(place: int) -> int:
        for child in inner[place]:
            if site[child]["linked"] >= max(0.9 * site[place]["linked"], 1):
                return held(child)
        return len(shown[place])

    def links(node: int) -> bool:
        above = parent[node]
        if above < 0:
            return True
        return links(above) if listed(above) else not (rare(node) and mostly(here[above]))

    def teaser(node: int) -> bool:
        return (
            parent[node] >= 0
            and here[node]["titles"] == 1 < here[parent[node]]["titles"]
            and not mostly(here[node])
        )

    rows = Counter((parent[n], int(batch.tag[forest.node[n]])) for n in nodes if teaser(n))

    def in_row(node: int) -> bool:
        return any(teaser(n) and rows[parent[n], int(batch.tag[forest.node[n]])] > 1 for n in around(node))

    return [links(n) and not (n in titles and in_row(n) and any(rare(a) for a in around(n))) for n in nodes]
