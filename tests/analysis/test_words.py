"""The canonical form of words is that of Unicode, however long and disordered a text is."""

import random
import unicodedata

import pytest

from domsieve.analysis.columns.words import _GAPS, fold, folded

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


@pytest.mark.parametrize("seed", range(8))
def test_many_texts_are_folded_as_each_alone(seed: int) -> None:
    draw = random.Random(seed)
    pieces = ["Bees", "hive-7", " ", "\n", "\t", "\x0b", "\x1f", "ß", "É", "İ", "蜂", "_", ".", "", *_ODD[:9]]
    texts = ["".join(draw.choices(pieces, k=draw.randrange(6))) for _ in range(draw.randrange(40))]
    assert folded(texts) == [" ".join(fold(text).split()) for text in texts]
