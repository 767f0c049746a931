"""Values as people write them: how two are compared, and what kind of value a text is."""

import re
from typing import Literal

ValueKind = Literal["date", "isbn", "link", "number", "price", "text"]
"""What a value looks like; ``"text"`` is everything else."""

DIGIT_KINDS = frozenset(("date", "isbn", "number", "price"))
"""Kinds whose values all have a digit."""

LONGEST_VALUE = 10_000
"""Maximum length of a value in characters."""

# Bounded repetitions, so that strangers' text takes linear time.
_AMOUNT = r"\d{1,12}(?:[.,' ]\d{1,12}){0,4}"
_CURRENCY = r"(?:[$€£¥₹₽₩₺]|(?:US|AU|CA|NZ|HK)\$|(?:USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|kr|zł)\b)"
_PRICE = re.compile(rf"{_CURRENCY} ?{_AMOUNT}|{_AMOUNT} ?{_CURRENCY}")
_NUMBER = re.compile(rf"[-+]?{_AMOUNT}")
_ISBN = re.compile(r"\b(?:97[89][- ]?)?\d(?:[- ]?\d){8}[- ]?[\dXx]\b")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mai|juin|okt|dez)[a-zé]{0,8}\.?"
_DATE = re.compile(
    rf"\b\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}\b|\b\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{2,4}}\b"
    rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{2,4}}\b"
    rf"|\b\d{{1,2}}\.? {_MONTH} \d{{2,4}}\b|\b{_MONTH},? \d{{4}}\b",
    re.IGNORECASE,
)
KINDS_IN_TEXT: tuple[ValueKind, ...] = ("date", "isbn", "price", "number")
"""The kinds that can be found in a longer text, the most specific first."""
_READ = 2_000


def parts_of_kind(text: str, kind: ValueKind) -> list[str]:
    """Return the dates, ISBNs, prices or numbers in the first 2,000 characters of a text."""
    text = text[:_READ]
    if kind == "date":
        return [match[0] for match in _DATE.finditer(text)]
    if kind == "isbn":
        return [match[0] for match in _ISBN.finditer(text)]
    if kind == "price":
        return [match[0] for match in _PRICE.finditer(text)]
    return [match[0] for match in _NUMBER.finditer(text)] if kind == "number" else []


def flat(text: str) -> str:
    """Return a text as one line with single spaces."""
    return " ".join(text.split())


def folded(text: str) -> str:
    """Return a text as it is compared: one line, without case, with plain quotes and dashes of equal length."""
    text = flat(text)
    return (text if text.isascii() else text.translate(_PLAIN)).lower()


_PLAIN = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u02bc\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-"),
    0x130: "i",  # its lower case has two characters
}


def kind_of(value: str) -> ValueKind:
    """Return the kind of a value; a value with further words is a text."""
    if len(value) > 200:
        return "text"
    if value.lower().startswith(("http://", "https://", "/")) and " " not in value:
        return "link"
    if _DATE.fullmatch(value):
        return "date"
    if _ISBN.fullmatch(value):
        return "isbn"
    if _PRICE.fullmatch(value):
        return "price"
    return "number" if _NUMBER.fullmatch(value) else "text"


def has_digit(text: str) -> bool:
    """Return whether a text has a digit, as all dates, numbers and prices have."""
    return any(map(str.isdigit, text))


_DIGITS = str.maketrans("123456789", "000000000")


def without_digits(text: str) -> str:
    """Return a text with every digit replaced by 0, so that texts that only count differently are equal."""
    return text.translate(_DIGITS)
