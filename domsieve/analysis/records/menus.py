"""Which parts of a page are its menus, heads and feet, where no list of records is looked for.

Told by what the page itself calls them: tags and roles, no class names, which mislead on pages of site builders.
Menus without such a name are told by their links (see `listing`). Imports the columns.
"""

import numpy as np

from domsieve.analysis.columns.attributes import attributes_of
from domsieve.analysis.columns.batch import Bools, below, counted_before
from domsieve.analysis.columns.names import TagIs
from domsieve.analysis.records.shown import Shown
from domsieve.budget import check

_MENUS = frozenset(["menu", "nav"])
_EDGES = frozenset(["footer", "header"])
_ROLES = frozenset(["banner", "contentinfo", "menu", "menubar", "navigation"])
_MAIN = frozenset(["main"])
_PARTS = frozenset(["article", "blockquote", "dd", "li", "td"])
"""What has a head, a foot or a menu of its own: a record of a list, not the page."""
_SECTIONS = frozenset(["aside", "main", "section"])
"""What may have a head and a foot of its own, but for one that holds a menu."""
_FEET = frozenset(["contentinfo", "footer"])
_LINE = 40  # bytes of a text that is no mere label
_MOST_TEXT = 0.5


def menu_nodes(shown: Shown) -> Bools:
    """Return which of N nodes of one page lie in its menus, its head or its foot.

    What holds the main part of the page is none of them whatever it is called, and a menu or a head with more than
    half of the lines outside of links is none either: one that was never closed holds all that follows.

    """
    batch = shown.batch
    page = batch.pages[0]
    tags = page.tags.to_list()
    element = batch.elements()

    def are(names: frozenset[str]) -> Bools:
        return np.array([name in names for name in tags], np.bool_)[page.tag] & element

    end = batch.end
    named, feet, main = are(_MENUS), are(_FEET), are(_MAIN)
    for node, role in attributes_of(page).found("role", _role).items():
        check()
        named[node] |= role in _ROLES
        feet[node] |= role in _FEET
        main[node] |= role == "main"
    menus = counted_before(named)
    named |= are(_EDGES) & (~below(are(_SECTIONS), end) | (menus[end] > menus[:-1]))
    named &= ~below(are(_PARTS), end)
    if not named.any():
        return named
    mains = counted_before(main)
    named &= mains[end] == mains[:-1]
    size = np.zeros(end.size, np.int64)
    alone = shown.text & shown.body & shown.visible & ~below((batch.tag_is & TagIs.ANCHOR) != 0, end)
    size[alone] = np.diff(batch.strings.offsets)[batch.text[alone]]
    lines = np.where(size >= _LINE, size, 0)
    sizes = counted_before(lines if lines.any() else size)
    named &= feet | (sizes[end] - sizes[:-1] <= _MOST_TEXT * sizes[-1])
    return below(named, end)


def _role(value: str) -> str | None:
    role = value.strip().lower()
    return role if role in _ROLES or role == "main" else None
