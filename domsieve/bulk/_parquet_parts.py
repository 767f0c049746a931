"""Write Parquet files in batches of rows, so that they need little memory. pyarrow is imported on use."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from domsieve.bulk._places import Place
from domsieve.errors import UsageError

_AT_ONCE_BYTES = 32_000_000
Kinds = Mapping[str, str]
"""The type of each column by its name: ``text``, ``texts``, ``map``, ``number``, ``whole`` or ``flag``."""


class Table:
    """A table that is being written; `part` creates it."""

    def __init__(self, kinds: Kinds, writer: Any) -> None:
        self._kinds, self._writer = kinds, writer
        self._columns: dict[str, list[Any]] = {name: [] for name in kinds}
        self._bytes = 0
        self.rows = 0

    def add(self, columns: Mapping[str, Sequence[Any] | Any], count: int = 1) -> None:
        """Add `count` rows: for each column a list, or one value for all of them."""
        for name, kind in self._kinds.items():
            value = columns[name]
            self._columns[name] += value if isinstance(value, list) and kind != "texts" else [value] * count
        self.rows += count
        text = columns.get("text", "")
        self._bytes += sum(map(len, text)) if isinstance(text, list) else len(text)
        if self._bytes > _AT_ONCE_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the rows in memory."""
        import pyarrow as pa

        schema = _schema(self._kinds)
        if self._columns[schema.names[0]]:
            arrays = [
                pa.array(column, kind)
                for column, kind in zip(self._columns.values(), schema.types, strict=True)
            ]
            self._writer.write_table(pa.table(arrays, schema=schema))
        self._columns = {name: [] for name in self._kinds}
        self._bytes = 0


@contextmanager
def part(place: Place, name: str, kinds: Kinds) -> Iterator[Table]:
    """Provide a table; its file appears at its place if the block ends without an error."""
    check_parquet()
    from pyarrow import parquet

    with (
        place.writing(name) as path,
        parquet.ParquetWriter(str(path), _schema(kinds), compression="zstd") as writer,
    ):
        table = Table(kinds, writer)
        yield table
        table.flush()


def check_parquet() -> None:
    """Check that the library for Parquet is installed.

    Raises
    ------
    UsageError : pyarrow is not installed.
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise UsageError("bulk needs pyarrow; install domsieve with the extra bulk.") from error


def _schema(kinds: Kinds) -> Any:
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "map": pa.map_(pa.string(), pa.string()),
        "number": pa.float64(),
        "whole": pa.int64(),
        "flag": pa.bool_(),
    }
    return pa.schema([(name, types[kind]) for name, kind in kinds.items()])
