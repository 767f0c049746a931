"""The learned model that comes with the program: weights of tokens, trees, and how sure an expected F1 is.

A file of arrays and nothing else, so that a model from elsewhere may be read. Imports the tokens and the trees.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.tokens import BUCKETS, TokenWeights
from domsieve.analysis.auto.trees import BoostedTrees
from domsieve.analysis.columns.batch import F64

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
