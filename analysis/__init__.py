"""The algorithms of the papers on Snapshots, and the writers of their results. Imports only `snapshot`."""

from analysis._verdict import Verdict

__all__ = ["Verdict"]
