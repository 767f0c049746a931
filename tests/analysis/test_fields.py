"""Records as tables: what is aligned with what, and what the columns are called."""

from typing import Any

import numpy as np
import pytest

from domsieve.analysis.records.fields import FieldTable, field_tables
from domsieve.analysis.records.iepad import RepeatedPatterns
from domsieve.analysis.records.result import Records
from domsieve.snapshot.page import Snapshot
from tests.analysis.contract import body, calls


def of_pieces(*records: list[tuple[int, int]]) -> Records:
    """Return records of one region."""
    pieces = [piece for record in records for piece in record]
    counts = [len(record) for record in records]
    return Records(
        method="test",
        parent=np.zeros(1, np.int64),
        span=np.array([[pieces[0][0], pieces[-1][1]]], np.int64),
        length=np.ones(1, np.int64),
        region=np.zeros(len(records), np.int64),
        start=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
        pieces=np.array(pieces, np.int64),
    )


def subtrees(snapshot: Snapshot, tag: str, *, each: int = 1) -> Records:
    """Return as records all elements of a tag, `each` of them to a record."""
    nodes = [n for n in range(len(snapshot)) if snapshot.tag_name(n) == tag]
    ranges = [(n, int(snapshot.end[n])) for n in nodes]
    return of_pieces(*(ranges[i : i + each] for i in range(0, len(ranges), each)))


def table(html: str, tag: str, *, each: int = 1) -> dict[str, list[str | None]]:
    snapshot = body(html)
    return values(field_tables(snapshot, subtrees(snapshot, tag, each=each))[0])


def values(found: FieldTable) -> dict[str, list[str | None]]:
    return {field.name: list(field.values) for field in found.fields}


def test_missing_fields_leave_holes() -> None:
    items = (
        "<h3>a</h3><p>1</p><i>x</i>",
        "<h3>b</h3><i>y</i>",
        "<p>3</p><i>z</i>",
        "<h3>d</h3><p>4</p><i>w</i>",
    )
    assert table("".join(f"<li>{item}</li>" for item in items), "li") == {
        "title": ["a", "b", None, "d"],
        "number": ["1", None, "3", "4"],
        "text_3": ["x", "y", "z", "w"],
    }


def test_classes_tell_equal_paths_apart_where_one_is_missing() -> None:
    both = "<li><span class=name>{0}</span><span class=price>{0}.50</span></li>"
    html = both.format(1) + both.format(2) + "<li><span class=price>3.50</span></li>"
    assert table(html, "li") == {"name": ["1", "2", None], "price": ["1.50", "2.50", "3.50"]}


def test_classes_that_only_alternate_do_not_part_a_column() -> None:
    html = "".join(f"<li><b class={'odd' if n % 2 else 'even'}>{n}</b></li>" for n in range(4))
    assert table(html, "li") == {"number": ["0", "1", "2", "3"]}


def test_empty_cells_do_not_shift_a_row_and_header_cells_name_columns() -> None:
    html = (
        "<table><tr><th>Item No.</th><th>Size</th><th>Price</th></tr>"
        "<tr><td>a</td><td>1</td><td>x</td></tr><tr><td>b</td><td></td><td>y</td></tr>"
        "<tr><td></td><td>3</td><td></td></tr></table>"
    )
    snapshot = body(html)
    rows = [n for n in range(len(snapshot)) if snapshot.tag_name(n) == "tr"][1:]
    records = of_pieces(*([(n, int(snapshot.end[n]))] for n in rows))
    assert values(field_tables(snapshot, records)[0]) == {
        "item_no": ["a", "b", None],
        "size": ["1", None, "3"],
        "price": ["x", "y", None],
    }


def test_records_of_two_rows() -> None:
    html = "".join(
        f"<tr><td>{n}</td><td>title {n}</td></tr><tr><td></td><td>text {n}</td></tr>" for n in range(3)
    )
    assert table(f"<table>{html}</table>", "tr", each=2) == {
        "number": ["0", "1", "2"],
        "title": ["title 0", "title 1", "title 2"],
        "text_3": ["text 0", "text 1", "text 2"],
    }


