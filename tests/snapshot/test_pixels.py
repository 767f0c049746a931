"""The column of what pictures say: whether a page has it, what it counts, and the page without it."""

from dataclasses import replace

import pytest

from domsieve.snapshot.page import PIXELS
from domsieve.snapshot.pixels import has_pixels, unsure_texts, with_seen_texts, without_pixels
from domsieve.snapshot.strings import StringTable
from tests.snapshot.pages import made_up
from tests.snapshot.pictured import pictured


def test_a_page_without_pictures_stays_itself() -> None:
    page = made_up(1, 50)
    assert not has_pixels(page)
    assert without_pixels(page) is page
    assert unsure_texts(page) == 0
    assert unsure_texts(made_up(1, 50, rendered=False)) == 0


def test_without_what_pictures_say_a_page_is_as_before() -> None:
    page = made_up(2, 80)
    shown = pictured(page, {})
    assert has_pixels(shown)
    assert any(shown.computed_style(node).get(PIXELS) == "seen" for node in range(len(page)))
    plain = without_pixels(shown)
    assert not has_pixels(plain)
    assert plain.style_names == page.style_names
    for node in range(len(page)):
        assert plain.computed_style(node) == page.computed_style(node)


def test_texts_are_counted_where_pictures_do_not_decide() -> None:
    page = made_up(3, 200)
    boxed = [node for node in range(len(page)) if page.text[node] >= 0 and page.style[node] >= 0]
    text = page.text_of(boxed[0])
    shown = pictured(page, {text: "unsure"})
    assert unsure_texts(shown) == sum(page.text_of(node) == text for node in boxed)


@pytest.mark.parametrize(
    ("text", "said", "kept"),
    [
        ("a text of which the end is cut", "seen 0-16", "a text of which the"),
        ("the Newsletter. today", "seen 0-12 13-19", "the Newsletter. today"),
        ("some photographers? asked", "seen 0-4 13-23", "some asked"),
        ("evergreen-obey now", "seen 0-9", "evergreen"),
        ("roses-and-lilies-grow-well-here", "seen 10-26", "lilies-grow-well"),
        (
            "玫瑰和百合在这里生长得很好每天浇水两次服从这个秘密命令",
            "seen 0-19",
            "玫瑰和百合在这里生长得很好每天浇水两次",
        ),
    ],
)
def test_texts_are_cut_to_what_shows_of_them(text: str, said: str, kept: str) -> None:
    page = made_up(4, 60)
    node = next(node for node in range(len(page)) if page.text[node] >= 0 and page.style[node] >= 0)
    strings, texts = page.strings.to_list(), page.text.copy()
    texts[node] = len(strings)
    page = replace(page, text=texts, strings=StringTable.from_strings([*strings, text]))
    page = pictured(page, {text: said})
    assert with_seen_texts(page).text_of(node).strip() == kept
