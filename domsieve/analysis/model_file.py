"""Site models on disk: parameters and counts, no code, so that a model from elsewhere may be read.

A file is a zstd frame with a checksum around a MessagePack map: format version, name of the method, its parameters
and the fields of its counts, tables as columns with their types. Importances are derived anew when it is read. A
parameter that an older file lacks has its default: in files of format 2, `list_share` of the site style tree.
"""

from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zstandard

from domsieve.analysis.columns.tables import Table
from domsieve.analysis.registry import SITE_METHODS
from domsieve.analysis.site_model import SiteModel
from domsieve.errors import DamagedFileError, FormatVersionError, StorageError
from domsieve.files import write_file

_KIND = "domsieve site model"
_VERSION = 3
_TYPES = frozenset(["<u8", "<i8", "<i4", "|b1"])


def save_model(model: SiteModel[Any], path: Path | str) -> None:
    """Write what `model` has learned to `path`, and the folders it lies in; equal models give equal bytes.

    Raises
    ------
    ModelError : the model has learned nothing.
    StorageError : the file cannot be written.
    """
    counts = model.counts_
    content = {
        "kind": _KIND,
        "version": _VERSION,
        "method": model.name,
        "parameters": model.scalars(),
        "style": model.style_,
        "counts": {field.name: _pack(getattr(counts, field.name)) for field in fields(counts)},
    }
    data = zstandard.ZstdCompressor(level=3, write_checksum=True).compress(msgspec.msgpack.encode(content))
    write_file(Path(path), data, what="The model")


def load_model(path: Path | str) -> SiteModel[Any]:
    """Return the model that `save_model` wrote to `path`.

    Raises
    ------
    StorageError : the file cannot be read.
    DamagedFileError : it does not hold a site model as it was written.
    FormatVersionError : it was written by a newer version.
    """
    path = Path(path)
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
        model = SITE_METHODS[content["method"]].estimator(**content["parameters"])
        counts = {name: _unpack(value) for name, value in content["counts"].items()}
        model.restore(model.counts(**counts), style=content["style"])
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


def _pack(value: Any) -> Any:
    """Return a field of counts as MessagePack knows it: a table as a map, all else as it is."""
    if not isinstance(value, Table):
        return value
    return {
        "key": _bytes(value.key),
        "fixed": {name: _bytes(column) for name, column in value.fixed.items()},
        "sums": {name: _bytes(column) for name, column in value.sums.items()},
    }


def _unpack(packed: Any) -> Any:
    if isinstance(packed, list):
        return tuple(packed)
    if not isinstance(packed, dict):
        return packed
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
