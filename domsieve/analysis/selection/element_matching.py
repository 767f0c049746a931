"""Which elements of a page match selectors of its style sheets."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from cssselect2 import parser
from numpy.typing import NDArray

from domsieve.analysis.columns.page_columns import attributes_of
from domsieve.analysis.selection._selectors import Matcher, Selector, parse_selectors
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot

_MOST_CHARACTERS = 2_000


class SheetSelector:
    """A complex selector of a style sheet, without a comma.

    Parameters
    ----------
    css : the selector.

    Raises
    ------
    UsageError : it is invalid or not supported.
    """

    def __init__(self, css: str) -> None:
        if len(css) > _MOST_CHARACTERS:
            raise UsageError("The selector is too long.")
        [self._selector] = parse_selectors(css, parameter="selector")
        tree: Any = self._selector.parsed_tree
        self.needed: tuple[tuple[str, str], ...] = tuple(_needed(tree))
        """What must be on the page for it to match, as pairs of ``"."``, ``"#"`` or ``""`` and a name."""
        self.has_names = _has_names(tree)
        """Whether a class, an id or an attribute is part of it."""


def _needed(tree: Selector) -> Iterator[tuple[str, str]]:
    if isinstance(tree, parser.CombinedSelector):
        yield from _needed(tree.left)
        yield from _needed(tree.right)
        return
    for part in tree.simple_selectors:
        if isinstance(part, parser.ClassSelector):
            yield ".", part.class_name
        elif isinstance(part, parser.IDSelector):
            yield "#", part.ident
        elif isinstance(part, parser.LocalNameSelector):
            yield "", part.lower_local_name


def _has_names(tree: Selector) -> bool:
    if isinstance(tree, parser.CombinedSelector):
        return _has_names(tree.left) or _has_names(tree.right)
    return any(not isinstance(part, parser.LocalNameSelector) for part in tree.simple_selectors)


class ElementMatcher:
    """Matches the selectors of style sheets against one page; most are found not to match without work."""

    def __init__(self, page: Snapshot) -> None:
        self._matcher = Matcher(page)
        attributes = attributes_of(page)
        self._there = {("", tag) for tag in page.tags}
        self._there |= {(".", kind) for value in attributes.values("class")[1] for kind in value.split()}
        self._there |= {("#", value) for value in attributes.values("id")[1]}

    def matches(self, selector: SheetSelector) -> NDArray[np.bool_] | None:
        """Return which of the N nodes are elements that match, or None if none can."""
        if not self._there.issuperset(selector.needed):
            return None
        found = self._matcher.matches([selector._selector])
        return found if found.any() else None


def check_selector(css: str) -> None:
    """Raise an error unless a list of CSS selectors is supported.

    Raises
    ------
    UsageError : it is invalid, too long, or needs something that a stored page does not have.
    """
    if len(css) > _MOST_CHARACTERS:
        raise UsageError("The selector is too long.")
    parse_selectors(css, parameter="css")


def selected_elements(page: Snapshot, css: str) -> list[int]:
    """Return the elements of a page that match a list of CSS selectors, in document order.

    Raises
    ------
    UsageError : see `check_selector`.
    """
    check_selector(css)
    return np.flatnonzero(Matcher(page).matches(parse_selectors(css, parameter="css"))).tolist()
