"""Errors of methods: kinds of blocks, choices that know the truth, and the account of what is lost and leaked."""

import os
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.verdict import Verdict
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from experiments.corpora.selecting import select_inside
from experiments.corpora.whole_sites import LabelledPage
from experiments.error_diary.block_kinds import KINDS, kinds_of
from experiments.error_diary.page_errors import Account, JudgedPage
from experiments.experiments.errors import ERRORS, measure_pages, measure_sites, tables
from experiments.measures.oracles import WordBlocks, best_choice, best_elements
from experiments.measures.word_scores import count_words
from tests.experiments.test_wcxb import write_page

PAGE = """
<body class="has-sidebar">
 <header><a href=/>The name</a></header>
 <div class="main-menu"><ul><li><a href=/1>one</a></li></ul></div>
 <div id=content>
  <h1>A title here</h1><span class=byline>by Somebody</span>
  <article><header><p>first words of it</p></header><h2>Heading</h2>
   <p>much <b>more</b> text of the article that is long enough to be most of the words of the page</p>
   <ul><li>item</li><li><a href=/2>linked item</a></li></ul>
   <table><tr><td>cell</td></tr></table><pre>code()</pre>
   <figure><figcaption>caption</figcaption></figure></article>
  <div class="relatedPosts"><p>read this too</p></div>
  <div class="social-share"><p>tell others</p></div>
 </div>
 <form><label>search</label></form>
 <aside><p>beside</p></aside>
 <div class="cookie-notice"><p>we bake</p></div>
 <div id=page-footer><p>the end</p></div>
</body>
"""


