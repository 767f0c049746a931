"""No cleaning: the baseline that keeps all visible text."""

import numpy as np

from domsieve.analysis.columns.visible import shown_nodes
from domsieve.analysis.estimator import PageEstimator
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot

_REASONS = ("not visible", "visible")


class NoCleaning(PageEstimator[Verdict]):
    """No cleaning: keeps every visible node."""

    name = "none"

    def _result(self, page: Snapshot) -> Verdict:
        kept = shown_nodes(page)
        return Verdict(self.name, kept, kept.astype(np.float32), kept.astype(np.uint8), _REASONS)
