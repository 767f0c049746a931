"""Site style tree: learns what repeats over the pages of one site, and cleans them (Yi, Liu, Li; KDD 2003)."""

import math
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Batch, Bools, Ints, page_batch
from domsieve.analysis.columns.hash import combine
from domsieve.analysis.columns.tables import Table
from domsieve.analysis.columns.words import fold
from domsieve.analysis.estimator import Bounds, Share
from domsieve.analysis.site_model import verdicts_of
from domsieve.analysis.trees._alignment import AlignedPages, Paths, Runs, Siblings, known_shares
from domsieve.analysis.trees._forest import (
    Forest,
    LeafTexts,
    Occurrences,
    around,
    feature_counts,
    in_context,
    occurrences,
    other_features,
    spread,
    text_features,
    word_features,
)
from domsieve.analysis.trees._importance import Importances, LinkLists, importances, navigation, simplified
from domsieve.analysis.trees._merging import merge_similar
from domsieve.analysis.trees.style_tree import StyleTree, TreeModel, count_pages
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Kind, Scalar, Snapshot
from domsieve.types import StyleLevel


class Rule(IntEnum):
    """The step of MapSST that decided a node."""

    DESCEND = 0  # neither noisy nor meaningful: its children decide
    NOISY = 1
    MEANINGFUL = 2
    UNKNOWN = 3  # no equal style: possibly meaningful, so it is kept
    LEAF_NOISY = 4  # decided by the leaf form of an element node that has other forms too
    LEAF_KEPT = 5


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """How each of the M forest nodes was decided.

    Parameters
    ----------
    rule : uint8 (M,), a `Rule`.
    row : int64 (M,), the node's row in the tree's `elements`; -1 if it is not in the tree.
    """

    rule: NDArray[np.uint8]
    row: NDArray[np.int64]


def map_pages(
    tree: StyleTree,
    figures: Importances,
    forest: Forest,
    paths: Paths,
    *,
    threshold: float,
    siblings: Siblings,
) -> Mapping:
    """Return the rule for every forest node, from the roots down.

    Parameters
    ----------
    tree, figures : the style tree and its importances.
    forest, paths : the pages, aligned with the tree.
    threshold : t in [0, 1]; leaves up to this importance are noise.
    siblings : what identifies an element node. With ``"style"`` an unknown child sequence makes a node unknown.
    """
    row = tree.elements.find(paths.path)
    known = row >= 0
    at = np.maximum(row, 0)
    own = np.full(row.size, Rule.DESCEND, np.uint8)
    leaf_value = figures.leaf_form[at]
    leaf_rule = np.where(leaf_value <= threshold, Rule.LEAF_NOISY, Rule.LEAF_KEPT)
    own[forest.leaf] = np.where(np.isnan(leaf_value), Rule.UNKNOWN, leaf_rule)[forest.leaf]
    if siblings == "style":
        own[~forest.leaf & (tree.styles.find(combine(paths.path, paths.style)) < 0)] = Rule.UNKNOWN
    own[known & figures.meaningful[at]] = Rule.MEANINGFUL
    own[known & figures.noisy[at]] = Rule.NOISY
    own[~known] = Rule.UNKNOWN
    rule = own.copy()
    for a, b in pairwise(forest.levels[1:].tolist()):
        above = rule[forest.parent[a:b]]
        rule[a:b] = np.where(above == Rule.DESCEND, own[a:b], above)
    return Mapping(rule, row)


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
    """Features that are spread evenly over the pages of their element node (1 - H < epsilon; SST section 5.6.3).

    Parameters
    ----------
    feature : bool (F,), the features of a tree that are.
    element : bool (E,), the element nodes with at least one such feature.
    """

    feature: Bools
    element: Bools

    @classmethod
    def of(cls, tree: StyleTree, figures: Importances, epsilon: float) -> "LocalNoise":
        """Return the local noise of a tree; `epsilon` is in [0, 1]."""
        feature = 1 - figures.feature < epsilon
        element = np.zeros(len(tree.elements), np.bool_)
        element[tree.elements.find(tree.features.fixed["path"][feature])] = True
        return cls(feature, element)


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """A learned tree, ready for mapping pages onto it.

    Parameters
    ----------
    tree : the style tree, after similar element nodes were merged.
    aliases : the paths that replace merged ones; None without merging.
    threshold : t, as given or derived from the number of pages.
    figures : importances and marks.
    noise : local noise.
    lists : lists of links; None if links do not matter.
    """

    tree: StyleTree
    aliases: Table | None
    threshold: float
    figures: Importances
    noise: LocalNoise
    lists: LinkLists | None


