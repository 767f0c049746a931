"""Passages for retrieval: where they are cut, what they stand below, and that no word is lost."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.writers.chunks import Chunk, chunks_of, write_chunks
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.errors import UsageError
from domsieve.renderer.html_parser.parser import parse_html

URL = "https://example.org/guide"
GUIDE = """<!doctype html><html lang=en><head><title>Guide</title></head><body><h1 id=top>The <em>guide</em></h1>
<section id=install><h2>Install<a href=#install>¶</a></h2><h3><a name=linux></a>Linux</h3><p>Run this.</p>
<pre><code class=language-sh>make setup
make test</code></pre></section><section><h2>Use</h2><p>First.</p><ul><li>one<p>more of one</p><li>two</ul></section>
<h2>See also</h2></body></html>"""


def cut(html: str, max_words: int = 300, url: str = URL) -> list[Chunk]:
    page = parse_html(html.encode(), url=url)
    return chunks_of(page, NoCleaning().transform(page), max_words=max_words)


def sentences(count: int, words: int = 9) -> str:
    return " ".join(
        " ".join(f"w{number}" for _ in range(words)) + f" end{number}." for number in range(count)
    )


def test_sections_with_their_headings_and_anchors() -> None:
    chunks = cut(GUIDE)
    assert [(chunk.headings, chunk.fragment) for chunk in chunks] == [
        (("The guide", "Install¶", "Linux"), "linux"),
        (("The guide", "Use"), ""),
        (("The guide", "See also"), ""),
    ]
    assert chunks[0].text == (
        "# The *guide*\n\n## Install¶\n\n### Linux\n\nRun this.\n\n```sh\nmake setup\nmake test\n```"
    )
    assert chunks[1].text == "## Use\n\nFirst.\n\n- one\n\n  more of one\n\n- two"
    assert [chunk.words for chunk in chunks] == [11, 7, 2]


def test_lines_of_json_say_where_each_passage_stands() -> None:
    page = parse_html(GUIDE.encode(), url=f"{URL}")
    lines = write_chunks(page, NoCleaning().transform(page)).splitlines()
    first, second, _ = map(json.loads, lines)
    assert (first["url"], first["address"]) == (URL, f"{URL}#linux")
    assert (second["address"], second["number"], second["of"]) == (URL, 2, 3)
    assert first["metadata"]["title"] == "The guide"
    assert first["metadata"]["language"] == "en"
    route = parse_html(GUIDE.encode(), url=f"{URL}#/a")
    [line, *_] = write_chunks(route, NoCleaning().transform(route)).splitlines()
    assert json.loads(line)["address"] == f"{URL}#/a"


def test_code_and_tables_are_never_cut() -> None:
    code = "\n".join(f"line {number} of code" for number in range(40))
    rows = "".join(f"<tr><td>cell {number}<td>value" for number in range(40))
    chunks = cut(
        f"<h1>A</h1><p>{sentences(3)}</p><pre>{code}</pre><table><tr><th>a<th>b{rows}</table><p>x", 20
    )
    [fenced] = [chunk for chunk in chunks if "```" in chunk.text]
    assert fenced.text.startswith("```\nline 0")
    assert fenced.text.endswith("line 39 of code\n```")
    [table] = [chunk for chunk in chunks if "| a |" in chunk.text]
    assert table.text.count("\n") == 41
    assert chunks[-1].text == "x"


def test_long_paragraphs_are_cut_after_sentences() -> None:
    chunks = cut(f"<h1>A</h1><p>{sentences(10)}</p>", 25)
    assert all(chunk.words <= 25 for chunk in chunks)
    assert all(chunk.text.endswith(".") for chunk in chunks)
    assert {chunk.headings for chunk in chunks} == {("A",)}
    chunks = cut(f"<p>{'word ' * 95}</p>", 20)
    assert [chunk.words for chunk in chunks] == [20, 20, 20, 20, 15]


def test_scripts_without_blanks_are_counted_and_cut_by_characters() -> None:
    chunks = cut(f"<p>{'这是一个句子。' * 30}</p>", 20)
    assert all(12 <= chunk.words <= 20 for chunk in chunks)
    assert all(chunk.text.endswith("。") for chunk in chunks)
    assert sum(chunk.words for chunk in chunks) == 180


def test_links_and_code_in_lines_are_not_cut() -> None:
    link = "<a href=https://example.org/a/b/c>words of a link that is long</a> "
    chunks = cut(f"<p>{('some words here and ' + link) * 12}</p>", 20)
    assert len(chunks) > 5
    assert all(chunk.text.count("[") == chunk.text.count("](https://example.org/a/b/c)") for chunk in chunks)


def test_a_passage_says_which_nodes_it_is_from() -> None:
    page = parse_html(GUIDE.encode(), url=URL)
    chunks = chunks_of(page, NoCleaning().transform(page))
    for chunk, words in zip(chunks, ("The Run make", "Use First one two", "See also"), strict=True):
        first, end = chunk.nodes
        inside = "".join(page.strings.take([text for text in page.text[first:end].tolist() if text >= 0]))
        assert all(word in inside for word in words.split())
    assert chunks[0].path == "html/body"
    assert chunks[1].path == "html/body/section"
    assert chunks[2].path == "html/body/h2"
    assert all(before.nodes[1] <= after.nodes[0] for before, after in pairwise(chunks))


def test_parts_of_one_paragraph_have_the_nodes_of_all_of_it() -> None:
    first, *others = cut(f"<p>{'word ' * 95}</p>", 20)
    assert {chunk.nodes for chunk in others} == {first.nodes}


def test_repeated_texts_have_ids_of_their_own() -> None:
    once, twice = cut("<h2>A</h2><p>same"), cut("<h2>A</h2><p>same<h2>B</h2><p>b<h2>A</h2><p>same")
    assert [chunk.id for chunk in once] == [twice[0].id]
    assert len({chunk.id for chunk in twice}) == 3
    assert cut("<h2>A</h2><p>same", url=f"{URL}/other")[0].id != once[0].id


BLOCKS = st.lists(
    st.one_of(
        st.builds("<h{0}>head {1}</h{0}>".format, st.integers(1, 4), st.integers(0, 9)),
        st.builds(lambda n: f"<p>{sentences(n)}</p>", st.integers(0, 8)),
        st.builds(lambda n: f"<ul><li>{'<li>'.join(sentences(1) for _ in range(n))}</ul>", st.integers(1, 6)),
        st.builds(lambda n: f"<ol><li>{'<li>'.join(sentences(1) for _ in range(n))}</ol>", st.integers(1, 6)),
        st.builds(lambda n: f"<blockquote><p>{sentences(n)}<p>b</blockquote>", st.integers(1, 4)),
        st.just("<pre>a b\nc d</pre>"),
        st.just("<hr>"),
        st.just("<table><tr><th>h<tr><td>d e</table>"),
    ),
    max_size=9,
)


@settings(max_examples=150, deadline=None)
@given(BLOCKS, BLOCKS, st.integers(20, 60))
def test_what_is_put_in_at_the_top_changes_no_later_passage(
    blocks: list[str], new: list[str], max_words: int
) -> None:
    rest = f"<h2>Here the rest begins</h2><p>text</p>{''.join(blocks)}"
    before = cut(rest, max_words)
    # Text last, because a heading without text joins the section that follows.
    after = cut(f"{''.join(new)}<p>new</p>{rest}", max_words)[-len(before) :]
    assert [chunk.text for chunk in after] == [chunk.text for chunk in before]
    new_texts = {chunk.text for chunk in cut(f"{''.join(new)}<p>new</p>", max_words)}
    kept = [chunk.id for chunk in before if chunk.text not in new_texts]
    assert [chunk.id for chunk in after if chunk.text not in new_texts] == kept


@settings(max_examples=150, deadline=None)
@given(BLOCKS, st.integers(20, 60))
def test_the_nodes_of_passages_are_in_order_and_hold_their_words(blocks: list[str], max_words: int) -> None:
    page = parse_html("".join(blocks).encode(), url=URL)
    chunks = chunks_of(page, NoCleaning().transform(page), max_words=max_words)
    assert all(before.nodes[0] <= after.nodes[0] for before, after in pairwise(chunks))
    for chunk in chunks:
        texts = [text for text in page.text[slice(*chunk.nodes)].tolist() if text >= 0]
        inside = "".join(page.strings.take(texts))
        assert all(word in inside for word in re.findall(r"w\d|head|b", chunk.text))
    assert len({chunk.id for chunk in chunks}) == len(chunks)


@settings(max_examples=150, deadline=None)
@given(BLOCKS, st.integers(20, 60))
def test_all_words_are_there_in_order(blocks: list[str], max_words: int) -> None:
    html = "".join(blocks)
    page = parse_html(html.encode(), url=URL)
    whole = write_markdown(page, NoCleaning().transform(page))
    chunks = cut(html, max_words)

    def words(text: str) -> list[str]:
        return [word for word in text.split() if word != ">"]

    assert [word for chunk in chunks for word in words(chunk.text)] == words(whole)
    assert all(chunk.words <= max_words + 8 for chunk in chunks), "but for headings above"


def test_nothing_and_too_few_words() -> None:
    assert cut("") == []
    with pytest.raises(UsageError, match="20 or more"):
        cut("<p>a", 19)
