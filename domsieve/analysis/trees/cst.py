"""Compressed structure tree: weighs the words of a site's pages by their place (Yi, Liu; IJCAI 2003)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import F64, Batch, Ints
from domsieve.analysis.columns.hash import U64, combine
from domsieve.analysis.columns.tables import Table, grouped, stable_order
from domsieve.analysis.estimator import Bounds
from domsieve.analysis.site_model import batches, verdicts_of
from domsieve.analysis.trees._alignment import AlignedPages, Paths, Runs, Siblings, known_shares
from domsieve.analysis.trees._forest import (
    Forest,
    Occurrences,
    around,
    occurrences,
    spread,
    word_features,
    word_names,
    word_occurrences,
)
from domsieve.analysis.trees._importance import entropy, node_importance, unit_interval
from domsieve.analysis.trees._merging import merge_similar
from domsieve.analysis.trees.style_tree import LOG_UNIT, StyleTree, TreeModel, count_pages
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.snapshot.page import Scalar, Snapshot
from domsieve.types import StyleLevel

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, slots=True, eq=False)
class StructureImportances:
    """Importances of the E element nodes and entropies of the F feature rows of a tree, all in [0, 1].

    Parameters
    ----------
    node, path : float64 (E,), NodeImp and PathImp.
    leaf_node, leaf_path : float64 (E,), the same for the leaf form; NaN if no page has one. If a node also has
        internal forms, its leaf form counts as a virtual child.
    feature : float64 (F,), H_E(a).
    """

    node: F64
    path: F64
    leaf_node: F64
    leaf_path: F64
    feature: F64


def structure_importances(tree: StyleTree) -> StructureImportances:
    """Return the importances of a tree whose units are tag nodes, in O(rows of the tables)."""
    elements, styles, features = tree.elements, tree.styles, tree.features
    m = elements.sums["units"].astype(np.float64)
    owner = elements.find(styles.fixed["path"])
    of_leaf = styles.fixed["leaf"]
    node = node_importance(styles.sums["units"].astype(np.float64), m, owner, m)

    leaf_m = np.zeros(m.size)
    leaf_m[owner[of_leaf]] = styles.sums["units"][of_leaf]
    row = elements.find(features.fixed["path"])
    total = features.sums["total"].astype(np.float64)
    h = entropy(total, features.sums["log_total"] / LOG_UNIT, leaf_m[row])
    count = np.bincount(row, minlength=m.size)
    # A leaf that never has a word is unimportant, unless it is on one tag node only.
    mean = np.bincount(row, 1 - h, m.size) / np.maximum(count, 1)
    leaf_node = np.where(leaf_m > 1, unit_interval(mean), 1.0)
    leaf_node[leaf_m == 0] = np.nan
    only_leaf = np.bincount(owner, ~of_leaf, m.size) == 0
    node[only_leaf] = leaf_node[only_leaf]

    path = path_importance(tree, node)
    leaf_path = np.where(only_leaf, path, unit_interval(1 - (1 - path) * (1 - leaf_node)))
    return StructureImportances(node, path, leaf_node, leaf_path, h)


def path_importance(tree: StyleTree, node: F64) -> F64:
    """Return PathImp of the E element nodes (equation 4).

    Parameters
    ----------
    node : (E,), their NodeImp.
    """
    elements = tree.elements
    rest = 1 - node  # Q, the product of 1 - NodeImp from the root down
    above = elements.find(elements.fixed["parent"])
    depth = elements.fixed["depth"]
    by_depth = stable_order(depth)
    for a, b in pairwise(np.cumsum(np.bincount(depth)).tolist()):
        rows = by_depth[a:b]
        rest[rows] *= rest[above[rows]]
    return unit_interval(1 - rest)


_EVENLY = 1e-9  # rounding errors of 1 - H, see `word_weight`
HIDDEN, LIGHT, HEAVY, WORDLESS, ABOVE = range(5)
REASONS = (
    "not visible",
    "weighs no more than most of the page",
    "weighs more than most of the page",
    "holds no words",
    "stands above kept content",
)


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The B blocks of a batch that have words, in document order, and the C occurrences of words in them.

    Parameters
    ----------
    leaf, node, page : int64 (B,), the block's leaf in the forest, its node in the batch and its page in the batch.
    frequency : int64 (B,), number of words, counting repeated words each time.
    weight, entropy : float64 (B,), sums over the words of the block.
    block, feature, unit_weight : (C,), block, hash and weight (W / f) of each occurrence of a word.
    """

    leaf: Ints
    node: Ints
    page: Ints
    frequency: Ints
    weight: F64
    entropy: F64
    block: Ints
    feature: U64
    unit_weight: F64

    @classmethod
    def of(
        cls, aligned: AlignedPages, found: Occurrences, *, tree: StyleTree, figures: StructureImportances
    ) -> "Blocks":
        """Return the blocks of aligned pages, from the occurrences of their words."""
        forest, paths = aligned.forest, aligned.paths
        leaf = forest.owner[found.node]
        number = np.bincount(leaf, minlength=forest.leaf.size)
        filled = np.flatnonzero(number)
        filled = filled[np.argsort(forest.node[filled], kind="stable")]
        rank = np.empty(number.size, np.int64)
        rank[filled] = np.arange(filled.size)
        block = rank[leaf]
        row = tree.features.find(combine(paths.path[leaf], found.feature))
        h = np.append(figures.feature, 0.0)[row]  # row -1, a feature that is new here, counts as unique
        weight = word_weight(leaf_path(forest, paths, tree, figures)[leaf], h)
        return cls(
            leaf=filled,
            node=forest.node[filled],
            page=forest.page[filled].astype(np.int64),
            frequency=number[filled],
            weight=np.bincount(block, weight, filled.size).astype(np.float64),
            entropy=np.bincount(block, h, filled.size).astype(np.float64),
            block=block,
            feature=found.feature,
            unit_weight=weight,
        )


