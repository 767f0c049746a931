"""The preview of Markdown: what a page wrote becomes a document that does nothing."""

import html.parser
import re
import resource

import pytest

from domsieve.service.web.shown_results import PREVIEW_POLICY, PREVIEWED, preview

SAFE_TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "span",
        "p",
        "pre",
        "code",
        "em",
        "strong",
        "s",
    ),
    *("ul", "ol", "li", "blockquote", "hr", "br", "table", "thead", "tbody", "tr", "th", "td"),
    *(f"h{level}" for level in range(1, 7)),
}
SAFE_ATTRIBUTES = {"class", "title", "charset", "name", "content", "lang", "start", "style"}
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<svg/onload=alert(1)><iframe src="//evil.example/">',
    "[a](javascript:alert(1)) [a](JaVaScRiPt:alert(1)) [a](data:text/html,<script>alert(1)</script>)",
    '[a](http://evil.example/"onmouseover="alert(1))',
    '[a](<http://evil.example/" onmouseover="alert(1)> "title\\" onclick=\\"alert(1)")',
    "![x](http://evil.example/track.png) ![<script>](//evil.example)",
    "<http://evil.example/> <javascript:alert(1)>",
    '```"><script>alert(1)</script>\n<script>\n```',
    "| <script> | b |\n|:-:|---|\n| <img onerror=a src=b> | `<x>` |",
    "---\ntitle: </pre><script>alert(1)</script>\n---\n\ntext",
    "[a]: javascript:alert(1)\n\n[a] ![a]",
    "<!-- --><base href=//evil.example/><meta http-equiv=refresh content=0;url=//evil.example/>",
    "</style></main><style>@import '//evil.example'</style>",
    "&lt;script&gt; &#60;script&#62; &#x3c;img src=x&#x3e;",
    "<div style='background:url(//evil.example)'>\n\n# h </h1><script>",
]


class Reader(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))


def body_of(markdown: str) -> str:
    found = re.search("<main>\n(.*)</main>", preview(markdown), re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize("markdown", HOSTILE)
def test_nothing_that_a_page_writes_becomes_an_element_that_acts(markdown: str) -> None:
    reader = Reader()
    reader.feed(preview(markdown))
    assert {tag for tag, _ in reader.tags} <= SAFE_TAGS
    assert {name for _, attributes in reader.tags for name, _ in attributes} <= SAFE_ATTRIBUTES
    styles = [value for _, attributes in reader.tags for name, value in attributes if name == "style"]
    assert {*styles} <= {"text-align:left", "text-align:center", "text-align:right"}


def test_markdown_is_shown_as_it_is_meant() -> None:
    body = body_of(
        "# Title\n\nSome *words* and a [link](https://example.org/).\n\n| a |\n|---|\n| 1 |\n\n- one\n"
    )
    assert "<h1>Title</h1>" in body
    assert '<span class="link" title="https://example.org/">link</span>' in body
    assert "<td>1</td>" in body
    assert "<li>one</li>" in body


def test_front_matter_stands_apart() -> None:
    body = body_of("---\ntitle: A <b>\n---\n\n# B\n")
    assert body.startswith('<pre class="front">title: A &lt;b&gt;</pre>\n<h1>B</h1>')
    assert "<hr>" in body_of("---\n\nno front matter\n").replace(" /", "")


def test_a_picture_is_its_words() -> None:
    assert '<span class="image">an owl</span>' in body_of("![an *owl*](https://example.org/owl.png)")
    assert '<span class="image">picture</span>' in body_of("![](https://example.org/owl.png)")


def test_the_end_of_a_long_text_is_left_out() -> None:
    assert "The rest is not previewed" in preview("a" * (PREVIEWED + 1))
    assert "The rest is not previewed" not in preview("a" * PREVIEWED)


def test_the_policy_allows_one_style_and_nothing_else() -> None:
    rules = dict(rule.strip().partition(" ")[::2] for rule in PREVIEW_POLICY.split(";"))
    assert rules.pop("style-src").startswith("'sha256-")
    assert rules == {
        "sandbox": "",
        "default-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'self'",
    }


@pytest.mark.parametrize(
    "piece",
    [
        *("[", "![", "[a](", "](", "[]", "![[]()", '[a](b "', "*a ", "**a", "*_", "~~a ", "`", "\\", "&"),
        *("> ", "* ", "- a\n", "- a\n\n  ", "|a|b|\n|-|-|\n", "# a\n", "a\n", "<", "<a ", "<a@b."),
    ],
)
def test_hostile_text_costs_seconds_at_most(piece: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF)
    preview(piece * (PREVIEWED // len(piece)))
    after = resource.getrusage(resource.RUSAGE_SELF)
    # Quadratic time would be thousands of seconds; processor time does not count what else the machine does.
    assert after.ru_utime - before.ru_utime < 60


@pytest.mark.parametrize("kind", ["NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION"])
@pytest.mark.parametrize("gap", ["\n> ", "\n>\n> "])
def test_callouts_look_like_callouts(kind: str, gap: str) -> None:
    shown = preview(f"> [!{kind}]{gap}Mind *this*.\n\n> a quote")
    assert f'<blockquote class="callout {kind.lower()}">\n<p class="kind">{kind.capitalize()}</p>' in shown
    assert "<p>Mind <em>this</em>.</p>" in shown
    assert f"[!{kind}]" not in shown
    assert "<blockquote>\n<p>a quote</p>" in shown


@pytest.mark.parametrize("markdown", ["> [!OTHER]\n> a", "> [!NOTE] a", "> a\n> [!NOTE]", "[!NOTE]\n\na"])
def test_other_quotes_are_no_callouts(markdown: str) -> None:
    assert 'class="callout' not in preview(markdown)
