"""Feature matrices as files: other programs read what was written, and equal matrices give equal bytes."""

import io
import json
import sys

import numpy as np
import pyarrow.parquet
import pytest
from scipy.sparse import csr_matrix, load_npz
from sklearn.datasets import load_svmlight_file

from domsieve.analysis.writers.matrix import (
    FeatureMatrix,
    matrix_names,
    matrix_npz,
    matrix_parquet,
    matrix_svmlight,
)
from domsieve.errors import UsageError

WEIGHTS = FeatureMatrix(
    csr_matrix(np.array([[0, 0.1, 2], [0, 0, 0], [1 / 3, 0, 0]])),
    ("a", "ä", "漢字"),
    ("http://x/1", "http://x/2", "http://x/2"),
)
BLOCKS = FeatureMatrix(WEIGHTS.matrix, WEIGHTS.features, WEIGHTS.pages, np.array([4, 7, 9]))


def test_npz_is_what_scipy_reads() -> None:
    assert (load_npz(io.BytesIO(matrix_npz(WEIGHTS))) != WEIGHTS.matrix).nnz == 0


def test_svmlight_is_what_scikit_learn_reads() -> None:
    matrix, target = load_svmlight_file(io.BytesIO(matrix_svmlight(WEIGHTS)), n_features=3)
    assert (matrix != WEIGHTS.matrix).nnz == 0
    assert target.tolist() == [0, 0, 0]
    assert matrix_svmlight(WEIGHTS).splitlines()[1:] == [b"0 ", b"0 1:0.3333333333333333"]


@pytest.mark.parametrize(("rows", "columns"), [(2, 0), (0, 3), (0, 0), (2, 3)])
def test_matrices_without_a_weight_are_written(rows: int, columns: int) -> None:
    nothing = FeatureMatrix(csr_matrix((rows, columns)), ("x",) * columns, ("http://x/",) * rows)
    assert matrix_svmlight(nothing) == b"0 \n" * rows
    assert load_npz(io.BytesIO(matrix_npz(nothing))).shape == (rows, columns)
    assert pyarrow.parquet.read_table(io.BytesIO(matrix_parquet(nothing))).num_rows == 0


@pytest.mark.parametrize("weights", [WEIGHTS, BLOCKS], ids=["pages", "blocks"])
def test_parquet_is_a_long_table(weights: FeatureMatrix) -> None:
    rows = pyarrow.parquet.read_table(io.BytesIO(matrix_parquet(weights))).to_pylist()
    expected = [("http://x/1", 4, "ä", 0.1), ("http://x/1", 4, "漢字", 2.0), ("http://x/2", 9, "a", 1 / 3)]
    names = ["page", "node", "feature", "weight"]
    kept = [name for name in names if name != "node" or weights.nodes is not None]
    assert rows == [{n: v for n, v in zip(names, row, strict=True) if n in kept} for row in expected]


def test_parquet_without_arrow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"the extra parquet"):
        matrix_parquet(WEIGHTS)


def test_names_of_rows_and_columns() -> None:
    names = json.loads(matrix_names(BLOCKS))
    assert names == {"features": ["a", "ä", "漢字"], "pages": list(WEIGHTS.pages), "nodes": [4, 7, 9]}
    assert "nodes" not in json.loads(matrix_names(WEIGHTS))


@pytest.mark.parametrize("writer", [matrix_npz, matrix_svmlight, matrix_parquet])
def test_equal_matrices_give_equal_bytes(writer: object) -> None:
    assert callable(writer)
    again = FeatureMatrix(WEIGHTS.matrix.copy(), WEIGHTS.features, WEIGHTS.pages)
    assert writer(WEIGHTS) == writer(again)
