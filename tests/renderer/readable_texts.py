"""Texts near the limit of what can be read, judged by eye, from which the limits of the pixel oracle were chosen.

Each text is ten words in 16 px serif letters, on its own line of a page 1280 px wide. The crops were looked at in
natural size, without enlarging them or raising their contrast. A text counts as readable if its words could be read
off one after another, if need be slowly, and as unreadable if there was nothing, only a smear, or a word here and
there.

The eye was that of a vision model. It gets the exact colours, and could still make out words at 4 to 8 levels from
their ground and at opacity .02, which are contrasts of at most 1.07 to 1. No ordinary screen in an ordinary room
shows those, so they count as unreadable by decision, not by sight. People should judge them before anybody concludes
more from them; the oracle calls most texts this close to a limit doubtful.

What follows for the limits (shares are of the letters that vanish and of those that are swapped):

- T = 8 of 255. On white the words 10 levels darker count as readable, those 8 levels darker do not; on black and on
  a dark grey those 12 levels lighter, but not 8. Opacity .04 (10 levels) is readable, .02 (5 levels) not.
- N = .10. Text at opacity .04, the faintest that is readable, has shares of .32 and .11, because only the cores of
  its letters differ by more than T. The highest share of an unreadable text, in the way that gives it the lower one,
  is .09: half-transparent light yellow. One of ten words has .10 and .02, which is not the sentence; two have .19.
- Both ways must agree. Letters blurred by 8 px, which are a smear, have a share of 1.00 if they vanish and of .00 if
  they are swapped for others. Blurred by 4 px, they can be read slowly, and have .35.
- Letters of 4 px could be read, of 3 px not, whatever their share.
"""

from typing import NamedTuple


class Text(NamedTuple):
    """A text: what it looks like, whether it is readable, and the CSS of itself and of the box around it."""

    looks: str
    is_readable: bool
    style: str
    ground: str = ""


_PHOTO = (
    "background:radial-gradient(circle at 20% 30%,#9a8f7a,transparent 40%),"
    "radial-gradient(circle at 70% 60%,#5c6f5a,transparent 45%),linear-gradient(100deg,#8aa0b8,#6b5d4a)"
)

TEXTS = (
    Text("opacity .01", False, "opacity:.01"),
    Text("opacity .02", False, "opacity:.02"),
    Text("opacity .04", True, "opacity:.04"),
    Text("opacity .06", True, "opacity:.06"),
    Text("opacity .08", True, "opacity:.08"),
    Text("opacity .1", True, "opacity:.1"),
    Text("opacity .12", True, "opacity:.12"),
    Text("opacity .15", True, "opacity:.15"),
    Text("opacity .2", True, "opacity:.2"),
    Text("opacity .1, white on black", True, "color:#fff;opacity:.1", "background:#000"),
    Text("1 darker than white", False, "color:#fefefe"),
    Text("2 darker than white", False, "color:#fdfdfd"),
    Text("4 darker than white", False, "color:#fbfbfb"),
    Text("6 darker than white", False, "color:#f9f9f9"),
    Text("8 darker than white", False, "color:#f7f7f7"),
    Text("10 darker than white", True, "color:#f5f5f5"),
    Text("12 darker than white", True, "color:#f3f3f3"),
    Text("16 darker than white", True, "color:#efefef"),
    Text("20 darker than white", True, "color:#ebebeb"),
    Text("24 darker than white", True, "color:#e7e7e7"),
    Text("4 lighter than black", False, "color:#040404", "background:#000"),
    Text("8 lighter than black", False, "color:#080808", "background:#000"),
    Text("12 lighter than black", True, "color:#0c0c0c", "background:#000"),
    Text("16 lighter than black", True, "color:#101010", "background:#000"),
    Text("20 lighter than black", True, "color:#141414", "background:#000"),
    Text("24 lighter than black", True, "color:#181818", "background:#000"),
    Text("32 lighter than black", True, "color:#202020", "background:#000"),
    Text("4 lighter than dark grey", False, "color:#262626", "background:#222"),
    Text("8 lighter than dark grey", False, "color:#2a2a2a", "background:#222"),
    Text("12 lighter than dark grey", True, "color:#2e2e2e", "background:#222"),
    Text("16 lighter than dark grey", True, "color:#323232", "background:#222"),
    Text("24 lighter than dark grey", True, "color:#3a3a3a", "background:#222"),
    Text("grey on the colours of a photo", True, "color:#808080", _PHOTO),
    Text(
        "grey on greys up to 7 apart",
        False,
        "color:#777",
        "background:linear-gradient(90deg,#707070,#8a8a8a)",
    ),
    Text(
        "grey on greys up to 3 apart",
        False,
        "color:#7d7d7d",
        "background:linear-gradient(90deg,#7a7a7a,#808080)",
    ),
    Text("white on light greys", True, "color:#fff", "background:linear-gradient(90deg,#fafafa,#dcdcdc)"),
    Text("yellow on white", True, "color:#ff0"),
    Text("light yellow on white", True, "color:#ffc"),
    Text("half-transparent light yellow on white", False, "color:#ffe8"),
    Text("letters of 1 px", False, "font-size:1px"),
    Text("letters of 2 px", False, "font-size:2px"),
    Text("letters of 3 px", False, "font-size:3px"),
    Text("letters of 4 px", True, "font-size:4px"),
    Text("letters of 5 px", True, "font-size:5px"),
    Text("letters of 6 px", True, "font-size:6px"),
    Text("letters of 7 px", True, "font-size:7px"),
    Text("the upper 2 px below a padding of 4", False, "height:2px;overflow:hidden"),
    Text("the upper 4 px below a padding of 4", True, "height:4px;overflow:hidden"),
    Text("the upper 6 px below a padding of 4", True, "height:6px;overflow:hidden"),
    Text("the upper 8 px below a padding of 4", True, "height:8px;overflow:hidden"),
    Text("the first of ten words", False, "white-space:nowrap;overflow:hidden;width:52px"),
    Text("two of ten words", True, "white-space:nowrap;overflow:hidden;width:105px"),
    Text("three of ten words", True, "white-space:nowrap;overflow:hidden;width:160px"),
    Text("five of ten words", True, "white-space:nowrap;overflow:hidden;width:270px"),
    Text("blurred by 2 px", True, "filter:blur(2px)"),
    Text("blurred by 4 px", True, "filter:blur(4px)"),
    Text("blurred by 8 px", False, "filter:blur(8px)"),
)

# Words of five to eight letters, so that tenths of a text are about equal.
_WORDS = (
    *("amber", "basin", "candle", "dragon", "ember", "falcon", "garden", "harbor", "island", "jungle"),
    *("kettle", "lantern", "meadow", "needle", "orchard", "pepper", "quarry", "ribbon", "saddle", "timber"),
    *("umbrella", "velvet", "walnut", "yellow", "zephyr", "acorn", "bramble", "copper", "dapple", "fennel"),
)


def page() -> str:
    """Return the page with all texts, each a paragraph, in their order."""
    lines = []
    for number, text in enumerate(TEXTS):
        words = " ".join(_WORDS[(11 * number + 7 * at) % len(_WORDS)] for at in range(10))
        lines.append(
            f'<div style="height:28px;padding:2px;{text.ground}"><p style="{text.style}">{words}</p></div>'
        )
    style = "body{margin:0;font:16px serif}p{margin:0;padding:4px}"
    return f"<!doctype html><meta charset=utf-8><style>{style}</style>{''.join(lines)}"
