"""What of a page record mining looks at, found once for all its steps. Imports the columns."""

from dataclasses import dataclass

from domsieve.analysis.columns.batch import Batch, Bools, page_batch
from domsieve.analysis.columns.body import in_body, worded
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.snapshot.page import Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """One page of N nodes.

    Parameters
    ----------
    batch : the page as a batch of one.
    body : (N,), nodes in the body.
    visible : (N,), nodes that a reader can meet.
    text : (N,), texts that are not blank.
    """

    batch: Batch
    body: Bools
    visible: Bools
    text: Bools

    @classmethod
    def of(cls, page: Snapshot) -> "Shown":
        """Return what a page shows."""
        batch = page_batch(page)
        return cls(batch, in_body(batch), shown_nodes(page), worded(page))
