"""What a range of nodes holds, to tell lists of objects from menus: fields, links, tags and characters of text.

WOBM prunes by it. Imports the columns and the tag tree.
"""

from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.batch import Batch, Bools, Ints, below
from domsieve.analysis.columns.body import in_body, worded
from domsieve.analysis.columns.names import TagIs
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.analysis.records.tag_tree import TagTree
from domsieve.snapshot import Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Sums over the nodes before each of the N nodes of a page, each (N + 1,).

    Parameters
    ----------
    fields : leaf contents: text that is not blank, images, form controls; a link with text is one of them.
    links : ``a`` elements.
    tags : nodes of the tag tree.
    characters : of text that is not blank.
    """

    fields: Ints
    links: Ints
    tags: Ints
    characters: Ints

    @classmethod
    def of(cls, page: Snapshot, tree: TagTree, *, kept: Bools | None = None) -> "Content":
        """Return the content of a page; only what is visible, in the body and `kept` (N,) counts."""
        batch = Batch.of([page])
        shown = visible_nodes(batch) & in_body(batch)
        if kept is not None:
            shown &= kept
        text = worded(page) & shown
        link, control, image = (
            ((batch.tag_is & tag) != 0) & shown for tag in (TagIs.ANCHOR, TagIs.CONTROL, TagIs.IMAGE)
        )
        texts = _before(text)
        told = link & (texts[page.end] > texts[:-1])
        member = np.zeros(len(page), np.bool_)
        member[tree.node] = True
        size = np.zeros(len(page), np.int64)
        size[text] = [len(words) for words in page.strings.take(page.text[text].tolist())]
        fields = (text & ~below(link | control, batch.end)) | told | control | image
        return cls(_before(fields), _before(link), _before(member), _before(size))

    def medians(self, ranges: Ints) -> tuple[float, float]:
        """Return the median number of fields and the median share of links of node ranges, (Q, 2)."""
        start, stop = ranges[:, 0], ranges[:, 1]
        links = self.links[stop] - self.links[start]
        share = links / np.maximum(self.tags[stop] - self.tags[start], 1)
        return float(np.median(self.fields[stop] - self.fields[start])), float(np.median(share))


def _before(amount: Bools | Ints) -> Ints:
    return np.concatenate(([0], np.cumsum(amount, dtype=np.int64)))
