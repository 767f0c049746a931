"""Boosted trees learned by LightGBM, and turned into the arrays that the cleaner asks.

One thread and no chance but by seed: equal blocks give equal bytes on the same machine.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.model import LEAVES, UNIT, BoostedTrees

PARAMETERS = {
    "objective": "binary",
    "num_leaves": LEAVES,
    "learning_rate": 0.085,
    "feature_fraction": 0.2,
    "bagging_fraction": 0.4,
    "bagging_freq": 1,
    "min_data_in_leaf": 20,
    "max_bin": 63,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
    "verbosity": -1,
}
ROUNDS = 300
_Question = tuple[int, float, bool, int]
"""Figure, threshold, whether what is missing is less, leaves that are struck out when the answer is no."""
_ALWAYS: _Question = (0, math.inf, True, 0)


def learn_trees(
    figures: NDArray[np.float32],
    content: NDArray[np.bool_],
    weight: NDArray[np.float64],
    groups: NDArray[np.int64],
) -> BoostedTrees:
    """Return trees that tell content from the rest.

    Parameters
    ----------
    figures : float32 (B, F), of the blocks of all pages.
    content, weight : (B,), what each block is, and how much it counts.
    groups : int64 (F,), the group of each figure.
    """
    import lightgbm

    data = lightgbm.Dataset(
        figures, content.astype(np.float64), weight=weight / weight.mean(), free_raw_data=True
    )
    learned = lightgbm.train(PARAMETERS, data, ROUNDS).dump_model()
    return _arrays([tree["tree_structure"] for tree in learned["tree_info"]], groups)


def _arrays(roots: list[dict[str, Any]], groups: NDArray[np.int64]) -> BoostedTrees:
    """Return trees as arrays; those without a question add the same to every block and become part of the bias."""
    questions: list[list[_Question]] = []
    bias = 0.0
    number = int(groups.max()) + 1
    leaves: list[NDArray[np.float64]] = []
    shares: list[NDArray[np.float64]] = []
    for root in roots:
        if "split_feature" not in root:
            bias += root["leaf_value"]
            continue
        bias += root["internal_value"]
        leaf, share = np.zeros(LEAVES), np.zeros((number, LEAVES))
        questions.append(_read_tree(root, groups, leaf, share))
        leaves.append(leaf - root["internal_value"])
        shares.append(share)
    most = max(map(len, questions), default=0)
    asked = [[*one, *[_ALWAYS] * (most - len(one))] for one in questions]
    figure, threshold, less, struck = (
        np.array([[question[part] for question in one] for one in asked]).T for part in range(4)
    )
    return BoostedTrees(
        figure=figure.astype(np.int16),
        threshold=_below(threshold),
        missing_is_less=less.astype(np.bool_),
        struck=struck.astype(np.uint16),
        leaf=np.rint(np.array(leaves) * UNIT).astype(np.int32),
        shares=np.rint(np.array(shares).transpose(1, 0, 2) * UNIT).astype(np.int32),
        bias=round(bias * UNIT),
    )


def _read_tree(
    root: dict[str, Any],
    groups: NDArray[np.int64],
    leaf: NDArray[np.float64],
    share: NDArray[np.float64],
) -> list[_Question]:
    """Return the questions of a tree, and write down its leaves from left to right, with what brought them."""
    questions: list[_Question] = []
    sizes = _leaf_counts(root)
    waiting: list[tuple[dict[str, Any], int, NDArray[np.float64]]] = [(root, 0, np.zeros(share.shape[0]))]
    while waiting:
        node, start, brought = waiting.pop()
        if "split_feature" not in node:
            leaf[start], share[:, start] = node["leaf_value"], brought
            continue
        left, right = node["left_child"], node["right_child"]
        behind = start + sizes[id(left)]
        figure = node["split_feature"]
        # Where no value was missing when the tree was learned, a missing one is taken for 0.
        less = node["default_left"] if node["missing_type"] == "NaN" else node["threshold"] >= 0
        struck = ((1 << (behind - start)) - 1) << start
        questions.append((figure, node["threshold"], bool(less), struck))
        for child, at in ((right, behind), (left, start)):
            told = brought.copy()
            told[groups[figure]] += _value(child) - node["internal_value"]
            waiting.append((child, at, told))
    return questions


def _value(node: dict[str, Any]) -> float:
    return float(node["internal_value"] if "split_feature" in node else node["leaf_value"])


def _leaf_counts(root: dict[str, Any]) -> dict[int, int]:
    """Return how many leaves are below each node, by its identity."""
    order, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if "split_feature" in node:
            waiting += [node["left_child"], node["right_child"]]
    sizes: dict[int, int] = {}
    for node in reversed(order):
        split = "split_feature" in node
        sizes[id(node)] = sizes[id(node["left_child"])] + sizes[id(node["right_child"])] if split else 1
    return sizes


def _below(thresholds: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the largest float32 of at most each threshold, so that figures of that type fall on the same side."""
    # A question that only parts what is missing from the rest has a threshold beyond all figures.
    thresholds = np.clip(thresholds, -_LARGEST, _LARGEST)
    near = thresholds.astype(np.float32)
    return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)


_LARGEST = float(np.finfo(np.float32).max)
