"""Signs of pages that need a browser, chains that tell elements apart, and what renderings of a site prove."""

from dataclasses import replace

import msgspec
import numpy as np
import pytest

from domsieve.analysis.browser_need.hiding_rules import UNKNOWN_SHEETS, HidingRules
from domsieve.analysis.browser_need.signs import signs_of
from domsieve.analysis.browser_need.site_evidence import (
    COMPARED,
    LONGEST_RUN,
    MOST_IN_VAIN,
    MOST_IN_VAIN_OF_SITE,
    Fetched,
    Lesson,
    SiteEvidence,
    is_audited,
    url_rank,
)
from domsieve.analysis.browser_need.source_parts import scripts_of, source_parts
from domsieve.analysis.browser_need.style_chains import (
    UNKNOWABLE,
    SeenChains,
    seen_chains,
    style_chains,
    unseen_texts,
    without_texts,
)
from domsieve.analysis.browser_need.sufficiency import compare_source
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.compare.comparison import Outcome
from domsieve.analysis.compare.raw_visibility import WhenRendered, when_rendered
from domsieve.analysis.registry import page_cleaner
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.postprocess import without_extras

PARAGRAPH = (
    "<p>"
    + "The hive was weighed in the morning, and again at night, by the keeper of the bees. " * 4
    + "</p>"
)
ARTICLE = "<title>Bees</title><h1>Bees</h1>" + PARAGRAPH * 8


def page_of(html: str) -> Snapshot:
    return parse_html(html.encode(), url="http://a.example/docs/bees")


def signs(html: str) -> tuple[str, ...]:
    page = page_of(html)
    verdict = without_extras(page, page_cleaner("auto")(page), hidden="layout")
    return signs_of(page, source_parts(html.encode()), verdict)


class TestSigns:
    def test_an_article_has_none(self) -> None:
        assert signs(ARTICLE) == ()

    @pytest.mark.parametrize(
        ("html", "sign"),
        [
            ("<p>Few words.</p>", "its source shows 2 words"),
            ("<script>draw()</script><p>" + "word " * 50 + "</p>", "its source shows 50 words"),
            (
                "<p>" + "word " * 30 + "</p><noscript>" + "much more of it " * 20 + "</noscript>",
                "without scripts",
            ),
            ("<p>Please enable JavaScript to go on.</p>" + "<p>other</p>" * 30, "enable JavaScript"),
            ('<nav>Home</nav><div id="root"></div>' + "<p>other</p>" * 30, "is empty"),
            ("<div hidden>" + PARAGRAPH * 9 + "</div>" + PARAGRAPH, "is hidden"),
            (ARTICLE + "<script>" + "x" * 3_000_000 + "</script>", "mostly script"),
            ("<p class=skeleton-line>a</p>" * 8 + PARAGRAPH, "placeholders"),
            ("<meta http-equiv=Refresh content='0; URL=/next'>" + ARTICLE, "redirects"),
            ("<frameset><frame src=a></frameset>", "frames"),
        ],
    )
    def test_each_is_found(self, html: str, sign: str) -> None:
        assert any(sign in one for one in signs(html)), signs(html)

    @pytest.mark.parametrize(
        "html",
        [
            "<meta http-equiv=refresh content=300>" + ARTICLE,
            "<meta http-equiv=refresh content='900;url=/again'>" + ARTICLE,
            "<noscript><meta http-equiv=refresh content='0;url=/plain'></noscript>" + ARTICLE,
            "<noscript>Please enable JavaScript.</noscript>" + ARTICLE * 4,
        ],
    )
    def test_similar_pages_have_none(self, html: str) -> None:
        assert signs(html) == ()


def test_the_parts_of_a_source() -> None:
    scripts = b"<script src=x></script><script>12345</script>"
    html = b"<STYLE>a{}</style>" + scripts + b"<noscript><p>one two</p></noscript><style>b"
    parts = source_parts(html)
    assert parts.styles == (b"a{}", b"b")
    assert (parts.scripts, parts.script_bytes, parts.noscript_words) == (2, 5, 2)


def scripts(html: str) -> frozenset[int]:
    return scripts_of(page_of(html), source_parts(html.encode()))


