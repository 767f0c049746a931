"""Parts of pages by CSS selectors: which elements match, and what is left of the page."""

import time
from datetime import timedelta

import numpy as np
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.analysis.selection._selectors import Matcher, parse_selectors
from domsieve.analysis.selection.selection import Selection
from domsieve.budget import AnalysisBudget, budgeted
from domsieve.errors import BudgetError, ContentError, UsageError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Kind, Snapshot

PAGE = """<!doctype html><html lang=en><head><title>Title</title></head><body>
<div id=a class="x  y"><p>one <span title="de-CH">two</span></p><p class=K>three</p></div>
<nav data-kind="Menu">menu</nav><ul><li>1<li>2<li>3<li>4</ul><div><div><i></i><p>deep</p></div></div>
</body></html>"""
# What every element of the made-up pages may be called, and the parts that their selectors are made of.
NAMES = ("div", "p", "b")
SIMPLE = (
    "div",
    "p",
    "b",
    "*",
    ".x",
    ".y",
    "#i",
    "[title]",
    "[title=t]",
    "[title^=t]",
    "[title~=u]",
    "[title$='u']",
)
PSEUDO: tuple[str, ...] = (
    ":first-child",
    ":last-child",
    ":only-child",
    ":nth-child(2n+1)",
    ":nth-last-child(2)",
    ":first-of-type",
)
PSEUDO += (
    ":has(> b)",
    ":has(div b, p)",
    ":has(+ div > b)",
    ":has(~ p)",
    ":is(div, .x)",
    ":empty",
    ":nth-of-type(2)",
    ":not(.x)",
    ":not(p)",
    ":nth-last-of-type(-n+2)",
    ":nth-child(even)",
    ":only-of-type",
)


def parsed(source: str) -> Snapshot:
    return parse_html(source.encode(), url="https://example.org/")


def texts(page: Snapshot) -> str:
    return " ".join(" ".join(page.text_of(node) for node in range(len(page))).split())


def chosen(*select: str, drop: tuple[str, ...] = ()) -> str:
    return texts(Selection(select, drop).of(parsed(PAGE))).removeprefix("Title").strip()


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("#a", "one two three"),
        ("div.x.y > p", "one two three"),
        ("p + p", "three"),
        (".K, nav", "three menu"),
        (".k", None),
        ("[data-kind=menu]", None),
        ("[data-kind=menu i]", "menu"),
        ("[title|=de]", "two"),
        ("li:nth-child(2n)", "2 4"),
        ("li:nth-child(-n + 99999999999999999999)", "1 2 3 4"),
        ("li:nth-child(99999999999999999999n + 2)", "2"),
        ("li:nth-child(-99999999999999999999)", None),
        ("li ~ li:not(:last-child)", "2 3"),
        ("div:has(> div p)", "deep"),
        ("p:has(+ p)", "one two"),
        ("li:has(~ li:nth-child(3))", "1 2"),
        (":is(nav, li:first-child)", "menu 1"),
        (":where(nav)", "menu"),
        ("div div p", "deep"),
        ("i:empty + p", "deep"),
        ("SPAN", "two"),
        (":root > body > nav", "menu"),
        ("\\6e av", "menu"),
    ],
)
def test_what_matches(selector: str, expected: str | None) -> None:
    if expected is None:
        with pytest.raises(ContentError, match="Nothing on the page matches"):
            chosen(selector)
    else:
        assert chosen(selector) == expected