def verdicts(
    aligned: AlignedPages,
    mapping: Mapping,
    used: Ready,
    *,
    link_discount: float,
    context: float,
    parameters: dict[str, Scalar],
) -> list[Verdict]:
    """Return one verdict per page of the batch.

    If `link_discount` and `context` are 0, MapSST decides alone. Otherwise a leaf is kept if its value is above the
    threshold. The value starts as the importance, is reduced by the share of words in links that are navigation, and
    is then smoothed with the values around the leaf. The share of words in links is the mean of this page and all
    learned pages, and that of the leaf or around it, whichever is larger. Texts of kept leaves whose words are all
    locally noisy are dropped, unless the leaf is only kept because of its surroundings.

    Parameters
    ----------
    aligned, mapping : the pages, aligned with and mapped onto the tree.
    used : the tree.
    link_discount, context : parameters of `SiteStyleTree`.
    parameters : the parameters to put into the verdicts.
    """
    batch, forest, texts = aligned.batch, aligned.forest, aligned.texts
    tree, figures, threshold = used.tree, used.figures, used.threshold
    row, known = np.maximum(mapping.row, 0), mapping.row >= 0
    composite = np.where(forest.leaf, figures.leaf_form[row], figures.composite[row])
    importance = np.where(known & ~np.isnan(composite), composite, 1.0)
    links = _link_share(texts, tree, row, known)
    guiding = (
        np.ones(row.size, np.bool_) if used.lists is None else navigation(aligned, used.lists, row, known)
    )
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
    reasons[_locally_noisy(aligned, used, suspects, telling)] = LOCAL
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
        known_shares=known_shares(aligned, known),
        threshold=threshold,
    )


_RULE_REASONS = np.zeros(len(Rule), np.uint8)
_RULE_REASONS[[Rule.DESCEND, Rule.UNKNOWN]] = EMPTY, UNKNOWN
_RULE_REASONS[[Rule.NOISY, Rule.LEAF_NOISY]] = REPEATS
_RULE_REASONS[[Rule.MEANINGFUL, Rule.LEAF_KEPT]] = VARIES


def _leaf_reasons(
    known: Bools, importance: Figures, own: Figures, value: Figures, threshold: float
) -> NDArray[np.int64]:
    """Return the reason for each leaf.

    Parameters
    ----------
    known : whether the leaf is in the tree.
    importance, own, value : its importance, after the discount for links, and after smoothing.
    """
    kept = value > threshold
    cases = (kept & ~known, kept & (own > threshold), kept, importance <= threshold, own <= threshold)
    return np.select(cases, (UNKNOWN, VARIES, AMID_CONTENT, REPEATS, LINKS), AMID_NOISE)


_KEPT = np.isin(np.arange(len(REASONS)), (VARIES, UNKNOWN, AMID_CONTENT))


def _link_share(texts: LeafTexts, tree: StyleTree, row: Ints, known: Bools) -> Figures:
    """Return the share of words in links of each leaf: the mean of this page and all learned pages."""
    here = texts.link_word_count / np.maximum(texts.word_count, 1)
    words = tree.elements.sums["words"][row]
    site = tree.elements.sums["link_words"][row] / np.maximum(words, 1)
    return np.asarray(np.where(known & (words > 0), (here + site) / 2, here))


