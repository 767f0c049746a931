"""How much an archive may hold and unpack to. Imports nothing of the project."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """What is read of an archive at most; the rest is left out, and that is told.

    Parameters
    ----------
    page_bytes : of one page, packed as it came and unpacked.
    records : of one archive.
    expansion_ratio : how many times its own size a packed stretch may unpack to; honest pages stay below 50.
    free_bytes : what any packed stretch may unpack to, so that small ones of great redundancy pass.
    free_stretches : how many of them may, before the ratio is that of the whole archive.
    readings : how often a damaged archive is read over in search of whole records, as a multiple of its size.
    """

    page_bytes: int = 50_000_000
    records: int = 10_000_000
    expansion_ratio: int = 100
    free_bytes: int = 10_000_000
    free_stretches: int = 100
    readings: int = 50

    def unpacked_bytes(self, size: int) -> int:
        """Return what an archive of so many bytes may unpack to."""
        return self.free_stretches * self.free_bytes + self.expansion_ratio * size


USUAL_LIMITS = ArchiveLimits()
"""What no honest archive meets."""
