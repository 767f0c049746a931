"""WOBM and MDR on nested tuples, written down as the papers say it: slow, and the oracle of the fast ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Tree = tuple[str, tuple[Any, ...]]
Found = tuple[tuple[int, ...], int, int, int]
"""Path of child indices to the parent, then length, first sibling (1-based) and siblings covered."""


def tags(tree: Tree) -> list[str]:
    return [tree[0], *(tag for child in tree[1] for tag in tags(child))]


def html(tree: Tree) -> str:
    return f"<{tree[0]}>" + "".join(map(html, tree[1])) + f"</{tree[0]}>"


def edit_distance(one: list[str], other: list[str]) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        corner, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (a != b))
    return row[-1]


def matching(one: Tree, other: Tree) -> int:
    """Return the size of the simple tree matching of two trees."""
    return 0 if one[0] != other[0] else 1 + forest_matching(one[1], other[1])


def forest_matching(left: tuple[Any, ...], right: tuple[Any, ...]) -> int:
    best = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, a in enumerate(left, 1):
        for j, b in enumerate(right, 1):
            best[i][j] = max(best[i][j - 1], best[i - 1][j], best[i - 1][j - 1] + matching(a, b))
    return best[-1][-1]


@dataclass(frozen=True)
class Alike:
    """Whether two groups of siblings are alike: by ``"sum"`` or ``"mean"`` edit distance, or by ``"tree"``."""

    measure: str
    threshold: float

    def __call__(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        left, right = ([tag for tree in group for tag in tags(tree)] for group in (one, other))
        if self.measure == "tree":
            return forest_matching(one, other) / max(len(left), len(right)) >= self.threshold - 1e-9
        total = (len(left) + len(right)) / (2 if self.measure == "mean" else 1)
        return edit_distance(left, right) / total <= self.threshold + 1e-9


def wobm(tree: Tree, alike: Alike, longest: int, path: tuple[int, ...] = ()) -> Iterator[Found]:
    """Yield the regions of WOBM, before pruning."""
    children, inside, position = tree[1], set(), 1
    n = len(children)
    while position <= n:
        best = (0, 0, 0)
        for length in range(1, longest + 1):
            for start in range(position, n + 1):
                covered, j = 0, start
                while j + 2 * length - 1 <= n and alike(
                    children[j - 1 : j - 1 + length], children[j - 1 + length : j - 1 + 2 * length]
                ):
                    covered, j = (j - start) + 2 * length, j + length
                if covered > best[2]:
                    best = (length, start, covered)
        if not best[2]:
            break
        yield (path, *best)
        inside |= set(range(best[1], best[1] + best[2]))
        position = best[1] + best[2]
    for index, child in enumerate(children, 1):
        if index not in inside:
            yield from wobm(child, alike, longest, (*path, index))


def depth(tree: Tree) -> int:
    return 1 + max(map(depth, tree[1]), default=0)


def identified(
    children: tuple[Any, ...], alike: Alike, longest: int, start: int = 1
) -> Iterator[tuple[int, int, int]]:
    """Yield what IdentDRs of MDR returns."""
    n, best = len(children), (0, 0, 0)
    for i in range(1, longest + 1):
        for f in range(start, start + i):
            current, j = None, f
            while j + 2 * i - 1 <= n:
                if alike(children[j - 1 : j - 1 + i], children[j - 1 + i : j - 1 + 2 * i]):
                    current = (i, j, 2 * i) if current is None else (*current[:2], current[2] + i)
                elif current:
                    break
                j += i
            if current and current[2] > best[2] and (not best[2] or current[1] <= best[1]):
                best = current
    if best[2]:
        yield best
        if best[1] + best[2] <= n:
            yield from identified(children, alike, longest, best[1] + best[2])


def mdr(tree: Tree, alike: Alike, longest: int, path: tuple[int, ...] = ()) -> Iterator[Found]:
    """Yield the regions of MDR (FindDRs)."""
    inside: set[int] = set()
    if depth(tree) >= 3:
        for region in identified(tree[1], alike, longest):
            yield (path, *region)
            inside |= set(range(region[1], region[1] + region[2]))
    for index, child in enumerate(tree[1], 1):
        if index not in inside:
            yield from mdr(child, alike, longest, (*path, index))