def word_weight(path: F64, h: F64) -> F64:
    """Return W / f, the weight of one occurrence of a word (equation 5).

    Parameters
    ----------
    path : PathImp of the leaf of each occurrence.
    h : H of the word there.
    """
    # H comes from sums in units of 2**-32, so the H of an evenly spread word may differ from 1 by a few 1e-10.
    return np.where(1 - h < _EVENLY, 0.0, path * (1 - h))


def leaf_path(forest: Forest, paths: Paths, tree: StyleTree, figures: StructureImportances) -> F64:
    """Return PathImp of each of the M forest nodes, of its leaf form if it is a leaf; 1 for unknown places."""
    row = tree.elements.find(paths.path)
    value = np.where(forest.leaf, figures.leaf_path[row], figures.path[row])
    return np.where((row < 0) | np.isnan(value), 1.0, value)


def verdicts(
    aligned: AlignedPages,
    blocks: Blocks,
    *,
    tree: StyleTree,
    figures: StructureImportances,
    parameters: dict[str, Scalar],
) -> list[Verdict]:
    """Return one verdict per page; the score of a block is weight over (frequency * maximum of the page).

    The threshold of a page is the median of the scores of its blocks or, if that is 1, the highest score below 1.
    """
    batch, forest, paths = aligned.batch, aligned.forest, aligned.paths
    mean = blocks.weight / blocks.frequency
    kept, score = np.zeros(mean.size, np.bool_), np.zeros(mean.size)
    thresholds: list[float | None] = [None] * len(batch.pages)
    cuts = np.searchsorted(blocks.page, np.arange(len(batch.pages) + 1))
    for page, (a, b) in enumerate(pairwise(cuts.tolist())):
        if a < b and (most := float(mean[a:b].max())) > 0:
            # Rounded as in the verdict, so that the scores there agree with the threshold.
            score[a:b] = (mean[a:b] / most).astype(np.float32)
            limit = float(np.median(score[a:b]))
            if limit == 1:
                limit = float(score[a:b][score[a:b] < 1].max(initial=0))
            kept[a:b] = score[a:b] > limit
            thresholds[page] = limit
    place, size = forest.places(), forest.leaf.size

    def of_leaves(values: NDArray[np.generic], default: float) -> NDArray[np.float64]:
        column = np.full(size, default, np.float64)
        column[blocks.leaf] = values
        return column

    reason = np.where(forest.leaf, of_leaves(np.where(kept, HEAVY, LIGHT), WORDLESS), WORDLESS)
    reasons = spread(reason, place, WORDLESS, np.uint8)
    reasons[~forest.shown] = HIDDEN
    whole, above = around(batch, forest, (reasons == HEAVY) & (forest.owner >= 0), reasons == WORDLESS)
    reasons[above] = ABOVE
    scores = spread(of_leaves(score, 0), place, 0, np.float32)
    scores[~forest.shown] = 0
    row = tree.elements.find(paths.path)
    node = np.where(forest.leaf, figures.leaf_node[row], figures.node[row])
    numbers = {
        "node_importance": np.where((row < 0) | np.isnan(node), 1.0, node),
        "path_importance": leaf_path(forest, paths, tree, figures),
        "entropy": of_leaves(blocks.entropy / blocks.frequency, np.nan),
        "weight": of_leaves(blocks.weight, np.nan),
    }
    columns = {name: spread(values, place, np.nan, np.float32) for name, values in numbers.items()}
    return verdicts_of(
        batch,
        "cst",
        kept=whole,
        score=scores,
        reason=reasons,
        reasons=REASONS,
        numbers=columns,
        parameters=parameters,
        known_shares=known_shares(aligned, row >= 0),
        threshold=thresholds,
    )


