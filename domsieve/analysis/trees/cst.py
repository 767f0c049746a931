"""Compressed structure tree: weights the words of a site's pages by where they stand (Yi, Liu; IJCAI 2003).

    paper                        here
    gamma, lambda                merge_frequency, merge_similarity
    virtual leaf tag nodes       leaf_height = 2: grandparents of leaf tag nodes
    W_E(a_i, T_j), (5)           `weigh_blocks`; summed over the leaf tag nodes of a page, `weigh`
    f_ij                         occurrences of the word in the tag node: its texts, alternative texts and titles

The tag nodes of all pages that fall on one element node are the unit of every figure: a page may have several. The
mask of `transform` is not in the paper, which weighs and never deletes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Batch, Ints
from domsieve.analysis.columns.tables import Table, grouped
from domsieve.analysis.estimator import Bounds
from domsieve.analysis.site_model import batches
from domsieve.analysis.trees.cst_blocks import Blocks, verdicts
from domsieve.analysis.trees.cst_importance import StructureImportances, structure_importances
from domsieve.analysis.trees.laid import Laid
from domsieve.analysis.trees.leaf_features import occurrences, word_features, word_names, word_occurrences
from domsieve.analysis.trees.merging import merge_similar
from domsieve.analysis.trees.paths import Runs, Siblings
from domsieve.analysis.trees.style_tree import StyleTree, count_pages
from domsieve.analysis.trees.tree_model import TreeModel
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot
from domsieve.vocabulary import StyleLevel

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix  # loaded by those who weigh


@dataclass(frozen=True, slots=True, eq=False)
class BlockWeights:
    """The weights of the words of B blocks, the leaf tag nodes of pages; T words in ascending order.

    Parameters
    ----------
    matrix : (B, T), blocks in order of page and document.
    page : int64 (B,), index of the page of each block.
    node : int64 (B,), node of that page that is the block: an element, or the first of texts that stand alone.
    """

    matrix: "csr_matrix"
    page: Ints
    node: Ints


@dataclass(frozen=True, slots=True, eq=False)
class _Ready:
    """What pages are weighed on; `words` has the ``column`` of each feature."""

    tree: StyleTree
    aliases: Table | None
    figures: StructureImportances
    words: Table

    def rows(self, blocks: Blocks, row: Ints, count: int) -> "csr_matrix":
        """Return `count` rows of a matrix; the words of each block add to its `row` (B,)."""
        from scipy.sparse import csr_matrix

        at = self.words.find(blocks.feature)
        known = np.flatnonzero((at >= 0) & (blocks.unit_weight > 0))
        cells = (row[blocks.block[known]], self.words.fixed["column"][at[known]])
        return csr_matrix((blocks.unit_weight[known], cells), (count, len(self.words)))

    def stacked(self, rows: "list[csr_matrix]") -> "csr_matrix":
        """Return all rows below each other."""
        from scipy.sparse import csr_matrix, vstack

        return csr_matrix(vstack([csr_matrix((0, len(self.words))), *rows], format="csr"))


class CompressedStructureTree(TreeModel):
    """Gives each word of each page of a site a weight: low in blocks that repeat, high in blocks that vary.

    Parameters
    ----------
    style : presentation style that tells element nodes apart; ``"auto"`` is ``"layout"`` for rendered pages and
        ``"html"`` for raw ones.
    runs : ``"exact"`` child sequences, or ``"collapse"`` repeats; all instances of a run are tag nodes of one
        element node.
    siblings : element nodes are told apart by the ``"style"`` of their parent and their position in it, or by
        ``"label"`` alone, which needs no merging.
    flatten_inline : unwrap inline markup and drop line breaks.
    leaf_height : elements at most this high are leaves, the blocks of the page.
    merge_similarity : lambda in (0, 1]; None leaves similar element nodes apart. Needs ``siblings="style"``.
    merge_frequency : gamma in (0, 1].
    merge_by : element nodes are compared by their ``"words"``, or by ``"all"`` features, links and images among them.
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
        """The tree that pages are weighed on: that of the counts with similar element nodes merged."""
        return self._ready().tree

    @property
    def figures_(self) -> StructureImportances:
        """Importances of the merged tree."""
        return self._ready().figures

    def get_feature_names_out(self, input_features: None = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the T words that were learned, ascending, as the columns of `weigh` are."""
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
        """Return the weights of the words of each page, shape (P, T), at least 0 (equation 5, summed over the page).

        Each page is looked at once, and none is kept: `pages` may be read from disk one by one. A place, or a word at
        a place, that no learned page has weighs as what stands on one page alone: PathImp = 1, H = 0. A word that was
        never learned has no column. Rows are not normalised, and a page all of whose words are common is a row of
        zeros.
        """
        used = self._ready()
        return used.stacked(
            [used.rows(blocks, blocks.page, len(batch.pages)) for batch, blocks in self._blocks(pages)]
        )

    def weigh_blocks(self, pages: Iterable[Snapshot]) -> BlockWeights:
        """Return the same block by block; blocks without words have no row."""
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
        laid = self._read(batch, None)
        forest, texts = laid.forest, laid.texts
        found = word_occurrences(batch, forest, texts)
        contents = None
        if self.merge_similarity is not None:
            contents = found if self.merge_by == "words" else occurrences(batch, forest, texts)
        return count_pages(
            laid,
            found,
            units=np.arange(forest.node.size),
            contents=contents,
            words=word_names(batch, forest, texts),
        )

    def _blocks(self, pages: Iterable[Snapshot]) -> Iterator[tuple[Batch, Blocks]]:
        for batch in batches(pages):
            with spending("weigh", batch.pages[0].provenance.url):
                blocks = self._laid(batch)[1]
            yield batch, blocks

    def _laid(self, batch: Batch) -> tuple[Laid, Blocks]:
        """Return the pages of a batch laid over the tree, and their blocks."""
        used = self._ready()
        laid = self._read(batch, used.aliases)
        found = word_occurrences(batch, laid.forest, laid.texts)
        return laid, Blocks.of(laid, found, tree=used.tree, figures=used.figures)

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        used = self._ready()
        return verdicts(
            *self._laid(batch),
            tree=used.tree,
            figures=used.figures,
            parameters={**self.scalars(), "style": self.style_, "pages": used.tree.pages},
        )

    def _ready(self) -> _Ready:
        """Derive importances from the counts, once per state of counts and parameters."""
        key = (self.tree_, *sorted(self.get_params().items(), key=str))

        def make() -> _Ready:
            self._check()
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
