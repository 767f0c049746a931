"""Kinds of blocks: what is told to be one, what only looks like it, and what is kept and dropped by name."""

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.block_types._block_phrases import RELATED, REPLY, SHARE, Begins, Pieces, begins_of
from domsieve.analysis.block_types.detection import EVERY_METHOD_DECIDES, KindChoice, apply_kinds, node_kinds
from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.cleaning.page_widgets import drop_widgets
from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.evidence import text_blocks
from domsieve.analysis.writers.text import write_text
from domsieve.budget import AnalysisBudget, budgeted
from domsieve.errors import BudgetError, UsageError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.strings import StringTable
from domsieve.types import BLOCK_KINDS, BlockKind
from tests.analysis.pages import page

ROOT = Path(__file__).parents[2]
PROSE = (
    "<p>The river rose by a metre in the night, and what stood beside it was a small part of the town.</p>"
    * 6
)
LINKS = (
    "<a href=/a>Bread and how it is baked</a> <a href=/b>Mills beside the river</a> <a href=/c>Rain again</a>"
)


def article(html: str, *, behind: str = "") -> Snapshot:
    source = f"<html><body><h1>The mill</h1>{html}<main>{PROSE}</main>{behind}</body></html>"
    return parse_html(source.encode(), url="http://example.org/news/mill")


def kind_of(snapshot: Snapshot, words: str) -> str | None:
    """Return the kind of the text that begins with some words."""
    kinds = node_kinds(snapshot)
    texts = np.flatnonzero(snapshot.text >= 0).tolist()
    (number,) = {int(kinds[n]) for n in texts if snapshot.text_of(n).strip().startswith(words)}
    return BLOCK_KINDS[number - 1] if number else None


