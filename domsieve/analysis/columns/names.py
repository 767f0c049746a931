"""Classes of tag and attribute names, as bits, so that one look-up answers all questions about a name."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntFlag, auto

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.hash import U64, hashes_of


class TagIs(IntFlag):
    """Classes of tags, as bits."""

    NEVER_SHOWN = auto()
    HTML = auto()
    BODY = auto()
    BREAK = auto()
    INLINE = auto()
    BLOCK = auto()
    ANCHOR = auto()
    LINK = auto()  # has an address: a, area
    IMAGE = auto()
    CONTROL = auto()
    FRAME = auto()
    CONTAINER = auto()  # a content block to the entropy method
    HEADING = auto()


class AttributeIs(IntFlag):
    """Classes of attribute names, as bits."""

    HIDDEN = auto()
    STYLE = auto()
    CLASS = auto()
    PRESENTATIONAL = auto()
    WORDS = auto()  # its value is text
    HREF = auto()
    SRC = auto()
    TYPE = auto()
    NAME = auto()
    ALT = auto()
    LANG = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The bits of each known name.

    Parameters
    ----------
    key : hashes of the names, ascending.
    bits : the bits of each name.
    """

    key: U64
    bits: NDArray[np.uint16]

    @classmethod
    def of(cls, sets: Mapping[int, str]) -> "Vocabulary":
        """Return a vocabulary from the names in each class.

        Parameters
        ----------
        sets : by bit, its names, separated by spaces.
        """
        bits: dict[str, int] = {}
        for bit, names in sets.items():
            for name in names.split():
                bits[name] = bits.get(name, 0) | bit
        hashes = hashes_of(list(bits))
        order = np.argsort(hashes)
        return cls(hashes[order], np.array(list(bits.values()), np.uint16)[order])

    def look_up(self, hashes: U64) -> NDArray[np.uint16]:
        """Return the bits of the names with these hashes; 0 for unknown names."""
        at = np.minimum(np.searchsorted(self.key, hashes), self.key.size - 1)
        return np.where(self.key[at] == hashes, self.bits[at], np.uint16(0))


TAGS = Vocabulary.of(
    {
        TagIs.NEVER_SHOWN: "datalist head noscript script style template title",
        TagIs.HTML: "html",
        TagIs.BODY: "body",
        TagIs.BREAK: "br wbr",
        TagIs.INLINE: (
            "abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark nobr q s samp small span strike "
            "strong sub sup tt u var"
        ),
        TagIs.BLOCK: (
            "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption "
            "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr iframe legend li main menu nav ol p pre search "
            "section summary table tbody td tfoot th thead tr ul"
        ),
        TagIs.ANCHOR: "a",
        TagIs.LINK: "a area",
        TagIs.IMAGE: "img",
        TagIs.CONTROL: "button input select textarea",
        TagIs.FRAME: "iframe",
        TagIs.CONTAINER: "div table",
        TagIs.HEADING: "h1 h2 h3 h4 h5 h6",
    }
)
ATTRIBUTES = Vocabulary.of(
    {
        AttributeIs.HIDDEN: "hidden",
        AttributeIs.STYLE: "style",
        AttributeIs.CLASS: "class",
        AttributeIs.PRESENTATIONAL: (
            "align background bgcolor border cellpadding cellspacing class color colspan face height hspace "
            "nowrap rowspan size style valign vspace width"
        ),
        AttributeIs.WORDS: "alt title",
        AttributeIs.HREF: "href",
        AttributeIs.SRC: "src",
        AttributeIs.TYPE: "type",
        AttributeIs.NAME: "name",
        AttributeIs.ALT: "alt",
        AttributeIs.LANG: "lang",
    }
)
