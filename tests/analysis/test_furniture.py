"""Furniture inside content: what is dropped behind every method, and what only looks like it."""

import numpy as np
import pytest

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.cleaning.page_widgets import drop_widgets
from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.evidence import text_blocks
from domsieve.analysis.writers.html import write_html
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.text import write_text
from domsieve.snapshot.page import Snapshot
from tests.analysis.pages import page

PROSE = "<p>The words of this page are many, so that what stands beside them is a small part of it.</p>" * 4


def body(html: str) -> Snapshot:
    return page(f"<html><head></head><body><main>{html}{PROSE}</main></body></html>")


def everything(snapshot: Snapshot) -> Verdict:
    """Return a verdict of some method that keeps the whole page."""
    kept = NoCleaning().transform(snapshot).kept
    return Verdict("test", kept.copy(), kept.astype(np.float32), kept.astype(np.uint8), ("dropped", "kept"))


def dropped(html: str) -> list[tuple[str, str]]:
    snapshot = body(html)
    verdict = drop_widgets(snapshot, everything(snapshot))
    return [(block.text, block.reason) for block in text_blocks(snapshot, verdict) if not block.kept]


@pytest.mark.parametrize(
    ("html", "text", "reason"),
    [
        ("<h2 id=a>Use<a class=headerlink href=#a>¶</a></h2>", "¶", "links a heading to itself"),
        ("<h2 id=a><a class=anchor href=#a>#</a>Use</h2>", "#", "links a heading to itself"),
        ("<h2>Use<a class=hash-link aria-label=x href=#a>Direct link to Use</a></h2>", "Direct link to Use",
         "links a heading to itself"),
        ("<h2 id=a>Use<a class=hash-link href=#a>\u200b</a></h2>", "\u200b", "links a heading to itself"),
        ("<h2 id=a>Use<a class=headerlink href=#a>\uf0c1</a></h2>", "\uf0c1", "links a heading to itself"),
        ("<div><p>A mill.</p><button>Put in the basket</button></div>", "Put in the basket", "a button"),
        ("<div><button>On this page</button></div>", "On this page", "a tool of the page"),
        ("<dl><dt id=a>use()<a href=#a>§</a></dt><dd>Uses.</dd></dl>", "§", "links a heading to itself"),
        ("<p id=a>Use <a href=#a>#</a></p>", "#", "links a heading to itself"),
        ("<table><tr><td class=linenos><pre>1\n2</pre></td><td><pre>a\nb</pre></td></tr></table>", "1\n2",
         "numbers the lines of code"),
        ("<pre><span class=lineno>1 </span>a</pre>", "1", "numbers the lines of code"),
        ("<div class=highlight><div class=gutter>1</div><pre>a</pre></div>", "1", "numbers the lines of code"),
        ("<div><pre>a</pre><button>Copy</button></div>", "Copy", "a button to copy or share"),
        ("<div><pre>a</pre><span class=copybtn>Copy code</span></div>", "Copy code", "a button to copy or share"),
        ("<p><a role=button href=/s>Share on Facebook</a></p>", "Share on Facebook", "a button to copy or share"),
        ("<div class='x sharedaddy'><h3>Share this:</h3><a href=/f>F</a></div>", "Share this:\nF",
         "a button to copy or share"),
        ("<p><a href=https://host.example/edit>Edit this page</a></p>", "Edit this page", "a tool of the page"),
        ("<h2>Use<span class=mw-editsection>[<a href=/e>edit</a>]</span></h2>", "[edit]", "a tool of the page"),
        ("<nav aria-label=Breadcrumbs><a href=/>Home</a> › <a href=/d>Docs</a></nav>", "Home › Docs",
         "a path of links to the page"),
        ("<ul class=page-breadcrumb><li>Home</li><li>Docs</li></ul>", "Home\nDocs", "a path of links to the page"),
        ("<ol itemtype=https://schema.org/BreadcrumbList><li>Home</li><li>Docs</li></ol>", "Home\nDocs",
         "a path of links to the page"),
        ("<a href=#main>Skip to main content</a>", "Skip to main content", "skips to the content"),
        ("<a href=#inhalt>Zum Inhalt springen</a>", "Zum Inhalt springen", "skips to the content"),
        ("<h1>The mill</h1><h1>The Mill</h1>", "The Mill", "says the title again"),
        ("<h1>The mill</h1><div><h2>The mill</h2></div>", "The mill", "says the title again"),
        ("<div><span>Advertisement</span><p>Thick jerseys.</p><a href=/j>Buy</a></div>",
         "Advertisement\nThick jerseys.\nBuy", "labelled as an advert"),
        ("<aside><p>Anzeige:</p><p>Pullover.</p></aside>", "Anzeige:\nPullover.", "labelled as an advert"),
        ("<div class=ad-slot><p>広告</p><p>セーター</p></div>", "広告\nセーター", "labelled as an advert"),
        ("<p>Before.</p><div><div>ADVERTISEMENT</div></div><p>After.</p>", "ADVERTISEMENT", "labelled as an advert"),
    ],
)  # fmt: skip
def test_is_dropped_for_a_reason_of_its_own(html: str, text: str, reason: str) -> None:
    assert dropped(html) == [(text, reason)]


