"""Text that nobody can see is not kept of pages that are only fetched, if rendering them would drop it."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from domsieve.analysis.browser_need.site_evidence import is_audited
from domsieve.analysis.columns.hiding import Hiding
from domsieve.analysis.registry import page_cleaner
from domsieve.analysis.writers.text import write_text
from domsieve.errors import DomsieveError
from domsieve.renderer.fetching.fetcher import Fetcher
from domsieve.renderer.network.egress import offline
from domsieve.renderer.protocol import PageSource
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.adaptive_source import AdaptiveSource, NoMemory
from domsieve.tasks.postprocess import judged
from tests.renderer.bad_server import send
from tests.renderer.conftest import Studio
from tests.renderer.test_hidden_text import (
    CLIP,
    CLOSE,
    CUT_BY_DRAWINGS,
    FADES_OUT,
    HIDDEN,
    LAID,
    ON_PICTURES,
    PILED,
    SEEN,
    SEEN_TOO,
    WAYS,
)
from tests.service.test_adaptive import SENTENCES, article

pytestmark = pytest.mark.browser

_STYLE = "style='"


def page(number: int, part: str, case: str = "") -> str:
    """Return an article with a case in its middle, and with the style sheet of a part of the site."""
    head = f"<link rel=stylesheet href=/{part}.css>"
    before, mark, after = article(number, head=head).partition("<p>Part")
    return f"{before}{mark}{after.replace('</p><p>', f'</p>{case}<p>', 1)}"


def by_class(html: str, rules: dict[str, str]) -> str:
    """Return a part with its inline styles as classes, whose rules are added to `rules`."""
    first, *rest = html.split(_STYLE)
    parts = [first]
    for part in rest:
        style, _, more = part.partition("'")
        parts.append(f"class={rules.setdefault(style, f'c{len(rules)}')}{more}")
    return "".join(parts)


def serve_sheet(studio: Studio, part: str, rules: str = "") -> None:
    kind = {"Content-Type": "text/css"}
    studio.server.pages[f"/{part}.css"] = lambda handler: send(handler, rules.encode(), headers=kind)


def text(page: Snapshot) -> str:
    return write_text(page, judged(page, page_cleaner("auto"), hidden="layout", may_change=True))


def text_with_fixed_boxes(page: Snapshot) -> str:
    """Return all visible text, to see that it is the fixed box for which a text is dropped."""
    return write_text(page, judged(page, page_cleaner("none"), hidden="layout", may_change=False))


def loaded(studio: Studio, pages: dict[str, str]) -> dict[str, Snapshot]:
    """Load the pages of a site with ``render="auto"``, one after another in their order."""
    return studio.runner.run(load(studio, pages))


async def load(studio: Studio, pages: dict[str, str]) -> dict[str, Snapshot]:
    """Do so, as other sites may be loaded at the same time."""
    studio.server.pages.update(pages)
    urls = [studio.server.url(path) for path in pages]
    seed = next(seed for seed in range(100_000) if not any(is_audited(url, seed=seed) for url in urls))
    renderer = await studio.started()

    @asynccontextmanager
    async def opened() -> AsyncIterator[PageSource]:
        yield renderer

    found: dict[str, Snapshot] = {}
    async with (
        Fetcher(egress=offline()) as fetcher,
        AdaptiveSource(opened, fetcher, NoMemory(), seed=seed) as source,
    ):
        for url in urls:
            found[url] = (await source.render(url)).snapshot
        async for url, outcome in source.again():
            assert not isinstance(outcome, DomsieveError)
            found[url] = outcome.snapshot
    return {url.removeprefix(studio.server.url("")): page for url, page in found.items()}


def site(part: str, cases: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the pages of one part of a site by path, and the planted word of each page that has one.

    Plain pages come first and between the others. Each case is on two pages, so the second meets known styles.
    """
    pages = {f"/{part}/plain-{n}": page(n, part) for n in range(4)}
    planted: dict[str, str] = {}
    for number, html in enumerate(cases):
        for copy in "ab":
            path, word = f"/{part}/{number}-{copy}", f"planted{number}{copy}"
            pages[path], planted[path] = page(number, part, html.format(word)), word
            pages[f"/{part}/plain-{number}-{copy}"] = page(number + 4, part)
    return pages, planted


async def kept_when_rendered(studio: Studio, planted: dict[str, str]) -> set[str]:
    """Return which pages keep their planted word when they are rendered, all at the same time."""
    renderer = await studio.started()
    outcomes = await asyncio.gather(*(renderer.render(studio.server.url(path)) for path in planted))
    pages = zip(planted, outcomes, strict=True)
    return {path for path, outcome in pages if planted[path] in text(outcome.snapshot)}