class TestScripts:
    CODE = "<script>hide('a', 1, \"it's\")</script>"

    @pytest.mark.parametrize(
        "html",
        [
            "<script>hide('b', 22, \"its\")</script>",
            CODE + "<script> \n</script>",
            CODE + '<script type=application/json>[{"a": [1, 2]}]</script>',
            CODE + "<script type=text/html><b>hide()</b></script>",
            CODE + "<script src=/more.js></script><script src=http://a.example/b.js></script>",
            CODE + "<img src=http://b.example/b.png>",
        ],
    )
    def test_data_and_files_of_the_site_do_not_count(self, html: str) -> None:
        assert scripts(html) == scripts(self.CODE) != frozenset()

    @pytest.mark.parametrize(
        "html",
        [
            "<script>show('a', 1)</script>",
            "<script>{hide()}</script>",
            "<script><!-- hide()\n</script>",
            "<script src=http://b.example/b.js></script>",
            "<script src=//b.example/b.js></script>",
            "<script src='data:text/javascript,hide()'></script>",
            "<base href=http://b.example/><script src=b.js></script>",
            "<img src=a.png onerror=hide()>",
        ],
    )
    def test_code_and_other_hosts_do(self, html: str) -> None:
        assert len(scripts(html)) == 1
        assert not scripts(html) <= scripts(self.CODE)


def label_of(html: str, css: str, text: str) -> str | None:
    """Return what the rules of a style sheet say about the element around a text; None if nothing."""
    page = page_of(html)
    labels, _, _ = HidingRules.of([css.encode()]).labels(page)
    node = next(node for node in range(len(page)) if page.text_of(node) == text)
    return labels.get(int(page.parent[node]))


class TestHidingRules:
    HTML = "<ul><li>a</li><li class=x>b</li><li id=y data-z='1 2'>c</li></ul><p>d</p>"

    @pytest.mark.parametrize(
        ("css", "text"),
        [
            (".x { display: none }", "b"),
            ("#y{visibility:hidden!important}", "c"),
            ("[data-z~='2'] { opacity: 0 }", "c"),
            ("li:nth-child(2) { display: none }", "b"),
            ("li + li:last-child { display: none }", "c"),
            (".x ~ li { height: 0 }", "c"),
            ("ul ~ p { text-indent: -999px }", "d"),
            ("@media screen { ul { .x { display: none } } }", "b"),
            (".a::before { content: '}' } .x { clip: rect(0,0,0,0) }", "b"),
            ("/* .x{} */ .x, .other { position: absolute }", "b"),
            (".x { color: white }", "b"),
            ("p:not(.x, .other) { filter: blur(9px) }", "d"),
            (".x { font-size: 2px }", "b"),
            (".x { font-size: .1em }", "b"),
            (".x { font: 300 0/0 serif }", "b"),
            (".x { letter-spacing: -1em }", "b"),
            (".x { letter-spacing: 9999px }", "b"),
            (".x { mix-blend-mode: lighten }", "b"),
            (".x { zoom: .1 }", "b"),
            (".x { font-size: 900px }", "b"),
            (".x { font-family: 'Wingdings 2', serif }", "b"),
            (".x { font: 12px/2 Webdings, serif }", "b"),
            (".x { text-emphasis: 'x' #fff }", "b"),
            (".x { -webkit-background-clip: text }", "b"),
            (".x { backface-visibility: hidden }", "b"),
            (".x { text-decoration: line-through #fff 3em }", "b"),
            (".x { text-underline-offset: -8px }", "b"),
            (".x { text-underline-offset: 1em }", "b"),
            (".x { -webkit-text-security: disc }", "b"),
            (".x::first-line { color: #fff }", "b"),
            (".x::first-letter { font-size: 0 }", "b"),
            (".x:after { content: ''; position: absolute }", "b"),
            ("li.x::before { content: ''; margin: 0 -9em 0 0 }", "b"),
        ],
    )
    def test_rules_that_may_hide_are_found(self, css: str, text: str) -> None:
        assert label_of(self.HTML, css, text)
        assert sum(bool(label_of(self.HTML, css, one)) for one in "abcd") == 1

    @pytest.mark.parametrize(
        "css",
        [
            ".x { margin: 0; color-scheme: dark; display: block }",
            "li { color: blue }",
            ".x { font-family: Arial, Symbol; text-emphasis: none }",
            ".x:hover { display: none }",
            ".x::after { display: none }",
            ".x::before { color: #fff; background: #fff; width: 0 }",
            "li::first-line { color: #fff }",
            ".x { text-decoration: underline 2px; text-underline-offset: .2em }",
            "@media print { .x { display: none } }",
            ".x { height: auto; opacity: 1; transform: none }",
            ".x { font-size: .8rem; letter-spacing: -.02em; mix-blend-mode: normal; zoom: 1 }",
            ".x { font: 700 90%/1 serif; font-size: var(--size); letter-spacing: .1em }",
            "/* .x { display: none }",
            ".other { display: none }",
        ],
    )
    def test_other_rules_do_not_count(self, css: str) -> None:
        assert not any(label_of(self.HTML, css, one) for one in "abcd")

    def test_rules_that_show_again_count_where_another_hides(self) -> None:
        html = "<p class=x>a</p><p class='x y'>b</p><p class=y>c</p>"
        css = ".x { display: none } .y { display: block }"
        a, b, c = (label_of(html, css, one) for one in "abc")
        assert a != b
        assert c is None

    def test_equal_declarations_are_alike(self) -> None:
        html = "<p class=x>a</p><p class=y>b</p>"
        assert label_of(html, ".x{color:red} .y{color:red}", "a") == label_of(
            html, ".x{color:red} .y{color:red}", "b"
        )

    def test_colours_are_alike_if_they_are_equally_light(self) -> None:
        html = "<p class=x>a</p><p class=y>b</p><p class=z>c</p>"
        a, b, c = (label_of(html, ".x{color:#111} .y{color:#003300} .z{color:#fff}", one) for one in "abc")
        assert a == b != c

    def test_selectors_that_are_not_supported_make_elements_unclear(self) -> None:
        page = page_of("<p class=x>a</p><p>b</p>")
        _, _, unclear = HidingRules.of([b".x:lang(de) { display: none }"]).labels(page)
        assert [page.attributes(int(node)) for node in np.flatnonzero(unclear)] == [{"class": "x"}]

    def test_any_bytes_are_read(self) -> None:
        chance = np.random.default_rng(3)
        page = page_of(self.HTML)
        signs = list(b".#[]{}()'\":;,>+~\\/* anot:has-\xff\x02display0")
        for size in range(200):
            HidingRules.of([bytes(chance.choice(signs, size).tolist())]).labels(page)


