"""The learned model that ships with domsieve: token weights, boosted trees and the calibration of the expected F1."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.tokens import BUCKETS, TokenWeights
from domsieve.analysis.columns.batch import F64, Ints

LEAVES = 16
UNIT = 1 << 16
"""Values of leaves are in this part of a logit."""
_HALF = 32
_SIGN = 1 << (_HALF - 1)
_MOST = 700.0  # what exp() bears


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """T trees of at most `LEAVES` leaves over F figures, with K questions each.

    Leaves are numbered from left to right. A question is whether a figure is at most a threshold; if not, the leaves
    on its left are struck out. What is missing counts as less than everything, or as more. Trees with fewer questions
    ask for what is always so.

    Parameters
    ----------
    figure : int16 (K, T), the figure that each question is about.
    threshold : float32 (K, T).
    missing_is_less : bool (K, T), where a figure that is NaN belongs.
    struck : uint16 (K, T), the leaves that are struck out when the answer is no, as bits; never the last leaf.
    leaf : int32 (T, LEAVES), what each leaf adds to the log-odds of content, in `UNIT`.
    shares : int32 (G, T, LEAVES), how much of that each of G groups of figures has brought.
    bias : the log-odds before the first tree, in `UNIT`.
    """

    figure: NDArray[np.int16]
    threshold: NDArray[np.float32]
    missing_is_less: NDArray[np.bool_]
    struck: NDArray[np.uint16]
    leaf: NDArray[np.int32]
    shares: NDArray[np.int32]
    bias: int

    def leaves(self, figures: NDArray[np.float32]) -> Ints:
        """Return in which leaf of each tree each block ends, (T, B), from its figures (F, B)."""
        missing = np.isnan(figures)
        # Each figure twice: with what is missing above all thresholds, and below.
        both = np.concatenate((np.where(missing, np.inf, figures), np.where(missing, -np.inf, figures)))
        row = self.figure.astype(np.int64) + self.missing_is_less * len(figures)
        shape = self.leaf.shape[0], figures.shape[1]
        gone, told, no = np.zeros(shape, np.uint16), np.empty(shape, np.uint16), np.empty(shape, np.bool_)
        value = np.empty(shape, np.float32)
        for asked, threshold, struck in zip(row, self.threshold, self.struck, strict=True):
            both.take(asked, axis=0, out=value, mode="clip")  # without a mode numpy copies once more
            np.greater(value, threshold[:, None], out=no)
            np.multiply(no, struck[:, None], out=told)
            gone |= told
        # The lowest bit that is not set is the one that adding 1 sets.
        lowest = ~gone & (gone + np.uint16(1))
        return np.frexp(lowest.astype(np.float32))[1].astype(np.int64) - 1

    def log_odds(self, leaves: Ints) -> Ints:
        """Return the log-odds (B,) of content, in `UNIT`, of blocks that end in these leaves (T, B)."""
        values = self.leaf.ravel().take(leaves + self._first())
        return np.asarray(self.bias + values.sum(axis=0, dtype=np.int64))

    def shares_of(self, leaves: Ints) -> Ints:
        """Return what each group of figures adds to these log-odds, (G, B), in `UNIT`."""
        at = leaves + self._first()
        shares = self.shares.reshape(len(self.shares), -1).astype(np.int64)
        if len(shares) % 2:
            shares = np.concatenate((shares, np.zeros_like(shares[:1])))
        # Two groups in the halves of one number, since it is the look-ups that cost.
        sums = np.stack([pair.take(at).sum(axis=0) for pair in (shares[::2] << _HALF) + shares[1::2]])
        second = ((sums + _SIGN) & (2 * _SIGN - 1)) - _SIGN
        both = np.stack(((sums - second) >> _HALF, second), axis=1)
        return both.reshape(len(shares), -1)[: len(self.shares)]

    def _first(self) -> Ints:
        return np.arange(0, self.leaf.size, LEAVES)[:, None]


def probabilities(log_odds: Ints) -> F64:
    """Return the probabilities of log-odds in `UNIT`, to the same bit on every processor."""
    return 1 / (1 + np.array([exp(min(-x / UNIT, _MOST)) for x in log_odds.tolist()], np.float64))


SHIPPED = Path(__file__).with_name("model.npz")
"""The file of the model that comes with the program."""


@dataclass(frozen=True, slots=True, eq=False)
class AutoModel:
    """What was learned of blocks.

    Parameters
    ----------
    figures : names of the F figures that the trees ask about, in their order.
    groups : names of the G groups of figures, in the order of the shares of the trees.
    tokens : what the tokens of names and words weigh.
    trees : the trees.
    expected, found : float64 (K,), ascending: where a choice is expected to have F1 ``expected[k]``, pages that
        nothing was learned from had ``found[k]`` on average.
    """

    figures: tuple[str, ...]
    groups: tuple[str, ...]
    tokens: TokenWeights
    trees: BoostedTrees
    expected: F64
    found: F64

    def confidence(self, expected: float) -> float:
        """Return the F1 that pages have on average whose choice is expected to have this one."""
        return float(np.interp(expected, self.expected, self.found))

    def table(self, figures: Mapping[str, Mapping[str, Any]], number: int) -> NDArray[np.float32]:
        """Return the figures (F, B) of `number` blocks, given by group and name, in the order of the trees."""
        table = np.full((len(self.figures), number), np.nan, np.float32)
        flat = {name: column for group in figures.values() for name, column in group.items()}
        for row, name in zip(table, self.figures, strict=True) if flat else ():
            row[:] = flat[name]
        return table


def write_model(model: AutoModel) -> bytes:
    """Return the file of a model; equal models give equal bytes."""
    trees = model.trees
    arrays: dict[str, Any] = {
        "figures": np.array(model.figures),
        "groups": np.array(model.groups),
        "figure": trees.figure,
        "threshold": trees.threshold,
        "missing_is_less": trees.missing_is_less,
        "struck": trees.struck,
        "leaf": trees.leaf,
        "shares": trees.shares,
        "bias": np.int64(trees.bias),
        "expected": model.expected,
        "found": model.found,
    }
    for name in ("names", "texts"):
        weights = getattr(model.tokens, name)
        at = np.flatnonzero(weights).astype(np.uint32)
        arrays |= {f"{name}_steps": np.diff(at, prepend=np.uint32(0)), f"{name}_weights": weights[at]}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def read_model(data: bytes) -> AutoModel:
    """Return the model of a file."""
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        tokens = {}
        for name in ("names", "texts"):
            weights = np.zeros(BUCKETS, np.int16)
            weights[np.cumsum(arrays[f"{name}_steps"], dtype=np.int64)] = arrays[f"{name}_weights"]
            tokens[name] = weights
        return AutoModel(
            tuple(arrays["figures"].tolist()),
            tuple(arrays["groups"].tolist()),
            TokenWeights(**tokens),
            BoostedTrees(
                figure=arrays["figure"],
                threshold=arrays["threshold"],
                missing_is_less=arrays["missing_is_less"],
                struck=arrays["struck"],
                leaf=arrays["leaf"],
                shares=arrays["shares"],
                bias=int(arrays["bias"]),
            ),
            arrays["expected"],
            arrays["found"],
        )


@cache
def shipped_model() -> AutoModel:
    """Return the model that comes with the program."""
    return read_model(SHIPPED.read_bytes())
