"""Options and budget of a single call."""

from datetime import timedelta

import pytest

from domsieve.errors import UsageError
from domsieve.options import Budget, CaptureOptions
from domsieve.snapshot.page import Snapshot
from tests.renderer.conftest import Studio

pytestmark = pytest.mark.browser

PAGE = "<!doctype html><p id=p></p><script>p.textContent = innerWidth + ' ' + document.cookie</script>"
COOKIE = "<!doctype html><p>set<script>document.cookie = 'seen=1'</script>"


def _shown(page: Snapshot) -> str:
    (paragraph,) = (node for node in range(len(page)) if page.tag_name(node) == "p")
    return page.text_of(paragraph + 1).strip()


def test_a_call_has_its_own_options_and_shares_no_cookies_with_others(studio: Studio) -> None:
    studio.server.pages |= {"/width": PAGE, "/cookie": COOKIE}
    renderer = studio.renderer()
    narrow = CaptureOptions(viewport_px=(390, 800))

    async def texts() -> list[str]:
        url = studio.server.url("/width")
        await renderer.render(studio.server.url("/cookie"))
        pages = [await renderer.render(url), await renderer.render(url, options=narrow)]
        assert pages[1].snapshot.provenance.options == narrow.canonical()
        return [_shown(page.snapshot) for page in pages]

    assert studio.runner.run(texts()) == ["1280 seen=1", "390"]


def test_a_call_has_its_own_budget(studio: Studio) -> None:
    budget = Budget(time=timedelta(seconds=77))
    page = studio.render("/endless-script", budget=budget, until=["/reached"])
    assert page.snapshot.provenance.reasons == ("time: 77 s are used up while loading",)


def test_a_call_cannot_change_the_browser(studio: Studio) -> None:
    options = CaptureOptions(images=False)
    with pytest.raises(UsageError, match="images"):
        studio.runner.run(studio.renderer().render(studio.server.url("/width"), options=options))
