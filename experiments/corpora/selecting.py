"""Elements of a Snapshot that a selector finds, for ground truth that is given as XPath or CSS."""

import re
from collections.abc import Collection

import numpy as np
from cssselect import HTMLTranslator
from lxml import etree
from numpy.typing import NDArray

from domsieve.snapshot.page import Kind, Snapshot

_NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def select_nodes(page: Snapshot, xpath: str) -> NDArray[np.int64]:
    """Return the elements of a page that an XPath selects, ascending."""
    asked = set(re.findall(r"@([a-z-]+)", xpath))
    tags = [re.sub("[^a-z0-9]", "_", name) for name in page.tags.to_list()]
    made = {0: etree.Element("document")}
    for node in np.flatnonzero(page.kind == Kind.ELEMENT).tolist():
        made[node] = etree.SubElement(made[int(page.parent[node])], tags[page.tag[node]])
    owner = np.repeat(np.arange(len(page)), np.diff(page.attr_start))
    names = {number: page.strings[number] for number in np.unique(page.attr_name).tolist()}
    wanted = np.isin(page.attr_name, [number for number, name in names.items() if name in asked])
    for i in np.flatnonzero(wanted).tolist():
        value = page.strings[int(page.attr_value[i])]
        made[int(owner[i])].set(names[int(page.attr_name[i])], _NO_XML.sub(" ", value))
    nodes = {element: node for node, element in made.items()}
    return np.array(sorted(nodes[element] for element in find_elements(made[0], xpath)), np.int64)


def select_inside(page: Snapshot, selectors: Collection[str]) -> NDArray[np.bool_]:
    """Return which of the N nodes lie in an element that one of the CSS selectors finds, itself included."""
    steps = np.zeros(len(page) + 1, np.int64)
    if selectors:
        found = select_nodes(page, HTMLTranslator().css_to_xpath(", ".join(selectors), prefix="//"))
        np.add.at(steps, found, 1)
        np.subtract.at(steps, page.end[found], 1)
    inside: NDArray[np.bool_] = np.cumsum(steps[:-1]) > 0
    return inside


def find_elements(root: etree._Element, xpath: str) -> list[etree._Element]:
    """Return the elements that an XPath selects, whatever else it gives."""
    found = root.xpath(xpath)
    assert isinstance(found, list)
    return [element for element in found if isinstance(element, etree._Element)]
