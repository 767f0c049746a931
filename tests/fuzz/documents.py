"""Documents as hostile as strangers write them, as text and as bytes: inputs that several groups share."""

from html import escape

from hypothesis import strategies as st

from tests.fuzz.pages import SEEDS

URL = "https://example.org/dir/page.html"

# Words that mean something to one of the formats that are written, or to what shows them.
_SIGNS = r"""
=1+1
+1
-2
@SUM(A1)
=cmd|' /C calc'!A0
＝1
-3.5
1,234.50 €
$5
https://a.example/x?y=1&z=(2)#w
javascript:alert(1)
data:text/html,<b>x
<script>alert(1)</script>
"><img src=x onerror=alert(1)>
</title><svg onload=alert(1)>
]]><!--
--></script>
</pre></td></table></body></html>
<!doctype html>
[a](javascript:b)
![a](b)
*a* _b_ **c** ~~d~~
`code` ``
```
~~~
# head
- item
1. item
> quote
---
===
|a|b|
|-|-|
[x]
[^1]
[^1]: note
[!NOTE]
&lt; &amp;amp; &#60; &bogus; &notit;
\
\*
a\
{"a": 1}
key: value
"quoted", 'too'
a,b;c
2026-02-30
2026-01-01T25:61:00+99:99
January 32, 2026
By Ann Example and Bob Sample
© 2026 All rights reserved
Read more
Advertisement
We use cookies. Accept all
Sign in to continue
Page not found
word
two words
A sentence of some length, with commas, that ends here.
The mill was built in 1804, burned down twice, and grinds the flour of the whole valley to this day.
这是一个句子。
漢字かな交じり文
שלום עולם
نص عربي
żółw
""".strip().split("\n")
_INVISIBLE = (
    "\u202eesrever\u202c",
    "\u2066a\u2069b",
    "zero\u200bwidth\u200d\u2060\ufeff",
    "a\u00a0b\u3000c\u2028d\u2029e\u0085f",
    "\x1b[31mred\x07\u009b",
    "\x00\x01\x7f",
    "\ufffe\uffff\ufdd0",
    "e\u0301\u0301\u0301",
    "\U0001f469\u200d\U0001f467",
    "a\tb\r\nc\rd\fe",
    "   ",
    "\n",
    " ",
    "",
)
WORDS = (*_SIGNS, *_INVISIBLE)
ENTITIES = ("&#0;", "&#x0;", "&#xD800;", "&#x110000;", "&#1;", "&#xffff;", "&nbsp;", "&lt", "&amp;lt;", "&#")

