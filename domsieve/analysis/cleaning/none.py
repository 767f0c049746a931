"""No cleaning: the page method every other is measured against, which keeps all a reader can see."""

import numpy as np

from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.estimator import PageEstimator
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot

_REASONS = ("not visible", "visible")


class NoCleaning(PageEstimator[Verdict]):
    """Keeps every visible node."""

    name = "none"

    def _result(self, page: Snapshot) -> Verdict:
        kept = shown_nodes(page)
        return Verdict(self.name, kept, kept.astype(np.float32), kept.astype(np.uint8), _REASONS)
