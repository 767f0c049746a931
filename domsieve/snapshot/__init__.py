"""One page as columns: the value, its file format and the store.

The contract between renderer and analysis; both import this package and never each other.
"""

from domsieve.snapshot.cut import Cut, CutKind
from domsieve.snapshot.fault import HTML_TYPES, Fault, check_fault, fault_of
from domsieve.snapshot.format import Base, base_of, decode, encode, payload_of
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.json_ld import JSON_LD, LONGEST_JSON_LD, is_json_ld
from domsieve.snapshot.page import CAPTURE_VERSION, Kind, Producer, Provenance, Scalar, Snapshot, subtree_ends
from domsieve.snapshot.store import PageStore
from domsieve.snapshot.stored_files import page_id_of
from domsieve.snapshot.strings import Interner, StringTable
from domsieve.snapshot.verifying import Problem

__all__ = [
    "CAPTURE_VERSION",
    "HTML_TYPES",
    "JSON_LD",
    "LONGEST_JSON_LD",
    "Base",
    "Cut",
    "CutKind",
    "Fault",
    "Interner",
    "Kind",
    "PageRecord",
    "PageStore",
    "Problem",
    "Producer",
    "Provenance",
    "Scalar",
    "Snapshot",
    "StringTable",
    "base_of",
    "check_fault",
    "decode",
    "encode",
    "fault_of",
    "is_json_ld",
    "page_id_of",
    "payload_of",
    "subtree_ends",
]
