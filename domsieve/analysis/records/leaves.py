"""What records hold: texts, links and images in document order, each with its tag path in the record."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from domsieve.analysis.columns.batch import (
    F64,
    AttributeIs,
    Bools,
    Ints,
    TagIs,
    below,
    counted_before,
    page_batch,
)
from domsieve.analysis.columns.hiding import hidden_media, hidden_texts
from domsieve.analysis.columns.links import Addresses
from domsieve.analysis.columns.visible import in_body, shown_nodes, worded
from domsieve.analysis.records._table_grid import TableGrid
from domsieve.analysis.records._tag_tree import Shown, TagTree, member_above
from domsieve.budget import check
from domsieve.snapshot.page import Kind, Snapshot

FieldKind = Literal["text", "link", "image"]
_ELEMENT, _TEXT = int(Kind.ELEMENT), int(Kind.TEXT)
_CONTROLS = dict.fromkeys([*range(9), *range(14, 32), *range(127, 160)])


class Leaf(NamedTuple):
    """A text, link or image in a record.

    Parameters
    ----------
    kind : kind of the leaf.
    path : a number that identifies the tag path of `owner` relative to the record.
    place : the same without ``a`` elements, so that titles with and without a link are at the same place.
    owner : the element of the leaf.
    value : text with collapsed white space and without control characters, or an absolute address.
    first, stop : the nodes ``first .. stop``, at or below `owner`.
    """

    kind: FieldKind
    path: int
    place: int
    owner: int
    value: str
    first: int
    stop: int


class Leaves:
    """Reads the records of one page of N nodes, in O(N) once and then in time linear in the record.

    Parameters
    ----------
    page : the page.

    Attributes
    ----------
    grid : the tables of the page.
    cell : N numbers: the column of table cells, counted from 1, and 0 for other nodes.
    style : N numbers that identify the ``class`` attribute, 0 without one.
    """

    def __init__(self, page: Snapshot) -> None:
        batch = page_batch(page)
        shown = shown_nodes(page) & in_body(batch) & (hidden_texts(page) == 0) & (hidden_media(page) == 0)
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
        """Return the attributes of a node, by name."""
        start, name, value = self._attribute
        span = range(start[node], start[node + 1])
        return {self._strings[name[i]]: self._strings[value[i]] for i in span}

    def of(self, pieces: list[tuple[int, int]]) -> list[Leaf]:
        """Return the leaves of a record, given as node ranges, in document order."""
        check()
        leaves: list[Leaf] = []
        path: dict[int, tuple[int, int]] = {}
        flow: dict[int, int] = {}  # by element, the element whose text continues in it, -1 for none
        run: list[int] = []
        owner, roots = -1, 0

        def finish() -> None:
            if run:
                value = _flat("".join(self._strings[self._text[node]] for node in run))
                if value:
                    leaves.append(Leaf("text", *path.get(owner, (0, 0)), owner, value, run[0], run[-1] + 1))
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
            if kind != _ELEMENT:  # a shadow root or frame, which is not part of the path
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
                leaves += self._references(node, path[node])
        finish()
        return leaves

    def _own_flow(self, node: int) -> int:
        return node if self._holds_text[node] else -1

    def _path(self, above: tuple[int, int], tag: int, number: int) -> tuple[int, int]:
        path, place = (self._paths.setdefault((a, tag, number), len(self._paths) + 1) for a in above)
        return path, above[1] if self.names[tag] == "a" else place

    def _references(self, node: int, path: tuple[int, int]) -> list[Leaf]:
        """Return the link or image of an element, if it has a usable address."""
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
    """The leaves of several records at the same place.

    Parameters
    ----------
    kind : kind of the leaves.
    exact : one character for tag path and class of the first leaf.
    place : one character for its tag path alone.
    leaves : the leaves by number of the record.
    """

    kind: FieldKind
    exact: str
    place: str
    leaves: dict[int, Leaf] = field(default_factory=dict)


# What a part of a menu is, such as a column of a footer. Guesses that worked on the development sites.
_MENU_LINKS = 4  # fewest links
_MENU_LETTERS = 20  # most characters of a link, on average
_MENU_SHARE = 0.7  # least share of text in links


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Cumulative counts over the N nodes of a page, each (N + 1,): entry i counts the nodes before node i.

    Parameters
    ----------
    fields : texts that are not blank, images and form controls; a link with text is a single field.
    links : ``a`` elements.
    tags : nodes of the tag tree.
    characters : characters of text that is not blank.
    linked : characters of text in links.
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
        """Count the visible content of the body of a page.

        Parameters
        ----------
        page, tree : the page and its tag tree.
        kept : bool (N,), count these nodes only; None for all.
        whole_links : count every link as one field. Otherwise a link around other links (such as an unclosed anchor)
            is no field, and the contents of blocks in a link (such as a card) are fields of their own.
        flowing : count texts directly in the same node of the tree as one field.
        shown : `Shown.of` ``(page)`` if it was computed before.
        """
        shown = shown or Shown.of(page)
        batch = shown.batch
        counted = shown.visible & shown.body
        if kept is not None:
            counted &= kept
        text = shown.text & counted
        link, control, image = (
            ((batch.tag_is & tag) != 0) & counted for tag in (TagIs.ANCHOR, TagIs.CONTROL, TagIs.IMAGE)
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
        text_field = text & ~below(narrow | control, batch.end)
        if flowing:
            places = np.flatnonzero(text_field)
            owner = member_above(page, member)[places]
            text_field[places[1:]] = owner[1:] != owner[:-1]
        fields = text_field | with_text | control | image
        linked = np.where(below(link, batch.end), size, 0)
        return cls(*map(counted_before, (fields, link, member, size, linked, image)))

    def medians(self, ranges: Ints) -> tuple[float, float]:
        """Return the median number of fields, and of links over tags, of node ranges (Q, 2)."""
        start, stop = ranges[:, 0], ranges[:, 1]
        links = self.links[stop] - self.links[start]
        share = links / np.maximum(self.tags[stop] - self.tags[start], 1)
        return _median(self.fields[stop] - self.fields[start]), _median(share)

    def are_links(self, ranges: Ints) -> bool:
        """Return whether most of the node ranges (Q, 2) have links with nearly all of their text."""
        start, stop = ranges[:, 0], ranges[:, 1]
        links, size, linked = (
            part[stop] - part[start] for part in (self.links, self.characters, self.linked)
        )
        return bool(2 * ((links > 0) & (linked >= _MENU_SHARE * size)).sum() > links.size)

    def is_menu(self, ranges: Ints) -> bool:
        """Return whether node ranges (Q, 2) are parts of a menu: most have several short links and little else."""
        start, stop = ranges[:, 0], ranges[:, 1]
        links, images, size, linked = (
            part[stop] - part[start] for part in (self.links, self.images, self.characters, self.linked)
        )
        short = linked.sum() <= _MENU_LETTERS * links.sum()
        lists = (links >= _MENU_LINKS) & (linked >= _MENU_SHARE * size) & (images == 0)
        return bool(short and 2 * lists.sum() > lists.size)


def _median(values: Ints | F64) -> float:
    """Return the median; for a few values ten times as fast as `numpy.median`."""
    ordered = sorted(values.tolist())
    middle = len(ordered) // 2
    return float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)
