"""What records hold: texts, links and images in document order, each with its tag path in the record."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints, below, counted_before, page_batch
from domsieve.analysis.columns.hidden import hidden_texts
from domsieve.analysis.columns.links import Addresses
from domsieve.analysis.columns.names import AttributeIs, TagIs
from domsieve.analysis.columns.visible import in_body, shown_nodes, worded
from domsieve.analysis.records.table_grid import TableGrid
from domsieve.analysis.records.tag_tree import Shown, TagTree, member_above
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


@dataclass(slots=True, eq=False)
class Column:
    """Leaves of several records that stand at the same place; `exact` and `place` stand for class and path."""

    kind: FieldKind
    exact: str
    place: str
    leaves: dict[int, Leaf] = field(default_factory=dict)


_MENU_LINKS = 4  # of a part of a menu, such as a column of a footer
_MENU_LETTERS = 20  # of a link there, on average
_MENU_SHARE = 0.7  # of the text there, which lies in links


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Sums over the nodes before each of the N nodes of a page, each (N + 1,).

    Parameters
    ----------
    fields : leaf contents: text that is not blank, images, form controls; a link with text is one of them.
    links : ``a`` elements.
    tags : nodes of the tag tree.
    characters : of text that is not blank.
    linked : those of them that lie in links.
    images : ``img`` elements.
    """

    fields: Ints
    links: Ints
    tags: Ints
    characters: Ints
    linked: Ints
    images: Ints

    @classmethod
    def of(
        cls,
        page: Snapshot,
        tree: TagTree,
        *,
        kept: Bools | None = None,
        whole_links: bool = False,
        flowing: bool = False,
        shown: Shown | None = None,
    ) -> "Content":
        """Return the content of a page; only what is visible, in the body and `kept` (N,) counts.

        Parameters
        ----------
        page, tree : the page in two views.
        kept : (N,), None for all nodes.
        whole_links : whether a link is one field whatever it holds. Else a link around other links is none, as where
            an anchor was never closed, and what a link holds in blocks of its own, as a card does, are fields.
        flowing : whether texts that stand directly in the same node of the tree are one field.
        shown : of the page, where it is known already.
        """
        seen = shown or Shown.of(page)
        batch = seen.batch
        there = seen.visible & seen.body
        if kept is not None:
            there &= kept
        text = seen.text & there
        link, control, image = (
            ((batch.tag_is & tag) != 0) & there for tag in (TagIs.ANCHOR, TagIs.CONTROL, TagIs.IMAGE)
        )
        narrow = link
        if not whole_links:
            links, blocks = counted_before(link), counted_before((batch.tag_is & TagIs.BLOCK) != 0)
            link = link & (links[page.end] - links[:-1] == 1)
            narrow = link & (blocks[page.end] == blocks[:-1])
        texts = counted_before(text)
        with_text = narrow & (texts[page.end] > texts[:-1])
        member = np.zeros(len(page), np.bool_)
        member[tree.node] = True
        size = np.zeros(len(page), np.int64)
        size[text] = [len(words) for words in page.strings.take(page.text[text].tolist())]
        said = text & ~below(narrow | control, batch.end)
        if flowing:
            places = np.flatnonzero(said)
            owner = member_above(page, member)[places]
            said[places[1:]] = owner[1:] != owner[:-1]
        fields = said | with_text | control | image
        linked = np.where(below(link, batch.end), size, 0)
        return cls(*map(counted_before, (fields, link, member, size, linked, image)))

    def medians(self, ranges: Ints) -> tuple[float, float]:
        """Return the median number of fields and the median share of links of node ranges, (Q, 2)."""
        start, stop = ranges[:, 0], ranges[:, 1]
        links = self.links[stop] - self.links[start]
        share = links / np.maximum(self.tags[stop] - self.tags[start], 1)
        return _median(self.fields[stop] - self.fields[start]), _median(share)

    def are_links(self, ranges: Ints) -> bool:
        """Return whether most node ranges, (Q, 2), are a link each with nearly all of the text."""
        start, stop = ranges[:, 0], ranges[:, 1]
        links, size, linked = (
            part[stop] - part[start] for part in (self.links, self.characters, self.linked)
        )
        return bool(2 * ((links > 0) & (linked >= _MENU_SHARE * size)).sum() > links.size)

    def is_menu(self, ranges: Ints) -> bool:
        """Return whether node ranges, (Q, 2), are parts of a menu: most have several short links, little else."""
        start, stop = ranges[:, 0], ranges[:, 1]
        links, images, size, linked = (
            part[stop] - part[start] for part in (self.links, self.images, self.characters, self.linked)
        )
        short = linked.sum() <= _MENU_LETTERS * links.sum()
        lists = (links >= _MENU_LINKS) & (linked >= _MENU_SHARE * size) & (images == 0)
        return bool(short and 2 * lists.sum() > lists.size)


def _median(values: Ints | F64) -> float:
    """Return what `numpy.median` does, in a tenth of its time for a few values."""
    ordered = sorted(values.tolist())
    middle = len(ordered) // 2
    return float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)