def _locally_noisy(aligned: AlignedPages, used: Ready, suspects: Bools, kept: Bools) -> Ints:
    """Return the `kept` (N,) texts in elements whose features are all locally noisy.

    The paper drops single features; here a sentence keeps its common words. Only the `suspects` (M,) among the forest
    nodes have noisy features, so that few texts have to be checked.
    """
    batch, forest, texts = aligned.batch, aligned.forest, aligned.texts
    holder = forest.holder
    text = np.flatnonzero(kept & (batch.kind == Kind.TEXT))
    has_features, all_noisy = np.zeros(holder.size, np.bool_), np.zeros(holder.size, np.bool_)
    has_features[holder[np.append(suspects, np.False_)[forest.owner]]] = True
    all_noisy[holder[text]] = True
    all_noisy &= has_features
    has_features[:] = False

    def exclude(features: Occurrences) -> None:
        """Mark the elements that have features, and unmark those with a feature that is not noise."""
        row = used.tree.features.find(
            combine(aligned.paths.path[forest.owner[features.node]], features.feature)
        )
        has_features[holder[features.node]] = True
        all_noisy[holder[features.node[(row < 0) | ~used.noise.feature[row]]]] = False

    if all_noisy.any():
        exclude(text_features(batch, texts, all_noisy[holder]))
    if all_noisy.any():
        exclude(other_features(batch, forest, all_noisy[holder]))
    return text[(all_noisy & has_features)[holder[text]]]


# The share of pages behind t = 0.2 on 500 pages: t = -ln(share) / ln m. The limit applies up to twelve pages, where
# importances are too coarse for a higher threshold.
_LOG_SHARE = 0.2 * math.log(500)
_HIGHEST_THRESHOLD = 0.5