def chains(html: str, css: str) -> list[int]:
    """Return the chain of each text."""
    page = page_of(html)
    chain = style_chains(page, HidingRules.of([css.encode()])).chain
    return [int(number) for number in chain[page_texts(page).node]]


class TestChains:
    def test_only_what_may_hide_counts(self) -> None:
        html = "<p>a</p><p class=y>b</p><div><i>c</i></div><p class=z>d</p>"
        a, b, c, d = chains(html, ".z{display:none}.y{margin:0}")
        assert a == b == c != d

    def test_attributes_inline_styles_and_some_tags_count(self) -> None:
        html = "<p>a</p><p style='top:0'>c</p><p hidden>d</p><details>e</details><details open>f</details>"
        assert len({*chains(html, "")}) == 5

    def test_ancestors_count(self) -> None:
        a, b = chains("<div class=z><p>a</p></div><div><p>b</p></div>", ".z{display:none}")
        assert a != b

    def test_nothing_is_known_where_a_rule_is_not_supported(self) -> None:
        a, b = chains("<div class=z><p>a</p></div><p>b</p>", ".z:lang(de){display:none}")
        assert a == UNKNOWABLE != b

    def test_everything_counts_if_a_style_sheet_is_unknown(self) -> None:
        page = page_of("<p class=x>a</p><p class=y>b</p>")
        chain = style_chains(page, UNKNOWN_SHEETS).chain
        assert np.unique(chain[page_texts(page).node]).size == 2

    @pytest.mark.parametrize(
        ("html", "number"),
        [
            ("<div class=over></div>", 1),
            ("<div class=near></div><div class=up></div>", 1),
            ("<div style='position: sticky; top: 0'></div>", 1),
            ("<div style='margin: -3px; width: 9px'></div><i style='margin: -3em'></i>", 1),
            ("<dialog open></dialog><div popover></div>", 2),
            ("<div class=after>a</div><div class=over>b</div><b class=over>c</b>", 2),
            ("<section>a<div class=over></div></section><section><div class=over></div></section>", 2),
        ],
    )
    def test_boxes_that_may_lie_over_text_are_found(self, html: str, number: int) -> None:
        css = (
            ".over { position: absolute } .near { left: -1px } .up { top: -2em }"
            ".after::after { transform: scale(9) }"
        )
        found = style_chains(page_of(html), HidingRules.of([css.encode()])).boxes
        assert len(found) == number

    def test_any_box_may_if_a_style_sheet_is_unknown(self) -> None:
        assert style_chains(page_of("<div class=a></div>"), HidingRules(is_complete=False)).boxes

    def test_only_what_was_seen_visible_is_left(self) -> None:
        page = page_of("<p>one</p><p class=z>two</p><div hidden>three</div>")
        chains = style_chains(page, HidingRules.of([b".z{display:none}"]))
        first = int(chains.chain[page_texts(page).node[0]])
        unseen = unseen_texts(page, chains, SeenChains(visible={first}))
        left = without_texts(page, unseen)
        assert [left.text_of(node) for node in page_texts(page).node.tolist()] == ["one", "", ""]
        assert "two" not in list(left.strings)
        assert [left.attributes(node) for node in range(len(left))] == [
            page.attributes(node) for node in range(len(page))
        ]


