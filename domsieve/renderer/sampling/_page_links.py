"""The links of a captured page, and the meaning of fragments (``#``) on a site."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Self
from urllib.parse import unquote, urlsplit

import numpy as np
from numpy.typing import NDArray

from domsieve.budget import check, spending
from domsieve.renderer.sampling._page_urls import Site, joined
from domsieve.snapshot.page import Kind, Snapshot

_HOME_ROUTES = ("", "/", "!", "!/")
_MIN_BARE_ROUTES = 5
_MOST_LINKS = 10_000
_MOST_FEEDS = 5
_FEED_TYPES = frozenset({"application/atom+xml", "application/rss+xml", "application/rdf+xml"})
_ROUTE_ID = re.compile(r"(?<=[?&])id=([^&]*)(?:&|$)")


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The links of a page, and the targets of fragments on it.

    Parameters
    ----------
    urls : absolute addresses of links in the page and its frames, visible or not, in document order; without
        downloads, links that robots should not follow, and links after the first 10,000.
    places : ids and names of elements, which fragments can refer to.
    """

    urls: tuple[str, ...]
    places: frozenset[str]

    @classmethod
    def of(cls, snapshot: Snapshot) -> Self:
        """Return the links of a page, in time linear in its nodes."""
        with spending("links", snapshot.provenance.url):
            reader = _Reader(snapshot)
            return cls(() if reader.forbids_following() else tuple(reader.links()), reader.places())


def feeds_of(snapshot: Snapshot) -> list[str]:
    """Return the absolute addresses of the feeds that a page names in its head, at most five."""
    with spending("links", snapshot.provenance.url):
        return _Reader(snapshot).feeds()


@dataclass(frozen=True, slots=True)
class Routing:
    """What fragments mean on a site: places on a page, or pages of their own (routes).

    A fragment that starts with ``/`` or ``!`` is always a route.

    Parameters
    ----------
    has_bare_routes : whether ``#Some Title`` is a route if no element has this id or name. This is assumed if at
        least five such fragments on the start page have no element, and they are more than its other links into the
        site, as in applications that keep all pages in one file.
    has_route_places : whether ``#/page?id=place`` is a place on ``#/page``. This is assumed if the start page links
        to a place on itself in this way.
    """

    has_bare_routes: bool = False
    has_route_places: bool = False

    @classmethod
    def of(cls, start: PageLinks, url: str, site: Site) -> Self:
        """Return the routing of a site with this start page, whose final address is `url`."""
        own, _, own_route = (site.page(url) or "").partition("#")
        bare, other, has_route_places = set(), set(), False
        for page in filter(None, map(site.page, start.urls)):
            address, _, fragment = page.partition("#")
            if address != own or fragment.startswith(("/", "!")) or _is_place(fragment, start.places):
                other.add(page)
            elif fragment:
                bare.add(fragment)
            if address == own and (place := _ROUTE_ID.search(fragment)):
                is_here = _trimmed(_without_id(fragment)) == _trimmed(_without_id(own_route))
                has_route_places |= is_here and _is_place(place[1], start.places)
        return cls(len(bare) >= max(_MIN_BARE_ROUTES, len(other) + 1), has_route_places)

    def page(self, url: str, places: frozenset[str] = frozenset()) -> str:
        """Return the page of a normalized address in a link on a page with these places."""
        address, _, fragment = url.partition("#")
        route = _trimmed(fragment)
        if route.startswith(("/", "!")):
            route = _trimmed(_without_id(route)) if self.has_route_places else route
        elif not self.has_bare_routes or _is_place(route, places):
            route = ""
        return f"{address}#{route}" if route else address

    def pages(self, links: PageLinks, admit: Callable[[str], str | None]) -> list[str]:
        """Return the linked pages that `admit` accepts, each once, in alphabetical order."""
        return sorted({self.page(page, links.places) for page in filter(None, map(admit, links.urls))})


class _Reader:
    """Reads many nodes of one page, and decodes its strings only once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._page = snapshot
        self._strings = snapshot.strings.to_list()
        self._tags = snapshot.tags.to_list()

    def _nodes(self, *tags: str) -> NDArray[np.bool_]:
        return np.isin(self._page.tag, [number for number, tag in enumerate(self._tags) if tag in tags])

    def _attributes(self, node: int) -> dict[str, str]:
        page, strings = self._page, self._strings
        span = slice(page.attr_start[node], page.attr_start[node + 1])
        pairs = zip(page.attr_name[span].tolist(), page.attr_value[span].tolist(), strict=True)
        return {strings[name]: strings[value] for name, value in pairs}

    def links(self) -> list[str]:
        urls = (
            url
            for attributes, url in self._linked("a", "area")
            if "download" not in attributes and "nofollow" not in _words(attributes.get("rel", ""))
        )
        return [*islice(urls, _MOST_LINKS)]

    def feeds(self) -> list[str]:
        urls = (
            url
            for attributes, url in self._linked("link")
            if "alternate" in _words(attributes.get("rel", ""))
            and attributes.get("type", "").partition(";")[0].strip().lower() in _FEED_TYPES
        )
        return [*islice(urls, _MOST_FEEDS)]

    def _linked(self, *tags: str) -> Iterator[tuple[dict[str, str], str]]:
        """Yield the attributes and the absolute address of each element with one of these tags, if it has one."""
        page = self._page
        documents = page.kind == Kind.DOCUMENT
        around: list[tuple[int, str]] = []  # the documents that contain the node: their ends and bases
        for node in np.flatnonzero(documents | self._nodes("base", *tags)).tolist():
            check()
            while around and node >= around[-1][0]:
                around.pop()
            if documents[node]:
                around.append((int(page.end[node]), self._address(node, around)))
                continue
            attributes = self._attributes(node)
            end, base = around[-1]
            url = joined(base, attributes["href"]) if "href" in attributes else ""
            if self._tags[page.tag[node]] == "base":
                if urlsplit(url).scheme in ("http", "https"):
                    around[-1] = end, url
            elif url:
                yield attributes, url

    def _address(self, document: int, around: list[tuple[int, str]]) -> str:
        """Return the address of the main document or of a frame."""
        if not around:
            return self._page.provenance.final_url
        frame = self._attributes(int(self._page.parent[document]))
        base = around[-1][1]
        return base if "srcdoc" in frame else joined(base, frame.get("src", ""))

    def forbids_following(self) -> bool:
        metas = map(self._attributes, np.flatnonzero(self._nodes("meta")).tolist())
        rules = (meta.get("content", "") for meta in metas if meta.get("name", "").lower() == "robots")
        return any(not {"nofollow", "none"}.isdisjoint(_words(rule)) for rule in rules)

    def places(self) -> frozenset[str]:
        naming = [number for number, text in enumerate(self._strings) if text in ("id", "name")]
        values = np.unique(self._page.attr_value[np.isin(self._page.attr_name, naming)])
        return frozenset(self._strings[number] for number in values.tolist())


def _words(text: str) -> list[str]:
    return re.split(r"[\s,]+", text.lower())


def _is_place(fragment: str, places: frozenset[str]) -> bool:
    place = unquote(fragment)
    return place in places or fragment in places or place.lower() == "top"


def _trimmed(fragment: str) -> str:
    """Return a fragment without a text directive and without a place in the route; empty for the home route."""
    route = fragment.partition(":~:")[0].partition("#")[0]
    return "" if route in _HOME_ROUTES else route


def _without_id(route: str) -> str:
    return _ROUTE_ID.sub("", route).rstrip("?&")
