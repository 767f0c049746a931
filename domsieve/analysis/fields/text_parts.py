"""Parts of texts: where in ``"by Stephenie Meyer"`` or ``"ISBN: 978…"`` the value begins and ends.

A part is learned as in wrapper induction with left and right delimiters (LR wrappers: Kushmerick, Weld, Doorenbos;
IJCAI 1997), with three additions: digits of delimiters stand for any digit, a part may be counted in words, and it
may be the first or last date, ISBN, price or number in the text.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

import msgspec

from domsieve.analysis.fields.value_kinds import (
    KINDS_IN_TEXT,
    ValueKind,
    has_digit,
    parts_of_kind,
    without_digits,
)

_LONGEST_DELIMITER = 80
_MOST_TOKENS = 4  # of a delimiter
_MOST_SKIPPED = 6
_MOST_SAMPLES = 60
_MOST_WORDS = 50

Delimiter = Annotated[str, msgspec.Meta(max_length=_LONGEST_DELIMITER)]
Word = Annotated[int, msgspec.Meta(ge=-_MOST_WORDS, le=_MOST_WORDS)]


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where a value begins and ends in a text; by default it is the whole text.

    Parameters
    ----------
    after : the value begins after this text; digits stand for any digit. Empty for the start of the text.
    skip : how many occurrences of `after` come before that one.
    before : the value ends before the next occurrence of this text; empty for the end of the text.
    word : number of the word that the value begins with, from 0; negative numbers count from the end.
    words : number of words of the value; 0 for all up to `before`.
    kind : the value is of this kind; `last` says whether it is the last in the text and not the first.
    last : see `kind`.
    absolute : the text is an address, and the value is the absolute address.
    split : separators between the values of a list.
    """

    after: Delimiter = ""
    skip: Annotated[int, msgspec.Meta(ge=0, le=_MOST_SKIPPED)] = 0
    before: Delimiter = ""
    word: Word | None = None
    words: Annotated[int, msgspec.Meta(ge=0, le=_MOST_WORDS)] = 0
    kind: ValueKind | None = None
    last: bool = False
    absolute: bool = False
    split: Annotated[tuple[Delimiter, ...], msgspec.Meta(max_length=8)] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the value is the whole text."""
        return not (self.after or self.before or self.word is not None or self.words or self.kind)

    def of(self, text: str) -> str:
        """Return the part of a text, empty if the text has no such part."""
        if self.is_whole:
            return text
        if self.kind is not None:
            return self._of_kind(text)
        start = self._start(text)
        if start < 0:
            return ""
        stop = len(text)
        if self.words:
            ends = [word.stop for word in _words(text) if word.start >= start]
            if len(ends) < self.words:
                return ""
            stop = ends[self.words - 1]
        elif self.before:
            stop = without_digits(text).find(without_digits(self.before), start)
        return text[start:stop].strip() if stop >= 0 else ""

    def values(self, text: str) -> list[str]:
        """Return the values in a text: the part, divided at the separators."""
        parts = [self.of(text)]
        for separator in self.split:
            parts = [piece for part in parts for piece in part.split(separator)]
        return [part.strip() for part in parts if part.strip()]

    def _of_kind(self, text: str) -> str:
        found = parts_of_kind(text, self.kind or "text")
        return (found[-1] if self.last else found[0]) if found else ""

    def _start(self, text: str) -> int:
        if self.word is not None:
            words = _words(text)
            return words[self.word].start if -len(words) <= self.word < len(words) else -1
        start = 0
        if self.after:
            plain, after = without_digits(text), without_digits(self.after)
            at = -1
            for _ in range(self.skip + 1):
                at = plain.find(after, at + 1)
                if at < 0:
                    return -1
            start = at + len(after)
        return start


WHOLE = Part()
"""The whole text."""


class Span(NamedTuple):
    """A value in a text: characters ``start .. stop``."""

    text: str
    start: int
    stop: int


def learned_parts(
    examples: Sequence[Span], others: Sequence[str] = (), *, number: bool = False
) -> list[Part]:
    """Return the parts that give the values of all examples, the best first.

    Parameters
    ----------
    examples : the values in their texts.
    others : texts of other pages at the same place. A part that gives nothing for many of them is worse.
    number : whether values must have digits.
    """
    first = min(examples, key=lambda span: len(span.text))
    if all(span.start == 0 and span.stop == len(span.text) for span in examples):
        return [WHOLE]
    wanted = [(span.text, span.text[span.start : span.stop].strip()) for span in examples]
    parts = [
        part
        for part in dict.fromkeys(_proposals(first))
        if all(part.of(text) == value for text, value in wanted)
    ]
    sample = list(dict.fromkeys(others))[:_MOST_SAMPLES]

    def cost(part: Part) -> tuple[float, int, int]:
        values = [part.of(text) for text in sample]
        bad = sum(not value or (number and not has_digit(value)) for value in values)
        return bad / max(len(sample), 1), oddness(part), len(part.after) + len(part.before)

    return sorted(parts, key=cost)


def oddness(part: Part) -> int:
    """Return how much a part says by accident: counted words and blanks say less than delimiters with letters."""
    if part.kind is not None:
        return 2
    odd = 3 * (part.word is not None) + 3 * bool(part.words) + 2 * part.skip
    sides = [side for side in (part.after, part.before) if side]
    return odd + sum(not side.strip() or has_digit(side) for side in sides)


def _proposals(span: Span) -> Iterator[Part]:
    text, start, stop = span
    value = text[start:stop]
    lefts = [*_lefts(text, start)]
    rights = [*_rights(text, stop, value)]
    for left in lefts:
        for right in rights:
            yield msgspec.convert({**left, **right}, Part)
    for kind in KINDS_IN_TEXT:
        if value in parts_of_kind(text, kind):
            yield Part(kind=kind)
            yield Part(kind=kind, last=True)


def _lefts(text: str, start: int) -> Iterator[dict[str, str | int]]:
    if not text[:start].strip():
        yield {}
    plain = without_digits(text)
    for after in _delimiters(reversed(_tokens(text[max(0, start - 200) : start])), backward=True):
        skip = _count(plain[: start - 1], without_digits(after))
        if skip <= _MOST_SKIPPED:
            yield {"after": after, "skip": skip}
    words = _words(text)
    for number, word in enumerate(words):
        if word.start == start:
            if number <= _MOST_WORDS:
                yield {"word": number}
            if len(words) - number <= _MOST_WORDS:
                yield {"word": number - len(words)}


def _rights(text: str, stop: int, value: str) -> Iterator[dict[str, str | int]]:
    if not text[stop:].strip():
        yield {}
    for before in _delimiters(_tokens(text[stop : stop + 200]), backward=False):
        yield {"before": before}
    if (count := len(value.split())) <= _MOST_WORDS and (stop == len(text) or text[stop] == " "):
        yield {"words": count}


def _delimiters(tokens: Iterable[str], *, backward: bool) -> Iterator[str]:
    delimiter = ""
    for number, token in enumerate(tokens):
        delimiter = token + delimiter if backward else delimiter + token
        if number >= _MOST_TOKENS or len(delimiter) > _LONGEST_DELIMITER:
            return
        yield delimiter


def _count(text: str, part: str) -> int:
    """Return the number of occurrences, which may overlap, as `Part.skip` counts them."""
    number, at = 0, text.find(part)
    while at >= 0 and number <= _MOST_SKIPPED:
        number, at = number + 1, text.find(part, at + 1)
    return number


def _tokens(text: str) -> list[str]:
    """Return a text as runs of letters and digits, and single other characters."""
    tokens: list[str] = []
    inside = False
    for character in text:
        is_word = character.isalnum()
        if is_word and inside:
            tokens[-1] += character
        else:
            tokens.append(character)
        inside = is_word
    return tokens


class _Word(NamedTuple):
    start: int
    stop: int


def _words(text: str) -> list[_Word]:
    words: list[_Word] = []
    at = 0
    for word in text.split():
        at = text.index(word, at)
        words.append(_Word(at, at + len(word)))
        at += len(word)
    return words
