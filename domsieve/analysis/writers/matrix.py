"""Feature matrices as files that other programs read: SciPy's npz, svmlight, and Parquet.

A ``.npz`` or svmlight file holds numbers only, as `scipy.sparse.load_npz` and `sklearn.datasets.load_svmlight_file`
read them; the names of their rows and columns are a JSON file beside, from `matrix_names`. Parquet is a long table
with the names in it. Equal matrices give equal bytes.
"""

import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.writers.parquet import write_parquet
from domsieve.plain import utf8

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix  # loaded by those who weigh


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMatrix:
    """Weights of T features in R rows, each a page or a block of one.

    Parameters
    ----------
    matrix : float64 (R, T), at least 0.
    features : the T features, ascending.
    pages : the page of each of the R rows: URL or path.
    nodes : int64 (R,), the node that is the block; None where rows are pages.
    """

    matrix: "csr_matrix"
    features: tuple[str, ...]
    pages: tuple[str, ...]
    nodes: NDArray[np.int64] | None = None


def matrix_npz(weights: FeatureMatrix) -> bytes:
    """Return the matrix as `scipy.sparse.save_npz` writes it."""
    from scipy.sparse import save_npz

    file = io.BytesIO()
    save_npz(file, weights.matrix)
    return file.getvalue()


def matrix_svmlight(weights: FeatureMatrix) -> bytes:
    """Return a line per row: target 0, then ``column:weight``, columns from 1 on as SVMlight wants them."""
    if not weights.matrix.nnz:  # scikit-learn refuses a matrix without rows or columns
        return b"0 \n" * len(weights.pages)
    from sklearn.datasets import dump_svmlight_file  # scikit-learn takes seconds to load

    file = io.BytesIO()
    dump_svmlight_file(weights.matrix, np.zeros(weights.matrix.shape[0], np.int64), file, zero_based=False)
    return file.getvalue()


def matrix_parquet(weights: FeatureMatrix) -> bytes:
    """Return a row per weight that is not 0, row by row: page, node of blocks, feature, weight.

    Raises
    ------
    UsageError : pyarrow is not installed.
    """
    cells = weights.matrix.tocoo()
    pages = [*map(utf8, weights.pages)]
    node = {} if weights.nodes is None else {"node": weights.nodes[cells.row]}
    return write_parquet(
        {
            "page": [pages[row] for row in cells.row.tolist()],
            **node,
            "feature": [weights.features[column] for column in cells.col.tolist()],
            "weight": cells.data,
        }
    )


def matrix_names(weights: FeatureMatrix) -> str:
    """Return the names of rows and columns as JSON: ``features``, ``pages`` and, for blocks, ``nodes``."""
    names = {"features": weights.features, "pages": [*map(utf8, weights.pages)]}
    nodes = {} if weights.nodes is None else {"nodes": weights.nodes.tolist()}
    return json.dumps({**names, **nodes}, ensure_ascii=False, indent=0) + "\n"
