"""Parts that React streams: they are where its script puts them, and hidden if it moves none."""

import pytest

import domsieve
from domsieve.analysis.columns.visible import shown_nodes
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot

DEFINED = "$RC=function(b,c){};$RS=function(a,b){};$RR=function(b,c,d){};"
BOUNDARY = '<!--$?--><template id="B:0"></template>Loading<p>Wait</p><!--/$-->'
PART = '<div hidden id="S:0">one<p>two</p>three</div>'


def parsed(body: str, script: str = DEFINED, type_: str = "text/javascript") -> Snapshot:
    source = f'<!--top--><body><!--c-->{body}<script type="{type_}">{script}</script></body><!--end-->'
    return parse_html(source.encode(), url="page")


def shown_text(page: Snapshot) -> str:
    shown = shown_nodes(page)
    return " ".join(page.text_of(node) for node in range(len(page)) if shown[node] and page.text[node] >= 0)


@pytest.mark.parametrize("call", ['$RC("B:0","S:0")', '$RR("B:0", "S:0", [["a.css","high"]])'])
def test_a_part_replaces_the_fallback_of_its_boundary(call: str) -> None:
    page = parsed(f"<main>a{BOUNDARY}z</main>{PART}", f"{DEFINED}{call}")
    assert shown_text(page) == "aone two threez"
    assert "template" not in page.tags.to_list()


def test_a_part_replaces_its_placeholder_in_a_part_that_comes_later() -> None:
    segment = '<p>in <template id="P:1"></template> it</p>'
    page = parsed(
        f'<main>{BOUNDARY}</main><div hidden id="S:1"><b>the</b></div><div hidden id="S:0">{segment}</div>',
        DEFINED + '$RS("S:1","P:1");$RC("B:0","S:0")',
    )
    assert shown_text(page).split() == ["in", "the", "it"]


def test_boundaries_in_a_fallback_go_with_it() -> None:
    inner = "<!--$--><i>inner</i><!--/$-->"
    page = parsed(f"<main>{BOUNDARY.replace('Loading', inner)}z</main>{PART}", DEFINED + '$RC("B:0","S:0")')
    assert shown_text(page) == "one two threez"


def test_a_fallback_without_an_end_stays() -> None:
    page = parsed(f"<main>{BOUNDARY.replace('<!--/$-->', '')}z</main>{PART}", DEFINED + '$RC("B:0","S:0")')
    assert shown_text(page) == "one two threeLoading Wait z"


@pytest.mark.parametrize(
    ("body", "script", "type_"),
    [
        (BOUNDARY, DEFINED, "text/javascript"),
        (BOUNDARY, '$RC("B:0","S:0")', "text/javascript"),
        (BOUNDARY, DEFINED + '$RC("B:0","S:0")', "text/plain"),
        (BOUNDARY, DEFINED + '$RC("B:0","S:7")', "text/javascript"),
        (f"{BOUNDARY}{PART}text", DEFINED + '$RC("B:0","S:0")', "text/javascript"),
        ('<p id="B:0"></p>', DEFINED + '$RC("B:0","S:0")', "text/javascript"),
        (f"<div hidden>{BOUNDARY}</div>", DEFINED + '$RC("B:0","S:0")', "text/javascript"),
    ],
    ids=[
        "no call",
        "not defined",
        "no script",
        "other part",
        "text behind it",
        "no template",
        "hidden place",
    ],
)
def test_a_part_that_no_script_shows_stays_hidden(body: str, script: str, type_: str) -> None:
    page = parsed(body + PART, script, type_)
    assert "two" not in shown_text(page)
    assert any(page.text_of(node) == "two" for node in range(len(page)))


def test_a_part_cannot_move_into_itself() -> None:
    body = '<div hidden id="S:0">a<template id="P:0"></template></div>b'
    assert shown_text(parsed(body, DEFINED + '$RS("S:0","P:0")')) == "b"


@pytest.mark.parametrize("step", [1, -1])
def test_many_parts_in_each_other_take_little_time(step: int) -> None:
    numbers = range(5_000)[::step]
    parts = "".join(f'<div hidden id="S:{n}">w<template id="P:{n + 1}"></template></div>' for n in numbers)
    calls = "".join(f'$RS("S:{n}","P:{n}");' for n in numbers)
    page = parsed(f'<template id="P:0"></template>{parts}', DEFINED + calls)
    assert "w" in "".join(map(page.text_of, range(len(page))))


def test_comments_leave_no_trace_where_parts_are_moved() -> None:
    page = parsed("x<!--$-->y<!--/$--><p>z</p>", DEFINED)
    assert shown_text(page) == "xy z"
    assert not {"top", "c", "end"} & set(page.strings.to_list())


def test_a_streamed_article_is_cleaned_in_order() -> None:
    sentence = "The mill at the river grinds the wheat of the whole valley, as it did a century ago."
    lines = [f"{sentence} Page {number} of the book tells more." for number in range(6)]
    paragraphs = [f"<p>{line}</p>" for line in lines]
    page = (
        "<html><head><title>The mill</title></head><body><main><h1>The mill</h1>"
        f"{paragraphs[0]}{paragraphs[1]}{BOUNDARY}{paragraphs[5]}</main>"
        f'<div hidden id="S:0">{"".join(paragraphs[2:5])}</div>'
        f'<script>{DEFINED}$RC("B:0","S:0")</script></body></html>'
    )
    kept = domsieve.clean(page).text
    assert [line for line in kept.splitlines() if line in lines] == lines
    assert "Wait" not in kept
