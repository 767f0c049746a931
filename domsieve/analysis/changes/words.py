"""The words of passages, and the edits between two sequences of words."""

import re
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from domsieve.analysis.columns.flow import word_set
from domsieve.budget import check

_ADDRESS = re.compile(r"\]\([^()\s]*\)")
_MOST_PAIRS = 250_000
"""Pairs of words, or of lines, that are compared one with another; more are not looked into."""

# Words that stand for numbers in dates and times, after ``casefold`` and without marks around them.
_TIME_WORDS = word_set("""
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember
lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août septembre octobre
novembre décembre lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio
agosto septiembre octubre noviembre diciembre lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio
febbraio aprile maggio giugno luglio settembre ottobre dicembre
today yesterday tomorrow now ago heute gestern hier hoy ayer oggi ieri am pm
second seconds minute minutes hour hours day days week weeks month months year years
sekunde sekunden minuten stunde stunden tag tage tagen woche wochen monat monate monaten jahr jahre jahren
""")
_MARKS = "*_`~|#>\"'“”‘’„«»()[]{}.,;:!?…-–—"
NUMBER = "#"
"""The word of a skeleton that stands for numbers, dates and times."""


class Edit(NamedTuple):
    """Words ``old_start:old_end`` of the old version are replaced by words ``new_start:new_end`` of the new one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def words_in(text: str) -> list[str]:
    """Return the words of a Markdown text as readers see them, without addresses of links and images."""
    return _ADDRESS.sub("]", text).split()


def lines_in(text: str) -> list[list[str]]:
    """Return the words of each line of a Markdown text; together they are those of `words_in`."""
    return [line.split() for line in _ADDRESS.sub("]", text).split("\n")]


def is_number(word: str) -> bool:
    """Return whether a word is a number, or a part of a date or time."""
    bare = word.strip(_MARKS)
    return any(map(str.isdigit, bare)) or bare.casefold() in _TIME_WORDS


def skeleton(words: Sequence[str]) -> str:
    """Return words with each run of numbers, dates and times replaced by `NUMBER`."""
    found: list[str] = []
    for word in words:
        one = NUMBER if is_number(word) else word
        if one != NUMBER or found[-1:] != [NUMBER]:
            found.append(one)
    return " ".join(found)


def edits(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Edit]:
    """Return the edits from one sequence of words or lines to another, in their order.

    Takes time in proportion to the words, except for what is between equal beginnings and ends: it is compared word
    by word if it is short, and counts as one edit if it is long.
    """
    start, old_end, new_end = 0, len(old), len(new)
    while start < min(old_end, new_end) and old[start] == new[start]:
        start += 1
    while old_end > start and new_end > start and old[old_end - 1] == new[new_end - 1]:
        old_end, new_end = old_end - 1, new_end - 1
    if start == old_end and start == new_end:
        return []
    if (old_end - start) * (new_end - start) > _MOST_PAIRS:
        return [Edit(start, old_end, start, new_end)]
    return [
        Edit(start + a, start + b, start + c, start + d)
        for a, b, c, d in _operations(old[start:old_end], new[start:new_end])
    ]


def line_edits(old: Sequence[Sequence[str]], new: Sequence[Sequence[str]]) -> list[Edit]:
    """Return the edits between two texts that are given as lines of words; counted are words.

    Lines are compared first, so that long texts, such as tables and code, need little time.
    """
    if sum(map(len, old)) * sum(map(len, new)) <= _MOST_PAIRS:
        return edits([word for line in old for word in line], [word for line in new for word in line])
    places = [_places(lines) for lines in (old, new)]
    found: list[Edit] = []
    for a, b, c, d in edits([tuple(line) for line in old], [tuple(line) for line in new]):
        check()
        first, second = places[0][a], places[1][c]
        inside = edits([w for line in old[a:b] for w in line], [w for line in new[c:d] for w in line])
        found += [Edit(first + e[0], first + e[1], second + e[2], second + e[3]) for e in inside]
    return found


def _places(lines: Sequence[Sequence[str]]) -> list[int]:
    """Return the number of words before each line, and in all."""
    places = [0]
    for line in lines:
        places.append(places[-1] + len(line))
    return places


def _operations(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[tuple[int, int, int, int]]:
    check()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(a, b, c, d) for kind, a, b, c, d in matcher.get_opcodes() if kind != "equal"]
