"""What pictures need of a capture beyond what a Snapshot has."""

from collections.abc import Sequence
from itertools import chain

import msgspec

from domsieve.renderer.page._convert import CDATA, Capture, _Document, _Layout, _Nodes, _Sparse
from domsieve.snapshot.page import PIXELS, UNPICTURED, Kind

PIXEL_STYLES = (
    "text-decoration-style",
    "text-decoration-thickness",
    "unicode-bidi",
    "background-attachment",
    "-webkit-box-reflect",
    "text-combine-upright",
    "text-orientation",
    "word-spacing",
    "font-stretch",
    "font-kerning",
    "font-variation-settings",
    "text-rendering",
    "ruby-align",
    "content",
    "list-style-image",
    "font-variant-numeric",
    "font-feature-settings",
    "font-variant-ligatures",
    "font-variant-alternates",
    "font-variant-east-asian",
    "font-variant-position",
    "font-optical-sizing",
    "font-palette",
    "font-language-override",
    "-webkit-locale",
)
"""Computed properties that only the pictures need; a capture for them has these after all others."""


class _PixelNodes(_Nodes, rename="camel", kw_only=True):
    backend_node_id: list[int]
    current_source: _Sparse = msgspec.field(name="currentSourceURL", default_factory=_Sparse)


class PixelLayout(_Layout, rename="camel", kw_only=True):
    """The boxes of such a capture."""

    offset_rects: list[list[float]]
    client_rects: list[list[float]]
    scroll_rects: list[list[float]]


class _TextBoxes(msgspec.Struct, rename="camel"):
    layout_index: list[int]
    bounds: list[list[float]]
    start: list[int]
    length: list[int]


class PixelDocument(_Document, kw_only=True):
    """A document of such a capture."""

    nodes: _PixelNodes
    layout: PixelLayout
    frame_id: int = msgspec.field(name="frameId")  # which is always there
    base: int = msgspec.field(name="baseURL")
    text_boxes: _TextBoxes = msgspec.field(name="textBoxes")
    scroll_offset_x: float = msgspec.field(name="scrollOffsetX", default=0.0)
    scroll_offset_y: float = msgspec.field(name="scrollOffsetY", default=0.0)
    content_width: float = msgspec.field(name="contentWidth", default=0.0)
    content_height: float = msgspec.field(name="contentHeight", default=0.0)


class PixelCapture(Capture, kw_only=True):
    """A capture with the boxes of texts and of what scrolls, and with the browser's ids of nodes."""

    documents: list[PixelDocument]  # type: ignore[assignment]  # of which all are such


def leave_unpictured(capture: PixelCapture) -> None:
    """Say of each text that no pictures could be taken."""
    types = chain.from_iterable(document.nodes.node_type for document in capture.documents)
    put_sights(capture, [UNPICTURED if kind in {Kind.TEXT, CDATA} else "" for kind in types])


def put_sights(capture: PixelCapture, said: Sequence[str]) -> None:
    """Put what is said of each node into its styles, in place of `PIXEL_STYLES`."""
    numbers: dict[str, int] = {}
    start = 0
    for document in capture.documents:
        layout = document.layout
        rows = []
        for node, row in zip(layout.node_index, layout.styles, strict=True):
            if (plain := bytes(row)) != b"[]":
                plain = plain.rsplit(b",", len(PIXEL_STYLES))[0]
                word = said[start + node]
                if word not in numbers:
                    numbers[word] = len(capture.strings)
                    capture.strings.append(word)
                plain += b",%d]" % numbers[word]
            rows.append(msgspec.Raw(plain))
        layout.styles = rows
        start += len(document.nodes.node_type)
    capture.added = (*capture.added, PIXELS)
