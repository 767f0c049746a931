"""Why a page is incomplete: each cut has a kind for programs and a detail for people.

A snapshot stores cuts as texts such as ``"time: 20 s are used up while loading"``; `Cut` formats and parses them.
"""

from dataclasses import dataclass
from typing import Literal, Self, get_args

CutKind = Literal[
    "bytes",
    "capture",
    "crash",
    "document",
    "download",
    "frames",
    "memory",
    "nodes",
    "redirects",
    "requests",
    "time",
    "unstable",
    "other",
]
"""What truncated a page; ``"other"`` is a cut without a kind of its own, such as an error of the HTML parser."""

_NAMED = frozenset(get_args(CutKind)) - {"other"}


@dataclass(frozen=True, slots=True)
class Cut:
    """One reason why a page is incomplete; ``str(cut)`` is the text that snapshots store.

    Parameters
    ----------
    kind : see `CutKind`.
    detail : a description for people: the limit that was reached, or the browser's message.
    """

    kind: CutKind
    detail: str

    def __str__(self) -> str:
        return self.detail if self.kind == "other" else f"{self.kind}: {self.detail}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the cut that a snapshot stores as `text`; any text is valid, and ``str`` returns it unchanged."""
        kind, colon, detail = text.partition(": ")
        return cls(kind, detail) if colon and kind in _NAMED else cls("other", text)  # type: ignore[arg-type]
