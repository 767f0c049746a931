"""The canonical form of words is that of Unicode, however long and disordered a text is."""

import random
import unicodedata

import pytest

from domsieve.analysis.columns.words import _GAPS, fold

# What has a class of combination, or becomes something else in the normal form.
_ODD = [
    character
    for character in map(chr, range(0x110000))
    if unicodedata.combining(character) or unicodedata.decomposition(character)
]


@pytest.mark.parametrize("seed", range(8))
def test_long_texts_are_folded_as_short_ones(seed: int) -> None:
    draw = random.Random(seed)
    marks = [character for character in _ODD if unicodedata.combining(character)]
    letters = [*"aeioAEnN .1_", *map(chr, range(0x1100, 0x1113)), *map(chr, range(0xAC00, 0xAC20))]
    text = "".join(draw.choice(draw.choice((_ODD, marks, letters))) for _ in range(5_000))
    assert fold(text) == _GAPS.sub(" ", unicodedata.normalize("NFKC", text).lower())
