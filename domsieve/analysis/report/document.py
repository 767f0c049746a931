"""Write the report as one HTML file from the template, styles and scripts in this folder.

Data is embedded as JSON, screenshots as base64. The file is safe to open anywhere: its Content-Security-Policy lets
it load images from the file itself only, and run our own script only, identified by its hash. Captured text is data
that the script sets as text.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

_FOLDER = Path(__file__).parent
_SCRIPTS = ("text.js", "data.js", "stage.js", "details.js", "example.js", "plots.js", "panels.js", "app.js")
_STYLES = ("report.css", "stage.css")
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ESCAPED = re.compile("[<>&\u2028\u2029]")
_MEDIA = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"RIFF", "image/webp"))


@dataclass(frozen=True, slots=True)
class Tile:
    """A horizontal strip of the screenshot of a page.

    Parameters
    ----------
    y, height : offset from the top of the page, and height, in CSS px.
    image : WebP, PNG or JPEG file.
    """

    y: float
    height: float
    image: bytes


class ReportPart(msgspec.Struct, frozen=True, kw_only=True):
    """One version (rendered or raw) of one page, or a tree.

    Parameters
    ----------
    name : unique in the report.
    data : what to show; encoded as JSON.
    tiles : the screenshot.
    """

    name: str
    data: Any
    tiles: Sequence[Tile] = ()


def write_report(parts: Iterable[ReportPart], index: Callable[[], Mapping[str, Any]]) -> Iterator[bytes]:
    """Yield the HTML of a report in pieces.

    Parameters
    ----------
    parts : pages and trees; the browser parses each when it is shown.
    index : returns the pages, the sites and the names of their parts; called after all parts were written.
    """
    style = "\n".join(_read(name) for name in _STYLES)
    script = "(() => {\n'use strict'\n" + "\n".join(_read(name) for name in _SCRIPTS) + "\n})()"
    pieces = {
        "policy": "; ".join(
            (
                "default-src 'none'",
                "img-src data:",
                f"style-src {_hash(style)}",
                f"script-src {_hash(script)}",
                "base-uri 'none'",
                "form-action 'none'",
                "require-trusted-types-for 'script'",
                "trusted-types 'none'",
            )
        ),
        "style": style,
        "script": script,
    }
    before, after = _read("report.html").split("{{data}}")
    yield _filled(before, pieces)
    for part in parts:
        tiles = [(round(t.y), round(t.height), media_type(t.image)) for t in part.tiles]
        yield _data(f"part-{part.name}", {"view": part.data, "tiles": tiles})
        for number, tile in enumerate(part.tiles):
            head = f'<script type="text/plain" id="tile-{part.name}-{number}">'
            yield head.encode() + base64.b64encode(tile.image) + b"</script>\n"
    yield _data("index", index())
    yield _filled(after, pieces)


def media_type(image: bytes) -> str:
    """Return the media type of an image, empty if the report cannot show it."""
    return next((name for start, name in _MEDIA if image.startswith(start)), "")


def _data(name: str, value: Any) -> bytes:
    text = msgspec.json.encode(value).decode()
    text = _ESCAPED.sub(lambda match: _ESCAPES[match[0]], text)
    return f'<script type="application/json" id="{name}">{text}</script>\n'.encode()


def _filled(template: str, pieces: Mapping[str, str]) -> bytes:
    return re.sub(r"\{\{(\w+)\}\}", lambda match: pieces[match[1]], template).encode()


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8").strip("\n")
