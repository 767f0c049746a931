"""What Markdown keeps of a page: the measure sees each kind of loss, and the pages are drawn as the rule says."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import lxml.html
import pytest

from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from experiments.corpora.main_elements import draw_from_sites, inside_main, main_of
from experiments.corpora.wcxb_pages import ReviewedPage
from experiments.experiments.fidelity import FIDELITY, measure_drawn, measure_reference, measure_reviewed
from experiments.frame.experiment import Inputs
from experiments.measures.structures import (
    Structures,
    f1_of,
    glued,
    read_elements,
    read_markdown,
    share_found,
)
from tests.analysis.contract import SENTENCE
from tests.experiments.small_sites import write_site
from tests.experiments.test_wcxb import write_page

URL = "https://example.org/guide/"
MAIN = """<main><h2>Tools <a href="#tools">¶</a></h2>
<p>Saws cut <a href="wood">wood</a>.</p>
<pre>def saw():
    return 1</pre>
<table><tr><th>Tool<th>Price</tr><tr><td>saw<td>7</tr></table>
<ol><li>measure<ul><li>twice</ul></li><li>cut</ol>
<p hidden>unseen words</p></main>"""
MARKDOWN = """\
## Tools

Saws cut [wood](https://example.org/guide/wood).

```
def saw():
    return 1
```

| Tool | Price |
| --- | --- |
| saw | 7 |

1. measure
   - twice
2. cut
"""


def truth() -> Structures:
    return read_elements(lxml.html.fragment_fromstring(MAIN), URL)


def test_page_and_markdown_hold_the_same() -> None:
    found, wanted = read_markdown(MARKDOWN), truth()
    assert wanted.headings == {(2, "Tools"): 1}
    assert wanted.code == {"def saw():\n    return 1": 1}
    assert wanted.cells == {(0, 0, "Tool"): 1, (0, 1, "Price"): 1, (1, 0, "saw"): 1, (1, 1, "7"): 1}
    assert wanted.items == {(1, True, "measure"): 1, (2, False, "twice"): 1, (1, True, "cut"): 1}
    assert wanted.links == {"https://example.org/guide/wood": 1}
    for part in ("headings", "code", "cells", "rows", "items", "links", "words"):
        assert getattr(found, part) == getattr(wanted, part), part
    assert (found.relative, glued(found, wanted)) == (0, 0)


@pytest.mark.parametrize(
    ("part", "damage"),
    [
        ("headings", lambda text: text.replace("## ", "# ")),
        ("code", lambda text: text.replace("    return", "  return")),
        ("cells", lambda text: text.replace("| saw | 7 |", "| saw 7 | |")),
        ("items", lambda text: text.replace("2. cut", "   - cut")),
        ("links", lambda text: text.replace("/wood)", "/steel)")),
    ],
)
def test_each_loss_is_seen(part: str, damage: Callable[[str], str]) -> None:
    wanted = getattr(truth(), part)
    whole, damaged = (getattr(read_markdown(text), part) for text in (MARKDOWN, damage(MARKDOWN)))
    shares = [share_found(found, wanted) for found in (whole, damaged)]
    assert (shares[1] or 0) < (shares[0] or 0)
    assert (f1_of(damaged, wanted) or 0) < (f1_of(whole, wanted) or 0)


def test_glued_words_and_relative_links_are_counted() -> None:
    assert glued(read_markdown("Sawscut wood"), truth()) == 1
    assert glued(read_markdown("Sawswood. Sawdust"), truth()) == 0, "no neighbours, and no two words"
    assert read_markdown("[a](b) [c](https://d.example/)").relative == 1


def test_nothing_to_find_has_no_share() -> None:
    assert share_found(Counter("a"), Counter()) is None
    assert f1_of(Counter("a"), Counter()) is None


@pytest.mark.parametrize(
    ("html", "markdown", "part"),
    [
        ("<pre> \n\na<br>b<div>c</div>d</pre>", "```\na\nb\nc\nd\n```", "code"),
        ("<pre><pre><code>a</code></pre></pre>", "```\na\n```", "code"),
        ("<pre>a<button><i>Copy</i></button></pre>", "```\na\n```", "code"),
        ("<h2>a <pre>1.0</pre></h2><pre>b</pre>", "## a 1.0\n\n```\nb\n```", "code"),
        ("<ul><ul><li>a</li></ul></ul>", "- a", "items"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "- a\n  - b", "items"),
        (
            "<ul><li>a<table><caption>c</caption><tr><td>1<td>2<tr><td>3<td>4</table></ul>",
            "- a\n\n  c\n\n  | 1 | 2 |\n  | - | - |\n  | 3 | 4 |",
            "items",
        ),
        ("<ol class=footnotes><li>a</ol>", "[^1]: a", "items"),
        ("<h2>a<a href='#n'>[1]</a></h2>", "## a[^1]", "headings"),
        ("<p>a<a href='#n'>[1]</a> <a href=b>b</a></p>", "a[^1] [b](https://example.org/guide/b)", "links"),
        ("<table><tr><td><p>a<p>b<td>c<tr><td>d<td>e</table>", "a\n\nb\n\nc\n\nd\n\ne", "cells"),
        ("<div class=note><p>a</p></div>", "> [!NOTE]\n> a", "words"),
        ("<p>a<b style='visibility: hidden'>b</b> <span hidden>c</span>", "a", "words"),
        ("<video title='The mill' src=m></video>", "[The mill](https://example.org/guide/m)", "words"),
    ],
)
def test_what_is_written_otherwise_is_no_loss(html: str, markdown: str, part: str) -> None:
    wanted = read_elements(lxml.html.fragment_fromstring(html, create_parent="div"), URL)
    assert getattr(read_markdown(markdown), part) == getattr(wanted, part)


def test_the_main_element_is_the_one_outermost() -> None:
    whole = "<body><nav>a</nav><main>b<article>c</article></main></body>"
    main = main_of(lxml.html.document_fromstring(whole))
    assert main is not None
    assert main.tag == "main"
    page = parse_html(whole.encode(), url=URL)
    inside = inside_main(page)
    assert [page.text_of(node) for node in range(len(page)) if inside[node] and page.text[node] >= 0] == [
        "b",
        "c",
    ]
    two = "<body><main>a</main><main>b</main></body>"
    assert main_of(lxml.html.document_fromstring(two)) is None
    with pytest.raises(TargetError, match="2 main elements"):
        inside_main(parse_html(two.encode(), url=URL))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder of corpora: two pages worth drawing among three, and one whose Markdown is known."""
    (tmp_path / "sites").mkdir()
    pages = {
        "a": (None, f"<html><body>{MAIN}</body></html>", None),
        "b": (None, "<html><body><p>No main element</p></body></html>", None),
        "c": (None, "<html><body><article><h2>One</h2>Words</article></body></html>", None),
    }
    write_site(tmp_path / "sites" / "shop.zip", pages)
    write_page(tmp_path, "0001", main_content="A post.", main_content_markdown="A post.")
    return tmp_path


def test_pages_are_drawn_for_what_stands_in_them(data: Path) -> None:
    drawn = draw_from_sites(data)
    assert [page.name for page in drawn] == ["shop/pages/a.html", "shop/pages/c.html"]
    assert drawn[0].kinds == ("code", "tables", "lists", "headings", "links")
    assert drawn[1].kinds == ("headings",)
    assert [page.name for page in draw_from_sites(data)] == [page.name for page in drawn]


def test_the_experiment_measures_and_tells(data: Path) -> None:
    rows = measure_drawn(data, "sites")
    assert rows[0]["main"] == dict.fromkeys(("code", "cells", "items", "headings", "links"), 1.0)
    assert (rows[0]["relative"], rows[0]["glued"]) == (0, 0)
    tasks = FIDELITY.tasks(Inputs(data, data / "out"))
    assert [task.name for task in tasks] == ["drawn from sites", "drawn from wcxb", "0001-0001"]
    folder = data / "wcxb" / "dev"
    pair = (folder / "html" / "0001.html.gz", folder / "ground-truth" / "0001.json")
    rows += measure_reviewed((pair,))
    assert rows[-1]["systems"]["auto"]["words"] == 1.0
    titles = [table.title for table in FIDELITY.tables(rows)]
    assert any("main element" in title for title in titles)
    assert any("reference" in title for title in titles)


def test_ours_is_what_users_get(tmp_path: Path) -> None:
    title = "How the old mill was mended"
    article = f"<article>{f'<p>{SENTENCE}</p>' * 8}</article>"
    source = (
        f"<html><head><title>{title}</title></head><body><div><h1>{title}</h1></div>{article}</body></html>"
    )
    page = parse_html(source.encode(), url=URL)
    bare = write_markdown(page, AutoCleaner().transform(page))
    assert title not in bare, "the cleaner alone drops the title here"
    reviewed = ReviewedPage("1", "article", URL, "example.org", source.encode(), "", f"# {title}", (), ())
    assert measure_reference(reviewed)["systems"]["auto"]["headings"] == 1.0