def test_records_in_columns_have_several_pieces() -> None:
    snapshot = body(
        "<table><tr>" + "<td><img src=p.png></td>" * 3 + "</tr><tr>"
        "<td><a href=1>one</a></td><td><a href=2>two</a></td><td><a href=3>three</a></td></tr></table>"
    )
    cells = [(n, int(snapshot.end[n])) for n in range(len(snapshot)) if snapshot.tag_name(n) == "td"]
    found = field_tables(snapshot, of_pieces(*([cells[i], cells[i + 3]] for i in range(3))))[0]
    assert values(found) == {
        "image": ["https://example.org/dir/p.png"] * 3,
        "link": [f"https://example.org/dir/{n}" for n in (1, 2, 3)],
        "title": ["one", "two", "three"],
    }
    assert [field.kind for field in found.fields] == ["image", "link", "text"]


def test_definition_lists() -> None:
    html = "".join(
        f"<dl><dt>Size</dt><dd>{n} cm</dd><dt>Colour:</dt><dd>{colour}</dd></dl>"
        for n, colour in enumerate(("red", "blue"))
    )
    assert table(html, "dl") == {
        "text_1": ["Size", "Size"],
        "size": ["0 cm", "1 cm"],
        "text_3": ["Colour:", "Colour:"],
        "colour": ["red", "blue"],
    }


def test_terms_that_differ_are_values() -> None:
    snapshot = body("<dl>" + "".join(f"<dt>term {n}</dt><dd>meaning {n}</dd>" for n in range(3)) + "</dl>")
    found = field_tables(snapshot, RepeatedPatterns().transform(snapshot))
    assert [values(each) for each in found] == [
        {"title": ["term 0", "term 1", "term 2"], "text_2": ["meaning 0", "meaning 1", "meaning 2"]}
    ]


def test_nested_lists_are_a_column_per_entry() -> None:
    html = "".join(
        f"<div><h2>{name}</h2><ul>{''.join(f'<li>{name}{k}</li>' for k in range(count))}</ul><p>end</p></div>"
        for name, count in (("a", 2), ("b", 3), ("c", 1))
    )
    assert table(html, "div") == {
        "title": ["a", "b", "c"],
        "text_2": ["a0", "b0", "c0"],
        "text_3": ["a1", "b1", None],
        "text_4": [None, "b2", None],
        "text_5": ["end", "end", "end"],
    }


def test_text_flows_through_inline_tags() -> None:
    html = "<li>A <b>bold</b> claim by <i><u>us</u></i>!<br>Next <a href=x>link</a> tail</li>" * 2
    assert table(html, "li") == {
        "text_1": ["A bold claim by us!"] * 2,
        "text_2": ["Next"] * 2,
        "link": ["https://example.org/dir/x"] * 2,
        "text_3": ["link"] * 2,
        "text_4": ["tail"] * 2,
    }


def test_inline_tags_without_text_between_them_are_fields() -> None:
    html = "<li><span>one</span> <span>two</span></li>" * 2
    assert table(html, "li") == {"text_1": ["one"] * 2, "text_2": ["two"] * 2}


@pytest.mark.parametrize(
    ("item", "names"),
    [
        ("<p><b>Price:</b> <span>{0}</span></p>", ["text_1", "price"]),
        ("<p>Price: {0}</p>", ["price"]),
        ("<p itemprop=offer>{0}</p>", ["offer"]),
        ("<p aria-label='How much'>{0}</p>", ["how_much"]),
        ("<p class='mt-4 Product-Name'>{0}</p>", ["product_name"]),
        ("<p class='css-1ab2'>{0}</p>", ["number"]),
        ("<div class=name><a href=x>{0}</a></div>", ["name_link", "name"]),
        ("<p class=a>{0}</p><p class=a>{0}</p>", ["number", "text_2"]),
        ("<p>https://{0}</p>", ["title"]),
        ("<p class=Größe-Size>{0}</p>", ["größe_size"]),
        ("<p class=größe>{0}</p>", ["number"]),
    ],
)
def test_names(item: str, names: list[str]) -> None:
    html = "".join(f"<li>{item.format(n)}</li>" for n in range(3))
    assert list(table(html, "li")) == names


