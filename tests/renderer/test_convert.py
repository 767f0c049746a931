"""The conversion of browser answers, without a browser."""

from typing import Any

import msgspec
import numpy as np
import pytest

from domsieve.renderer.browser.connection import decode
from domsieve.renderer.page._convert import Capture, convert, document_only
from domsieve.snapshot.page import Provenance, Snapshot
from tests.renderer.reading import outline

STYLES = ("display", "color")
BLOCK, INLINE = ["block", "red"], ["inline", "red"]


class Answer:
    """Builds an answer of ``DOMSnapshot.captureSnapshot`` node by node."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self.documents: list[dict[str, Any]] = []

    def number(self, text: str) -> int:
        if not text:
            return -1
        if text not in self.strings:
            self.strings.append(text)
        return self.strings.index(text)

    def document(self, width: float = 1280, height: float = 800) -> "Answer":
        sparse = ("textValue", "inputValue", "contentDocumentIndex", "pseudoType")
        columns = ("parentIndex", "nodeType", "nodeName", "nodeValue", "attributes")
        self.documents.append(
            {
                "documentURL": self.number("http://a.test/"),
                "encodingName": self.number("UTF-8"),
                "nodes": {name: [] for name in columns}
                | {name: {"index": [], "value": []} for name in sparse},
                "layout": {name: [] for name in ("nodeIndex", "styles", "bounds", "text", "paintOrders")},
            }
        )
        self.node(-1, 9, "#document")
        self.layout(0, [], (0, 0, width, height))
        return self

    def node(self, parent: int, kind: int, name: str, value: str = "", **attributes: str) -> int:
        nodes = self.documents[-1]["nodes"]
        row = (parent, kind, self.number(name), self.number(value))
        for column, entry in zip(("parentIndex", "nodeType", "nodeName", "nodeValue"), row, strict=True):
            nodes[column].append(entry)
        nodes["attributes"].append([self.number(text) for pair in attributes.items() for text in pair])
        if name.startswith("::"):
            nodes["pseudoType"]["index"].append(len(nodes["nodeType"]) - 1)
            nodes["pseudoType"]["value"].append(self.number(name[2:]))
        return len(nodes["nodeType"]) - 1

    def element(self, parent: int, name: str, **attributes: str) -> int:
        return self.node(parent, 1, name, **attributes)

    def text(self, parent: int, text: str) -> int:
        return self.node(parent, 3, "#text", text)

    def layout(self, node: int, style: list[str], bounds: tuple[float, ...], text: str = "") -> None:
        layout = self.documents[-1]["layout"]
        layout["nodeIndex"].append(node)
        layout["styles"].append([self.number(value) for value in style])
        layout["bounds"].append(list(bounds))
        layout["text"].append(self.number(text))
        layout["paintOrders"].append(len(layout["text"]))

    def mark(self, column: str, node: int, value: int) -> None:
        self.documents[-1]["nodes"][column]["index"].append(node)
        self.documents[-1]["nodes"][column]["value"].append(value)

    def snapshot(self, max_nodes: int = 1000) -> Snapshot:
        answer = msgspec.json.encode({"documents": self.documents, "strings": self.strings})
        capture = msgspec.json.decode(answer, type=Capture)
        columns, self.is_cut = convert(capture, STYLES, max_nodes=max_nodes)
        origin = Provenance(url=capture.url, final_url=capture.url, producer="rendered")
        return Snapshot(**columns, provenance=origin)


def test_document_only_is_a_page() -> None:
    page = Snapshot(**document_only(STYLES), provenance=Provenance(url="", final_url="", producer="rendered"))
    assert outline(page) == "#document"
    assert page.style_names == STYLES
    assert page.styles.shape == (0, 2)


def test_names_are_lower_case_and_empty_strings_are_empty() -> None:
    answer = Answer().document()
    svg = answer.element(0, "SVG", viewBox="0 0 1 1", hidden="")
    answer.element(svg, "linearGradient")
    page = answer.snapshot()
    assert outline(page) == "#document(svg(lineargradient))"
    assert page.attributes(1) == {"viewbox": "0 0 1 1", "hidden": ""}


def test_comments_doctypes_code_and_collapsed_space_are_dropped_but_space_with_a_box_stays() -> None:
    answer = Answer().document()
    answer.node(0, 10, "html")
    main = answer.element(0, "MAIN")
    answer.node(main, 8, "#comment", "c")
    answer.text(answer.element(main, "SCRIPT"), "code")
    answer.text(answer.element(main, "style"), "p{}")
    answer.text(main, "\n ")
    collapsed = answer.text(main, " ")
    space = answer.text(main, "\u00a0")
    answer.text(main, "unseen")
    answer.layout(main, BLOCK, (0, 0, 9, 9))
    answer.layout(collapsed, BLOCK, (0, 0, 0, 0))
    answer.layout(space, BLOCK, (0, 0, 4, 9))
    assert outline(answer.snapshot()) == "#document(main(script style '\\xa0' 'unseen'))"


def test_elements_that_are_named_like_those_of_the_document_have_a_colon() -> None:
    answer = Answer().document()
    html = answer.element(0, "HTML")
    body = answer.element(html, "BODY")
    math = answer.element(body, "math")
    answer.element(answer.element(math, "html"), "body")
    answer.element(html, "BODY")
    page = answer.snapshot()
    assert outline(page) == "#document(html(body(math(:html(:body))) :body))"


def test_json_ld_becomes_an_attribute_of_its_script() -> None:
    answer = Answer().document()
    script = answer.element(0, "SCRIPT", type="application/ld+json")
    answer.text(script, '{"a":')
    answer.text(script, " 1}")
    answer.text(answer.element(0, "SCRIPT", type="text/javascript"), "code")
    page = answer.snapshot()
    assert outline(page) == "#document(script script)"
    assert page.attributes(1) == {"type": "application/ld+json", "json-ld": '{"a": 1}'}
    assert page.attributes(2) == {"type": "text/javascript"}


def test_equal_style_rows_are_kept_once_and_rows_of_dropped_nodes_not_at_all() -> None:
    answer = Answer().document()
    first, second = answer.element(0, "p"), answer.element(0, "p")
    blank = answer.text(0, " ")
    answer.layout(blank, ["none", "blue"], (0, 0, 0, 0))
    answer.layout(first, BLOCK, (1, 2, 3, 4))
    answer.layout(second, BLOCK, (5, 6, 7, 8))
    page = answer.snapshot()
    assert page.style.tolist() == [-1, 0, 0]
    assert page.styles.shape == (1, 2)
    assert page.computed_style(2) == {"display": "block", "color": "red"}
    assert "blue" not in page.strings.to_list()
    assert page.box[1].tolist() == [1, 2, 3, 4]
    assert np.isnan(page.box[0]).all()


def test_edges_beyond_all_columns_are_at_their_ends() -> None:
    answer = Answer().document()
    answer.layout(answer.element(0, "p"), BLOCK, (-1e300, 2, 1e300, 4))
    most = np.finfo(np.float32).max
    assert answer.snapshot().box[1].tolist() == [-most, 2, most, 4]


def test_pseudo_elements_take_their_place_and_their_text() -> None:
    answer = Answer().document()
    p = answer.element(0, "P")
    letter = answer.node(p, 1, "::first-letter")
    before = answer.node(p, 1, "::before")
    after = answer.node(p, 1, "::after")
    inner = answer.text(p, "middle")
    for node in (letter, before, after):
        answer.layout(node, INLINE, (0, 0, 9, 9))
        answer.layout(node, INLINE, (0, 0, 4, 9), "A")
        answer.layout(node, INLINE, (4, 0, 5, 9), "B")
    answer.layout(inner, INLINE, (9, 0, 9, 9), "MIDDLE")
    page = answer.snapshot()
    assert outline(page) == "#document(p(::before('AB') 'middle' ::after('AB')))"
    assert page.boxed().tolist() == [False, False, True, True, True, True, True]
    assert page.box[2].tolist() == [0, 0, 9, 9]


def test_frames_are_shifted_into_the_middle_of_their_element() -> None:
    answer = Answer().document()
    frame = answer.element(0, "IFRAME")
    hidden = answer.element(0, "IFRAME")
    answer.text(0, "end")
    answer.layout(frame, INLINE, (100, 200, 60, 40))
    answer.mark("contentDocumentIndex", frame, 1)
    answer.mark("contentDocumentIndex", hidden, 2)
    for width in (50, 300):
        answer.document(width, 20)
        answer.layout(answer.element(0, "P"), BLOCK, (1, 2, 10, 10))
    answer.document()  # a document of no frame
    page = answer.snapshot()
    assert outline(page) == "#document(iframe(#document(p)) iframe(#document(p)) 'end')"
    assert page.box[3].tolist() == [100 + 5 + 1, 200 + 10 + 2, 10, 10]
    assert not page.boxed()[6]


def test_what_is_in_a_scaled_frame_is_scaled() -> None:
    answer = Answer().document()
    frame = answer.element(0, "IFRAME")
    answer.layout(frame, INLINE, (100, 200, 60, 40))
    answer.mark("contentDocumentIndex", frame, 1)
    answer.document(300, 200)
    answer.layout(answer.element(0, "P"), BLOCK, (10, 20, 100, 50))
    assert answer.snapshot().box[3].tolist() == [102, 204, 20, 10]


def test_current_values_of_fields() -> None:
    answer = Answer().document()
    fields: list[dict[str, str]] = [
        {"VALUE": "old", "id": "i"},
        {"type": "Password"},
        {"type": "checkbox"},
        {"type": "search"},
    ]
    for attributes in fields:
        answer.mark("inputValue", answer.element(0, "INPUT", **attributes), answer.number("now"))
    answer.mark("textValue", answer.element(0, "TEXTAREA"), -1)
    page = answer.snapshot()
    assert [page.attributes(node) for node in range(1, 6)] == [
        {"value": "now", "id": "i"},
        {"type": "Password"},
        {"type": "checkbox"},
        {"type": "search", "value": "now"},
        {"value": ""},
    ]


def test_nodes_after_the_limit_are_cut() -> None:
    answer = Answer().document()
    for _ in range(5):
        answer.text(answer.element(0, "P"), "x")
    page = answer.snapshot(max_nodes=4)
    assert answer.is_cut
    assert outline(page) == "#document(p('x') p)"
    answer.snapshot(max_nodes=11)
    assert not answer.is_cut


def test_half_surrogates_become_replacement_characters() -> None:
    assert decode('["a\\ud800b", "\\ud83d\\ude00"]', list[str]) == ["a\ufffdb", "\U0001f600"]
    with pytest.raises(msgspec.ValidationError):
        decode('["text"]', list[int])
