"""The report's data: blocks, what methods say of them, where they recur, the outline of the tree, and the file."""

import base64
import hashlib
import json
import re

import numpy as np

from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.columns.hiding import Hiding
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.report.document import ReportPart, Tile, write_report
from domsieve.analysis.report.view import (
    DROPPED,
    KEPT,
    LONGEST_TEXT,
    PARTLY,
    Recurrences,
    judge,
    page_view,
    tree_view,
)
from domsieve.analysis.trees.outline import Outliner
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from domsieve.types import BLOCK_KINDS
from tests.command import page as page_source

SCRIPTS = re.compile(r'<script type="application/json" id="([^"]*)">(.*?)</script>', re.DOTALL)


def parsed(source: str) -> Snapshot:
    return parse_html(source.encode(), url="http://127.0.0.1/")


def site(count: int = 6) -> list[Snapshot]:
    return [parsed(page_source(number)) for number in range(1, count + 1)]


def written(*parts: ReportPart, index: dict[str, object] | None = None) -> str:
    return b"".join(write_report(parts, lambda: index or {})).decode()


def test_blocks_are_lines_between_the_borders_of_boxes() -> None:
    blocks = page_blocks(
        parsed("<title>t</title><p>One <b>two</b> three<br>four</p><table><tr><td>a<td>b</table>")
    )
    assert blocks.text == ["One two three\nfour", "a", "b"]
    assert blocks.words.tolist() == [4, 1, 1]
    assert blocks.path[0].endswith("body/p")
    assert (blocks.end > blocks.start).all()


def test_a_block_ends_where_text_is_hidden() -> None:
    blocks = page_blocks(parsed("<p>Seen <span hidden>planted words</span> again</p>"))
    assert blocks.text == ["Seen", "planted words", "again"]
    assert blocks.hidden.tolist() == [Hiding.NONE, Hiding.NO_BOX, Hiding.NONE]


def test_a_page_without_words_has_no_blocks() -> None:
    for source in ("", "<p> </p>", "<script>words</script>"):
        page = parsed(source)
        blocks = page_blocks(page)
        assert len(blocks) == 0
        view = page_view(
            page,
            blocks,
            {"none": NoCleaning().transform(page)},
            records={},
            recurrences=Recurrences(),
            number=0,
            places=None,
        )
        assert (view.text, view.box, view.methods["none"].words) == ([], [], (0, 0))


def test_a_block_is_kept_partly_when_some_of_its_texts_are() -> None:
    page = parsed("<p>One <b>two</b></p><p>three</p>")
    blocks, verdict = page_blocks(page), NoCleaning().transform(page)
    assert judge(blocks, verdict).state.tolist() == [KEPT, KEPT]
    kept = verdict.kept.copy()
    kept[blocks.node[0]] = kept[blocks.node[2]] = False
    verdict.kept.flags.writeable = True
    verdict.kept[:] = kept
    assert judge(blocks, verdict).state.tolist() == [PARTLY, DROPPED]


def test_the_view_says_what_kind_each_block_is_of() -> None:
    page = parsed("<h1>Rain</h1><p>word</p><table><tr><th>Year</th></tr><tr><td>1850</td></tr></table>")
    verdicts = {"none": NoCleaning().transform(page)}
    view = page_view(
        page, page_blocks(page), verdicts, records={}, recurrences=Recurrences(), number=0, places=None
    )
    kinds = dict(zip(view.text, view.kind, strict=True))
    assert {text: ("", *BLOCK_KINDS)[number] for text, number in kinds.items()} == {
        "Rain": "",
        "word": "",
        "Year": "tables",
        "1850": "tables",
    }


def test_the_view_has_the_product_of_the_page_with_the_blocks_of_its_values() -> None:
    source = (
        '<meta property="og:type" content="product"><meta property="product:brand" content="Brunel">'
        "<h1>Green Kettle</h1><p>Steel.</p><p class=price>£24.50</p>"
    )
    page = parsed(source)
    view = page_view(
        page, page_blocks(page), {}, records={}, recurrences=Recurrences(), number=0, places=None
    )
    values = {value.name: value for value in view.values}
    assert view.text[values["price"].block] == "£24.50"
    assert (values["price"].text, values["brand"].block) == ("24.50", -1)
    assert view.url == page.provenance.url


