"""The product of a page: which data and texts count, and which pages are about one."""

import json
from decimal import Decimal
from typing import Any

import pytest

from domsieve.analysis.metadata._amounts import amounts_in, currency_code, plain_number, stated_number
from domsieve.analysis.metadata._product_texts import address_code, is_gtin
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.metadata.product import find_product, read_product
from domsieve.analysis.metadata.values import Product
from domsieve.analysis.writers._front_matter import write_front_matter
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from tests.analysis.pages import page as drawn

URL = "https://shop.example/garden/green-kettle"
TITLE = "<title>Green Kettle | Shop</title>"
BUY = "<button>Add to basket</button>"


def page(body: str, head: str = "", *, url: str = URL) -> Snapshot:
    source = f"<html><head>{TITLE}{head}</head><body><h1>Green Kettle</h1>{body}</body></html>"
    return parse_html(source.encode(), url=url, encoding="utf-8")


def found(body: str, head: str = "", *, url: str = URL) -> Product:
    return find_product(page(body, head, url=url))


def ld(**offer: Any) -> str:
    thing = {"@type": "Product", "name": "Green Kettle", "sku": "K-17", "offers": {"@type": "Offer", **offer}}
    return f'<script type="application/ld+json">{json.dumps(thing)}</script>'


class TestPrice:
    def test_json_ld_is_found_with_its_source(self) -> None:
        product = found("", ld(price="24.50", priceCurrency="GBP", availability="https://schema.org/InStock"))
        assert (product.price, product.currency, product.availability) == ("24.50", "GBP", "InStock")
        assert product.sources == {
            "name": "h1",
            "price": "json-ld offers price",
            "currency": "json-ld offers priceCurrency",
            "availability": "json-ld offers availability",
            "sku": "json-ld sku",
        }

    def test_the_node_of_a_shown_price_is_given(self) -> None:
        whole = page("<p class=price>£24.50</p>", ld(price=24.5))
        product = find_product(whole)
        assert whole.attributes(product.nodes["price"]) == {"class": "price"}

    def test_the_shown_price_counts_if_the_data_give_the_old_one(self) -> None:
        body = "<p class=price><del>£30.00</del> <b>£24.50</b></p>"
        product = found(body, ld(price="30.00", priceCurrency="GBP"))
        assert (product.price, product.sources["price"]) == ("24.50", "page")

    @pytest.mark.parametrize(
        "old",
        [
            "<s>£30.00</s>",
            '<span class="price was">£30.00</span>',
            "<span class=price>RRP £30.00</span>",
            "<span>Was</span> <span class=price>£30.00</span>",
        ],
    )
    def test_old_prices_do_not_count(self, old: str) -> None:
        assert found(f"<div>{old} <span class=price>£24.50</span></div>").price == "24.50"

    def test_prices_of_related_goods_do_not_count(self) -> None:
        related = "".join(
            f'<li><a href="/p/{n}">Kettle {n}<span class=price>£{n}.99</span></a></li>' for n in range(5, 12)
        )
        body = f"<div class=buy><span>£24.50</span></div><h2>Related</h2><ul class=related>{related}</ul>"
        assert found(body).price == "24.50"
        assert found(f"<p>A kettle.</p><h2>Related</h2><ul class=related>{related}</ul>").price == ""

    def test_the_price_of_this_variant_counts(self) -> None:
        variants = "".join(
            f"<option>{litres} l, £{price}</option>"
            for litres, price in ((1, "19.00"), (2, "24.50"), (3, "31.00"))
        )
        assert found(f"<p class=price>£24.50</p><select>{variants}</select>").price == "24.50"

    @pytest.mark.parametrize(
        "other",
        ["Delivery £3.99", "You save £6.00", "£2.10 / 100 ml", "Get up to £9 trade-in credit today for it"],
    )
    def test_other_amounts_do_not_count(self, other: str) -> None:
        assert found(f"<p>{other}</p><p>£24.50</p>").price == "24.50"

    @pytest.mark.parametrize(
        ("markup", "price"),
        [
            ("<p class=price><span>£</span><span>24</span><sup>50</sup></p>", "24.50"),
            ("<p class=price>24<span>.</span><span>50</span> <i>€</i></p>", "24.50"),
            ("<p class=price>€ 1.299,00</p>", "1299"),
            ("<p class=price>$3.340</p>", "3340"),
            ("<p class=price>44 890 тг.</p>", "44890"),
            ("<p>502,20 – 558,00 €</p>", "502.20"),
            ("<p class=price>249</p>", "249"),
        ],
    )
    def test_amounts_are_read_as_they_are_written(self, markup: str, price: str) -> None:
        assert found(markup).price == price

    def test_an_amount_far_from_the_data_is_that_of_another_thing(self) -> None:
        body = (
            "<p class=price>£2.50</p><p>A kettle of steel.</p><p>Sold by Potts</p><p class=price>£24.50</p>"
        )
        assert found(body, ld(price="24.50")).price == "24.50"
        assert found(body).price == "2.50"

    def test_data_count_where_the_page_shows_little(self) -> None:
        body = "<p>Used for</p><p>£11.00</p>"
        assert found(body, ld(price="24.50")).price == "24.50"

    def test_in_rendered_pages_size_and_place_count(self) -> None:
        def at(x: int, y: int, size: int, text: str) -> str:
            return f'<div data-box="{x} {y} 100 {size}" style="font-size:{size}px">{text}</div>'

        name = '<h1 data-box="400 100 300 40">Green Kettle</h1>'
        small, large, far = (
            at(410, 320, 12, "£31.00"),
            at(410, 190, 30, "£24.50"),
            at(410, 4000, 30, "£19.00"),
        )
        for body in (name + small + large + far, far + small + name + large):
            product = find_product(drawn(f"<body>{body}</body>", producer="rendered", url=URL))
            assert product.price == "24.50"