class SiteStyleTree(TreeModel):
    """Site style tree (SST): drops what repeats over the pages of a site and keeps what varies.

    Parameters
    ----------
    style : presentation style that two element nodes must share to be equal; ``"auto"`` is ``"layout"`` for rendered
        pages and ``"html"`` for raw ones.
    threshold : nodes up to this importance are noise; t in [0, 1]. A feature on x of m pages has importance
        1 - log_m x, so the same t means a larger share of the pages on a small site than on a large one. The default,
        None, keeps the share at 29 %, which is t = 0.2 on 500 pages.
    attenuation : weight of the descendants compared with the node's own styles; g in [0, 1].
    runs : how repeated siblings are aligned: ``"exact"`` needs equal child sequences, ``"collapse"`` treats repeats
        as one node.
    siblings : what identifies an element node: the ``"style"`` node around it and its position, or its ``"label"``.
    flatten_inline : unwrap inline markup and drop line breaks.
    leaf_height : elements up to this height are leaves; at least 0.
    merge_similarity : merge element nodes whose characteristic features overlap by at least this share (lambda), in
        (0, 1]; None for no merging. Needs ``siblings="style"``.
    merge_frequency : share of pages on which a characteristic feature occurs (gamma), in (0, 1].
    local_noise : drop texts in content whose words all have 1 - H below this value; epsilon in [0, 1].
    presence : count a feature once per page instead of as often as it occurs.
    link_discount : how far the share of words in links lowers the importance of a leaf, in [0, 1].
    list_share : a list of links is rare, and may be content instead of navigation, if less than this share of the
        pages that have its parent have the list; in [0, 1] (see `link_lists`). With 0 all links are navigation.
    rare_share : trust the repetition of a leaf half if this share of all pages has it, less if fewer have it; in
        [0, 1].
    context : how many features the surroundings of a leaf are worth compared with its own, at least 0. If this and
        `link_discount` are 0, MapSST decides alone.
    """

    name = "sst"
    paper = MappingProxyType(
        {
            "runs": "exact",
            "siblings": "style",
            "flatten_inline": False,
            "merge_similarity": 0.85,
            "link_discount": 0.0,
            "rare_share": 0.0,
            "context": 0.0,
            "threshold": 0.2,
        }
    )

    def __init__(
        self,
        *,
        style: StyleLevel | Literal["auto"] = "auto",
        threshold: Share | None = None,
        attenuation: Share = 0.9,
        runs: Runs = "collapse",
        siblings: Siblings = "label",
        flatten_inline: bool = True,
        leaf_height: Annotated[int, Bounds(0)] = 1,
        merge_similarity: Annotated[float, Bounds(0, 1, above=True)] | None = None,
        merge_frequency: Annotated[float, Bounds(0, 1, above=True)] = 0.85,
        local_noise: Share = 0.01,
        presence: bool = False,
        link_discount: Share = 1.0,
        list_share: Share = 0.2,
        rare_share: Share = 0.02,
        context: Annotated[float, Bounds(0)] = 8.0,
    ) -> None:
        self.style = style
        self.threshold = threshold
        self.attenuation = attenuation
        self.runs = runs
        self.siblings = siblings
        self.flatten_inline = flatten_inline
        self.leaf_height = leaf_height
        self.merge_similarity = merge_similarity
        self.merge_frequency = merge_frequency
        self.local_noise = local_noise
        self.presence = presence
        self.link_discount = link_discount
        self.list_share = list_share
        self.rare_share = rare_share
        self.context = context

    @property
    def figures_(self) -> Importances:
        """Importances and marks of the tree, after merging."""
        return self._ready().figures

    def content_words(self, page: Snapshot) -> list[str]:
        """Return the folded words of the kept texts in document order, without locally noisy words."""
        used = self._ready()
        batch = page_batch(page)
        aligned = self._read(batch, used.aliases)
        kept = np.flatnonzero(self.transform(page).kept & (page.kind == Kind.TEXT))
        content: list[str] = []
        for node, text in zip(kept.tolist(), page.strings.take(page.text[kept].tolist()), strict=True):
            words = fold(text).split()
            key = combine(aligned.paths.path[aligned.forest.owner[node]], word_features(words))
            row = used.tree.features.find(key)
            local = (row >= 0) & used.noise.feature[row]
            content += [word for word, noisy in zip(words, local.tolist(), strict=True) if not noisy]
        return content

    def facts(self) -> dict[str, int]:
        """Return the size of the tree, after merging, and how many of its element nodes have a mark."""
        used = self._ready()
        tree, figures = used.tree, used.figures
        return {
            "element_nodes": len(tree.elements),
            "of_them_in_the_simplified_tree": int(simplified(tree, figures).sum()),
            "style_nodes": len(tree.styles),
            "features": len(tree.features),
            "noisy": int(figures.noisy.sum()),
            "meaningful": int(figures.meaningful.sum()),
        }

    def _count(self, batch: Batch) -> StyleTree:
        self.style_ = self._style_of(batch)
        aligned = self._read(batch, None)
        features = occurrences(batch, aligned.forest, aligned.texts)
        contents = features if self.merge_similarity is not None else None
        units = aligned.forest.page.astype(np.int64)
        return count_pages(aligned, features, units=units, contents=contents, presence=self.presence)

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        used = self._ready()
        aligned = self._read(batch, used.aliases)
        mapping = map_pages(
            used.tree,
            used.figures,
            aligned.forest,
            aligned.paths,
            threshold=used.threshold,
            siblings=self.siblings,
        )
        return verdicts(
            aligned,
            mapping,
            used,
            link_discount=self.link_discount,
            context=self.context,
            parameters={
                **self.scalars(),
                "style": self.style_,
                "threshold": used.threshold,
                "pages": used.tree.pages,
            },
        )

    def _ready(self) -> Ready:
        """Return the merged tree and its importances; computed again only if counts or parameters have changed."""
        key = (self.tree_, *sorted(self.get_params().items(), key=str))

        def make() -> Ready:
            self.check()
            tree, aliases = self.tree_, None
            if self.merge_similarity is not None:
                tree, aliases = merge_similar(
                    tree, frequency=self.merge_frequency, similarity=self.merge_similarity
                )
            if self.threshold is not None:
                threshold = float(self.threshold)  # may be a numpy number, which files cannot store
            else:
                threshold = min(_LOG_SHARE / math.log(max(tree.pages, 2)), _HIGHEST_THRESHOLD)
            figures = importances(
                tree, attenuation=self.attenuation, threshold=threshold, rare_share=self.rare_share
            )
            noise = LocalNoise.of(tree, figures, self.local_noise)
            lists = None
            if self.link_discount > 0 and self.list_share > 0:
                lists = LinkLists.of(tree, self.list_share)
            return Ready(tree, aliases, threshold, figures, noise, lists)

        return self._derived(key, make)
