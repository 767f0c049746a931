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
from domsieve.analysis.trees.alignment import Laid, Paths, Runs, Siblings, known_shares
from domsieve.analysis.trees.forest import Forest, around, in_context, spread
from domsieve.analysis.trees.importance import Importances, importances, simplified
from domsieve.analysis.trees.leaf_features import (
    LeafTexts,
    Occurrences,
    feature_counts,
    occurrences,
    other_features,
    text_features,
    word_features,
)
from domsieve.analysis.trees.link_lists import LinkLists, navigation
from domsieve.analysis.trees.merging import merge_similar
from domsieve.analysis.trees.style_tree import StyleTree, TreeModel, count_pages
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Kind, Scalar, Snapshot
from domsieve.vocabulary import StyleLevel


class Rule(IntEnum):
    """Which step of MapSST decided a node."""

    DESCEND = 0  # neither noisy nor meaningful: its children decide
    NOISY = 1
    MEANINGFUL = 2
    UNKNOWN = 3  # no equal style: possibly meaningful, kept
    LEAF_NOISY = 4  # leaf form of an element node that has other forms too
    LEAF_KEPT = 5


@dataclass(frozen=True, slots=True, eq=False)
class Mapping:
    """For each of the M forest nodes the rule that decided it and its row in the tree (-1 off the tree)."""

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
    """Return the rule for every forest node, top-down, one step per level."""
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


# t = -ln(share) / ln m; on fewer than ten pages importances of content are too coarse for more than a half.
_LOG_SHARE = 0.2 * math.log(500)
_HIGHEST_THRESHOLD = 0.5


class SiteStyleTree(TreeModel):
    """Keeps of each page of a site what varies over the site; learns that from the site's own pages.

    Parameters
    ----------
    style : presentation style that tells element nodes apart; ``"auto"`` is ``"layout"`` for rendered pages and
        ``"html"`` for raw ones.
    threshold : t in [0, 1]; a node of at most this importance is noise. A feature on x of m pages has importance
        1 - log_m x, so one t means other shares of the pages on small sites than on large ones.
        None keeps the share at 29 %, which is t = 0.2 on 500 pages.
    attenuation : g in [0, 1], weight of the descendants against the node's own styles.
    runs : ``"exact"`` child sequences, or ``"collapse"`` repeats.
    siblings : element nodes are told apart by the ``"style"`` node around them, or by ``"label"``.
    flatten_inline : unwrap inline markup and drop line breaks.
    leaf_height : elements at most this high are leaves.
    merge_similarity : lambda in (0, 1]; None leaves similar element nodes apart. Needs ``siblings="style"``.
    merge_frequency : gamma in (0, 1].
    local_noise : epsilon in [0, 1]; texts of content whose words all have 1 - H < epsilon are dropped.
    presence : count a feature once per page instead of as often as it occurs.
    link_discount : in [0, 1], how far the share of linked words lowers the importance of a leaf.
    list_share : in [0, 1], share of the pages with the element around a list of links below which the list is rare,
        and may be content instead of navigation (`link_lists`). With 0 all links are navigation.
    rare_share : in [0, 1], share of all pages on which a leaf must stand to be half trusted when it repeats.
    context : number of features, at least 0, that the surroundings of a leaf are worth against its own. Where this
        and `link_discount` are 0, MapSST decides alone.
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
        """Importances and marks of the tree that pages are mapped on."""
        return self._ready().figures

    def content_words(self, page: Snapshot) -> list[str]:
        """Return the words of the kept texts in document order, locally noisy words left out."""
        used = self._ready()
        batch = page_batch(page)
        laid = self._read(batch, used.aliases)
        kept = np.flatnonzero(self.transform(page).kept & (page.kind == Kind.TEXT))
        found: list[str] = []
        for node, text in zip(kept.tolist(), page.strings.take(page.text[kept].tolist()), strict=True):
            words = fold(text).split()
            key = combine(laid.paths.path[laid.forest.owner[node]], word_features(words))
            row = used.tree.features.find(key)
            local = (row >= 0) & used.noise.feature[row]
            found += [word for word, noisy in zip(words, local.tolist(), strict=True) if not noisy]
        return found

    def facts(self) -> dict[str, int]:
        """Return the size of the tree that pages are mapped on and how many of its element nodes carry a mark."""
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
        laid = self._read(batch, None)
        found = occurrences(batch, laid.forest, laid.texts)
        contents = found if self.merge_similarity is not None else None
        units = laid.forest.page.astype(np.int64)
        return count_pages(laid, found, units=units, contents=contents, presence=self.presence)

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        used = self._ready()
        laid = self._read(batch, used.aliases)
        mapping = map_pages(
            used.tree, used.figures, laid.forest, laid.paths, threshold=used.threshold, siblings=self.siblings
        )
        return verdicts(
            laid,
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
        """Derive importances from the counts, once per state of counts and parameters."""
        key = (self.tree_, *sorted(self.get_params().items(), key=str))

        def make() -> Ready:
            self._check()
            tree, aliases = self.tree_, None
            if self.merge_similarity is not None:
                tree, aliases = merge_similar(
                    tree, frequency=self.merge_frequency, similarity=self.merge_similarity
                )
            if self.threshold is not None:
                threshold = float(self.threshold)  # numbers of numpy are written as those of Python
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