@pytest.mark.parametrize(
    ("html", "words", "kind"),
    [
        ("<section id=comments><h2>2 comments</h2><p>Well told.</p></section>", "Well", "comments"),
        ("<ol class=commentlist><li><b>Ann</b> <p>Well told.</p></li></ol>", "Ann", "comments"),
        ("<div itemscope itemtype=https://schema.org/Comment><p>Well told.</p></div>", "Well", "comments"),
        ("<div role=comment>Well told.</div>", "Well", "comments"),
        ("<div class=userComments><a href=/u rel=author>Ann</a><p>Well told.</p></div>", "Ann", "comments"),
        (f"<div class=relatedPosts>{LINKS}</div>", "Bread", "related"),
        (f"<div class='box most-read'>{LINKS}</div>", "Mills", "related"),
        (f"<section><h3>You might also like</h3>{LINKS}</section>", "You might", "related"),
        (f"<section><h3>Das könnte Sie auch interessieren</h3>{LINKS}</section>", "Rain", "related"),
        (f"<div><h3>Читайте также</h3>{LINKS}</div>", "Rain", "related"),
        (f"<div><h3>相关文章推荐</h3>{LINKS}</div>", "Rain", "related"),
        (f"<h3>Related stories</h3><div>{LINKS}</div>", "Bread", "related"),
        (f"<aside>{'<a href=/d>Why the bread of this town is baked by night</a>' * 3}</aside>", "Why", "related"),
        ("<table><tr><th>Year</th></tr><tr><td>1850</td></tr></table>", "1850", "tables"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>", "c", "tables"),
        ("<table><tr><td><code>a</code></td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>", "c", "tables"),
        ("<table><caption>Floods</caption><tr><td>a</td><td>b</td></tr></table>", "Floods", "tables"),
        ("<div role=grid><div role=row>Year</div></div>", "Year", "tables"),
        ("<figure><img src=a><figcaption>The mill in 1850</figcaption></figure>", "The mill in", "captions"),
        ("<figure><img src=a><div>The mill at night</div></figure>", "The mill at", "captions"),
        ("<div class=wp-caption-text>The wheel</div>", "The wheel", "captions"),
        ("<span class='image-credit'>Photo: Ann Lee</span>", "Photo", "captions"),
        ("<p class=byline>By Ann Lee</p>", "By Ann", "bylines"),
        ("<p>By Ann Lee</p>", "By Ann", "bylines"),
        ("<p><a rel=author href=/ann>Ann Lee</a>, 2 May</p>", ", 2 May", "bylines"),
        ("<p><time datetime=2025-05-02>2 May 2025</time></p>", "2 May", "bylines"),
        ("<p itemprop=author>Ann Lee</p>", "Ann", "bylines"),
        ("<div class='entry share-bar'><a href=/s>F</a></div>", "F", "share"),
        ("<p><a href='https://www.facebook.com/sharer/sharer.php?u=x'>On F</a></p>", "On F", "share"),
        ("<p><button>Share this article</button></p>", "Share", "share"),
        ("<div><span>Share:</span> <a href='https://twitter.com/intent/tweet?url=x'>T</a></div>", "Share:", "share"),
        ("<div class=breadcrumbs><a href=/>Start</a> <a href=/n>News</a></div>", "News", "breadcrumbs"),
        ("<nav aria-label=Breadcrumb><a href=/>Start</a></nav>", "Start", "breadcrumbs"),
        ("<ol itemtype=https://schema.org/BreadcrumbList><li>Start</li></ol>", "Start", "breadcrumbs"),
        ("<div><a href=/>Home</a> › <a href=/n>News</a> › The mill</div>", "News", "breadcrumbs"),
        ("<ul><li><a href=/>Home</a><li><a href=/n>News</a><li><a href=/n/m>Mills</a></ul>", "News", "breadcrumbs"),
        ("<div><a href=https://example.org>Home</a> / <a href=/n>News</a></div>", "News", "breadcrumbs"),
        (f"<nav>{LINKS}</nav>", "Rain", "navigation"),
        (f"<div role=navigation>{LINKS}</div>", "Rain", "navigation"),
        (f"<div class=topMenu>{LINKS}</div>", "Rain", "navigation"),
        ("<footer><ul><li><a href=/a>A</a><li><a href=/b>B</a><li><a href=/c>C</a></ul> © We</footer>", "B",
         "navigation"),
        ("<div class=cookie-banner>We use cookies. <button>Accept all</button></div>", "We use", "consent"),
        ("<div id=onetrust-consent-sdk><p>Cookies and our partners</p><button>Reject all</button></div>", "Reject",
         "consent"),
        ("<div role=dialog>Wir nutzen Cookies. <a href=#>Alle akzeptieren</a></div>", "Wir", "consent"),
    ],
)  # fmt: skip
def test_a_kind_is_told(html: str, words: str, kind: str) -> None:
    assert kind_of(article(html), words) == kind


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<p class=comment-count>12 told</p>", "12"),
        ("<pre><span class=comment># told</span></pre>", "# told"),
        (f"<div class='has-comments'><h1>Told</h1>{PROSE}</div>", "Told"),
        ("<div class=related>Of the same river.</div>", "Of the same"),
        (f"<div class=related-pages>{LINKS}{PROSE * 3}</div>", "Bread"),
        ("<h3>More on the mill</h3><p>It is old.</p>", "More"),
        ("<table><tr><td>One</td></tr></table>", "One"),
        ("<table><tr><td>1</td><td><pre>x</pre></td></tr><tr><td>2</td><td>y</td></tr></table>", "y"),
        ("<table role=presentation><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>", "c"),
        ("<table><tr><td><table><tr><td>Two</td></tr></table></td><td>b</td></tr></table>", "Two"),
        ("<figure><img src=a><blockquote>The mill is old.</blockquote></figure>", "The mill is"),
        ("<figure>The mill is old.</figure>", "The mill is"),
        ("<div class=carousel-caption>Welcome</div>", "Welcome"),
        ("<p class=author-bio>Ann Lee was born here.</p>", "Ann"),
        ("<p>Press <b class=share>share</b> to go on.</p>", "share"),
        ("<p class=share-price>12 pounds</p>", "12"),
        ("<p><a href=/>Home</a> is where <a href=/h>the heart</a> is.</p>", "Home"),
        ("<p>See <a href=/>our pages</a> or <a href=/x>others</a>.</p>", "our pages"),
        ("<ul class=menu><li>Soup</li><li>Bread</li></ul>", "Soup"),
        ("<div class=cookie-recipe>Take sugar.</div>", "Take"),
        ("<div role=dialog>Choose a colour. <button>Accept</button></div>", "Choose"),
        ("<div class=cmp-text>Told</div>", "Told"),
    ],
)
def test_what_only_looks_like_it_is_none(html: str, words: str) -> None:
    assert kind_of(article(html), words) is None