@pytest.mark.parametrize(
    "html",
    [
        "<h2><a class=anchor href=#a>How to anchor a boat</a></h2>",
        "<p>Write <a href=/hash>#</a> for a comment.</p>",
        "<p>Press <button>Save</button> and <b class=share>share</b> it.</p>",
        "<h3><button>How long does the oven heat?</button></h3><p>Ten minutes.</p>",
        "<button aria-expanded=false>How long does the oven heat?</button><p>Ten minutes.</p>",
        "<button>A tile that is a button and has a text of more than eight words</button>",
        "<p>Scene <span class=ln>12</span> of the play.</p>",
        "<pre><span class=ln>x = 1</span></pre>",
        "<p><a href=/copy>Copy</a> is the name of a command.</p>",
        "<p><a href=/skip>Skip to my Lou</a> is a song.</p>",
        "<div class=has-breadcrumbs><h1>The mill</h1><p>A mill.</p></div>",
        f"<div class='breadcrumb-page sharing'>{PROSE * 3}</div>",
        "<h1>The mill</h1><p>It is old.</p><h2>The mill</h2>",
        "<h3>Cups</h3><h3>Cups</h3>",
        "<h1>Share this</h1>",
        "<h1>Advertisement</h1><p>What one is.</p>",
        "<ul><li><a href=/ads>Advertisement</a></li><li><a href=/art>Art</a></li></ul>",
        "<table><tr><td>Sponsored</td><td><a href=/y>yes</a></td></tr></table>",
        "<p><b>Advertisement</b>: what one pays for <a href=/r>reach</a>.</p>",
        "<h2>Contents</h2><p>Of the <a href=/box>contents</a> nothing is known.</p>",
    ],
)
def test_what_only_looks_like_it_stays(html: str) -> None:
    assert dropped(html) == []


def test_nothing_is_dropped_where_everything_is_kept_or_in_paper_mode() -> None:
    snapshot = body("<h1>One<a class=headerlink href=#a>¶</a></h1>")
    everything_kept = NoCleaning().transform(snapshot)
    assert drop_widgets(snapshot, everything_kept) is everything_kept
    paper = TagPathFilter.of_mode("paper").transform(snapshot)
    assert drop_widgets(snapshot, paper) is paper


def test_all_formats_agree() -> None:
    snapshot = body("<h2 id=a>Use<a class=headerlink href=#a>¶</a></h2><pre><b class=lineno>1</b>a = b</pre>")
    verdict = drop_widgets(snapshot, everything(snapshot))
    assert "Use\n" in write_text(snapshot, verdict)
    assert "a = b\n" in write_text(snapshot, verdict)
    assert "## Use\n" in write_markdown(snapshot, verdict)
    assert "¶" not in write_markdown(snapshot, verdict)
    assert "¶" not in write_html(snapshot, verdict)


@pytest.mark.parametrize(
    "part",
    [
        "<a class=headerlink href=#a>¶</a>",
        "<div class=breadcrumb>",
        "<button>Copy</button>",
        "<h1>a</h1>",
        "<div>Advertisement",
    ],
)
def test_many_and_deep_ones_have_an_end(part: str) -> None:
    snapshot = body(part * 20_000)
    drop_widgets(snapshot, everything(snapshot))
