"""The column of what pictures say: whether a page has it, what it counts, and the page without it."""

from domsieve.snapshot.page import PIXELS
from domsieve.snapshot.pixels import has_pixels, unsure_texts, without_pixels
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
