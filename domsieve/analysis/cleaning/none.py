"""No cleaning: the page method every other is measured against, which keeps all a reader can see."""

from collections.abc import Sequence
from typing import overload

import numpy as np

from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.columns.visible import visible_nodes
from domsieve.analysis.estimator import Estimator
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot import Snapshot

_REASONS = ("not visible", "visible")


class NoCleaning(Estimator):
    """Keeps every visible node."""

    @overload
    def transform(self, pages: Snapshot) -> Verdict: ...
    @overload
    def transform(self, pages: Sequence[Snapshot]) -> list[Verdict]: ...
    def transform(self, pages: Snapshot | Sequence[Snapshot]) -> Verdict | list[Verdict]:
        """Return the verdict on one page, or one verdict per page of a sequence."""
        if not isinstance(pages, Snapshot):
            return [self.transform(page) for page in pages]
        kept = visible_nodes(Batch.of([pages]))
        return Verdict("none", kept, kept.astype(np.float32), kept.astype(np.uint8), _REASONS)