def rendered(page: Snapshot, *, hidden: tuple[str, ...] = ()) -> Snapshot:
    """Return a page as if it was rendered, with boxes below each other, except for some texts."""
    n = len(page)
    boxed = np.array([page.text_of(node) not in hidden for node in range(n)])
    style = np.where(boxed, 0, -1).astype(np.int32)
    # High enough for all letters of a text.
    box = np.stack((np.zeros(n), np.arange(n) * 200.0, np.full(n, 800.0), np.full(n, 200.0)), axis=1).astype(
        np.float32
    )
    box[~boxed] = np.nan
    return replace(
        page,
        style=style,
        box=box,
        paint=np.where(boxed, np.arange(n), -1).astype(np.int32),
        style_names=(),
        styles=np.empty((1, 0), np.int32),
        provenance=msgspec.structs.replace(page.provenance, producer="rendered"),
    )


class TestWhenRendered:
    def test_texts_are_shown_or_hidden(self) -> None:
        raw = page_of("<p>one</p><p>two</p><script>three()</script>")
        result = when_rendered(raw, rendered(raw, hidden=("two",)))
        texts = page_texts(raw)
        assert result[texts.node].tolist()[:2] == [WhenRendered.SHOWN, WhenRendered.HIDDEN]
        assert not result[np.setdiff1d(np.arange(len(raw)), texts.node)].any()

    def test_a_text_that_was_rewritten_is_looked_for_nearby(self) -> None:
        raw = page_of("<div id=a><pre>let it be</pre></div><div id=b><p>gone</p></div>")
        drawn = rendered(page_of("<div id=a><pre><b>let</b> <i>it be</i></pre></div><div id=b></div>"))
        result = when_rendered(raw, drawn)
        assert result[page_texts(raw).node].tolist() == [WhenRendered.SHOWN, WhenRendered.GONE]

    def test_copies_of_a_text_are_shown_if_the_page_shows_as_many(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # As on a page that is so long that all words are somewhere.
        monkeypatch.setattr("domsieve.analysis.compare.raw_visibility._MOST_TEXTS", 0)
        raw = page_of("<table>" + "<tr><td>see above" * 3 + "</table>")
        for shown, expected in ((3, WhenRendered.SHOWN), (2, WhenRendered.GONE)):
            result = when_rendered(raw, rendered(page_of("<ul>" + "<li><b>see above</b>" * shown + "</ul>")))
            assert result[page_texts(raw).node].tolist() == [expected] * 3

    def test_nothing_is_known_of_a_bracket_that_is_not_found(self) -> None:
        raw = page_of("<div style=x>(<b>one</b>)</div><p>two</p>")
        chains = style_chains(raw, HidingRules())
        drawn = rendered(page_of("<div style=x><b>one</b></div><p>two</p>"), hidden=("one",))
        seen = seen_chains(raw, chains, when_rendered(raw, drawn))
        _, one, _, two = (int(number) for number in chains.chain[page_texts(raw).node])
        assert ([*seen["visible"]], [*seen["hidden"]]) == ([two], [one])

    def test_chains_are_seen_visible_or_hidden(self) -> None:
        raw = page_of("<p>one</p><p style=x>two</p><div style=y>three</div>")
        chains = style_chains(raw, HidingRules())
        seen = seen_chains(raw, chains, when_rendered(raw, rendered(raw, hidden=("two",))))
        texts = [int(number) for number in chains.chain[page_texts(raw).node]]
        assert {*seen["visible"]} == {texts[0], texts[2]}
        assert {*seen["hidden"]} == {texts[1]}

    def test_a_hidden_bracket_says_nothing_about_words(self) -> None:
        raw = page_of("<p>one</p><p style=x>{</p><p style=y>two</p>")
        chains = style_chains(raw, HidingRules())
        seen = seen_chains(raw, chains, when_rendered(raw, rendered(raw, hidden=("{", "two"))))
        assert [*seen["hidden"]] == [int(chains.chain[page_texts(raw).node[2]])]


def seen_on(html: str, css: str, *, hidden: tuple[str, ...] = ()) -> SeenChains:
    """Return what a rendered page shows."""
    raw = page_of(html)
    chains = style_chains(raw, HidingRules.of([css.encode()]))
    seen = seen_chains(raw, chains, when_rendered(raw, rendered(raw, hidden=hidden)))
    evidence = SiteEvidence.of([msgspec.structs.replace(lesson(0), context="c", **seen)])
    found = evidence.seen("c")
    assert found
    return found


class TestComposedChains:
    CSS = ".a,.b,.c{position:absolute}.a{left:-1px}.b{height:2px}.c{overflow:hidden}"

    def unseen(self, html: str, seen: SeenChains) -> list[str]:
        page = page_of(html)
        chains = style_chains(page, HidingRules.of([self.CSS.encode()]))
        return [page.text_of(int(node)) for node in np.flatnonzero(unseen_texts(page, chains, seen))]

    def test_a_new_chain_of_known_steps_is_visible(self) -> None:
        seen = seen_on(
            "<p class=a>beehive</p><div class=a><p class=b>clover</p></div><p class=b><i class=c>drones</i></p>",
            self.CSS,
        )
        assert self.unseen("<div class=a><p class=b>x<i class=c>y</i></p></div>", seen) == []

    def test_a_known_chain_that_was_also_seen_hidden_is_not(self) -> None:
        seen = seen_on("<p>beehive</p><p>clover</p>", self.CSS, hidden=("clover",))
        assert self.unseen("<p>x</p><div class=a>y</div>", seen) == ["x", "y"]

    def test_that_others_of_its_chain_are_gone_changes_nothing(self) -> None:
        raw = page_of("<p>beehive</p><p>clover</p>")
        chains = style_chains(raw, HidingRules())
        seen = seen_chains(raw, chains, when_rendered(raw, rendered(page_of("<p>beehive</p>"))))
        assert seen["visible"] == seen["hidden"]
        assert not seen["surely_hidden"]

    def test_a_new_step_is_not(self) -> None:
        seen = seen_on("<p class=a>beehive</p><p class=b>clover</p>", self.CSS)
        assert self.unseen("<div class=a>x<p class=b>y</p></div>", seen) == ["y"]

    def test_nor_is_one_that_has_led_to_hidden_text(self) -> None:
        html = (
            "<div class=a><p class=b>beehive</p></div><div class=b><p class=c>clover</p></div>"
            "<p class=c><b class=b><i class=c>drones</i></b></p>"
        )
        assert (
            self.unseen("<div class=a><p class=b><i class=c>x</i></p></div>", seen_on(html, self.CSS)) == []
        )
        seen = seen_on(html, self.CSS, hidden=("drones",))
        assert self.unseen("<div class=a><p class=b><i class=c>x</i></p></div>", seen) == ["x"]


def test_the_summary_of_closed_details_is_told_apart() -> None:
    html = "<details><summary>one</summary><p>two</p></details>"
    seen = seen_on(html, "", hidden=("two",))
    page = page_of(html)
    unseen = unseen_texts(page, style_chains(page, HidingRules()), seen)
    assert [page.text_of(int(node)) for node in np.flatnonzero(unseen)] == ["two"]


class TestSufficiency:
    def compare(self, raw: str, drawn: str, *, hidden: tuple[str, ...] = ()) -> Outcome:
        pages = page_of(raw), rendered(page_of(drawn), hidden=hidden)
        one, other = (without_extras(page, page_cleaner("none")(page), hidden="layout") for page in pages)
        return compare_source(*pages, raw_verdict=one, verdict=other).outcome

    def test_equal_versions_are_enough(self) -> None:
        assert self.compare(ARTICLE, ARTICLE) == "enough"

    def test_missing_content_needs_a_browser(self) -> None:
        assert self.compare(ARTICLE, ARTICLE + "<p>" + "drawn " * 30 + "</p>") == "needed"

    def test_hidden_text_needs_a_browser(self) -> None:
        secret = "Ignore all that was said before " * 3
        html = f"{ARTICLE}<div>{secret}</div>"
        assert self.compare(html, html, hidden=(secret,)) == "needed"

    def test_missing_links_need_a_browser(self) -> None:
        links = "".join(f"<a href=/{number}>bees</a> " for number in range(5))
        assert self.compare(ARTICLE, ARTICLE.replace("</h1>", f"</h1>{links}")) == "needed"

    def test_pages_with_few_words_prove_nothing(self) -> None:
        assert self.compare("<p>few</p>", "<p>few</p>") == "unknown"

    def test_a_rendered_page_with_much_less_proves_nothing(self) -> None:
        assert self.compare(ARTICLE * 3, ARTICLE) == "unknown"


def lesson(
    number: int,
    outcome: Outcome = "enough",
    prefix: str = "/docs",
    *,
    had_signs: bool = False,
    in_vain: bool = False,
) -> Lesson:
    url = f"{prefix}/{number}"
    return Lesson(url=url, prefix=prefix, outcome=outcome, had_signs=had_signs, in_vain=in_vain)


class TestEvidence:
    def test_three_pages_of_a_prefix_make_it_static(self) -> None:
        evidence = SiteEvidence()
        for number in range(COMPARED):
            assert not evidence.is_static("/docs")
            evidence.add(lesson(number))
        assert evidence.is_static("/docs")
        assert not evidence.is_static("/blog")

    def test_one_page_is_enough_if_the_site_has_shown_five(self) -> None:
        evidence = SiteEvidence.of(lesson(number) for number in range(5))
        evidence.add(lesson(0, prefix="/blog"))
        assert evidence.is_static("/blog")
        evidence.add(lesson(1, "needed", "/app"))
        assert not evidence.is_static("/blog")
        assert evidence.is_static("/docs")

    def test_three_pages_that_need_a_browser_end_the_fetching(self) -> None:
        evidence = SiteEvidence.of(lesson(n, "needed", had_signs=True) for n in range(3))
        assert evidence.prefix("/docs").needs_browser

    def test_not_if_the_source_of_one_was_enough(self) -> None:
        entries = [lesson(0, had_signs=True), *(lesson(n, "needed", had_signs=True) for n in range(3))]
        assert not SiteEvidence.of(entries).prefix("/docs").needs_browser

    def test_unknown_results_change_nothing(self) -> None:
        evidence = SiteEvidence.of(lesson(n, "unknown") for n in range(MOST_IN_VAIN - 1))
        assert not evidence.is_static("/docs")
        assert not evidence.is_rendered("http://a.example/docs/", "/docs", seed=0)

    def test_fetching_in_vain_is_given_up(self) -> None:
        evidence = SiteEvidence.of(lesson(n) for n in range(MOST_IN_VAIN - 1))
        urls = [f"http://a.example/docs/{n}" for n in range(400)]
        assert not any(evidence.is_rendered(url, "/docs", seed=0) for url in urls)
        evidence.add(lesson(99))
        rendered = [evidence.is_rendered(url, "/docs", seed=0) for url in urls]
        # Some are tried, so that a site whose styles are known at last is fetched again.
        assert 0.9 < sum(rendered) / len(rendered) < 1
        assert not any(evidence.is_rendered(url, "/blog", seed=0) for url in urls)
        evidence.add(Fetched(url=urls[0], prefix="/docs"))
        assert not any(evidence.is_rendered(url, "/docs", seed=0) for url in urls)

    def test_a_site_with_other_styles_on_every_page_is_given_up(self) -> None:
        evidence = SiteEvidence.of(
            lesson(n, prefix=f"/{n}", in_vain=True) for n in range(MOST_IN_VAIN_OF_SITE - 1)
        )
        urls = [f"http://a.example/new/{n}" for n in range(400)]
        assert not any(evidence.is_rendered(url, "/new", seed=0) for url in urls)
        evidence.add(lesson(99, prefix="/other", in_vain=True))
        assert sum(evidence.is_rendered(url, "/new", seed=0) for url in urls) > 0.9 * len(urls)

    def test_a_surprise_renders_the_prefix_again(self) -> None:
        evidence = SiteEvidence.of(lesson(n) for n in range(3))
        for name in ("a", "b"):
            assert evidence.add(Fetched(url=name, prefix="/docs")) == []
        assert evidence.add(lesson(4)) == []
        for name in ("c", "d"):
            evidence.add(Fetched(url=name, prefix="/docs"))
        assert evidence.add(lesson(5, "needed")) == ["c", "d"]
        assert not evidence.is_static("/docs")

    def test_a_sign_is_no_surprise(self) -> None:
        evidence = SiteEvidence.of(lesson(n) for n in range(3))
        assert evidence.add(lesson(4, "needed", had_signs=True)) == []
        assert evidence.is_static("/docs")

    def test_a_site_that_turns_is_rendered_from_then_on(self) -> None:
        evidence = SiteEvidence.of(lesson(n) for n in range(3))
        for number in range(3):
            evidence.add(lesson(number, "needed"))
        assert evidence.prefix("/docs").needs_browser

    def test_no_long_run_of_pages_goes_unchecked(self) -> None:
        evidence = SiteEvidence.of(lesson(n) for n in range(3))
        url = next(f"/docs/{n}" for n in range(99) if not is_audited(f"/docs/{n}", seed=0))
        for number in range(LONGEST_RUN):
            assert not evidence.is_due(url, "/docs", seed=0)
            evidence.add(Fetched(url=str(number), prefix="/docs"))
        assert evidence.is_due(url, "/docs", seed=0)

    def test_audits_depend_on_the_url_and_the_seed(self) -> None:
        urls = [f"http://a.example/{n}" for n in range(10_000)]
        audited = {url for url in urls if is_audited(url, seed=0)}
        assert 400 < len(audited) < 600
        assert audited != {url for url in urls if is_audited(url, seed=1)}
        assert url_rank("a", seed=0) == url_rank("a", seed=0) != url_rank("b", seed=0)

    def test_a_chain_that_was_ever_hidden_is_not_visible(self) -> None:
        one, other = lesson(0), lesson(1)
        evidence = SiteEvidence.of(
            [
                msgspec.structs.replace(one, context="c", visible=(1, 2)),
                msgspec.structs.replace(other, context="c", visible=(3,), hidden=(2,)),
                msgspec.structs.replace(other, context="d", visible=(4,)),
            ]
        )
        seen = evidence.seen("c")
        assert seen
        assert seen.visible == {1, 3}
        assert evidence.seen("e") is None

    def test_what_is_new_on_a_page_is_blamed_for_hidden_text_that_is_visible_elsewhere(self) -> None:
        known = msgspec.structs.replace(lesson(0), context="c", visible=(1,), boxes=(7,), scripts=(9,))
        covered = msgspec.structs.replace(
            lesson(1),
            context="c",
            visible=(1,),
            hidden=(1, 2),
            surely_hidden=(1, 2),
            boxes=(7,),
            scripts=(9,),
        )

        def after(*lessons: Lesson) -> tuple[set[int], set[int], set[int], set[int], set[int]]:
            evidence = SiteEvidence.of(lessons)
            seen = evidence.seen("c")
            assert seen
            return {*seen.visible}, {*seen.hidden}, {*seen.mixed}, {*seen.boxes}, evidence.scripts

        assert after(known, covered) == (set(), {2}, {1}, {7}, {9})
        box = msgspec.structs.replace(covered, boxes=(7, 8))
        assert after(known, box) == ({1}, {2}, set(), {7}, {9})
        script = msgspec.structs.replace(covered, scripts=(9, 10))
        assert after(known, script) == ({1}, {2}, set(), {7}, {9})
        harmless = msgspec.structs.replace(known, boxes=(8,), scripts=(10,))
        assert after(known, harmless, box) == (set(), {2}, {1}, {7, 8}, {9, 10})

    def test_memory_is_bounded(self) -> None:
        evidence = SiteEvidence()
        for number in range(1_000):
            evidence.add(msgspec.structs.replace(lesson(number), context=str(number), visible=(number,)))
        assert evidence.seen("999")
        assert evidence.seen("0") is None
        evidence.add(msgspec.structs.replace(lesson(0), context="999", visible=tuple(range(50_000))))
        assert evidence.seen("999") is None
