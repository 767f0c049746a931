"""Matrices of word weights, site by site, in two passes; pages are read when they are needed."""

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.registry import MIN_SITE_PAGES, SITE_METHODS, MethodParams, check_fixed
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.cst import BlockWeights, CompressedStructureTree
from domsieve.analysis.writers.matrix import (
    FeatureMatrix,
    matrix_names,
    matrix_npz,
    matrix_parquet,
    matrix_svmlight,
)
from domsieve.errors import DomsieveError, PageError, UsageError
from domsieve.files import write_file
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.output import OUTPUT_FILE
from domsieve.tasks.pages import Page
from domsieve.tasks.site_learning import Failed, batches, fit, in_parts, snapshots
from domsieve.tasks.sites import once

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix  # loaded by those who weigh

logger = logging.getLogger("domsieve")

_DEFAULTS = MethodParams()

MatrixFormat = Literal["npz", "svmlight", "parquet"]

MATRIX_WRITERS: Mapping[MatrixFormat, Callable[[FeatureMatrix], bytes]] = {
    "npz": matrix_npz,
    "svmlight": matrix_svmlight,
    "parquet": matrix_parquet,
}


def vectorize(
    pages: Sequence[Page],
    *,
    params: MethodParams = _DEFAULTS,
    model: SiteModel[Any] | None = None,
    per_block: bool = False,
    failed: Failed,
) -> FeatureMatrix:
    """Return the weights of the words of each page or block; rows are in the order of `pages`.

    The columns are the words of all sites.

    Parameters
    ----------
    params : the mode and the parameters of the compressed structure tree.
    model : a compressed structure tree; without one, a tree is learned for each site.
    per_block : whether to make one row for each block with words instead of one for each page.
    failed : called for each page that cannot be read; it gets no row.

    Raises
    ------
    UsageError : the model is one of another method, or a parameter is wrong or fixed by the model.
    PageError : no page could be read.
    """
    if not (model is None or isinstance(model, CompressedStructureTree)):
        raise UsageError(f"Matrices need a model of the method cst; this one is for the method {model.name}.")
    SITE_METHODS["cst"].check(params)
    if model is not None:
        check_fixed(params)

    parts: list[csr_matrix] = []
    words: list[tuple[str, ...]] = []
    read_pages = 0
    rows, nodes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    by_site = sorted(range(len(pages)), key=lambda number: pages[number].site)
    for _, group in groupby(by_site, key=lambda number: pages[number].site):
        number_of = {id(pages[number]): number for number in group}
        members = [pages[number] for number in number_of.values()]
        tree = model
        if tree is None:
            tree = CompressedStructureTree.of_mode(params.mode, **params.given)
            lost: set[int] = set()
            fit(tree, once(members, lambda page: page.keys), _also(failed, lost))
            members = [page for page in members if id(page) not in lost]
            if 0 < tree.learned < MIN_SITE_PAGES:
                logger.warning("%s: only %d page(s) to compare words with.", members[0].site, tree.learned)
        if not tree.learned:
            continue
        weigh_some: Callable[[list[Snapshot]], BlockWeights | csr_matrix]
        weigh_some = tree.weigh_blocks if per_block else tree.weigh
        for held in batches(snapshots(members, failed)):
            for some, weighed in in_parts(held, weigh_some, "vectorize", failed):
                done = np.array([number_of[id(page)] for page, _ in some], np.int64)
                if isinstance(weighed, BlockWeights):
                    parts.append(weighed.matrix)
                    rows.append(done[weighed.page])
                    nodes.append(weighed.node)
                else:
                    parts.append(weighed)
                    rows.append(done)
                words.append(tree.tree_.words)
                read_pages += done.size
    row = np.concatenate(rows)
    if not read_pages:
        raise PageError("None of the pages could be read, so there is nothing to vectorize.")
    order = np.argsort(row, kind="stable")
    features = tuple(sorted(set().union(*words)))
    column_of = {word: column for column, word in enumerate(features)}
    places = {known: np.array([column_of[word] for word in known], np.int64) for known in set(words)}
    columns = [places[known] for known in words]
    return FeatureMatrix(
        _stacked(parts, columns, len(features))[order],
        features,
        tuple(pages[number].label for number in row[order].tolist()),
        np.concatenate(nodes)[order] if per_block else None,
    )


def write_matrix(weights: FeatureMatrix, path: Path, *, form: MatrixFormat) -> list[Path]:
    """Write a matrix to a file and return the files written.

    Formats without room for the names of rows and columns get a second file, which ends in ``.names.json``.

    Raises
    ------
    StorageError : a file cannot be written.
    """
    write_file(path, MATRIX_WRITERS[form](weights), what=OUTPUT_FILE)
    if form == "parquet":
        return [path]
    names = path.with_name(path.name + ".names.json")
    write_file(names, matrix_names(weights).encode(), what=OUTPUT_FILE)
    return [path, names]


def _also(failed: Failed, lost: set[int]) -> Failed:
    """Return a function that calls `failed` and also adds the identity of the page to `lost`."""

    def tell(page: Page, error: DomsieveError) -> None:
        lost.add(id(page))
        failed(page, error)

    return tell


def _stacked(
    parts: "Sequence[csr_matrix]", places: Sequence[NDArray[np.int64]], columns: int
) -> "csr_matrix":
    """Return the matrices stacked, with their columns at `places`, which ascend, of `columns` columns."""
    from scipy.sparse import csr_matrix, vstack

    spread = [
        csr_matrix((part.data, place[part.indices], part.indptr), (part.shape[0], columns))
        for part, place in zip(parts, places, strict=True)
    ]
    return csr_matrix(vstack(spread))
