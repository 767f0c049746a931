"""Stores: a folder for each site that a client follows, kept until the client deletes it.

Clients choose the name of a store, but its folder has a random name, so no name of a client becomes a path. Stores
are not pruned with jobs; their number and size are limited instead. One run at a time uses a store.
"""

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from domsieve.errors import StorageError, StoreConflictError, UnknownStoreError
from domsieve.service.jobs.database import Database, now
from domsieve.service.jobs.job_values import Claim
from domsieve.service.jobs.sync_request import SyncRequest
from domsieve.tasks.page_folder import PageFolder
from domsieve.tasks.site_sync.change_log import is_file_for_users

STORES = "stores"
"""The name of the folder of stores in the folder of the service."""
_PLACE = re.compile(r"[0-9a-f]{32}")
_STORE = "name, url, created_at, runs, synced_at, pages, size_bytes, place"
_NONE_HERE = (
    "Stores need a folder that stays, which this service does not have: start 'domsieve mcp' with --data DIR, or "
    "'domsieve serve' with --stores above 0."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteStore:
    """A store.

    Parameters
    ----------
    name : its name, unique among those of its client.
    url : address of the site.
    created_at, synced_at : UTC in ISO 8601; the latter is the end of the last finished run, None before the first.
    runs : number of finished runs.
    pages : number of pages that it holds.
    size_bytes : size of its folder after the last finished run.
    place : name of its folder.
    job : id of the job that waits for it or uses it; None without one.
    """

    name: str
    url: str
    created_at: str
    runs: int
    synced_at: str | None
    pages: int
    size_bytes: int
    place: str
    job: str | None


class Stores:
    """The stores of all clients. All methods raise `StorageError` if the database or a folder cannot be used.

    Parameters
    ----------
    database : the database of the jobs.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._root = database.folder / STORES

    def complete(self, request: SyncRequest, client: str) -> SyncRequest:
        """Return a request with the address of the site, if only the store knows it.

        Raises
        ------
        UnknownStoreError : there is no such store, so the address is needed.
        """
        if request.url:
            return request
        known = self._database.run(
            "SELECT url FROM stores WHERE client = ? AND name = ?", (client, request.store)
        )
        if not known:
            raise UnknownStoreError(f"There is no store {request.store} yet; give the url of its site.")
        return request.model_copy(update={"url": known[0][0]})

    def reserve(self, request: SyncRequest, client: str, *, most: int) -> None:
        """Make the store of a request, unless it is there. Call it inside the transaction that adds the job.

        Parameters
        ----------
        request : the request, with the address of the site.
        client : the name of the client.
        most : the maximum number of stores of a client.

        Raises
        ------
        StoreConflictError : another job uses the store, or the client has too many stores.
        """
        if job := self._user(client, request.store):
            raise StoreConflictError(
                f"The job {job} uses the store {request.store}; wait until it has ended, or cancel it."
            )
        changed = self._database.run(
            "UPDATE stores SET url = CASE runs WHEN 0 THEN ? ELSE url END WHERE client = ? AND name = ? "
            "RETURNING number",
            (request.url, client, request.store),
        )
        if changed:
            return
        if not most:
            raise StoreConflictError(_NONE_HERE)
        if self._database.run("SELECT COUNT(*) FROM stores WHERE client = ?", (client,))[0][0] >= most:
            raise StoreConflictError(f"This client has {most} stores; delete one before you make another.")
        self._database.run(
            "INSERT INTO stores (client, name, place, url, created_at) VALUES (?, ?, ?, ?, ?)",
            (client, request.store, uuid4().hex, request.url, now()),
        )

    def list(self, client: str) -> Sequence[SiteStore]:
        """Return the stores of a client, by name."""
        rows = self._database.run(f"SELECT {_STORE} FROM stores WHERE client = ? ORDER BY name", (client,))
        names = _STORE.split(", ")
        return [
            SiteStore(**dict(zip(names, row, strict=True)), job=self._user(client, row[0])) for row in rows
        ]

    def get(self, name: str, client: str) -> SiteStore:
        """Return a store.

        Raises
        ------
        UnknownStoreError : the client has no such store.
        """
        for store in self.list(client):
            if store.name == name:
                return store
        raise UnknownStoreError("There is no such store.")

    def delete(self, name: str, client: str) -> None:
        """Delete a store with all its files.

        Raises
        ------
        UnknownStoreError : the client has no such store.
        StoreConflictError : a job waits for it or uses it.
        """
        with self._database.transaction(durable=True):
            store = self.get(name, client)
            if store.job:
                raise StoreConflictError(f"The job {store.job} uses the store {name}; cancel it first.")
            self._database.run("DELETE FROM stores WHERE place = ?", (store.place,))
        shutil.rmtree(self._root / store.place, ignore_errors=True)  # what stays is swept

    def open(self, name: str, client: str, file: str) -> BinaryIO:
        """Open a file of a store for reading. It stays readable if a run replaces it meanwhile.

        Parameters
        ----------
        name : the name of the store.
        client : the name of the client.
        file : path of the file below the folder, such as ``install/linux.md`` or ``changes.jsonl``.

        Raises
        ------
        UnknownStoreError : the client has no such store, or it has no such file.
        """
        path = self._root / self.get(name, client).place
        if path.is_dir() and is_file_for_users(file):
            with PageFolder(path, is_read_only=True) as folder:
                opened = folder.open(file)
            if opened is not None:
                return opened
        raise UnknownStoreError("There is no such file in this store.")

    def folder(self, claim: Claim) -> Path:
        """Return the folder of the store of a job that runs.

        Raises
        ------
        UnknownStoreError : the store was deleted.
        """
        return self._root / self.get(str(claim.job.request["store"]), claim.job.client).place

    def finished(self, folder: Path, *, runs: int, pages: int) -> None:
        """Note what a finished run has left in the folder of a store."""
        with self._database.transaction():
            self._database.run(
                "UPDATE stores SET runs = ?, pages = ?, size_bytes = ?, synced_at = ? WHERE place = ?",
                (runs, pages, folder_bytes(folder), now(), folder.name),
            )

    def size_bytes(self) -> int:
        """Return the size of all stores together after their last finished runs."""
        size: int
        ((size,),) = self._database.run("SELECT COALESCE(SUM(size_bytes), 0) FROM stores")
        return size

    def sweep(self) -> int:
        """Remove folders whose store was deleted; return how many."""
        try:
            there = [entry.name for entry in os.scandir(self._root) if _PLACE.fullmatch(entry.name)]
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise StorageError(f"The stores in {self._root} cannot be read: {error.strerror}.") from error
        # Folders are made after their rows, so that a folder without a row is a leftover.
        known = {place for (place,) in self._database.run("SELECT place FROM stores")}
        left = sorted({*there} - known)
        for place in left:
            shutil.rmtree(self._root / place, ignore_errors=True)
        return len(left)

    def _user(self, client: str, name: str) -> str | None:
        """Return the id of the job that waits for a store or uses it."""
        rows = self._database.run(
            "SELECT id FROM jobs WHERE state IN ('queued', 'running') AND client = ? AND kind = 'sync' "
            "AND json_extract(request, '$.store') = ? LIMIT 1",
            (client, name),
        )
        return rows[0][0] if rows else None


def folder_bytes(folder: Path) -> int:
    """Return the size of all files below a folder; those that vanish meanwhile do not count."""
    size = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                size += (Path(root) / name).lstat().st_size
    return size
