"""Match CSS selectors (Selectors Level 4) against all nodes of a page at once, with the parser of cssselect2.

A compound selector is evaluated to a Boolean column over the nodes, and each combinator maps one column to the next:
subtrees are ranges in document order, and siblings are groups. The time does not depend on the depth of the page.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from operator import or_
from typing import Any

import cssselect2
import numpy as np
from cssselect2 import parser
from numpy.typing import NDArray
from tinycss2.nth import parse_nth

from domsieve.analysis.columns.batch import below, counted_before
from domsieve.analysis.columns.page_columns import attributes_of
from domsieve.budget import check
from domsieve.errors import UsageError
from domsieve.snapshot.page import Kind, Snapshot

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Selector = Any
"""A parsed selector; cssselect2 has no type annotations."""

_BLANKS = " \t\n\r\f"


def parse_selectors(css: str, *, parameter: str) -> list[Selector]:
    """Parse a list of selectors that are separated by commas.

    Parameters
    ----------
    css : the list.
    parameter : the option it comes from, for messages.

    Raises
    ------
    UsageError : the list is invalid, or a selector needs something that a stored page does not have, such as
        ``:hover``.
    """
    try:
        selectors = list(parser.parse(css))
        for selector in selectors:
            if selector.pseudo_element is not None:
                raise cssselect2.SelectorError(f"::{selector.pseudo_element} does not select elements")
            parts_of(selector.parsed_tree)
    # The parser raises AttributeError if a selector ends after a character such as "|".
    except (cssselect2.SelectorError, AttributeError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else _reason(error)
        raise UsageError(
            f"{parameter} {css!r} is not a CSS selector that domsieve supports: {why}.", parameter=parameter
        ) from error
    return selectors


def _reason(error: Exception) -> str:
    if isinstance(error, AttributeError):
        return "it ends too early"
    return str(error.args[-1] if error.args else "it cannot be read").rstrip(".")


def parts_of(tree: Selector) -> int:
    """Return the number of simple selectors in a parsed one, such as ``p``, ``.a`` and ``:empty``.

    Raises
    ------
    SelectorError : this module does not support one of them.
    """
    if isinstance(tree, parser.CombinedSelector):
        return parts_of(tree.left) + parts_of(tree.right)
    if isinstance(tree, parser.CompoundSelector):
        return sum(map(parts_of, tree.simple_selectors)) or 1
    if isinstance(tree, _LISTS):
        return 1 + sum(parts_of(getattr(one, "selector", one).parsed_tree) for one in tree.selector_list)
    if isinstance(tree, parser.PseudoClassSelector) and tree.name not in _PSEUDO_CLASSES:
        raise cssselect2.SelectorError(f":{tree.name} is not supported")
    if isinstance(tree, parser.FunctionalPseudoClassSelector) and (
        tree.name not in _COUNTED or parse_nth(tree.arguments) is None
    ):
        raise cssselect2.SelectorError(f":{tree.name}(…) is not supported")
    if isinstance(tree, parser.NamespaceSelector):
        raise cssselect2.SelectorError("namespaces are not supported")
    return 1


_LISTS = (
    parser.NegationSelector,
    parser.RelationalSelector,
    parser.MatchesAnySelector,
    parser.SpecificityAdjustmentSelector,
)


_MOST_KEPT_BYTES = 16_000_000


class Matcher:
    """Matches selectors against one page, in which shadow trees are children of their hosts and frames of theirs."""

    def __init__(self, page: Snapshot) -> None:
        self._page = page
        self._attributes = attributes_of(page)
        self._element: Bools = page.kind == Kind.ELEMENT
        self._end = page.end.astype(np.int64)
        self._named: dict[tuple[str, str], Bools] = {}  # by ``"."`` or ``""`` and a class or tag

    def matches(self, selectors: Sequence[Selector]) -> Bools:
        """Return which of the N nodes are elements that match one of the selectors."""
        return reduce(
            or_, (self._of(one.parsed_tree) for one in selectors), np.zeros(len(self._page), np.bool_)
        )

    def _of(self, tree: Selector) -> Bools:
        if isinstance(tree, parser.CombinedSelector):
            return self._steps[tree.combinator](self._of(tree.left)) & self._of(tree.right)
        marks = self._element.copy()
        for part in tree.simple_selectors:
            check()
            marks &= self._simple(part)
        return marks

    def _simple(self, part: Selector) -> Bools:
        if isinstance(part, parser.LocalNameSelector):
            return self._with_name("", part.lower_local_name)
        if isinstance(part, parser.IDSelector):
            return self._with("id", lambda value: value == part.ident)
        if isinstance(part, parser.ClassSelector):
            return self._with_name(".", part.class_name)
        if isinstance(part, parser.AttributeSelector):
            return self._with(part.lower_name, _attribute_test(part))
        if isinstance(part, parser.NegationSelector):
            return ~self.matches(part.selector_list)
        if isinstance(part, parser.RelationalSelector):
            options = (self._leading(one.combinator, one.selector.parsed_tree) for one in part.selector_list)
            return reduce(or_, options, np.zeros(len(self._page), np.bool_))
        if isinstance(part, parser.MatchesAnySelector | parser.SpecificityAdjustmentSelector):
            return self.matches(part.selector_list)
        if isinstance(part, parser.FunctionalPseudoClassSelector):
            step, first = (min(max(number, -_FARTHEST), _FARTHEST) for number in parse_nth(part.arguments))
            place = self._places(of_type="type" in part.name, from_end="last" in part.name)
            return _is_counted(place, step, first)
        return _PSEUDO_CLASSES[part.name](self)

    def _with_name(self, kind: str, name: str) -> Bools:
        """Return the nodes with a tag or class; style sheets ask for the same ones again and again."""
        marks = self._named.get((kind, name))
        if marks is None:
            if kind:
                marks = np.zeros(len(self._page), np.bool_)
                marks[self._attributes.with_class(name)] = True
            else:
                marks = np.array([tag == name for tag in self._page.tags], np.bool_)[self._page.tag]
            if len(self._named) * marks.size < _MOST_KEPT_BYTES:
                self._named[kind, name] = marks
        return marks

    def _with(self, name: str, test: Callable[[str], bool]) -> Bools:
        marks = np.zeros(len(self._page), np.bool_)
        marks[list(self._attributes.found(name, lambda value: test(value) or None))] = True
        return marks

    @cached_property
    def _above(self) -> Ints:
        """The nearest ancestor element of each node, across shadow roots and documents; -1 if there is none."""
        above = self._page.parent.astype(np.int64)
        # One step is enough, except on snapshots that somebody has made up.
        while (todo := np.flatnonzero((above > 0) & ~self._element[above])).size:
            above[todo] = above[above[todo]]
        above[above == 0] = -1
        return above

    @cached_property
    def _siblings(self) -> tuple[Ints, Bools]:
        """The elements, grouped by parent and in order, and which are the first child of their parent."""
        elements = np.flatnonzero(self._element)
        order = elements[np.argsort(self._page.parent[elements], kind="stable")]
        parent = self._page.parent[order]
        return order, np.concatenate(([True], parent[1:] != parent[:-1]))[: order.size]

    @cached_property
    def _steps(self) -> dict[str, Callable[[Bools], Bools]]:
        return {" ": self._inside, ">": self._child, "+": self._next, "~": self._later}

    def _inside(self, left: Bools) -> Bools:
        inner = below(left, self._end) & ~left
        # A matching element is inside another one if it has a matching ancestor.
        own = np.flatnonzero(left)
        depth = counted_before(left)[:-1] - np.searchsorted(
            np.sort(self._end[own]), np.arange(left.size), "right"
        )
        inner[own] = depth[own] > 0
        return inner

    def _child(self, left: Bools) -> Bools:
        return np.where(self._above >= 0, left[self._above], False)

    def _next(self, left: Bools) -> Bools:
        order, first = self._siblings
        marks = np.zeros(left.size, np.bool_)
        marks[order[1:]] = left[order[:-1]] & ~first[1:]
        return marks

    def _later(self, left: Bools) -> Bools:
        order, first = self._siblings
        marks = np.zeros(left.size, np.bool_)
        before = counted_before(left[order])
        at_first = np.maximum.accumulate(np.where(first, np.arange(order.size), 0))
        marks[order] = before[:-1] > before[at_first]
        return marks

    def _leading(self, combinator: str, tree: Selector) -> Bools:
        """Return the elements for which the relative selector of a ``:has`` matches something."""
        marks = self._element
        while isinstance(tree, parser.CombinedSelector):
            marks = self._having(tree.combinator, self._of(tree.right) & marks)
            tree = tree.left
        return self._having(combinator, self._of(tree) & marks)

    def _having(self, combinator: str, right: Bools) -> Bools:
        """Return the elements that one combinator connects to an element of `right`."""
        marks = np.zeros(right.size, np.bool_)
        order, first = self._siblings
        if combinator == " ":
            before = counted_before(right)
            return np.asarray(before[self._end] > before[1:])
        if combinator == ">":
            above = self._above[right]
            marks[above[above >= 0]] = True
        elif combinator == "+":
            marks[order[:-1]] = right[order[1:]] & ~first[1:]
        else:
            before = counted_before(right[order])
            last = np.append(np.flatnonzero(first)[1:], order.size)
            marks[order] = (
                np.repeat(before[last], np.diff(np.append(np.flatnonzero(first), order.size))) > before[1:]
            )
        return marks

    def _places(self, *, of_type: bool = False, from_end: bool = False) -> Ints:
        """Return the position of each element among its siblings, from 1; 0 for other nodes.

        Parameters
        ----------
        of_type : count only siblings with the same tag.
        from_end : count from the last sibling.
        """
        elements = np.flatnonzero(self._element)
        keys = [self._page.parent[elements]]
        if of_type:
            keys.insert(0, self._page.tag[elements])
        order = elements[np.lexsort(keys)]
        if not order.size:
            return np.zeros(self._element.size, np.int64)
        columns = [self._page.parent[order], *([self._page.tag[order]] if of_type else [])]
        first = np.append(True, reduce(or_, (column[1:] != column[:-1] for column in columns)))
        starts = np.flatnonzero(first)
        sizes = np.diff(np.append(starts, order.size))
        rank = np.arange(order.size) - np.repeat(starts, sizes)
        places = np.zeros(self._element.size, np.int64)
        places[order] = np.repeat(sizes, sizes) - rank if from_end else rank + 1
        return places

    def _only(self, *, of_type: bool) -> Bools:
        first, last = (self._places(of_type=of_type, from_end=from_end) for from_end in (False, True))
        return np.asarray((first == 1) & (last == 1))

    def _root(self) -> Bools:
        return self._element & (self._above < 0)

    def _empty(self) -> Bools:
        return np.asarray(self._end == np.arange(self._end.size) + 1)


_FARTHEST = 2**31 - 1  # limit of the numbers in :nth-child(), as in browsers
_COUNTED = frozenset({"nth-child", "nth-last-child", "nth-last-of-type", "nth-of-type"})
_PSEUDO_CLASSES: dict[str, Callable[[Matcher], Bools]] = {
    "empty": Matcher._empty,
    "first-child": lambda matcher: matcher._places() == 1,
    "first-of-type": lambda matcher: matcher._places(of_type=True) == 1,
    "last-child": lambda matcher: matcher._places(from_end=True) == 1,
    "last-of-type": lambda matcher: matcher._places(of_type=True, from_end=True) == 1,
    "only-child": lambda matcher: matcher._only(of_type=False),
    "only-of-type": lambda matcher: matcher._only(of_type=True),
    "root": Matcher._root,
}


def _is_counted(place: Ints, step: int, first: int) -> Bools:
    """Return which positions are ``first + step * n`` for some n >= 0."""
    away = place - first
    if step == 0:
        return np.asarray((away == 0) & (place > 0))
    return np.asarray((away % step == 0) & (away // step >= 0) & (place > 0))


def _attribute_test(part: Selector) -> Callable[[str], bool]:
    wanted = part.value or ""
    if part.operator is None:
        return lambda _: True
    test = _OPERATORS[part.operator]
    if part.case_sensitive is False:
        return lambda value: test(value.lower(), wanted.lower())
    return lambda value: test(value, wanted)


_OPERATORS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda value, wanted: value == wanted,
    "~=": lambda value, wanted: wanted in value.split() if wanted.strip(_BLANKS) else False,
    "|=": lambda value, wanted: value == wanted or value.startswith(f"{wanted}-"),
    "^=": lambda value, wanted: bool(wanted) and value.startswith(wanted),
    "$=": lambda value, wanted: bool(wanted) and value.endswith(wanted),
    "*=": lambda value, wanted: bool(wanted) and wanted in value,
}
