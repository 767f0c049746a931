"""Cut a version of a page into passages at the places where the last version was cut.

A long section has several passages. If text is inserted in the first of them, the words in all of them shift,
although nothing changed in the later ones. So they begin where they began before, unless they become too long.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import groupby

import msgspec

from domsieve.analysis.changes.passages import Passage
from domsieve.analysis.changes.words import words_in
from domsieve.analysis.writers.chunks import MAX_WORDS

_MOST_WORDS = 2 * MAX_WORDS
_FENCES = ("```", "~~~")


def cut_as_before(passages: Sequence[Passage], before: Sequence[Passage]) -> list[Passage]:
    """Return passages with the same text, cut where the last version of the page was cut.

    Parameters
    ----------
    passages : of the page, in their order.
    before : of its last version.
    """
    starts: dict[tuple[tuple[str, ...], str], set[str]] = defaultdict(set)
    for section, several in groupby(before, _section):
        starts[section] |= {first for one in [*several][1:] for first in _parts(one.text)[:1]}
    found: list[Passage] = []
    for section, several in groupby(passages, _section):
        own = [*several]
        if len(own) == 1 and not starts[section]:
            found += own
            continue
        texts = _cut([part for one in own for part in _parts(one.text)], starts[section])
        if max(len(words_in(text)) for text in texts) > _MOST_WORDS:
            found += own
        else:
            found += [msgspec.structs.replace(own[0], text=text) for text in texts]
    return found


def _section(passage: Passage) -> tuple[tuple[str, ...], str]:
    return passage.headings, passage.fragment


def _cut(parts: Iterable[str], starts: set[str]) -> list[str]:
    """Return parts joined to texts that begin at a start, or where a text becomes too long."""
    texts: list[list[str]] = []
    words = 0
    for part in parts:
        own = len(words_in(part))
        if not texts or part in starts or (words + own > MAX_WORDS and not starts):
            texts.append([])
            words = 0
        texts[-1].append(part)
        words += own
    return ["\n\n".join(text) for text in texts]


def _parts(text: str) -> list[str]:
    """Return the parts of a Markdown text between blank lines, code in one part."""
    parts: list[str] = []
    fence = ""
    for part in text.split("\n\n"):
        if fence:
            parts[-1] += f"\n\n{part}"
        else:
            parts.append(part)
        for line in part.split("\n"):
            mark = line.lstrip()[:3]
            if mark in _FENCES and (not fence or mark == fence):
                fence = "" if fence else mark
    return parts
