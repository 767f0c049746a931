"""The price that a page shows for its product: the prominent amount near the name.

In rendered pages, size, weight and boxes say what is prominent and near. Raw pages have no layout, and the tag path,
the order of the texts, and the words of classes and labels are the evidence.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from decimal import Decimal
from itertools import pairwise
from math import hypot
from typing import NamedTuple

import numpy as np

from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.metadata._amounts import Amount, amounts_in
from domsieve.analysis.metadata._elements import Elements, Places
from domsieve.budget import check

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_PRICE = word_set(
    "price prices preis prix precio prezzo preco preço cena cijena ceny cenu fiyat prijs pris pret hinta hind amount "
    "prc pricing kaina ar money"
)
_NOW = word_set(
    "current sale special final now our offer actual selling sell main primary buy buybox deal discounted reduced "
    "lowest value live"
)
_OLD = word_set("old original before previous retail compare former ")
_CROSSED = word_set("was rrp msrp uvp strike striked strikethrough crossed linethrough")
# Words before an amount that is not the price of the product, or around it in the same text.
_OTHER_WORDS = (
    r"was|original|regular|retail|old|rrp|msrp|uvp|statt|list price|save|saving|shipping|delivery|postage|versand|"
    r"livraison|spedizione|env[ií]o|frete|deposit|trade[ -]in|used|refurbished|gebraucht|unit price|coupon|instead|"
    r"ancien prix|au lieu de|antes|economize|points?|warranty|garantie|garanzia|insurance|доставка|скидка|рассрочка"
)
_OTHER_LABEL = re.compile(rf"\b(?:{_OTHER_WORDS})\b", re.IGNORECASE)
_OTHER_TEXT = re.compile(
    rf"\b(?:{_OTHER_WORDS}|monthly|installments?|instalments?|over|orders?|minimum|free|off|credit|gift|juros|rates?|"
    r"parcelas?|\dx|x de)\b",
    re.IGNORECASE,
)
_NET = re.compile(
    r"\b(?:excl|ex|exkl|ohne|without|brez|bez|hors|sem|senza|sin|uden|zonder|без)\.? (?:vat|gst|tax|taxes|mwst|ust|"
    r"ddv|dph|pdv|pvn|pvm|tva|iva|moms|btw|ндс)\b",
    re.IGNORECASE,
)
# Texts behind an amount of another kind: "/month", "shipping".
_OTHER_REST = re.compile(
    r"\W{0,3}(?:/|(?:per|pro|je|par|p/m|shipping|delivery|off|saved|discount|monthly|month|mo|x|×)\b)",
    re.IGNORECASE,
)
_NOT = word_set(
    "shipping delivery postage installment installments instalment monthly finance saving savings warranty"
)
_STRUCK = frozenset(("del", "s", "strike"))
_LOUD = {"h1": 2.0, "h2": 1.5, "h3": 1.0, "strong": 1.0, "b": 1.0, "em": 0.5}
_LABEL = re.compile(
    r"price|preis|prix|precio|prezzo|pre[cç]o|cena|cijena|ár\b|hinta|pris\b|prijs|pre[tț]\b|fiyat|цена|ціна|價|价|가격|السعر|מחיר",
    re.IGNORECASE,
)
_LONGEST_LABEL = 40  # characters
_LONGEST_AMOUNT = 40  # characters of an element that shows an amount
_MOST_WORDS = 6  # of a text, besides the price
_DEEPEST_CUT = 3  # an old price is at most so many times the new one
_SHORT = 12  # characters besides the price
_LONGEST_LINE = 160
_BEFORE, _AFTER = 250, 500  # shown texts before and after the name that are read. A guess
_DIGIT = re.compile(r"\d")
_ANCESTORS = 4
# Weights: guesses that worked on the development pages.
_LEAST = -2.0
_TEXTS_OF_A_POINT, _PX_OF_A_POINT = 12, 120
_MOST_LOST = 40.0  # points


class Shown(NamedTuple):
    """An amount that the page shows.

    Parameters
    ----------
    value : the number.
    sign : the currency as it is written near the number; may be empty.
    node : the element that shows it.
    score : the higher, the likelier it is the price.
    struck : it is struck through or called an old price.
    alike : number of different amounts in elements of the same tags and classes; many are those of a list.
    """

    value: Decimal
    sign: str
    node: int
    score: float
    struck: bool
    alike: int


class ShownPrices:
    """The amounts that a page shows.

    Parameters
    ----------
    elements : elements of the page.
    places : distances from the name of the product.
    """

    def __init__(self, elements: Elements, places: Places) -> None:
        self._elements = elements
        self._places = places
        self._words: dict[int, frozenset[str]] = {}

    def found(self, stated: frozenset[Decimal]) -> list[Shown]:
        """Return the amounts, the likeliest first.

        Parameters
        ----------
        stated : prices of the product in structured data.
        """
        held = self._held()
        paths: dict[int, str] = {node: self._path(node) for node in held}
        alike: dict[str, set[Decimal]] = defaultdict(set)
        for node, amount in held.items():
            alike[paths[node]].add(amount.value)
        times = Counter(amount.value for amount in held.values())
        shown = []
        reduced = self._reduced(held)
        for node, amount in held.items():
            check()
            struck = self._is_struck(node)
            score = self._score(node, amount) - 8 * struck + reduced.get(node, 0)
            score -= min(len(alike[paths[node]]) - 1, 5)
            score += min(times[amount.value] - 1, 2) / 2
            if stated and not any(
                price / _DEEPEST_CUT < amount.value < price * _DEEPEST_CUT for price in stated
            ):
                score -= 6  # that of another thing
            score += 7 * (amount.value in stated and not struck and not self._own_words(node) & _OLD)
            shown.append(Shown(amount.value, amount.sign, node, score, struck, len(alike[paths[node]])))
        return sorted(shown, key=lambda one: (-one.score, one.node))

    def _reduced(self, held: dict[int, Amount]) -> dict[int, float]:
        """Return scores for pairs of amounts next to each other: the lower is the price, the higher the old one."""
        scores: dict[int, float] = {}
        nodes = sorted(held)
        for first, second in pairwise(nodes):
            low, high = sorted((held[first].value, held[second].value))
            apart = self._places.distance(second) - self._places.distance(first)
            if not (held[first].sign and held[first].sign == held[second].sign) or abs(apart) > 3:
                continue
            other = any(
                _OTHER_REST.match(self._behind(node, held[node])) or _NET.search(self._neighbours(node)[0])
                for node in (first, second)
            )
            if low < high <= _DEEPEST_CUT * low and self._is_near(first, second) and not other:
                for node in (first, second):
                    scores[node] = 1.5 if held[node].value == low else -3
        return scores

    def _is_near(self, first: int, second: int) -> bool:
        """Return whether two elements have an ancestor in common that is not far up."""
        around = first
        for _ in range(3):
            around = max(int(self._elements.parent[around]), 0)
            if second < self._elements.end[around]:
                return around > 0
        return False

    def _held(self) -> dict[int, Amount]:
        """Return the elements that show an amount and nothing else, or a line with an amount of a currency."""
        held: dict[int, Amount] = {}
        last = -1
        for node, text in self._places.texts(_BEFORE, _AFTER):
            if node < last or len(text) > _LONGEST_LINE or not _DIGIT.search(text):
                continue
            check()
            around, amount = self._amount_of(node)
            if amount is not None and around not in held:
                held[around] = amount
                last = int(self._elements.end[around])
        return held

    def _amount_of(self, text: int) -> tuple[int, Amount | None]:
        """Return the smallest element around a text that shows an amount with a currency, else one named a price."""
        elements = self._elements
        own = _digits(elements.page.text_of(text))
        parent = around = int(elements.parent[text])
        best: tuple[int, Amount | None] = (around, None)
        for _ in range(_ANCESTORS):
            if around <= 0 or elements.tag(around) in {"body", "tr", "ul", "table"}:
                break
            joined = self._joined(around)
            longest = _LONGEST_LINE if around == parent else _LONGEST_AMOUNT
            if len(joined) > longest:
                break
            amounts = [
                one
                for one in amounts_in(joined)
                if _digits(joined[one.start : one.end]) in own or own in _digits(joined[one.start : one.end])
            ]
            signed = [one for one in amounts if one.sign]
            if signed and (around == parent or len({one.value for one in signed}) == 1):
                return around, signed[0]
            if signed:
                break
            if (
                best[1] is None
                and len(amounts) == 1
                and len(joined) <= _LONGEST_AMOUNT
                and not any(map(str.isalpha, joined))
                and self._named(around) & _PRICE
            ):
                best = around, amounts[0]
            around = int(elements.parent[around])
        return best

    def _joined(self, node: int) -> str:
        """Return the shown text of a small element, with a point before cents that are raised or named so."""
        elements = self._elements
        parts: list[str] = []
        last = -1
        for text in elements.texts_within(node)[:12]:
            piece = elements.page.text_of(text).strip()
            parent = int(elements.parent[text])
            # Digits of two elements without a mark between them are a number and its raised cents.
            is_cents = (
                piece.isdigit() and len(piece) == 2 and parent != last and parts and parts[-1][-1:].isdigit()
            )
            last = parent
            parts.append(f".{piece}" if is_cents else f" {elements.page.text_of(text)}")
        return _SPLIT_DECIMALS.sub(r"\1\2\3", " ".join("".join(parts).split()))

    def _own_words(self, node: int) -> frozenset[str]:
        if node not in self._words:
            attributes = self._elements.attributes(node)
            names = (
                attributes.get(name, "") for name in ("class", "id", "itemprop", "data-test", "data-testid")
            )
            self._words[node] = frozenset(
                word for name in names for word in map(str.lower, _WORDS.findall(name[:300]))
            )
        return self._words[node]

    def _named(self, node: int) -> frozenset[str]:
        """Return the words of the class, id and similar attributes of an element and its nearest ancestors."""
        words: set[str] = set()
        for _ in range(_ANCESTORS):
            if node <= 0:
                break
            words |= self._own_words(node)
            node = int(self._elements.parent[node])
        return frozenset(words)

    def _path(self, node: int) -> str:
        parts = []
        for _ in range(5):
            if node <= 0:
                break
            parts.append(
                f"{self._elements.tag(node)}.{self._elements.attributes(node).get('class', '')[:200]}"
            )
            node = int(self._elements.parent[node])
        return "<".join(parts)

    def _is_struck(self, node: int) -> bool:
        around, elements = node, self._elements
        if self._own_words(node) & _CROSSED:
            return True
        for _ in range(_ANCESTORS):
            if around <= 0:
                return False
            if elements.tag(around) in _STRUCK or "line-through" in elements.style(
                around, "text-decoration-line"
            ):
                return True
            around = int(elements.parent[around])
        return False

    def _score(self, node: int, amount: Amount) -> float:
        elements, places = self._elements, self._places
        score = -self._distance(node)
        if places.is_beside(node):
            score -= 6
        words = self._own_words(node) | self._own_words(int(elements.parent[node]))
        far = self._named(node)
        score += (
            5 * bool(far & _PRICE) + 2 * bool(words & _NOW) - 4 * bool(words & _OLD) - 2 * bool(far & _OLD)
        )
        score += 3 * bool(amount.sign) - 8 * bool(far & _NOT)
        score += self._said(node, amount)
        around = node
        for _ in range(8):
            if around <= 0:
                break
            tag = elements.tag(around)
            score += _LOUD.get(tag, 0)
            if tag == "a" and elements.attributes(around).get("href", "#")[:1] not in {"#", ""}:
                score -= 5
            if tag in {"option", "label"}:
                score -= 2
            around = int(elements.parent[around])
        return score + self._size(node)

    def _distance(self, node: int) -> float:
        """Return how far an amount is from the name: by boxes, or by the texts between them in raw pages."""
        name, page = self._places.title, self._elements.page
        texts = [next(iter(self._elements.texts_within(one)), -1) for one in (name, node)]
        if page.has_layout and name and min(texts) >= 0:
            (x, y, width, height), (left, top, wide, high) = page.box[texts].tolist()
            gap_x = max(left - (x + width), x - (left + wide), 0)
            gap_y = max(top - (y + height), y - (top + high), 0)
            return min(hypot(gap_x, gap_y) / _PX_OF_A_POINT, _MOST_LOST)
        before = 1.5 if node < name else 0
        return min(self._places.distance(node) / _TEXTS_OF_A_POINT, _MOST_LOST) + before

    def _said(self, node: int, amount: Amount) -> float:
        """Return what the words around an amount say of it."""
        text = self._joined(node)
        rest = f"{text[: amount.start]} {text[amount.end :]}".strip()
        before, _ = self._neighbours(node)
        if any(one.sign for one in amounts_in(before)):  # the words belong to that amount
            before = ""
        score = 1.5 * (len(rest) <= _SHORT)
        if _OTHER_TEXT.search(rest):
            score -= 4
        if _OTHER_REST.match(self._behind(node, amount)):
            score -= 3
        if len(rest.split()) > _MOST_WORDS:  # in a sentence
            score -= 4
        if _OTHER_LABEL.search(before):
            score -= 4
        elif _LABEL.search(before):
            score += 3
        return score

    def _behind(self, node: int, amount: Amount) -> str:
        """Return the text behind an amount, in its element or the next one."""
        return self._joined(node)[amount.end :] or self._neighbours(node)[1]

    def _neighbours(self, node: int) -> tuple[str, str]:
        """Return the texts just before and behind an element if they are short."""
        first, last = np.searchsorted(self._elements.shown, (node, int(self._elements.end[node]))).tolist()
        before = self._elements.shown_texts(first - 4, first)
        after = self._elements.shown_texts(last, last + 4)
        return _if_short(before[-1:]), _if_short(after[:1])

    def _size(self, node: int) -> float:
        """Return how large and bold a rendered amount is, 0 for raw pages."""
        elements = self._elements
        text = next(iter(elements.texts_within(node)), node)
        size = elements.style(text, "font-size") or elements.style(node, "font-size")
        if not size:
            return 0
        weight = elements.style(node, "font-weight")
        bold = weight.isdigit() and int(weight) >= 600
        return min((float(size.removesuffix("px")) - 16) / 4, 5) + bold


_SPLIT_DECIMALS = re.compile(r"(\d) ?([.,]) ?(\d{2})(?!\d)")


def _if_short(texts: list[tuple[int, str]]) -> str:
    return texts[0][1] if texts and len(texts[0][1]) <= _LONGEST_LABEL else ""


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def first_unstruck(shown: Iterable[Shown]) -> Shown | None:
    """Return the likeliest amount that is likely enough, None without one."""
    for one in shown:
        if one.score < _LEAST:
            return None
        if not one.struck:
            return one
    return None
