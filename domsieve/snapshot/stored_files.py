"""The files of a page store: their paths, and how to read them.

    pages/ab/<page id>.dsnap   one page in the format of `domsieve.snapshot.format`
    bases/ab/<digest>.zst      compression dictionary of a site: the payload of its first page
    raw/ab/<digest>.zst        raw source of a navigation, stored once per content
    extras/ab/<digest>.zst     further file of a page, such as its screenshot, stored once per content

The folder ``ab`` has the first two characters of the file names in it. It is called a share of the store.
"""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from domsieve.errors import StorageError
from domsieve.files import OWNER_ONLY, USUAL_MODE, digest_of, read_file, read_packed
from domsieve.snapshot.format import Base, base_of, decode
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import CAPTURE_VERSION, Scalar, Snapshot

PAGES, BASES, RAW, EXTRAS = "pages", "bases", "raw", "extras"
_ENDINGS = {PAGES: ".dsnap", BASES: ".zst", RAW: ".zst", EXTRAS: ".zst"}
_BASES_IN_MEMORY = 16
_CREDENTIALS = ("cookies", "headers", "storage_state")
_SHARES = frozenset(f"{number:02x}" for number in range(256))


class StoredFiles:
    """Paths and content of the files below the folder of a store.

    Parameters
    ----------
    root : the folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._bases: dict[str, Base] = {}

    def path(self, kind: str, name: str) -> Path:
        """Return the path of a file, which need not exist.

        Parameters
        ----------
        kind : `PAGES`, `BASES`, `RAW` or `EXTRAS`.
        name : page id or digest.
        """
        return self.root / kind / name[:2] / f"{name}{_ENDINGS[kind]}"

    def shares(self, kind: str) -> list[str]:
        """Return the names of all shares that can hold files or rows, sorted."""
        return sorted(_SHARES | {path.name for path in (self.root / kind).glob("??")})

    def listed(self, kind: str, share: str) -> list[Path]:
        """Return the paths of all files of a kind in a share, sorted."""
        return sorted((self.root / kind / share).glob(f"*{_ENDINGS[kind]}"))

    def read(self, path: Path) -> Snapshot:
        """Return the page in a file.

        Raises
        ------
        DamagedFileError, FormatVersionError : see `PageStore.get`.
        """
        data = read_file(path)
        digest = base_of(data, source=str(path))
        return decode(data, source=str(path), base=self.base(digest) if digest else None)

    def base(self, digest: str) -> Base:
        """Return the base with a digest; a few bases are cached in memory.

        Raises
        ------
        DamagedFileError : the file of the base is missing or damaged.
        """
        if digest not in self._bases:
            if len(self._bases) >= _BASES_IN_MEMORY:
                self._bases.clear()
            self._bases[digest] = Base(read_packed(self.path(BASES, digest)))
        return self._bases[digest]


def page_id_of(page: Snapshot) -> str:
    """Return the id of a page, which is the same in every store."""
    return record_of(page, 0).page_id


def fault_of_file(path: Path) -> str:
    """Return why a compressed file cannot be read; empty if it can."""
    try:
        read_packed(path)
    except StorageError as error:
        return error.message
    return ""


def with_provenance(page: Snapshot, **changes: str | dict[str, str]) -> Snapshot:
    """Return a copy of `page` with some fields of its provenance changed."""
    return dataclasses.replace(page, provenance=msgspec.structs.replace(page.provenance, **changes))


def mode_of(page: Snapshot) -> int:
    """Return the permission bits for the files of a page: captures made with credentials are for their owner."""
    options = page.provenance.options
    return OWNER_ONLY if any(options.get(name) for name in _CREDENTIALS) else USUAL_MODE


def record_of(page: Snapshot, size: int) -> PageRecord:
    """Return the index record of a page whose file has `size` bytes."""
    origin = page.provenance
    capture = capture_key(origin.options, origin.capture_version)
    identity = json.dumps((page.digest(), origin.url, origin.producer, capture, origin.build))
    return PageRecord(
        page_id=digest_of(identity.encode()),
        url=origin.url,
        final_url=origin.final_url,
        site=origin.site,
        producer=origin.producer,
        capture=capture,
        build=origin.build,
        captured_at=origin.captured_at,
        complete=origin.complete,
        reasons=origin.reasons,
        nodes=len(page),
        bytes=size,
        source_digest=origin.source_digest,
    )


def capture_key(options: Mapping[str, Scalar], version: int = CAPTURE_VERSION) -> str:
    """Return a hash of the capture options and the capture version: captures with equal keys are interchangeable."""
    return digest_of(json.dumps((version, dict(options)), sort_keys=True).encode())
