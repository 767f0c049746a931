"""Where records are: not in header rows, menus and footers; in layout tables, definition lists and bare links too."""

import pytest

from domsieve.analysis.records.fields import field_tables
from domsieve.analysis.records.wobm import WebObjectBlocks
from tests.analysis.contract import body
from tests.analysis.test_fields import of_pieces, values
from tests.analysis.test_wobm import WORDS, texts

TEXT = "some words that say what it is about and why anybody would read on"


def found(html: str, **options: float) -> list[str]:
    """Return the first word of each record."""
    page = body(html)
    return texts(page, WebObjectBlocks(**options).transform(page))  # type: ignore[arg-type]


def in_paper(html: str) -> list[str]:
    page = body(html)
    return texts(page, WebObjectBlocks.of_mode("paper").transform(page))


def marked(number: int, word: str) -> str:
    """Return a text with marks, as many as no neighbour has."""
    return f"{word} {TEXT} " + "<b>x</b> and " * (number * 5 % 7)


# Header rows.


def rows(count: int = 5, *, cell: str = "td") -> str:
    names = WORDS[:count]
    return "".join(f"<tr><{cell}>{w}</{cell}><td>{n}</td><td>{n}.50</td></tr>" for n, w in enumerate(names))


HEADS = {
    "th": "<tr><th>Name</th><th>Size</th><th>Price</th></tr>",
    "th with links": "<tr><th><a href=?n>Name</a></th><th><a href=?s>Size</a></th><th>Price</th></tr>",
    "thead": "<thead><tr><td>Name</td><td>Size</td><td>Price</td></tr></thead>",
    "an empty corner": "<tr><td></td><th>Size</th><th>Price</th></tr>",
    "bold cells": "<tr><td><b>Name</b></td><td><strong>Size</strong></td><td><b>Price</b></td></tr>",
    "a title above": "<tr><th colspan=3>Lenses</th></tr><tr><th>Name</th><th>Size</th><th>Price</th></tr>",
    "two rows": (
        "<tr><th rowspan=2>Name</th><th colspan=2>What</th></tr><tr><th>Size</th><th>Price</th></tr>"
    ),
}


@pytest.mark.parametrize("head", HEADS)
def test_header_rows_are_names_and_no_records(head: str) -> None:
    page = body(f"<table>{HEADS[head]}{rows()}</table>")
    records = WebObjectBlocks().transform(page)
    assert texts(page, records) == WORDS[:5]
    (table,) = field_tables(page, records)
    assert [field.name for field in table.fields][1:] == ["size", "price"]
    assert table.fields[0].name == ("title" if head == "an empty corner" else "name")


def test_header_rows_that_come_again_are_no_records() -> None:
    assert found(f"<table>{HEADS['th']}{rows(4)}{HEADS['th']}{rows(4)}</table>") == WORDS[:4] * 2


def test_the_paper_has_no_header_rows() -> None:
    def row(cell: str, *said: object) -> str:
        return "<div role=row>" + "".join(f"<p role={cell}>{text}</p>" for text in said) + "</div>"

    lines = "".join(row("cell", w, n, TEXT) for n, w in enumerate(WORDS))
    html = f"<div role=grid>{row('columnheader', 'Name', 'Size', 'What')}{lines}</div>"
    assert found(html) == WORDS
    assert in_paper(html) == ["Name", *WORDS]


def test_rows_of_header_cells_with_other_words_head_groups() -> None:
    groups = "".join(
        f"<tr><th colspan=3>{w}</th></tr><tr><td>{w}</td><td>{TEXT}</td><td><a href=/{w}>{w}</a></td></tr>"
        for w in WORDS
    )
    assert found(f"<table>{groups}</table>") == WORDS