def kind_of(text: str) -> str:
    page = parse_html(PAGE.encode(), url="page")
    blocks = page_blocks(page)
    return str(KINDS[kinds_of(page, blocks)[blocks.text.index(text)]])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The name", "header"),
        ("one", "menu"),
        ("A title here", "title"),
        ("first words of it", "paragraph"),
        ("Heading", "heading"),
        ("item", "list"),
        ("linked item", "link list"),
        ("cell", "table"),
        ("code()", "code"),
        ("caption", "caption"),
        ("read this too", "related"),
        ("tell others", "share"),
        ("search", "form"),
        ("beside", "sidebar"),
        ("we bake", "consent"),
        ("the end", "footer"),
    ],
)
def test_kinds_are_told_by_tags_roles_and_names(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_a_wrapper_is_no_furniture_whatever_its_name() -> None:
    page = parse_html(
        b"<div class=sidebar-layout><p>nearly all of the words</p></div><p>rest</p>", url="page"
    )
    assert [KINDS[kind] for kind in kinds_of(page, page_blocks(page))] == ["paragraph", "paragraph"]


def word_blocks(texts: list[str], truth: str) -> WordBlocks:
    return WordBlocks.of([count_words(text) for text in texts], count_words(truth))


TEXTS = ["a b c d", "a b", "x y z", "c d x", "e", "y e f", "a a b q r s"]
TRUTHS = ["a b c d", "a b e f", "x y z e", "a a b b c", "q", "nothing of it", "a b c d e f x y z"]


@pytest.mark.parametrize("truth", TRUTHS)
def test_f1_is_that_of_the_multisets(truth: str) -> None:
    blocks = word_blocks(TEXTS, truth)
    chosen = np.array([True, False] * 3 + [True])
    words = sum(
        (count_words(text) for text, is_in in zip(TEXTS, chosen, strict=True) if is_in), Counter[str]()
    )
    overlap = (words & count_words(truth)).total()
    assert blocks.f1(chosen) == pytest.approx(2 * overlap / (words.total() + len(truth.split())))


@pytest.mark.parametrize("truth", TRUTHS)
def test_the_best_choice_is_near_the_best_of_all_choices(truth: str) -> None:
    blocks = word_blocks(TEXTS, truth)
    every = np.ones(len(TEXTS), np.bool_)
    best = max(blocks.f1(np.array(choice)) for choice in product((False, True), repeat=len(TEXTS)))
    found = blocks.f1(best_choice(blocks, always=~every, perhaps=every))
    assert best - 0.1 <= found <= best + 1e-12


def test_the_best_choice_is_found_where_blocks_do_not_compete() -> None:
    # "g c u v" is right to a quarter: too little while F1 is above a half, which it is.
    texts = ["a b c", "d e x", "g c u v", "y z"]
    blocks = word_blocks(texts, "a b c d e g")
    every = np.ones(4, np.bool_)
    chosen = best_choice(blocks, always=~every, perhaps=every)
    assert chosen.tolist() == [True, True, False, False]
    best = max(blocks.f1(np.array(choice)) for choice in product((False, True), repeat=4))
    assert blocks.f1(chosen) == best


def test_a_choice_holds_what_is_fixed_and_nothing_that_is_not_offered() -> None:
    blocks = word_blocks(["a", "b", "c", "z"], "a b c")
    always, perhaps = np.array([False, False, False, True]), np.array([True, False, False, False])
    assert best_choice(blocks, always=always, perhaps=perhaps).tolist() == [True, False, False, True]


def test_nothing_is_the_best_choice_for_an_empty_truth() -> None:
    blocks = word_blocks(["a", "b"], "")
    every = np.ones(2, np.bool_)
    chosen = best_choice(blocks, always=~every, perhaps=every)
    assert not chosen.any()
    assert blocks.f1(chosen) == 1


def test_elements_are_judged_by_the_words_in_them() -> None:
    blocks = word_blocks(["m", "a b", "c d e f g h i j", "n o"], "a b c d e f g h i j")
    scores = best_elements(blocks, np.array([0, 1, 2, 2]), np.array([4, 3, 3, 4]))
    assert scores.best == 1
    assert scores.holder == 1
    scores = best_elements(blocks, np.array([0, 2]), np.array([4, 3]))
    assert scores.best == pytest.approx(2 * 8 / (8 + 10))
    assert scores.holder == pytest.approx(2 * 10 / (13 + 10))


def labelled(*, selectors: bool) -> LabelledPage:
    source = (
        b"<body><nav>menu of words</nav><div id=m><p>one two three</p><ul><li>four</li><li>five six</li></ul>"
        b"</div><footer>imprint</footer></body>"
    )
    page = parse_html(source, url="page")
    main = select_inside(page, ["#m"])
    nowhere = np.zeros(len(page), np.bool_)
    return LabelledPage(
        "page", source, page, "one two three\nfour\nfive six", main if selectors else None, nowhere, None, ""
    )


def keeping(page: Snapshot, *selectors: str) -> Verdict:
    kept = select_inside(page, selectors)
    return Verdict("some", kept, kept.astype(np.float32), kept.astype(np.uint8), ("dropped", "kept"))


@pytest.mark.parametrize("selectors", [True, False])
def test_lost_and_leaked_words_are_counted_by_kind(selectors: bool) -> None:
    page = JudgedPage.of(labelled(selectors=selectors))
    assert page.content.tolist() == [False, True, True, True, False]
    kept = page.kept(keeping(page.page.snapshot, "nav", "p"))
    account = Account()
    page.account(kept, account)
    assert account.lost == {"list": 3}
    assert account.leaked == {"menu": 3}
    assert account.f == pytest.approx(2 * 3 / (6 + 6))
    assert account.restored["list"] == account.restored["all"] == pytest.approx(2 * 6 / (9 + 6))
    assert account.removed["menu"] == pytest.approx(2 * 3 / (3 + 6))
    assert account.removed["footer"] == account.f
    assert page.main_error(kept) == (3, 3, "leaked menu")


def test_oracles_lie_in_order() -> None:
    page = JudgedPage.of(labelled(selectors=False))
    kept = {
        "none": page.kept(NoCleaning().transform(page.page.snapshot)),
        "one": page.kept(keeping(page.page.snapshot, "nav", "p")),
        "two": page.kept(keeping(page.page.snapshot, "nav", "ul")),
    }
    peer = page.like("one two three four")
    assert peer.tolist() == [False, True, True, False, False]
    found = page.choices(kept, peer)
    assert found["all"] == pytest.approx(2 * 6 / (10 + 6))
    assert found["by block"] == pytest.approx(2 * 6 / (9 + 6))
    assert found["by block, peer"] == found["blocks"] == found["element"] == found["holder"] == 1


def test_single_pages_give_rows_by_every_rule(tmp_path: Path) -> None:
    write_page(tmp_path, "0001", main_content="A post.")
    rows = measure_pages(tmp_path, tmp_path / "worst", part="others")
    [page] = [row for row in rows if "page" in row]
    assert page["rules"]["auto, no furniture"] >= 0
    assert not measure_pages(tmp_path, tmp_path / "worst", part="articles")


@pytest.mark.data
def test_sites_give_rows_tables_and_reports(tmp_path: Path) -> None:
    data = os.environ.get("DOMSIEVE_DATA")
    if not data:
        pytest.skip("DOMSIEVE_DATA does not name the folder of the corpora")
    rows = measure_sites("news", [Path(data) / "sites" / "news-nymag.zip"], tmp_path)
    pages = [row for row in rows if "page" in row]
    assert len(pages) == 40
    for row in pages:
        assert row["choices"]["blocks"] + 0.02 > row["choices"]["by block, peer"]
        assert row["choices"]["blocks"] > max(row["rules"].values()) - 0.02
    assert len(list((tmp_path / "news").glob("*.html"))) == 10
    assert any(table.title.startswith("What a perfect cure") for table in tables(rows))
    assert ERRORS.name == "errors"
