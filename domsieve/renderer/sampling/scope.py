"""Which pages of a site belong to a sample, and how far it goes.

Imports the error tree.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from domsieve.errors import UsageError

DEPTH = 16
"""Clicks from the start at which calendars and others whose pages link to a next one without end stop."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which pages a sample may have, beside its start page, which it always has.

    Parameters
    ----------
    include : patterns of pages, of which one must match where there are any. A pattern is matched with all that
        stands behind the host, from the slash on, query and route included; ``*`` stands for any characters, ``?``
        for one, ``[abc]`` for one of these.
    exclude : patterns of pages that are not visited, even where `include` matches.
    depth : how many clicks a page may be away from the start, 0 or more; what a sitemap names is one click away.

    Raises
    ------
    UsageError : a pattern is empty, or the depth less than 0.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    depth: int = DEPTH

    def __post_init__(self) -> None:
        if self.depth < 0:
            raise UsageError("depth must be 0 clicks or more.", parameter="depth")
        if not all(self.include):
            raise UsageError("include is empty; give a pattern such as '/docs/*'.", parameter="include")
        if not all(self.exclude):
            raise UsageError("exclude is empty; give a pattern such as '/docs/*'.", parameter="exclude")

    def has(self, name: str) -> bool:
        """Return whether a page may be visited; `name` is its path with query and route."""
        if any(fnmatchcase(name, pattern) for pattern in self.exclude):
            return False
        return not self.include or any(fnmatchcase(name, pattern) for pattern in self.include)
