"""What is seen in pictures must be seen on the page as it is, too, before anything of it is changed for them."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import domsieve
from domsieve.renderer.page.pixels.plain import Pixels, _numbered, _shows
from domsieve.snapshot.page import Snapshot
from tests.renderer.test_pixels import pictured

_WORDS = "seven words that a reader can read"
_SAID = "capture: pixels: unsure, some texts are not seen on the page as it is"
_WHITE = (
    "data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22 width=%2299%22 height=%2299%22>"
    "<rect width=%2299%22 height=%2299%22 fill=%22white%22/></svg>"
)
_BOX = "position: absolute; left: 0; top: 0; width: 700px; height: 60px"
_TURNS = "animation: {} 75s step-end infinite"
_COVER = f"<img style='{_BOX}' src='{_WHITE}'>"
_IN_PLACE = (
    "@keyframes p { 0%, 6.2%, 100% { transform: translateX(-3000px) } .6% { transform: none } } "
    f".p {{ {_TURNS.format('p')} }}"
)
_TALL = "<div style='height: 3000px'></div>"
_SKIPPED = "<svg style='position: absolute; left: -900px; content-visibility: auto'>{}</svg>"

# Pages that show a text only as they are changed for the pictures: a lock is released, what is skipped is laid out,
# or they are brought to a moment at which what covers the text lags behind.
CHANGED = {
    "in a body that is cut": "<style>body { position: fixed; inset: 0 auto auto 0; margin: 0; width: 1300px; "
    "height: 3000px; "
    "clip-path: inset(0 0 2500px 0) } i { position: absolute; top: 600px }</style><i>{}</i>",
    "under a line of another text": "<style>html, body { overflow: hidden } body { margin: 0; position: relative } "
    "p { margin: 0; height: 40px } b { position: absolute; left: 0; bottom: 20px; width: 700px; font: 20px/40px "
    "sans-serif; text-decoration: underline #fff 46px; text-underline-offset: -677px; text-decoration-skip-ink: "
    "none; "
    "white-space: pre }</style><p>before<p>{}<p>after<p style='margin-bottom: 580px'>last</p><b>x"
    + 120 * " "
    + ".</b><i style='position: absolute; top: 2000px'>far</i>",
    "under what lags behind its colours": f"<style>{_IN_PLACE} @keyframes a {{ 0% {{ opacity: 1; --v: visible }} "
    f".4%, 100% {{ "
    f"opacity: 1; --v: hidden }} }} .a {{ {_TURNS.format('a')} }} img {{ visibility: var(--v); transition: "
    f"visibility 4.9s }}"
    f"</style><p class=p>{{}}</p><div class=a>{_COVER}</div>",
    "under what begins anew": f"<style>{_IN_PLACE} @keyframes a {{ 0% {{ --d: block }} 99.8%, 100% {{ --d: none }} "
    f"}} "
    f".a {{ {_TURNS.format('a')} }} @keyframes c {{ to {{ opacity: 0 }} }} img {{ display: var(--d); animation: c "
    f"4.9s "
    f"step-end forwards }}</style><p class=p>{{}}</p><div class=a>{_COVER}</div>",
    "under what is thrown about": "<style>@keyframes z { 0%, 100% { transform: translateX(-20px) } 50% { transform: "
    f"translateX(20px) }} }} div {{ {_BOX}; animation: z .1s infinite step-end }} div::before {{ content: ''; "
    f"position: "
    f"absolute; inset: 0 -60px; background: url('{_WHITE}') }}</style><p style='margin: 20px "
    f"0'>{{}}</p><div>Sale</div>",
    "under an enlarged caret": f"<style>b {{ {_BOX}; outline: none; font: 60px/60px serif; caret-color: #fff }} i "
    f"{{ display: "
    "block; width: 1px; height: 60px; transform: scaleX(720); transform-origin: 0 0 }</style><p>{}</p><b id=b "
    "contenteditable><i id=i><wbr><wbr></i></b><script>b.focus(); getSelection().collapse(i, 0)</script>",
    "in a pattern that is skipped": _SKIPPED.format(
        "<pattern id=p width=9 height=9><path d='M0 0h9v9h-9z' /></pattern>"
    )
    + "<svg width=700 height=60><text y=40 fill='url(#p)'>{}</text></svg>",
    "under a cover that is cut by what is skipped": _SKIPPED.format(
        "<clipPath id=c><path d='M0 0h1v1z' /></clipPath>"
    )
    + f"<p>{{}}</p><div style='{_BOX}; background: #fff; clip-path: url(#c)'></div>",
    "under what a lazy picture shows that moves on": "<style>i { display: block; position: sticky; top: 4000px; "
    "height: 50px; z-index: 1 } img::after { content: ''; position: absolute; left: 0; top: 50px; width: 900px; "
    "height: 60px; background: #fff }</style><div style='height: 20000px'><div style='height: 900px'></div><i><img "
    "loading=lazy alt=x width=50 height=50 src=nowhere.png></i></div><p>{}</p><div style='height: 900px'></div>",
}
# Pages that show it as they are.
AS_THEY_ARE = {
    "far down": f"{_TALL}<p>{{}}</p>{_TALL}",
    "far to the side": "<p style='margin: 2000px 0 0 5000px; width: 400px'>{}</p>",
    "in a box that scrolls": f"<div style='height: 200px; overflow: auto'>{_TALL}<p>{{}}</p></div>",
    "in one that scrolls in others": "<div style='height: 500px; overflow: auto'><div style='height: "
    "900px'></div><div "
    f"style='height: 200px; overflow: auto'>{_TALL}<div style='width: 300px; overflow: auto'><p style='margin-left: "
    "900px; width: 400px'>{}</p></div></div></div>",
    "in a frame that scrolls": f"{_TALL}<iframe style='width: 400px; height: 200px; padding: 9px' "
    f'srcdoc="{_TALL}<p>{{}}</p>">'
    "</iframe>",
    "in a shadow tree that scrolls": "<div><template shadowrootmode=open><div style='height: 200px; overflow: auto'>"
    f"{_TALL}<slot></slot></div></template><p>{{}}</p></div>",
    "in columns": f"{_TALL}<div style='columns: 3; width: 600px'>one two three four five six seven eight nine ten "
    f"{{}}</div>",
    "in a button": "<button style='width: 90px'>{}</button>",
    "in a drawing": f"{_TALL}<svg width=600 height=90 viewBox='0 0 300 45'><text y=20 font-size=9>{{}}</text></svg>",
    "in what sticks": f"<div style='height: 5000px'>{_TALL}<p style='position: sticky; top: 50px'>{{}}</p></div>",
    "in a fixed box": "<p style='position: fixed; bottom: 0'>{}</p>" + _TALL,
    "under a fixed box": f"<p>{{}}</p><div style='position: fixed; inset: 0; background: #eee'>Do you "
    f"agree?</div>{_TALL}",
    "in a box that is enlarged and scrolls": f"<div style='zoom: 2; height: 200px; overflow: auto'>{_TALL}<p>{{}}</p>"
    "</div>",
    "behind a lock": "<style>html, body { overflow: hidden; height: 100% }</style><div style='position: fixed; "
    "inset: 0; "
    f"background: #eee'>Do you agree?</div>{_TALL}<p>{{}}</p>",
    "below the window of a locked page": f"<style>html, body {{ overflow: hidden; height: 100% "
    f"}}</style>{_TALL}<p>{{}}</p>",
    "twice": "<p>{}</p><p>{}</p>",
    "where it is skipped": f"{_TALL}<div style='content-visibility: auto'><p>{{}}</p></div>{_TALL}",
    "beside a lazy picture": f"{_TALL}<img loading=lazy src='late.png' width=9 height=9><p>{{}}</p>",
    "on what changes": "<style>@keyframes k { to { background: #333 } } p { color: #fff; background: #123; "
    "animation: k 9s "
    "infinite alternate }</style><p>{}</p>",
    "beside what moves": "<style>@keyframes k { to { transform: rotate(1turn) } } i { display: block; width: 20px; "
    "height: "
    "20px; border: 2px solid; animation: k 1s infinite }</style><i></i><p>{}</p>",
}


def _reasons(page: Snapshot) -> list[str]:
    return [str(reason) for reason in page.provenance.reasons]


@pytest.mark.browser
@pictured(lambda way: CHANGED[way].replace("{}", _WORDS))
@pytest.mark.parametrize("way", CHANGED)
def test_text_that_shows_only_as_a_page_is_changed_leaves_doubt(ahead: Snapshot, way: str) -> None:
    is_kept = _WORDS in domsieve.clean(ahead, method="none", hidden="pixels").text
    assert not is_kept or any(one.startswith("capture: pixels: unsure, ") for one in _reasons(ahead))


@pytest.mark.browser
@pictured(lambda way: AS_THEY_ARE[way].replace("{}", _WORDS))
@pytest.mark.parametrize("way", AS_THEY_ARE)
def test_text_that_a_page_shows_as_it_is_leaves_no_doubt(ahead: Snapshot, way: str) -> None:
    assert not _reasons(ahead)
    assert _WORDS in domsieve.clean(ahead, method="none", hidden="pixels").text


def _letters() -> Iterator[tuple[Pixels, Pixels]]:
    """Yield pictures of dark strokes on a white ground and on a busy one, with the strokes and without them."""
    busy = np.random.default_rng(0).integers(120, 256, (20, 60, 3), np.int16)
    for ground in (np.full((20, 60, 3), 255, np.int16), busy):
        whole = ground.copy()
        whole[4:16, 5:55:9] = whole[4:16, 6:55:9] = whole[9:11, 5:30] = 20
        yield whole, ground


def test_letters_must_show_as_they_do_later() -> None:
    letters, behind = next(_letters())
    other, pale, noise = letters.copy(), 255 - (255 - letters) // 60, letters.copy()
    other[4:16, 32:34], other[4:16, 36:38] = 255, 20  # one is in another place
    assert not _shows(letters, behind, other)
    assert not _shows(letters, behind, pale)
    shift = np.random.default_rng(0).integers(-60, 61, (20, 60), np.int16)
    noise[..., 0], noise[..., 1] = (
        np.clip(noise[..., 0] + shift, 0, 255),
        np.clip(noise[..., 1] - shift, 0, 255),
    )
    assert not _shows(letters, behind, noise)
    assert not _shows(letters, behind, 255 - letters // 2)  # in other colours


@pytest.mark.parametrize("number", range(2))
def test_only_what_looks_like_letters_shows_them(number: int) -> None:
    letters, behind = [*_letters()][number]
    assert _shows(letters, behind, letters)
    assert not _shows(letters, behind, letters // 2 + behind // 2 - 30)
    assert not _shows(letters, behind, behind)
    for level in (0, 20, 128, 255):
        assert not _shows(letters, behind, np.full_like(letters, level))
    assert not _shows(letters, behind, np.roll(letters, 4, axis=1))
    assert not _shows(letters, behind, letters[::-1, ::-1])
    assert not _shows(behind, behind, behind)


_LETTERS = 255 * np.tile(
    np.array([[1, 0, 0, 1, 0, 0, 0, 1, 1, 0]] * 6 + [[1, 1, 1, 1, 0, 0, 0, 1, 0, 0]] * 6), (1, 3)
)


@pytest.mark.parametrize(
    "shown",
    [
        np.where(np.arange(12)[:, None] // 2 == 3, _LETTERS, 255),  # a slit in a black cover
        np.where(np.arange(12)[:, None] >= 10, 255 * (np.arange(30) % 4 < 2), 0),  # a dotted line below
        255 * np.tile(np.arange(10) % 10 < 4, (12, 3)),  # blocks
        255 * np.tile((np.arange(12) // 4 == 1)[:, None], (1, 30)),  # bars along and
        255 * np.tile(np.arange(30) // 9 == 1, (12, 1)),  # across
    ],
)
def test_lines_blocks_and_slits_show_no_letters(shown: NDArray[np.int_]) -> None:
    letters, seen = (np.repeat(one[..., None], 3, axis=2).astype(np.int16) for one in (_LETTERS, shown))
    assert _shows(letters, np.zeros_like(letters), letters)
    assert not _shows(letters, np.zeros_like(letters), seen)


def test_equal_lines_are_numbered() -> None:
    assert [*_numbered([(1, "a "), (2, "a"), (1, " a"), (1, "b")])] == [
        (1, "a", 0),
        (2, "a", 0),
        (1, "a", 1),
        (1, "b", 0),
    ]
