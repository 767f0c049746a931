"""What the structured data of a page state about its product: JSON-LD, microdata, Open Graph and similar tags."""

from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

from domsieve.analysis.metadata._amounts import stated_number
from domsieve.analysis.metadata._elements import Elements
from domsieve.analysis.metadata._json_ld import Graph, graph_of, plain_address
from domsieve.analysis.metadata.values import LONGEST_NAME, LONGEST_TITLE, clean_value
from domsieve.budget import check

PRODUCT_KINDS = frozenset(
    ["product", "individualproduct", "productmodel", "productgroup", "vehicle", "car", "motorcycle"]
)
"""Types of schema.org that are products, in lower case."""
_OFFER_KINDS = frozenset(("offer", "aggregateoffer"))
_MOST_OFFERS = 200
_MOST_PRODUCTS = 200
_GTINS = ("gtin13", "gtin", "gtin14", "gtin12", "gtin8", "isbn", "ean")


class Stated(NamedTuple):
    """A statement about the product.

    Parameters
    ----------
    text : the value as the page states it.
    source : where, such as ``"json-ld sku"``.
    node : the node with the statement; -1 for JSON-LD.
    """

    text: str
    source: str
    node: int = -1


class Offer(NamedTuple):
    """An offer of the product in structured data; empty texts and None are unknown."""

    price: Decimal | None
    highest: Decimal | None
    currency: str
    availability: str
    source: str
    node: int = -1


class ProductData:
    """Everything that the structured data state about the product.

    Attributes
    ----------
    offers : its offers, in order.
    is_product : the data say that the page is about a product.
    is_called_product : ``og:type`` says so.
    """

    def __init__(self) -> None:
        self._texts: dict[str, list[Stated]] = defaultdict(list)
        self.offers: list[Offer] = []
        self.is_product = False
        self.is_called_product = False

    def add(self, field: str, text: str, source: str, node: int = -1) -> None:
        """Add a statement, unless the text is empty."""
        if text := clean_value(text, LONGEST_TITLE if field == "name" else LONGEST_NAME):
            self._texts[field].append(Stated(text, source, node))

    def of(self, field: str) -> list[Stated]:
        """Return the statements about a field, in order of trust."""
        return self._texts.get(field, [])


def read_product_data(elements: Elements, titles: list[str], address: str) -> ProductData:
    """Return what the structured data of a page state about its product.

    Parameters
    ----------
    elements : elements of the page.
    titles : texts that name what the page is about, folded; they choose among several products.
    address : address of the page.
    """
    data = ProductData()
    _add_json_ld(data, graph_of(elements.page), titles, plain_address(address))
    _add_microdata(data, elements, titles)
    _add_tags(data, elements)
    return data


def folded(text: str) -> str:
    """Return a text for comparisons: only letters and digits, in lower case."""
    return "".join(c for c in text.casefold() if c.isalnum())


def _chosen(names: list[str], titles: list[str]) -> int | None:
    """Return which of some products the page is about: the only one, or the first whose name is in a title."""
    plain = [folded(name) for name in names]
    if len(plain) > 1 and not any(plain):
        return None
    for number, name in enumerate(plain):
        if name and any(name in title or (len(title) > 5 and title in name) for title in titles):
            return number
    return 0 if len({*plain}) == 1 else None


# JSON-LD


def _add_json_ld(data: ProductData, graph: Graph, titles: list[str], address: str) -> None:
    things = graph.products(PRODUCT_KINDS)[:_MOST_PRODUCTS]
    if not things:
        return
    number = _chosen([_text(thing.get("name")) for thing in things], titles)
    if number is None:
        own = [i for i, thing in enumerate(things) if address and address in graph.own_addresses(thing)]
        if not own:
            return
        number = own[0]
    thing = things[number]
    data.is_product = True
    data.add("name", _text(thing.get("name")), "json-ld name")
    data.add("sku", _text(thing.get("sku")), "json-ld sku")
    data.add("sku", _text(thing.get("productID")).removeprefix("sku:"), "json-ld productID")
    data.add("mpn", _text(thing.get("mpn")), "json-ld mpn")
    for key in _GTINS:
        data.add("gtin", _text(thing.get(key)), f"json-ld {key}")
    data.add("brand", _text(graph.resolved(_first(thing.get("brand")))), "json-ld brand")
    _add_rating(data, graph.resolved(_first(thing.get("aggregateRating"))))
    for offer in _offers_of(graph, thing.get("offers")):
        data.offers.append(_offer(graph, offer))
        data.add("offer sku", _text(offer.get("sku")), "json-ld offers sku")
        for key in _GTINS:
            data.add("gtin", _text(offer.get(key)), f"json-ld offers {key}")


