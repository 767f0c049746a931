"""One page as columns: the value, its file format and the store.

The contract between renderer and analysis; both import this package and never each other.
"""

from domsieve.errors import (
    BrowserError,
    BrowserLostError,
    BrowserNotFoundError,
    BusyError,
    ClientLimitError,
    ContentError,
    DamagedFileError,
    DomsieveError,
    FormatVersionError,
    InvalidSnapshotError,
    KeyConflictError,
    ModelError,
    NavigationError,
    PageError,
    PolicyError,
    QueueFullError,
    StorageError,
    TargetError,
    UnknownJobError,
    UsageError,
)
from domsieve.files import create_database, default_cache_dir
from domsieve.plain import plain
from domsieve.snapshot.format import Base, base_of, decode, encode, payload_of
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import CAPTURE_VERSION, Kind, Producer, Provenance, Scalar, Snapshot, subtree_ends
from domsieve.snapshot.store import PageStore, Problem
from domsieve.snapshot.strings import Interner, StringTable

__all__ = [
    "CAPTURE_VERSION",
    "Base",
    "BrowserError",
    "BrowserLostError",
    "BrowserNotFoundError",
    "BusyError",
    "ClientLimitError",
    "ContentError",
    "DamagedFileError",
    "DomsieveError",
    "FormatVersionError",
    "Interner",
    "InvalidSnapshotError",
    "KeyConflictError",
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
    "QueueFullError",
    "Scalar",
    "Snapshot",
    "StorageError",
    "StringTable",
    "TargetError",
    "UnknownJobError",
    "UsageError",
    "base_of",
    "create_database",
    "decode",
    "default_cache_dir",
    "encode",
    "payload_of",
    "plain",
    "subtree_ends",
]