def test_answers_behind_an_article_are_comments_and_the_posts_of_a_forum_are_not() -> None:
    post = "<div><p>Well told.</p><a href=#>Reply</a></div>"
    assert kind_of(article("", behind=f"<div>{post * 3}</div>"), "Well") == "comments"
    answer = f"<div itemprop=comment itemtype=https://schema.org/Comment>{post}</div>"
    forum = (
        f"<div itemtype=https://schema.org/DiscussionForumPosting><h1>Mills</h1>{answer}{answer}</div>{PROSE}"
    )
    assert kind_of(parse_html(forum.encode(), url="http://example.org/"), "Well") is None
    assert (
        kind_of(parse_html(forum.replace("Forum", "").encode(), url="http://example.org/"), "Well")
        == "comments"
    )
    posts = f"<html><body><h1>Mills</h1><div>{post * 9}</div></body></html>"
    assert kind_of(parse_html(posts.encode(), url="http://example.org/"), "Well") is None


def test_what_a_comment_holds_is_a_comment() -> None:
    inner = (
        "<table><tr><th>A</th><td>B</td></tr></table><p class=byline>Ann</p><a class=share href=/s>Share</a>"
    )
    snapshot = article(f"<div class=comments>{inner}<nav>{LINKS}</nav></div>")
    assert {kind_of(snapshot, words) for words in ("A", "Ann", "Share", "Rain")} == {"comments"}


def test_of_comments_and_related_the_outer_counts() -> None:
    told = article(f"<div class=comments>Well <div class=related>{LINKS}</div></div>")
    assert kind_of(told, "Rain") == "comments"
    teased = article(f"<div class=related>{LINKS}<p class=comment>So <a href=/d>true</a></p></div>")
    assert kind_of(teased, "So") == "related"


def test_a_fixed_box_that_asks_for_consent() -> None:
    box = "<div style='position:fixed'><p>We and our partners use cookies.</p><button>Accept</button></div>"
    fixed = page(f"<html><body><h1>The mill</h1>{box}{PROSE}</body></html>", producer="rendered")
    still = page(f"<html><body><h1>The mill</h1>{box.replace('fixed', 'static')}{PROSE}</body></html>")
    assert (kind_of(fixed, "We and"), kind_of(still, "We and")) == ("consent", None)


def test_every_phrase_is_found_by_how_it_begins() -> None:
    for bit, phrases in ((Begins.SHARE, SHARE), (Begins.RELATED, RELATED), (Begins.REPLY, REPLY)):
        spelt = [spelling for phrase in phrases for spelling in (phrase, phrase.capitalize(), f"[{phrase}] ")]
        table = StringTable.from_strings(spelt)
        pieces = Pieces(table, np.arange(len(spelt)), longest=80)
        assert ((begins_of(pieces.beginnings(6)) & bit) > 0).all()


# What is kept and dropped by name.

TALKED = (
    "<p class=byline>By Ann Lee</p><div class=breadcrumbs><a href=/>Home</a> › <a href=/n>News</a></div>"
    "<table><tr><th>Year</th></tr><tr><td>1850</td></tr></table><div class=comments>Well told.</div>"
)


def of_nothing(snapshot: Snapshot) -> Verdict:
    """Return a verdict that keeps nothing."""
    n = len(snapshot)
    return Verdict(
        "test", np.zeros(n, np.bool_), np.zeros(n, np.float32), np.zeros(n, np.uint8), ("dropped",)
    )


def test_kinds_are_kept_whatever_else_is_said_of_them() -> None:
    snapshot = article(TALKED)
    verdict = apply_kinds(snapshot, of_nothing(snapshot), KindChoice(keep=("tables", "breadcrumbs")))
    assert write_text(snapshot, verdict).split() == ["Home", "›", "News", "Year", "1850"]
    said = {(block.kind, block.reason, block.score) for block in text_blocks(snapshot, verdict) if block.kept}
    assert said == {("tables", "kept by kind: tables", 1), ("breadcrumbs", "kept by kind: breadcrumbs", 1)}


