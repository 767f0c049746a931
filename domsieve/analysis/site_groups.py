"""Group pages by site from the similarity of their markup, for pages without an address.

Pages of one site share class names, the files that they load, and the addresses in their menus. What only one page
has is ignored. This works on the source, so pages need not be parsed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import blake2b

# The limits in this module are guesses that were not measured.
_SEEN_BYTES = 400_000
_MOST_TRAITS = 300
_CLASS = re.compile(rb"class\s?=\s?[\"']([^\"'<>]{1,300})[\"']", re.IGNORECASE)
_ADDRESS = re.compile(rb"(?:href|src)\s?=\s?[\"']([^\"'<>\s]{1,200})[\"']", re.IGNORECASE)
# The Wayback Machine puts the same toolbar into pages of all sites.
_TOOLBAR = (b"<!-- BEGIN WAYBACK TOOLBAR INSERT -->", b"<!-- END WAYBACK TOOLBAR INSERT -->")
LEAST_ALIKE = 0.25
"""Two pages are of one site if both have this share of their traits (Jaccard index), ignoring unique traits."""
_FEWEST_TRAITS = 3
_LEADERS = 300
_LEADERS_OF_GROUP = 6


def traits_of(source: bytes) -> frozenset[int]:
    """Return hashes of the classes, files and addresses in a page, in time linear in the source.

    Parameters
    ----------
    source : the HTML; only the first 400 kB are read.
    """
    before, begins, inserted = source[:_SEEN_BYTES].partition(_TOOLBAR[0])
    head = before + inserted.partition(_TOOLBAR[1])[2] if begins else before
    traits: set[bytes] = set()
    for names in _CLASS.findall(head):
        traits.update(b"." + name for name in names.split() if len(name) > 1)
    for address in _ADDRESS.findall(head):
        # Pages in different folders reach the same file with a different number of "../".
        place = address.partition(b"#")[0].lstrip(b"./").lower()
        if len(place) > 1 and not place.startswith(b"javascript:"):
            traits.add(place)
    hashes = sorted(int.from_bytes(blake2b(name, digest_size=8).digest(), "big") for name in traits)
    return frozenset(hashes[:_MOST_TRAITS])


def groups_of(pages: Sequence[frozenset[int]], known: Sequence[str]) -> list[str]:
    """Return the group of each page, in time linear in the number of traits.

    A page joins the group of the most similar page. Groups without a name are numbered from ``"1"``. Pages with too
    few traits to be compared get the group ``""``.

    Parameters
    ----------
    pages : traits of each page, from `traits_of`.
    known : name of each page's group, if it is known; otherwise empty.
    """
    spread = Counter(trait for page in pages for trait in page)
    shared = [frozenset(trait for trait in page if spread[trait] > 1) for page in pages]
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while above.get(name, name) != name:
            name = above[name]
        return name

    leaders: list[tuple[frozenset[int], str]] = []
    led_by: dict[int, list[int]] = defaultdict(list)
    of_group: Counter[str] = Counter()
    groups = [""] * len(pages)
    number = 0
    # Pages with known groups come first, so that others can join them.
    for i in sorted(range(len(pages)), key=lambda i: (not known[i], i)):
        page = shared[i]
        if len(page) < _FEWEST_TRAITS:
            groups[i] = known[i]
            continue
        common: Counter[int] = Counter(leader for trait in page for leader in led_by.get(trait, ()))
        alike = [
            leader
            for leader, both in sorted(common.items())
            if both >= LEAST_ALIKE * (len(page) + len(leaders[leader][0]) - both)
        ]
        name = known[i]
        if not name and alike:
            name = leaders[
                max(alike, key=lambda leader: (common[leader] / len(leaders[leader][0] | page), -leader))
            ][1]
        if not name:
            number += 1
            name = f"\0{number}"
        for leader in alike if not known[i] else ():
            _join(above, top(leaders[leader][1]), top(name))
        group = top(name)
        if len(leaders) < _LEADERS and of_group[group] < _LEADERS_OF_GROUP:
            of_group[group] += 1
            for trait in page:
                led_by[trait].append(len(leaders))
            leaders.append((page, name))
        groups[i] = name
    named = [top(name) if name else "" for name in groups]
    numbers = {name: str(n) for n, name in enumerate(dict.fromkeys(x for x in named if x[:1] == "\0"), 1)}
    return [numbers.get(name, name) for name in named]


def _join(above: dict[str, str], one: str, other: str) -> None:
    """Merge two groups, unless both have names."""
    if one == other or (one[:1] != "\0" and other[:1] != "\0"):
        return
    if one[:1] != "\0" or (other[:1] == "\0" and one < other):
        one, other = other, one
    above[one] = other
