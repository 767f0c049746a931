"""Presentation styles: what enters, what does not, and when two elements count as equal (SST 9.12 and 9.13)."""

import pytest

from domsieve.analysis.columns.batch import Batch
from domsieve.analysis.columns.styles import display_attributes, presentation_styles
from domsieve.types import StyleLevel
from tests.analysis.pages import page

# As Chrome 156 serialises them.
PLAIN = {
    "display": "block",
    "position": "static",
    "float": "none",
    "text-align": "start",
    "font-size": "16px",
    "font-weight": "400",
    "background-color": "rgba(0, 0, 0, 0)",
    "background-image": "none",
    "border-top": "0px none rgb(0, 0, 0)",
    "border-left": "0px none rgb(0, 0, 0)",
    "white-space": "normal",
    "visibility": "visible",
    "color": "rgb(0, 0, 0)",
    "border-radius": "0px",
    "box-shadow": "none",
    "opacity": "1",
}


@pytest.mark.parametrize(
    ("changes", "layout", "full"),
    [
        ({}, "", ""),
        ({"border-top": "2px dashed rgb(255, 0, 0)"}, "border-top:some", "border-top:dashed rgb(255, 0, 0)"),
        ({"border-left": "1px solid rgba(0, 0, 0, 0)"}, "", ""),
        ({"border-left": "3px none rgb(1, 2, 3)"}, "", ""),
        ({"background-color": "rgb(9, 9, 9)"}, "background:some", "background:rgb(9, 9, 9)"),
        ({"background-image": 'url("https://example.org/a.png?x=1")'}, "background:some", "background:url"),
        ({"font-size": "15.4px"}, "font-size:15", "font-size:15"),
        ({"font-weight": "650"}, "font-weight:bold", "font-weight:bold"),
        ({"position": "fixed", "float": "left"}, "position:fixed;float:left", "position:fixed;float:left"),
        ({"color": "rgb(1, 1, 1)"}, "", "color:rgb(1, 1, 1)"),
        ({"border-radius": "0px 4px"}, "", "radius:some"),
        ({"box-shadow": "rgb(0, 0, 0) 1px 1px 0px 0px", "opacity": "0"}, "", "shadow:some;opacity:0"),
        ({"display": "flex", "flex-direction": "column"}, "display:flex;flex-direction:column", None),
    ],
)
def test_computed_styles_hold_what_sets_an_element_apart(
    changes: dict[str, str], layout: str, full: str | None
) -> None:
    style = {**PLAIN, **changes}
    assert display_attributes("div", style, PLAIN, level="layout") == layout
    if full is not None:
        assert display_attributes("div", style, PLAIN, level="full") == full


def test_inherited_properties_count_only_where_they_change() -> None:
    red = {**PLAIN, "color": "rgb(255, 0, 0)", "text-align": "center"}
    assert display_attributes("p", red, red, level="full") == ""
    assert display_attributes("p", red, PLAIN, level="full") == "text-align:center;color:rgb(255, 0, 0)"


def test_defaults_of_the_tag_do_not_count() -> None:
    assert display_attributes("td", {**PLAIN, "display": "table-cell"}, PLAIN, level="layout") == ""
    assert display_attributes("span", {**PLAIN, "display": "inline"}, PLAIN, level="layout") == ""
    assert display_attributes("span", PLAIN, PLAIN, level="layout") == "display:block"


def codes(first: str, second: str, level: StyleLevel) -> tuple[int, int]:
    snapshot = page(f"<html><body><div {first}>a</div><div {second}>b</div></body></html>")
    batch = Batch.of([snapshot])
    divs = [i for i in range(len(snapshot)) if snapshot.tag_name(i) == "div"]
    found = presentation_styles(batch, level)
    return int(found[divs[0]]), int(found[divs[1]])


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        ('class="post post-12 active"', 'class="post-9 post"', True),
        ('class="menu"', 'class="main"', False),
        ('align="LEFT" width="10"', 'width="10" align="left"', True),
        ('style="color: red; width: 3px"', 'style="COLOR:red;height:9px"', True),
        ('style="color: red"', 'style="color: blue"', False),
        ('id="a" href="x" title="t"', "", True),
    ],
)
def test_html_styles(first: str, second: str, equal: bool) -> None:
    a, b = codes(first, second, "html")
    assert (a == b) is equal
    assert codes(first, second, "none") == (0, 0)
