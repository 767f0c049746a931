"""Site style tree: learns what repeats over the pages of one site, and cleans them (Yi, Liu, Li; KDD 2003).

    paper                           here
    t                               threshold
    g                               attenuation
    gamma, lambda (5.6.1)           merge_frequency, merge_similarity
    epsilon (5.6.3)                 local_noise
    virtual leaf tag nodes (5.6.2)  leaf_height

Two named modes share all code. ``paper`` reproduces the paper. ``site`` is for today's sites: runs of equal siblings
collapse, element nodes are aligned by label instead of splitting with every optional sibling, inline markup is
unwrapped, what few pages share counts as little evidence, the importance of a leaf is discounted by the share of
words that stand in links, and short leaves are read in the light of what stands around them. The last three are
ours: posts found under several addresses repeat, and teasers of other articles differ from page to page, so entropy
alone takes the first for noise and the second for content.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, overload

import numpy as np
from sklearn.base import BaseEstimator

from analysis._columns.batch import Batch
from analysis._columns.hash import combine
from analysis._columns.styles import StyleLevel
from analysis._columns.tables import Table
from analysis._columns.words import fold
from analysis._trees.features import LeafTexts, leaf_texts, occurrences, word_features
from analysis._trees.forest import Forest, plant
from analysis._trees.importance import Importances, importances
from analysis._trees.mapping import map_pages
from analysis._trees.merging import merge_similar
from analysis._trees.paths import Paths, Runs, Siblings, locate
from analysis._trees.sst_verdict import LocalNoise, verdicts
from analysis._trees.style_tree import StyleTree, count_pages, merge_trees
from analysis._verdict import Verdict
from snapshot import Kind, ModelError, Snapshot

Mode = Literal["site", "paper"]
_PAPER = {
    "runs": "exact",
    "siblings": "style",
    "flatten_inline": False,
    "merge_similarity": 0.85,
    "link_discount": 0.0,
    "rare_share": 0.0,
    "context": 0.0,
    "threshold": 0.2,
}
# t = -ln(share) / ln m; on fewer than ten pages importances of content are too coarse for more than a half.
_LOG_SHARE = 0.2 * math.log(500)
_HIGHEST_THRESHOLD = 0.5
_NODES_PER_BATCH = 60_000


@dataclass(frozen=True, slots=True, eq=False)
class _Ready:
    """What pages are mapped on, and the parameters it was derived with."""

    key: tuple[Any, ...]
    tree: StyleTree
    aliases: Table | None
    threshold: float
    figures: Importances
    noise: LocalNoise


class SiteStyleTree(BaseEstimator):  # type: ignore[misc]
    """Keeps of each page of a site what varies over the site; learns that from the site's own pages.

    Parameters
    ----------
    style : presentation style that tells element nodes apart; ``"auto"`` is ``"layout"`` for rendered pages and
        ``"html"`` for raw ones.
    threshold : t in [0, 1]; a node of at most this importance is noise. A feature on x of m pages has importance
        1 - log_m x, so one t means other shares of the pages on small sites than on large ones (section 9.3).
        None keeps the share at 29 %, which is t = 0.2 on 500 pages.
    attenuation : g in (0, 1), weight of the descendants against the node's own styles.
    runs : ``"exact"`` child sequences, or ``"collapse"`` repeats (section 9.11).
    siblings : element nodes are told apart by the ``"style"`` node around them, or by ``"label"``.
    flatten_inline : unwrap inline markup and drop line breaks (section 8.4).
    leaf_height : elements at most this high are leaves (section 8.3).
    merge_similarity : lambda in (0, 1]; None leaves similar element nodes apart. Needs ``siblings="style"``.
    merge_frequency : gamma in (0, 1].
    local_noise : epsilon in [0, 1]; texts of content whose words all have 1 - H < epsilon are dropped.
    presence : count a feature once per page instead of as often as it occurs (section 9.7).
    link_discount : in [0, 1], how far the share of linked words lowers the importance of a leaf.
    rare_share : in [0, 1], share of all pages on which a leaf must stand to be half trusted when it repeats.
    context : number of features, at least 0, that the surroundings of a leaf are worth against its own. Where this
        and `link_discount` are 0, MapSST decides alone.
    """

    def __init__(
        self,
        *,
        style: StyleLevel | Literal["auto"] = "auto",
        threshold: float | None = None,
        attenuation: float = 0.9,
        runs: Runs = "collapse",
        siblings: Siblings = "label",
        flatten_inline: bool = True,
        leaf_height: int = 1,
        merge_similarity: float | None = None,
        merge_frequency: float = 0.85,
        local_noise: float = 0.01,
        presence: bool = False,
        link_discount: float = 1.0,
        rare_share: float = 0.02,
        context: float = 8.0,
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
        self.rare_share = rare_share
        self.context = context

    @classmethod
    def of_mode(cls, mode: Mode, **changes: Any) -> Self:
        """Return an estimator with the published parameters (``"paper"``) or ours (``"site"``), some changed."""
        return cls(**{**(_PAPER if mode == "paper" else {}), **changes})

    def fit(self, pages: Iterable[Snapshot], y: None = None) -> Self:  # noqa: ARG002
        """Learn the site from its pages alone, forgetting what was learned before."""
        self._parts: list[StyleTree] = []
        self.style_: StyleLevel | None = None
        return self.partial_fit(pages)

    def partial_fit(self, pages: Iterable[Snapshot], y: None = None) -> Self:  # noqa: ARG002
        """Learn further pages; what is known in the end depends neither on their order nor on their grouping.

        Raises
        ------
        ModelError : rendered and raw pages are mixed, or a parameter is out of range.
        """
        self._check()
        if not hasattr(self, "_parts"):
            self._parts, self.style_ = [], None
        for batch in _batches(pages):
            self.style_ = self._style_of(batch)
            forest, paths, texts = self._read(batch, None)
            found = occurrences(batch, forest, texts)
            merging = self.merge_similarity is not None
            self._add(
                count_pages(batch, forest, paths, texts, found, contents=merging, presence=self.presence)
            )
        return self

    def merge(self, other: Self) -> Self:
        """Take over all that `other` has learned of the same site.

        Raises
        ------
        ModelError : the two differ in parameters or in style, or `other` has learned nothing.
        """
        mine = getattr(self, "style_", None)
        if self.get_params() != other.get_params() or (mine or other.style_) != other.style_:
            raise ModelError("Only site models of equal parameters and styles merge; learn one of them anew.")
        tree = other.tree_
        if not hasattr(self, "_parts"):
            self._parts = []
        self.style_ = other.style_
        self._add(tree)
        return self

    def restore(self, tree: StyleTree, *, style: StyleLevel) -> None:
        """Take `tree` for all that was learned, as when a model is read from disk."""
        self._parts, self.style_ = [tree], style

    @property
    def learned(self) -> int:
        """Number of pages learned so far."""
        return sum(part.pages for part in getattr(self, "_parts", ()))

    @property
    def tree_(self) -> StyleTree:
        """Counts over all pages learned so far."""
        if not getattr(self, "_parts", None):
            raise ModelError("The site model has learned no page yet; call fit or partial_fit first.")
        if len(self._parts) > 1:
            self._parts = [merge_trees(self._parts)]
        return self._parts[0]

    @property
    def figures_(self) -> Importances:
        """Importances and marks of the tree that pages are mapped on."""
        return self._ready().figures

    @overload
    def transform(self, pages: Snapshot) -> Verdict: ...
    @overload
    def transform(self, pages: Sequence[Snapshot]) -> list[Verdict]: ...
    def transform(self, pages: Snapshot | Sequence[Snapshot]) -> Verdict | list[Verdict]:
        """Return the verdict on one page, or one verdict per page of a sequence; changes nothing learned."""
        if isinstance(pages, Snapshot):
            return self.transform([pages])[0]
        used = self._ready()
        parameters = {
            **self.get_params(),
            "style": self.style_,
            "threshold": used.threshold,
            "pages": used.tree.pages,
        }
        found: list[Verdict] = []
        for batch in _batches(pages):
            self._style_of(batch)
            forest, paths, texts = self._read(batch, used.aliases)
            mapping = map_pages(
                used.tree, used.figures, forest, paths, threshold=used.threshold, siblings=self.siblings
            )
            found += verdicts(
                batch,
                forest,
                paths,
                texts,
                mapping,
                tree=used.tree,
                figures=used.figures,
                noise=used.noise,
                threshold=used.threshold,
                link_discount=self.link_discount,
                context=self.context,
                parameters=parameters,
            )
        return found

    def content_words(self, page: Snapshot) -> list[str]:
        """Return the words of the kept texts in document order, locally noisy words left out (section 5.6.3)."""
        used = self._ready()
        batch = Batch.of([page])
        forest, paths, _ = self._read(batch, used.aliases)
        kept = np.flatnonzero(self.transform(page).kept & (page.kind == Kind.TEXT))
        found: list[str] = []
        for node, text in zip(kept.tolist(), page.strings.take(page.text[kept].tolist()), strict=True):
            words = fold(text).split()
            key = combine(paths.path[forest.owner[node]], word_features(words))
            row = used.tree.features.find(key)
            local = (row >= 0) & used.noise.feature[row]
            found += [word for word, noisy in zip(words, local.tolist(), strict=True) if not noisy]
        return found

    def _read(self, batch: Batch, aliases: Table | None) -> tuple[Forest, Paths, LeafTexts]:
        assert self.style_ is not None
        forest = plant(
            batch, level=self.style_, flatten_inline=self.flatten_inline, leaf_height=self.leaf_height
        )
        paths = locate(forest, runs=self.runs, siblings=self.siblings, aliases=aliases)
        return forest, paths, leaf_texts(batch, forest)

    def _ready(self) -> _Ready:
        """Derive importances from the counts, once per state of counts and parameters."""
        tree = self.tree_
        key = (tree, *sorted(self.get_params().items(), key=str))
        used: _Ready | None = getattr(self, "_used", None)
        if used is None or used.key != key:
            aliases = None
            if self.merge_similarity is not None:
                tree, aliases = merge_similar(
                    tree, frequency=self.merge_frequency, similarity=self.merge_similarity
                )
            threshold = self.threshold
            if threshold is None:
                threshold = min(_LOG_SHARE / math.log(max(tree.pages, 2)), _HIGHEST_THRESHOLD)
            figures = importances(
                tree, attenuation=self.attenuation, threshold=threshold, rare_share=self.rare_share
            )
            noise = LocalNoise.of(tree, figures, self.local_noise)
            self._used = used = _Ready(key, tree, aliases, threshold, figures, noise)
        return used

    def _add(self, tree: StyleTree) -> None:
        self._parts.append(tree)
        # Parts of like size merge, so that every row is sorted a logarithmic number of times.
        while len(self._parts) > 1 and self._parts[-2].nbytes < 2 * self._parts[-1].nbytes:
            self._parts[-2:] = [merge_trees(self._parts[-2:])]

    def _style_of(self, batch: Batch) -> StyleLevel:
        layouts = {page.has_layout for page in batch.pages}
        level = self.style
        if level == "auto":
            level = "layout" if layouts == {True} else "html"
        wrong = level in {"layout", "full"} and layouts != {True}
        if wrong or len(layouts) > 1 or getattr(self, "style_", None) not in {None, level}:
            raise ModelError(
                "A site model takes either rendered or raw pages: both have other styles. "
                "Learn and clean with pages of one kind."
            )
        return level

    def _check(self) -> None:
        for name in (
            "threshold",
            "attenuation",
            "merge_frequency",
            "local_noise",
            "link_discount",
            "rare_share",
        ):
            if not 0 <= (getattr(self, name) or 0) <= 1:
                raise ModelError(f"Parameter {name} is {getattr(self, name)}; it must lie between 0 and 1.")
        if not 0 <= self.context < math.inf:
            raise ModelError(
                f"Parameter context is {self.context}; it must be a number of features, at least 0."
            )
        if self.merge_similarity is not None and self.siblings != "style":
            raise ModelError('Parameter merge_similarity needs siblings="style"; set it to None.')


def _batches(pages: Iterable[Snapshot]) -> Iterator[Batch]:
    """Cut pages into batches large enough that calls cost little, small enough to stay in the caches."""
    held: list[Snapshot] = []
    nodes = 0
    for page in pages:
        held.append(page)
        nodes += len(page)
        if nodes >= _NODES_PER_BATCH:
            yield Batch.of(held)
            held, nodes = [], 0
    if held:
        yield Batch.of(held)
