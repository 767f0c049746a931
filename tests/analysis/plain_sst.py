"""A style tree in plain objects, read off the algorithm line by line: the twin of the tables."""

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from domsieve.snapshot.page import Kind, Snapshot

Tree = tuple[str, list["Tree"], list[str]]  # tag, children, words of a leaf


@dataclass
class Element:
    pages: set[int] = field(default_factory=set)
    styles: dict[tuple[str, ...], tuple[int, list["Element"]]] = field(default_factory=dict)
    features: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    leaf_pages: set[int] = field(default_factory=set)


def tree_of(page: Snapshot, node: int) -> Tree:
    """Return the element tree below `node`; an element without element children is a leaf with words."""
    children = [i for i in range(node + 1, int(page.end[node])) if page.parent[i] == node]
    elements = [i for i in children if page.kind[i] == Kind.ELEMENT]
    if not elements:
        return page.tag_name(node), [], [w for i in children for w in re.findall(r"\w+", page.text_of(i))]
    return page.tag_name(node), [tree_of(page, i) for i in elements], []


def add(element: Element, tree: Tree, number: int) -> None:
    """Merge one page's tree into the style tree."""
    _, children, words = tree
    element.pages.add(number)
    if not children:
        element.leaf_pages.add(number)
        for word in words:
            element.features[word][number] += 1
        return
    key = tuple(child[0] for child in children)
    count, elements = element.styles.get(key, (0, [Element() for _ in children]))
    element.styles[key] = count + 1, elements
    for below, child in zip(elements, children, strict=True):
        add(below, child, number)


def composite(element: Element, attenuation: float = 0.9) -> float:
    """Return CompImp, with the leaf form as one more style."""
    m = len(element.pages)
    parts = [
        (count / m, sum(composite(below, attenuation) for below in below_all) / len(below_all))
        for count, below_all in element.styles.values()
    ]
    if element.leaf_pages:
        parts.append((len(element.leaf_pages) / m, leaf(element)))
    if not element.styles:
        return leaf(element)
    node = 1.0 if m == 1 else -sum(p * math.log(p, m) for p, _ in parts)
    kept = attenuation ** len(parts)
    return (1 - kept) * node + kept * sum(p * value for p, value in parts)


def leaf(element: Element) -> float:
    """Return CompImp of the leaf form."""
    m = len(element.leaf_pages)
    if m == 1:
        return 1.0
    if not element.features:
        return 0.0
    entropies = []
    for counts in element.features.values():
        total = sum(counts.values())
        entropies.append(-sum(f / total * math.log(f / total, m) for f in counts.values()))
    return 1 - sum(entropies) / len(entropies)
