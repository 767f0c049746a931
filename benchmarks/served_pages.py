"""Generated sites on loopback: pages, a sitemap, and nothing that does not exist."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

from benchmarks.generated_site import generated_site
from examples.loopback import LoopbackServer, QuietHandler, running

_PICTURE = re.compile(r"<img [^>]*>")


class PagesServer(LoopbackServer):
    """Serves the pages of a generated site.

    Parameters
    ----------
    pages : how many.
    seed : of the site.
    """

    def __init__(self, pages: int, seed: int) -> None:
        super().__init__(_Handler)
        self.contents = {
            urlsplit(page.url).path: _PICTURE.sub("", page.html).encode()
            for page in generated_site(pages, seed=seed)
        }
        self.urls = [self.base + path for path in self.contents]
        listed = "".join(f"<url><loc>{url}</loc></url>\n" for url in self.urls)
        self.contents["/sitemap.xml"] = (
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{listed}</urlset>\n'.encode()
        )


class _Handler(QuietHandler):
    server: PagesServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = self.server.contents.get(self.path)
        self.send_response(404 if body is None else 200)
        kind = "application/xml" if self.path.endswith(".xml") else "text/html; charset=utf-8"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")


@contextmanager
def pages_served(pages: int, *, sites: int = 1) -> Iterator[list[list[str]]]:
    """Serve so many pages of each of so many sites while the block runs; the value is the addresses, by site."""
    with ExitStack() as stack:
        servers = [stack.enter_context(running(PagesServer(pages, seed))) for seed in range(sites)]
        yield [server.urls for server in servers]
