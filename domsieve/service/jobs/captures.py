"""What jobs hold in the cache of captures. A capture stays while a job holds it, and goes with the last one.

A worker says that a job holds a capture before it writes or reads it, and what no job holds is removed in a
transaction on the database of jobs. So nothing is removed that a worker is about to use, and a process that is killed
leaves no capture that nobody counts.
"""

from collections.abc import Iterable, Mapping

from domsieve.files import leftovers, remove_file
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_values import Claim
from domsieve.snapshot.store import PageStore

CACHE = "cache"
"""Name of the cache in the folder of the service."""
# Others wait while captures are removed, so it is done by parts.
_AT_ONCE = 50


class Captures:
    """The captures that the jobs of a database hold.

    Parameters
    ----------
    database : where the jobs are.

    Raises
    ------
    StorageError : of all methods, when the database or the cache cannot be used.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def hold(self, claim: Claim, page_ids: Iterable[str]) -> None:
        """Let a job hold captures that it is about to make, unless it is no longer the worker's."""
        with self._database.transaction():
            self._hold(claim, page_ids)

    def hold_again(self, claim: Claim, page_id: str, others: Iterable[str] = ()) -> bool:
        """Let a job hold a capture that an earlier job of its client used; return False where none did.

        Parameters
        ----------
        others : captures that belong to it, such as its twin without scripts.
        """
        with self._database.transaction():
            used = self._database.run(
                "SELECT 1 FROM pages WHERE client = ? AND page_id = ? LIMIT 1", (claim.job.client, page_id)
            )
            if used:
                self._hold(claim, [page_id, *others])
        return bool(used)

    def made(self, claim: Claim, sizes: Mapping[str, int]) -> None:
        """Count captures that were made, in bytes; those of a job that is no longer there are to be removed."""
        with self._database.transaction():
            for page_id, size in sizes.items():
                self._database.run("UPDATE captures SET size_bytes = ? WHERE page_id = ?", (size, page_id))
                self._database.run(
                    "INSERT OR IGNORE INTO unused SELECT ? WHERE NOT EXISTS "
                    "(SELECT 1 FROM captures WHERE job = ? AND page_id = ?)",
                    (page_id, claim.job.id, page_id),
                )

    def release(self, job: str) -> None:
        """Let a job hold nothing; in a transaction of the caller's, who then removes what is unused."""
        self._database.run("INSERT OR IGNORE INTO unused SELECT page_id FROM captures WHERE job = ?", (job,))
        self._database.run("DELETE FROM captures WHERE job = ?", (job,))

    def remove_unused(self) -> int:
        """Remove the captures that no job holds any more from the cache; return how many."""
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
        """Remove captures made before a time of which no job knows, UTC in ISO 8601; return how many.

        With them goes what writers that were killed have left. Versions before this one left such captures, and kept
        the twins of a page without saying so: those stay with it.
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
        """Count the captures whose size was never told: those of version 1, and of workers that were killed."""
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
