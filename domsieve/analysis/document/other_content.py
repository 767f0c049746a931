"""Text that is no part of the document of a page: repeats, related pages after the end, readers' comments."""

import re

import numpy as np

from domsieve.analysis.block_types.detection import related_and_comments
from domsieve.analysis.columns.batch import Bools
from domsieve.analysis.columns.hash import combine
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.columns.page_columns import attributes_of, has_tag, in_link, in_tag, stated_types
from domsieve.analysis.document.document_tree import LONG_BLOCK, Document, looks
from domsieve.snapshot.page import Snapshot

_MAY_REPEAT = ("dl", "ol", "pre", "table", "ul")
_SHORTEST_REPEAT = 8  # words. From 5 to 12, little changes
_MOST_RELATED = 0.5  # a page with more related pages than other text is a list of pages
_SHORTEST_ARTICLE = 60  # words of long blocks before comments. A guess: shorter texts begin a discussion
_MOST_ALIKE = 0.5
_KEEPING_COMMENTS = frozenset(
    (
        "aggregateoffer",
        "course",
        "discussionforumposting",
        "offer",
        "product",
        "productgroup",
        "qapage",
        "question",
    )
)
"""Types of pages whose comments are content: posts, answers and reviews."""
_FORUM = re.compile(
    r"\b(?:answer|bbs|board|communit|discuss|forum|question|reddit|showthread|thread|topic|viewtopic)",
    re.IGNORECASE,
)
"""Beginnings of words in addresses of forums. They only keep text: an article may have them in its address, too."""


def repeats(page: Snapshot, document: Document, kept: Bools) -> Bools:
    """Return which of the B visible blocks repeat the words of a kept block above, outside of code, lists and tables.

    Galleries, quotes and versions for small screens have the text of a page twice. References say the same under
    other headings; there it is content.
    """
    inside = in_tag(page, *_MAY_REPEAT)[document.voice]
    key, heading = page_blocks(page).key[document.number], document.tree.heading[:, 0]
    long = np.flatnonzero(kept & (document.words >= _SHORTEST_REPEAT) & (key > 0) & ~inside)
    said = np.append(np.uint64(0), key[heading])[np.searchsorted(heading, long, side="right")]
    _, first = np.unique(combine(key[long], said), return_index=True)
    found = np.zeros(kept.size, np.bool_)
    found[long] = True
    found[long[first]] = False
    return found


def related_after_end(page: Snapshot, document: Document, kept: Bools) -> Bools:
    """Return which kept blocks (B,) lead to related pages behind the last paragraph of the text."""
    words, related = document.words, related_and_comments(page)[0][document.voice]
    is_paragraph = has_tag(page, "p")[page_blocks(page).around[document.number]]
    of_text = kept & is_paragraph & (words >= LONG_BLOCK) & ~in_link(page)[document.voice] & ~related
    paragraph = np.flatnonzero(of_text)
    if not paragraph.size:
        return np.zeros(kept.size, np.bool_)
    found = kept & related & (np.arange(kept.size) > paragraph[-1])
    return found if (words @ found) <= _MOST_RELATED * (words @ kept) else np.zeros(kept.size, np.bool_)


def comments_on_article(page: Snapshot, document: Document, kept: Bools) -> Bools:
    """Return which kept blocks (B,) are readers' comments on an article.

    The posts of a forum, answers to a question and reviews of a product are content. A page is a forum if it says so
    in its structured data or its address, if no article comes before the comments, or if most comments have the same
    elements and classes around them as the text before.
    """
    words, comment = document.words, kept & related_and_comments(page)[1][document.voice]
    none = np.zeros(kept.size, np.bool_)
    if not comment.any():
        return none
    long = words >= LONG_BLOCK
    article = kept & long & ~comment & (np.arange(kept.size) < np.flatnonzero(comment)[0])
    address = page.provenance.final_url or page.provenance.url
    says_forum = _FORUM.search(address.partition("?")[0]) or _KEEPING_COMMENTS.intersection(_types(page))
    if words @ article < _SHORTEST_ARTICLE or says_forum:
        return none
    look = looks(page, page_blocks(page).around[document.number])
    same = np.isin(look, look[article])
    judged = comment & long if (comment & long).any() else comment
    return comment if words @ (judged & same) <= _MOST_ALIKE * (words @ judged) else none


def _types(page: Snapshot) -> list[str]:
    """Return the types that a page states in any form, in lower case."""
    attributes = attributes_of(page)
    names = attributes.values("itemtype")[1]
    return stated_types(attributes) + [name.strip().lower().rpartition("/")[2] for name in names]
