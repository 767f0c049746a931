"""A site of ours, half of whose sections are drawn by script: served on loopback, its texts known beforehand.

/news and /guides stand in the source (a script only adds the date of the visit and opens a note), /shop and /forum
come as JSON. Style sheets hide a banner on every page, which no count may hold.
"""

import contextlib
import json
import random
from collections.abc import Iterator

from examples.loopback import LoopbackServer, QuietHandler, running

IN_SOURCE, BY_SCRIPT = ("news", "guides"), ("shop", "forum")
PAGES_PER_SECTION = 4

_STARTS, _ENDS = "ba ce di fo gu ka le mi no pu ra se ti vo", "lan mor nis tek rup"
_WORDS = [a + b + c for a in _STARTS.split() for b in _STARTS.split() for c in _ENDS.split()]
_STYLE = "<style>.banner { display: none } article { max-width: 40em }</style>"
_NAV = "".join(f"<a href='/{name}/0'>{name.title()}</a> " for name in (*IN_SOURCE, *BY_SCRIPT))
_HEAD = f"<!doctype html><html lang=en><meta charset=utf-8><title>Mixed</title>{_STYLE}"
_TOP = f"<header>{_NAV}</header><p class=banner>Allow all our cookies now</p>"
_FOOT = "<footer>Printed on loopback, Ünder a lamp</footer>"
_DRAW = """<script>
const [, section, number] = location.pathname.split('/');
fetch(`/data/${section}/${number}.json`).then(r => r.json()).then(({ title, texts }) => {
  const add = (tag, text) => main.append(Object.assign(document.createElement(tag), { textContent: text }));
  main.textContent = '';
  add('h1', title);
  texts.forEach(text => add('p', text));
});
</script>"""
_TOUCH = "<script>main.append(Object.assign(document.createElement('p'), { textContent: 'Visited today' }))</script>"


def texts_of(section: str, number: int) -> tuple[str, list[str]]:
    """Return title and paragraphs of a page."""
    rng = random.Random(f"{section} {number}")
    return f"{section} item {number}", [
        f"{' '.join(rng.choices(_WORDS, k=rng.randint(15, 40)))}, {number}." for _ in range(6)
    ]


def source_of(section: str, number: int) -> str:
    """Return the source of a page."""
    title, texts = texts_of(section, number)
    if section in BY_SCRIPT:
        main, script = "<p>Loading the page", _DRAW
    else:
        main, script = f"<h1>{title}</h1>" + "".join(f"<p>{text}</p>" for text in texts), _TOUCH
    return f"{_HEAD}<body>{_TOP}<main id=main>{main}</main>{_FOOT}{script}"


def seen_texts(section: str, number: int) -> tuple[str, str]:
    """Return what is seen in the raw source, and on the rendered page."""
    title, texts = texts_of(section, number)
    around = " ".join((*IN_SOURCE, *BY_SCRIPT, "Printed on loopback, Ünder a lamp"))
    content = " ".join((title, *texts))
    if section in BY_SCRIPT:
        return f"{around} Loading the page", f"{around} {content}"
    return f"{around} {content}", f"{around} {content} Visited today"


def paths() -> list[str]:
    """Return the paths of all pages."""
    return [f"/{section}/{n}" for section in (*IN_SOURCE, *BY_SCRIPT) for n in range(PAGES_PER_SECTION)]


def _answer(path: str) -> tuple[str, str] | None:
    parts = path.strip("/").removesuffix(".json").split("/")
    if path in paths():
        return "text/html", source_of(parts[0], int(parts[1]))
    if path.startswith("/data/") and path.removeprefix("/data").removesuffix(".json") in paths():
        title, texts = texts_of(parts[1], int(parts[2]))
        return "application/json", json.dumps({"title": title, "texts": texts})
    return None


class _Handler(QuietHandler):
    def do_GET(self) -> None:
        found = _answer(self.path)
        body = found[1].encode() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", found[0] if found else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)


@contextlib.contextmanager
def serving() -> Iterator[str]:
    """Serve the site on a free port of 127.0.0.1; the value is its address."""
    with running(LoopbackServer(_Handler)) as server:
        yield server.base