class TestAmounts:
    @pytest.mark.parametrize(
        ("text", "numbers"),
        [
            ("1,234,567.89", ["1234567.89"]),
            ("206,-", ["206"]),
            ("CHF 1’299.00", ["1299.00"]),
            ("Rs 635,000", ["635000"]),
            ("20% off", []),
            ("0.00 €", []),
            ("KWD 12.500", ["12.500"]),
            ("1" * 40, []),
        ],
    )
    def test_numbers(self, text: str, numbers: list[str]) -> None:
        assert [str(amount.value) for amount in amounts_in(text)] == numbers

    def test_a_point_in_data_is_a_decimal_point(self) -> None:
        assert stated_number("67.8400") == Decimal("67.84")
        assert stated_number("1.299,00 €") == Decimal("1299.00")
        assert stated_number("on request") is None

    @pytest.mark.parametrize(
        ("sign", "address", "code"),
        [
            ("$", "https://a.example/", "USD"),
            ("$", "https://www.a.ca/x", "CAD"),
            ("kr", "https://a.no/", "NOK"),
            ("руб", "", "RUB"),
            ("eur", "", "EUR"),
            ("rur", "", "RUB"),
            ("parsec", "", ""),
        ],
    )
    def test_currencies(self, sign: str, address: str, code: str) -> None:
        assert currency_code(sign, address) == code

    def test_feet_are_no_forints(self) -> None:
        assert [amount.sign for amount in amounts_in("8ft drop")] == [""]
        assert [amount.sign for amount in amounts_in("12 990 Ft")] == ["ft"]

    def test_plain_numbers(self) -> None:
        assert [plain_number(Decimal(text)) for text in ("24.5", "67.8400", "1299", "3.125")] == [
            "24.50",
            "67.84",
            "1299",
            "3.125",
        ]


