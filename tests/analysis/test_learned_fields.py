"""Fields learned from examples: found on other pages, after a redesign, and missed when they are gone."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from domsieve.analysis.fields.alarm import FieldWatch
from domsieve.analysis.fields.examples import example_of, parse_examples
from domsieve.analysis.fields.extraction import extract
from domsieve.analysis.fields.fields_model import (
    FieldsModel,
    fields_model_from_bytes,
    fields_model_to_bytes,
)
from domsieve.analysis.fields.learning import learn_fields
from domsieve.analysis.fields.text_parts import Span, learned_parts
from domsieve.errors import DamagedFileError, FormatVersionError, UsageError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot

NAMES = ("Ash", "Birch", "Cedar", "Date", "Elm", "Fir", "Gum", "Hazel", "Iron", "Juniper", "Kapok", "Lime")


def source(
    number: int, *, css: str = "", wrap: bool = False, more: str = "", without: Sequence[str] = ()
) -> str:
    """Return a page of a shop: a title, one or two authors, a publisher, a price and a list of other goods."""
    name = NAMES[number % len(NAMES)]
    authors = [f"<a href='/a/{number}'>{name} Smith</a>"]
    if number % 3 == 0:
        authors.append(f"<a href='/b/{number}'>{name} Jones</a>")
    parts = {
        "title": f"<h1 class='{css}name'>{name} and other trees</h1>",
        "authors": f"<p class='{css}by'>By: {', '.join(authors)}</p>",
        "series": f"<p class='{css}by'>Series: <a href='/s'>Trees of Europe</a></p>" if number % 2 else "",
        "price": f"<div class='{css}buy'><b class='{css}old'>£{number + 30}.00</b> "
        f"<b class='{css}now'>£{number + 9}.50</b></div>",
        "facts": f"<table><tr><th>Publisher:</th><td>{name} Press</td></tr>"
        f"<tr><th>ISBN:</th><td>97800{number:08d}</td></tr><tr><th>Year:</th><td>{1950 + number}</td></tr></table>",
    }
    body = "".join(part for key, part in parts.items() if key not in without)
    body = f"<div class='{css}goods'>{more}{body}</div>"
    body = f"<section class='{css}new'><div>{body}</div></section>" if wrap else body
    others = "".join(
        f"<li><a href='/t/{n}'>{NAMES[n]} and other trees</a> <b>£{n + 9}.50</b></li>" for n in (1, 2)
    )
    return (
        f"<!doctype html><title>{name} and other trees - Tree Shop</title><body><nav><a href='/'>Home</a></nav>"
        f"{body}<h2>You may also like</h2><ul>{others}</ul><footer>Tree Shop</footer>"
    )


def page(number: int, **how: Any) -> Snapshot:
    return parse_html(source(number, **how).encode(), url=f"https://shop.example/{number}")


def fields(number: int) -> dict[str, Any]:
    name = NAMES[number % len(NAMES)]
    authors = [f"{name} Smith", *([f"{name} Jones"] if number % 3 == 0 else [])]
    return {
        "title": f"{name} and other trees",
        "authors": authors,
        "price": f"£{number + 9}.50",
        "publisher": f"{name} Press",
        "isbn": f"97800{number:08d}",
    }


def learned(*numbers: int, others: Sequence[int] = range(100, 112)) -> FieldsModel:
    examples = [
        (example_of({"fields": fields(number)}, label=f"example {number}"), page(number))
        for number in numbers
    ]
    return learn_fields(examples, [page(number) for number in others])


def values(snapshot: Snapshot, model: FieldsModel) -> dict[str, Any]:
    found = extract(snapshot, model)
    return {
        name: list(one.value) if isinstance(one.value, tuple) else one.value
        for name, one in found.fields.items()
    }


@pytest.mark.parametrize("examples", [(3,), (4,), (3, 4), (3, 4, 5)])
def test_fields_of_other_pages_are_found_from_few_examples(examples: tuple[int, ...]) -> None:
    model = learned(*examples)
    for number in (6, 7, 8, 9):
        assert values(page(number), model) == fields(number)


@pytest.mark.parametrize("examples", [(3,), (3, 4)])
def test_a_redesign_does_not_break_fields(examples: tuple[int, ...]) -> None:
    model = learned(*examples)
    banner = "<div>Free delivery</div><p>New: gift cards</p>"
    for number in (6, 7, 8, 9):
        assert values(page(number, css="x9-", wrap=True, more=banner), model) == fields(number)


def test_a_node_says_where_a_value_is() -> None:
    one = page(6)
    found = extract(one, learned(3, 4)).fields["publisher"]
    assert one.text_of(found.node) == "Gum Press"
    assert found.confidence > 0.9
    assert "publisher:" in found.description


def test_a_field_that_is_gone_is_missing_and_raises_an_alarm() -> None:
    model = learned(3, 4)
    watch = FieldWatch(model)
    for number in range(20, 26):
        snapshot = page(number, without=["price"])
        found = extract(snapshot, model)
        watch.add(snapshot, found)
        assert found.fields["price"].value is None
        assert found.fields["isbn"].value == fields(number)["isbn"]
    [alarm] = watch.alarms()
    assert (alarm.name, alarm.found, alarm.pages, alarm.usual_found) == ("price", 0, 6, 14)
    assert str(alarm).startswith("price: found on 0 of 6 pages, was 14 of 14; the place is gone, 'b'")


def test_the_next_label_is_not_the_value_of_a_label_without_one() -> None:
    """An empty cell behind ``Publisher:``: the next text is the label of the ISBN."""
    model = learned(3, 4)
    watch = FieldWatch(model)
    for number in range(20, 26):
        emptied = source(number).replace(fields(number)["publisher"], "")
        snapshot = parse_html(emptied.encode(), url=f"https://shop.example/{number}")
        found = extract(snapshot, model)
        watch.add(snapshot, found)
        assert found.fields["publisher"].value is None
        assert found.fields["isbn"].value == fields(number)["isbn"]
    assert [alarm.name for alarm in watch.alarms()] == ["publisher"]


def test_a_renamed_place_raises_no_alarm() -> None:
    model = learned(3, 4)
    watch = FieldWatch(model)
    for number in range(20, 26):
        snapshot = page(number, css="new-", wrap=True)
        watch.add(snapshot, extract(snapshot, model))
    assert watch.alarms() == []


def test_an_example_without_a_field_teaches_that_it_may_be_missing() -> None:
    series = {"series": "Trees of Europe"}
    examples = [
        (example_of({"fields": {**fields(number), **extra}}, label=str(number)), page(number))
        for number, extra in ((3, series), (4, {"series": None}))
    ]
    model = learn_fields(examples, [page(number) for number in range(100, 110)])
    assert values(page(7), model)["series"] == "Trees of Europe"
    assert values(page(8), model)["series"] is None


def test_a_selector_is_an_example() -> None:
    wanted = {"now": {"css": "b.now"}, "names": {"css": "p.by a", "many": True}}
    model = learn_fields([(example_of({"fields": wanted}, label="1"), page(3))], [])
    assert values(page(6), model) == {"now": "£15.50", "names": ["Gum Smith", "Gum Jones"]}


def test_json_ld_is_an_alternative() -> None:
    def with_data(number: int, *, shown: bool = True) -> Snapshot:
        data = f'{{"@type":"Product","sku":"T-{number}"}}'
        text = f"<p>Item number: T-{number}</p>" if shown else ""
        html = f"<script type='application/ld+json'>{data}</script><h1>Tree {number}</h1>{text}"
        return parse_html(html.encode(), url=f"https://shop.example/{number}")

    example = example_of({"fields": {"sku": "T-1", "title": "Tree 1"}}, label="1")
    model = learn_fields([(example, with_data(1))], [with_data(number) for number in range(2, 9)])
    assert values(with_data(20, shown=False), model)["sku"] == "T-20"


def test_the_order_of_hash_seeds_and_a_file_do_not_change_a_model() -> None:
    model = learned(3, 4)
    data = fields_model_to_bytes(model)
    assert fields_model_to_bytes(learned(3, 4)) == data
    assert fields_model_from_bytes(data) == model


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: data[:-20], "a.json is not a valid model"),
        (lambda data: data.replace(b'"version": 1', b'"version": 9'), "update domsieve"),
        (lambda data: data.replace(b'"digits": ', b'"digit": ', 1), "digit"),
        (lambda data: data.replace(b'"left publisher:', b'"behind publisher:'), "no feature of a place"),
    ],
)
def test_a_damaged_model_is_refused(change: Any, says: str) -> None:
    data = fields_model_to_bytes(learned(3, 4))
    assert change(data) != data
    with pytest.raises((DamagedFileError, FormatVersionError), match=says):
        fields_model_from_bytes(change(data), name="a.json")


def test_a_value_that_is_nowhere_names_the_closest_text() -> None:
    example = example_of({"fields": {"title": "Date and other three"}}, label="shop.jsonl, line 1")
    with pytest.raises(UsageError, match=r"line 1: 'title' is .* closest text is 'Date and other trees'"):
        learn_fields([(example, page(3))], [])


def test_examples_that_contradict_each_other_are_named() -> None:
    wanted = [(3, "£12.50"), (4, "£13.50"), (5, "Tree Shop")]
    examples = [(example_of({"fields": {"price": value}}, label=f"line {n}"), page(n)) for n, value in wanted]
    with pytest.raises(UsageError, match="contradict each other: 'price' of line 5"):
        learn_fields(examples, [])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no example"),
        ('{"url": "https://a.example/", "fields": {"a": "b"}}\n{"url"', "line 2 is not JSON"),
        ("[1]", "line 1 is not an object"),
        ('{"fields": {"a": "b"}}', 'needs either "url" or "file"'),
        ('{"url": "u", "fields": {"a": "b"}, "note": 1}', "'note'"),
        ('{"url": "u"}', 'needs either "fields" or "records"'),
        ('{"url": "u", "fields": {"a": null}}', "has no value"),
        ('{"url": "u", "fields": {"a": {"css": ".a:hover"}}}', "'a'"),
        ('{"url": "u", "fields": {"a": [""]}}', "1 to"),
        ('{"url": "u", "records": [{"a": ["b"]}]}', "record 1: 'a' is a list"),
        (
            '{"url": "u", "fields": {"a": "b"}}\n{"url": "v", "records": [{"a": "b"}]}',
            "line 2 has records",
        ),
    ],
)
def test_a_bad_line_is_named(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_examples(text, name="e.jsonl")


def listing(first: int, count: int, *, css: str = "") -> Snapshot:
    items = "".join(
        f"<li class='{css}card'><a href='/i/{n}'>{NAMES[n % 12]} {n}</a> <i>{n + 200} sold</i>"
        + (f" <b>£{n}.99</b>" if n % 4 else "")
        + "</li>"
        for n in range(first, first + count)
    )
    html = f"<nav><a href='/'>Home</a> <b>£1</b></nav><ul>{items}</ul><p><a href='/next'>Next</a></p>"
    return parse_html(html.encode(), url=f"https://shop.example/list/{first}")


def test_records_are_found_from_two_of_them() -> None:
    def record(n: int) -> Mapping[str, str | None]:
        name = f"{NAMES[n % 12]} {n}"
        return {"name": name, "link": f"/i/{n}", "sold": str(n + 200), "price": f"£{n}.99" if n % 4 else None}

    example = example_of({"records": [dict(record(1)), dict(record(2))]}, label="1")
    model = learn_fields([(example, listing(1, 9))], [listing(20, 8), listing(40, 7)])
    for first, css in ((1, ""), (60, ""), (60, "x7-")):
        found = extract(listing(first, 7, css=css), model).records
        given = [
            {name: one[name].value if name in one else None for name in ("name", "link", "sold", "price")}
            for one in found
        ]
        assert given == [record(n) for n in range(first, first + 7)]


@pytest.mark.parametrize(
    ("texts", "other", "value"),
    [
        ([("by Stephenie Meyer", "Stephenie Meyer")], "by Ann Lee", "Ann Lee"),
        ([("ISBN: 9780316125581", "9780316125581")], "ISBN: 1593100779", "1593100779"),
        ([("(520)704-0213", "704-0213")], "(503)222-5794", "222-5794"),
        ([("size 6,828 on 4/28/97 5:38 PM", "4/28/97")], "size 12 on 11/5/96 6:00 AM", "11/5/96"),
        ([("0.90", "0.90"), ("Score Headline 0.87", "0.87")], "Score 0.55", "0.55"),
        ([("Revell (May 2010)", "Revell")], "Abingdon Press (June 1999)", "Abingdon Press"),
    ],
)
def test_a_part_of_a_text_is_learned(texts: list[tuple[str, str]], other: str, value: str) -> None:
    spans = [Span(text, text.index(part), text.index(part) + len(part)) for text, part in texts]
    assert learned_parts(spans, [other])[0].of(other) == value
