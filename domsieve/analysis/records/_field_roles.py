"""Types, roles and names of the columns of a table of records."""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Literal

from domsieve.analysis.records.leaves import Column, Leaf, Leaves
from domsieve.budget import check
from domsieve.types import FieldName

ValueType = Literal["price", "date", "number", "text"]

# Guesses that worked on the development sites.
_READ = 60  # characters; longer values are text
_MOST_WORDS = 6  # values with more words are text
_MOST = 0.6  # share of the values that must have the type
_NUMBER = re.compile(r"[#(]?[+-]?\d[\d.,' \u00a0\u202f]{0,20}[.)%]?")
_DAY = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b|\d{4}-\d{2}\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_]+")
_CURRENCY_WORDS = (
    "aud brl cad chf cny czk dkk eur ft gbp hkd huf ils inr jpy krw kr kč lei mxn nok nzd pln ron rub sek "
    "sgd thb try twd uah usd zar zł руб fr rs "
)
_CURRENCIES = frozenset(_CURRENCY_WORDS.split())
# Beginnings of month names in languages with Latin script.
_MONTH_WORDS = (
    "jan ene gen feb fév mar mär mrt apr avr abr may mai maj mei mag jun jui giu jul lug aug aoû ago sep set oct okt "
    "ott out nov dec dez déc dic"
)
_MONTHS = tuple(_MONTH_WORDS.split())


def type_of(values: Sequence[str]) -> ValueType:
    """Return the type that at least 60 % of `values` have, otherwise ``"text"``."""
    check()
    types = [_type(value) for value in values]
    for kind in ("price", "date", "number"):
        if types and types.count(kind) >= _MOST * len(types):
            return kind
    return "text"


def _type(value: str) -> ValueType:
    text = value[: _READ + 1].strip()
    if not text or len(text) > _READ or not any(character.isdigit() for character in text):
        return "text"
    if len(text.split()) > _MOST_WORDS:
        return "text"
    if _has_currency(text):
        return "price"
    if _is_date(text):
        return "date"
    return "number" if _NUMBER.fullmatch(text) else "text"


def _has_currency(text: str) -> bool:
    return any(unicodedata.category(character) == "Sc" for character in text) or any(
        word.casefold() in _CURRENCIES for word in _WORD.findall(text)
    )


def _is_date(text: str) -> bool:
    if _DAY.search(text):
        return True
    words = [word.casefold() for word in _WORD.findall(text)]
    return bool(_YEAR.search(text)) and any(word.startswith(_MONTHS) for word in words)


_SAMPLE = 50
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_STRONG = frozenset(["b", "strong", "dt"])
# Guesses that worked on the development sites.
_LINK_LEVELS = 6  # ancestors that are searched for a heading or link
_LONGEST_TITLE = 200  # characters, median
_LONG = 40  # fewest characters of a description, median
_COMMON = 0.5  # columns of a smaller share of the records are used only if there is no other
_VARIED = 0.5  # a text with a smaller share of distinct values is a label or a button
# Names of roles in markup and headers.
_CALLED: Mapping[FieldName, frozenset[str]] = {
    "title": frozenset(["title", "name", "headline", "product", "subject"]),
    "description": frozenset(["description", "summary", "abstract", "excerpt", "snippet"]),
    "price": frozenset(["price", "amount", "cost"]),
    "date": frozenset(["date", "published", "datepublished", "posted", "time"]),
    "number": frozenset(["number", "rank", "no", "position", "quantity"]),
    "link": frozenset(["link", "url"]),
    "image": frozenset(["image", "photo", "picture", "thumbnail"]),
}


def roles_of(
    leaves: Leaves, columns: Sequence[Column], called: Sequence[str], first: Sequence[int]
) -> dict[FieldName, int]:
    """Return the numbers of the columns that have a role, by role.

    Parameters
    ----------
    leaves : leaves of the page.
    columns : columns of the table, in document order.
    called : the name that the page gives to each column, empty without one.
    first : the first node of each record.
    """
    return _Roles(leaves, columns, called, first).roles()


