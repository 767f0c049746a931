"""Whether a title, the names of authors and a date are the right ones: the same measure for all systems."""

import re
import unicodedata
from collections.abc import Iterable

_PARTS = re.compile(r"[,;|&/]|\s(?:and|et|und|y)\s")
_BY = re.compile(r"(?:written by|by|par|por|von) ")
# Letters behind a name, which some systems keep and others do not.
_DEGREES = frozenset(("cfp", "cpa", "jr", "ma", "mba", "md", "ms", "phd", "rd", "rn"))


def plain_title(text: str) -> str:
    """Return a title as it is compared: letters and figures in lower case, in their normal form."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in folded).split())


def plain_names(texts: Iterable[str]) -> frozenset[str]:
    """Return names of authors as they are compared: parted, without ``By`` and degrees, in no order."""
    parts = (plain_title(part) for text in texts for part in _PARTS.split(text))
    return frozenset(_BY.sub("", part, count=1) for part in parts) - _DEGREES - {""}


def same_day(found: str, truth: str) -> bool:
    """Return whether a date is the day, or in the month, that the truth names; times do not count."""
    return bool(truth) and found[: len(truth)] == truth
