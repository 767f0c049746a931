"""Serves the demo site on 127.0.0.1: ``python -m examples.serve [--port N]``, or ``serve_demo`` in a program.

The whole site is read into memory when the server starts, so a request can only name what is there. A path
without an extension that names no file gets ``index.html``, whose script draws the page; robots.txt and
sitemap.xml are written for the port in use.
"""

import argparse
import contextlib
import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from examples.loopback import LoopbackServer, QuietHandler, running, serve_until_interrupted

DEMO = Path(__file__).parent / "demo_site"
SITE = DEMO / "site"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml; charset=utf-8",
}


def _contents(base: str) -> dict[str, bytes]:
    """Return the bytes behind every path of the site that is served at ``base``."""
    contents = {f"/{path.relative_to(SITE).as_posix()}": path.read_bytes() for path in SITE.rglob("*.*")}
    routes = [entry["route"] for entry in json.loads((DEMO / "routes.json").read_text(encoding="utf-8"))]
    urls = "".join(f"<url><loc>{escape(base + route)}</loc></url>\n" for route in routes if "#" not in route)
    sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{urls}</urlset>\n'
    contents["/sitemap.xml"] = sitemap.encode()
    contents["/robots.txt"] = f"User-agent: *\nDisallow: /articles?\n\nSitemap: {base}/sitemap.xml\n".encode()
    return contents


class _Server(LoopbackServer):
    def __init__(self, port: int) -> None:
        super().__init__(_Handler, port=port)
        self.contents = _contents(self.base)


class _Handler(QuietHandler):
    server: _Server

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path not in self.server.contents and not PurePosixPath(path).suffix:
            path = "/index.html"
        body = self.server.contents.get(path)
        if body is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", _TYPES[PurePosixPath(path).suffix])
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=60")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 (the name is the base class's)


@contextlib.contextmanager
def serve_demo(*, port: int = 0) -> Iterator[str]:
    """Serve the demo site while the block runs; the value is its base URL, without a slash at the end.

    ``port`` 0 takes a free one. Raises OSError if the port is taken.
    """
    with running(_Server(port)) as server:
        yield server.base


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.serve", description="Serve the demo site on 127.0.0.1."
    )
    parser.add_argument("--port", type=int, default=0, help="port number; 0, the default, takes a free one")
    serve_until_interrupted(_Server(parser.parse_args().port))


if __name__ == "__main__":
    main()
