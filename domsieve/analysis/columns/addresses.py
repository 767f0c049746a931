"""Addresses in attributes made absolute, for results that leave the page. Imports the Snapshot."""

import re

import numpy as np

from domsieve.snapshot.page import Kind, Snapshot
from domsieve.urls import join_url, split_url

_LOADED = frozenset(["", "http", "https"])  # empty: relative, since the page has no address itself
_LINKED = _LOADED | {"mailto"}
_NO_URL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f]+")
# Nine of ten addresses are so plain that joining them to that of the page changes nothing but their beginning.
_PLAIN = re.compile(
    r"(?P<host>https?://[a-z0-9.-]+)?(?:/[\w~%-][\w.~%-]*+)*+/?(?:\?[\w=&.%+-]+)?(?:#[\w-]+)?", re.ASCII
)
_UNSAFE_IN_URL = re.compile('[ "<>\\\\^`{|}\xa0]')


class Addresses:
    """What relative addresses of a page mean: the page's own address, ``base`` elements, and frames."""

    def __init__(self, page: Snapshot) -> None:
        documents = np.flatnonzero(page.kind == Kind.DOCUMENT).tolist()
        document = np.zeros(len(page), np.int64)
        for node in documents:
            document[node : page.end[node]] = node
        self._document = document
        self._hosts: dict[int, str] = {}
        self._bases = {0: page.provenance.final_url}
        settled: set[int] = set()  # documents whose `base` element has been met; only the first counts
        is_base = np.array([name == "base" for name in page.tags.to_list()])[page.tag]
        for node in sorted([*documents[1:], *np.flatnonzero(is_base).tolist()]):
            if page.kind[node] == Kind.DOCUMENT:
                frame = int(page.parent[node])
                above = self._bases[int(document[frame])]
                self._bases[node] = _absolute(page.attributes(frame).get("src", ""), above, _LOADED) or above
                continue
            own, href = int(document[node]), page.attributes(node).get("href")
            if own not in settled and href:
                self._bases[own] = _absolute(href, self._bases[own], _LOADED) or self._bases[own]
                settled.add(own)

    def absolute(self, node: int, value: str, *, linked: bool) -> str | None:
        """Return the absolute form of an address in an attribute of `node`, None when it must not be written.

        Only http and https may be, and mailto where a reader follows the address (`linked`).
        """
        document = int(self._document[node])
        if (host := self._host(document)) and (plain := _PLAIN.fullmatch(value)):
            if plain["host"]:
                return value
            if value[:1] == "/" and len(value) > 1 and value[1] not in "/?#":
                return f"{host}{value}"
        return _absolute(value, self._bases[document], _LINKED if linked else _LOADED)

    def _host(self, document: int) -> str:
        """Return the beginning of the addresses of a document up to its host; empty where it is none of the web."""
        if document not in self._hosts:
            parts = split_url(self._bases[document])
            is_web = parts is not None and parts.scheme in {"http", "https"} and parts.netloc
            self._hosts[document] = f"{parts.scheme}://{parts.netloc}" if parts is not None and is_web else ""
        return self._hosts[document]


def _absolute(value: str, base: str, schemes: frozenset[str]) -> str | None:
    value = _NO_URL_CHARACTERS.sub("", value).strip(" ")
    address = join_url(base, value)
    parts = None if address is None else split_url(address)
    if address is None or parts is None or parts.scheme not in schemes:
        return None
    return _UNSAFE_IN_URL.sub(lambda match: f"%{ord(match[0]):02X}", address)