def test_kinds_are_kept_though_they_be_furniture() -> None:
    snapshot = article(TALKED)
    furnished = drop_widgets(snapshot, AutoCleaner().transform(snapshot))
    assert "Home" not in write_text(snapshot, furnished)
    kept = apply_kinds(snapshot, furnished, KindChoice(keep=("breadcrumbs",)))
    assert "Home › News" in write_text(snapshot, kept)


def test_kinds_are_dropped_though_the_method_keeps_them() -> None:
    snapshot = article(TALKED)
    verdict = apply_kinds(snapshot, NoCleaning().transform(snapshot), KindChoice(drop=("comments", "tables")))
    text = write_text(snapshot, verdict)
    assert "Well" not in text
    assert "1850" not in text
    assert "By Ann Lee" in text
    reasons = {block.reason for block in text_blocks(snapshot, verdict) if not block.kept}
    assert reasons == {"dropped by kind: comments", "dropped by kind: tables"}


def test_hidden_text_of_a_kind_stays_hidden() -> None:
    snapshot = article("<div class=comments>Well told. <b style='display:none'>Obey.</b></div>")
    kept = apply_kinds(snapshot, of_nothing(snapshot), KindChoice(keep=("comments",)))
    assert write_text(snapshot, drop_hidden(snapshot, kept, hidden="layout")) == "Well told.\n"
    assert write_text(snapshot, drop_hidden(snapshot, kept, hidden="keep")) == "Well told. Obey.\n"


def test_without_a_kind_verdicts_stay_as_they_are_and_paper_mode_too() -> None:
    snapshot = article(TALKED)
    verdict = TagPathFilter.of_mode("paper").transform(snapshot)
    assert apply_kinds(snapshot, verdict, EVERY_METHOD_DECIDES) is verdict
    named = apply_kinds(snapshot, verdict, KindChoice(drop=("tables",)))
    assert "1850" not in write_text(snapshot, named)


def test_the_choice_is_a_parameter_of_the_verdict() -> None:
    snapshot = article(TALKED)
    choice = KindChoice.of(["tables", "comments", "tables"], iter(["share"]))
    verdict = apply_kinds(snapshot, of_nothing(snapshot), choice)
    assert verdict.parameters == {"keep_kinds": "comments tables", "drop_kinds": "share"}


@pytest.mark.parametrize("wrong", ["tables", b"tables", None, 3, ["table"], [None], [["tables"]]])
def test_wrong_kinds_are_refused_with_the_choices(wrong: object) -> None:
    with pytest.raises(UsageError, match=r"give a list of comments, related, tables, .*, consent") as caught:
        KindChoice.of([], wrong)
    assert caught.value.parameter == "drop_kinds"


def test_a_kind_that_is_kept_is_not_dropped() -> None:
    assert KindChoice.of(["tables", "share"], ["share", "comments"]) == KindChoice(
        ("tables", "share"), ("comments",)
    )


# Any page.

NAMES = st.sampled_from(
    [
        "comments",
        "related",
        "share",
        "breadcrumb",
        "nav",
        "menu",
        "caption",
        "byline",
        "author",
        "cookie-banner",
        "count",
        "footer",
        "sidebar",
    ]
)
TAGS = st.sampled_from(
    [
        "div",
        "p",
        "a",
        "h1",
        "h2",
        "li",
        "ul",
        "table",
        "tr",
        "th",
        "td",
        "nav",
        "aside",
        "figcaption",
        "button",
        "pre",
        "time",
        "span",
    ]
)
TEXTS = st.sampled_from(
    [
        "Home",
        "›",
        "Share",
        "Reply",
        "By Ann",
        "Related articles",
        "We use cookies. Accept all",
        "The river rose.",
    ]
)


@st.composite
def sources(draw: st.DrawFn, depth: int = 4) -> str:
    if depth == 0 or draw(st.booleans()):
        return draw(TEXTS)
    inner = "".join(draw(st.lists(sources(depth - 1), max_size=3)))
    tag = draw(TAGS)
    return f"<{tag} class='{draw(NAMES)}' href=/>{inner}</{tag}>"


