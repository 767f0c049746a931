"""Help with the threshold of a site style tree, on a few of the pages it was learned from."""

from collections.abc import Callable, Sequence
from typing import Any

from domsieve.analysis.report.thresholds import ThresholdHelp, threshold_help
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.errors import DomsieveError, ModelError, PageError
from domsieve.tasks.learning import snapshots
from domsieve.tasks.pages import Page

_A_FEW = 8


def explain(
    model: SiteModel[Any], pages: Sequence[Page], *, failed: Callable[[Page, DomsieveError], None]
) -> ThresholdHelp:
    """Return what thresholds would keep of at most eight of `pages`, spread over all in the order of their labels.

    Raises
    ------
    ModelError : the model has no such threshold.
    PageError : none of the pages could be read.
    """
    if not isinstance(model, SiteStyleTree):
        raise ModelError(
            f"Only the threshold of the method sst can be explained; this model is for the method {model.name}."
        )
    ordered = sorted(pages, key=lambda page: page.label)
    few = {i * (len(ordered) - 1) // max(1, min(_A_FEW, len(ordered)) - 1) for i in range(_A_FEW)}
    chosen = [ordered[i] for i in sorted(few) if i < len(ordered)]
    read = [snapshot for _, snapshot in snapshots(chosen, failed)]
    if not read:
        raise PageError("None of the pages could be read, so there is nothing to explain.")
    return threshold_help(model, read)