async def _load_hidden(
    studio: Studio, reason: Hiding, styles: str
) -> tuple[dict[str, Snapshot], dict[str, str]]:
    """Return the pages of a site with hidden texts, and the planted word of each page that has one."""
    rules: dict[str, str] = {}
    cases = [html if styles == "inline" else by_class(html, rules) for html in HIDDEN[reason]]
    part = f"{styles}-{reason.name.lower()}"
    serve_sheet(studio, part, "".join(f".{name}{{{style}}}" for style, name in rules.items()))
    pages, planted = site(part, cases)
    return await load(studio, pages), planted


@pytest.mark.ahead(job=_load_hidden)
@pytest.mark.parametrize("styles", ["inline", "sheet"])
@pytest.mark.parametrize("reason", HIDDEN, ids=lambda reason: reason.name)
def test_hidden_text_is_not_kept(
    ahead: tuple[dict[str, Snapshot], dict[str, str]], reason: Hiding, styles: str
) -> None:
    found, planted = ahead
    assert [path for path, word in planted.items() if word in text(found[path])] == []
    plain = {path for path in found if path not in planted}
    fetched = {path for path, page in found.items() if not page.has_layout}
    assert len(fetched & plain) >= len(plain) // 2
    assert fetched - plain, "pages with hidden text that is known are fetched as well"


def test_no_more_is_kept_of_fetched_pages_than_of_rendered_ones(studio: Studio) -> None:
    serve_sheet(studio, "seen")
    fixed = [html for html in SEEN if "fixed" in html]
    assert fixed, (
        "a bar at the edge of the window can be seen, but is dropped, by a layout that sources do not have"
    )
    pages, planted = site("seen", [*dict.fromkeys([*SEEN[::4], *fixed])])
    found = loaded(studio, pages)
    fetched = {path: word for path, word in planted.items() if not found[path].has_layout}
    kept = {path for path, word in fetched.items() if word in text(found[path])}
    always = studio.runner.run(kept_when_rendered(studio, fetched))
    assert kept <= always
    assert len(kept) >= 0.9 * len(always)
    assert kept


