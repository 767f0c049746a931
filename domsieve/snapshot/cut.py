"""Why a page is not whole: what was cut from it, as a kind that programs read and words that people read.

A page keeps its cuts as texts, ``"time: 20 s are used up while loading"``. This module alone knows how they begin.
Imports nothing of the project.
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
"""What ended or shortened a page; ``"other"`` is what says no kind, such as the reasons of the HTML parser."""

_NAMED = frozenset(get_args(CutKind)) - {"other"}


@dataclass(frozen=True, slots=True)
class Cut:
    """One reason why a page is not whole. Its text is the form in which pages keep it.

    Parameters
    ----------
    kind : see `CutKind`.
    detail : for people: which limit, or what the browser said.
    """

    kind: CutKind
    detail: str

    def __str__(self) -> str:
        return self.detail if self.kind == "other" else f"{self.kind}: {self.detail}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the cut that a page keeps as `text`; every text is one, and ``str`` gives it back."""
        kind, colon, detail = text.partition(": ")
        return cls(kind, detail) if colon and kind in _NAMED else cls("other", text)  # type: ignore[arg-type]
