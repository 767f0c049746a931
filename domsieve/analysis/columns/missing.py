"""Text that readers may see, but no result has: rules and pictures of the page disagree on it."""

from typing import NamedTuple

import numpy as np

from domsieve.analysis.columns.batch import Bools, Ints, below, cached_per_page
from domsieve.analysis.columns.hiding import Hiding, hidden_texts
from domsieve.analysis.columns.page_columns import count_letters, has_tag, in_tag
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.pixels import are_seen, cut_words, has_pixels, sights

_LETTERS_OF_WORD = 5  # a guess
# What is code, and is shown by a style sheet, has more letters than may be missing.
_MANY = 1_000


class Missing(NamedTuple):
    """How many letters are in no result.

    Attributes
    ----------
    by_rules : those that pictures show, but the rules take for hidden, and those that the rules take for unreadable,
        of which pictures say nothing.
    by_pictures : those that the rules keep, but pictures do not show; not those at the end of teasers, which are cut.
    added : those that pictures show, but are no text of the page: words of style sheets (``content``), options
        outside of fields, and code that a style sheet shows.
    """

    by_rules: int
    by_pictures: int
    added: int


@cached_per_page
def missing_letters(page: Snapshot) -> Missing:
    """Return how many letters and digits are missing; none of a page without pictures, of which nothing is known."""
    if not has_pixels(page):
        return Missing(0, 0, 0)
    text = np.flatnonzero((page.text >= 0) & (page.style >= 0))
    parent, seen, hiding = page.parent[text], are_seen(sights(page, text)), hidden_texts(page)[text]
    is_marker = np.array(page.tags)[page.tag[parent]] == "::marker"
    is_added = page.kind[parent] == Kind.PSEUDO
    is_dropped = ~np.isin(hiding, (Hiding.NONE, Hiding.UNSEEN))
    by_rules = ~is_added & is_dropped & (seen | (hiding == Hiding.UNREADABLE))
    by_pictures = ~is_added & (hiding == Hiding.UNSEEN)
    code = has_tag(page, "script", "style") & (page.style >= 0) & (page.box[:, 2:] > 0).all(axis=1)
    cut = _LETTERS_OF_WORD * int(cut_words(page)[~_are_cut(page)].sum())
    added = np.concatenate((text[seen & is_added & ~is_marker], _in_options(page)))
    rules, pictures, others = (
        int(count_letters(page, some).sum()) for some in (text[by_rules], text[by_pictures], added)
    )
    return Missing(rules, pictures + cut, others + _MANY * int(code.sum()))


def _are_cut(page: Snapshot) -> Bools:
    """Return which of the N nodes are in boxes that cut their content, such as teasers, of which a part shows."""
    cuts = np.zeros(len(page.styles) + 1, np.bool_)
    for name in {"overflow-x", "overflow-y"}.intersection(page.style_names):
        values = page.strings.take(page.styles[:, page.style_names.index(name)].tolist())
        cuts[:-1] |= np.isin(values, ("hidden", "clip"))
    return below(cuts[page.style] & ~has_tag(page, "html", "body"), page.end.astype(np.int64))


def _in_options(page: Snapshot) -> Ints:
    """Return the texts of options that are in no field."""
    is_shown: Bools = in_tag(page, "option", "optgroup") & ~in_tag(page, "select")
    return np.flatnonzero(is_shown & (page.text >= 0) & (page.style[page.parent] >= 0))