_AT_ONCE = 12
"""Cases on one site: a way to hide a plain paragraph makes it doubtful whether others are visible."""
_OTHERS = [
    *FADES_OUT,
    *PILED,
    *CLOSE,
    *LAID,
    *(CLIP.format(*clip).replace("word", "{}") for clip in CUT_BY_DRAWINGS),
    *(html.format("/away.png").replace("word", "{}") for html in ON_PICTURES),
    "<iframe srcdoc='<p>{}</p>' style='opacity:0'></iframe>",
    "<p style='mask-image:url(/away.png)'>{}</p>",
    "<style>.no::first-letter {{ color: #fff }}</style><p class=no>{}</p>",
    "<p id=m>{}</p><script>document.getElementById('m').hidden = true</script>",
    "<p id=m>{}</p><img src=/away.png onerror=\"document.getElementById('m').style.opacity = 0\">",
]
_CASES = {
    **{reason.name.lower(): cases for reason, cases in WAYS.items()},
    "others": _OTHERS,
    "seen": SEEN,
    "seen-too": SEEN_TOO,
}
_GROUPS = [
    pytest.param(name, first, styles, id=f"{name}-{first}-{styles}")
    for name, cases in _CASES.items()
    for first in range(0, len(cases), _AT_ONCE)
    for styles in ("inline", "sheet")
    # Of what can be seen, half of the cases each way.
    if not name.startswith("seen") or (styles == "sheet") == bool(first // _AT_ONCE % 2)
]


async def _load_group(studio: Studio, name: str, first: int, styles: str) -> tuple[set[str], list[str]]:
    """Return which pages of a site were only fetched, and which of them keep a word that rendering drops."""
    cases, rules = _CASES[name][first : first + _AT_ONCE], dict[str, str]()
    shown = [html if styles == "inline" else by_class(html, rules) for html in cases]
    part = f"{styles}-{name}-{first}"
    css = "".join(f".{name}{{{style}}}" for style, name in rules.items())
    serve_sheet(studio, part, css.replace("{{", "{").replace("}}", "}"))
    pages, planted = site(part, shown)
    found = await load(studio, pages)
    fetched = {path for path, one in found.items() if not one.has_layout}
    kept = [path for path, word in planted.items() if path in fetched and word in text(found[path])]
    rendered = await kept_when_rendered(studio, {path: planted[path] for path in kept})
    return fetched, [path for path in kept if path not in rendered]


@pytest.mark.slow
@pytest.mark.ahead(job=_load_group)
@pytest.mark.parametrize(("name", "first", "styles"), _GROUPS)
def test_no_word_is_kept_that_rendering_drops(
    ahead: tuple[set[str], list[str]], name: str, first: int, styles: str
) -> None:
    fetched, kept = ahead
    assert kept == []
    assert fetched


_COVER = "position:absolute;inset:0;background:#fff"


@pytest.mark.parametrize(
    ("seen", "planted"),
    [
        ("<div class=wrap><p>{}</p></div>", "<div class=wrap><p>{}</p><div class=cover></div></div>"),
        (
            "<div class=wrap><p>{}</p></div><div class=wrap><div class=cover></div></div>",
            "<div class=wrap><p>{}</p><div class=cover></div></div>",
        ),
        (
            "<div class=wrap><p>{}</p></div>",
            f"<div class=wrap><p>{{}}</p><div style='{_COVER}'></div></div>",
        ),
        ("<div class=wrap><p>{}</p></div>", "<div class='wrap after'><p>{}</p></div>"),
        ("<p>{}</p>", "<p>{}</p><div class=up></div>"),
        ("<p>{}</p>", "<p class=line>{}</p>"),
        ("<p>{}</p>", "<p id=gone>{}</p><script>document.getElementById('gone').hidden = true</script>"),
    ],
    ids=["class", "class that was seen elsewhere", "inline style", "after", "margin", "first line", "script"],
)
def test_what_hides_text_that_is_not_its_own_is_rendered(studio: Studio, seen: str, planted: str) -> None:
    rules = (
        f".wrap{{position:relative}}.cover{{{_COVER}}}.after::after{{content:'';{_COVER}}}"
        ".up{height:900px;margin-top:-900px;position:relative;background:#fff}"
        ".line::first-line{color:#fff;font-size:1px}"
    )
    serve_sheet(studio, "cover", rules)
    pages = {f"/cover/{n}": page(n, "cover", seen.format("one more word")) for n in range(5)}
    pages |= {f"/cover/planted-{n}": page(n, "cover", planted.format(f"planted{n}")) for n in range(2)}
    pages |= {f"/cover/{n}": page(n, "cover", seen.format("one more word")) for n in range(5, 9)}
    found = loaded(studio, pages)
    assert [path for path, one in found.items() if "planted" in text(one)] == []
    assert found["/cover/planted-0"].has_layout
    assert not found["/cover/4"].has_layout


@pytest.mark.parametrize(
    ("rules", "seen", "planted"),
    [
        (
            ".dark{background:#111}.pale{color:#fff}",
            "<div class=dark><p class=pale>{}</div>",
            "<p class=pale>{}",
        ),
        (".dark{background-color:#000}", "<p class=light>{}", "<p class=dark>{}"),
        (
            ".night{background:#000 none}.night .day{background:white}.ink{color:black}",
            "<div class=night><p class='day ink'>{}</div>",
            "<div class=night><p class=ink>{}</div>",
        ),
    ],
    ids=["on its parent's ground", "default colour", "on the ground of another"],
)
def test_a_colour_is_known_only_on_the_ground_that_it_was_seen_on(
    studio: Studio, rules: str, seen: str, planted: str
) -> None:
    serve_sheet(studio, "ground", rules)
    words = " ".join(f"{SENTENCES[n % 4]}" for n in range(6))
    pages = {f"/ground/{n}": page(n, "ground", seen.format(words)) for n in range(5)}
    pages |= {f"/ground/pale-{n}": page(n, "ground", planted.format(f"planted{n} {words}")) for n in range(3)}
    found = loaded(studio, pages)
    assert [path for path, one in found.items() if "planted" in text(one)] == []
    assert "planted" not in text(studio.render("/ground/pale-0").snapshot)
    assert [path for path, one in found.items() if not one.has_layout]


def test_a_fixed_box_is_dropped_from_fetched_pages_too(studio: Studio) -> None:
    serve_sheet(studio, "bar", ".bar{position:fixed;bottom:0;background:#eee}")
    words = " ".join(SENTENCES)
    pages = {
        f"/bar/{n}": page(n, "bar", f"<div class=bar><p>planted{n} {words}</div>" if n % 2 else "")
        for n in range(10)
    }
    found = loaded(studio, pages)
    assert [path for path, one in found.items() if "planted" in text(one)] == []
    assert [n for n in range(1, 10, 2) if not found[f"/bar/{n}"].has_layout]
    assert "planted1" in text_with_fixed_boxes(studio.render("/bar/1").snapshot)


@pytest.mark.data
@pytest.mark.parametrize("name", ["hid", "w", "cv"])
def test_nothing_more_is_kept_of_a_page_of_many_ways_to_hide(studio: Studio, name: str) -> None:
    file = Path(os.environ.get("DOMSIEVE_DATA", "")) / "hidden" / f"{name}.html"
    if not file.exists():
        pytest.skip("DOMSIEVE_DATA names no folder with hidden/")
    serve_sheet(studio, name)
    source = file.read_text("utf-8")
    pages = {f"/{name}/plain-{n}": page(n, name) for n in range(5)}
    pages |= {f"/{name}/{n}": source.replace("</title>", f" {n}</title>") for n in range(3)}
    found = loaded(studio, pages)
    for n in range(3):
        path = f"/{name}/{n}"
        always = text(studio.render(path).snapshot)
        assert {*text(found[path]).split()} <= {*always.split()}, found[path].provenance.reason
