"""Read and write site models as files, which contain parameters and counts but no code.

A file is a zstd frame with a checksum around a MessagePack map: format version, name of the method, its parameters
and the fields of its counts, with tables as columns and their types. Importances are computed again on reading. A
parameter that is missing in an older file gets its default; in files of format 2 that is `list_share` of the site
style tree. Files of format 4 contain capped trees, which older versions would misread.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import zstandard

from domsieve.analysis.registry import SITE_METHODS, SiteMethod
from domsieve.analysis.site_model import SiteModel, packed_counts, unpacked_counts
from domsieve.analysis.trees.style_tree import is_capped
from domsieve.errors import DamagedFileError, FormatVersionError, StorageError, UsageError
from domsieve.files import write_file
from domsieve.snapshot.page import Scalar
from domsieve.types import StyleLevel

_KIND = "domsieve site model"
_VERSION, _CAPPED = 3, 4
# A model is mostly hashes, which hardly compress. A file that unpacks to 100 times its size was made to fill memory.
_MOST_EXPANSION, _FREE_BYTES = 100, 10_000_000


class _Envelope(msgspec.Struct):
    """The fields of all format versions."""

    kind: Literal["domsieve site model"]
    version: Annotated[int, msgspec.Meta(ge=1)]


class _Content(msgspec.Struct):
    """The other fields of the current format version."""

    method: SiteMethod
    parameters: dict[str, Scalar]
    style: StyleLevel | None
    counts: dict[str, Any]


def save_model(model: SiteModel[Any], path: Path | str) -> None:
    """Write a model to a file and create missing folders. Equal models give equal bytes.

    Raises
    ------
    ModelError : the model has not learned any page.
    StorageError : the file cannot be written.
    """
    write_file(Path(path), model_to_bytes(model), what="The model")


def model_to_bytes(model: SiteModel[Any]) -> bytes:
    """Return the content of a model file. Equal models give equal bytes.

    Raises
    ------
    ModelError : the model has not learned any page.
    """
    content = {
        "kind": _KIND,
        "version": _CAPPED if is_capped(model.counts_) else _VERSION,
        "method": model.name,
        "parameters": model.scalars(),
        "style": model.style_,
        "counts": packed_counts(model.counts_),
    }
    return zstandard.ZstdCompressor(level=3, write_checksum=True).compress(msgspec.msgpack.encode(content))


def load_model(path: Path | str) -> SiteModel[Any]:
    """Read a model that `save_model` has written. Files from others are safe to read.

    Raises
    ------
    StorageError : the file cannot be read.
    DamagedFileError : it is not a valid site model.
    FormatVersionError : it was written by a newer version of domsieve.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise StorageError(f"The model {path} cannot be read: {error.strerror}.") from error
    return model_from_bytes(data, name=str(path))


def model_from_bytes(data: bytes, *, name: str = "") -> SiteModel[Any]:
    """Return the model in the content of a model file.

    Parameters
    ----------
    data : the result of `model_to_bytes`.
    name : the name of the file, for messages.

    Raises
    ------
    DamagedFileError : the bytes are not a valid site model.
    FormatVersionError : they were written by a newer version of domsieve.
    """
    label = f"The model {name}" if name else "This model"
    try:
        size = zstandard.frame_content_size(data)
        if size > max(_FREE_BYTES, _MOST_EXPANSION * len(data)):
            raise ValueError("it would unpack to too many bytes")
        packed = zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
        version = msgspec.msgpack.decode(packed, type=_Envelope).version
        if version > _CAPPED:
            raise FormatVersionError(
                f"{label} has format {version}, but this version of domsieve reads formats up to {_CAPPED}; "
                "update domsieve or learn the model again."
            )
        content = msgspec.msgpack.decode(packed, type=_Content)
        model = SITE_METHODS[content.method].estimator(**content.parameters)
        model.restore(unpacked_counts(model.counts, content.counts), style=content.style)
    except (
        zstandard.ZstdError,
        msgspec.DecodeError,
        UsageError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RecursionError,  # deeply nested maps
    ) as error:
        raise DamagedFileError(
            f"{name or 'This'} is not a valid site model ({error}); learn it again."
        ) from error
    return model