def test_addresses_are_absolute_and_harmless() -> None:
    links = (
        "<a href='/a b'>1</a><a href='javascript:x()'>2</a><img src='data:image/png,x'><img src='../i.png'>"
    )
    assert table(f"<li>{links}</li>" * 2, "li") == {
        "link": ["https://example.org/a%20b"] * 2,
        "number": ["1"] * 2,
        "text_2": ["2"] * 2,
        "image": ["https://example.org/i.png"] * 2,
    }


def test_hostile_text() -> None:
    text = "a\x00b\n\n c\x1b[31m\u00a0\u202ed\u2028\"'</li>"[:-5]
    assert table(f"<li>{text}</li><li>x</li>", "li") == {"title": ["ab c[31m \u202ed \"'", "x"]}


@pytest.mark.parametrize("producer", ["raw", "rendered"])
def test_hidden_leaves_are_no_fields(producer: Any) -> None:
    snapshot = body("<p>a<b style='display: none'>no</b></p><p>b</p>", producer=producer)
    assert values(field_tables(snapshot, subtrees(snapshot, "p"))[0]) == {"title": ["a", "b"]}


def test_node_ranges_lead_back_to_the_page() -> None:
    snapshot = body("<li><b>x</b><a href=y>z</a></li><li><b>u</b></li>")
    found = field_tables(snapshot, subtrees(snapshot, "li"))[0]
    for field in found.fields:
        assert not field.nodes.flags.writeable
        for value, (first, stop) in zip(field.values, field.nodes.tolist(), strict=True):
            if value is None:
                assert (first, stop) == (-1, -1)
            elif field.kind == "text":
                assert "".join(snapshot.text_of(n) for n in range(first, stop)) == value
            else:
                assert snapshot.tag_name(first) == "a"
                assert stop == snapshot.end[first]


def test_text_between_line_breaks_has_the_element_around_for_a_path() -> None:
    snapshot = body("<p>a<br>1<br>b<br>2</p>")
    texts = [n for n in range(len(snapshot)) if snapshot.text_of(n)]
    records = of_pieces([(texts[0], texts[1] + 1)], [(texts[2], texts[3] + 1)])
    assert values(field_tables(snapshot, records)[0]) == {"title": ["a", "b"], "number": ["1", "2"]}


def test_pages_without_records() -> None:
    snapshot = body("<p>x</p>")
    assert field_tables(snapshot, RepeatedPatterns().transform(snapshot)) == []


def test_a_table_has_a_most_number_of_columns() -> None:
    snapshot = body(
        "".join(
            f"<li>{'<p>'.join(f'<h{k}>x</h{k}>' for k in range(1, 7))}</p></p></p></p></p></li>"
            for _ in range(2)
        )
    )
    found = field_tables(snapshot, subtrees(snapshot, "li"), most_fields=4)[0]
    assert len(found.fields) == 4
    assert found.left_out == 4


@pytest.mark.parametrize("alike", [True, False])
def test_many_records_cost_in_proportion(alike: bool) -> None:
    def work(count: int) -> int:
        items = (
            "<li><b>x</b>"
            + "".join(f"<p><a href=u{k}>y</a></p>" for k in range(2 if alike else n % 9))
            + "</li>"
            for n in range(count)
        )
        snapshot = body("".join(items))
        records = subtrees(snapshot, "li")
        return calls(lambda: field_tables(snapshot, records))

    assert work(4_000) <= 4 * 1.2 * work(1_000)


def test_text_off_the_screen_is_no_field() -> None:
    planted = "<b data-box='-900 5 50 10'>planted</b>"
    snapshot = body(f"<p><i>a</i>{planted}</p><p><i>b</i></p>", producer="rendered")
    assert values(field_tables(snapshot, subtrees(snapshot, "p"))[0]) == {"title": ["a", "b"]}