def _add_rating(data: ProductData, rating: Any) -> None:
    if isinstance(rating, dict):
        for key in ("ratingValue", "bestRating"):
            data.add(key, _text(rating.get(key)), f"json-ld {key}")
        count = _text(rating.get("reviewCount")) or _text(rating.get("ratingCount"))
        data.add("ratingCount", count, "json-ld reviewCount")


def _offers_of(graph: Graph, value: Any) -> Iterator[dict[str, Any]]:
    """Yield the offers in a value: those of a list, and those inside an AggregateOffer after itself."""
    todo, seen = [value], 0
    while todo and seen < _MOST_OFFERS:
        check()
        one = graph.resolved(todo.pop(0))
        seen += 1
        if isinstance(one, list):
            todo = one[:_MOST_OFFERS] + todo
        elif isinstance(one, dict):
            yield one
            if isinstance(one.get("offers"), list | dict):
                todo.insert(0, one["offers"])


def _offer(graph: Graph, offer: dict[str, Any]) -> Offer:
    detail = graph.resolved(_first(offer.get("priceSpecification")))
    detail = detail if isinstance(detail, dict) else {}
    values = {**detail, **{key: value for key, value in offer.items() if value not in (None, "")}}
    key = next((key for key in ("price", "lowPrice") if _text(values.get(key))), "price")
    price, highest = stated_number(_text(values.get(key))), stated_number(_text(values.get("highPrice")))
    if price is not None and not price:
        price = None
    return Offer(
        price,
        highest,
        _text(values.get("priceCurrency")),
        _text(_first(values.get("availability"))),
        f"json-ld offers {key}",
    )


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def _text(value: Any) -> str:
    value = _first(value)
    if isinstance(value, dict):
        value = _first(value.get("@value", value.get("name")))
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return clean_value(str(value), LONGEST_TITLE)


# Microdata and RDFa

_ADDRESSES = {"a": "href", "link": "href", "area": "href", "meta": "content"}
_FIELDS = {
    "name": "name",
    "sku": "sku",
    "productid": "sku",
    "mpn": "mpn",
    "brand": "brand",
    "manufacturer": "manufacturer",
    "ratingvalue": "ratingValue",
    "bestrating": "bestRating",
    "reviewcount": "ratingCount",
    "ratingcount": "ratingCount",
    "price": "price",
    "lowprice": "price",
    "highprice": "highest",
    "pricecurrency": "currency",
    "availability": "availability",
    **dict.fromkeys(_GTINS, "gtin"),
}


class _Item(NamedTuple):
    kind: str
    texts: dict[str, list[Stated]]


def _add_microdata(data: ProductData, elements: Elements, titles: list[str]) -> None:
    items = _items(elements)
    products = [(node, item) for node, item in items.items() if item.kind in PRODUCT_KINDS][:_MOST_PRODUCTS]
    if products:
        names = [one.text if (one := _one(item, "name")) else "" for _, item in products]
        number = _chosen(names, titles)
        if number is None:
            return
        root, item = products[number]
        end = int(elements.end[root])
        inside = [own for node, own in items.items() if root < node < end and own.kind not in PRODUCT_KINDS]
        # Things in the offer of another product are inside that.
        others = [node for node, _ in products if root < node < end]
        inside = [
            own for node, own in items.items() if root < node < end and not _within(node, others, elements)
        ]
        data.is_product = True
    else:
        inside, item = [own for node, own in items.items() if own.kind in _OFFER_KINDS][:1], _Item("", {})
        loose = items.get(0)
        inside += [loose] if loose and not inside and len(loose.texts.get("price", [])) == 1 else []
    for field in ("name", "sku", "mpn", "gtin", "brand", "manufacturer"):
        for one in [*item.texts.get(field, []), *(_brand_of(inside) if field == "brand" else [])]:
            data.add(field, one.text.removeprefix("sku:"), one.source, one.node)
    for own in [item, *inside]:
        if own.kind in {"review", "rating"}:
            continue
        for field in ("ratingValue", "bestRating", "ratingCount"):
            for one in own.texts.get(field, []):
                data.add(field, one.text, one.source, one.node)
        for field in ("sku", "gtin"):
            for one in own.texts.get(field, []) if own is not item else []:
                data.add(field, one.text, one.source, one.node)
        if own.kind in _OFFER_KINDS or own.texts.get("price") or own.texts.get("availability"):
            data.offers.append(_microdata_offer(own))