@dataclass(frozen=True, slots=True, eq=False)
class BlockWeights:
    """The weights of T words in B blocks, which are the leaf tag nodes of pages.

    Parameters
    ----------
    matrix : (B, T), blocks by page and document order, words in ascending order.
    page : int64 (B,), index of each block's page.
    node : int64 (B,), the block's node in that page: an element, or the first text of a run without its own element.
    """

    matrix: "csr_matrix"
    page: Ints
    node: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Ready:
    """The merged tree with its importances; `words` has the ``column`` of each feature in the matrix."""

    tree: StyleTree
    aliases: Table | None
    figures: StructureImportances
    words: Table

    def rows(self, blocks: Blocks, row: Ints, count: int) -> "csr_matrix":
        """Return a matrix of `count` rows, in which the weights of each block are added to its `row` (B,)."""
        from scipy.sparse import csr_matrix

        at = self.words.find(blocks.feature)
        known = np.flatnonzero((at >= 0) & (blocks.unit_weight > 0))
        cells = (row[blocks.block[known]], self.words.fixed["column"][at[known]])
        return csr_matrix((blocks.unit_weight[known], cells), (count, len(self.words)))

    def stacked(self, rows: "list[csr_matrix]") -> "csr_matrix":
        """Return one matrix with all rows."""
        from scipy.sparse import csr_matrix, vstack

        return csr_matrix(vstack([csr_matrix((0, len(self.words))), *rows], format="csr"))


