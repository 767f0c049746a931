"""Write tables as Parquet files; needs the optional package pyarrow."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.errors import UsageError


def write_parquet(columns: Mapping[str, Sequence[str | None] | NDArray[Any]]) -> bytes:
    """Return the bytes of a Parquet file, compressed with Zstandard.

    Parameters
    ----------
    columns : columns of equal length by name: sequences of texts, where None is a missing value, or arrays.

    Raises
    ------
    UsageError : pyarrow is not installed.
    """
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise UsageError("Parquet needs pyarrow; install domsieve with the extra parquet.") from error
    table = {
        name: pa.array(column, None if isinstance(column, np.ndarray) else pa.string())
        for name, column in columns.items()
    }
    file = io.BytesIO()
    parquet.write_table(pa.table(table), file, compression="zstd")
    return file.getvalue()
