"""The product of a page: name, price, availability and codes, each with its source.

Structured data are read first. They are often wrong: they give an old price, the price of another variant, or that a
size is sold out. So the price is checked against what the page shows near the name, and the page decides.
"""

from decimal import Decimal
from functools import cached_property

from domsieve.analysis.columns.batch import cached_per_page
from domsieve.analysis.columns.flow import word_set
from domsieve.analysis.metadata._amounts import currency_code, plain_number, stated_number
from domsieve.analysis.metadata._elements import Places, elements_of
from domsieve.analysis.metadata._product_data import Offer, Stated, folded, read_product_data
from domsieve.analysis.metadata._product_texts import (
    Labelled,
    address_code,
    address_codes,
    availability_said,
    buy_button,
    is_gtin,
    labelled_values,
)
from domsieve.analysis.metadata._shown_price import Shown, ShownPrices, first_unstruck
from domsieve.analysis.metadata.title import claims_of, document_title, headings, places_of, title_of
from domsieve.analysis.metadata.values import LONGEST_NAME, LONGEST_TITLE, Product, clean_text
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot

_MOST_SEARCHED = 20_000  # shown texts
_SURE = 4.0  # score of an amount that is surely the price. A guess
_LIST = 4  # so many amounts in elements alike are those of a list. A guess
_NEAR = 60  # cost of a code with a label that is surely that of the product itself. A guess


@cached_per_page
def find_product(page: Snapshot) -> Product:
    """Return the product of a page that is known to be about one; fields that are not found are empty.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("product", page.provenance.url):
        return _Finder(page).product()


def read_product(page: Snapshot) -> Product | None:
    """Return the product that a page is about; None for articles, lists of products, and all other pages.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("product", page.provenance.url):
        return find_product(page) if _Finder(page).is_product() else None


