"""What shards are made of: pages by where they are read, so small that any number can be named and sent.

Imports the tasks, archives and the store.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from domsieve.errors import DomsieveError
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import Page, from_archive, from_file, from_record
from domsieve.tasks.sites import Placed
from domsieve.tasks.targets import ArchiveTarget, DamagedTarget, FileTarget, UrlTarget


@dataclass(frozen=True, slots=True)
class StoredTarget:
    """A page of a store.

    Parameters
    ----------
    root : folder of the store.
    record : the page.
    """

    root: Path
    record: PageRecord


PageTarget = UrlTarget | FileTarget | ArchiveTarget | StoredTarget | DamagedTarget


@dataclass(frozen=True, slots=True)
class Member:
    """A page of a shard.

    Parameters
    ----------
    target : where it is read.
    label : URL or path, for people.
    site : what it is learned with.
    address : where it came from if that is known and the target does not say; empty otherwise.
    keys : pages with one of these in common are the same page.
    """

    target: PageTarget
    label: str
    site: str
    address: str = ""
    keys: tuple[str, ...] = ()

    def page(self, store_at: Callable[[Path], PageStore], *, keep_errors: bool) -> Page:
        """Return the page, which is read when it is worked on.

        Parameters
        ----------
        store_at : returns the open store of a folder.
        keep_errors : whether it is worked on though it counts as failed.
        """
        target = self.target
        if isinstance(target, FileTarget):
            page = from_file(target, Placed(self.site, self.address, self.keys))
        elif isinstance(target, ArchiveTarget):
            page = from_archive(target.page)
        elif isinstance(target, StoredTarget):
            page = from_record(target.record, store_at(target.root))
        else:
            raise TypeError(f"no page that can be read: {target}")
        return replace(page, label=self.label, keep_errors=keep_errors)

    @property
    def damage(self) -> DomsieveError | None:
        """Why there is no page: it stands for a damaged part of an archive, or for a line that names nothing."""
        return self.target.error if isinstance(self.target, DamagedTarget) else None
