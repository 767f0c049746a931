"""Which column of a table of records is its title, description, price, date, number, link and image.

A role goes to the column whose values are of its type; among several to the one that the page calls so, else to the
first that most records have. The title is the text that stands in a heading or a link, the description the longest
text, the link that of the title. Imports the leaves and the types of values.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from domsieve.analysis.records.columns import Column
from domsieve.analysis.records.field_types import ValueType, type_of
from domsieve.analysis.records.leaves import Leaves
from domsieve.vocabulary import FieldName

_SAMPLE = 50
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])
_STRONG = frozenset(["b", "strong", "dt"])
_CLIMB = 6
_LONGEST_TITLE = 200  # characters, the median
_LONG = 40  # of a description
_COMMON = 0.5  # share of the records, below which a column stands back behind a more common one
_VARIED = 0.5  # share of different values, below which a text is a label or a button
# What pages themselves call a role, in their markup and headers.
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
    """Return for each role that the table has the number of its column.

    Parameters
    ----------
    leaves : of the page.
    columns : of the table, in document order.
    called : what the page calls each column, empty where it does not.
    first : (R,) the first node of each record.
    """
    return _Roles(leaves, columns, called, first).found()


class _Roles:
    """Looks for the roles of the columns of one table."""

    def __init__(
        self, leaves: Leaves, columns: Sequence[Column], called: Sequence[str], first: Sequence[int]
    ) -> None:
        self._leaves, self._columns, self._called, self._first = leaves, columns, called, first
        self._values = [[c.leaves[r].value for r in sorted(c.leaves)[:_SAMPLE]] for c in columns]
        texts = [i for i, column in enumerate(columns) if column.kind == "text"]
        self._type: dict[int, ValueType] = {i: type_of(self._values[i]) for i in texts}

    def found(self) -> dict[FieldName, int]:
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
        """Give a role to the first of the columns that the page calls so, else that is common, else to the first."""
        named = [i for i in columns if self._called[i] in _CALLED[role]]
        common = [i for i in columns if len(self._columns[i].leaves) >= _COMMON * len(self._first)]
        if best := [*named, *common, *columns]:
            roles[role] = best[0]

    def _is_bare_price(self, i: int) -> bool:
        """Return whether a column of numbers without a currency is one of prices, by what the page calls it."""
        return self._type.get(i) == "number" and self._called[i] in _CALLED["price"]

    def _is_varied(self, i: int) -> bool:
        values = self._values[i]
        worded = sum(any(character.isalnum() for character in value) for value in values)
        return 2 * worded > len(values) and (len(values) == 1 or len({*values}) > _VARIED * len(values))

    def _length(self, i: int) -> float:
        return median(len(value) for value in self._values[i])

    def _weight(self, i: int) -> int:
        """Return how much the markup makes of a text: 3 of a heading, 2 of a link, 1 of strong text."""
        record = min(self._columns[i].leaves)
        node, weight = self._columns[i].leaves[record].owner, 0
        first = self._columns[i].leaves[record].first
        for _ in range(_CLIMB):
            if node < self._first[record]:
                break
            name = self._leaves.names[self._leaves.tag[node]]
            weight = max(
                weight, 3 if name in _HEADINGS else 2 if name == "a" else 1 if name in _STRONG else 0
            )
            node = self._leaves.parent[node]
        # A link inside of the text, such as `<p><a>`, counts as one around it.
        name = self._leaves.names[self._leaves.tag[self._leaves.parent[first]]]
        return max(weight, 2 if name == "a" else 1 if name in _STRONG else 0)

    def _holds(self, link: int, text: int) -> bool:
        """Return whether the text stands in the link, or the link in the text, in the first record that has both."""
        one, other = self._columns[link].leaves, self._columns[text].leaves
        for record in sorted(one.keys() & other.keys())[:1]:
            a, b = one[record], other[record]
            return a.first < b.stop and b.first < a.stop
        return False
