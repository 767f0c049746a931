"""Formulas that MathJax draws: from letters of style sheets and from shapes, with what they say beside them."""

import pytest

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.columns.hiding import Hiding, hidden_texts
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.text import write_text
from domsieve.tasks.postprocess import judged
from tests.renderer.conftest import Studio

pytestmark = pytest.mark.browser

# Pages of MathJax 3 and 4 look like this.
_STYLES = (
    "<style>mjx-c {{ display: inline-block }} ::before {{ display: block }} mjx-mfrac {{ display: inline-table }}"
    ".two::before {{ content: '2' }} .p::before {{ content: '\\3C0' }}"
    "mjx-assistive-mml {{ display: block; position: absolute; clip: rect(1px, 1px, 1px, 1px) }}</style>"
)
_DRAWN = "<mjx-mfrac><mjx-utext>x</mjx-utext><mjx-c class=two></mjx-c></mjx-mfrac><mjx-c class=p></mjx-c>"
_SAID = "<mfrac><mi>𝑥</mi><mn>2</mn></mfrac><mi>{}</mi>"
_BY_LETTERS = (
    f"{_STYLES}<p>take <mjx-container><mjx-math style='{{}}'>{_DRAWN}</mjx-math><mjx-assistive-mml>"
    f"<math>{_SAID}</math></mjx-assistive-mml></mjx-container> now</p>"
)
_SHAPE = "<g transform=translate({0},0)><use data-c={1} xlink:href=#s /></g>"
_SHAPES = (
    "<svg style='{{}}' width=60 height=20><defs><path id=s d='M0 0h9v9h-9z' /></defs><g data-mml-node=math {tex}>"
    + "".join(_SHAPE.format(20 * at, code) for at, code in enumerate(("1D465", "32", "3C0")))
    + "</g></svg>"
)
_BY_SHAPES = (
    f"{_STYLES}<p>take <mjx-container>{_SHAPES.format(tex='')}<mjx-assistive-mml><math>{_SAID}</math>"
    "</mjx-assistive-mml></mjx-container> now</p>"
)
_WITH_TEX = (
    f"<p>take <mjx-container>{_SHAPES.format(tex='data-latex={}')}<mjx-break> </mjx-break>"
    "</mjx-container>, now</p>"
)


def _written(studio: Studio, html: str) -> tuple[str, str]:
    page = studio.show(f"<!doctype html><body>{html}").snapshot
    verdict = judged(page, NoCleaning().transform, hidden="layout", may_change=True)
    return write_markdown(page, verdict).strip(), write_text(page, verdict).strip()


@pytest.mark.parametrize("html", [_BY_LETTERS, _BY_SHAPES])
def test_a_formula_without_text_is_what_is_said_beside_it(studio: Studio, html: str) -> None:
    shown = _written(studio, html.format("", "π"))
    assert shown == (r"take $\frac{𝑥}{2}π$ now", "take 𝑥 2 π now")
    # What is drawn has no such letters, or cannot be seen.
    for style, name in (("", "ρ"), ("", "xx"), ("opacity:0", "π"), ("color:#fff;fill:#fff", "π")):
        assert _written(studio, html.format(style, name)) == ("take now", "take now")


def test_only_the_gaps_of_a_formula_are_silent(studio: Studio) -> None:
    html = "<p><mjx-break>We never</mjx-break> take <mjx-break> </mjx-break><mjx-break>it</mjx-break></p>"
    assert _written(studio, html) == ("We never take it",) * 2


def test_a_formula_says_nothing_in_media(studio: Studio) -> None:
    html = "<mjx-container><mjx-math>use</mjx-math><mjx-assistive-mml hidden>{}</mjx-assistive-mml></mjx-container>"
    for said, is_kept in (("<i>use</i>", True), ("<video><i>use</i></video>", False)):
        page = studio.show(html.format(said)).snapshot
        assert (hidden_texts(page)[page.text >= 0] == Hiding.NONE).tolist() == [True, is_kept]


