"""A site on loopback whose pages, validators and sitemap a test can change."""

import random
from dataclasses import dataclass, field
from email.utils import formatdate
from html import escape

from examples.loopback import LoopbackServer, QuietHandler

WORDS = [
    f"{a}{b}"
    for a in ("bar", "lin", "mos", "rel", "tov", "kes")
    for b in ("a", "en", "ik", "or", "ush", "yt")
]


def sentence(seed: str, words: int = 14) -> str:
    rng = random.Random(seed)
    return " ".join(rng.choices(WORDS, k=words)).capitalize() + "."


_MENU = 50
"""Links of each page but the start page, which links to all."""


@dataclass
class Article:
    """A page: a title, paragraphs in two sections, and a footer that is no content."""

    title: str
    first: list[str]
    second: list[str]
    footer: str = "Imprint and contact"
    links: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, name: str) -> "Article":
        """Return an article that depends on its name only."""
        return cls(
            f"About {name}",
            [sentence(f"{name} {number}", 40) for number in range(3)],
            [sentence(f"{name} more {number}", 40) for number in range(3)],
        )

    def html(self) -> str:
        """Return the source of the page."""
        links = "".join(f'<li><a href="{link}">{link.strip("/") or "start"}</a></li>' for link in self.links)
        first, second = (
            "".join(f"<p>{escape(text)}</p>" for text in part) for part in (self.first, self.second)
        )
        return (
            f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{escape(self.title)}</title></head><body>"
            f"<nav><ul>{links}</ul></nav><main><article><h1>{escape(self.title)}</h1>{first}"
            f"<h2>More</h2>{second}</article></main><footer><p>{escape(self.footer)}</p></footer></body></html>"
        )


class ChangingSite(LoopbackServer):
    """Serves articles; their addresses are their names after a slash, and the start page links to all.

    Attributes
    ----------
    articles : by path.
    statuses : of paths that answer with an error.
    etags : whether answers have an ETag of their content.
    lies : whether conditional requests are always answered with 304.
    listed : times of the last changes in the sitemap, by path; without any, there is no sitemap.
    fed : times of the last changes in a feed that all pages name, by path; without any, there is no feed.
    drawn : whether the content is drawn by a script, which requests it as data.
    unlinked : paths to which no page links.
    adverts : whether the script of drawn pages puts an advert below the content: another one in each document, which
        browsers may keep in their cache.
    requests : paths with the status that was sent.
    """

    def __init__(self, names: list[str]) -> None:
        super().__init__(_Handler)
        paths = ["/", *(f"/{name}" for name in names)]
        self.articles = {path: Article.of(path.strip("/") or "the site") for path in paths}
        self.statuses: dict[str, int] = {}
        self.etags = self.lies = False
        self.listed: dict[str, str] = {}
        self.fed: dict[str, str] = {}
        self.unlinked: set[str] = set()
        self.drawn = self.adverts = False
        self._documents = 0
        self.requests: list[tuple[str, int]] = []

    def source(self, path: str) -> bytes | None:
        """Return the source of a page, None if there is none."""
        article = self.articles.get(path)
        if article is None:
            return None
        links = sorted({*self.articles} - self.unlinked)
        article.links = links if path == "/" else links[:_MENU]
        if self.drawn:
            menu = "".join(f'<a href="{link}">{link}</a> ' for link in article.links)
            body = f"<nav>{menu}</nav><div id=app></div>{self._advert()}{_APP}"
            return f"<!doctype html><title>App</title>{body}".encode()
        feed = '<link rel=alternate type="application/atom+xml" href="/feed.atom"></head>'
        return article.html().replace("</head>", feed if self.fed else "</head>").encode()

    def _advert(self) -> str:
        if not self.adverts:
            return ""
        self._documents += 1
        return f"<script>advert = '<p>{sentence(f'advert {self._documents}')}</p>'</script>"


_APP = '<script src="/app.js"></script>'
_SCRIPT = b"""
fetch('/data' + location.pathname).then(answer => answer.text()).then(text => {
  document.getElementById('app').innerHTML = text + (window.advert || '');
});
"""


class _Handler(QuietHandler):
    server: ChangingSite
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        site = self.server
        body, kind = site.source(self.path), "text/html; charset=utf-8"
        if site.drawn and self.path == "/app.js":
            body, kind = _SCRIPT, "text/javascript"
        elif site.drawn and self.path.startswith("/data/"):
            article = site.articles.get(self.path.removeprefix("/data"))
            body, kind = (article.html().encode() if article else None), "text/plain"
        if self.path == "/sitemap.xml" and site.listed:
            urls = "".join(
                f"<url><loc>{site.base}{path}</loc><lastmod>{time}</lastmod></url>"
                for path, time in site.listed.items()
            )
            body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'.encode()
            kind = "application/xml"
        if self.path == "/feed.atom" and site.fed:
            entries = "".join(
                f'<entry><link href="{site.base}{path}"/><updated>{time}</updated></entry>'
                for path, time in site.fed.items()
            )
            body = f'<feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>'.encode()
            kind = "application/atom+xml"
        status = site.statuses.get(self.path, 404 if body is None else 200)
        etag = f'"{hash(body) & 0xFFFFFFFF:x}"'
        asked = self.headers.get("If-None-Match")
        if status == 200 and asked and (site.lies or asked == etag):
            status = 304
        site.requests.append((self.path, status))
        self.send_response(status)
        if site.etags:
            self.send_header("ETag", etag)
            self.send_header("Last-Modified", formatdate(usegmt=True))
        body = body if status == 200 and body is not None else b""
        if site.adverts:
            self.send_header("Cache-Control", "max-age=600")
        if status != 304:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
