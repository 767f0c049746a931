"""From the mapping of a batch onto a style tree to one Verdict per page."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Bools, Ints
from domsieve.analysis.columns.hash import combine
from domsieve.analysis.columns.tables import Table
from domsieve.analysis.site_model import verdicts_of
from domsieve.analysis.trees.context import in_context
from domsieve.analysis.trees.forest import around, spread
from domsieve.analysis.trees.importance import Importances
from domsieve.analysis.trees.laid import Laid, known_shares
from domsieve.analysis.trees.leaf_features import (
    LeafTexts,
    Occurrences,
    feature_counts,
    other_features,
    text_features,
)
from domsieve.analysis.trees.link_lists import LinkLists, navigation
from domsieve.analysis.trees.mapping import Mapping, Rule
from domsieve.analysis.trees.style_tree import StyleTree
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Kind, Scalar

Figures = NDArray[np.float64]

HIDDEN, REPEATS, VARIES, UNKNOWN, LINKS, LOCAL, ABOVE, EMPTY, AMID_CONTENT, AMID_NOISE = range(10)
REASONS = (
    "not visible",
    "repeats on the site",
    "varies over the site",
    "not on the site's style tree",
    "mostly links",
    "locally noisy words",
    "stands above kept content",
    "holds no content",
    "holds little, amid content",
    "holds little, amid noise",
)


@dataclass(frozen=True, slots=True, eq=False)
class LocalNoise:
    """What is spread evenly over the pages of its element node, 1 - H < epsilon.

    `feature` (F,) says it of each feature of a tree, `element` (E,) of any feature of each element node.
    """

    feature: Bools
    element: Bools

    @classmethod
    def of(cls, tree: StyleTree, figures: Importances, epsilon: float) -> "LocalNoise":
        """Return the local noise of `tree`; `epsilon` is in [0, 1]."""
        feature = 1 - figures.feature < epsilon
        element = np.zeros(len(tree.elements), np.bool_)
        element[tree.elements.find(tree.features.fixed["path"][feature])] = True
        return cls(feature, element)


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """What pages are mapped on, derived from the counts and the parameters.

    `tree` has similar element nodes merged, whose paths `aliases` gives; `threshold` is the one that is used. `lists`
    is None where links do not count.
    """

    tree: StyleTree
    aliases: Table | None
    threshold: float
    figures: Importances
    noise: LocalNoise
    lists: LinkLists | None


def verdicts(
    laid: Laid,
    mapping: Mapping,
    used: Ready,
    *,
    link_discount: float,
    context: float,
    parameters: dict[str, Scalar],
) -> list[Verdict]:
    """Return one verdict per page of the batch.

    MapSST decides alone unless links or context count. Then a leaf is kept when its value is above the threshold: its
    importance, discounted by the share of words in links (mean of this page and all pages learned; of the leaf or
    around it, whichever is more) as far as such links are navigation, in the light of the values around it. Texts of
    kept leaves whose words are all locally noisy are dropped, unless the context alone speaks for the leaf.
    """
    batch, forest, texts = laid.batch, laid.forest, laid.texts
    tree, figures, threshold = used.tree, used.figures, used.threshold
    row, known = np.maximum(mapping.row, 0), mapping.row >= 0
    composite = np.where(forest.leaf, figures.leaf_form[row], figures.composite[row])
    importance = np.where(known & ~np.isnan(composite), composite, 1.0)
    links = _link_share(texts, tree, row, known)
    guiding = np.ones(row.size, np.bool_) if used.lists is None else navigation(laid, used.lists, row, known)
    own = value = importance
    reason = _RULE_REASONS[mapping.rule]
    if link_discount > 0 or context > 0:
        count = feature_counts(batch, forest, texts)
        guides = links * guiding
        linked = np.maximum(guides, in_context(guides, count, forest, strength=context))
        own = importance * (1 - link_discount * linked)
        value = in_context(own, count, forest, strength=context)
        reason[forest.leaf] = _leaf_reasons(known, importance, own, value, threshold)[forest.leaf]
    node = forest.places()
    reasons = spread(reason, node, EMPTY, np.uint8)
    suspects = known & used.noise.element[row]
    telling = _KEPT[reasons] & (reasons != AMID_CONTENT)
    reasons[_locally_noisy(laid, used, suspects, telling)] = LOCAL
    reasons[~forest.shown] = HIDDEN
    kept = _KEPT[reasons] & (forest.owner >= 0)
    kept, above = around(batch, forest, kept, reasons == EMPTY)
    reasons[above] = ABOVE
    scores = spread(value, node, 0, np.float32)
    scores[~forest.shown] = 0
    numbers = {
        "importance": spread(importance, node, np.nan, np.float32),
        "alone": spread(np.where(forest.leaf, own, np.nan), node, np.nan, np.float32),
        "link_share": spread(np.where(forest.leaf, links, np.nan), node, np.nan, np.float32),
        "navigation": spread(np.where(forest.leaf, guiding, np.nan), node, np.nan, np.float32),
        "pages": spread(np.where(known, tree.elements.sums["units"][row], 0), node, np.nan, np.float32),
    }
    return verdicts_of(
        batch,
        "sst",
        kept=kept,
        score=scores,
        reason=reasons,
        reasons=REASONS,
        numbers=numbers,
        parameters=parameters,
        known_shares=known_shares(laid, known),
    )


_RULE_REASONS = np.zeros(len(Rule), np.uint8)
_RULE_REASONS[[Rule.DESCEND, Rule.UNKNOWN]] = EMPTY, UNKNOWN
_RULE_REASONS[[Rule.NOISY, Rule.LEAF_NOISY]] = REPEATS
_RULE_REASONS[[Rule.MEANINGFUL, Rule.LEAF_KEPT]] = VARIES


def _leaf_reasons(
    known: Bools, importance: Figures, own: Figures, value: Figures, threshold: float
) -> NDArray[np.int64]:
    """Return why leaves are kept or not, from their importance, with links counted, and in context."""
    kept = value > threshold
    cases = (kept & ~known, kept & (own > threshold), kept, importance <= threshold, own <= threshold)
    return np.select(cases, (UNKNOWN, VARIES, AMID_CONTENT, REPEATS, LINKS), AMID_NOISE)


_KEPT = np.isin(np.arange(len(REASONS)), (VARIES, UNKNOWN, AMID_CONTENT))


def _link_share(texts: LeafTexts, tree: StyleTree, row: Ints, known: Bools) -> Figures:
    """Return the share of linked words of each leaf, mean of its share here and over the pages learned."""
    here = texts.link_word_count / np.maximum(texts.word_count, 1)
    words = tree.elements.sums["words"][row]
    site = tree.elements.sums["link_words"][row] / np.maximum(words, 1)
    return np.asarray(np.where(known & (words > 0), (here + site) / 2, here))


def _locally_noisy(laid: Laid, used: Ready, suspects: Bools, kept: Bools) -> Ints:
    """Return the `kept` (N,) texts in elements whose features are all locally noisy.

    The paper drops single features; a sentence keeps its common words here. Only the `suspects` (M,) among the
    forest nodes have noisy features, so that few texts have to be looked at.
    """
    batch, forest, texts = laid.batch, laid.forest, laid.texts
    holder = forest.holder
    text = np.flatnonzero(kept & (batch.kind == Kind.TEXT))
    carrying, all_noisy = np.zeros(holder.size, np.bool_), np.zeros(holder.size, np.bool_)
    carrying[holder[np.append(suspects, np.False_)[forest.owner]]] = True
    all_noisy[holder[text]] = True
    all_noisy &= carrying
    carrying[:] = False

    def look_at(found: Occurrences) -> None:
        row = used.tree.features.find(combine(laid.paths.path[forest.owner[found.node]], found.feature))
        carrying[holder[found.node]] = True
        all_noisy[holder[found.node[(row < 0) | ~used.noise.feature[row]]]] = False

    if all_noisy.any():
        look_at(text_features(batch, texts, all_noisy[holder]))
    if all_noisy.any():
        look_at(other_features(batch, forest, all_noisy[holder]))
    return text[(all_noisy & carrying)[holder[text]]]
