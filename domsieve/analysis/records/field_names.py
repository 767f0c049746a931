"""Names for the columns of a table of records, from what the page itself calls them. Imports the leaves."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from domsieve.analysis.records.columns import Column
from domsieve.analysis.records.field_roles import roles_of
from domsieve.analysis.records.leaves import Leaf, Leaves
from domsieve.budget import check
from domsieve.vocabulary import FieldName

_SAMPLE = 50
_LABEL_TAGS = frozenset(["b", "dt", "label", "strong", "th"])
_PREFIX = re.compile(r"([^:]{1,40}):(?!//)\s*\S")
_NO_NAME = re.compile(r"\W+")
_CLASS_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
# Words of classes that say what something is; others, such as `primary`, say how it looks or where it stands.
_MEANING_WORDS = (
    "abstract address age album artist author authors availability bedrooms brand byline category city color "
    "colour comments company condition country currency date deadline delivery department description director "
    "discount distance duration edition email excerpt gender genre headline isbn issue journal language length "
    "location make manufacturer mileage model name nickname organisation organization pages phone points "
    "position price prices publisher quantity rank rating ratings region release reviews salary score seller "
    "shipping size sku snippet speaker species status stock street subject subtitle summary team tel telephone "
    "time title topic town type url venue version views volume votes weight year zip "
)
_MEANINGS = frozenset(_MEANING_WORDS.split())
_LONGEST = 40
_CLIMB = 3
_HEAD_ROWS = 10


def field_names(
    leaves: Leaves, columns: Sequence[Column], first: Sequence[int]
) -> tuple[list[str], dict[FieldName, int]]:
    """Return a name for each column, all different, and the columns that have a role of `FIELD_NAMES`.

    A name is, in this order: the header cell above a table cell; a label in front or at the beginning, the same in
    every record; ``itemprop``; ``aria-label``; a word of a class that all values share, where people use it for what
    it names; the role; the kind and a number. Read off the first 50 values of each column.

    Parameters
    ----------
    first : (R,) the first node of each record.
    """
    named = _Names(leaves, columns, first)
    found = [named.of(i) for i in range(len(columns))]
    roles = roles_of(leaves, columns, found, first)
    role_of = {i: role for role, i in roles.items()}
    counts: Counter[str] = Counter()
    taken: set[str] = set()
    names = [""] * len(columns)
    for i in sorted(range(len(columns)), key=lambda i: (columns[i].kind != "text", i)):
        kind = columns[i].kind
        counts[kind] += 1
        name = found[i] or role_of.get(i) or f"{kind}_{counts[kind]}"
        if name in taken and kind != "text":
            name = f"{name}_{kind}"
        number, stem = 1, name
        while name in taken:
            number += 1
            name = f"{stem}_{number}"
        taken.add(name)
        names[i] = name
    return names, roles


class _Names:
    """Looks for the names of columns."""

    def __init__(self, leaves: Leaves, columns: Sequence[Column], first: Sequence[int]) -> None:
        self._leaves = leaves
        self._columns = columns
        self._first = first
        self._samples = [[(r, c.leaves[r]) for r in sorted(c.leaves)[:_SAMPLE]] for c in columns]
        sampled = {r for sample in self._samples for r, _ in sample}
        self._starts: dict[tuple[int, str], list[int]] = defaultdict(list)
        for column in columns:
            for record in sampled.intersection(column.leaves):
                self._starts[record, column.kind].append(column.leaves[record].first)
        for starts in self._starts.values():
            starts.sort()
        self._headers: dict[int, dict[int, str]] = {}

    def of(self, i: int) -> str:
        """Return the name that the page has for a column, empty where it has none."""
        check()
        looks = (self._header, self._label, self._prefix) if self._columns[i].kind == "text" else ()
        for look in (*looks, self._item_property, self._spoken, self._class):
            name = _NO_NAME.sub("_", look(i).lower())[:_LONGEST].strip("_")
            if name:
                return name
        return ""

    def _header(self, i: int) -> str:
        return _same(self._header_of(leaf.owner) for _, leaf in self._samples[i])

    def _header_of(self, node: int) -> str:
        leaves = self._leaves
        while node > 0 and not leaves.cell[node]:
            node = leaves.parent[node]
        if node <= 0 or leaves.names[leaves.tag[node]] == "th":
            return ""
        table = int(leaves.grid.table[node])
        if table not in self._headers:
            self._headers[table] = self._header_row(table)
        return self._headers[table].get(leaves.cell[node], "")

    def _header_row(self, table: int) -> dict[int, str]:
        """Return what the header rows of a table say by column, lower rows first; a single cell heads its row."""
        leaves = self._leaves
        names: dict[int, str] = {}
        for row in leaves.grid.heads.get(table, [])[:_HEAD_ROWS]:
            check()
            cells = [n for n in range(row, leaves.end[row]) if leaves.cell[n] and leaves.parent[n] == row]
            for cell in cells if len(cells) > 1 else ():
                text = " ".join(
                    leaf.value for leaf in leaves.of([(cell, leaves.end[cell])]) if leaf.kind == "text"
                )
                if text:
                    names[leaves.cell[cell]] = text
        return names

    def _label(self, i: int) -> str:
        """Return the text in front of the column if it is the same in all records and looks like a label."""
        before = [j for j in range(i) if self._columns[j].kind == "text"]
        if not before:
            return ""
        label = self._columns[before[-1]].leaves
        found = [label[r] for r, _ in self._samples[i] if r in label]
        if len(found) < 2 or 2 * len(found) <= len(self._samples[i]):
            return ""
        text = _same(leaf.value for leaf in found)
        tags = {self._leaves.names[self._leaves.tag[leaf.owner]] for leaf in found}
        return text if text.endswith((":", "：")) or tags <= _LABEL_TAGS else ""

    def _prefix(self, i: int) -> str:
        if len(self._samples[i]) < 2:
            return ""
        matches = (_PREFIX.match(leaf.value) for _, leaf in self._samples[i])
        return _same(match[1] if match else "" for match in matches)

    def _item_property(self, i: int) -> str:
        return _same(self._nearest(record, leaf, "itemprop") for record, leaf in self._samples[i])

    def _spoken(self, i: int) -> str:
        if len(self._samples[i]) < 2:
            return ""
        return _same(self._nearest(record, leaf, "aria-label") for record, leaf in self._samples[i])

    def _class(self, i: int) -> str:
        sets = [_words(self._nearest(record, leaf, "class")) for record, leaf in self._samples[i]]
        shared = (word for word in sets[0] if all(word in other for other in sets))
        return next((name for name in map(_meaning, shared) if name), "")

    def _nearest(self, record: int, leaf: Leaf, name: str) -> str:
        """Return an attribute of the leaf's element or else of one above that holds no other leaf of the kind."""
        node, starts = leaf.owner, self._starts[record, leaf.kind]
        for _ in range(_CLIMB):
            if node < self._first[record]:
                return ""
            inside = bisect_left(starts, self._leaves.end[node]) - bisect_left(starts, node)
            if inside > 1:
                return ""
            value = self._leaves.attributes(node).get(name, "")
            if value.strip() and (name != "class" or _words(value)):
                return value
            node = self._leaves.parent[node]
        return ""


def _meaning(word: str) -> str:
    """Return a class that says what it is on, such as `product-title`; nothing where it is of looks or place."""
    parts = [part.lower() for part in _CLASS_PART.findall(word[:_LONGEST])]
    return word if parts and parts[-1] in _MEANINGS else ""


def _words(value: str) -> list[str]:
    """Return the words of a class, those with digits left out: generated ones and measures are no names."""
    return [word for word in value.split() if not any(character.isdigit() for character in word)]


def _same(values: Iterable[str]) -> str:
    """Return the one value that all are, else nothing."""
    found = set(values)
    return found.pop() if len(found) == 1 else ""
