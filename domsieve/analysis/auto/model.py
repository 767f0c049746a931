"""The learned model that ships with domsieve: token weights, boosted trees and the calibration of the expected F1."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from math import exp
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from domsieve.analysis.auto.tokens import BUCKETS, TokenWeights
from domsieve.analysis.columns.batch import F64, Ints

LEAVES = 16
"""Maximum number of leaves of a tree; the leaves of one tree are bits of a uint16."""
UNIT = 1 << 16
"""Values of leaves are in units of 1/`UNIT` of a logit."""
_HALF = 32
_SIGN = 1 << (_HALF - 1)
_MOST = 700.0  # exp() of more than 709 overflows


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """T trees over F features, with K tests and at most `LEAVES` leaves each.

    Leaves are numbered from left to right. A test is whether a feature is at most a threshold; if it is larger, the
    leaves left of the test are excluded. Trees with fewer tests have tests that are always true.

    Parameters
    ----------
    figure : int16 (K, T), the feature of each test.
    threshold : float32 (K, T).
    missing_is_less : bool (K, T), whether NaN counts as less than any threshold; otherwise it counts as more.
    struck : uint16 (K, T), the leaves that are excluded if the feature is larger, as bits; never the last leaf.
    leaf : int32 (T, LEAVES), what each leaf adds to the log-odds of content, in units of 1/`UNIT`.
    shares : int32 (G, T, LEAVES), the part of that which comes from each of G groups of features.
    bias : the log-odds before the first tree, in units of 1/`UNIT`.
    """

    figure: NDArray[np.int16]
    threshold: NDArray[np.float32]
    missing_is_less: NDArray[np.bool_]
    struck: NDArray[np.uint16]
    leaf: NDArray[np.int32]
    shares: NDArray[np.int32]
    bias: int

    def leaves(self, figures: NDArray[np.float32]) -> Ints:
        """Return the leaf of each tree that each block ends in, shape (T, B).

        Parameters
        ----------
        figures : (F, B), the features of the blocks.
        """
        missing = np.isnan(figures)
        # Each feature twice: with missing values above all thresholds, and below.
        both = np.concatenate((np.where(missing, np.inf, figures), np.where(missing, -np.inf, figures)))
        row = self.figure.astype(np.int64) + self.missing_is_less * len(figures)
        shape = self.leaf.shape[0], figures.shape[1]
        # Allocated once: the loop is bound by memory.
        excluded, leaves = np.zeros(shape, np.uint16), np.empty(shape, np.uint16)
        value, larger = np.empty(shape, np.float32), np.empty(shape, np.bool_)
        for feature, threshold, struck in zip(row, self.threshold, self.struck, strict=True):
            both.take(feature, axis=0, out=value, mode="clip")  # the default mode makes numpy copy once more
            np.greater(value, threshold[:, None], out=larger)
            np.multiply(larger, struck[:, None], out=leaves)
            excluded |= leaves
        # Adding 1 sets the lowest bit that is not set.
        lowest = ~excluded & (excluded + np.uint16(1))
        return np.frexp(lowest.astype(np.float32))[1].astype(np.int64) - 1

    def log_odds(self, leaves: Ints) -> Ints:
        """Return the log-odds of content (B,) of blocks that end in these leaves (T, B), in units of 1/`UNIT`."""
        values = self.leaf.ravel().take(leaves + self._first())
        return np.asarray(self.bias + values.sum(axis=0, dtype=np.int64))

    def shares_of(self, leaves: Ints) -> Ints:
        """Return what each group of features adds to these log-odds, shape (G, B), in units of 1/`UNIT`."""
        at = leaves + self._first()
        shares = self.shares.reshape(len(self.shares), -1).astype(np.int64)
        if len(shares) % 2:
            shares = np.concatenate((shares, np.zeros_like(shares[:1])))
        # Two groups are packed into the halves of one number, because the look-ups are what takes time.
        sums = np.stack([pair.take(at).sum(axis=0) for pair in (shares[::2] << _HALF) + shares[1::2]])
        second = ((sums + _SIGN) & (2 * _SIGN - 1)) - _SIGN
        both = np.stack(((sums - second) >> _HALF, second), axis=1)
        return both.reshape(len(shares), -1)[: len(self.shares)]

    def _first(self) -> Ints:
        return np.arange(0, self.leaf.size, LEAVES)[:, None]


def probabilities(log_odds: Ints) -> F64:
    """Return the probability of each of the log-odds, which are in units of 1/`UNIT`.

    Uses `math.exp` instead of numpy's, whose last bit depends on the processor.
    """
    return 1 / (1 + np.array([exp(min(-x / UNIT, _MOST)) for x in log_odds.tolist()], np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """How the F1 that the probabilities of a page promise becomes the one to expect.

    Scripts without spaces are read character by character. A character says less about a text than a word does, so
    the probabilities of such pages stay closer to one half than the results justify.

    Parameters
    ----------
    expected, found : float64 (K,), ascending. Pages that were not used for learning and whose promised F1 was
        ``expected[k]`` had an F1 of ``found[k]`` on average.
    single_gain : on a page with nothing but characters of scripts without spaces, the odds of the promised F1 count
        ``1 + single_gain`` times; at least 0.
    """

    expected: F64
    found: F64
    single_gain: float

    def f1(self, promised: float, *, single_share: float) -> float:
        """Return the F1 to expect, in [0, 1].

        Parameters
        ----------
        promised : what the probabilities of the page promise, in [0, 1]; `Choice.expected`.
        single_share : share of the page's words that are characters of scripts without spaces, in [0, 1].
        """
        raised = with_odds(promised, 1 + self.single_gain * single_share)
        return float(np.interp(raised, self.expected, self.found))


def with_odds(probability: float, times: float) -> float:
    """Return the probability, in [0, 1], whose odds are a multiple of those of another."""
    return probability * times / (1 + probability * (times - 1))


SHIPPED = Path(__file__).with_name("model.zst")
"""The file of the model that is part of the package."""


@dataclass(frozen=True, slots=True, eq=False)
class AutoModel:
    """A learned model.

    Parameters
    ----------
    figures : names of the F features, in the order that the trees use.
    groups : names of the G groups of features, in the order of `BoostedTrees.shares`.
    tokens : weights of the tokens of names and words.
    trees : the boosted trees.
    calibration : the calibration of the expected F1.
    """

    figures: tuple[str, ...]
    groups: tuple[str, ...]
    tokens: TokenWeights
    trees: BoostedTrees
    calibration: Calibration

    def table(self, figures: Mapping[str, Mapping[str, Any]], number: int) -> NDArray[np.float32]:
        """Return the features as a table (F, B) in the order of the trees.

        Parameters
        ----------
        figures : features by group and name; none for a table of NaN.
        number : B, the number of blocks.

        Raises
        ------
        KeyError : a feature of the model is missing.
        """
        table = np.full((len(self.figures), number), np.nan, np.float32)
        flat = {name: column for group in figures.values() for name, column in group.items()}
        for row, name in zip(table, self.figures, strict=True) if flat else ():
            row[:] = flat[name]
        return table


class _ModelFile(msgspec.Struct):
    """A model as a file: a zstd frame around MessagePack. numpy's own format takes five times as long to load.

    Each array is its type, its shape and its bytes. Of the token weights, only those that are not zero are stored:
    the distances between them, and their values.
    """

    figures: tuple[str, ...]
    groups: tuple[str, ...]
    bias: int
    single_gain: float
    arrays: dict[str, tuple[str, tuple[int, ...], bytes]]


_COMPRESSION = 19
_TREE_ARRAYS = ("figure", "threshold", "missing_is_less", "struck", "leaf", "shares")
_TOKEN_ARRAYS = ("names", "texts")


def write_model(model: AutoModel) -> bytes:
    """Return the content of a model file. Equal models give equal bytes."""
    arrays = {name: getattr(model.trees, name) for name in _TREE_ARRAYS}
    arrays |= {"expected": model.calibration.expected, "found": model.calibration.found}
    for name in _TOKEN_ARRAYS:
        weights = getattr(model.tokens, name)
        at = np.flatnonzero(weights).astype(np.uint32)
        arrays |= {f"{name}_steps": np.diff(at, prepend=np.uint32(0)), f"{name}_weights": weights[at]}
    little = {name: array.astype(array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    packed = {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in little.items()}
    gain = model.calibration.single_gain
    file = _ModelFile(model.figures, model.groups, model.trees.bias, gain, packed)
    return zstandard.compress(msgspec.msgpack.encode(file), _COMPRESSION)


def read_model(data: bytes) -> AutoModel:
    """Return the model in the content of a model file."""
    file = msgspec.msgpack.decode(zstandard.decompress(data), type=_ModelFile)
    arrays: dict[str, NDArray[Any]] = {
        name: np.frombuffer(content, kind).reshape(shape)
        for name, (kind, shape, content) in file.arrays.items()
    }
    tokens = {}
    for name in _TOKEN_ARRAYS:
        weights = np.zeros(BUCKETS, np.int16)
        weights[np.cumsum(arrays[f"{name}_steps"], dtype=np.int64)] = arrays[f"{name}_weights"]
        tokens[name] = weights
    return AutoModel(
        file.figures,
        file.groups,
        TokenWeights(**tokens),
        BoostedTrees(**{name: arrays[name] for name in _TREE_ARRAYS}, bias=file.bias),
        Calibration(arrays["expected"], arrays["found"], file.single_gain),
    )


@cache
def shipped_model() -> AutoModel:
    """Return the model that comes with the program."""
    return read_model(SHIPPED.read_bytes())
