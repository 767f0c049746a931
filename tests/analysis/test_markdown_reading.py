"""Whatever a page says and however it is nested, its Markdown read back has the same words, and no other markup."""

import re
from html import escape

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.text import write_text
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from tests.analysis.pages import page
from tests.analysis.reading import BARE_TAG, read

SIGNS = "ab1 _*~`<>&[]()!#+-=|:;\\$./\"'x\u00a0中。é\u3000"
# What Markdown would take for something else, a line each.
TEMPTING = r"""
1. a
- a
+
* b
# c
#
###### d #
> e
---
===
***
```
~~~
|a|b|
|-|-|
:-
[a]: b
[a](javascript:b)
![a](b)
[x] c
[^1]
[^1]: a b
<b>
</p>
<!--
<?a
<script>alert(1)</script>
<http://a.b>
&lt;
&amp;amp;
&#60;
\
\*
a\
snake_case
__init__
2 * 3
a < b
*a*
**
~~a~~
`a`
``
$a$
wow!
a_
_a
*
_
two words
10) ten
-
a | b
<kbd>
$5
""".strip().split("\n")
WORDS = st.one_of(st.text(SIGNS, min_size=1, max_size=8), st.sampled_from(TEMPTING))
INLINE = [
    "b",
    "i",
    "em",
    "strong",
    "del",
    "s",
    "code",
    "kbd",
    "sub",
    "sup",
    "mark",
    "span",
    "a href='/x(1)'",
    "samp",
]
BLOCKS = [
    "p",
    "div",
    "ul",
    "ol",
    "li",
    "blockquote",
    "h1",
    "h3",
    "h6",
    "table",
    "tr",
    "td",
    "th",
    "thead",
    "pre",
    "dl",
    "dt",
    "dd",
    "figure",
    "section",
    "ol start='7'",
    "td colspan='3'",
    "td rowspan='2'",
    "pre class='lang-js'",
    "div class='admonition note'",
    "details",
    "summary",
    "div class='line'",
    "x-y",
]


def _element(name: str, inside: list[str]) -> str:
    return f"<{name}>{''.join(inside)}</{name.split(maxsplit=1)[0]}>"


def _elements(names: list[str], inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(_element, st.sampled_from(names), st.lists(inside, max_size=5))


TEXT = WORDS.map(lambda words: escape(words, quote=False))
LINES = st.recursive(
    st.one_of(TEXT, TEXT, st.sampled_from(["<br>", " ", "<hr>", "<img src='a' alt='[b](c) *'>"])),
    lambda inside: _elements(INLINE, inside),
    max_leaves=10,
)
PAGES = st.recursive(LINES, lambda inside: _elements(BLOCKS, inside), max_leaves=25)


def assert_same(snapshot: Snapshot) -> None:
    """Fail unless the Markdown of a page says what its text says, and leads nowhere else."""
    verdict = NoCleaning().transform(snapshot)
    markdown = write_markdown(snapshot, verdict)
    found = read(markdown)
    # The kind of a callout is not on the page.
    assert [word for word in found.words if word != "[!NOTE]"] == write_text(snapshot, verdict).split(), (
        markdown
    )
    assert all(BARE_TAG.fullmatch(tag) for tag in found.html), found.html
    assert all(re.match("https://example.org/", address) for _, address in found.links + found.images)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(LINES, min_size=1, max_size=8))
@example(["1", "<b><code>1<br></code></b>"])  # several lines, but not alone in theirs
@example(["<a href='/x(1)'><code>]:</code></a>"])  # like the address of a label
@example(["<a href='/x(1)'>a<br><code>b]: c</code></a>"])  # the same on two lines
@example(["<a href='/x(1)'><code>[^1]: a b</code><b>:</b></a>"])  # like one, but with a bracket in the label
@example(["[a <b>b<br>c</b> d]: e"])
def test_lines_say_the_same(parts: list[str]) -> None:
    assert_same(page(f"<html><body><p>{''.join(parts)}</p></body></html>"))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(PAGES, min_size=1, max_size=6))
@example(["<table><th>1</th><h1>a</h1></table>"])  # a heading behind the row
def test_pages_say_the_same(parts: list[str]) -> None:
    source = f"<html><body>{''.join(parts)}</body></html>"
    assert_same(page(source))
    assert_same(page(source, producer="rendered"))
    assert_same(parse_html(f"<!doctype html>{source}".encode(), url="https://example.org/dir/page.html"))