_INLINE = """
a abbr b bdo br cite code data del em font i img ins kbd label mark q rp rt ruby s samp small span strike
strong sub sup time tt u var wbr x-y math mi mn mo svg text slot
"""
_BLOCK = """
address article aside blockquote body caption center col colgroup dd details dialog div dl dt fieldset
figcaption figure footer form frameset h1 h2 h3 h6 head header hgroup hr html legend li main menu nav ol
optgroup option p pre section summary table tbody td tfoot th thead tr ul x-block search picture
"""
_ODD = """
script style noscript template textarea title plaintext xmp listing iframe noembed noframes object embed
select button input meter progress audio video source track canvas base link meta x-shadow-root x-document
x-before datalist map area marquee blink image isindex keygen param
"""
INLINE, BLOCK, ODD = _INLINE.split(), _BLOCK.split(), _ODD.split()
_NAMES = (
    "article",
    "comments",
    "sidebar ad-banner",
    "related-posts",
    "nav menu",
    "cookie-consent",
    "paywall",
    "share",
    "author",
    "breadcrumb",
    "footnotes",
    "admonition warning",
    "admonition-title",
    "highlight-python3",
    "language-js",
    "katex",
    "sr-only",
    "hidden",
    "a" * 200,
    "\u202e\x1b",
    "-",
    "",
)
ATTRIBUTES = (
    *(f'class="{escape(name)}"' for name in _NAMES),
    *(f'id="{escape(name)}"' for name in _NAMES[:8]),
    "hidden",
    "hidden=until-found",
    "style='display:none'",
    "style='display : NONE; x'",
    "style=visibility:hidden",
    "style='background:url(javascript:x)'",
    "onclick=alert(1)",
    "ONERROR='alert(1)'",
    "href=/a",
    "href='#fn1'",
    "href='javascript:alert(1)'",
    "href=' JAVA\tscript:alert(1)'",
    "href='data:text/html,<script>x</script>'",
    "href='//evil.example/ x'",
    "href='http://['",
    "href='mailto:a@b.example'",
    "href='a)b(c \"d'",
    "src=x.png",
    "src='javascript:x'",
    "srcset='a.png 1x, b.png 2x, , c 99999999999w'",
    "src=https://www.youtube.com/embed/abc",
    "data-src=y.png",
    "alt='a ](b) &lt;c&gt;'",
    "alt=''",
    "title='\"&gt;&lt;script&gt;'",
    "colspan=3",
    "colspan=99999999999999999999",
    "colspan=-1",
    "rowspan=²",
    "rowspan=65535",
    "start=-99999999999999999999",
    "start=7",
    "value=٣",
    "reversed",
    "type=hidden",
    "type=checkbox checked",
    "role=heading aria-level=9999999999",
    "role=presentation",
    "role=navigation",
    "aria-hidden=true",
    "lang=xx-\u202e",
    "dir=rtl",
    "slot=a",
    "shadowrootmode=open",
    "itemprop=name itemscope itemtype=https://schema.org/Article",
    "property=og:title content='a\nb'",
    "name=author content='<b>'",
    "property=article:published_time content=9999-99-99",
    "http-equiv=refresh content='0;url=javascript:x'",
    "charset=shift_jis",
    "rel=canonical href=javascript:x",
    "rel=license href='https://a.example/\"><b>'",
    "datetime='2026-01-01'",
    "display=block alttext='x^2 $ \\end{a}'",
    "data-language='``` js'",
    "cite=javascript:x",
    "=x",
    "a='",
    'b="',
    "\x01=\x02",
    "x:y=z",
    "é=ü",
)
# Pieces that stand alone.
_PIECES = (
    "<!-- comment -->",
    "<!-->",
    "<!--",
    "<![CDATA[x<b>]]>",
    "<?xml version='1.0' encoding='utf-16'?>",
    "<?php echo 1 ?>",
    "<!doctype html>",
    "<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.01//EN'>",
    "<",
    "</",
    "<>",
    "</>",
    "<a",
    "<a b='",
    "<//x>",
    "</p>",
    "</body>",
    "</html>",
    "</table>",
    "</script>",
    "</textarea>",
    "<br><br>",
    "<hr/>",
    "<script>document.write('<p>x</p>')</script>",
    '<script type=application/ld+json>{"@type":"Article","headline":[1,{"a":null}],"author":"\\ud800"}</script>',
    '<script type=\'application/ld+json\'>[[[[{"@graph":[{"datePublished":1e999}]}]]]]</script>',
    "<style>p::before{content:'x'}</style>",
    "<noscript><img src=x><p>no scripts</p></noscript>",
    "<template><p>t</p></template>",
    "<svg><title>t</title><text>in a drawing</text><foreignObject><p>x</p></foreignObject></svg>",
    "<math><annotation encoding='application/x-tex'>\\frac{a}{b}</annotation></math>",
    "<iframe srcdoc='<p>x'></iframe>",
    "<select><option>a<option>b</select>",
    "<pre>\n\n a\n\tb </pre>",
    "<pre><code class=language-python>def f():\n    return `1`\n```\n</code></pre>",
    "<textarea><b>x</textarea>",
    "<title>A title - Site | Name</title>",
    "<table><caption>c</caption><tr><th>a<th>b<tr><td rowspan=2>1<td>2<tr><td>3</table>",
    "<table><tr><td><table><tr><td>x</table></table>",
    "<ol start=9><li>a<ul><li>b</ol><li>c</ul>",
    "<dl><dt>t<dd>d</dl>",
    "<p>x<sup><a href='#fn1'>1</a></sup></p><ol><li id=fn1>note <a href='#r'>↩</a></ol>",
    "<figure><img src=s.png alt='a hill'><figcaption>In May</figcaption></figure>",
    "<a href=x><h2>a</h2><p>b</p></a>",
    "<b>a<div>b</div></b>",
    "<base href='//other.example/x/'>",
    "<meta charset=utf-7>",
    "<plaintext>",
)


def _named(name: str, attributes: list[str], inside: list[str], closed: bool) -> str:
    start = " ".join((name, *attributes))
    return f"<{start}>{''.join(inside)}" + (f"</{name}>" if closed else "")