def _within(node: int, others: list[int], elements: Elements) -> bool:
    return any(other <= node < int(elements.end[other]) for other in others)


def _brand_of(inside: list[_Item]) -> list[Stated]:
    return [
        one._replace(source="microdata brand")
        for item in inside
        if item.kind in {"brand", "organization"}
        for one in item.texts.get("name", [])[:1]
    ]


def _one(item: _Item, field: str) -> Stated | None:
    return next(iter(item.texts.get(field, [])), None)


def _microdata_offer(item: _Item) -> Offer:
    price, highest = _one(item, "price"), _one(item, "highest")
    currency, availability = _one(item, "currency"), _one(item, "availability")
    amount = stated_number(price.text) if price else None
    return Offer(
        amount or None,
        stated_number(highest.text) if highest else None,
        currency.text if currency else "",
        availability.text if availability else "",
        price.source if price else "microdata availability",
        price.node if price else -1,
    )


def _items(elements: Elements) -> dict[int, _Item]:
    """Return the things of microdata with their own properties, by the node that begins each; 0 for loose ones."""
    properties = [(node, value, "microdata") for node, value in elements.with_attribute("itemprop")]
    properties += [
        (node, value, "rdfa")
        for node, value in elements.with_attribute("property")
        if elements.tag(node) != "meta"
    ]
    kinds = {node: "" for node, _ in elements.with_attribute("itemscope")}
    for name in ("itemtype", "typeof"):
        for node, value in elements.with_attribute(name):
            words = value[:500].split()
            kinds[node] = words[0].rpartition("/")[2].rpartition(":")[2].lower() if words else ""
    items = {node: _Item(kinds[node], defaultdict(list)) for node in sorted(kinds)}
    items[0] = _Item("", defaultdict(list))
    open_items: list[int] = []
    starts = sorted(kinds)
    at = 0
    for node, value, syntax in sorted(properties):
        check()
        while at < len(starts) and starts[at] < node:
            open_items.append(starts[at])
            at += 1
        while open_items and elements.end[open_items[-1]] <= node:
            open_items.pop()
        for word in value[:200].lower().split():
            word = word.rpartition("/")[2].rpartition(":")[2]
            if (field := _FIELDS.get(word)) and not (node in kinds and field != "availability"):
                around = open_items[-1] if open_items else 0
                text = _value(elements, node)
                items[around].texts[field].append(Stated(text, f"{syntax} {word}", node))
    return items


def _value(elements: Elements, node: int) -> str:
    attributes, tag = elements.attributes(node), elements.tag(node)
    if text := attributes.get("content", "").strip() or attributes.get("value", "").strip():
        return text
    text = elements.text(node, LONGEST_TITLE)
    return text if text and tag != "link" else attributes.get(_ADDRESSES.get(tag, "href"), text)


# Open Graph and similar tags

_TAGS = {
    "product:price:amount": "price",
    "og:price:amount": "price",
    "product:sale_price:amount": "sale",
    "product:price:currency": "currency",
    "og:price:currency": "currency",
    "product:availability": "availability",
    "og:availability": "availability",
    "product:brand": "brand",
    "og:brand": "brand",
    "product:ean": "gtin",
    "product:gtin": "gtin",
    "product:isbn": "gtin",
    "product:upc": "gtin",
    "product:mfr_part_no": "mpn",
    "product:retailer_item_id": "retailer id",
    "product:retailer_part_no": "retailer id",
    "og:upc": "gtin",
    "og:ean": "gtin",
}


def _add_tags(data: ProductData, elements: Elements) -> None:
    texts: dict[str, Stated] = {}
    for node in elements.tagged("meta"):
        attributes = elements.attributes(node)
        name = (attributes.get("property") or attributes.get("name") or "")[:100].strip().lower()
        content = attributes.get("content", "").strip()
        if name == "og:type" and content.lower().rpartition(":")[2] in {"product", "product.item", "item"}:
            data.is_called_product = True
        elif content and (field := _TAGS.get(name)):
            texts.setdefault(field, Stated(content, name, node))
    for field in ("brand", "gtin", "mpn", "retailer id"):
        if one := texts.get(field):
            data.add(field, one.text, one.source, one.node)
    price = texts.get("sale") or texts.get("price")
    if price or "availability" in texts:
        data.is_product = data.is_product or price is not None
        data.offers.append(
            Offer(
                (stated_number(price.text) or None) if price else None,
                None,
                texts["currency"].text if "currency" in texts else "",
                texts["availability"].text if "availability" in texts else "",
                price.source if price else texts["availability"].source,
                price.node if price else texts["availability"].node,
            )
        )
