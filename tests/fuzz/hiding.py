"""Pages whose sentences are hidden, or not, by random combinations of CSS: ``python -m tests.fuzz.hiding SEED``.

The last argument may be the number of a sentence; then the page has only that one.
"""

import random
import re
import sys
from collections.abc import Sequence

SENTENCES = 30
# One of these is drawn for a property. About half of them hide nothing, so that properties are seen to work together.
_PROPERTIES: tuple[tuple[str, ...], ...] = (
    tuple(
        f"color:{value}"
        for value in (
            *(
                "#000",
                "#fff",
                "#fdfdfd",
                "#eee",
                "#777",
                "#c00",
                "transparent",
                "rgba(0,0,0,.02)",
                "rgba(0,0,0,.5)",
            ),
            *("color(srgb 1 1 1)", "color(srgb 0 0 0)", "oklch(1 0 0)", "oklch(.4 .1 200)", "lab(100 0 0)"),
            *("color(rec2020 1 1 1)", "color(a98-rgb 0 0 0)", "color(prophoto-rgb 1 1 1)"),
        )
    ),
    tuple(
        f"background:{value}"
        for value in (
            *("#fff", "#000", "#222", "#e8e8ff", "rgba(255,255,255,.5)", "rgba(0,0,0,.9)", "url(/none.png)"),
            *("linear-gradient(#fff,#fff)", "linear-gradient(#000,#333)", "linear-gradient(90deg,#fff,#000)"),
            *(
                "#fff url(/none.png)",
                "url(/none.png) no-repeat 100% 0/9px 9px",
                "linear-gradient(#fff,#fefefe)",
            ),
            *(
                "linear-gradient(#000,#000) no-repeat 0 -900px",
                "linear-gradient(#000,#000) no-repeat 0 0/0 0",
            ),
            "linear-gradient(#000,#000) no-repeat 0 0/100% 100%",
        )
    ),
    tuple(f"opacity:{value}" for value in ("1", ".7", ".4", ".2", ".02", "0")),
    tuple(
        f"filter:{value}"
        for value in (
            *("opacity(0)", "opacity(.5)", "opacity(1%)", "invert(1)", "brightness(0)", "brightness(1.2)"),
            *(
                "contrast(0)",
                "contrast(.5)",
                "grayscale(1)",
                "blur(1px)",
                "blur(20px)",
                "drop-shadow(0 0 2px #00f)",
            ),
            *("hue-rotate(90deg)", "hue-rotate(0deg) opacity(0)", "saturate(2)", "drop-shadow(0 0 1px #fff)"),
        )
    ),
    tuple(
        f"clip-path:{value}"
        for value in (
            *(
                "inset(0)",
                "inset(60%)",
                "inset(100%)",
                "inset(2px)",
                "circle(0)",
                "circle(100%)",
                "ellipse(0 0)",
            ),
            *(
                "polygon(0 0,100% 0,100% 100%,0 100%)",
                "polygon(0 0,0 0,0 0)",
                "rect(0 0 0 0)",
                "path('M0 0')",
            ),
            *("polygon(0 0,100% 100%,0 0)", "inset(calc(50% - 1px))", "circle(closest-side at 0 0)"),
            *("path('M0 0H900V40H0Z')", "path('M0 0L9 9L18 18Z')", "inset(calc(10% - 1px) 0)"),
        )
    ),
    (
        *("overflow:hidden;height:0", "overflow:hidden;height:2px", "overflow:hidden;height:50px"),
        *("overflow:clip;height:0", "overflow:hidden;width:0", "overflow:hidden;width:900px;height:60px"),
        *("overflow:auto;height:50px", "overflow:auto;height:0", "overflow:scroll;width:2px;height:2px"),
        *("max-height:0;overflow:hidden", "contain:paint;height:0", "contain:paint", "height:0"),
        "overflow:hidden;height:1px;padding-top:30px",
    ),
    tuple(
        f"transform:{value}"
        for value in (
            *(
                "scale(0)",
                "scale(.05)",
                "scale(.6)",
                "scaleY(0)",
                "scaleX(-1)",
                "rotate(3deg)",
                "rotateX(90deg)",
            ),
            *(
                "rotateY(180deg)",
                "translateX(-9999px)",
                "translateX(30px)",
                "translateY(-4px)",
                "skewX(10deg)",
            ),
            *("perspective(100px) translateZ(150px)", "perspective(500px) translateZ(20px)"),
        )
    ),
    ("rotate:y 180deg", "rotate:x 90deg", "scale:.02 1", "scale:1.1", "transform-style:preserve-3d"),
    (
        "z-index:-1;position:relative",
        "z-index:2;position:relative",
        "z-index:0;position:relative",
        "isolation:isolate",
    ),
    (
        "text-shadow:0 0 1px #000",
        "text-shadow:0 0 0 #000",
        "text-shadow:1px 1px #fff",
        "text-shadow:0 0 9px #fff",
    ),
    tuple(f"-webkit-text-fill-color:{value}" for value in ("#000", "#fff", "transparent", "currentcolor")),
    ("-webkit-text-stroke:1px #000", "-webkit-text-stroke:1px #fff"),
    tuple(
        f"mask:{value}"
        for value in (
            "linear-gradient(#000,#000)",
            "linear-gradient(#0000,#0000)",
            "linear-gradient(90deg,#000,#0000)",
            "linear-gradient(#000,#000) no-repeat 0 -900px",
            "linear-gradient(#000,#000) no-repeat 0 0/100% 90%",
            "linear-gradient(#000,#000) luminance",
            "linear-gradient(#000,#000),linear-gradient(#000,#000)",
        )
    ),
    tuple(
        f"mix-blend-mode:{value}"
        for value in (
            *(
                "multiply",
                "screen",
                "difference",
                "lighten",
                "normal",
                "overlay",
                "color-dodge",
                "color-burn",
            ),
            *("hue", "exclusion", "hard-light", "soft-light", "luminosity", "saturation", "color"),
        )
    ),
    (
        *(
            "box-shadow:inset 0 0 0 900px #fff",
            "box-shadow:inset 0 0 0 900px #000",
            "box-shadow:0 0 9px #000",
        ),
        *("outline:2px solid #000", "border:1px solid;border-image:linear-gradient(#000,#000) 1 fill"),
    ),
    (
        *(
            "text-decoration:line-through #fff 60px",
            "text-decoration:underline",
            "-webkit-text-security:disc",
        ),
        *("text-decoration:line-through", "text-security:none"),
    ),
    (
        *("position:relative;left:-9999px", "position:relative;left:15px", "position:absolute;left:-3000px"),
        *("position:absolute;left:0;top:4px", "position:absolute;left:1500px;top:0", "margin-left:-9999px"),
    ),
    tuple(f"font-size:{value}" for value in ("0", "1px", "2px", "8px", "12px", "24px")),
    ("text-indent:-9999px", "text-indent:25px", "line-height:0", "letter-spacing:2px", "zoom:.1", "zoom:1.2"),
    ("visibility:hidden", "visibility:visible", "visibility:collapse", "content-visibility:auto"),
    (
        "background-clip:text",
        "backface-visibility:hidden",
        "display:inline-block",
        "display:flex",
        "will-change:opacity",
    ),
)
_COVERS = (
    "#fff",
    "#000",
    *("rgba(255,255,255,.6)", "rgba(255,255,255,.99)"),
    "linear-gradient(#fff,#fff)",
    "none",
    "url(/none.png)",
    "#e8e8ff",
)
_PLACES = (
    "inset:0",
    "inset:0 50% 0 0",
    "left:0;top:0;width:100%;height:8px",
    "inset:-5px",
    "left:2000px;top:0",
)
# What is done to a cover.
_CHANGES = (
    *("opacity:.99", "opacity:.5", "clip-path:inset(0 0 100% 0)", "clip-path:inset(0)", "border-radius:50%"),
    *(
        "mix-blend-mode:multiply",
        "mix-blend-mode:lighten",
        "mask:linear-gradient(#0000,#0000)",
        "filter:invert(1)",
    ),
    *("box-shadow:inset 0 0 0 900px #fff", "box-shadow:0 0 0 900px #fff", "outline:900px solid #fff"),
    *("border:9px solid #0000;border-image:linear-gradient(#fff,#fff) 1 fill", "visibility:hidden"),
    *("backdrop-filter:blur(30px)", "backdrop-filter:contrast(0)", "transform:rotate(45deg)"),
)
_FILLS = ("black", "white", "none", "#777", "currentColor", "transparent")
_SECTION = "position:relative;min-height:60px;margin:6px 0"


