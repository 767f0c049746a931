"""What a record says: its texts, links and images in document order, each with its tag path in the record.

The path of a leaf is relative to its record and knows no styles. Text that flows through inline tags, such as a
sentence with a marked word, is one leaf. Text that nobody can see is none. Imports the columns.
"""

from typing import Literal, NamedTuple

import numpy as np

from domsieve.analysis.columns.addresses import Addresses
from domsieve.analysis.columns.batch import page_batch
from domsieve.analysis.columns.body import in_body, worded
from domsieve.analysis.columns.hidden import hidden_texts
from domsieve.analysis.columns.names import AttributeIs, TagIs
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.records.table_grid import TableGrid
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot

FieldKind = Literal["text", "link", "image"]
_ELEMENT, _TEXT = int(Kind.ELEMENT), int(Kind.TEXT)
_CONTROLS = dict.fromkeys([*range(9), *range(14, 32), *range(127, 160)])


class Leaf(NamedTuple):
    """One content of a record, the nodes ``first .. stop`` of the page at or below the element `owner`.

    `path` is a number, equal for equal tag paths of the owner relative to the record; `place` the same without
    regard to links, since a title is a title with and without one. `value` is a text with white space collapsed and
    without control characters, or an absolute address.
    """

    kind: FieldKind
    path: int
    place: int
    owner: int
    value: str
    first: int
    stop: int


class Leaves:
    """Reads the records of one page; after one pass over the page, O(nodes of the record) each.

    Parameters
    ----------
    page : the page.
    grid : the tables of the page.
    cell : of each of N nodes the number of its column, 1 for the first, if it is a table cell, else 0.
    style : of each of N nodes a number of its ``class``, 0 for none.
    """

    def __init__(self, page: Snapshot) -> None:
        batch = page_batch(page)
        shown = shown_nodes(page) & in_body(batch) & (hidden_texts(page) == 0)
        self.page = page
        self.names = page.tags.to_list()
        self.tag = page.tag.tolist()
        self.parent = page.parent.tolist()
        self.end = page.end.tolist()
        self.grid = TableGrid.of(page)
        self.cell = self.grid.column.tolist()
        style = np.zeros(len(page), np.int64)
        classes = (batch.attr_is & AttributeIs.CLASS) != 0
        style[batch.attr_owner[classes]] = batch.attr_value[classes] + 1
        self.style = style.tolist()
        self._shown = shown.tolist()
        self._kind = page.kind.tolist()
        self._text = page.text.tolist()
        self._strings = page.strings.to_list()
        self._attribute = [page.attr_start.tolist(), page.attr_name.tolist(), page.attr_value.tolist()]
        self._addresses = Addresses(page)
        self._paths: dict[tuple[int, int, int], int] = {}
        wbr = np.array([name == "wbr" for name in self.names])[page.tag]
        self._inline = (wbr | ((batch.tag_is & TagIs.INLINE) != 0)).tolist()
        text = worded(page) & shown
        self._holds_text = np.zeros(len(page), np.bool_)
        self._holds_text[page.parent[text]] = True

    def attributes(self, node: int) -> dict[str, str]:
        """Return the attributes of a node by name."""
        start, name, value = self._attribute
        span = range(start[node], start[node + 1])
        return {self._strings[name[i]]: self._strings[value[i]] for i in span}

    def of(self, pieces: list[tuple[int, int]]) -> list[Leaf]:
        """Return the leaves of the record of these node ranges, in document order."""
        check()
        found: list[Leaf] = []
        path: dict[int, tuple[int, int]] = {}
        flow: dict[int, int] = {}  # the element whose text goes on inside an element, -1 for none
        run: list[int] = []
        owner, roots = -1, 0

        def finish() -> None:
            if run:
                value = _flat("".join(self._strings[self._text[node]] for node in run))
                if value:
                    found.append(Leaf("text", *path.get(owner, (0, 0)), owner, value, run[0], run[-1] + 1))
                run.clear()

        for node in (n for first, stop in pieces for n in range(first, stop)):
            above, kind = self.parent[node], self._kind[node]
            around = flow[above] if above in flow else self._own_flow(above)
            if kind == _TEXT:
                if around != owner:
                    finish()
                    owner = around
                if self._shown[node] and owner >= 0:
                    run.append(node)
                continue
            if kind != _ELEMENT:  # looked through
                path[node], flow[node] = path.get(above, (0, 0)), -1
                continue
            if above in flow:
                path[node] = self._path(path[above], self.tag[node], self.cell[node])
            else:
                roots += 1
                path[node] = self._path((0, 0), self.tag[node], -roots)
            if self._inline[node] and around >= 0:
                flow[node] = around
                continue
            flow[node] = self._own_flow(node)
            finish()
            if self._shown[node]:
                found += self._references(node, path[node])
        finish()
        return found

    def _own_flow(self, node: int) -> int:
        return node if self._holds_text[node] else -1

    def _path(self, above: tuple[int, int], tag: int, number: int) -> tuple[int, int]:
        path, place = (self._paths.setdefault((a, tag, number), len(self._paths) + 1) for a in above)
        return path, above[1] if self.names[tag] == "a" else place

    def _references(self, node: int, path: tuple[int, int]) -> list[Leaf]:
        """Return the link or the image that an element is, if it leads anywhere."""
        name = self.names[self.tag[node]]
        if name not in {"a", "img"}:
            return []
        attributes = self.attributes(node)
        kind: FieldKind = "link" if name == "a" else "image"
        address = attributes.get("href" if name == "a" else "src")
        value = self._addresses.absolute(node, address, linked=name == "a") if address else None
        return [Leaf(kind, *path, node, value, node, self.end[node])] if value else []


def _flat(text: str) -> str:
    return " ".join(text.translate(_CONTROLS).split())
