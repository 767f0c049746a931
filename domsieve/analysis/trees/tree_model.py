"""What the models that lay the pages of a site over each other share: styles and paths (SST and CST)."""

from typing import Literal

from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.columns.tables import Table
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.forest import plant
from domsieve.analysis.trees.laid import Laid
from domsieve.analysis.trees.leaf_features import leaf_texts
from domsieve.analysis.trees.paths import Runs, Siblings, locate
from domsieve.analysis.trees.style_tree import StyleTree, merge_trees
from domsieve.errors import ModelError, UsageError
from domsieve.vocabulary import StyleLevel


def is_of_style(asked: StyleLevel | Literal["auto"], style: StyleLevel | None) -> bool:
    """Return whether trees of a style may come of the one that was `asked` for."""
    return style in {"html", "layout"} if asked == "auto" else style == asked


class TreeModel(SiteModel[StyleTree]):
    """A site model on the element nodes of its pages; parameters are those of the method."""

    counts = StyleTree
    joined = merge_trees

    style: StyleLevel | Literal["auto"]
    runs: Runs
    siblings: Siblings
    flatten_inline: bool
    leaf_height: int
    merge_similarity: float | None
    merge_frequency: float

    @property
    def tree_(self) -> StyleTree:
        """Counts over all pages learned so far."""
        return self.counts_

    def _check(self) -> None:
        super()._check()
        if self.merge_similarity is not None and self.siblings != "style":
            raise UsageError(
                f"{type(self).__name__}: merge_similarity is {self.merge_similarity}, which needs "
                'siblings="style"; it may be None.',
                parameter="merge_similarity",
            )

    def _learns(self, counts: StyleTree, style: StyleLevel | None) -> bool:
        return is_of_style(self.style, style) and (counts.contents is None) == (self.merge_similarity is None)

    def _read(self, batch: Batch, aliases: Table | None) -> Laid:
        level = self._style_of(batch)
        forest = plant(batch, level=level, flatten_inline=self.flatten_inline, leaf_height=self.leaf_height)
        paths = locate(forest, runs=self.runs, siblings=self.siblings, aliases=aliases)
        return Laid(batch, forest, paths, leaf_texts(batch, forest))

    def _style_of(self, batch: Batch) -> StyleLevel:
        layouts = {page.has_layout for page in batch.pages}
        level = self.style
        if level == "auto":
            level = "layout" if layouts == {True} else "html"
        if level in {"layout", "full"} and layouts == {False}:
            raise ModelError(
                f'Raw pages have no computed CSS for the style {level!r}; take "auto", "html" or "none".'
            )
        if len(layouts) > 1 or self.style_ not in {None, level}:
            raise ModelError(
                "A site model takes either rendered or raw pages: both have other styles. "
                "Learn and clean with pages of one kind."
            )
        return level
