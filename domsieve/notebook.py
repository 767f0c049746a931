"""Show pages and records in a notebook: a box of escaped text, without scripts, style sheets, links or images.

The box uses the notebook's own text and background colours, so it also works in dark themes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from domsieve.sanitize import plain

MOST_LINES = 200
"""Lines or rows that a box shows at most; the number of the others is given below them."""

# Limits chosen by hand, so that a long page does not fill a notebook.
_MOST_CHARACTERS = 600
_MOST_COLUMNS = 12
_GREY = "rgba(128,128,128,.4)"
_BOX = f"border:1px solid {_GREY};border-radius:4px;padding:.5em .8em;max-height:32em;overflow:auto"
_CELL = f"border:1px solid {_GREY};padding:.1em .4em;text-align:left;vertical-align:top"


@dataclass(frozen=True, slots=True)
class Line:
    """A text of the page, which may contain line breaks.

    Parameters
    ----------
    text : the text, not escaped.
    note : a short remark after the text, such as the reason for a verdict; may be empty.
    dropped : the text is not part of the result, and is struck out.
    """

    text: str
    note: str = ""
    dropped: bool = False


def box(title: str, facts: Iterable[str], lines: Sequence[Line]) -> str:
    """Return the HTML of a box with a list of texts.

    Parameters
    ----------
    title : shown in bold at the top.
    facts : shown in one line below the title.
    lines : the texts; dropped ones are struck out, and only the first `MOST_LINES` are shown.
    """
    shown = [_line(line) for line in lines[:MOST_LINES]]
    return _box(title, facts, [*shown, _rest(len(lines) - len(shown), "block")])


def tables(title: str, facts: Iterable[str], rows: Sequence[Sequence[dict[str, str]]]) -> str:
    """Return the HTML of a box with one table per group of rows.

    Parameters
    ----------
    title : shown in bold at the top.
    facts : shown in one line below the title.
    rows : groups of rows; each row maps column names to cell texts. Only the first `MOST_LINES` rows are shown.
    """
    parts = []
    left = MOST_LINES
    for group in rows:
        shown = group[:left]
        left -= len(shown)
        if shown:
            parts.append(_table(shown))
    parts.append(_rest(sum(map(len, rows)) - (MOST_LINES - left), "record"))
    return _box(title, facts, parts)


def _box(title: str, facts: Iterable[str], parts: Iterable[str]) -> str:
    head = f'<div style="font-weight:bold">{_safe(title)}</div>'
    subtitle = " · ".join(map(_safe, facts))
    return f'<div style="{_BOX}">{head}<div style="opacity:.7">{subtitle}</div>{"".join(parts)}</div>'


def _line(line: Line) -> str:
    text = "<br>".join(map(_safe, _short(line.text).split("\n")))
    note = f" <small>{_safe(line.note)}</small>" if line.note else ""
    if line.dropped:
        return f'<div dir="auto" style="margin:.3em 0;opacity:.55"><s>{text}</s>{note}</div>'
    return f'<div dir="auto" style="margin:.3em 0">{text}{note}</div>'


def _table(rows: Sequence[dict[str, str]]) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))[:_MOST_COLUMNS]
    head = "".join(f'<th style="{_CELL}">{_safe(name)}</th>' for name in names)
    body = (
        "".join(f'<td dir="auto" style="{_CELL}">{_safe(_short(row.get(name, "")))}</td>' for name in names)
        for row in rows
    )
    lines = "".join(f"<tr>{cells}</tr>" for cells in body)
    return f'<table style="border-collapse:collapse;margin:.5em 0"><tr>{head}</tr>{lines}</table>'


def _rest(number: int, what: str) -> str:
    return (
        f'<div style="opacity:.7">… and {number:,} more {what}{"s" * (number != 1)}</div>' if number else ""
    )


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"


def _safe(text: str) -> str:
    # Lone surrogates, which stand for undecodable bytes of file names, cannot be sent to a notebook.
    return escape(plain(text).encode("utf-8", "replace").decode())