class _Roles:
    """Assigns roles to the columns of one table."""

    def __init__(
        self, leaves: Leaves, columns: Sequence[Column], called: Sequence[str], first: Sequence[int]
    ) -> None:
        self._leaves, self._columns, self._called, self._first = leaves, columns, called, first
        self._values = [[c.leaves[r].value for r in sorted(c.leaves)[:_SAMPLE]] for c in columns]
        texts = [i for i, column in enumerate(columns) if column.kind == "text"]
        self._type: dict[int, ValueType] = {i: type_of(self._values[i]) for i in texts}

    def roles(self) -> dict[FieldName, int]:
        columns = range(len(self._columns))
        roles: dict[FieldName, int] = {}
        prices = [i for i in columns if self._type.get(i) == "price"]
        self._give(roles, "price", prices or [i for i in columns if self._is_bare_price(i)])
        self._give(roles, "date", [i for i in columns if self._type.get(i) == "date"])
        numbers = [i for i in columns if self._type.get(i) == "number" and i not in roles.values()]
        self._give(roles, "number", numbers)
        self._give(roles, "image", [i for i in columns if self._columns[i].kind == "image"])
        texts = [i for i in columns if self._type.get(i) == "text" and self._is_varied(i)]
        titles = [i for i in texts if self._length(i) <= _LONGEST_TITLE]
        self._give(roles, "title", sorted(titles, key=lambda i: -self._weight(i)))
        rest = [i for i in texts if i != roles.get("title") and self._length(i) >= _LONG]
        self._give(roles, "description", sorted(rest, key=lambda i: -self._length(i)))
        links = [i for i in columns if self._columns[i].kind == "link"]
        title = roles.get("title")
        around = [i for i in links if title is not None and self._holds(i, title)]
        self._give(roles, "link", around or links)
        return roles

    def _give(self, roles: dict[FieldName, int], role: FieldName, columns: Sequence[int]) -> None:
        """Assign a role to the first column that the page names so, else the first common one, else the first."""
        named = [i for i in columns if self._called[i] in _CALLED[role]]
        common = [i for i in columns if len(self._columns[i].leaves) >= _COMMON * len(self._first)]
        if best := [*named, *common, *columns]:
            roles[role] = best[0]

    def _is_bare_price(self, i: int) -> bool:
        """Return whether the page names a column of numbers without currency as prices."""
        return self._type.get(i) == "number" and self._called[i] in _CALLED["price"]

    def _is_varied(self, i: int) -> bool:
        values = self._values[i]
        worded = sum(any(character.isalnum() for character in value) for value in values)
        return 2 * worded > len(values) and (len(values) == 1 or len({*values}) > _VARIED * len(values))

    def _length(self, i: int) -> float:
        return median(len(value) for value in self._values[i])

    def _weight(self, i: int) -> int:
        """Return the emphasis of a text by its markup: 3 in a heading, 2 in a link, 1 in strong text, otherwise 0."""
        record = min(self._columns[i].leaves)
        node, weight = self._columns[i].leaves[record].owner, 0
        first = self._columns[i].leaves[record].first
        for _ in range(_LINK_LEVELS):
            if node < self._first[record]:
                break
            name = self._leaves.names[self._leaves.tag[node]]
            weight = max(
                weight, 3 if name in _HEADINGS else 2 if name == "a" else 1 if name in _STRONG else 0
            )
            node = self._leaves.parent[node]
        # A link inside the text element, as in `<p><a>`, counts as well.
        name = self._leaves.names[self._leaves.tag[self._leaves.parent[first]]]
        return max(weight, 2 if name == "a" else 1 if name in _STRONG else 0)

    def _holds(self, link: int, text: int) -> bool:
        """Return whether text and link overlap in the first record that has both."""
        one, other = self._columns[link].leaves, self._columns[text].leaves
        for record in sorted(one.keys() & other.keys())[:1]:
            a, b = one[record], other[record]
            return a.first < b.stop and b.first < a.stop
        return False


_LABEL_TAGS = frozenset(["b", "dt", "label", "strong", "th"])
_PREFIX = re.compile(r"([^:]{1,40}):(?!//)\s*\S")
_NO_NAME = re.compile(r"\W+")
_CLASS_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
# Words in class names that tell what an element is; others, such as `primary`, tell its look or position.
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
_NAME_LEVELS = 3
_HEAD_ROWS = 10


