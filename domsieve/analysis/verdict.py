"""The result of every cleaning method: for each node whether it is kept, a score, and the reason.

Writers, comparisons and metrics all work on this type.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.page_flags.flags import Mark
from domsieve.snapshot.fault import Fault
from domsieve.snapshot.page import Scalar
from domsieve.types import WarningKind


class PageWarning(msgspec.Struct, frozen=True, kw_only=True):
    """Structural damage of a result.

    Parameters
    ----------
    kind : ``"headings_without_text"``, ``"text_cut"``, ``"hidden_content"``, ``"text_missing"`` or
        ``"garbled_text"``.
    detail : a sentence with numbers that says what is wrong and what to do.
    """

    kind: WarningKind
    detail: str


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """The decision of a method on one page of N nodes. All arrays are read-only.

    Parameters
    ----------
    method : the method's name, such as ``"sst"``.
    kept : bool (N,). The output contains exactly the kept text nodes. An element is kept if it has kept content or is
        an ancestor of some.
    score : float32 (N,) in [0, 1]: the probability of content for auto, CompImp for SST, weight over (frequency *
        page maximum) for CST, entropy over its upper bound for entropy, 0 or 1 for TPS, template and none.
    reason : uint8 (N,), index into `reasons` of the rule that decided each node.
    reasons : the method's rules, as short phrases such as ``"repeats on the site"``.
    numbers : float32 (N,) each, by name: the numbers behind the decision; NaN where they do not apply.
    parameters : all options that affect the verdict.
    instead_of : the requested method, if it kept nothing and this method was used instead; otherwise empty.
    fault : why the page counts as failed, if it was cleaned nevertheless.
    marks : what the page likely is instead of the requested one, such as a login wall.
    warnings : what is damaged in the result, such as text that is cut before its end.
    threshold : the score above which the method itself keeps a block, in [0, 1]; None if it does not decide by score.
    expected_f1 : the average word F1, in [0, 1], of pages on which the method is as certain as on this one; None if
        the method does not estimate it.
    known_share : the share, in [0, 1], of the page's words that are at places in the site's tree; None without a tree
        or without words.
    site_pages : the number of pages of the site, this one included, that the method learned from; 0 if it judged the
        page alone.

    Raises
    ------
    ValueError : a column does not have one entry per node, or a reason is out of range.
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
    warnings: tuple[PageWarning, ...] = ()
    threshold: float | None = None
    expected_f1: float | None = None
    known_share: float | None = None
    site_pages: int = 0

    def decided_by(self, reasons: Collection[str]) -> NDArray[np.bool_]:
        """Return which of the N nodes one of these reasons decided."""
        return np.isin(
            self.reason, [number for number, reason in enumerate(self.reasons) if reason in reasons]
        )

    @property
    def may_be_refined(self) -> bool:
        """Whether steps after the method may keep and drop more: not all text, a published mode or a complement."""
        mode, complement = self.parameters.get("mode"), self.parameters.get("complement")
        return self.method != "none" and mode != "paper" and not complement

    def __post_init__(self) -> None:
        for column in (self.kept, self.score, self.reason, *self.numbers.values()):
            if column.shape != self.kept.shape:
                raise ValueError("Every column of a verdict needs one entry per node.")
            column.flags.writeable = False
        if self.reason.size and int(self.reason.max()) >= len(self.reasons):
            raise ValueError("A verdict has a reason that is not in its list of reasons.")
