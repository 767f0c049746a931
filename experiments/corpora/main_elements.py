"""Pages that say with one element what their content is, drawn by a seeded rule for what stands in it."""

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from urllib.parse import urljoin

import lxml.html
import numpy as np
from lxml import etree
from numpy.typing import NDArray

from domsieve.errors import TargetError
from domsieve.snapshot.page import Snapshot
from experiments.corpora.selecting import find_elements, select_nodes
from experiments.corpora.wcxb_pages import page_files, read_page

SEED = "structure"
PER_KIND, LOOKED_AT = 30, 600
"""So many pages of each kind are drawn from each corpus, where that many stand among the first that are looked at."""
KINDS: Mapping[str, str] = {
    "code": ".//pre",
    "tables": ".//table[count(.//tr) > 1][.//td[2]]",
    "lists": ".//li[2]",
    "headings": ".//h2",
    "links": ".//p//a[@href]",
    "formulas": ".//math | .//*[contains(@class, 'katex')] | .//script[starts-with(@type, 'math/')]",
}
"""What a page is drawn for, as XPath below its main element."""
_MAIN = "//main | //*[@role='main'] | //article"


@dataclass(frozen=True, slots=True)
class MainPage:
    """A page with one main element.

    Parameters
    ----------
    name : its corpus and its name in it.
    url : its address.
    source : the HTML as UTF-8.
    kinds : what it was drawn for.
    """

    name: str
    url: str
    source: bytes
    kinds: tuple[str, ...]

    @property
    def html(self) -> str:
        """The source as text."""
        return self.source.decode("utf-8", "replace")

    @property
    def base(self) -> str:
        """What relative links are relative to."""
        base = lxml.html.document_fromstring(self.source, parser=_parser()).find(".//base[@href]")
        return self.url if base is None else urljoin(self.url, base.get("href", "").strip())

    def main(self) -> etree._Element:
        """Return the main element."""
        found = main_of(lxml.html.document_fromstring(self.source, parser=_parser()))
        assert found is not None
        return found


def main_of(root: etree._Element) -> etree._Element | None:
    """Return the one outermost main element of a page, None where there is none or more than one."""
    found = find_elements(root, _MAIN)
    outer = [element for element in found if not any(above in found for above in element.iterancestors())]
    return outer[0] if len(outer) == 1 else None


def inside_main(page: Snapshot) -> NDArray[np.bool_]:
    """Return which of N nodes lie in the main element.

    Raises
    ------
    TargetError : the page has none, or more than one.
    """
    found = select_nodes(page, _MAIN)
    outer = [node for node in found.tolist() if not ((found < node) & (page.end[found] > node)).any()]
    if len(outer) != 1:
        raise TargetError(f"The page has {len(outer)} main elements.", url=page.provenance.url)
    inside = np.zeros(len(page), np.bool_)
    inside[outer[0] : page.end[outer[0]]] = True
    return inside


def draw_from_sites(data: Path) -> list[MainPage]:
    """Return the pages drawn from whole sites, by name."""
    return _drawn(_of_sites(data))


def draw_from_wcxb(data: Path) -> list[MainPage]:
    """Return the pages drawn from WCXB, by name."""
    return _drawn(_of_wcxb(data))


def _drawn(pages: Iterator[tuple[str, str, bytes]]) -> list[MainPage]:
    """Return the first pages of each kind, in the order in which they come."""
    left = dict.fromkeys(KINDS, PER_KIND)
    found = []
    for name, url, source in islice(pages, LOOKED_AT):
        if not any(left.values()):
            break
        try:
            main = main_of(lxml.html.document_fromstring(source, parser=_parser()))
        except etree.LxmlError:
            continue
        if main is None:
            continue
        kinds = tuple(kind for kind, path in KINDS.items() if left[kind] and main.xpath(path))
        for kind in kinds:
            left[kind] -= 1
        if kinds:
            found.append(MainPage(name, url, source, kinds))
    return sorted(found, key=lambda page: page.name)


def _of_sites(data: Path) -> Iterator[tuple[str, str, bytes]]:
    addresses: dict[tuple[Path, str], str] = {}
    for file in sorted((data / "sites").glob("*.zip")):
        with zipfile.ZipFile(file) as archive:
            for entry in json.loads(archive.read("labels.json"))["pages"]:
                addresses[file, entry["page"]] = (
                    entry.get("url") or f"http://{file.stem}.example/{entry['page']}"
                )
    for file, page in sorted(addresses, key=lambda key: rank(f"{key[0].stem}/{key[1]}")):
        with zipfile.ZipFile(file) as archive:
            yield f"{file.stem}/{page}", addresses[file, page], archive.read(page)


def _of_wcxb(data: Path) -> Iterator[tuple[str, str, bytes]]:
    for html, truth in sorted(page_files(data), key=lambda pair: rank(pair[1].stem)):
        page = read_page(html, truth)
        yield f"wcxb/{page.name}", f"http://{page.domain}/{page.name}", page.source


def rank(name: str) -> bytes:
    """Return what pages are sorted by before they are drawn."""
    return hashlib.sha256(f"{SEED} {name}".encode()).digest()


def _parser() -> lxml.html.HTMLParser:
    return lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
