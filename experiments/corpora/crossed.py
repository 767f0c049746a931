"""A grid that is a construction: real texts of known classes, set into real pages of sites full of noise.

No corpus of shops by product class is at hand, so site and class are crossed by hand. A page is a real page of a site
whose main content is replaced by a text of a class, a ``<p>`` per line. All else stays: menus, side boxes, lists of
news, footers, and what the selectors drop directly inside the container, such as navigation boxes. The title and the
byline of the page belong to the content that went, and go too. Known are the class, the true text and the noise;
what no page of this grid has is a layout that its class shapes, or noise that speaks of its class.
"""

import json
import random
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cssselect import HTMLTranslator
from lxml import etree, html

from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from experiments.corpora.class_grids import Grid, GridPage

Drawn = TypeVar("Drawn")

# What names an article outside its container, where a site does not say.
_TITLES = ("h1",)


def read_crossed(
    texts: Mapping[str, Path],
    templates: Sequence[Path],
    *,
    per_cell: int,
    least_words: int,
    most_words: int,
    seed: int,
) -> Grid:
    """Return `per_cell` pages per class and site, each text and each page of a site used at most once.

    Parameters
    ----------
    texts : by class, the site whose true texts are those of the class.
    templates : the sites, whose ``labels.json`` gives selectors of the main content.
    least_words, most_words : shorter texts are left out, longer ones are cut.
    seed : of the draw of texts and of pages.

    Raises
    ------
    TargetError : a source has too few texts, or a site too few pages.
    """
    sources = {
        name: _drawn(
            _texts(source, least_words=least_words, most_words=most_words),
            per_cell * len(templates),
            source,
            seed,
        )
        for name, source in texts.items()
    }
    sites: dict[str, Sequence[GridPage]] = {}
    for number, file in enumerate(templates):
        wanted = [(name, text) for name in texts for text in sources[name][number :: len(templates)]]
        with zipfile.ZipFile(file) as archive:
            labels = json.loads(archive.read("labels.json"))
            names = _drawn(sorted(e["page"] for e in labels["pages"]), len(wanted), file, seed)
            sites[file.stem] = [
                GridPage(
                    parse_html(
                        replace_content(archive.read(page), lines, labels), url=page, encoding="utf-8"
                    ),
                    name,
                    "\n".join(lines),
                )
                for page, (name, lines) in zip(names, wanted, strict=True)
            ]
    return Grid(sites)


def replace_content(source: bytes, lines: Sequence[str], labels: Mapping[str, Any]) -> bytes:
    """Return a page with `lines` as paragraphs in place of its main content.

    Parameters
    ----------
    labels : selectors: ``keep`` finds the container, ``drop`` what in it is noise, ``neutral`` titles and bylines.

    Raises
    ------
    ValueError : the page has no container.
    """
    root = html.document_fromstring(source, parser=html.HTMLParser(encoding="utf-8"))
    container = next(iter(_find(root, labels["keep"])), None)
    if container is None:
        raise ValueError("A page has no container of its main content.")
    above = {container, *container.iterancestors()}
    for title in _find(root, labels.get("neutral") or _TITLES):
        if title not in above and title.getparent() is not None:
            title.drop_tree()
    noise = set(_find(root, labels.get("drop") or ()))
    content = [child for child in container if child not in noise]
    place = container.index(content[0]) if content else len(container)
    for child in content:
        container.remove(child)
    container.text = None
    for child in container:
        child.tail = None
    for number, line in enumerate(lines):
        paragraph = etree.Element("p")
        paragraph.text = line
        container.insert(place + number, paragraph)
    return etree.tostring(root, encoding="utf-8", method="html")


def _find(root: html.HtmlElement, selectors: Collection[str]) -> list[html.HtmlElement]:
    """Return the elements that one of the CSS selectors finds, in document order."""
    if not selectors:
        return []
    found = root.xpath(HTMLTranslator().css_to_xpath(", ".join(selectors), prefix="//"))
    return [element for element in found if isinstance(element, html.HtmlElement)]


def _texts(source: Path, *, least_words: int, most_words: int) -> list[tuple[str, ...]]:
    """Return the lines of each text that is long enough, cut at `most_words`; equal texts count once."""
    with zipfile.ZipFile(source) as archive:
        entries = json.loads(archive.read("labels.json"))["pages"]
        names = sorted(entry["main_text"] for entry in entries)
        texts = [archive.read(name).decode("utf-8") for name in names]
    long_enough = [text for text in texts if len(text.split()) >= least_words]
    return list(dict.fromkeys(_cut(text, most_words) for text in long_enough))


def _cut(text: str, most_words: int) -> tuple[str, ...]:
    """Return the first words of a text, line by line without blank lines."""
    lines, left = [], most_words
    for line in text.splitlines():
        words = line.split()[:left]
        if words:
            lines.append(" ".join(words))
        left -= len(words)
    return tuple(lines)


def _drawn(found: Sequence[Drawn], count: int, source: Path, seed: int) -> list[Drawn]:
    """Return `count` of what was found in `source`, in random order."""
    if len(found) < count:
        raise TargetError(f"'{source}' has {len(found)} texts or pages that serve; {count} are needed.")
    return random.Random(f"{seed} {source.stem}").sample(found, count)
