"""Sites of which only a few pages are rendered: these are learned from together with those that were only fetched."""

from collections.abc import Sequence
from typing import Literal

import pytest

from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.registry import MethodParams
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.errors import DomsieveError, ModelError
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.page_cleaning import clean
from domsieve.tasks.pages import Page
from tests.analysis.pages import page

RENDERED, FETCHED = "site", "site (raw)"
MENU = "<nav><ul><li><a href='/'>Home</a></li><li><a href='/all'>Everything</a></li></ul></nav>"
SHARED = "".join(f"<li>Letter c{code} of the alphabet</li>" for code in range(60))


def snapshot(number: int, *, rendered: bool, shared: bool = False) -> Snapshot:
    sentences = "".join(
        f"<p>{' '.join(f'word{number}x{line}x{place}' for place in range(18))}.</p>" for line in range(3)
    )
    held = f"<ul>{SHARED}</ul>" if shared else ""
    return page(
        f"<html><body>{MENU}<main><h1>Title {number}</h1>{sentences}{held}</main></body></html>",
        producer="rendered" if rendered else "raw",
        url=f"https://site.example/{number}",
    )


def pages(numbers: Sequence[int], *, rendered: bool) -> list[Page]:
    """Return pages of the site; the rendered ones from 3 on have a list in common."""

    def load(number: int) -> Snapshot:
        return snapshot(number, rendered=rendered, shared=rendered and number >= 3)

    site = RENDERED if rendered else FETCHED
    return [
        Page(f"{number}", f"{number}", site, lambda number=number: load(number), keys=(f"{site} {number}",))  # type: ignore[misc]
        for number in numbers
    ]


def cleaned(fetched: int, params: MethodParams = MethodParams()) -> tuple[Snapshot, Verdict]:  # noqa: B008
    """Return the last of six rendered pages, cleaned with so many fetched pages of its site."""
    rendered = pages(range(6), rendered=True)
    others = pages(range(10, 10 + fetched), rendered=False)
    *_, (_, result) = clean(rendered, params=params, siblings=lambda _: [*rendered, *others])
    assert not isinstance(result, DomsieveError)
    return result


def support(fetched: int, text: str) -> float:
    """Return how far the site counts for a text, in log-odds."""
    snapshot, verdict = cleaned(fetched)
    node = next(n for n in range(len(snapshot)) if snapshot.text[n] >= 0 and text in snapshot.text_of(n))
    return float(verdict.numbers["by_site"][node])


def test_what_few_rendered_pages_share_counts_as_content_where_the_fetched_ones_lack_it() -> None:
    alone, both = support(0, "Letter c7 "), support(60, "Letter c7 ")
    assert both > alone + 0.5, (alone, both)
    assert cleaned(60)[1].site_pages == 66


def test_few_fetched_pages_change_nothing() -> None:
    assert cleaned(2)[1].score.tobytes() == cleaned(0)[1].score.tobytes()


def test_a_third_of_the_pages_is_enough() -> None:
    assert cleaned(2)[1].site_pages == 6
    assert cleaned(3)[1].site_pages == 9


def test_fetched_pages_do_not_count_for_computed_styles() -> None:
    layout = MethodParams(given={"style": "layout"})
    assert cleaned(60, layout)[1].score.tobytes() == cleaned(0, layout)[1].score.tobytes()


@pytest.mark.parametrize("style", ["html", "none"])
def test_models_that_read_no_computed_styles_learn_both_kinds(style: Literal["html", "none"]) -> None:
    both = [snapshot(1, rendered=True), *(snapshot(number, rendered=False) for number in range(2, 8))]
    text = write_text(both[0], SiteStyleTree(style=style).fit(both).transform(both[0]))
    assert "word1x2x3" in text
    assert "Everything" not in text


@pytest.mark.parametrize("style", ["auto", "layout", "full"])
def test_models_that_read_computed_styles_refuse_both_kinds_together(
    style: Literal["auto", "layout", "full"],
) -> None:
    both = [snapshot(1, rendered=True), snapshot(2, rendered=False)]
    with pytest.raises(ModelError, match=r"pages of one kind, or with the style \"html\""):
        AutoCleaner(style=style).fit(both)