def test_tables_by_role_have_header_rows() -> None:
    head = "<div role=row><div role=columnheader>Name</div><div role=columnheader>Size</div></div>"
    lines = "".join(
        f"<div role=row><div role=cell>{w}</div><div role=cell>{n}</div></div>" for n, w in enumerate(WORDS)
    )
    page = body(f"<div role=table><div role=rowgroup>{head}</div><div role=rowgroup>{lines}</div></div>")
    records = WebObjectBlocks().transform(page)
    assert texts(page, records) == WORDS
    assert [field.name for field in field_tables(page, records)[0].fields] == ["name", "size"]
    flat = body(f"<div role=grid>{head}{lines}</div>")
    assert texts(flat, WebObjectBlocks().transform(flat)) == WORDS


def test_cells_that_reach_over_others_shift_the_columns_behind_them() -> None:
    head = "<tr><th>Day</th><th>Hour</th><th>What</th><th>Who</th></tr>"
    first = "<tr><td rowspan=2>Monday</td><td>1</td><td>rest</td><td>me</td></tr>"
    rest = "<tr><td>2</td><td>work</td><td>you</td></tr><tr><td>Tuesday</td><td colspan=2>closed</td><td>us</td></tr>"
    page = body(f"<table>{head}{first}{rest}</table>")
    lines = [n for n in range(len(page)) if page.tag_name(n) == "tr"][1:]
    table = field_tables(page, of_pieces(*([(n, int(page.end[n]))] for n in lines)))[0]
    assert values(table) == {
        "day": ["Monday", None, "Tuesday"],
        "hour": ["1", "2", "closed"],
        "what": ["rest", "work", None],
        "who": ["me", "you", "us"],
    }


@pytest.mark.parametrize("span", ["0", "-1", "x", "", "99999999999999999999", "٣"])
def test_spans_that_are_none(span: str) -> None:
    page = body(f"<table><tr><td colspan='{span}' rowspan='{span}'>a</td><td>b</td></tr>{rows()}</table>")
    assert len(field_tables(page, WebObjectBlocks().transform(page))) == 1


# Menus and footers.


def boxes(tag: str, *, role: str = "") -> str:
    """Return three boxes alike, as much text as a small list has."""
    parts = "".join(
        f"<section><h2>{w}</h2><p>{TEXT}</p><p>{TEXT}</p></section>" for w in ("we", "you", "they")
    )
    return f"<{tag}{role and f' role={role}'}>{parts}</{tag}>"


LIST = "<ul>" + "".join(f"<li><img><b>{w}</b><p>{TEXT}</p></li>" for w in WORDS) + "</ul>"


@pytest.mark.parametrize(
    "around",
    [
        boxes("footer"),
        boxes("header"),
        boxes("nav"),
        boxes("div", role="contentinfo"),
        boxes("div", role="navigation"),
        boxes("div", role=" BANNER ".strip()),
        "<section>"
        + boxes("header").replace("<header>", "<header><nav><a href=/>home</a></nav>")
        + "</section>",
    ],
)
def test_menus_heads_and_feet_hold_no_records(around: str) -> None:
    assert found(f"<div>{LIST}</div>{around}") == WORDS
    assert "we" in in_paper(f"<div>{LIST}</div>{around}")


def test_columns_of_short_links_are_a_menu_without_a_name() -> None:
    links = "".join(f"<li><a href=/{w}>About {w}</a></li>" for w in WORDS)
    columns = "".join(f"<div><h3>{w}</h3><ul>{links}</ul></div>" for w in ("we", "you", "they"))
    assert found(f"{LIST}<div>{columns}</div>") == WORDS
    assert found(f"<p>{TEXT * 20}</p><div>{columns}</div>") == []


def test_lists_of_records_with_many_links_are_lists() -> None:
    tags = "".join(f"<a href=/{w}>{w}</a> " for w in WORDS[:3])
    news = "".join(f"<li><h2><a href=/n{w}>{w}</a></h2><p>{TEXT}</p><p>{tags}</p></li>" for w in WORDS)
    assert found(f"<ul>{news}</ul>") == WORDS
    pictures = "".join(f"<li><img src={w}.png><b><a href=/n{w}>{w}</a></b><p>{tags}</p></li>" for w in WORDS)
    assert found(f"<ul>{pictures}</ul>") == WORDS


