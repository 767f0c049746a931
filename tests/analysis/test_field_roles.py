"""Fields by what they hold: types of values, roles of columns, fields picked by name."""

import pytest

from domsieve.analysis.records._field_roles import type_of
from domsieve.analysis.records.fields import FieldTable, field_tables
from domsieve.analysis.records.wobm import WebObjectBlocks
from domsieve.types import FIELD_NAMES
from tests.analysis.contract import body
from tests.analysis.test_fields import subtrees, values

SHOP = "".join(
    f"<article class=x><img src=/{n}.png><h3><a href=/{n}>Thing of the kind {n}</a></h3><p>{words} {n}</p>"
    f"<span>{price}</span><time>{n} March 2025</time><a href=/basket>Put it in the basket</a></article>"
    for n, words, price in (
        (1, "Ash handle, square frame and a deep bag of one-millimetre mesh", "£24.00"),
        (2, "A three-part glass in a brass leaf, small enough to be worn", "£1,250.50"),
        (3, "The five-inch pattern with a bevelled rim and a tapered glass", "From £3"),
    )
)


def shop() -> FieldTable:
    snapshot = body(SHOP)
    return field_tables(snapshot, subtrees(snapshot, "article"))[0]


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["£24.00", "£1,250.50"], "price"),
        (["EUR 12,50", "1.299,00 €"], "price"),
        (["Price: $5", "now $3.99"], "price"),
        (["199 kr", "CHF 20"], "price"),
        (["12 March 2025", "1 Apr 2024"], "date"),
        (["2025-03-12", "2024-01-01T10:00"], "date"),
        (["02/02/2004", "3.4.2005"], "date"),
        (["Oct 13, 2003", "12 mars 2025"], "date"),
        (["1.", "2."], "number"),
        (["12", "-3.5", "75%"], "number"),
        (["£5", "£6", "sold out"], "price"),
        (["£5", "sold out", "sold out"], "text"),
        (["In 2004 we sold $5 worth of things to all the people of the town"], "text"),
        (["one", "two"], "text"),
        (["Chapter 1", "Chapter 2"], "text"),
        ([], "text"),
        (["", " "], "text"),
        (["9" * 100_000], "text"),
    ],
)
def test_values_tell_what_a_column_holds(texts: list[str], kind: str) -> None:
    assert type_of(texts) == kind


def test_columns_are_called_what_a_person_would_call_them() -> None:
    assert [field.name for field in shop().fields] == [
        *("image", "link", "title", "description", "price", "date"),
        *("link_2", "text_5"),
    ]


def test_fields_are_picked_by_name_and_in_order() -> None:
    picked = values(shop().picked(("price", "title", "link")))
    assert list(picked) == ["price", "title", "link"]
    assert picked["price"] == ["£24.00", "£1,250.50", "From £3"]
    assert picked["title"] == [f"Thing of the kind {n}" for n in (1, 2, 3)]
    assert picked["link"] == [f"https://example.org/{n}" for n in (1, 2, 3)]


def test_what_a_table_lacks_is_empty() -> None:
    (field,) = shop().picked(("number",)).fields
    assert (field.name, field.kind, field.values) == ("number", "text", (None, None, None))
    assert field.nodes.tolist() == [[-1, -1]] * 3


def test_what_the_page_calls_so_goes_first() -> None:
    item = "<li><b>First text {0}</b><p itemprop=headline>The headline {0}</p></li>"
    snapshot = body("".join(map(item.format, range(3))))
    table = field_tables(snapshot, subtrees(snapshot, "li"))[0]
    assert values(table.picked(("title",)))["title"] == [f"The headline {n}" for n in range(3)]


def test_a_price_without_its_currency_is_one_where_the_page_says_so() -> None:
    item = "<li><p>Walnut and pear {0}</p><b>{0}</b><i class=price>{0}.50</i></li>"
    snapshot = body("".join(map(item.format, range(3))))
    table = field_tables(snapshot, subtrees(snapshot, "li"))[0]
    picked = values(table.picked(("price", "number")))
    assert (picked["price"][1], picked["number"][1]) == ("1.50", "1")


def test_buttons_and_marks_are_no_titles() -> None:
    item = "<li><a href=/buy>Buy now</a><p>[</p><p>Walnut and pear {0}</p></li>"
    snapshot = body("".join(map(item.format, range(4))))
    table = field_tables(snapshot, subtrees(snapshot, "li"))[0]
    assert values(table.picked(("title",)))["title"] == [f"Walnut and pear {n}" for n in range(4)]


def test_classes_of_looks_are_no_names() -> None:
    item = "<li><p class='body_text_large'>One {0}</p><p class='primary'>Same</p><p class='stock'>{0} left</p></li>"
    snapshot = body("".join(map(item.format, range(3))))
    names = [field.name for field in field_tables(snapshot, subtrees(snapshot, "li"))[0].fields]
    assert names == ["title", "text_2", "stock"]


def test_picking_changes_no_records() -> None:
    snapshot = body(SHOP)
    records = WebObjectBlocks().transform(snapshot)
    for table in field_tables(snapshot, records):
        picked = table.picked(FIELD_NAMES)
        assert (picked.region, picked.records) == (table.region, table.records)
        assert {len(field.values) for field in picked.fields} == {len(table.records)}
