"""Source of pages into columns: the tree, its texts, hostile documents and files."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import _tree, html_files, parse_html, read_html_file
from domsieve.snapshot.page import Kind, Snapshot


def page(source: str | bytes) -> Snapshot:
    return parse_html(source.encode() if isinstance(source, str) else source, url="page")


def outline(snapshot: Snapshot) -> list[str]:
    """Each node as its depth in dots and its name or text."""
    depth = np.zeros(len(snapshot), int)
    lines = []
    for node in range(len(snapshot)):
        if node:
            depth[node] = depth[snapshot.parent[node]] + 1
        text = repr(snapshot.text_of(node)) if snapshot.kind[node] == Kind.TEXT else snapshot.tag_name(node)
        lines.append("." * int(depth[node]) + text)
    return lines


def test_a_page_becomes_its_nodes_in_document_order() -> None:
    got = outline(page("<!doctype html><title>T</title><p id=a CLASS='b c'>one<b>two</b>three</p><p>four"))
    assert got == [
        "#document", ".html", "..head", "...title", "....'T'", "..body", "...p", "....'one'", "....b",
        ".....'two'", "....'three'", "...p", "....'four'",
    ]  # fmt: skip


def test_attributes_keep_source_order_and_lower_case_names() -> None:
    snapshot = page("<p ID=a data-X=1 hidden class='b  c' id=z xml:lang=de>")
    node = [snapshot.tag_name(node) for node in range(len(snapshot))].index("p")
    assert list(snapshot.attributes(node).items()) == [
        ("id", "a"), ("data-x", "1"), ("hidden", ""), ("class", "b  c"), ("xml:lang", "de")
    ]  # fmt: skip


def test_a_raw_page_has_no_layout() -> None:
    snapshot = page("<p>x")
    assert not snapshot.has_layout
    assert not snapshot.rendered().any()
    assert snapshot.provenance.producer == "raw"
    assert snapshot.provenance.encoding == "utf-8"


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("<b>a</b> <i>b</i>", ["a", " ", "b"]),
        ("<b>a</b>\n<!-- c -->\n<i>b</i>", ["a", "\n\n", "b"]),
        ("<b>a</b> <script>x</script> <i>b</i>", ["a", " ", " ", "b"]),
        ("<b>a</b> <p>b</p> <i>c</i>", ["a", "b", "c"]),
        ("<div> <b>a</b> </div>", ["a"]),
        ("<i> <b>a</b> </i>b", [" ", "a", " ", "b"]),
        ("<pre>\n\n <i> </i>\n<p> </p> </pre>", ["\n ", " ", "\n", " ", " "]),
        ("<b>a</b>\u00a0<p>b</p>", ["a", "\u00a0", "b"]),
        ("a<!-- c -->b<?pi?>c", ["abc"]),
        ("<script>a</script><style>b</style><iframe><p>c</iframe><noscript>d</noscript>", ["d"]),
        ("<template><p>a</p></template>", ["a"]),
        ("<textarea><b>a</textarea><xmp><i>b</xmp>", ["<b>a", "<i>b"]),
        ("<head><meta name=a> <meta name=b></head> <body>c", ["c"]),
    ],
)
def test_texts(source: str, texts: list[str]) -> None:
    snapshot = page(source)
    assert [snapshot.text_of(node) for node in np.flatnonzero(snapshot.kind == Kind.TEXT).tolist()] == texts


def test_what_stands_behind_the_body_is_content_of_the_body() -> None:
    got = outline(page("<body><p>a</p></body>b<p>c</p></html>d<p>e</p><body>f</html>g"))
    assert got == [
        "#document", ".html", "..body", "...p", "....'a'", "...'b'", "...p", "....'c'", "...'d'", "...p",
        "....'e'", "...'fg'",
    ]  # fmt: skip


def test_a_place_for_a_line_break_has_no_content() -> None:
    source = "<p>a<wbr>b<b>c</b>d<wbr>e<i>f</i>g</p><div>h<wbr></wbr>i<wbr><wbr>j</div>"
    assert outline(page(source))[2:] == [
        "..body", "...p", "....'a'", "....wbr", "....'b'", "....b", ".....'c'", "....'d'", "....wbr", "....'e'",
        "....i", ".....'f'", "....'g'", "...div", "....'h'", "....wbr", "....'i'", "....wbr", "....wbr", "....'j'",
    ]  # fmt: skip


@pytest.mark.parametrize("source", [b"", b" \n", b"<!-- nothing -->", b"\xef\xbb\xbf", b"\0"])
def test_empty_pages_have_a_document_and_a_root(source: bytes) -> None:
    assert outline(page(source))[:2] == ["#document", ".html"]


@pytest.mark.parametrize("depth", [254, 255, 256, 300, 1_000])
def test_deep_nesting_is_kept(depth: int) -> None:
    snapshot = page("<div>" * depth + "deep" + "</div>" * depth + "<p>after")
    assert [snapshot.tag_name(node) for node in range(len(snapshot))].count("div") == depth
    assert "deep" in snapshot.strings.to_list()
    assert "after" in snapshot.strings.to_list()
    assert snapshot.provenance.complete


def test_nesting_below_the_parsers_limit_is_reported() -> None:
    snapshot = page("<div>" * 50_000 + "deep")
    assert not snapshot.provenance.complete
    assert "depth" in snapshot.provenance.reasons[0]
    assert len(snapshot) > 2_000


def test_harmless_errors_leave_a_page_complete() -> None:
    assert page("<p></b></p></p><a<b ='><table><p>&bogus;\0").provenance.complete


@pytest.mark.parametrize(
    "source", ["a</body>b\fc", "<p>a</body>b\fc", "<head><main>a</main></head>b\fc", "</html>b\fc"]
)
def test_form_feeds_that_move_into_the_body_are_blanks(source: str) -> None:
    read = page(source)
    texts = [read.strings[text] for text in read.text.tolist() if text >= 0]
    assert "".join(texts).split()[-1] == "c"


def test_control_characters_become_replacement_characters() -> None:
    snapshot = page(b"<p a=\x01 b=&#2; \x03=1>x\0y&#0;&#xD800;&#x1F;</p><p a=\x04><q\x05>")
    strings = "".join([*snapshot.strings, *snapshot.tags])
    assert not any(ord(character) < 32 or character == "\x7f" for character in strings)
    assert "x\ufffdy\ufffd\ufffd\ufffd" in snapshot.strings.to_list()
    assert len(set(snapshot.strings)) == len(snapshot.strings)
    assert snapshot.attributes(3) == {"a": "\ufffd", "b": "\ufffd", "\ufffd": "1"}


def test_giant_texts_attributes_and_lists_are_read_whole() -> None:
    megabytes = "x" * 10_500_000
    assert megabytes in page(f"<p>{megabytes}").strings.to_list()
    assert megabytes in page(f"<p title={megabytes}>").strings.to_list()
    assert len(page("<p>".join("x" * 100_001))) > 200_000
    assert page("<p a=1 b>" * 50_000).attr_name.size == 100_000


def test_a_tag_with_countless_attributes_is_cut() -> None:
    snapshot = page("<p " + " ".join(f"a{i}='1'" for i in range(100_000)) + " last>text")
    assert snapshot.attr_name.size == 4096
    assert "4096" in snapshot.provenance.reasons[0]
    assert snapshot.text_of(len(snapshot) - 1) == "text"


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<b class=a>", "</b>", "<i>", "</i>", "<div>", "</div>", " ", "a ", "<br>",
             "<!--c-->", "<script>x</script>", "<head>", "</body>", "</html>", "<body>", "<table><tr><td>",
             "</table>", "\n", "<pre>", "</pre>", "<title>t</title>", "&#1;", "&#xffff;", "<svg><g/></svg>"]
        ),
        max_size=30,
    ).map("".join)
)  # fmt: skip
def test_the_columns_agree_with_a_plain_walk_of_the_tree(source: str) -> None:
    assert outline(page(source)) == _plain_outline(source)


def _plain_outline(source: str) -> list[str]:
    """Return the same by recursion, one node at a time, as the rules are stated."""
    blocks = {"p", "div", "br", "head", "body", "html", "table", "tr", "td", "tbody", "pre"}
    lines = ["#document"]

    def text(content: str | None, dots: str, *, kept: bool) -> None:
        if content and (content.strip(" \t\n\r\f") or kept):
            lines.append(dots + repr(content.replace("\x01", "\ufffd").replace("\uffff", "\ufffd")))

    def walk(element, dots: str, *, pre: bool) -> None:  # type: ignore[no-untyped-def]
        pre = pre or element.tag == "pre"
        lines.append(dots + element.tag)
        if element.tag != "script":
            first = element.text or ""
            first = first.removeprefix("\n") if element.tag == "pre" else first
            text(first, dots + ".", kept=pre or element.tag not in blocks)
        for child in element:
            walk(child, dots + ".", pre=pre)
            following = child.getnext()
            beside = element if following is None else following
            inline = child.tag not in blocks and beside.tag not in blocks
            text(child.tail, dots + ".", kept=pre or (inline and element.tag not in ("head", "html")))

    walk(_tree(source.encode())[0], ".", pre=False)
    return lines


def test_files_are_found_in_order_whatever_the_case_of_their_suffix(tmp_path: Path) -> None:
    for name in ("b.HTML", "a/z.htm", "a/notes.txt", "c.xhtml", "a.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("<p>x")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    names = [path.relative_to(tmp_path).as_posix() for path in html_files(tmp_path)]
    assert names == ["a/z.htm", "a.html", "b.HTML", "c.xhtml"]


def test_a_file_is_a_page(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"<meta charset=iso-8859-1><p>caf\xe9")
    assert read_html_file(path).provenance.url == str(path)
    snapshot = read_html_file(path, url="https://example.org/")
    assert snapshot.provenance.final_url == "https://example.org/"
    assert "café" in snapshot.strings.to_list()


def test_errors_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"missing\.html"):
        read_html_file(tmp_path / "missing.html")
    with pytest.raises(TargetError, match="nowhere"):
        html_files(tmp_path / "nowhere")


BILLION_LAUGHS = (
    "<!DOCTYPE a [<!ENTITY l0 'laugh'>"
    + "".join(f"<!ENTITY l{i} '{f'&l{i - 1};' * 10}'>" for i in range(1, 10))
    + "<!ENTITY file SYSTEM 'file:///etc/passwd'>]>"
)


def test_entities_of_xml_are_neither_expanded_nor_fetched() -> None:
    snapshot = page(f"<?xml version='1.0'?>{BILLION_LAUGHS}<html><body><p>&l9; &file; &#xFFFE;</p>")
    texts = "".join(snapshot.text_of(n) for n in range(len(snapshot)) if snapshot.kind[n] == Kind.TEXT)
    assert "&l9; &file; \ufffd" in texts
    assert "laugh" not in texts
    assert "root:" not in texts


def test_namespaces_and_includes_of_xml_are_plain_elements() -> None:
    snapshot = page(
        "<a:b xmlns:a='u' xml:lang=de xml:space=preserve><xml:p xmlns:xml='x'>text</xml:p>"
        "<xi:include href='file:///etc/passwd' xmlns:xi='http://www.w3.org/2001/XInclude'/><![CDATA[c]]></a:b>"
    )
    assert next(snapshot.text_of(n) for n in range(len(snapshot)) if snapshot.kind[n] == Kind.TEXT) == "text"
    assert {"a:b", "xml:p", "xi:include"} <= set(snapshot.tags.to_list())


POSTS = f"<p>{'post ' * 60}"


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (f"<p>Loading</p><noscript>{POSTS}</noscript>", True),
        (
            f"<noscript>{POSTS}</noscript><div hidden>{POSTS}</div><div style='display: none'>{POSTS}</div>",
            True,
        ),
        (f"<noscript>{POSTS}</noscript><script>{'word ' * 60}</script>", True),
        (f"<p>{'word ' * 60}</p><noscript>{POSTS}</noscript>", False),
        (f"<b hidden></b>{'word ' * 60}<noscript>{POSTS}</noscript>", False),
        ("<noscript>This page needs scripts.</noscript>", False),
        (f"<head><noscript>{POSTS}</noscript></head><body>", False),
    ],
)
def test_what_stands_in_noscript_is_the_page_where_nothing_else_is(source: str, shown: bool) -> None:
    found = page(f"<html>{source}</html>")
    visible = visible_nodes(Batch.of([found]))
    posts = [node for node in range(len(found)) if found.text_of(node).startswith("post")]
    assert ("noscript" not in found.tags.to_list()) == shown
    assert visible[posts[0]] == shown if posts else not shown


@pytest.mark.parametrize(
    ("source", "expected", "texts"),
    [
        ("<title>x</title><nav>a</nav><main>b<p>c</main>", "head title body nav main p", "x a b c"),
        ("<title>x</title><link href=a><main>b</main>d<p>c", "head title link body main p", "x b d c"),
        (
            "<head><meta name=a><x-app>b</x-app><script></script></head><body>t<p>c</body>",
            "head meta body x-app script p",
            "b t c",
        ),
        ("<head><title>x</title><style>s</style></head><body>c", "head title style body", "x c"),
    ],
)
def test_what_cannot_stand_in_a_head_begins_the_body(source: str, expected: str, texts: str) -> None:
    page = parse_html(source.encode(), url="")
    names = [page.tag_name(node) for node in range(2, len(page)) if page.kind[node] == Kind.ELEMENT]
    said = " ".join(" ".join(page.text_of(node) for node in range(len(page))).split())
    assert (" ".join(names), said) == (expected, texts)