def test_a_menu_that_was_never_closed_hides_no_list() -> None:
    menu = "<a href=/>home</a><a href=/b>about</a>"
    for tag in ("nav", "header"):
        assert found(f"<{tag}>{menu}<div>{LIST}</div></{tag}>") == WORDS
        assert found(f"<{tag}>{menu}<main>{boxes('div')}</main></{tag}>") == ["we", "you", "they"]


def test_heads_and_feet_of_records_are_parts_of_them() -> None:
    entries = "".join(
        f"<article><header><h2>{w}</h2></header><p>{TEXT}</p><footer>by <a href=/x>me</a></footer></article>"
        for w in WORDS
    )
    page = body(entries)
    records = WebObjectBlocks().transform(page)
    assert texts(page, records) == WORDS
    assert records.numbers["fields"].tolist() == [4]


# Lists in layout tables, definition lists, links.


def test_a_link_that_was_never_closed_hides_no_list() -> None:
    def record(number: int, word: str) -> str:
        title = f"<table><tr><td>{number}.</td><td><a href=/{word}>{word}</a></td></tr></table>"
        return f"{title}<table><tr><td>{word} {TEXT}</td></tr></table><br>"

    entries = "".join(record(number, word) for number, word in enumerate(WORDS))
    html = f"<a name=top><table><tr><td>{entries}</td></tr></table></a>"
    assert len(found(html)) == len(WORDS)
    assert in_paper(html) == []


def test_cards_that_are_links_have_the_fields_they_show() -> None:
    cards = "".join(f"<li><a href=/{w}><h3>{w}</h3><p>{TEXT}</p></a></li>" for w in WORDS)
    assert found(f"<ul>{cards}</ul>") == WORDS
    assert in_paper(f"<ul>{cards}</ul>") == []


def test_lists_of_which_no_two_neighbours_are_alike_are_found_without_their_marks() -> None:
    lists = "".join(
        f"<dl><dt><a href=/{w}>{w}</a></dt><dd>{TEXT} {'<b>x</b> and ' * 3**n}</dd></dl>"
        for n, w in enumerate(WORDS[:6])
    )
    assert found(f"<div>{lists}</div>") == WORDS[:6]


def test_paragraphs_are_no_records_for_their_marks() -> None:
    prose = "".join(f"<p>{w} {TEXT} {'<b>x</b> and ' * 3**n}</p>" for n, w in enumerate(WORDS[:6]))
    assert found(f"<div>{prose}</div>") == []


@pytest.mark.parametrize("count", [1, 2, 5])
def test_an_entry_of_a_definition_list_is_its_terms_and_what_is_said_of_them(count: int) -> None:
    def entry(number: int, word: str) -> str:
        said = f"<dd>{TEXT}</dd>" * (1 + number * 5 % count)
        return f"<dt>{word}</dt>{'<dt>or so</dt>' * (number % 3 == 1)}{said}"

    html = "".join(entry(number, word) for number, word in enumerate(WORDS))
    assert found(f"<dl>{html}</dl>") == WORDS
    page = body(f"<dl>{html}</dl>")
    records = WebObjectBlocks().transform(page)
    assert records.span.tolist() == [[int(records.pieces[0, 0]), int(records.pieces[-1, 1])]]


def test_definition_lists_in_divisions_are_lists_of_these() -> None:
    html = "".join(f"<div><dt>{w}</dt><dd>{TEXT}</dd></div>" for w in WORDS)
    assert found(f"<dl>{html}</dl>") == WORDS
    assert found(f"<dl><dt>{TEXT}</dt><dd>{LIST}</dd></dl>") == WORDS


def test_bare_links_are_records_where_they_are_the_page() -> None:
    links = "".join(f"<li><a href=/{w}>{w}: and what more it is called</a></li>" for w in WORDS)
    assert found(f"<h1>Found</h1><ul>{links}</ul>") == [f"{w}:" for w in WORDS]
    assert found(f"<h1>Found</h1><p>{TEXT * 20}</p><ul>{links}</ul>") == []
    assert found(f"<h1>Found</h1><nav><ul>{links}</ul></nav>") == []
