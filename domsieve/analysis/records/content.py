"""What a range of nodes holds, to tell lists of objects from menus: fields, links, tags and characters of text.

WOBM prunes by it. Imports the columns and the tag tree.
"""

from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.batch import F64, Bools, Ints, below, counted_before
from domsieve.analysis.columns.names import TagIs
from domsieve.analysis.records.shown import Shown
from domsieve.analysis.records.tag_tree import TagTree, member_above
from domsieve.snapshot.page import Snapshot

_MENU_LINKS = 4  # of a part of a menu, such as a column of a footer
_MENU_LETTERS = 20  # of a link there, on average
_MENU_SHARE = 0.7  # of the text there, which lies in links


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Sums over the nodes before each of the N nodes of a page, each (N + 1,).

    Parameters
    ----------
    fields : leaf contents: text that is not blank, images, form controls; a link with text is one of them.
    links : ``a`` elements.
    tags : nodes of the tag tree.
    characters : of text that is not blank.
    linked : those of them that lie in links.
    images : ``img`` elements.
    """

    fields: Ints
    links: Ints
    tags: Ints
    characters: Ints
    linked: Ints
    images: Ints

    @classmethod
    def of(
        cls,
        page: Snapshot,
        tree: TagTree,
        *,
        kept: Bools | None = None,
        whole_links: bool = False,
        flowing: bool = False,
        shown: Shown | None = None,
    ) -> "Content":
        """Return the content of a page; only what is visible, in the body and `kept` (N,) counts.

        Parameters
        ----------
        page, tree : the page in two views.
        kept : (N,), None for all nodes.
        whole_links : whether a link is one field whatever it holds. Else a link around other links is none, as where
            an anchor was never closed, and what a link holds in blocks of its own, as a card does, are fields.
        flowing : whether texts that stand directly in the same node of the tree are one field.
        shown : of the page, where it is known already.
        """
        seen = shown or Shown.of(page)
        batch = seen.batch
        there = seen.visible & seen.body
        if kept is not None:
            there &= kept
        text = seen.text & there
        link, control, image = (
            ((batch.tag_is & tag) != 0) & there for tag in (TagIs.ANCHOR, TagIs.CONTROL, TagIs.IMAGE)
        )
        narrow = link
        if not whole_links:
            links, blocks = counted_before(link), counted_before((batch.tag_is & TagIs.BLOCK) != 0)
            link = link & (links[page.end] - links[:-1] == 1)
            narrow = link & (blocks[page.end] == blocks[:-1])
        texts = counted_before(text)
        with_text = narrow & (texts[page.end] > texts[:-1])
        member = np.zeros(len(page), np.bool_)
        member[tree.node] = True
        size = np.zeros(len(page), np.int64)
        size[text] = [len(words) for words in page.strings.take(page.text[text].tolist())]
        said = text & ~below(narrow | control, batch.end)
        if flowing:
            places = np.flatnonzero(said)
            owner = member_above(page, member)[places]
            said[places[1:]] = owner[1:] != owner[:-1]
        fields = said | with_text | control | image
        linked = np.where(below(link, batch.end), size, 0)
        return cls(*map(counted_before, (fields, link, member, size, linked, image)))

    def medians(self, ranges: Ints) -> tuple[float, float]:
        """Return the median number of fields and the median share of links of node ranges, (Q, 2)."""
        start, stop = ranges[:, 0], ranges[:, 1]
        links = self.links[stop] - self.links[start]
        share = links / np.maximum(self.tags[stop] - self.tags[start], 1)
        return _median(self.fields[stop] - self.fields[start]), _median(share)

    def are_links(self, ranges: Ints) -> bool:
        """Return whether most node ranges, (Q, 2), are a link each with nearly all of the text."""
        start, stop = ranges[:, 0], ranges[:, 1]
        links, size, linked = (
            part[stop] - part[start] for part in (self.links, self.characters, self.linked)
        )
        return bool(2 * ((links > 0) & (linked >= _MENU_SHARE * size)).sum() > links.size)

    def is_menu(self, ranges: Ints) -> bool:
        """Return whether node ranges, (Q, 2), are parts of a menu: most have several short links, little else."""
        start, stop = ranges[:, 0], ranges[:, 1]
        links, images, size, linked = (
            part[stop] - part[start] for part in (self.links, self.images, self.characters, self.linked)
        )
        short = linked.sum() <= _MENU_LETTERS * links.sum()
        lists = (links >= _MENU_LINKS) & (linked >= _MENU_SHARE * size) & (images == 0)
        return bool(short and 2 * lists.sum() > lists.size)


def _median(values: Ints | F64) -> float:
    """Return what `numpy.median` does, in a tenth of its time for a few values."""
    ordered = sorted(values.tolist())
    middle = len(ordered) // 2
    return float(ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)