class _Finder:
    """Finds the product of one page."""

    def __init__(self, page: Snapshot) -> None:
        self._page = page
        self._address = page.provenance.final_url
        self._elements = elements_of(page)
        self._claims = claims_of(page)
        self._title, self._title_source = title_of(page)
        # Not the names in microdata: those of a list are the names of other products.
        titles = [
            document_title(self._elements),
            *(text for text, _ in self._claims.from_source("title", "og:title")),
        ]
        titles += [text for _, text in headings(self._elements)[:3]]
        self._data = read_product_data(self._elements, [folded(text) for text in titles], self._address)
        self._places = self._places_of_name()
        self._sources: dict[str, str] = {}
        self._nodes: dict[str, int] = {}

    @cached_property
    def _shown(self) -> list[Shown]:
        stated = frozenset(offer.price for offer in self._data.offers if offer.price is not None)
        return ShownPrices(self._elements, self._places).found(stated)

    def _places_of_name(self) -> Places:
        """Return distances from the title, or from a text that is the name if there is no title in the page."""
        places = places_of(self._page)
        if places.title:
            return places
        names = {folded(self._title), *(folded(one.text) for one in self._data.of("name"))} - {""}
        for text, shown in self._elements.shown_texts(0, _MOST_SEARCHED) if names else []:
            if folded(shown[:LONGEST_TITLE]) in names:
                return Places(self._elements, text)
        return places

    def is_product(self) -> bool:
        """Return whether the page is about one product: it says so, or price and button are near its name."""
        data = self._data
        if data.is_product and (
            data.offers or (any(map(data.of, ("sku", "gtin", "mpn"))) and not self._is_article())
        ):
            return True
        if data.is_called_product or data.is_product or buy_button(self._elements, self._places) >= 0:
            best = first_unstruck(self._shown)
            if best is None:
                return data.is_called_product
            return best.alike < _LIST if data.is_called_product else best.alike == 1 and best.score >= _SURE
        return False

    def _is_article(self) -> bool:
        return any(kind.casefold().endswith("article") for kind, _ in self._claims.of("page_type"))

    def product(self) -> Product:
        """Return the product."""
        shown = self._shown
        price, currency = self._price(shown)
        labelled = labelled_values(self._places)
        gtin = self._gtin(labelled)
        fields = {
            "name": self._name(),
            "price": price,
            "currency": currency,
            "availability": self._availability(),
            "sku": self._sku(labelled),
            "gtin": gtin,
            "brand": self._brand(labelled),
            **self._rating(),
        }
        order = Product.__struct_fields__
        return Product(
            **fields,
            sources={name: self._sources[name] for name in order if name in self._sources},
            nodes={name: self._nodes[name] for name in order if name in self._nodes},
        )

    def _noted(self, field: str, text: str, source: str, node: int = -1) -> str:
        if text:
            self._sources[field] = source
            if node >= 0:
                self._nodes[field] = node
        return text

    def _name(self) -> str:
        if self._title:
            return self._noted("name", self._title, self._title_source, self._places.title or -1)
        for one in self._data.of("name"):
            return self._noted("name", clean_text(one.text, LONGEST_TITLE), one.source, one.node)
        return ""

    # Price

    def _price(self, shown: list[Shown]) -> tuple[str, str]:
        best = first_unstruck(shown)
        offers = [offer for offer in self._data.offers if offer.price]
        if best is None and offers:
            return self._stated(offers[0])
        if best is None:
            return "", ""
        same = next((offer for offer in offers if offer.price == best.value), None)
        if same:
            price = self._noted("price", plain_number(best.value), same.source, best.node)
            return price, self._currency(best, same)
        if offers and best.score < _SURE and not any(one.value == offers[0].price for one in shown):
            return self._stated(offers[0])
        return self._noted("price", plain_number(best.value), "page", best.node), self._currency(
            best, offers[0] if offers else None
        )

    def _stated(self, offer: Offer) -> tuple[str, str]:
        price = self._noted("price", plain_number(offer.price or Decimal(0)), offer.source, offer.node)
        return price, self._currency(None, offer)

    def _currency(self, shown: Shown | None, offer: Offer | None) -> str:
        for one in [offer] if offer else [], self._data.offers:
            for own in one:
                if own.currency and (code := currency_code(own.currency, self._address)):
                    return self._noted("currency", code, _beside(own, "priceCurrency"))
        if shown and (code := currency_code(shown.sign, self._address)):
            return self._noted("currency", code, "page", shown.node)
        return ""

    # Availability

    def _availability(self) -> str:
        terms = [(term, offer) for offer in self._data.offers if (term := _term(offer.availability))]
        said, node = availability_said(self._elements, self._places, self._nodes.get("price", -1))
        stated = next((one for one in terms if one[0] != "OutOfStock"), terms[0] if terms else None)
        if stated and stated[0] != "OutOfStock":
            return self._noted("availability", stated[0], _beside(stated[1], "availability"), stated[1].node)
        button = buy_button(self._elements, self._places)
        # Structured data often give one variant, or the past. Shops keep texts such as "Sold out" hidden in pages.
        if stated and not (said == "InStock" or (not said and button >= 0)):
            return self._noted("availability", stated[0], _beside(stated[1], "availability"), stated[1].node)
        if said and not (said == "OutOfStock" and button >= 0):
            return self._noted("availability", said, "page", node)
        if button >= 0 and self._sources.get("price"):
            return self._noted("availability", "InStock", "button", button)
        return ""

    # Codes

    def _sku(self, labelled: list[Labelled]) -> str:
        name, address = folded(self._title), folded(self._address)
        codes = [
            one
            for one in labelled
            if one.field == "sku" and one.cost < 1_000 and folded(one.text) not in name
        ]
        # The likeliest of several codes is that in the address.
        codes.sort(key=lambda one: folded(one.text) not in address)
        for one in codes:
            if folded(one.text) in address or (one.cost <= _NEAR and not one.is_vague):
                return self._noted("sku", one.text, f"label {one.label}", one.node)
        for one in address_codes(self._places, self._address):
            if folded(one.text) not in name:
                return self._noted("sku", one.text, "page and address", one.node)
        for stated in self._data.of("sku"):
            if " " not in stated.text.strip() and len(stated.text.strip()) > 1:
                return self._noted("sku", self._as_shown(stated), stated.source, stated.node)
        for one in codes:
            if one.cost <= _NEAR:
                return self._noted("sku", one.text, f"label {one.label}", one.node)
        if code := address_code(self._address):
            return self._noted("sku", code, "address")
        for one in codes[:1]:
            return self._noted("sku", one.text, f"label {one.label}", one.node)
        for stated in self._data.of("retailer id"):
            return self._noted("sku", stated.text, stated.source, stated.node)
        return ""

    def _as_shown(self, stated: Stated) -> str:
        """Return a code as the page shows it in the element that states it, perhaps with marks between its parts."""
        text = stated.text.strip()
        shown = self._elements.shown_text(stated.node, LONGEST_NAME) if stated.node >= 0 else ""
        return shown if folded(shown) == folded(text) else text

    def _gtin(self, labelled: list[Labelled]) -> str:
        stated = self._data.of("gtin")
        for one in stated:
            if is_gtin(digits := one.text.replace("-", "").replace(" ", "")):
                return self._noted("gtin", digits, one.source, one.node)
        for label in labelled:
            if label.field == "gtin" and is_gtin(digits := label.text.replace("-", "")):
                return self._noted("gtin", digits, f"label {label.label}", label.node)
        return ""

    def _brand(self, labelled: list[Labelled]) -> str:
        for one in self._data.of("brand"):
            return self._noted("brand", clean_text(one.text, LONGEST_NAME), one.source, one.node)
        for label in labelled:
            if label.field == "brand":
                return self._noted(
                    "brand", clean_text(label.text, LONGEST_NAME), f"label {label.label}", label.node
                )
        return ""

    def _rating(self) -> dict[str, str]:
        found = {}
        for field, key in (
            ("rating", "ratingValue"),
            ("best_rating", "bestRating"),
            ("rating_count", "ratingCount"),
        ):
            for one in self._data.of(key):
                value = stated_number(one.text)
                if value is not None and (field == "rating" or "rating" in found):
                    found[field] = self._noted(field, plain_number(value), one.source, one.node)
                    break
        return found


def _beside(offer: Offer, name: str) -> str:
    """Return the source of another property of an offer, by the source of its price."""
    head, _, _ = offer.source.rpartition(" ")
    if head:
        return f"{head} {name}"
    prefix = offer.source.partition(":")[0]
    return f"{prefix}:{'price:currency' if name == 'priceCurrency' else name}"


_TERMS = {
    term.lower(): term
    for term in word_set(
        "BackOrder Discontinued InStock InStoreOnly LimitedAvailability MadeToOrder OnlineOnly OutOfStock PreOrder "
        "PreSale Reserved SoldOut"
    )
}


def _term(text: str) -> str:
    """Return the ItemAvailability of schema.org that a text names, empty if it names none."""
    return _TERMS.get(folded(text.rpartition("/")[2]), "")