class TestCodes:
    def test_a_label_near_the_name_comes_before_data(self) -> None:
        product = found("<p>Product code: 287807</p>", ld(price=1))
        assert (product.sku, product.sources["sku"]) == ("287807", "label Product code")

    def test_a_vague_label_comes_after_data(self) -> None:
        assert found("<p>Code: SAVE20</p>", ld(price=1)).sku == "K-17"
        assert found("<p>Code: SAVE20</p>").sku == "SAVE20"

    @pytest.mark.parametrize(
        "markup",
        [
            "<p>Internet #418295</p>",
            "<p>Item #418295</p>",
            "<dl><dt>Artikelnummer</dt><dd>418295</dd></dl>",
            "<p>〈商品編號：418295〉</p>",
            "<td>SKU</td><td>418295</td>",
        ],
    )
    def test_labels(self, markup: str) -> None:
        assert found(markup).sku == "418295"

    @pytest.mark.parametrize(
        "markup", ["<p>Model number: 418295</p>", "<p>Codeword 418295</p>", "<p>SKU: none</p>"]
    )
    def test_what_is_no_code_of_the_shop(self, markup: str) -> None:
        assert found(markup).sku == ""

    def test_a_code_of_the_name_is_that_of_the_maker(self) -> None:
        body = "<p>Ref. GK-2000X</p>"
        source = f"<title>Kettle GK-2000X</title><body><h1>Kettle GK-2000X</h1>{body}</body>"
        product = find_product(parse_html(source.encode(), url="https://shop.example/p-77123.html"))
        assert (product.sku, product.sources["sku"]) == ("77123", "address")

    @pytest.mark.parametrize(
        ("address", "code"),
        [
            ("https://a.example/dp/B07FW264WL", "B07FW264WL"),
            ("https://a.example/store/36?pid=262388&lang=en", "262388"),
            ("https://a.example/kettle-p400105394.html", "400105394"),
            ("https://a.example/2000000043333/kettle.html", "2000000043333"),
            ("https://a.example/kettle-250ml", ""),
            ("not an address", ""),
        ],
    )
    def test_addresses(self, address: str, code: str) -> None:
        assert address_code(address) == code

    def test_gtins_have_a_valid_check_digit(self) -> None:
        assert is_gtin("4054278533728")
        assert is_gtin("099482467999")
        assert not is_gtin("4054278533729")
        assert not is_gtin("405427853372")
        assert found("<p>EAN: 4054278533728</p>").gtin == "4054278533728"
        assert found("<p>EAN: 4054278533729</p>").gtin == ""


class TestAvailability:
    def test_one_variant_in_stock_is_enough(self) -> None:
        offers = [
            {"@type": "Offer", "price": 5, "availability": f"http://schema.org/{term}"}
            for term in ("OutOfStock", "InStock")
        ]
        thing = {"@type": "Product", "name": "Green Kettle", "offers": offers}
        head = f'<script type="application/ld+json">{json.dumps(thing)}</script>'
        assert found("", head).availability == "InStock"

    def test_data_count_if_the_page_agrees_or_is_silent(self) -> None:
        head = ld(price=5, availability="OutOfStock")
        assert found("", head).availability == "OutOfStock"
        assert found("<p>Sold out</p>", head).availability == "OutOfStock"
        assert found(BUY, head).availability == "InStock"
        assert found("<p>In stock</p>", head).availability == "InStock"

    def test_texts_and_buttons_count_without_data(self) -> None:
        assert found("<p>£5.00</p><p>Currently unavailable.</p>").availability == "OutOfStock"
        assert found(f"<p>£5.00</p>{BUY}").availability == "InStock"
        assert found("<p>£5.00</p><button disabled>Add to basket</button>").availability == ""
        assert found("<p>£5.00</p>").availability == ""

    def test_a_hidden_text_of_the_theme_does_not_count(self) -> None:
        assert found(f"<p>£5.00</p><span>Sold out</span>{BUY}").availability == "InStock"

    def test_a_missing_picture_is_no_missing_product(self) -> None:
        assert found("<p>£5.00</p><p>Image not available</p>").availability == ""