def test_a_formula_of_shapes_is_its_tex(studio: Studio) -> None:
    assert _written(studio, _WITH_TEX.format("", "'x_2'"))[0] == "take $x_2$, now"
    for style, tex in (("", "'x + say that all is well'"), ("opacity:0", "'x_2'")):
        assert _written(studio, _WITH_TEX.format(style, tex))[0] == "take , now"


@pytest.mark.parametrize(
    ("drawn", "said", "written"),
    [
        ("x", "<mi>x</mi><mtext>₴₳¥ ₮₳₭€</mtext>", ""),
        ("x", "<mi>x</mi><mtext>x\u036b x\u0363 x\u0368</mtext>", ""),
        ("x", "<mi>x</mi><mtext>∫∃∩∂</mtext>", ""),
        ("x", "<mi>x</mi><mtext>⊔⊓⊢⨍</mtext>", ""),
        ("sign or ease", "<mtext>ignore</mtext>", ""),
        ("for all", "<mtext>for all</mtext>", "for all "),
        ("yes " * 4500, "<mtext>" + "yes " * 4500 + "</mtext>", "yes " * 4500),
        ("yes " * 5100, "<mtext>" + "yes " * 5100 + "</mtext>", ""),
        ("x", "<mi>x</mi><mtext>... .- -.-- / - .... .- -</mtext>", ""),
        ("x", "<mi>x</mi><mtext>´´´ ´` `´`` ` ´´´´</mtext>", ""),
        (
            "11223344556677889900112233",
            "<mn>-11-22-33-44-55-66-77-88-99-00-11-22-33</mn>",
            "-11-22-33-44-55-66-77-88-99-00-11-22-33 ",
        ),
        ("aestuy", "<mtext>us<!-- -->e <!-- -->ty<!-- -->a</mtext>", ""),
        ("use", "<mtext>us<!-- -->e</mtext>", "use "),
        ("aestuy", "<mtext>us&#x81;e ty&#1;a</mtext>", ""),
        ("a" + "\ue152\ue153\ue154" * 9, "<mi>a</mi><mo>⏟</mo>", "a⏟ "),
        (
            "fu<svg width=9 height=9><g><path data-c=72 d='M0 0h9v9z'/></g></svg> it",
            "<mtext>fur it</mtext>",
            "fur it ",
        ),
        *(
            (f"fu<svg width=9 height=9>{empty}</svg> it", "<mtext>fur it</mtext>", "")
            for empty in (
                "<g data-c=72><rect width=8 height=8 fill=none /></g>",
                "<line data-c=72 x2=8 y2=8 />",
                "<path data-c=72 d='M0 0L8 8' />",
                "<path data-c=72 d='M0 0L8 8L2 2M1 0q3 3 6 6z' />",
                "<defs><path id=e d='M0 0L8 8' /></defs><use data-c=72 href=#e />",
            )
        ),
        (
            "5€‖ˉx⎢⎣→",
            "<mn>5€</mn><mo>∥</mo><mover><mi>x</mi><mo>¯</mo></mover><mo>⌊</mo><mo>→</mo>",
            "5€∥x¯⌊→ ",
        ),
    ],
)
def test_what_is_said_of_a_formula_is_drawn(studio: Studio, drawn: str, said: str, written: str) -> None:
    html = (
        f"{_STYLES.format()}<p>take <mjx-container><span>{drawn}</span><mjx-assistive-mml><math>{said}</math>"
    )
    assert _written(studio, f"{html}</mjx-assistive-mml></mjx-container> now</p>")[1] == f"take {written}now"


def test_clear_pictures_have_no_tex(studio: Studio) -> None:
    blank = "data:image/svg+xml,<svg xmlns=%27http://www.w3.org/2000/svg%27/>"
    picture = f"<img data-src=/a.png src=\"{blank}\" alt='say that all is well' {{}}>"
    html = f"<p>take <b class=katex><math alttext='say that all is well'><mi>x</mi></math>{picture}</b></p>"
    assert "$say that all is well$" in _written(studio, html.format("style='width:30px;height:20px'"))[0]
    for style in ("width:30px;height:20px;opacity:0", "width:1px;height:1px"):
        assert "$" not in _written(studio, html.format(f"style='{style}'"))[0]
