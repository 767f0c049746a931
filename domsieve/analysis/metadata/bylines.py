"""Authors that a page shows: links to them, elements named after them, lines that begin with ``By``.

Imports names and places.
"""

from typing import NamedTuple

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.metadata.elements import Elements
from domsieve.analysis.metadata.names import author_names, is_byline
from domsieve.analysis.metadata.places import Places
from domsieve.budget import check

_BEFORE, _AFTER = 20, 60
_LONGEST_LINE = 120
_FURTHEST = 120
_MOST_CANDIDATES = 300
_NEAR_THE_TITLE = "text near the title"
_AUTHOR = word_set("author authors byline byl autor auteur autore writer contributor")
_POSTER = word_set("username poster postauthor nickname screenname")
_NO_NAME = word_set(
    "bio biography avatar image img photo picture description desc about box card social links link follow list page "
    "title role job more icon thumb email twitter website info wrapper container section grid date time archive "
    "read count posts number joined rank details"
)


class Byline(NamedTuple):
    """Names on the page, with a cost: the lower the likelier they are of the page's authors."""

    cost: float
    node: int
    names: tuple[str, ...]
    source: str


def bylines(elements: Elements, places: Places) -> list[Byline]:
    """Return the names of authors on a page, the likeliest first."""
    found: list[Byline] = []

    def add(node: int, text: str, source: str, bonus: float) -> None:
        names = author_names(text) if 1 < len(text) <= _LONGEST_LINE else ()
        # A line may begin with the word and name nobody: "By subject".
        if names and not (source == _NEAR_THE_TITLE and all(map(str.islower, names))):
            cost = places.cost(node) - bonus - (20 if is_byline(text) else 0)
            found.append(Byline(cost, node, names, source))

    for node, value in elements.with_attribute("rel")[:_MOST_CANDIDATES]:
        if "author" in value[:200].lower().split():
            add(node, elements.shown_text(node, _LONGEST_LINE + 1), "rel=author", 30)
    for name in ("class", "id", "data-testid", "itemprop"):
        naming = [(node, bonus) for node, _, words in elements.named(name) if (bonus := _bonus(words))]
        for node, bonus in naming[:_MOST_CANDIDATES]:
            check()
            add(node, elements.shown_text(node, _LONGEST_LINE + 1), f"{name} of an author", bonus)
    for node, line in places.lines(_BEFORE, _AFTER):
        if len(line) <= _LONGEST_LINE and is_byline(line):
            add(node, line, _NEAR_THE_TITLE, 10)
    return sorted(found)


def choose_authors(found: list[Byline]) -> tuple[tuple[str, ...], str]:
    """Return the names of the likeliest byline and where it stood, nothing when none is near enough."""
    for one in found:
        if one.cost <= _FURTHEST:
            return one.names, one.source
    return (), ""


def _bonus(words: frozenset[str]) -> float:
    """Return how sure the words of a class make that names stand inside, 0 for not at all."""
    if not words.isdisjoint(_AUTHOR):
        if not words.isdisjoint(_NO_NAME):
            return 1
        return 25 if "name" in words else 20
    return 5 if not words.isdisjoint(_POSTER) else 0
