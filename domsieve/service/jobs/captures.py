"""Reference counts of captures in the cache: a capture is kept as long as a job holds it.

A worker records that a job holds a capture before it writes or reads the capture, and captures that no job holds are
removed inside a transaction on the job database. So no capture is removed that a worker is about to use, and a killed
process leaves no capture uncounted.
"""

from collections.abc import Iterable, Mapping

from domsieve.files import leftovers, remove_file
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_values import Claim
from domsieve.snapshot.store import PageStore

CACHE = "cache"
"""The name of the cache in the folder of the service."""
# Captures removed in one transaction, during which all other writers wait. A guess.
_AT_ONCE = 50


class Captures:
    """The captures that jobs hold. All methods raise `StorageError` if the database or the cache cannot be used.

    Parameters
    ----------
    database : the database of the jobs.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def hold(self, claim: Claim, page_ids: Iterable[str]) -> None:
        """Make a job hold captures before they are written; does nothing if the claim is no longer valid."""
        with self._database.transaction():
            self._hold(claim, page_ids)

    def hold_again(self, claim: Claim, page_id: str, others: Iterable[str] = ()) -> bool:
        """Make a job hold a cached capture; return False if no job of its client has used that capture.

        Parameters
        ----------
        claim : the claim of the job.
        page_id : the id of the capture.
        others : the ids of captures that belong to it, such as that of the page without scripts.
        """
        with self._database.transaction():
            used = self._database.run(
                "SELECT 1 FROM pages WHERE client = ? AND page_id = ? LIMIT 1", (claim.job.client, page_id)
            )
            if used:
                self._hold(claim, [page_id, *others])
        return bool(used)

    def made(self, claim: Claim, sizes: Mapping[str, int]) -> None:
        """Store the sizes of new captures, in bytes by id; mark them for removal if the job no longer holds them."""
        with self._database.transaction():
            for page_id, size in sizes.items():
                self._database.run("UPDATE captures SET size_bytes = ? WHERE page_id = ?", (size, page_id))
                self._database.run(
                    "INSERT OR IGNORE INTO unused SELECT ? WHERE NOT EXISTS "
                    "(SELECT 1 FROM captures WHERE job = ? AND page_id = ?)",
                    (page_id, claim.job.id, page_id),
                )

    def release(self, job: str) -> None:
        """Release all captures of a job.

        Call it inside a transaction, and `remove_unused` after that.
        """
        self._database.run("INSERT OR IGNORE INTO unused SELECT page_id FROM captures WHERE job = ?", (job,))
        self._database.run("DELETE FROM captures WHERE job = ?", (job,))

    def remove_unused(self) -> int:
        """Remove captures that no job holds any more from the cache; return their number."""
        removed = 0
        while self._database.run("SELECT 1 FROM unused LIMIT 1"):
            with self._store() as store:
                with self._database.transaction():
                    rows = self._database.run(
                        "SELECT page_id, EXISTS (SELECT 1 FROM captures WHERE captures.page_id = unused.page_id) "
                        f"FROM unused LIMIT {_AT_ONCE}"
                    )
                    gone = [page_id for page_id, is_held in rows if not is_held]
                    store.remove(gone)
                    for page_id, _ in rows:
                        self._database.run("DELETE FROM unused WHERE page_id = ?", (page_id,))
                store.drop_bases()
            removed += len(gone)
        return removed

    def remove_strays(self, before: str) -> int:
        """Remove captures that no job holds, and leftovers of killed writers; return the number of these captures.

        Database version 1 did not record the captures of pages without scripts, so captures of a URL that has a held
        capture are kept.

        Parameters
        ----------
        before : remove only captures made before this time, UTC in ISO 8601.
        """
        with self._store() as store:
            records = store.records()
            held = self.held()
            kept = {record.url for record in records if record.page_id in held}
            strays = [
                record.page_id
                for record in records
                if record.captured_at < before and record.page_id not in held and record.url not in kept
            ]
            for start in range(0, len(strays), _AT_ONCE):
                with self._database.transaction():
                    store.remove([one for one in strays[start : start + _AT_ONCE] if not self._is_held(one)])
            store.drop_bases()
            for path in leftovers(store.root):
                remove_file(path)
        return len(strays)

    def measure(self) -> None:
        """Fill in missing sizes of captures, from database version 1 and from killed workers."""
        ids = [
            row[0]
            for row in self._database.run("SELECT DISTINCT page_id FROM captures WHERE size_bytes IS NULL")
        ]
        if not ids:
            return
        with self._store() as store:
            sizes = {page_id: store.size(page_id) for page_id in ids}
        with self._database.transaction():
            for page_id, size in sizes.items():
                self._database.run(
                    "UPDATE captures SET size_bytes = ? WHERE page_id = ? AND size_bytes IS NULL",
                    (size, page_id),
                )

    def held(self) -> frozenset[str]:
        """Return the ids of all captures that jobs hold."""
        return frozenset(row[0] for row in self._database.run("SELECT DISTINCT page_id FROM captures"))

    def _is_held(self, page_id: str) -> bool:
        return bool(self._database.run("SELECT 1 FROM captures WHERE page_id = ? LIMIT 1", (page_id,)))

    def _hold(self, claim: Claim, page_ids: Iterable[str]) -> None:
        for page_id in page_ids:
            self._database.run(
                "INSERT OR IGNORE INTO captures (job, page_id, size_bytes) SELECT id, :page, "
                "(SELECT size_bytes FROM captures WHERE page_id = :page LIMIT 1) FROM jobs "
                "WHERE id = :id AND state = 'running' AND token = :token",
                {"page": page_id, "id": claim.job.id, "token": claim.token},
            )

    def _store(self) -> PageStore:
        return PageStore(self._database.folder / CACHE)
