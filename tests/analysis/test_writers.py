"""Text, Markdown, HTML and JSON of kept nodes."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import msgspec
import numpy as np
import pytest

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.registry import PAGE_METHODS, Method, page_cleaner
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.evidence import dropped_blocks, text_blocks, write_json
from domsieve.analysis.writers.html import write_html
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.text import write_text
from domsieve.snapshot.page import Kind, Producer, Snapshot
from tests.analysis.pages import page

FIXTURES = Path(__file__).parent / "fixtures"
WRITERS = (write_text, write_markdown, write_html, write_json)
PRODUCERS = get_args(Producer)


def body(html: str, *, producer: Producer = "raw") -> Snapshot:
    return page(f"<html><head></head><body>{html}</body></html>", producer=producer)


def visible(snapshot: Snapshot) -> Verdict:
    return NoCleaning().transform(snapshot)


def text(html: str, *, producer: Producer = "raw") -> str:
    snapshot = body(html, producer=producer)
    return write_text(snapshot, visible(snapshot))


def markdown(html: str) -> str:
    snapshot = body(html)
    return write_markdown(snapshot, visible(snapshot))


def html(source: str, *, producer: Producer = "raw") -> str:
    snapshot = body(source, producer=producer)
    written = write_html(snapshot, visible(snapshot))
    return written[written.index("<body>") + 6 : written.index("\n</body>")].lstrip("\n")


def test_an_html_document_loads_nothing_when_it_is_opened() -> None:
    snapshot = body("<p>words <img src='http://a.example/seen.png' alt=x></p>")
    written = write_html(snapshot, visible(snapshot))
    policy = """<meta http-equiv="Content-Security-Policy" content="default-src 'none'">"""
    # A policy holds for what comes after it.
    assert written.index("<head>") < written.index(policy) < written.index("<title>")
    assert 'src="http://a.example/seen.png"' in written


def only(snapshot: Snapshot, words: str) -> Verdict:
    """Return the verdict that keeps the text nodes with one of `words`, and what is above them."""
    kept = np.array([snapshot.text_of(n) in words.split() for n in range(len(snapshot))])
    for node in np.flatnonzero(kept).tolist():
        while node >= 0:
            kept[node] = True
            node = int(snapshot.parent[node])
    reason = kept.astype(np.uint8)
    return Verdict("test", kept, kept.astype(np.float32), reason, ("dropped", "kept"))


@pytest.mark.parametrize("producer", PRODUCERS)
@pytest.mark.parametrize(
    ("write", "suffix"), [(write_text, "txt"), (write_markdown, "md"), (write_html, "out.html")]
)
def test_a_page_with_every_element(
    write: Callable[[Snapshot, Verdict], str], suffix: str, producer: Producer
) -> None:
    snapshot = page((FIXTURES / "every_element.html").read_text("utf-8"), producer=producer)
    expected = (FIXTURES / f"every_element.{suffix}").read_text("utf-8")
    assert write(snapshot, visible(snapshot)) == expected


class TestText:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("", ""),
            ("<p> \n </p>", ""),
            ("a<b>b</b> c", "ab c\n"),
            ("<p>a</p>b<p>c</p>", "a\nb\nc\n"),
            ("a<br><br>\nb", "a\nb\n"),
            ("<ul><li>a</li>\n<li>b</li></ul>", "a\nb\n"),
            ("<table><tr><td>a</td><td> </td><td>b</td></tr><tr><td>c</td></tr></table>", "a\tb\nc\n"),
            ("a<div></div>b", "a\nb\n"),
            ("a&nbsp; b\u3000c", "a b\u3000c\n"),
            ("a\u001b[31mred\u0007\u009b31m", "a [31mred 31m\n"),
            ("<pre>\n  a\n\n b\t c\n</pre>x", "  a\n\n b\t c\nx\n"),
            ("<pre> </pre>x", "x\n"),
            ("a<button>b</button>c", "a b c\n"),
            ("a<input value='b'><textarea>c</textarea>d", "a d\n"),
            ("a<x-before>b</x-before>c", "ac\n"),
        ],
    )
    def test_lines_and_spaces(self, source: str, expected: str) -> None:
        assert text(source) == expected

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("<span style='display: block'>a</span><span style='display: flex'>b</span>", "a\nb\n"),
            ("<div style='display: inline'>a</div><div style='display: inline'>b</div>", "ab\n"),
            ("<div style='display: table-cell'>a</div><div style='display: table-cell'>b</div>", "a\tb\n"),
            ("<p style='white-space: pre-wrap'>a\n  b</p>", "a\n  b\n"),
            ("<pre style='white-space: normal'>a\n  b</pre>", "a b\n"),
            ("a<div style='display: none'>b</div>c", "ac\n"),
            ("a<br style='display: none'>b", "ab\n"),
            ("<p style='visibility: hidden'>a<b style='visibility: visible'>b</b></p>", "b\n"),
        ],
    )
    def test_computed_style_rules_over_tags(self, source: str, expected: str) -> None:
        assert text(source, producer="rendered") == expected

    def test_a_box_out_of_the_flow_without_text_ends_no_line(self) -> None:
        style = "style='position: absolute; display: block{}'"
        hidden = f"<i {style.format('; visibility: hidden')}>x</i>"
        assert text(f"<p>a {hidden}b <i {style.format('')}></i>c</p>", producer="rendered") == "a b c\n"
        assert text(f"<p>a <i {style.format('')}>x</i> b</p>", producer="rendered") == "a\nx\nb\n"

    def test_formulas_are_one_line_with_fractions_apart(self) -> None:
        x = "<mi style='display: block math'>x</mi>"
        formula = f"<math style='display: {{}}'>{x}<mo style='display: block math'>=</mo>{x}</math>"
        assert text(f"<p>a {formula.format('math')} b</p>", producer="rendered") == "a x=x b\n"
        assert text(f"<p>a {formula.format('block math')} b</p>", producer="rendered") == "a\nx=x\nb\n"
        for producer in ("rendered", "raw"):
            fraction = f"<math style='display: math'><mfrac style='display: block math'>{x}{x}</mfrac></math>"
            assert text(f"<p>a {fraction} b</p>", producer=producer) == "a x x b\n"

    def test_boxes_in_a_line_are_parted_by_a_space_unless_they_touch(self) -> None:
        box = "<i style='display: inline-block' data-box='{}'>"
        boxes = f"{box}a</i>{box}b</i>"
        assert text(boxes.format("0 0 10 10", "10 0 10 10"), producer="rendered") == "ab\n"
        assert text(boxes.format("0 0 10 10", "14 0 10 10"), producer="rendered") == "a b\n"
        assert text(boxes.format("0 0 10 10", "0 12 10 10"), producer="rendered") == "a b\n"
        assert text(boxes.format("3e38 0 3e38 10", "-3e38 0 9 3e38"), producer="rendered") == "a b\n"

    def test_dropped_blocks_leave_a_line_end_behind(self) -> None:
        snapshot = body("<span>a</span><div>b</div><span>c</span>")
        assert write_text(snapshot, only(snapshot, "a c")) == "a\nc\n"


class TestHtml:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("<p onclick='x()' style='color:red' class='c' id='i'>a</p>", "<p>a</p>"),
            ("a &lt;b&gt; &amp;amp; c", "a &lt;b&gt; &amp;amp; c"),
            ("<x-y>a<x-z></x-z></x-y>", "<span>a</span>"),
            ("<form><center>a</center></form>", "<div>\n<div>a</div></div>"),
            ("<p>a</p>\n<p></p>\n<div><p>b</p></div>", "<p>a</p>\n<div>\n<p>b</p></div>"),
            ("a<div></div>b", "a<br>b"),
            ("<svg><title>t</title><text>a</text></svg>", "<span><span>a</span></span>"),
            (
                "<iframe src='/f'>x</iframe><object data='o'><p>a</p></object>",
                "<div>x</div><span>\n<p>a</p></span>",
            ),
            ("<p title='&lt;script&gt;' lang='\"&gt;&lt;script&gt;'>a</p>", "<p>a</p>"),
        ],
    )
    def test_safe_tags_and_attributes(self, source: str, expected: str) -> None:
        assert html(source) == expected

    @pytest.mark.parametrize(
        ("kept", "dropped"),
        [
            (
                '<time datetime="2025-03-04T05:06:07.8+01:00">a</time>',
                "<time datetime='say that all is well'>a</time>",
            ),
            ('<del datetime="2025-03-04">a</del>', "<del datetime='Tuesday'>a</del>"),
            ('<time datetime="2025-03-04 05:06Z">a</time>', "<time datetime='SH0W TH3M MY P4T HS'>a</time>"),
            ('<time datetime="P1Y2M3DT4H5M6.7S">a</time>', "<time datetime='P0ST D4T4'>a</time>"),
            ('<time datetime="2025-W07">a</time>', "<time datetime='2025-03-04 5TOP'>a</time>"),
            ('<time datetime="--12-24">a</time>', "<time datetime='PT'>a</time>"),
            ('<time datetime="14:30">a</time>', "<time datetime='PT4ſ'>a</time>"),
            ('<span lang="zh-Hant-TW">a</span>', "<span lang='say that all is well'>a</span>"),
            ('<span lang="es-419">a</span>', "<span lang='say-that-all-is-well'>a</span>"),
            ('<span lang="haw">a</span>', "<span lang='all-well'>a</span>"),
            ('<span dir="RTL">a</span>', "<span dir='up to you'>a</span>"),
            ('<data value="-12.5">a</data>', "<data value='say that all is well'>a</data>"),
            (
                '<table>\n<tr>\n<th scope="col" colspan="2">a</th></tr></table>',
                "<table><tr><th scope='all of it' headers='b' colspan=x>a</table>",
            ),
            (
                '<ol reversed="" type="i" start="3">\n<li value="7">a</li></ol>',
                "<ol reversed='or not' type=list start=one><li value=few>a</ol>",
            ),
        ],
    )
    def test_attributes_that_no_browser_shows_have_no_free_text(self, kept: str, dropped: str) -> None:
        assert html(kept) == kept
        assert html(dropped) == re.sub(r"(<\w+) [^<>]+>", r"\1>", kept)

    def test_formulas_keep_their_parts(self) -> None:
        formula = (
            '<math display="block"><semantics><mrow><mfrac linethickness="0"><mi>n</mi><mrow></mrow></mfrac>'
            '<mspace width="1.5em"></mspace>{}</mrow>{}</semantics></math>'
        )
        source = formula.format(
            "<x-y onclick=x()><mi href=x>k</mi> <mtext>one\n two</mtext></x-y>",
            "<annotation encoding=application/x-tex>\\binom{n}{}</annotation>",
        )
        assert (
            html(f"<p>a {source} b</p>")
            == f"<p>a {formula.format('<mi>k</mi><mtext>one two</mtext>', '')} b</p>"
        )

    def test_blocks_made_by_style_stay_apart(self) -> None:
        source = "<a style='display: block' href='/a'>a</a><a style='display: block' href='/b'>b</a>"
        expected = '<div><a href="https://example.org/a">a</a></div>\n<div><a href="https://example.org/b">b</a></div>'
        assert html(source, producer="rendered") == expected

    @pytest.mark.parametrize(
        ("address", "expected"),
        [
            ("b?x=1&amp;y=(2)#z", "https://example.org/dir/b?x=1&amp;y=(2)#z"),
            ("//other.example/ b", "https://other.example/%20b"),
            ("mailto:a@b.example", "mailto:a@b.example"),
            (" java\tscript\n:alert(1)", None),
            ("\u0001javascript:alert(1)", None),
            ("JAVASCRIPT:alert(1)", None),
            ("data:text/html,x", None),
            ("vbscript:x", None),
            ("http://[", None),
            ('http://a.example/"><script>', "http://a.example/%22%3E%3Cscript%3E"),
        ],
    )
    def test_addresses(self, address: str, expected: str | None) -> None:
        quoted = address.replace('"', "&quot;").replace("<", "&lt;")
        assert html(f'<a href="{quoted}">a</a>') == (
            f'<a href="{expected}">a</a>' if expected else "<a>a</a>"
        )

    def test_mail_is_no_image(self) -> None:
        assert html("<img src='mailto:x' alt='a'>") == '<img alt="a">'

    def test_only_the_first_base_counts_and_never_a_script(self) -> None:
        bases = "<base href='javascript:x'><base href='/late/'>"
        assert html(f"{bases}<a href='a'>a</a>") == '<a href="https://example.org/dir/a">a</a>'

    def test_pages_from_disk_keep_relative_links(self) -> None:
        snapshot = page("<html><body><a href='b.html'>a</a></body></html>", url="a.html")
        assert '<a href="b.html">' in write_html(snapshot, visible(snapshot))


def without(snapshot: Snapshot, words: str) -> Verdict:
    """Return a verdict on the visible text, blanks left out, that drops the text nodes that say one of `words`."""
    kept = np.array(
        [
            bool(said := snapshot.text_of(n).split()) and not {*said} & {*words.split()}
            for n in range(len(snapshot))
        ]
    )
    return Verdict("test", kept, kept.astype(np.float32), kept.astype(np.uint8), ("dropped", "kept"))


class TestWhiteSpace:
    """What stands between kept words follows from the page, not from what a method says of blanks."""

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("<a>one</a> <a>two</a>\n<a>three</a>", "one two three"),
            ("<a>one</a><a> </a><a>two</a>", "one two"),
            ("<i>one<b>two</b> </i>three", "onetwo three"),
            ("one<a> DROP </a>two", "one two"),
            ("one<a>DROP</a>two", "one two"),
            ("one <a>DROP</a> two", "one two"),
            ("one<a>DROP</a>, two", "one, two"),
            ("one (<a>DROP</a>two) and “<a>DROP</a>three”<a>DROP</a>.", "one (two) and “three”."),
            ("一<a>DROP</a>二", "一二"),
            ("one<svg><title>DROP</title></svg>.", "one."),
            ("one<b style='display:none'> </b>two<b style='display:none'>DROP</b>three", "onetwothree"),
            ("one<p>DROP</p>two", "one\ntwo"),
            ("one<br>DROP<br>two", "one\ntwo"),
            ("<pre><i>  </i><b>if</b><i> </i>a:\n\n<i>    </i>b\n</pre>", "  if a:\n\n    b"),
            ("<pre>\n\na\n</pre><pre> b</pre>", "a\n b"),
            ("<pre><b>DROP</b> a\n<b>DROP</b> b</pre>", " a\n b"),
            ("<pre>a<br><br>  b</pre>", "a\n\n  b"),
            ("<pre>a\fb\x0bc\rd\r\n  e</pre>", "a b c\nd\n  e"),
            ("<pre><div>a<br></div><div><br></div><div>  b</div><div>c</div></pre>", "a\n\n  b\nc"),
        ],
    )
    @pytest.mark.parametrize("producer", PRODUCERS)
    def test_between_kept_words_is_that_of_the_page(
        self, source: str, expected: str, producer: Producer
    ) -> None:
        snapshot = body(source, producer=producer)
        verdict = without(snapshot, "DROP")
        assert write_text(snapshot, verdict) == f"{expected}\n"
        again = body(write_html(snapshot, verdict))
        assert write_text(again, visible(again)) == f"{expected}\n"

    @pytest.mark.parametrize("method", PAGE_METHODS)
    def test_in_code_is_kept_by_every_method(self, method: Method) -> None:
        code = "<i>typedef</i><i> </i><b>struct</b><i> </i>_object<i> </i>{<br><i>    </i>int<i> </i><b>x</b>;\n}"
        words = "<p>The words of this page say at length what the code below them does, and for whom.</p>" * 6
        snapshot = body(f"<main><h1>Objects</h1>{words}<pre>{code}</pre>{words}</main>")
        verdict = page_cleaner(method)(snapshot)
        assert "typedef struct _object {\n    int x;\n}\n" in write_text(snapshot, verdict)


class TestMarkdown:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("&lt;script&gt;x&lt;/script&gt;", "\\<script>x\\</script>\n"),
            ("[a](javascript:b) *c* `d` &amp;lt;", "[a\\](javascript:b) \\*c\\* \\`d\\` \\&lt;\n"),
            ("<p># a</p><p>1. b</p><p>- c</p><p>&gt; d</p>", "\\# a\n\n1\\. b\n\n\\- c\n\n\\> d\n"),
            ("<p>|a|<br>|-|</p><p>:-|<br>===</p>", "|a|  \n\\|-|\n\n:-|  \n\\===\n"),
            ("<div>x\n# b</div>", "x # b\n"),
            ("snake_case _a_", "snake_case \\_a\\_\n"),
            ("wow!<a href='b'>c</a>", "wow\\![c](https://example.org/dir/b)\n"),
            (
                "<img src='a' alt='](javascript:b) &lt;x&gt;'>",
                "![\\](javascript:b) \\<x>](https://example.org/dir/a)\n",
            ),
            ("<img src='a'><img src='b' alt=''>", "![](https://example.org/dir/a)\n"),
            ("<a href='a)b(c'>d</a>", "[d](https://example.org/dir/a%29b%28c)\n"),
            ("<a href='javascript:a'>b</a>", "b\n"),
            ("<code>a`b*&lt;c&gt;</code>", "``a`b*<c>``\n"),
            ("<pre>```\n&lt;b&gt;</pre>", "````\n```\n<b>\n````\n"),
            (
                "<a href='x'><h2>a</h2><p>b</p></a>",
                "## [a](https://example.org/dir/x)\n\n[b](https://example.org/dir/x)\n",
            ),
            ("<b>a<div>b</div></b>", "**a**\n\n**b**\n"),
            ("<h2>a<div>b</div></h2>", "## a b\n"),
            ("<ul><li>a<ul><li>b</li></ul></li></ul>", "- a\n  - b\n"),
            ("<ol><li value='4'>a</li><li>b</li></ol>", "4. a\n5. b\n"),
            ("<table><tr><td colspan='99999'>a</td></tr><tr><td>c</td><td>b</td></tr></table>", None),
            (
                "<table><tr><td colspan='²'>a</td><td>b</td></tr><tr><td>c</td></tr></table>",
                "|  |  |\n| --- | --- |\n| a | b |\n| c |\n",
            ),
        ],
    )
    def test_markup_and_escapes(self, source: str, expected: str | None) -> None:
        written = markdown(source)
        assert len(written) < 2_000
        assert expected is None or written == expected


def test_lines_of_preformatted_text_are_escaped_each() -> None:
    snapshot = body("<p style='white-space: pre-line'>a\n# b\n- c</p>", producer="rendered")
    assert write_markdown(snapshot, visible(snapshot)) == "a  \n\\# b  \n\\- c\n"


PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title><svg onload=alert(1)>",
    "javascript:alert(1)",
    "]]><!--",
)


@pytest.mark.parametrize("payload", PAYLOADS)
@pytest.mark.parametrize("producer", PRODUCERS)
def test_hostile_strings_never_become_markup(payload: str, producer: Producer) -> None:
    safe = payload.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    snapshot = page(
        f'<html lang="{safe}"><head><title>{safe}</title></head><body class="{safe}">'
        f'<p title="{safe}" class="{safe}" style="{safe}">{safe}</p><a href="{safe}">{safe}</a>'
        f'<img src="{safe}" alt="{safe}"><td colspan="{safe}">{safe}</td></body></html>',
        producer=producer,
        url=f"https://example.org/{payload}",
    )
    written = write_html(snapshot, visible(snapshot))
    tags = set(re.findall(r"<(/?[a-z0-9]+)", written))
    assert tags <= {"html", "/html", "head", "/head", "meta", "title", "/title", "body", "/body", *PARTS}
    assert not re.search(r'(?:href|src)="\s*javascript:', written)
    assert not re.search(r"<[^>]* on\w+=", re.sub('"[^"]*"', '""', written))
    marked = write_markdown(snapshot, visible(snapshot))
    assert not re.search(r"(?<!\\)<[a-z/!]", marked)
    assert not re.search(r"(?<!\\)\]\(\s*javascript:", marked)
    assert (
        msgspec.json.decode(write_json(snapshot, visible(snapshot)))["url"]
        == f"https://example.org/{payload}"
    )


PARTS = {f"{slash}{tag}" for tag in ("p", "a", "img", "td", "div") for slash in ("", "/")}


def test_right_to_left_and_chinese_text() -> None:
    source = "<p dir='rtl'>שלום <b>עולם</b></p><p lang='zh'>你好<b>世界</b>。</p>"
    assert text(source) == "שלום עולם\n你好世界。\n"
    assert markdown(source) == "שלום **עולם**\n\n你好**世界**。\n"
    assert html(source) == '<p dir="rtl">שלום <b>עולם</b></p>\n<p lang="zh">你好<b>世界</b>。</p>'


@pytest.mark.parametrize("source", ["", "<html></html>", "<html><body><img src='x'></body></html>"])
def test_pages_without_text(source: str) -> None:
    snapshot = page(source)
    assert write_text(snapshot, visible(snapshot)) == ""
    assert write_markdown(snapshot, only(snapshot, "")) == ""
    assert write_html(snapshot, only(snapshot, "")).endswith("<body>\n</body>\n</html>\n")
    assert msgspec.json.decode(write_json(snapshot, visible(snapshot)))["blocks"] == []


@pytest.mark.parametrize("tag", ["div", "blockquote", "ul", "b", "a", "table", "x-y"])
def test_nesting_1000_deep(tag: str) -> None:
    depth = 1000
    snapshot = body(f"<{tag} href='x'>" * depth + "deep" + f"</{tag}>" * depth)
    for write in WRITERS:
        assert "deep" in write(snapshot, visible(snapshot))


@pytest.mark.parametrize("tag", ["p", "li", "td", "br"])
def test_10000_equal_siblings(tag: str) -> None:
    one = "x<br>" if tag == "br" else f"<{tag}>x</{tag}>"
    snapshot = body(f"<ol>{one * 10_000}</ol>")
    for write in WRITERS:
        assert write(snapshot, visible(snapshot)).count("x") >= 10_000


def test_two_processes_with_different_hash_seeds_write_the_same_bytes() -> None:
    code = (
        "import sys; from tests.analysis.pages import page\n"
        "from domsieve import TagPathFilter\n"
        "from domsieve.analysis.cleaning.none import NoCleaning\n"
        "from domsieve.analysis.writers.evidence import write_json\n"
        "from domsieve.analysis.writers.html import write_html\n"
        "from domsieve.analysis.writers.markdown import write_markdown\n"
        "from domsieve.analysis.writers.text import write_text\n"
        "source = open('tests/analysis/fixtures/every_element.html', encoding='utf-8').read()\n"
        "for producer in ('raw', 'rendered'):\n"
        "    snapshot = page(source, producer=producer)\n"
        "    for method in (NoCleaning(), TagPathFilter(), TagPathFilter(mode='paper')):\n"
        "        for write in (write_text, write_markdown, write_html, write_json):\n"
        "            sys.stdout.buffer.write(write(snapshot, method.transform(snapshot)).encode())\n"
    )
    root = Path(__file__).parents[2]
    first, second = (
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    )
    assert first == second
    assert len(first) > 1000


class TestEvidence:
    SOURCE = "<div class='n'>menu <b>item</b></div><ul><li>a b</li><li>c</li></ul><p>d</p>"

    def test_blocks_give_range_path_and_reason(self) -> None:
        snapshot = body(self.SOURCE)
        found = text_blocks(snapshot, TagPathFilter(max_rounds=0).transform(snapshot))
        assert [(b.text, b.path, b.kept, b.words) for b in found] == [
            ("menu item", "html/body/div", False, 2),
            ("a b", "html/body/ul/li", True, 2),
            ("c", "html/body/ul/li", True, 1),
            ("d", "html/body/p", True, 1),
        ]
        for block in found:
            assert snapshot.kind[block.start] == Kind.TEXT
            assert block.reason == ("in the main region" if block.kept else "outside the main region")

    def test_neighbours_of_one_decision_are_one_block(self) -> None:
        snapshot = body(self.SOURCE)
        found = text_blocks(snapshot, visible(snapshot))
        assert [(b.text, b.path, b.numbers) for b in found] == [("menu item\na b\nc\nd", "html/body", {})]

    def test_json_is_complete_and_valid(self) -> None:
        snapshot = body(self.SOURCE)
        verdict = TagPathFilter().transform(snapshot)
        data = msgspec.json.decode(write_json(snapshot, verdict))
        assert list(data) == [
            *(
                "url",
                "final_url",
                "producer",
                "rendered",
                "reason",
                "complete",
                "reasons",
                "status",
                "fault",
                "marks",
                "warnings",
                "metadata",
                "method",
                "instead_of",
                "parameters",
                "threshold",
                "expected_f1",
                "site_pages",
                "words",
                "invisible_characters",
                "unsure_texts",
                "text",
                "blocks",
            )
        ]
        assert data["method"] == "tps"
        assert data["parameters"]["gap"] == 0.2
        assert data["words"]["kept"] + data["words"]["dropped"] == 6
        assert data["text"] == write_text(snapshot, verdict)
        assert set(data["blocks"][0]["numbers"]) == {"path", "count", "position", "region"}

    def test_dropped_blocks_come_largest_first(self) -> None:
        snapshot = body("<p>one</p><p>two three</p><i>four five six</i><p>seven</p>")
        nothing = np.zeros(len(snapshot), np.bool_)
        verdict = Verdict(
            "test",
            nothing,
            np.linspace(0, 1, len(snapshot), dtype=np.float32),
            nothing.astype(np.uint8),
            ("dropped",),
        )
        assert [b.text for b in dropped_blocks(snapshot, verdict, limit=2)] == ["four five six", "two three"]

    def test_long_paths_are_cut_at_the_top(self) -> None:
        snapshot = body("<div>" * 30 + "a" + "</div>" * 30)
        assert text_blocks(snapshot, visible(snapshot))[0].path == "…" + "/div" * 16


@pytest.mark.parametrize(
    ("kind", "title"), [("text/html; x=xml", "Ant"), ("application/xhtml+xml; x=y", "Bee")]
)
def test_only_the_type_of_a_page_says_whether_it_is_xml(kind: str, title: str) -> None:
    snapshot = page(
        "<html><head><title xmlns='urn:x'>Ant</title><title>Bee</title></head><body>a</body></html>"
    )
    typed = replace(snapshot, provenance=msgspec.structs.replace(snapshot.provenance, content_type=kind))
    assert f"<title>{title}</title>" in write_html(typed, NoCleaning().transform(typed))


@pytest.mark.parametrize(
    "first",
    [
        "<svg><foreignObject>{}</foreignObject></svg>",
        "<math><mtext>{}</mtext></math>",
        "<math><annotation-xml encoding='TEXT/html'>{}</annotation-xml></math>",
        "<math><annotation-xml><svg><desc>{}</desc></svg></annotation-xml></math>",
        "<svg><title>Bee</title></svg>{}",
        "<math><title>Bee</title><annotation-xml><title>Cat</title></annotation-xml></math>{}",
        "<math><mi><svg><title>Bee</title></svg></mi></math>{}",
    ],
)
def test_the_title_of_a_raw_page_is_the_first_of_html(first: str) -> None:
    snapshot = page(f"<html><body>{first.format('<title>Ant</title>')}<title>Dog</title>a</body></html>")
    assert "<title>Ant</title>" in write_html(snapshot, NoCleaning().transform(snapshot))