def sections(seed: int) -> list[str]:
    """Return the HTML of the sections of a page, each with the sentence of its number."""
    chance = random.Random(seed)
    return [_section(chance, sentence(number)) for number in range(SENTENCES)]


def page(parts: Sequence[str]) -> str:
    """Return a page of some sections."""
    style = "body{background:#fff;color:#000;font:16px serif}p{margin:4px 0}"
    head = f"<!doctype html><meta charset=utf-8><title>Drawn</title><style>{style}</style>"
    return "\n".join((head, *parts, ""))


def sentence(number: int) -> str:
    """Return the sentence of a section, which stands in one place of a page only."""
    return f"Planted number{number} sentence tells some readers about a garden."


def number_of(text: str) -> int | None:
    """Return the number of the section whose sentence this is; None for other texts."""
    match = re.match(r"Planted number(\d+) sentence", text.strip())
    return int(match[1]) if match else None


def _section(chance: random.Random, text: str) -> str:
    html = _innermost(chance, text)
    for _ in range(chance.choice((0, 1, 1, 2))):
        html = f'<div style="{_declarations(chance, chance.choice((0, 1, 1, 2)))}">{html}</div>'
    if chance.random() < 0.25:
        html += _layer(chance, chance.choice(("", "z-index:1", "z-index:-1")))
    if chance.random() < 0.2:
        html = _layer(chance, chance.choice(("", "z-index:-1"))) + html
    isolation = chance.choice(("", ";z-index:0", ";background:#000", ";background:#fff;z-index:0"))
    return f'<section style="{_SECTION}{isolation}">{html}</section>'


def _innermost(chance: random.Random, text: str) -> str:
    style = _declarations(chance, chance.choice((0, 1, 1, 2, 3)))
    kind = chance.random()
    if kind < 0.1:
        fill = chance.choice(_FILLS)
        return f'<svg width="900" height="30" style="{style}"><text x="0" y="20" fill="{fill}">{text}</text></svg>'
    tag = "p" if kind < 0.7 else chance.choice(("div", "span", "b", "li", "h4", "blockquote"))
    return f'<{tag} style="{style}">{text}</{tag}>'


def _declarations(chance: random.Random, count: int) -> str:
    return ";".join(chance.choice(values) for values in chance.sample(_PROPERTIES, count))


def _layer(chance: random.Random, order: str) -> str:
    place, colour = chance.choice(_PLACES), chance.choice(_COVERS)
    change = chance.choice(_CHANGES) if chance.random() < 0.5 else ""
    return f'<div style="position:absolute;{place};background:{colour};{order};{change}"></div>'


if __name__ == "__main__":
    of_page, *wanted = map(int, sys.argv[1:])
    all_sections = sections(of_page)
    print(page([all_sections[number] for number in wanted] or all_sections))
