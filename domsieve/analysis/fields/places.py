"""The places of a page that a value can be read from, each described by features that other pages share.

A place is a text node, a line or block of text with inline elements, an attribute that people see, or an entry of
JSON-LD. Its features say where it is, in families that fail for different reasons:

========== ==========================================================================================
family     features
========== ==========================================================================================
names      classes, ids and microdata of its element and of what is around it; changed by a new template
words      the labels to its left, above and after it, the heading of its section, how its text begins
structure  tags from the page or from near, its number among places with the same path, its neighbours
look       computed font, colour and size, whether it is the largest text, its column on the page
embedded   name of a ``meta`` element, path in JSON-LD
========== ==========================================================================================

Together they are the styled tag path of the SST paper (Yi, Liu, Li; KDD 2003), taken apart so that a place is found
again when a part of them has changed.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from domsieve.analysis.columns.batch import TagIs, page_batch
from domsieve.analysis.columns.invisible import visible_page
from domsieve.analysis.columns.links import Addresses
from domsieve.analysis.columns.page_columns import attributes_of
from domsieve.analysis.fields.looks import drawn_at_left, page_looks
from domsieve.analysis.fields.value_kinds import flat, folded, without_digits
from domsieve.analysis.metadata.json_values import read_json
from domsieve.budget import check
from domsieve.snapshot.page import JSON_LD, Kind, Snapshot

Source = Literal[
    "text",
    "line",
    "block",
    "alt",
    "title",
    "content",
    "datetime",
    "aria-label",
    "value",
    "href",
    "src",
    "json",
]
"""What a value is read from: a text node, a line, a block, an attribute, or JSON-LD."""

Family = Literal["names", "words", "structure", "look", "embedded"]

ATTRIBUTES: tuple[Source, ...] = ("alt", "title", "content", "datetime", "aria-label", "value", "href", "src")

FAMILIES: Mapping[str, Family] = {
    **dict.fromkeys(("class", "id", "itemprop", "in", "rel"), "names"),
    **dict.fromkeys(("left", "after", "below", "before", "heading", "first", "begins", "reads"), "words"),
    **dict.fromkeys(
        ("tag", "tags", "path", "nth", "nth-last", "child", "text", "previous", "next", "holds", "column"),
        "structure",
    ),
    **dict.fromkeys(("font", "colour", "size", "x", "ground"), "look"),
    **dict.fromkeys(("meta", "json", "item"), "embedded"),
}
"""The family of each kind of feature; a feature is its kind, a blank and a value."""

LONGEST_FEATURE = 200
"""Maximum length of a feature in characters."""

_LONGEST_TEXT = 5_000
_LONGEST_LABEL = 60
_MOST_PLACES = 20_000
_MOST_NAMES = 24
_MOST_JSON = 3_000
_FAR = 60  # leaves between a label and what it labels
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_LABEL_TAGS = _HEADINGS | {"th", "dt", "label", "legend", "caption"}
_UNSEEN = frozenset(("script", "style", "template", "noscript", "datalist"))


@dataclass(slots=True, eq=False)
class Place:
    """A place of a page.

    Parameters
    ----------
    node : the text node, the element with the attribute or the lines, or the script with the JSON-LD.
    source : what is read.
    text : the text, as one line.
    leaf : number of text nodes with words before it on the page.
    features : what describes it.
    """

    node: int
    source: Source
    text: str
    leaf: int
    features: frozenset[str] = frozenset()


@dataclass(eq=False)
class PagePlaces:
    """The places of one page, in document order.

    Parameters
    ----------
    page : the page.
    places : its places; their features have no words before `describe` was called.
    leaves : the texts of the page that are not blank, in document order.
    """

    page: Snapshot
    places: list[Place]
    leaves: list[str]
    _tags: list[str] = field(repr=False)  # of the parent of each leaf
    _firsts: dict[int, int] = field(repr=False)  # by place, the first leaf of its block
    _columns: dict[int, int] = field(repr=False)  # by place, the leaf that heads its column
    _left: dict[int, int] = field(repr=False)  # see `drawn_at_left`
    _plain: dict[int, frozenset[str]] = field(default_factory=dict, repr=False)

    @cached_property
    def labels(self) -> list[str]:
        """The leaves as labels: without digits and case; empty for texts that are too long or have no letters."""
        return [
            without_digits(folded(text))
            if len(text) <= _LONGEST_LABEL and any(map(str.isalpha, text))
            else ""
            for text in self.leaves
        ]

    def likely_labels(self) -> set[str]:
        """Return the leaves that look like labels, for a site of which no other page is known."""
        return {
            label
            for label, tag in zip(self.labels, self._tags, strict=True)
            if label and (label.endswith((":", "：")) or tag in _LABEL_TAGS)
        }

    @cached_property
    def addresses(self) -> Addresses:
        """Resolves the addresses of the page."""
        return Addresses(self.page)

    def absolute(self, place: Place) -> str:
        """Return the absolute address of a link or image, empty if there is none."""
        return self.addresses.absolute(place.node, place.text, linked=place.source == "href") or ""

    def describe(self, labels: frozenset[str]) -> None:
        """Add the features of the family ``words`` to all places.

        Parameters
        ----------
        labels : the labels of the site, as in `labels`.
        """
        own = self.labels
        count = len(own)
        last, above, following = [-1] * (count + 1), [-1] * (count + 1), [-1] * (count + 1)
        for at in range(count):
            is_label = own[at] in labels
            last[at + 1] = at if is_label else last[at]
            above[at + 1] = at if is_label and self._tags[at] in _HEADINGS else above[at]
        for at in range(count - 1, -1, -1):
            following[at] = at if own[at] in labels else following[at + 1]
        for number, place in enumerate(self.places):
            plain = self._plain.setdefault(number, place.features)
            if place.source == "json":
                continue
            leaf = place.leaf
            words: list[str] = []
            drawn = self._left.get(leaf, -1)
            if drawn >= 0 and own[drawn] in labels:  # what is seen goes before the order of the source
                words += [f"after {own[drawn]}", f"left {own[drawn]}"]
            elif last[leaf] >= 0 and leaf - last[leaf] <= _FAR:
                words.append(f"after {own[last[leaf]]}")
                if last[leaf] == leaf - 1:
                    words.append(f"left {own[leaf - 1]}")
            following_at = leaf + (place.source == "text")
            if following_at < count and (near := following[following_at]) >= 0 and near - leaf <= _FAR:
                words.append(f"before {own[near]}")
            if above[leaf] >= 0:
                words.append(f"heading {own[above[leaf]]}")
            first = self._firsts.get(number, leaf)
            if first < leaf and own[first] in labels:
                words.append(f"first {own[first]}")
            column = self._columns.get(number, -1)
            if 0 <= column < leaf and own[column]:
                words.append(f"below {own[column]}")
            if place.source in {"text", "line", "block"}:
                words += _beginnings(place.text)
            elif place.source in {"href", "src"} and leaf < count and own[leaf] in labels:
                words.append(f"reads {own[leaf]}")
            place.features = plain.union(words)


def _beginnings(text: str) -> list[str]:
    head = without_digits(folded(text[:_LONGEST_LABEL]))
    label, colon, rest = head.partition(":")
    begins = [f"begins {label.strip()}:"] if colon and rest.strip() else []
    word, blank, _ = head.partition(" ")
    return [*begins, f"begins {word}"] if blank and word.strip("0") else begins


def page_places(page: Snapshot) -> PagePlaces:
    """Return the places of a page, in O(N)."""
    return _Reader(visible_page(page)).read()


class _Reader:
    """Reads the places of one page."""

    def __init__(self, page: Snapshot) -> None:
        self.page = page
        batch = page_batch(page)
        names = page.tags.to_list()
        self.tag = [names[number] for number in page.tag.tolist()]
        self.parent = page.parent.tolist()
        self.end = page.end.tolist()
        self.kind = page.kind.tolist()
        self.inline = ((batch.tag_is & (TagIs.INLINE | TagIs.ANCHOR)) != 0).tolist()
        self.attributes: dict[int, dict[str, str]] = {}
        index = attributes_of(page)
        for name in ("class", "id", "itemprop", "rel", "name", "property", *ATTRIBUTES, JSON_LD):
            for node, value in zip(*index.values(name), strict=True):
                self.attributes.setdefault(int(node), {})[name] = value
        self.places: list[Place] = []
        self.leaves: list[str] = []
        self.leaf_tags: list[str] = []
        self.leaf_of: dict[int, int] = {}
        self.firsts: dict[int, int] = {}
        self.columns: dict[int, int] = {}
        self.seen_paths: Counter[tuple[str, str]] = Counter()
        self.numbers: list[tuple[int, tuple[str, str], int]] = []

    def read(self) -> PagePlaces:
        page = self.page
        size = len(page)
        self.path = [""] * size
        self.around: list[frozenset[str]] = [frozenset()] * size
        self.block = list(range(size))  # the nearest element that is not inline
        self.child = [0] * size  # number among the children of the parent with the same tag
        self.text_number = [0] * size
        self.previous: list[str] = [""] * size
        self.own: list[list[str]] = [[]] * size
        self.looks = page_looks(page)
        first_of: dict[int, int] = {}
        heads: dict[tuple[int, int], int] = {}
        cells: dict[int, tuple[int, int]] = {}  # by cell, its table and column
        hidden_end = 0
        children: dict[int, Counter[str]] = {}
        latest: dict[int, str] = {}
        flows: dict[int, list[int]] = {}
        texts = dict(zip(np.flatnonzero(page.kind == int(Kind.TEXT)).tolist(), _texts(page), strict=True))
        self.texts = texts
        for node in range(size):
            if node % 512 == 0:
                check()
            above = self.parent[node]
            if node < hidden_end:
                continue
            kind, tag = self.kind[node], self.tag[node]
            if kind == _TEXT:
                text = texts[node]
                self.block[node] = self.block[above]
                if not text:
                    continue
                counts = children.setdefault(above, Counter())
                counts["#text"] += 1
                self.text_number[node] = counts["#text"]
                self.previous[node] = latest.get(above, "")
                latest[above] = "#text"
                leaf = len(self.leaves)
                self.leaves.append(text[:_LONGEST_TEXT])
                self.leaf_tags.append(tag if above < 0 else self.tag[above])
                block = self.block[node]
                first_of.setdefault(block, leaf)
                flows.setdefault(block, []).append(node)
                if any(map(str.isalnum, text)):  # commas between the values of a list are none
                    self._add(Place(node, "text", text[:_LONGEST_TEXT], leaf), above, first_of[block])
                    self._column(cells, heads, block, leaf)
                self.leaf_of[node] = leaf
                continue
            if above >= 0:
                counts = children.setdefault(above, Counter())
                counts[tag] += 1
                self.child[node] = counts[tag]
                self.previous[node] = latest.get(above, "")
                latest[above] = tag
            if tag in _UNSEEN:
                if tag == "script" and (data := self.attributes.get(node, {}).get(JSON_LD)):
                    self._json(node, data)
                hidden_end = self.end[node]
                continue
            path = self.path[above] if above >= 0 else ""
            self.path[node] = f"{path}/{tag}" if kind == _ELEMENT else path
            if kind == _ELEMENT and self.inline[node] and above >= 0:
                self.block[node] = self.block[above]
            self.own[node] = own = self._names(node)
            self.around[node] = (
                self.around[above].union(own) if own and above >= 0 else self.around[max(above, 0)]
            )
            if tag in {"td", "th"} and above >= 0:
                table = self._table(above)
                cells[node] = (table, children[above]["td"] + children[above]["th"])
            for name in ATTRIBUTES:
                value = self.attributes.get(node, {}).get(name)
                if value and (value := flat(value)):
                    leaf = len(self.leaves)
                    source = Place(node, name, value[:_LONGEST_TEXT], leaf)
                    self._add(source, node, first_of.get(self.block[node], leaf))
        self._lines(flows)
        self._number()
        order = sorted(range(len(self.places)), key=lambda i: (self.places[i].leaf, self.places[i].node, i))
        order = order[:_MOST_PLACES]
        return PagePlaces(
            page,
            [self.places[i] for i in order],
            self.leaves,
            self.leaf_tags,
            {number: self.firsts[i] for number, i in enumerate(order) if i in self.firsts},
            {number: self.columns[i] for number, i in enumerate(order) if i in self.columns},
            drawn_at_left(page, list(self.leaf_of)),
        )

    def _names(self, node: int) -> list[str]:
        """Return the names of an element: ``.class``, ``#id`` and ``@itemprop``, without digits in the first two."""
        if not (own := self.attributes.get(node)):
            return []
        names = [f".{_name(token)}" for token in own.get("class", "").split()[:_MOST_NAMES]]
        if identity := own.get("id", "").strip():
            names.append(f"#{_name(identity)}")
        names += [f"@{token}" for token in own.get("itemprop", "").split()[:4]]
        return [name[: LONGEST_FEATURE // 2] for name in dict.fromkeys(names) if len(name) > 1]

    def _add(self, place: Place, element: int, first: int) -> None:
        """Add a place with its features, except words."""
        features: list[str] = []
        number = len(self.places)
        tag, path = self.tag[element], self.path[element]
        for name in self.own[element]:
            kind = {".": "class", "#": "id", "@": "itemprop"}[name[0]]
            features.append(f"{kind} {name}")
        features += [f"in {name}" for name in self.around[element]]
        tags = path.rsplit("/", 5)
        features += [
            f"tag {tag}",
            f"tags {'/'.join(tags[-2:])}",
            f"tags {'/'.join(tags[-3:])}",
            f"tags {'/'.join(tags[-4:])}",
            f"path {path[-LONGEST_FEATURE + 5 :]}",
            f"child {self.child[element]}",
        ]
        above = self.parent[element]
        if above >= 0 and self.kind[above] == _ELEMENT:
            features.append(f"child {self.child[above]}/{self.child[element]}")
        if place.source == "text":
            features.append(f"text {self.text_number[place.node]}")
            features.append(f"previous {self.previous[place.node]}")
        else:
            features.append(f"previous {self.previous[element]}")
            below = element + 1
            holds = self.tag[below] if below < self.end[element] and self.kind[below] == _ELEMENT else ""
            features.append(f"holds {holds}")
        own = self.attributes.get(element, {})
        if tag == "meta":
            for name in ("name", "property"):
                if value := own.get(name):
                    features.append(f"meta {value.strip().lower()[:100]}")
        elif rel := own.get("rel"):
            features.append(f"rel {rel.strip().lower()[:60]}")
        if self.looks is not None:
            features += self.looks.get(element, ())
        place.features = frozenset(features)
        self.places.append(place)
        if first < place.leaf:
            self.firsts[number] = first
        key = (place.source, path)
        self.seen_paths[key] += 1
        self.numbers.append((number, key, self.seen_paths[key]))

    def _number(self) -> None:
        """Add the number of each place among those with the same path, from the start and from the end."""
        for number, key, at in self.numbers:
            place = self.places[number]
            total = self.seen_paths[key]
            place.features = place.features.union((f"nth {at}", f"nth-last {total - at + 1}"))

    def _lines(self, flows: Mapping[int, list[int]]) -> None:
        """Add the lines and blocks of text that have inline elements or line breaks in them."""
        leaf_of = self.leaf_of
        for block, nodes in flows.items():
            if len(nodes) < 2:
                continue
            lines: list[list[int]] = [[]]
            before = -1
            for node in nodes:
                if before >= 0 and self._breaks(before, node):
                    lines.append([])
                lines[-1].append(node)
                before = node
            found = [("line", line) for line in lines if len(line) > 1]
            if len(lines) > 1:
                found.append(("block", nodes))
            for source, members in found:
                text = flat("".join(self._raw(members)))[:_LONGEST_TEXT]
                first = leaf_of[members[0]]
                place = Place(block, "line" if source == "line" else "block", text, first)
                self._add(place, block, leaf_of[nodes[0]])
                number = len(self.places) - 1
                self.places[number].features |= (
                    {f"text {1 + lines.index(members)}"} if source == "line" else set()
                )

    def _raw(self, nodes: list[int]) -> list[str]:
        raw: list[str] = []
        before = -1
        for node in nodes:
            if before >= 0 and self._breaks(before, node):
                raw.append(" ")
            raw.append(self.page.text_of(node))
            before = node
        return raw

    def _breaks(self, before: int, node: int) -> bool:
        """Return whether a line break or a block is between two texts of a block."""
        return any(self.kind[i] == _ELEMENT and not self.inline[i] for i in range(before + 1, node))

    def _table(self, row: int) -> int:
        above: int = self.parent[row]
        while above > 0 and self.tag[above] in {"tbody", "thead", "tfoot"}:
            above = self.parent[above]
        return above

    def _column(
        self,
        cells: Mapping[int, tuple[int, int]],
        heads: dict[tuple[int, int], int],
        block: int,
        leaf: int,
    ) -> None:
        """Note which column of a table a text is in, and the first text of the column."""
        node = block
        for _ in range(4):  # cells rarely have more elements around their text
            if node in cells:
                table, column = cells[node]
                head = heads.setdefault((table, column), leaf)
                number = len(self.places) - 1
                self.columns[number] = head
                self.places[number].features |= {f"column {column}"}
                return
            node = self.parent[node]
            if node < 0:
                return

    def _json(self, node: int, data: str) -> None:
        budget = _MOST_JSON
        stack: list[tuple[str, Any]] = [("", value) for value in reversed(read_json(data))]
        items: Counter[str] = Counter()
        while stack and budget:
            budget -= 1
            path, value = stack.pop()
            if isinstance(value, dict):
                kind = value.get("@type")
                kind = kind[0] if isinstance(kind, list) and kind else kind
                here = f"{path}{kind}" if isinstance(kind, str) and not path else path
                stack += [(f"{here}/{name}", each) for name, each in reversed(value.items())]
            elif isinstance(value, list):
                stack += [(path, each) for each in reversed(value)]
            elif isinstance(value, str | int | float) and not isinstance(value, bool):
                text = flat(str(value))[:_LONGEST_TEXT]
                if text and len(path) <= LONGEST_FEATURE - 10:
                    items[path] += 1
                    features = frozenset((f"json {path}", f"item {items[path]}"))
                    self.places.append(Place(node, "json", text, len(self.leaves), features))


def _texts(page: Snapshot) -> list[str]:
    texts = page.strings.take(page.text[page.kind == int(Kind.TEXT)].tolist())
    return [flat(text) for text in texts]


def _name(token: str) -> str:
    """Return a class or id with each number in it replaced by 0, since numbers count rather than name."""
    plain = without_digits(token)
    while "00" in plain:
        plain = plain.replace("00", "0")
    return plain


_TEXT, _ELEMENT = int(Kind.TEXT), int(Kind.ELEMENT)
