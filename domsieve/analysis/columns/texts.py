"""The text nodes of a page with what they say. Imports the Snapshot."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.shared import once_per_page
from domsieve.snapshot.page import Kind, Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class PageTexts:
    """All T text nodes of a page in document order.

    Parameters
    ----------
    node : int64 (T,), the text nodes.
    text : what each says, of length T.
    is_blank : bool (T,), which say nothing but white space.
    rank : int64 (N,), for each node how many text nodes stand before it, so that of a text node it is its number.
    """

    node: NDArray[np.int64]
    text: list[str]
    is_blank: NDArray[np.bool_]
    rank: NDArray[np.int64]

    def of(self, nodes: NDArray[np.int64]) -> list[str]:
        """Return what some text nodes say."""
        text = self.text
        return [text[number] for number in self.rank[nodes].tolist()]


@once_per_page
def page_texts(page: Snapshot) -> PageTexts:
    """Return the text nodes of a page, decoded once."""
    is_text = page.kind == int(Kind.TEXT)
    node = np.flatnonzero(is_text)
    text = page.strings.take(page.text[node].tolist())
    blank = np.array([not one or one.isspace() for one in text], np.bool_)
    return PageTexts(node, text, blank, np.cumsum(is_text) - is_text)