class CompressedStructureTree(TreeModel):
    """Compressed structure tree (CST): weights words low in blocks that repeat and high in blocks that vary.

    `transform` keeps the blocks with the highest weights; `weigh` returns the weights as a matrix.

    Parameters
    ----------
    style : presentation style that two element nodes must share to be equal; ``"auto"`` is ``"layout"`` for rendered
        pages and ``"html"`` for raw ones.
    runs : how repeated siblings are aligned: ``"exact"`` needs equal child sequences, ``"collapse"`` treats repeats
        as one element node with several tag nodes.
    siblings : what identifies an element node: the ``"style"`` of its parent and its position there, or its
        ``"label"`` alone, which makes merging unnecessary.
    flatten_inline : unwrap inline markup and drop line breaks.
    leaf_height : elements up to this height are leaves, the blocks of the page; at least 0.
    merge_similarity : merge element nodes whose characteristic features overlap by at least this share (lambda), in
        (0, 1]; None for no merging. Needs ``siblings="style"``.
    merge_frequency : share of tag nodes in which a characteristic feature occurs (gamma), in (0, 1].
    merge_by : compare element nodes by their ``"words"``, or by ``"all"`` features, including links and images.
    """

    name = "cst"
    paper = MappingProxyType(
        {"runs": "exact", "siblings": "style", "flatten_inline": False, "merge_similarity": 0.85}
    )

    def __init__(
        self,
        *,
        style: StyleLevel | Literal["auto"] = "auto",
        runs: Runs = "collapse",
        siblings: Siblings = "label",
        flatten_inline: bool = True,
        leaf_height: Annotated[int, Bounds(0)] = 2,
        merge_similarity: Annotated[float, Bounds(0, 1, above=True)] | None = None,
        merge_frequency: Annotated[float, Bounds(0, 1, above=True)] = 0.85,
        merge_by: Literal["words", "all"] = "words",
    ) -> None:
        self.style = style
        self.runs = runs
        self.siblings = siblings
        self.flatten_inline = flatten_inline
        self.leaf_height = leaf_height
        self.merge_similarity = merge_similarity
        self.merge_frequency = merge_frequency
        self.merge_by = merge_by

    @property
    def merged_tree_(self) -> StyleTree:
        """The learned tree after similar element nodes were merged."""
        return self._ready().tree

    @property
    def figures_(self) -> StructureImportances:
        """Importances of the merged tree."""
        return self._ready().figures

    def get_feature_names_out(self, input_features: None = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the T learned words in ascending order: the columns of `weigh`."""
        return np.array(self.tree_.words, object)

    def facts(self) -> dict[str, int]:
        """Return the size of the merged tree and the number of words."""
        tree = self.merged_tree_
        return {
            "element_nodes": len(tree.elements),
            "tag_nodes": int(tree.elements.sums["units"].sum()),
            "features": len(tree.features),
            "words": len(tree.words),
        }

    def weigh(self, pages: Iterable[Snapshot]) -> "csr_matrix":
        """Return the weight of each word on each page (equation 5, summed over the page).

        A place, or a word at a place, that was not learned counts as unique: PathImp = 1, H = 0. Words that were not
        learned have no column. Rows are not normalised; a page with only common words is a row of zeros.

        Parameters
        ----------
        pages : any iterable; pages are processed one by one and not kept, so they may be read from disk lazily.

        Returns
        -------
        (P, T), at least 0.

        Raises
        ------
        ModelError : nothing was learned, or pages of another kind (rendered or raw).
        UsageError : a parameter has an invalid value.
        """
        used = self._ready()
        return used.stacked(
            [used.rows(blocks, blocks.page, len(batch.pages)) for batch, blocks in self._blocks(pages)]
        )

    def weigh_blocks(self, pages: Iterable[Snapshot]) -> BlockWeights:
        """Return the weights of `weigh` block by block; blocks without words have no row."""
        used = self._ready()
        rows: list[csr_matrix] = []
        page, node, before = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
        for batch, blocks in self._blocks(pages):
            rows.append(used.rows(blocks, np.arange(blocks.node.size), blocks.node.size))
            page.append(blocks.page + before)
            node.append(blocks.node - batch.first[blocks.page])
            before += len(batch.pages)
        return BlockWeights(used.stacked(rows), np.concatenate(page), np.concatenate(node))

    def _count(self, batch: Batch) -> StyleTree:
        self.style_ = self._style_of(batch)
        aligned = self._read(batch, None)
        forest, texts = aligned.forest, aligned.texts
        words = word_occurrences(batch, forest, texts)
        contents = None
        if self.merge_similarity is not None:
            contents = words if self.merge_by == "words" else occurrences(batch, forest, texts)
        return count_pages(
            aligned,
            words,
            units=np.arange(forest.node.size),
            contents=contents,
            words=word_names(batch, forest, texts),
        )

    def _blocks(self, pages: Iterable[Snapshot]) -> Iterator[tuple[Batch, Blocks]]:
        for batch in batches(pages):
            with spending("vectorize", batch.pages[0].provenance.url):
                blocks = self._aligned(batch)[1]
            yield batch, blocks

    def _aligned(self, batch: Batch) -> tuple[AlignedPages, Blocks]:
        """Return the pages of a batch aligned with the tree, and their blocks."""
        used = self._ready()
        aligned = self._read(batch, used.aliases)
        words = word_occurrences(batch, aligned.forest, aligned.texts)
        return aligned, Blocks.of(aligned, words, tree=used.tree, figures=used.figures)

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        used = self._ready()
        return verdicts(
            *self._aligned(batch),
            tree=used.tree,
            figures=used.figures,
            parameters={**self.scalars(), "style": self.style_, "pages": used.tree.pages},
        )

    def _ready(self) -> _Ready:
        """Return the merged tree and its importances; computed again only if counts or parameters have changed."""
        key = (self.tree_, *sorted(self.get_params().items(), key=str))

        def make() -> _Ready:
            self.check()
            tree, aliases = self.tree_, None
            if self.merge_similarity is not None:
                tree, aliases = merge_similar(
                    tree,
                    frequency=self.merge_frequency,
                    similarity=self.merge_similarity,
                    within_styles=True,
                )
            words = grouped(word_features(tree.words), {"column": np.arange(len(tree.words))}, {})
            return _Ready(tree, aliases, structure_importances(tree), words)

        return self._derived(key, make)
