"""What the values of a column hold: a price, a date, a number or other text. Imports the vocabulary's types only.

The values decide, of any site: nothing was learned. A price is an amount with its currency, a date has a day or a
month beside its year, a number stands alone. Read off the first values of a column, of each its beginning.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

from domsieve.budget import check

ValueType = Literal["price", "date", "number", "text"]

_READ = 60  # characters of a value; what is longer is a text
_MOST_WORDS = 6
_MOST = 0.6  # share of the values that have to be of a type
_NUMBER = re.compile(r"[#(]?[+-]?\d[\d.,' \u00a0\u202f]{0,20}[.)%]?")
_DAY = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}\b|\d{4}-\d{2}\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD = re.compile(r"[^\W\d_]+")
_CURRENCY_WORDS = (
    "aud brl cad chf cny czk dkk eur ft gbp hkd huf ils inr jpy krw kr kč lei mxn nok nzd pln ron rub sek "
    "sgd thb try twd uah usd zar zł руб fr rs "
)
_CURRENCIES = frozenset(_CURRENCY_WORDS.split())
# How months begin in languages of Latin script.
_MONTH_WORDS = (
    "jan ene gen feb fév mar mär mrt apr avr abr may mai maj mei mag jun jui giu jul lug aug aoû ago sep set oct okt "
    "ott out nov dec dez déc dic"
)
_MONTHS = tuple(_MONTH_WORDS.split())


def type_of(values: Sequence[str]) -> ValueType:
    """Return what most of `values` are, ``"text"`` where most are no one other thing."""
    check()
    types = [_type(value) for value in values]
    for kind in ("price", "date", "number"):
        if types and types.count(kind) >= _MOST * len(types):
            return kind
    return "text"


def _type(value: str) -> ValueType:
    text = value[: _READ + 1].strip()
    if not text or len(text) > _READ or not any(character.isdigit() for character in text):
        return "text"
    if len(text.split()) > _MOST_WORDS:
        return "text"
    if _has_currency(text):
        return "price"
    if _is_date(text):
        return "date"
    return "number" if _NUMBER.fullmatch(text) else "text"


def _has_currency(text: str) -> bool:
    return any(unicodedata.category(character) == "Sc" for character in text) or any(
        word.casefold() in _CURRENCIES for word in _WORD.findall(text)
    )


def _is_date(text: str) -> bool:
    if _DAY.search(text):
        return True
    words = [word.casefold() for word in _WORD.findall(text)]
    return bool(_YEAR.search(text)) and any(word.startswith(_MONTHS) for word in words)
