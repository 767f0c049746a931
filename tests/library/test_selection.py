"""Parts of pages that a caller of the library chooses or leaves out."""

import asyncio

import pytest

import domsieve

HTML = (
    "<title>Moss</title><nav>Menu</nav><main><h1>Moss</h1><p>It grows on walls.</p><p class=share>Share</p></main>"
    "<ul class=shop><li><a href=/1>Hand lens</a> 12 €<li><a href=/2>Notebook</a> 7 €<li><a href=/3>Net</a> 9 €</ul>"
    "<ul class=more><li><a href=/4>Rain</a> 2025<li><a href=/5>Snow</a> 2024<li><a href=/6>Hail</a> 2023</ul>"
)


def test_the_chosen_parts_alone_are_cleaned() -> None:
    page = domsieve.clean(HTML, method="none", select=["main"], drop=[".share"])
    assert page.text == "Moss\nIt grows on walls.\n"
    assert page.metadata.title == "Moss"
    later = asyncio.run(domsieve.clean_async(HTML, method="none", select=["main"], drop=[".share"]))
    assert later.text == page.text
    assert "Menu" in domsieve.clean(HTML, method="none").text


def test_records_are_looked_for_in_the_chosen_parts_alone() -> None:
    both = domsieve.records(HTML)
    shop = domsieve.records(HTML, select=[".shop"])
    rest = domsieve.records(HTML, drop=[".shop"])
    assert (len(both.rows), len(shop.rows), len(rest.rows)) == (6, 3, 3)


def test_a_page_without_any_of_them_fails() -> None:
    with pytest.raises(domsieve.PageError, match="'article'"):
        domsieve.clean(HTML, select=["article"])
    failed, _ = domsieve.clean(
        [HTML, "<article>Rain falls on the roof.</article>"], method="none", select=["article"]
    )
    assert "'article'" in str(failed.error)


@pytest.mark.parametrize("parameter", ["select", "drop"])
def test_what_is_no_selector_is_refused_before_any_work(parameter: str) -> None:
    for css in ("main[", "a:hover"):
        with pytest.raises(domsieve.UsageError, match="not a CSS selector") as caught:
            domsieve.clean(
                "http://127.0.0.1:9/",
                select=[css] if parameter == "select" else (),
                drop=[css] if parameter == "drop" else (),
            )
        assert caught.value.parameter == parameter