_attributes = st.lists(st.sampled_from(ATTRIBUTES), max_size=3)
_text = st.one_of(
    st.sampled_from(WORDS).map(lambda text: escape(text, quote=False)),
    st.sampled_from(WORDS),
    st.sampled_from(ENTITIES),
    st.text(st.characters(codec="utf-8"), max_size=6),
)
_tag = st.one_of(
    st.sampled_from(INLINE), st.sampled_from(BLOCK), st.sampled_from(BLOCK), st.sampled_from(ODD)
)
_leaf = st.one_of(_text, _text, st.sampled_from(_PIECES))

trees = st.recursive(
    _leaf,
    lambda inside: st.builds(
        _named, _tag, _attributes, st.lists(inside, max_size=4), st.sampled_from((True, True, True, False))
    ),
    max_leaves=20,
)
"""An element with others inside, most of them closed."""

_token = st.one_of(
    _leaf,
    st.builds(lambda name, given: f"<{' '.join((name, *given))}>", _tag, _attributes),
    _tag.map("</{}>".format),
)
soups = st.lists(_token, max_size=40).map("".join)
"""Tags and words in any order."""

rows = st.builds(
    lambda before, piece, times, behind: before + piece * times + behind,
    soups,
    st.one_of(trees, soups),
    st.integers(2, 30),
    soups,
)
"""The same fragment many times over, as in lists."""

deep = st.builds(
    lambda names, times, inside, closed: (
        "".join(f"<{name}>" for name in names) * times
        + inside
        + "".join(f"</{name}>" for name in reversed(names)) * times * closed
    ),
    st.lists(_tag, min_size=1, max_size=3),
    st.integers(1, 200),
    trees,
    st.booleans(),
)
"""Elements in elements in elements."""


def _mutated(seed: str, steps: list[tuple[int, int, int, str]]) -> str:
    """Return a page with parts of it cut, doubled, moved, or replaced; places are thousandths of its length."""
    for kind, at, length, token in steps:
        a = at * len(seed) // 1000
        b = min(a + length, len(seed))
        part = seed[a:b]
        seed = (
            seed[:a] + seed[b:],
            seed[:b] + part * 3 + seed[b:],
            seed[:a] + token + seed[a:],
            seed[:a] + token + seed[b:],
            seed[:a] + part[::-1] + seed[b:],
            part + seed[:a] + seed[b:],
            seed[:b],
            seed[:a] + part.swapcase() + seed[b:],
        )[kind]
    return seed


mutants = st.builds(
    _mutated,
    st.sampled_from(SEEDS),
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 1000), st.integers(0, 80), _token),
        max_size=12,
    ),
)
"""Pages like real ones with damage."""


def _wrapped(body: str, head: str, kind: int) -> str:
    return (
        body,
        f"<!doctype html><html><head>{head}</head><body>{body}</body></html>",
        f"<html lang=en><head><title>T</title>{head}<body><main>{body}</main><footer>foot",
        f"<body>{body}</body><p>behind</p>",
    )[kind]


documents = st.builds(
    _wrapped,
    st.one_of(soups, trees, rows, mutants, mutants, deep),
    soups,
    st.sampled_from((0, 1, 1, 1, 2, 3)),
)
"""A whole page, as text."""

_CODECS = (
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "latin-1",
    "cp1252",
    "shift_jis",
    "gb18030",
    "iso2022_jp",
    "euc_kr",
    "utf-7",
)


def _encoded(text: str, codec: str, label: str, junk: bytes, at: int) -> bytes:
    data = (f"<meta charset={label}>" * bool(label) + text).encode(codec, "replace")
    a = at * len(data) // 1000
    return data[:a] + junk + data[a:]


sources = st.builds(
    _encoded,
    documents,
    st.sampled_from(_CODECS),
    st.sampled_from(
        ("", "", "utf-8", "shift_jis", "utf-16", "x-user-defined", "bogus", "iso-8859-1", "gbk", "big5")
    ),
    st.one_of(
        st.just(b""),
        st.just(b""),
        st.binary(max_size=6),
        st.sampled_from((b"\xed\xa0\x80", b"\xff\xfe", b"\0")),
    ),
    st.integers(0, 1000),
)
"""A whole page, as bytes in some encoding, or in none."""

plain_sources = documents.map(lambda text: text.encode("utf-8", "replace"))
"""A whole page in UTF-8."""
