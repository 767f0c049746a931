"""Site models on disk: parameters and counts, no code, so that a model from elsewhere may be read.

A file is a zstd frame with a checksum around a MessagePack map: format version, name of the method, its parameters
and the fields of its counts, tables as columns with their types. Importances are derived anew when it is read. A
parameter that an older file lacks has its default: in files of format 2, `list_share` of the site style tree. Files
of format 4 hold capped trees, which older programs would misread.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import zstandard

from domsieve.analysis.registry import SITE_METHODS
from domsieve.analysis.site_model import SiteModel, packed_counts, unpacked_counts
from domsieve.analysis.trees.style_tree import is_capped
from domsieve.errors import DamagedFileError, FormatVersionError, StorageError, UsageError
from domsieve.files import write_file
from domsieve.snapshot.page import Scalar
from domsieve.vocabulary import SiteMethod, StyleLevel

_KIND = "domsieve site model"
_VERSION, _CAPPED = 3, 4
# Most of a model are hashes, which hardly compress. A file that unpacks to far more was made to fill the memory.
_MOST_EXPANSION, _FREE_BYTES = 100, 10_000_000


class _Envelope(msgspec.Struct):
    """What the files of all versions begin with."""

    kind: Literal["domsieve site model"]
    version: Annotated[int, msgspec.Meta(ge=1)]


class _Content(msgspec.Struct):
    """What a file of this version holds besides."""

    method: SiteMethod
    parameters: dict[str, Scalar]
    style: StyleLevel | None
    counts: dict[str, Any]


def save_model(model: SiteModel[Any], path: Path | str) -> None:
    """Write what `model` has learned to `path`, and the folders it lies in; equal models give equal bytes.

    Raises
    ------
    ModelError : the model has learned nothing.
    StorageError : the file cannot be written.
    """
    write_file(Path(path), model_to_bytes(model), what="The model")


def model_to_bytes(model: SiteModel[Any]) -> bytes:
    """Return what a file of `model` holds; equal models give equal bytes.

    Raises
    ------
    ModelError : the model has learned nothing.
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
    return model_from_bytes(data, name=str(path))


def model_from_bytes(data: bytes, *, name: str = "") -> SiteModel[Any]:
    """Return the model that `model_to_bytes` was given; `name` is that of its file, for messages.

    Raises
    ------
    DamagedFileError : they hold no site model as it was written.
    FormatVersionError : they were written by a newer version.
    """
    label = f"The model {name}" if name else "This model"
    try:
        size = zstandard.frame_content_size(data)
        if size > max(_FREE_BYTES, _MOST_EXPANSION * len(data)):
            raise ValueError("it would unpack to too much")
        packed = zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
        version = msgspec.msgpack.decode(packed, type=_Envelope).version
        if version > _CAPPED:
            raise FormatVersionError(
                f"{label} has format {version}, this program knows up to {_CAPPED}; "
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
        RecursionError,  # maps in maps in maps
    ) as error:
        raise DamagedFileError(
            f"{name or 'This'} is not a valid site model ({error}); learn it again."
        ) from error
    return model
