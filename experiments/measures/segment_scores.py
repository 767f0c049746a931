"""Segments of text that an extractor keeps or drops, counted as trafilatura's own evaluation counts them."""

from collections.abc import Sequence


def count_segments(text: str, wanted: Sequence[str], unwanted: Sequence[str]) -> list[int]:
    """Return how many wanted and unwanted segments are in a text, and how many of each are not.

    A segment is in the text when white space makes the only difference; case counts.
    """
    whole = _spaced(text)
    kept, leaked = (sum(_spaced(segment) in whole for segment in group) for group in (wanted, unwanted))
    return [kept, leaked, len(wanted) - kept, len(unwanted) - leaked]


def _spaced(text: str) -> str:
    return " ".join(text.split())