def field_names(
    leaves: Leaves, columns: Sequence[Column], first: Sequence[int]
) -> tuple[list[str], dict[FieldName, int]]:
    """Return a unique name for each column, and the numbers of the columns that have a role.

    The name is the first of these that exists: the header cell above a table cell; a label before the value or at its
    beginning, equal in all records; ``itemprop``; ``aria-label``; a meaningful class that all values share; the role;
    the kind with a number. The first 50 values of each column are read.

    Parameters
    ----------
    leaves : leaves of the page.
    columns : columns of the table, in document order.
    first : the first node of each record.
    """
    reader = _Names(leaves, columns, first)
    given = [reader.of(i) for i in range(len(columns))]
    roles = roles_of(leaves, columns, given, first)
    role_of = {i: role for role, i in roles.items()}
    counts: Counter[str] = Counter()
    taken: set[str] = set()
    names = [""] * len(columns)
    for i in sorted(range(len(columns)), key=lambda i: (columns[i].kind != "text", i)):
        kind = columns[i].kind
        counts[kind] += 1
        name = given[i] or role_of.get(i) or f"{kind}_{counts[kind]}"
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
    """Reads the names that the page gives to columns."""

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
        """Return the name of a column, empty if the page gives none."""
        check()
        sources = (self._header, self._label, self._prefix) if self._columns[i].kind == "text" else ()
        for source in (*sources, self._item_property, self._aria_label, self._class):
            name = _NO_NAME.sub("_", source(i).lower())[:_LONGEST].strip("_")
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
        """Return the texts of the header rows by column; lower rows win, and rows of a single cell are ignored."""
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
        """Return the text before the column if it is equal in all records and looks like a label."""
        before = [j for j in range(i) if self._columns[j].kind == "text"]
        if not before:
            return ""
        label = self._columns[before[-1]].leaves
        labels = [label[r] for r, _ in self._samples[i] if r in label]
        if len(labels) < 2 or 2 * len(labels) <= len(self._samples[i]):
            return ""
        text = _same(leaf.value for leaf in labels)
        tags = {self._leaves.names[self._leaves.tag[leaf.owner]] for leaf in labels}
        return text if text.endswith((":", "：")) or tags <= _LABEL_TAGS else ""

    def _prefix(self, i: int) -> str:
        if len(self._samples[i]) < 2:
            return ""
        matches = (_PREFIX.match(leaf.value) for _, leaf in self._samples[i])
        return _same(match[1] if match else "" for match in matches)

    def _item_property(self, i: int) -> str:
        return _same(self._nearest(record, leaf, "itemprop") for record, leaf in self._samples[i])

    def _aria_label(self, i: int) -> str:
        if len(self._samples[i]) < 2:
            return ""
        return _same(self._nearest(record, leaf, "aria-label") for record, leaf in self._samples[i])

    def _class(self, i: int) -> str:
        sets = [_words(self._nearest(record, leaf, "class")) for record, leaf in self._samples[i]]
        shared = (word for word in sets[0] if all(word in other for other in sets))
        return next((name for name in map(_meaning, shared) if name), "")

    def _nearest(self, record: int, leaf: Leaf, name: str) -> str:
        """Return an attribute of the leaf's element, or of the nearest ancestor without other leaves of this kind."""
        node, starts = leaf.owner, self._starts[record, leaf.kind]
        for _ in range(_NAME_LEVELS):
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
    """Return a class that tells what an element is, such as ``product-title``; empty for other classes."""
    parts = [part.lower() for part in _CLASS_PART.findall(word[:_LONGEST])]
    return word if parts and parts[-1] in _MEANINGS else ""


def _words(value: str) -> list[str]:
    """Return the classes without digits; those with digits are generated names and sizes."""
    return [word for word in value.split() if not any(character.isdigit() for character in word)]


def _same(values: Iterable[str]) -> str:
    """Return the value if all are equal, otherwise an empty string."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else ""
