"""The site style tree as additive tables, shared by SST and CST."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from domsieve.analysis.columns.batch import Batch, Bools, Ints
from domsieve.analysis.columns.hash import U64, combine, hash_of
from domsieve.analysis.columns.tables import (
    Grouping,
    Table,
    TableForm,
    check_known,
    grouped,
    grouping,
    merged,
    sorted_set,
    stretch_sums,
)
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees._alignment import ROOT, AlignedPages, Paths, Runs, Siblings, locate, step
from domsieve.analysis.trees._forest import Forest, Occurrences, build_forest, leaf_texts
from domsieve.errors import ModelError, ParameterError
from domsieve.types import StyleLevel

LOG_UNIT = 1 << 32
"""``f ln f`` is stored in units of 1/`LOG_UNIT`, so that sums are integers and do not depend on their order."""
REMAINDER = hash_of("r:")
"""The feature of a row that represents all features of a single page in a capped tree; see `capping`."""

_FORMS = {
    "elements": TableForm(
        {"parent": "<u8", "sequence": "<u8", "label": "<u8", "position": "<i4", "depth": "<i4"},
        ("units", "words", "link_words"),
    ),
    "styles": TableForm(
        {"path": "<u8", "sequence": "<u8", "leaf": "|b1"}, ("units", "weight"), ("path", "sequence")
    ),
    "members": TableForm({"style": "<u8", "path": "<u8"}, (), ("style", "path")),
    "features": TableForm(
        {"path": "<u8", "feature": "<u8"}, ("total", "log_total", "units"), ("path", "feature")
    ),
    "contents": TableForm({"path": "<u8", "feature": "<u8"}, ("units",), ("path", "feature")),
}


@dataclass(frozen=True, slots=True, eq=False)
class StyleTree:
    """Counts over the pages of a site, from which all importances are derived.

    Parameters
    ----------
    pages : number of pages.
    elements, styles, members, features : see the module.
    contents : the features below each element node; None unless element nodes are to be merged.
    words : the words behind the features, ascending; empty unless the method reports words (CST).
    """

    pages: int
    elements: Table
    styles: Table
    members: Table
    features: Table
    contents: Table | None
    words: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """Number of bytes in the tables."""
        tables = (self.elements, self.styles, self.members, self.features, self.contents)
        return sum(table.nbytes for table in tables if table is not None)

    def check(self) -> None:
        """Raise an error unless these are consistent counts of a tree.

        Raises
        ------
        ValueError, TypeError : they are not; the message names the table.
        """
        for name, form in _FORMS.items():
            if name != "contents" or self.contents is not None:
                form.check(name, getattr(self, name))
        elements, fixed = self.elements, self.elements.fixed
        is_root = fixed["depth"] == 0
        above = elements.find(fixed["parent"])
        inner = combine(combine(fixed["parent"], fixed["sequence"]), step(fixed["label"], fixed["position"]))
        is_known = np.where(is_root, fixed["parent"] == ROOT, above >= 0)
        if not is_known.all() or (elements.key != np.where(is_root, ROOT, inner)).any():
            raise ValueError("elements has rows without a parent")
        if (fixed["depth"] != np.where(is_root, 0, fixed["depth"][above] + 1)).any():
            raise ValueError("elements has a depth that does not match the parent's")
        check_known("members", self.members.fixed["style"], self.styles)
        for name in ("styles", "members", "features", "contents"):
            if (table := getattr(self, name)) is not None:
                check_known(name, table.fixed["path"], elements)
        if not all(isinstance(word, str) for word in self.words) or [*self.words] != sorted({*self.words}):
            raise ValueError("words are not sorted and unique")


def count_pages(
    aligned: AlignedPages,
    found: Occurrences,
    *,
    units: Ints,
    contents: Occurrences | None = None,
    presence: bool = False,
    words: Sequence[str] = (),
) -> StyleTree:
    """Return the style tree of the pages of one batch.

    Parameters
    ----------
    aligned : the pages.
    found : the features of the leaves.
    units : int64 (M,), the unit that each forest node counts for, at most M: its page for SST, itself for CST.
    contents : the features to compare internal element nodes by, which only merging needs. Counting them multiplies
        time and space by the depth of the tree.
    presence : count a feature once per unit instead of as often as it occurs.
    words : the words behind the features, ascending.
    """
    forest, paths, texts = aligned.forest, aligned.paths, aligned.texts
    path, bound = paths.path, forest.node.size
    above = np.maximum(forest.parent, 0)
    nodes = grouping(path)
    sample = nodes.sample
    elements = Table(
        nodes.key,
        {
            "parent": path[above[sample]],
            "sequence": paths.base[above[sample]],
            "label": forest.label[sample],
            "position": paths.position[sample].astype(np.int32),
            "depth": forest.depths()[sample],
        },
        {
            "units": _units(nodes, units, bound),
            "words": nodes.sum(texts.word_count),
            "link_words": nodes.sum(texts.link_word_count),
        },
    )
    style = combine(path, paths.style)
    forms = grouping(style)
    sample = forms.sample
    styles = Table(
        forms.key,
        {"path": path[sample], "sequence": paths.style[sample], "leaf": forest.leaf[sample]},
        {"units": _units(forms, units, bound), "weight": forms.sum(paths.weight)},
    )
    child = np.flatnonzero(forest.parent >= 0)
    holder = style[above[child]]
    members = grouped(combine(holder, path[child]), {"style": holder, "path": path[child]}, {})
    leaf = forest.owner[found.node]
    features = _count_features(path[leaf], found.feature, units[leaf], bound, presence=presence)
    below = None if contents is None else _count_contents(forest, paths, contents, units)
    return StyleTree(len(aligned.batch.pages), elements, styles, members, features, below, tuple(words))


def remainders(features: Table) -> Bools:
    """Return which of the F rows represent all features that a single page has at their element node."""
    return np.asarray(features.fixed["feature"] == REMAINDER)


def _units(groups: Grouping, units: Ints, bound: int) -> Ints:
    """Return the number of distinct `units`, which are below `bound`, in each group."""
    return np.diff(groups.cells(units, bound)[1])


def _count_features(path: U64, feature: U64, units: Ints, bound: int, *, presence: bool) -> Table:
    groups = grouping(combine(path, feature))
    f, first = groups.cells(units, bound)
    if presence:
        f = np.ones_like(f)
    counts = np.arange(1, int(f.max(initial=0)) + 1)
    logs = np.rint(counts * np.log(counts) * LOG_UNIT).astype(np.int64)
    return Table(
        groups.key,
        {"path": path[groups.sample], "feature": feature[groups.sample]},
        {
            "total": stretch_sums(f, first),
            "log_total": stretch_sums(logs[f - 1], first),
            "units": np.diff(first),
        },
    )


def _count_contents(forest: Forest, paths: Paths, found: Occurrences, units: Ints) -> Table:
    """Count the units in which each feature occurs below every element node, level by level."""
    nodes, features = grouping(paths.path), grouping(found.feature)
    # Element node, feature and unit are packed into one number, so that counting takes only sorting.
    feature_bits, unit_bits = features.key.size.bit_length(), int(units.max(initial=0) + 1).bit_length()
    cell = (forest.owner[found.node] << feature_bits) | features.code
    parts = [np.zeros(0, np.int64)]
    above = np.zeros(0, np.int64)
    for level in forest.levels[-2::-1].tolist():
        here = cell >= level << feature_bits
        above = sorted_set(np.concatenate((above, cell[here])))
        cell = cell[~here]
        parts.append(above)
        node = above >> feature_bits
        above = above + ((forest.parent[node] - node) << feature_bits)
    cell = np.concatenate(parts)
    node = cell >> feature_bits
    cell += (nodes.code[node] - node) << feature_bits
    cell = sorted_set((cell << unit_bits) | units[node]) >> unit_bits
    cells = grouping(cell.astype(np.uint64), nearly_sorted=True)
    cell, count = cells.key.astype(np.int64), np.diff(cells.first)
    path = nodes.key[cell >> feature_bits]
    feature = features.key[cell & ((1 << feature_bits) - 1)]
    return grouped(combine(path, feature), {"path": path, "feature": feature}, {"units": count})


def merge_trees(trees: Sequence[StyleTree]) -> StyleTree:
    """Return the sum of one or more style trees, with the same bytes for any order of the trees."""
    first = trees[0]
    tables: dict[str, Table | None] = {}
    for column in fields(StyleTree):
        whole = getattr(first, column.name)
        if column.name not in {"pages", "words"}:
            tables[column.name] = None if whole is None else merged([getattr(t, column.name) for t in trees])
    return StyleTree(
        pages=sum(tree.pages for tree in trees),
        words=tuple(sorted(set().union(*(tree.words for tree in trees)))),
        **tables,  # type: ignore[arg-type]
    )


def capped_tree(tree: StyleTree) -> StyleTree:
    """Return a tree in which each element node has only the number of the features that a single page has."""
    features = tree.features
    alone = (features.sums["units"] == 1) & ~remainders(features)
    feature = np.where(alone, REMAINDER, features.fixed["feature"])
    path = features.fixed["path"]
    key = np.where(alone, combine(path, feature), features.key)
    return replace(tree, features=grouped(key, {"path": path, "feature": feature}, features.sums))


def capped(model: SiteModel[Any]) -> SiteModel[Any]:
    """Return a smaller model with the same verdicts; see `capping`.

    Models without a style tree, and models that keep the names of their features (CST), are returned unchanged.

    Raises
    ------
    ModelError : the model has not learned any page.
    """
    if not isinstance(model.counts_, StyleTree) or model.counts_.words:
        return model
    smaller = type(model)(**model.get_params())
    smaller.restore(capped_tree(model.counts_), style=model.style_)
    return smaller


def is_capped(counts: object) -> bool:
    """Return whether these are the counts of a capped tree, which needs a newer file format."""
    return isinstance(counts, StyleTree) and bool(remainders(counts.features).any())


def is_of_style(parameter: StyleLevel | Literal["auto"], style: StyleLevel | None) -> bool:
    """Return whether a tree of this `style` can come from the value of the parameter ``style``."""
    return style in {"html", "layout"} if parameter == "auto" else style == parameter


class TreeModel(SiteModel[StyleTree]):
    """Base class of site models over the element nodes of pages."""

    counts = StyleTree
    joined = merge_trees
    schema_rules = MappingProxyType(
        {
            "if": {"properties": {"merge_similarity": {"type": "number"}}, "required": ["merge_similarity"]},
            "then": {"properties": {"siblings": {"const": "style"}}, "required": ["siblings"]},
        }
    )

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

    def check(self) -> None:
        """Check the values of all parameters, by themselves and together; see `Estimator.check`."""
        super().check()
        if self.merge_similarity is not None and self.siblings != "style":
            raise ParameterError(
                f"{type(self).__name__}: merge_similarity is {self.merge_similarity}, which needs "
                'siblings="style"; it may be None.',
                parameter="merge_similarity",
            )

    def _learns(self, counts: StyleTree, style: StyleLevel | None) -> bool:
        return is_of_style(self.style, style) and (counts.contents is None) == (self.merge_similarity is None)

    def _read(self, batch: Batch, aliases: Table | None) -> AlignedPages:
        level = self._style_of(batch)
        forest = build_forest(
            batch, level=level, flatten_inline=self.flatten_inline, leaf_height=self.leaf_height
        )
        paths = locate(forest, runs=self.runs, siblings=self.siblings, aliases=aliases)
        return AlignedPages(batch, forest, paths, leaf_texts(batch, forest))

    def _style_of(self, batch: Batch) -> StyleLevel:
        layouts = {page.has_layout for page in batch.pages}
        level = self.style
        if level == "auto":
            level = "layout" if layouts == {True} else "html"
        if level in {"layout", "full"} and layouts == {False}:
            raise ModelError(
                f'Raw pages have no computed CSS for the style {level!r}; use "auto", "html" or "none".'
            )
        both = len(layouts) > 1 and self.style not in {"html", "none"}
        if both or self.style_ not in {None, level}:
            raise ModelError(
                "A site model needs either rendered or raw pages, because their styles differ. "
                'Learn and clean with pages of one kind, or with the style "html" or "none".'
            )
        return level