class TestWhichPages:
    def test_a_page_with_data_of_its_product(self) -> None:
        assert read_product(page("", ld(price=5))) is not None

    def test_a_page_with_a_price_and_a_button(self) -> None:
        assert read_product(page(f"<p class=price>£5.00</p>{BUY}")) is not None
        assert read_product(page("<p class=price>£5.00</p>")) is None
        assert read_product(page(BUY)) is None

    def test_no_list_of_products(self) -> None:
        items = "".join(f"<li><h2>Kettle {n}</h2><p class=price>£{n}.99</p>{BUY}</li>" for n in range(5, 12))
        assert read_product(page(f"<ul>{items}</ul>")) is None
        scopes = "".join(
            f'<li itemscope itemtype="https://schema.org/Product"><b itemprop=name>Kettle {n}</b>'
            f"<i itemprop=price>{n}</i></li>"
            for n in range(5, 12)
        )
        assert read_product(page(f"<ul>{scopes}</ul>")) is None

    def test_ratings_alone_make_no_product(self) -> None:
        thing = {"@type": "Product", "name": "Green Kettle", "aggregateRating": {"ratingValue": 5}}
        assert (
            read_product(page("", f'<script type="application/ld+json">{json.dumps(thing)}</script>')) is None
        )

    def test_no_article(self) -> None:
        thing = {"@type": "Product", "name": "Green Kettle", "aggregateRating": {"ratingValue": 5}}
        head = '<meta property="og:type" content="article">'
        head += f'<script type="application/ld+json">{json.dumps(thing)}</script>'
        assert read_product(page("<p>We tested the kettle. It costs £24.50.</p>", head)) is None
        assert read_metadata(page("<p>Rain in the hills.</p>")).product is None

    def test_of_several_products_that_of_the_title(self) -> None:
        names = [("Blue Cup", 3), ("Green Kettle", 5), ("Red Pan", 7)]
        scopes = "".join(
            f'<div itemscope itemtype="https://schema.org/Product"><b itemprop=name>{name}</b>'
            '<span itemprop=offers itemscope itemtype="https://schema.org/Offer">'
            f"<i itemprop=price>{price}</i></span></div>"
            for name, price in names
        )
        assert found(scopes).price == "5"


class TestOtherFields:
    def test_microdata(self) -> None:
        body = (
            '<div itemscope itemtype="https://schema.org/Product"><b itemprop=name>Green Kettle</b>'
            '<a itemprop=brand>Brunel</a><meta itemprop=gtin13 content="4054278533728">'
            '<div itemprop=aggregateRating itemscope itemtype="https://schema.org/AggregateRating">'
            "<i itemprop=ratingValue>8.7</i> of <i itemprop=bestRating>10</i>, <i itemprop=reviewCount>12</i></div>"
            '<div itemprop=review itemscope itemtype="https://schema.org/Review">'
            "<i itemprop=ratingValue>1</i></div></div>"
        )
        product = found(body)
        assert (product.brand, product.gtin) == ("Brunel", "4054278533728")
        assert (product.rating, product.best_rating, product.rating_count) == ("8.70", "10", "12")

    def test_open_graph(self) -> None:
        head = "".join(
            f'<meta property="{name}" content="{text}">'
            for name, text in (
                ("og:type", "product"),
                ("product:price:amount", "24.50"),
                ("product:price:currency", "EUR"),
                ("product:availability", "in stock"),
                ("product:brand", "Brunel"),
            )
        )
        product = read_metadata(page("", head)).product
        assert product is not None
        assert (product.price, product.currency, product.availability) == ("24.50", "EUR", "InStock")
        assert product.sources["brand"] == "product:brand"
        assert product.sources["currency"] == "product:price:currency"
        assert product.sources["availability"] == "product:availability"

    def test_front_matter_has_the_product_with_its_sources(self) -> None:
        text = write_front_matter(read_metadata(page("", ld(price="24.50", priceCurrency="GBP"))))
        assert 'product:\n  name: "Green Kettle"\n  price: "24.50"\n  currency: "GBP"\n' in text
        assert '  sources:\n    name: "h1"\n    price: "json-ld offers price"\n' in text

    def test_a_label_from_strangers_stays_one_line(self) -> None:
        product = found("<p>SKU (a\nb: c): 418295</p>")
        assert all("\n" not in source for source in product.sources.values())
