"""Site models on disk: parameters and counts, no code, so that a model from elsewhere may be read.

A file is a zstd frame with a checksum around a MessagePack map: format version, parameters, page count and the
columns of each table with their types. Importances are derived anew when it is read.
"""

from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zstandard

from analysis._columns.tables import Table
from analysis._trees.sst import SiteStyleTree
from analysis._trees.style_tree import StyleTree
from snapshot import DamagedFileError, FormatVersionError, StorageError

_KIND = "domsieve site style tree"
_VERSION = 1
_TYPES = frozenset(["<u8", "<i8", "<i4", "|b1"])


def save_model(model: SiteStyleTree, path: Path) -> None:
    """Write what `model` has learned to `path`: equal models give equal bytes.

    Raises
    ------
    ModelError : the model has learned nothing.
    StorageError : the file cannot be written.
    """
    tree = model.tree_
    tables = {c.name: getattr(tree, c.name) for c in fields(StyleTree) if c.name != "pages"}
    content = {
        "kind": _KIND,
        "version": _VERSION,
        "parameters": model.get_params(),
        "style": model.style_,
        "pages": tree.pages,
        "tables": {name: None if t is None else _pack(t) for name, t in tables.items()},
    }
    data = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(msgspec.msgpack.encode(content))
    try:
        part = path.with_name(path.name + ".part")
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise StorageError(f"The model {path} cannot be written: {error.strerror}.") from error


def load_model(path: Path) -> SiteStyleTree:
    """Return the model that `save_model` wrote to `path`.

    Raises
    ------
    StorageError : the file cannot be read.
    DamagedFileError : it does not hold a site model as it was written.
    FormatVersionError : it was written by a newer version.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StorageError(f"The model {path} cannot be read: {error.strerror}.") from error
    try:
        content = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(data))
        if content["kind"] != _KIND:
            raise ValueError("another kind of file")
        if content["version"] > _VERSION:
            raise FormatVersionError(
                f"The model {path} has format {content['version']}, this program knows up to {_VERSION}; "
                "update domsieve or learn the model anew."
            )
        model = SiteStyleTree(**content["parameters"])
        tables = {name: None if t is None else _unpack(t) for name, t in content["tables"].items()}
        model.restore(StyleTree(pages=content["pages"], **tables), style=content["style"])  # type: ignore[arg-type]
    except (
        zstandard.ZstdError,
        msgspec.DecodeError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
    ) as error:
        raise DamagedFileError(f"{path} is no intact site model ({error}); learn it anew.") from error
    return model


def _pack(table: Table) -> dict[str, Any]:
    return {
        "key": _bytes(table.key),
        "fixed": {name: _bytes(column) for name, column in table.fixed.items()},
        "sums": {name: _bytes(column) for name, column in table.sums.items()},
    }


def _unpack(packed: dict[str, Any]) -> Table:
    table = Table(
        _array(packed["key"]),
        {name: _array(column) for name, column in packed["fixed"].items()},
        {name: _array(column) for name, column in packed["sums"].items()},
    )
    if any(column.shape != table.key.shape for column in (*table.fixed.values(), *table.sums.values())):
        raise ValueError("columns of different length")
    return table


def _bytes(column: np.ndarray[Any, Any]) -> tuple[str, bytes]:
    column = column.astype(column.dtype.newbyteorder("<"), copy=False)
    return column.dtype.str, column.tobytes()


def _array(packed: tuple[str, bytes]) -> np.ndarray[Any, Any]:
    if packed[0] not in _TYPES:
        raise ValueError(f"a column of type {packed[0]}")
    return np.frombuffer(packed[1], packed[0])
