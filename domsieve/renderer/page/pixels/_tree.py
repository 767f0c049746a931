"""The nodes of all documents of a capture as one tree."""

from functools import cached_property
from itertools import pairwise

import numpy as np

from domsieve.renderer.page._convert import CDATA
from domsieve.renderer.page._tag_names import strays_of, tag_of
from domsieve.renderer.page.pixels._parts import Bools, Ints, joined, levels_of
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture, PixelDocument
from domsieve.snapshot.page import Kind


class Tree:
    """The nodes of a capture, numbered through all of its documents.

    Attributes
    ----------
    capture : the capture.
    starts : the number of the first node of each document, and of all nodes.
    ids : (N,), the browser's ids of the nodes.
    kind, names : the node type of each, and its name in lower case.
    is_generated : (N,), the pseudo-elements.
    is_first_letter : (N,), those for the first letter of a text.
    parent : (N,), the node above each, in frames that of the frame; -1 for the document of the page.
    is_cdata : (N,), the texts that are CDATA sections, which no highlight can make transparent.
    document_of : (N,), the number of the document of each node.
    levels : the nodes of each depth.
    """

    def __init__(self, capture: PixelCapture) -> None:
        self.capture = capture
        nodes = [document.nodes for document in capture.documents]
        self.starts = np.cumsum([0, *(len(one.node_type) for one in nodes)])
        self.parent = joined(one.parent_index for one in nodes)
        self.document_of = np.repeat(np.arange(len(nodes)), np.diff(self.starts))
        for one, start in zip(nodes, self.starts, strict=False):
            self.parent[start + 1 : start + len(one.node_type)] += start
            inner = one.content_document_index
            for frame, number in zip(inner.index, inner.value, strict=True):
                self.parent[self.starts[number]] = start + frame
        self.kind = joined(one.node_type for one in nodes)
        self.is_cdata = self.kind == CDATA
        self.kind[self.is_cdata] = Kind.TEXT
        self.is_generated = np.zeros(self.kind.size, np.bool_)
        for one, start in zip(nodes, self.starts, strict=False):
            self.is_generated[[start + node for node in one.pseudo_type.index]] = True
        self.ids = joined(one.backend_node_id for one in nodes)
        self.names = [
            tag
            for document in capture.documents
            for tag in document.tags_in_xml(capture.strings, capture.xml)
            or [tag_of(capture.strings[name]) for name in document.nodes.node_name]
        ]
        named = np.array(self.names)
        self.is_first_letter = named == "::first-letter"
        for node in np.flatnonzero(
            strays_of(named == "html", named == "body", self.parent, self.kind)
        ).tolist():
            self.names[node] = f":{self.names[node]}"
        self.levels = levels_of(self.parent)

    @cached_property
    def paint_order(self) -> Ints:
        """(N,), when each node is painted, -1 for those that are not; what is in a frame is when the frame is."""
        return paint_order_of(self, self.capture)

    def below(self, marked: Bools) -> Bools:
        """Return which nodes have a marked ancestor."""
        found = np.zeros_like(marked)
        for nodes in self.levels[1:]:
            above = self.parent[nodes]
            found[nodes] = found[above] | marked[above]
        return found

    def around(self, marked: Bools) -> Bools:
        """Return which nodes have a marked descendant."""
        found = np.zeros_like(marked)
        for nodes in self.levels[:0:-1]:
            np.logical_or.at(found, self.parent[nodes], found[nodes] | marked[nodes])
        return found

    def below_one(self, node: int) -> Bools:
        marked = np.zeros(self.ids.size, np.bool_)
        marked[node] = True
        return self.below(marked)

    def frames_around(self, node: int) -> list[int]:
        """Return the elements with the frames around a node, from the outermost."""
        found: list[int] = []
        while (node := int(self.parent[self.starts[self.document_of[node]]])) >= 0:
            found.insert(0, node)
        return found

    def in_closed(self) -> Bools:
        """Return which nodes are in closed shadow trees, or below slots of these."""
        marked = np.zeros(self.ids.size, np.bool_)
        for document, start in zip(self.capture.documents, self.starts, strict=False):
            types = document.nodes.shadow_root_type
            closed = [
                node
                for node, kind in zip(types.index, types.value, strict=True)
                if self.capture.strings[kind] == "closed"
            ]
            marked[[start + node for node in closed]] = True
        return marked | self.below(marked)

    def attributes(self, node: int) -> dict[str, str]:
        """Return the attributes of an element, by their names in lower case."""
        document = int(self.document_of[node])
        flat = self.capture.documents[document].nodes.attributes[node - int(self.starts[document])]
        strings = self.capture.strings
        return {
            strings[name].lower(): strings[value] for name, value in zip(flat[::2], flat[1::2], strict=True)
        }

    def inherited(self, values: Ints) -> Ints:
        """Return the value of each node, or if that is -1, of the nearest node above with another."""
        found = values.copy()
        for nodes in self.levels[1:]:
            found[nodes] = np.where(found[nodes] < 0, found[self.parent[nodes]], found[nodes])
        return found


def nodes_of(document: PixelDocument) -> tuple[list[int], list[int]]:
    """Return the parents and the ids of all nodes; pseudo-elements are made anew when their styles change."""
    ids = document.nodes.backend_node_id.copy()
    for node in document.nodes.pseudo_type.index:
        ids[node] = 0
    return document.nodes.parent_index, ids


def paint_order_of(tree: Tree, capture: PixelCapture) -> Ints:
    """Return what `Tree.paint_order` does from another capture of the same page."""
    layout = capture.documents[0].layout
    order = np.full(tree.ids.size, -1)
    entries = np.array(layout.node_index, np.intp)[::-1]
    order[entries] = np.array(layout.paint_orders)[::-1]
    for begin, end in pairwise(tree.starts[1:].tolist()):  # inner frames are later
        if (frame := int(tree.parent[begin])) >= 0:
            order[begin:end] = order[frame]
    return order