@pytest.mark.parametrize(
    ("selector", "why"),
    [
        ("a:hover", ":hover is not supported"),
        ("a::before", "::before does not select elements"),
        ("a[", "expected attribute name"),
        ("", "expected a compound selector"),
        ("p:nth-child(x)", "nth-child"),
        ("p:not(a:visited)", ":visited is not supported"),
        ("p:lang(de)", "lang"),
        ("svg|a", "svg"),
        ("|", "ends too early"),
        ("p, *|", "ends too early"),
        (":is(" * 3_000 + "p" + ")" * 3_000, "nested too deeply"),
        ("p," * 10_000 + "p", "more than 20,000 characters"),
        (",".join([".a"] * 501), "more than 500 simple selectors"),
        (".a" * 501, "more than 500 simple selectors"),
        (f"p:not({','.join(['.a'] * 500)})", "more than 500 simple selectors"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(selector: str, why: str) -> None:
    for parameter in ("select", "drop"):
        with pytest.raises(UsageError, match=parameter) as caught:
            Selection(**{parameter: (selector,)})
        assert why in caught.value.message


def test_dropped_parts_go_even_where_they_are_selected() -> None:
    assert chosen(drop=("#a", "ul, nav")) == "deep"
    assert chosen("#a", drop=(".K",)) == "one two"
    assert chosen("#a", "li", drop=("li + li",)) == "one two three 1"


def test_what_is_left_is_a_page_of_the_same_nodes() -> None:
    page = parsed(PAGE)
    assert Selection().of(page) is page
    assert Selection(("html",)).of(page) is page
    part = Selection(("span",)).of(page)
    names = [part.tag_name(node) for node in range(len(part)) if part.kind[node] == Kind.ELEMENT]
    assert names == ["html", "head", "title", "body", "div", "p", "span"]
    node = names.index("div") + 2  # the document, and the text of the title
    assert part.attributes(node) == {"id": "a", "class": "x  y"}
    assert part.provenance == page.provenance


def elements() -> st.SearchStrategy[str]:
    attributes = st.sampled_from(["", " class=x", " class='y x'", " id=i", " title=t", " title='t u'"])
    leaf = st.builds("<{0}{1}>w</{0}>".format, st.sampled_from(NAMES[2:]), attributes)
    return st.recursive(
        leaf,
        lambda inner: st.builds(
            "<{0}{1}>{2}</{0}>".format,
            st.sampled_from(["div", "b"]),
            attributes,
            st.lists(inner, max_size=4).map("".join),
        ),
        max_leaves=25,
    )


def selectors() -> st.SearchStrategy[str]:
    compound = st.builds("{}{}".format, st.sampled_from(SIMPLE), st.sampled_from(["", *PSEUDO]))
    steps = st.lists(st.tuples(st.sampled_from([" ", " > ", " + ", " ~ "]), compound), max_size=3)
    return st.builds(lambda first, more: first + "".join(map("".join, more)), compound, steps)


@settings(max_examples=300, deadline=None)
@given(st.lists(elements(), max_size=5).map("".join), st.lists(selectors(), min_size=1, max_size=2))
def test_the_same_elements_as_another_library_finds(body: str, wanted: list[str]) -> None:
    source = f"<html><head><title>t</title></head><body>{body}</body></html>"
    css = ", ".join(wanted)
    page, soup = parsed(source), BeautifulSoup(source, "lxml")
    order = {id(element): number for number, element in enumerate(soup.find_all(True))}
    expected = {order[id(element)] for element in soup.select(css)}
    marks = Matcher(page).matches(parse_selectors(css, parameter="select"))
    assert set(np.flatnonzero(marks[page.kind == Kind.ELEMENT]).tolist()) == expected


def test_many_selectors_over_many_elements_end_with_the_budget() -> None:
    page = parsed("".join(f"<p class='c{number}'>x" for number in range(20_000)))
    select = tuple(f"[class~=d{number}]" for number in range(500))
    for selection in (Selection(select), Selection(drop=select)):
        with budgeted(AnalysisBudget(time=timedelta(milliseconds=200))):
            begun = time.thread_time()
            with pytest.raises(BudgetError) as caught:
                selection.of(page)
            assert time.thread_time() - begun < 1
        assert caught.value.stage == "select"


def test_deep_and_wide_pages_are_matched() -> None:
    css = "div div ~ div:has(b), p ~ p + p:nth-last-child(3)"
    deep = parsed("<div>" * 1_500 + "<b>x</b>")
    wide = parsed("<p>x" * 50_000)
    for page, found in ((deep, 0), (wide, 1)):
        assert Matcher(page).matches(parse_selectors(css, parameter="select")).sum() == found
