"""Carry the verdict on a version of a page over to a later one, so that it differs only where the page does."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.columns.hiding import hidden_texts
from domsieve.analysis.compare.node_matching import NOT_MATCHED, match_nodes
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot


def carried_over(verdict: Verdict, page: Snapshot, *, old: Snapshot, old_kept: NDArray[np.bool_]) -> Verdict:
    """Return a verdict that decides as before on texts that the earlier version has at the same place.

    What a method decides on a text depends on all of the page, so an edit can change what it decides elsewhere.

    Parameters
    ----------
    verdict : the verdict of a method on the page, of N nodes.
    page : the page.
    old : its earlier version, of M nodes.
    old_kept : (M,), the nodes that were kept of it.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("compare", page.provenance.url):
        old_of = match_nodes(old, page)
        leaf = page.end == np.arange(len(page)) + 1
        nodes = np.flatnonzero((old_of != NOT_MATCHED) & leaf)
        before = old_of[nodes]
        is_text = page.text[nodes] >= 0
        same = np.array(page.strings.take(page.text[nodes[is_text]].tolist()), object) == np.array(
            old.strings.take(old.text[before[is_text]].tolist()), object
        )
        as_before = ~is_text
        as_before[is_text] = same
        # Text that was hidden and is shown now is new to readers.
        as_before &= hidden_texts(old)[before] == 0
        kept = verdict.kept & leaf
        kept[nodes[as_before]] = old_kept[before[as_before]]
        inside = np.concatenate(([0], np.cumsum(kept)))
        kept = inside[page.end] > inside[np.arange(len(page))]
        return drop_hidden(page, replace(verdict, kept=kept), hidden="layout")
