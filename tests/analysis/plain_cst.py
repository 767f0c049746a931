"""A compressed structure tree in plain objects, read off the algorithm line by line: the twin of the tables."""

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from domsieve.analysis.columns.hash import combine, hash_of, mix
from domsieve.snapshot.page import Kind, Snapshot


@dataclass(eq=False)
class Tag:
    """A tag node of a page: children, or the words of a leaf."""

    name: str
    page: int
    children: list["Tag"] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    leaf: bool = False

    def all_words(self) -> list[str]:
        return self.words + [w for child in self.children for w in child.all_words()]


def tags_of(page: Snapshot, number: int, node: int, leaf_height: int) -> Tag:
    """Return the tag node of an element, with its words if it is a leaf."""
    inside = range(node + 1, int(page.end[node]))
    children = [i for i in inside if page.parent[i] == node]
    if height(page, node) <= leaf_height:
        words = [w for i in inside for w in re.findall(r"\w+", page.text_of(i))]
        return Tag(page.tag_name(node), number, words=words, leaf=True)
    found: list[Tag] = []
    for child in children:
        if page.kind[child] == Kind.ELEMENT:
            found.append(tags_of(page, number, child, leaf_height))
        elif words := re.findall(r"\w+", page.text_of(child)):
            found.append(Tag("#text", number, words=words, leaf=True))
    return Tag(page.tag_name(node), number, children=found)


def height(page: Snapshot, node: int) -> int:
    """Return how many levels of elements lie below `node`."""
    children = [
        i
        for i in range(node + 1, int(page.end[node]))
        if page.parent[i] == node and page.kind[i] == Kind.ELEMENT
    ]
    return 1 + max(height(page, child) for child in children) if children else 0


def weigh(
    roots: list[Tag], *, frequency: float = 0.85, similarity: float | None = None
) -> list[dict[str, float]]:
    """Return the weights of the words of each page that are not 0."""
    found: list[dict[str, float]] = [defaultdict(float) for _ in roots]
    descend(roots, 1.0, found, frequency, similarity)
    return [{word: value for word, value in weights.items() if value > 1e-9} for weights in found]


def descend(
    tags: list[Tag], rest: float, found: list[dict[str, float]], frequency: float, similarity: float | None
) -> None:
    """Weigh the words below one element node; `rest` is the product of 1 - NodeImp above it."""
    leaves = [tag for tag in tags if tag.leaf]
    inner = [tag for tag in tags if not tag.leaf]
    if inner:
        styles = Counter(tuple(child.name for child in tag.children) for tag in inner)
        counts = [*styles.values(), *([len(leaves)] if leaves else [])]
        rest *= 1 - entropy(counts, len(tags), alone=1.0)
    if leaves:
        weigh_leaves(leaves, rest, found)
    initial: dict[tuple[int, int], list[Tag]] = defaultdict(list)
    for tag in inner:
        key = style_key([child.name for child in tag.children])
        for position, child in enumerate(tag.children):
            initial[key, position].append(child)
    nodes = [initial[key] for key in sorted(initial)]
    for node in merged(nodes, frequency, similarity) if similarity else nodes:
        descend(node, rest, found, frequency, similarity)


def weigh_leaves(leaves: list[Tag], rest: float, found: list[dict[str, float]]) -> None:
    """Add the weights of the words of one leaf (equations 2 to 5)."""
    cells: dict[str, Counter[int]] = defaultdict(Counter)
    for number, leaf in enumerate(leaves):
        for word in leaf.words:
            cells[word][number] += 1
    h = {word: entropy(list(counts.values()), len(leaves), alone=0.0) for word, counts in cells.items()}
    importance = 1.0 if len(leaves) == 1 else sum(1 - v for v in h.values()) / len(h) if h else 0.0
    path = 1 - rest * (1 - importance)
    for leaf in leaves:
        for word, count in Counter(leaf.words).items():
            found[leaf.page][word] += path * (1 - h[word]) * count


def entropy(counts: list[int], m: int, *, alone: float) -> float:
    total = sum(counts)
    return alone if m == 1 else -sum(c / total * math.log(c / total, m) for c in counts)


def merged(nodes: list[list[Tag]], frequency: float, similarity: float) -> list[list[Tag]]:
    """Return the child element nodes when no pair merges any more."""
    while True:
        kept: list[list[Tag]] = []
        for node in nodes:
            for other in kept:
                if other[0].name == node[0].name and alike(other, node, frequency, similarity):
                    other += node
                    break
            else:
                kept.append(list(node))
        if len(kept) == len(nodes):
            return kept
        nodes = kept


def alike(first: list[Tag], second: list[Tag], frequency: float, similarity: float) -> bool:
    one, two = characteristic(first, frequency), characteristic(second, frequency)
    return bool(one and two) and len(one & two) / len(one | two) >= similarity


def characteristic(tags: list[Tag], frequency: float) -> set[str]:
    counts = Counter(word for tag in tags for word in set(tag.all_words()))
    return {word for word, count in counts.items() if count >= frequency * len(tags)}


def style_key(names: list[str]) -> int:
    """Return what the tables sort styles by; any fixed order will do, if both use it."""
    labels = np.array(
        [hash_of("#text") if n == "#text" else combine(hash_of(n), np.uint64(0)) for n in names]
    )
    powers = mix(np.arange(1, len(names) + 1, dtype=np.uint64)) | np.uint64(1)
    return int(mix(np.array([np.add.reduce(mix(labels) * powers)]))[0])
