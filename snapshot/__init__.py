"""One page as columns: the value, its file format and the store.

The contract between renderer and analysis; both import this package and never each other.
"""

from snapshot._errors import (
    BrowserError,
    BrowserLostError,
    BrowserNotFoundError,
    ContentError,
    DamagedFileError,
    DomsieveError,
    FormatVersionError,
    InvalidSnapshotError,
    ModelError,
    NavigationError,
    PageError,
    PolicyError,
    StorageError,
    TargetError,
    UsageError,
)
from snapshot._files import default_cache_dir
from snapshot._format import Base, base_of, decode, encode, payload_of
from snapshot._index import PageRecord
from snapshot._page import CAPTURE_VERSION, Kind, Producer, Provenance, Scalar, Snapshot, subtree_ends
from snapshot._plain import plain
from snapshot._store import PageStore, Problem
from snapshot._strings import Interner, StringTable

__all__ = [
    "CAPTURE_VERSION",
    "Base",
    "BrowserError",
    "BrowserLostError",
    "BrowserNotFoundError",
    "ContentError",
    "DamagedFileError",
    "DomsieveError",
    "FormatVersionError",
    "Interner",
    "InvalidSnapshotError",
    "Kind",
    "ModelError",
    "NavigationError",
    "PageError",
    "PageRecord",
    "PageStore",
    "PolicyError",
    "Problem",
    "Producer",
    "Provenance",
    "Scalar",
    "Snapshot",
    "StorageError",
    "StringTable",
    "TargetError",
    "UsageError",
    "base_of",
    "decode",
    "default_cache_dir",
    "encode",
    "payload_of",
    "plain",
    "subtree_ends",
]
