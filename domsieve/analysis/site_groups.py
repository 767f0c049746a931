"""Which pages are of one site, by how alike their markup is: for pages that do not say where they came from.

Pages of one site share the names of classes, the files that they load, and the addresses of the menu. What one page
alone has says nothing about the others. Works on the source, so that no page need be parsed for it. Imports hashes.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import blake2b

_SEEN_BYTES = 400_000
_MOST_TRAITS = 300
_CLASS = re.compile(rb"class\s?=\s?[\"']([^\"'<>]{1,300})[\"']", re.IGNORECASE)
_ADDRESS = re.compile(rb"(?:href|src)\s?=\s?[\"']([^\"'<>\s]{1,200})[\"']", re.IGNORECASE)
# An archive of the web puts the same toolbar into pages of all sites.
_TOOLBAR = (b"<!-- BEGIN WAYBACK TOOLBAR INSERT -->", b"<!-- END WAYBACK TOOLBAR INSERT -->")
LEAST_ALIKE = 0.25
"""The share of the traits of two pages, of those that other pages have too, that both must have."""
_FEWEST_TRAITS = 3
_LEADERS = 300
_LEADERS_OF_GROUP = 6


def traits_of(source: bytes) -> frozenset[int]:
    """Return what pages of a site share, as hashes: classes, files and addresses; linear in the source."""
    before, begins, inserted = source[:_SEEN_BYTES].partition(_TOOLBAR[0])
    head = before + inserted.partition(_TOOLBAR[1])[2] if begins else before
    found: dict[bytes, None] = {}
    for names in _CLASS.findall(head):
        found.update((b"." + name, None) for name in names.split() if len(name) > 1)
    for address in _ADDRESS.findall(head):
        # From pages at different levels the same file is found by different ways up.
        place = address.partition(b"#")[0].lstrip(b"./").lower()
        if len(place) > 1 and not place.startswith(b"javascript:"):
            found[place] = None
    hashes = sorted(int.from_bytes(blake2b(name, digest_size=8).digest(), "big") for name in found)
    return frozenset(hashes[:_MOST_TRAITS])


def groups_of(pages: Sequence[frozenset[int]], known: Sequence[str]) -> list[str]:
    """Return the name of the group of each page; in time linear in the traits, for a bounded number of groups.

    Parameters
    ----------
    pages : traits of each page.
    known : the group of each page that has a name, empty for those that have none. A page joins the group of a page
        that it is like; groups that have no name are called by their number, from ``"1"`` on. Pages that have too few
        traits to be told apart are called ``""``.
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
    found = [""] * len(pages)
    number = 0
    # Those with names first, that others may join them.
    for i in sorted(range(len(pages)), key=lambda i: (not known[i], i)):
        page = shared[i]
        if len(page) < _FEWEST_TRAITS:
            found[i] = known[i]
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
        found[i] = name
    named = [top(name) if name else "" for name in found]
    numbers = {name: str(n) for n, name in enumerate(dict.fromkeys(x for x in named if x[:1] == "\0"), 1)}
    return [numbers.get(name, name) for name in named]


def _join(above: dict[str, str], one: str, other: str) -> None:
    """Make one group of two, unless both have names of their own."""
    if one == other or (one[:1] != "\0" and other[:1] != "\0"):
        return
    if one[:1] != "\0" or (other[:1] == "\0" and one < other):
        one, other = other, one
    above[one] = other
