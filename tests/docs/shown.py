"""Whether a command printed what the document shows.

``…`` and ``...`` stand for anything. Spaces and ends of lines count alike, since long lines are wrapped in documents.
What another run cannot have alike is written alike first: ids, hashes, times and sizes of files.
"""

import re

_MASKS = (
    (re.compile(r"\b[0-9a-f]{12}\b"), "ID"),
    (re.compile(r"-[0-9a-f]{8}\b(?=\.)"), "-HASH"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)"), "TIME"),
    (re.compile(r"[0-9,]+ (B|bytes)\b"), "SIZE"),
    # JSON with and without spaces.
    (re.compile(r"(\":|,) (?=[\"{[\d]|true|false|null)"), r"\1"),
)
_ANYTHING = re.compile(r"…|\.\.\.")


def masked(words: str) -> str:
    """Return a text with what no two runs have alike written alike."""
    words = " ".join(words.split())
    for pattern, name in _MASKS:
        words = pattern.sub(name, words)
    return words


def missing(shown: str, printed: str) -> str:
    """Return the first part of what is shown that was not printed where it should have been, or nothing."""
    text = masked(printed)
    parts = [masked(part) for part in _ANYTHING.split(shown)]
    place = 0
    for number, part in enumerate(parts):
        at_end = number == len(parts) - 1
        if number == 0 and not text.startswith(part):
            return part
        found = text.rfind(part) if at_end and part else text.find(part, place)
        if found < place:
            return part
        place = found + len(part)
        if at_end and part and place != len(text):
            return f"{part} (and no more)"
    return ""
