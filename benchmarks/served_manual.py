"""The guides of the project as a site on loopback, whose text, template and rotating parts can be changed."""

import random
import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

from examples.loopback import LoopbackServer, QuietHandler

DOCS = Path(__file__).parents[1] / "docs"
_LINK = re.compile(r"\]\(([\w/-]*?)(\w[\w-]*)\.md(?:#[\w-]*)?\)")
_GOODS = (
    "Boots",
    "Lanterns",
    "Tents",
    "Jackets",
    "Maps",
    "Kettles",
    "Ropes",
    "Stoves",
    "Cameras",
    "Bicycles",
)
_PRAISE = ("light", "warm", "sturdy", "cheap", "handmade", "waterproof", "silent", "folding", "durable")
_ENDS = ("Order today", "Only this week", "Free delivery", "Read the tests", "See our offers")


@dataclass
class Rotating:
    """What changes by itself on the site.

    Parameters
    ----------
    is_on : whether anything does.
    day : days since the first run.
    single : page with a counter of its own.
    """

    is_on: bool = False
    day: int = 0
    single: str = ""
    loads: dict[str, int] = field(default_factory=dict)


class ManualServer(LoopbackServer):
    """Serves the guides.

    Attributes
    ----------
    texts : Markdown by path.
    template : number of the template, 0 or 1.
    menu, footer, advert : texts around the content.
    rotating : what changes by itself.
    """

    def __init__(self, pages: int | None = None) -> None:
        super().__init__(_Handler)
        files = sorted(path for path in DOCS.rglob("*.md") if path.name not in ("results.md", "index.md"))
        self.texts = {f"/{path.stem}": linked(path.read_text("utf-8")) for path in files[:pages]}
        self.template = 0
        self.menu, self.footer, self.advert = (
            "Start page",
            "Imprint and contact",
            "Buy our boots, from 30 francs.",
        )
        self.rotating = Rotating()
        self._parser = MarkdownIt("commonmark").enable("table")

    def content(self, text: str) -> str:
        """Return the HTML of a Markdown text."""
        return str(self._parser.render(text))

    def source(self, path: str) -> str | None:
        """Return the source of a page; None if there is none."""
        if path == "/":
            links = "".join(f'<li><a href="{other}">{other[1:]}</a></li>' for other in self.texts)
            return self._framed(
                path, f"<h1>The guides</h1><p>All guides of this project.</p><ul>{links}</ul>"
            )
        text = self.texts.get(path)
        return None if text is None else self._framed(path, self.content(text))

    def _framed(self, path: str, content: str) -> str:
        advert, lines, seen = self.advert, "", ""
        if self.rotating.is_on:
            loads = self.rotating.loads[path] = self.rotating.loads.get(path, 0) + 1
            rng = random.Random(f"{path} {loads} {self.rotating.day}")
            praise = ", ".join(rng.sample(_PRAISE, 2))
            advert = (
                f"{rng.choice(_GOODS)}: {praise}, from {rng.randrange(9, 99)} francs. {rng.choice(_ENDS)}"
            )
            time = f"{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"
            seen = f"<p>Seen at {time} with the token {rng.getrandbits(48):012x}.</p>"
            day = date(2026, 11, 2) + timedelta(self.rotating.day)
            lines = f"<p>Today is {day:%A}, {day.day} {day:%B} {day.year}.</p>"
            if path == self.rotating.single:
                lines += f"<p>{1204 + 7 * self.rotating.day:,} people have read this guide so far.</p>"
            # In the middle of the content, in each second load only.
            if loads % 2:
                content = _inserted(content, f'<p><a href="/">{escape(advert)}</a></p>')
        links = "".join(f'<li><a href="{other}">{other[1:]}</a></li>' for other in self.texts)
        title = f"<title>{escape(path[1:] or 'Guides')}</title>"
        if self.template:
            return (
                f'<!doctype html><html lang=en><head><meta charset=utf-8>{title}</head><body class="v2">'
                f'<div class="bar"><div class="brand">Guides</div></div><div class="grid"><div class="col-main">'
                f'<div class="card"><section class="prose">{content}</section></div></div><div class="col-side">'
                f'<div class="menu"><a href="/">{escape(self.menu)}</a><ul class="tree">{links}</ul></div>'
                f'<div class="promo">{escape(advert)}</div></div></div>'
                f'<div class="bottom"><div class="legal">{escape(self.footer)}</div></div></body></html>'
            )
        return (
            f"<!doctype html><html lang=en><head><meta charset=utf-8>{title}</head><body><header><nav>"
            f'<a href="/">{escape(self.menu)}</a><ul>{links}</ul></nav></header><main><article>{lines}{content}{seen}'
            f'</article></main><aside class="ad"><p>{escape(advert)}</p></aside>'
            f"<footer><p>{escape(self.footer)}</p></footer></body></html>"
        )


def linked(text: str) -> str:
    """Return a guide with links to the pages of the site in place of those to files."""
    return _LINK.sub(r"](/\2)", text)


def _inserted(content: str, block: str) -> str:
    """Return HTML with a block behind a paragraph in its middle."""
    places = [match.end() for match in re.finditer("</p>\n", content)]
    place = places[len(places) // 2] if places else len(content)
    return content[:place] + block + content[place:]


class _Handler(QuietHandler):
    server: ManualServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        source = self.server.source(self.path)
        body = (source or "").encode()
        self.send_response(404 if source is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
