"""Amounts of money in texts: their numbers in the notations of many countries, and their currencies."""

import re
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from domsieve.analysis.columns.flow import word_set
from domsieve.urls import split_url

_SIGNS = {
    "€": "EUR",
    "£": "GBP",
    "₽": "RUB",
    "₹": "INR",
    "₩": "KRW",
    "원": "KRW",
    "₴": "UAH",
    "₸": "KZT",
    "₪": "ILS",
    "₺": "TRY",
    "₫": "VND",
    "฿": "THB",
    "₱": "PHP",
    "₦": "NGN",
    "zł": "PLN",
    "kč": "CZK",
    "円": "JPY",
    "r$": "BRL",
    "us$": "USD",
    "c$": "CAD",
    "ca$": "CAD",
    "au$": "AUD",
    "a$": "AUD",
    "nz$": "NZD",
    "hk$": "HKD",
    "nt$": "TWD",
    "s$": "SGD",
    "mx$": "MXN",
    "руб": "RUB",
    "б.р.": "BYN",
    "тг": "KZT",
    "грн": "UAH",
    "лв": "BGN",
    "lei": "RON",
    "ft": "HUF",
    "euro": "EUR",
    "eur": "EUR",
    "fr.": "CHF",
    "sfr.": "CHF",
    "rp": "IDR",
    "ر.س": "SAR",
    "د.إ": "AED",
    "tl": "TRY",
    "kn": "HRK",
    "rur": "RUB",
    "rmb": "CNY",
}
_CODES = word_set("""
AED ARS AUD BAM BGN BHD BRL BYN CAD CHF CLP CNY COP CZK DKK EGP EUR GBP GEL HKD HRK HUF IDR ILS INR ISK JOD JPY KRW
KWD KZT LKR MAD MKD MXN MYR NGN NOK NZD OMR PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD THB TND TRY TWD UAH USD UYU
VND ZAR
""")
# Signs that several countries use, with the currency by the end of the host name, and otherwise.
_SHARED = {
    "$": {
        "ca": "CAD",
        "au": "AUD",
        "nz": "NZD",
        "tw": "TWD",
        "cl": "CLP",
        "mx": "MXN",
        "ar": "ARS",
        "co": "COP",
        "hk": "HKD",
        "sg": "SGD",
        "uy": "UYU",
        "": "USD",
    },
    "元": {"tw": "TWD", "hk": "HKD", "": "CNY"},
    "¥": {"cn": "CNY", "": "JPY"},
    "￥": {"cn": "CNY", "": "JPY"},
    "kr": {"no": "NOK", "dk": "DKK", "is": "ISK", "": "SEK"},
    "rs": {"pk": "PKR", "lk": "LKR", "": "INR"},
}
_THREE_DECIMALS = frozenset(("BHD", "JOD", "KWD", "OMR", "TND"))
_MARKS = [sign for sign in (*_SIGNS, *_SHARED) if not sign[0].isalpha()]
_WORDS = [sign for sign in (*_SIGNS, *_SHARED, *map(str.lower, _CODES)) if sign[0].isalpha()]


def _any_of(signs: list[str]) -> str:
    return "|".join(map(re.escape, sorted(set(signs), key=lambda sign: (-len(sign), sign))))


# A sign of letters is not part of a longer word.
_SIGN = rf"{_any_of(_MARKS)}|(?<![^\W\d_])(?:{_any_of(_WORDS)})(?![^\W\d_])"
_NUMBER = r"\d{1,12}(?:[ \u00a0\u202f.,'’]\d{2,3}){0,4}(?:[.,]\d{1,4})?(?![\d%]|[\s\u00a0]%)"
_AMOUNT = re.compile(
    rf"(?P<before>{_SIGN})?\.?[\s\u00a0]{{0,3}}(?<![\d.,])(?P<number>{_NUMBER})"
    rf"(?:[.,]?[-–—]{{1,2}})?(?:[\s\u00a0]{{0,3}}(?P<after>{_SIGN}))?",
    re.IGNORECASE,
)
_DASH = re.compile(r"[\s\u00a0]{0,3}[-–—][\s\u00a0]{0,3}")
_MACHINE = re.compile(r"\d{1,12}(?:\.\d{1,6})?")
_GROUPS = re.compile(r"[ \u00a0\u202f'’]")
LARGEST = Decimal(10) ** 10


class Amount(NamedTuple):
    """An amount of money.

    Parameters
    ----------
    value : the number, greater than zero.
    sign : the currency as it is written, in lower case; empty without one.
    start, end : the place in the text.
    """

    value: Decimal
    sign: str
    start: int
    end: int


def amounts_in(text: str) -> list[Amount]:
    """Return the numbers of a short text that can be amounts of money, in order; not zero."""
    found: list[Amount] = []
    for match in _AMOUNT.finditer(text):
        written = match["before"] or match["after"] or ""
        sign = "" if written == "ft" else written.casefold()  # feet; the forint is Ft
        value = number_of(match["number"], three_decimals=sign.upper() in _THREE_DECIMALS)
        if not value:
            continue
        if found and _DASH.fullmatch(
            text, found[-1].end, match.start()
        ):  # a range, with the currency at one end
            sign = sign or found[-1].sign
            found[-1] = found[-1]._replace(sign=found[-1].sign or sign)
        found.append(Amount(value, sign, match.start(), match.end()))
    return found


def number_of(text: str, *, three_decimals: bool = False) -> Decimal | None:
    """Return the number in the notation of any country, None if it is too large.

    The last point or comma is the decimal one if one or two digits follow, or any number but three. Of a number with
    one separator and three digits after it, the separator divides thousands, unless the number begins with 0.
    """
    text = _GROUPS.sub("", text)
    at = max(text.rfind("."), text.rfind(","))
    if at >= 0:
        mark, decimals = text[at], len(text) - at - 1
        is_group = decimals == 3 and not (three_decimals or (text[:at] == "0"))
        if is_group or text.count(mark) > 1:
            text = text.replace(".", "").replace(",", "")
        else:
            text = text[:at].replace(".", "").replace(",", "") + "." + text[at + 1 :]
    try:
        value = Decimal(text)
    except InvalidOperation:
        return None
    return value if value < LARGEST else None


def stated_number(text: str) -> Decimal | None:
    """Return the number of a price in structured data, where a point is a decimal point; None without a number."""
    text = text.strip()[:100]
    if _MACHINE.fullmatch(text):
        return Decimal(text) if Decimal(text) < LARGEST else None
    amounts = amounts_in(text)
    return amounts[0].value if amounts else None


def currency_code(text: str, address: str) -> str:
    """Return the ISO 4217 code of a sign or code of a currency, empty if it is unknown.

    Parameters
    ----------
    text : the sign or code.
    address : address of the page, whose country decides between the currencies of one sign.
    """
    text = text.strip().casefold()[:10]
    if text.upper() in _CODES:
        return text.upper()
    if code := _SIGNS.get(text) or _SIGNS.get(text.rstrip(".")):
        return code
    shared = _SHARED.get(text.rstrip("."))
    if shared is None:
        return ""
    parts = split_url(address)
    country = parts.hostname.rpartition(".")[2] if parts is not None and parts.hostname else ""
    return shared.get(country, shared[""])


def plain_number(value: Decimal) -> str:
    """Return a number as digits with at most one point; zeros behind the second decimal are left out."""
    text = f"{value:f}"
    if "." not in text:
        return text
    whole, _, decimals = text.partition(".")
    decimals = decimals.rstrip("0")
    return f"{whole}.{decimals:0<2}" if decimals else whole
