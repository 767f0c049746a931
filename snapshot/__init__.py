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
from snapshot._page import Kind, Producer, Provenance, Scalar, Snapshot, subtree_ends
from snapshot._strings import Interner, StringTable

__all__ = [
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
    "PolicyError",
    "Producer",
    "Provenance",
    "Scalar",
    "Snapshot",
    "StorageError",
    "StringTable",
    "TargetError",
    "UsageError",
    "subtree_ends",
]
