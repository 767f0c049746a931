"""Boxes of words that captures leave out: those behind a line of their text that ends in dots."""

from collections.abc import Sequence
from typing import NamedTuple

from domsieve.renderer.page.pixels._cases import begins_in, units
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture, PixelDocument


class Rest(NamedTuple):
    """A text that may have words without boxes.

    Parameters
    ----------
    entry : its entry of the layout.
    node_id : the browser's id of its node.
    begin : where its last box begins in the text of the node, in code units.
    box : left, top, right and bottom of this box.
    before : how many code units of the node are not in the entry, but in a first letter of its own.
    places : where each of the others begins after its case was changed; empty if they are where they were.
    """

    entry: int
    node_id: int
    begin: int
    box: tuple[float, float, float, float]
    before: int
    places: Sequence[int]


def rests_of(capture: PixelCapture, document: PixelDocument) -> list[Rest]:
    """Return the texts of a document whose last box does not reach their end, or may not."""
    boxes, layout, nodes = document.text_boxes, document.layout, document.nodes
    last = {entry: number for number, entry in enumerate(boxes.layout_index)}
    found = []
    for entry, number in last.items():
        node = layout.node_index[entry]
        text, value = capture.strings[layout.text[entry]], nodes.node_value[node]
        if value < 0:  # of a pseudo-element
            continue
        original = capture.strings[value]
        places = begins_in(original, text) or []
        start, length = boxes.start[number], boxes.length[number]
        first = places[start] if start < len(places) else start
        # Captures count the letters of a first line as they are in a case of its own.
        may_grow = not text.isascii() and units(text.upper()) != units(text)
        if first + length >= units(text.rstrip()) and not may_grow:
            continue
        before = max(units(original) - (len(places) - 1 if places else units(text)), 0)
        x, y, width, height = boxes.bounds[number]
        box = (x, y, x + width, y + height)
        found.append(Rest(entry, nodes.backend_node_id[node], start + before, box, before, places))
    return found


def put_rest(document: PixelDocument, rest: Rest, words: Sequence[Sequence[float]]) -> None:
    """Add boxes of words to those of a document.

    Parameters
    ----------
    words : where each begins and ends in the text of the node, in code units, and its left, top, right and bottom.
    """
    boxes = document.text_boxes
    for begin, end, left, top, right, bottom in words:
        first, last = int(begin) - rest.before, int(end) - rest.before
        boxes.layout_index.append(rest.entry)
        boxes.start.append(first)
        if last < len(rest.places):
            first, last = rest.places[first], rest.places[last]
        boxes.length.append(last - first)
        boxes.bounds.append([left, top, right - left, bottom - top])
