"""Write feature matrices in formats that other programs read: SciPy's npz, svmlight, and Parquet.

Files in ``.npz`` and svmlight format contain numbers only, for `scipy.sparse.load_npz` and
`sklearn.datasets.load_svmlight_file`; `matrix_names` gives the names of rows and columns for a separate JSON file.
Parquet is a long table that includes the names. Equal matrices give equal bytes.
"""

import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.writers._parquet import write_parquet
from domsieve.sanitize import utf8

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix  # imported late elsewhere: slow, and rarely needed


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMatrix:
    """Weights of T features in R rows; a row is a page or a block of a page.

    Parameters
    ----------
    matrix : float64 (R, T), non-negative.
    features : names of the T features, ascending.
    pages : URL or path of the page of each of the R rows.
    nodes : int64 (R,), node of each block; None if rows are pages.
    """

    matrix: "csr_matrix"
    features: tuple[str, ...]
    pages: tuple[str, ...]
    nodes: NDArray[np.int64] | None = None


def matrix_npz(weights: FeatureMatrix) -> bytes:
    """Return the matrix in the format of `scipy.sparse.save_npz`."""
    from scipy.sparse import save_npz

    file = io.BytesIO()
    save_npz(file, weights.matrix)
    return file.getvalue()


def matrix_svmlight(weights: FeatureMatrix) -> bytes:
    """Return one line per row in svmlight format: target 0, then ``column:weight`` with columns counted from 1."""
    if not weights.matrix.nnz:  # scikit-learn rejects matrices without rows or columns
        return b"0 \n" * len(weights.pages)
    from sklearn.datasets import dump_svmlight_file  # scikit-learn takes seconds to load

    file = io.BytesIO()
    dump_svmlight_file(weights.matrix, np.zeros(weights.matrix.shape[0], np.int64), file, zero_based=False)
    return file.getvalue()


def matrix_parquet(weights: FeatureMatrix) -> bytes:
    """Return a Parquet table with one row per weight above 0: page, node (for blocks), feature, weight.

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