def test_recurring_text_is_found_by_its_words() -> None:
    pages = [page_blocks(parsed(f"<p>About, US</p><p>only {i}{'abc'[i]}</p><p>1 2</p>")) for i in range(3)]
    pages.append(page_blocks(parsed("<p>about us!</p>")))
    seen = Recurrences()
    for number, blocks in enumerate(pages):
        seen.add(number, blocks)
    groups, members = seen.of(pages[1], own=1)
    assert groups == [0, -1, -1], "numbers alone say too little"
    assert members == [(3, [0, 2, 3])]


def test_the_view_says_what_the_methods_say() -> None:
    pages = site()
    model = SiteStyleTree().fit(pages)
    outliner = Outliner(model)
    page, blocks = pages[0], page_blocks(pages[0])
    verdicts = {
        "sst": drop_hidden(page, model.transform(page), hidden="layout"),
        "tps": TagPathFilter().transform(page),
    }
    view = page_view(
        page, blocks, verdicts, records={}, recurrences=Recurrences(), number=0, places=outliner.place(page)
    )
    sst = view.methods["sst"]
    kept = [text for text, state in zip(view.text, sst.state, strict=True) if state == KEPT]
    assert [text.split()[0] for text in kept] == ["Heading", "word1a", "Again"]
    assert set(sst.numbers) == {"importance", "alone", "link_share", "navigation", "pages"}
    assert sst.words[0] + sst.words[1] == sum(view.words)
    tree = tree_view(outliner.outline)
    assert tree.pages == 6
    assert all(tree.label[place] for place in view.tree)
    assert "main" in {tree.label[place].partition(".")[0] for place in view.tree} | set(tree.label)


def test_the_outline_is_a_bounded_tree() -> None:
    model = SiteStyleTree().fit(site())
    whole, cut = Outliner(model).outline, Outliner(model, limit=3).outline
    assert whole.parent[0] == -1
    assert (whole.parent[1:] >= 0).all()
    assert (whole.parent[1:] < np.arange(1, whole.parent.size)).all()
    assert cut.parent.tolist() == whole.parent[:3].tolist()
    for outline in (whole, cut):
        assert outline.parent.size + int(outline.below.sum()) == outline.tree_nodes
        assert ((outline.importance >= 0) & (outline.importance <= 1)).all()


def test_long_texts_are_cut_and_said_to_be() -> None:
    page = parsed("<p>" + "long " * 5000)
    blocks = page_blocks(page)
    view = page_view(page, blocks, {}, records={}, recurrences=Recurrences(), number=0, places=None)
    assert (len(view.text[0]), view.cut) == (LONGEST_TEXT, {0: 24_999})


def test_captured_text_cannot_end_the_data() -> None:
    hostile = "</script><script>ran=1</script> <!--<script> {{script}} {{data}} & \u2028\u2029\u202e"
    text = written(ReportPart(name="a", data=[hostile]), index={"labels": [hostile]})
    data = dict(SCRIPTS.findall(text))
    assert set(data) == {"part-a", "index"}
    assert json.loads(data["part-a"])["view"] == [hostile]
    assert json.loads(data["index"])["labels"] == [hostile]
    assert "ran=1</" not in text
    assert text.count("<script>") == 1


def test_the_policy_knows_style_and_script_by_their_hashes() -> None:
    text = written()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy
    assert policy[1].startswith("default-src 'none'; img-src data:; ")
    for tag in ("style", "script"):
        inline = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        assert inline
        digest = base64.b64encode(hashlib.sha256(inline[1].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]
    assert "unsafe" not in policy[1]


def test_pictures_are_kept_when_they_are_pictures() -> None:
    tiles = [Tile(0, 10, b"RIFF...."), Tile(10, 5, b"<svg onload=ran=1>")]
    text = written(ReportPart(name="a", data=None, tiles=tiles))
    assert json.loads(dict(SCRIPTS.findall(text))["part-a"])["tiles"] == [[0, 10, "image/webp"], [10, 5, ""]]
    assert "onload" not in text


def test_equal_data_give_equal_bytes() -> None:
    assert written(ReportPart(name="a", data={"x": 1})) == written(ReportPart(name="a", data={"x": 1}))