@settings(max_examples=60, deadline=None)
@given(st.lists(sources(), max_size=4), st.sampled_from(BLOCK_KINDS), st.booleans())
def test_what_is_kept_by_kind_is_kept_and_what_is_dropped_is_not(
    parts: Sequence[str], kind: BlockKind, raw: bool
) -> None:
    html = f"<html><body>{''.join(parts)}</body></html>"
    snapshot = page(html, producer="raw" if raw else "rendered")
    number = BLOCK_KINDS.index(kind) + 1
    kinds = node_kinds(snapshot)
    everything = NoCleaning().transform(snapshot)
    shown = everything.kept & (snapshot.text >= 0)
    kept = apply_kinds(snapshot, of_nothing(snapshot), KindChoice(keep=(kind,))).kept
    assert ((kinds == number) & shown <= kept).all()
    assert (shown & kept <= (kinds == number)).all()
    left = apply_kinds(snapshot, everything, KindChoice(drop=(kind,))).kept
    assert (shown & left == shown & (kinds != number)).all()
    for verdict in (kept, left):
        inner = np.flatnonzero(verdict)[1:]
        assert verdict[snapshot.parent[inner]].all()


@settings(max_examples=60, deadline=None)
@given(st.lists(sources(), max_size=4))
def test_a_kind_holds_all_that_stands_in_it_unless_a_stronger_one_does(parts: Sequence[str]) -> None:
    snapshot = page(f"<html><body>{''.join(parts)}</body></html>")
    kinds = node_kinds(snapshot)
    inner = np.flatnonzero(kinds[snapshot.parent[1:]] > 0) + 1
    assert (kinds[inner] > 0).all()
    for container in ("comments", "related", "consent"):
        number = BLOCK_KINDS.index(container) + 1
        inside = np.flatnonzero(kinds[snapshot.parent[1:]] == number) + 1
        assert np.isin(kinds[inside], [number, BLOCK_KINDS.index("consent") + 1]).all()


def test_the_same_page_gives_the_same_kinds_under_any_hash_seed() -> None:
    code = (
        "import sys; from pathlib import Path; from domsieve.analysis.block_types.detection import node_kinds;"
        "from domsieve.renderer.html_parser.parser import parse_html;"
        "sys.stdout.buffer.write(node_kinds(parse_html(sys.stdin.buffer.read(), url='http://a.org/')).tobytes())"
    )
    source = f"<h1>The mill</h1>{TALKED}<section><h3>Read next</h3>{LINKS}</section>{PROSE}".encode()
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=source,
            capture_output=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            timeout=600,
        ).stdout
        for seed in ("1", "2")
    }
    (output,) = outputs
    assert set(output) > {0}


@pytest.mark.parametrize(
    "part",
    [
        "<div class='comments related share breadcrumb nav caption byline cookie-banner'>",
        "<div class=comments>",
        "<a href=/>Home</a><a href=/>",
        "<h2>Related articles</h2><a href=/x>",
        "<button>Share</button>",
        "<a class=share href=https://t.me/share>x",
        "<p>Reply",
        "<table><tr><th>a",
        "<dialog>cookie",
        "<aside><a href=/>x",
        "<time>By ",
        "<b class='" + "a" * 5_000 + "'>",
    ],
)  # fmt: skip
def test_many_and_deep_ones_have_an_end(part: str) -> None:
    for source in (part * 4_000, "<h1>x</h1>" + part * 4_000 + "Reply" * 4_000):
        assert node_kinds(parse_html(source.encode(), url="http://example.org/")).any() in (True, False)


def test_a_page_without_anything() -> None:
    for source in ("", "<h1></h1>", "<a>", "<p class>"):
        assert not node_kinds(parse_html(source.encode(), url="")).any()


def test_the_budget_of_the_page_is_looked_at() -> None:
    snapshot = parse_html(("<a href=/>Home</a>" * 3_000).encode(), url="http://example.org/")
    with budgeted(AnalysisBudget(time=timedelta(microseconds=1))), pytest.raises(BudgetError):
        node_kinds(snapshot)
