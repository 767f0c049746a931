"""Where things stand on a page as seen from its title: near it, far from it, or in a part that is not about it.

Imports the elements.
"""

import numpy as np

from domsieve.analysis.columns.batch import below
from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.metadata.elements import Elements

_BESIDE_TAGS = ("aside", "footer", "nav", "dialog")
# Parts that name other pages, other people, or the site; as words of a class or an id.
_BESIDE = word_set("""
comment comments reply replies related sidebar footer nav navigation menu widget recommended recommendation
recommendations popular trending latest teaser carousel breadcrumb breadcrumbs newsletter modal popup cookie promo
sponsored ad ads advert similar card cards review reviews testimonial testimonials copyright
""")
_NEAR = 15  # texts from the title
_NEAR_COST, _FAR_COST = 30, 2_000


class Places:
    """Distances from the title, counted in shown texts, and what stands beside the page's matter."""

    def __init__(self, elements: Elements, title: int) -> None:
        self.title = title
        self._elements = elements
        self._shown = elements.shown
        self._end = int(elements.end[title]) if title else 0
        self._from = int(np.searchsorted(self._shown, title))
        self._to = int(np.searchsorted(self._shown, self._end))
        marked = np.zeros(len(elements.page), np.bool_)
        marked[elements.tagged(*_BESIDE_TAGS)] = True
        for name in ("class", "id"):
            marked[[node for node, _, words in elements.named(name) if not _BESIDE.isdisjoint(words)]] = True
        if title:
            around = title
            while around > 0:
                marked[around] = False
                around = int(elements.parent[around])
        self._beside = below(marked, elements.page.end.astype(np.int64))

    def cost(self, node: int) -> int:
        """Return the distance of a node, and more where its part of the page is not about the page's matter."""
        distance = self.distance(node)
        if not self._beside[node]:
            return distance
        return distance + (_NEAR_COST if distance <= _NEAR else _FAR_COST)

    def distance(self, node: int) -> int:
        """Return how many shown texts lie between the title and a node; before it they count twice."""
        if not self.title:
            return int(np.searchsorted(self._shown, node))
        at = int(np.searchsorted(self._shown, node))
        if self.title <= node < self._end:
            return 0
        return at - self._to if node >= self._end else 2 * (self._from - at)

    def lines(self, before: int, after: int) -> list[tuple[int, str]]:
        """Return the shown lines around the title, so many texts before it and behind it: first node and text."""
        return self._elements.lines(self._from - before, self._to + after)
