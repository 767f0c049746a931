"""The one result of every cleaning method: for each node kept or not, a score, and the reason in numbers.

Writers, comparisons and metrics are written once against this type. Imports only the Snapshot and marks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.page_flags.flags import Mark
from domsieve.snapshot.fault import Fault
from domsieve.snapshot.page import Scalar


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What a method says of one page of N nodes. All arrays are read-only.

    Parameters
    ----------
    method : the method's name, such as ``"sst"``.
    kept : bool (N,). A text node is output exactly when it is kept; an element is kept when it carries kept
        content or stands above some.
    score : float32 (N,) in [0, 1]: CompImp for SST, weight over (frequency * page maximum) for CST, entropy over its
        upper bound for entropy, 0 or 1 for TPS, template and none.
    reason : uint8 (N,), indices into `reasons`: the rule that decided the node.
    reasons : the method's vocabulary of rules, short phrases for people, such as ``"repeats on the site"``.
    numbers : float32 (N,) each, by name: the figures behind the decision, NaN where they do not apply.
    parameters : every option that shaped the verdict.
    instead_of : the method that was asked for and kept nothing, so that this one was taken; empty for nearly all.
    fault : why the page counts as failed, where it was cleaned all the same.
    marks : what the page likely is instead of the one that was asked for.
    expected_f1 : the word F1, in [0, 1], that pages have on average which look as sure as this one; None where the
        method does not say.
    known_share : the share, in [0, 1], of the words of the page that stand at places which the tree of its site
        knows; None without a tree, and without words.
    """

    method: str
    kept: NDArray[np.bool_]
    score: NDArray[np.float32]
    reason: NDArray[np.uint8]
    reasons: tuple[str, ...]
    numbers: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    instead_of: str = ""
    fault: Fault | None = None
    marks: tuple[Mark, ...] = ()
    expected_f1: float | None = None
    known_share: float | None = None

    def __post_init__(self) -> None:
        for column in (self.kept, self.score, self.reason, *self.numbers.values()):
            if column.shape != self.kept.shape:
                raise ValueError("Every column of a verdict has one entry per node.")
            column.flags.writeable = False
        if self.reason.size and int(self.reason.max()) >= len(self.reasons):
            raise ValueError("A verdict gives a reason outside its vocabulary.")
