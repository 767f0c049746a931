"""A site whose pages show another advert, another token and another greeting in each load: served on loopback."""

import contextlib
from collections.abc import Iterator

from examples.loopback import LoopbackServer, QuietHandler, running

ADVERTS = ("Boots made to last", "Kettles and tents, half the price")
FOOT = "Printed on loopback with the leave of all who live there, for readers of every age. Request"
_STAYS = "".join(f"<p>Paragraph {number} of a page that stays as it is.</p>" for number in range(5))
# What the browser keeps of one load would show in the next: a cookie, and a document that may be cached.
_SCRIPT = """<script>
const known = document.cookie.includes('known') || localStorage.known;
document.cookie = 'known=1'; localStorage.known = 1;
hello.textContent = known ? 'Welcome back' : 'Welcome';
advert.textContent = ADVERT;
</script>"""


class RotatingServer(LoopbackServer):
    """Counts how often its page was asked for."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.loads = 0


class _Handler(QuietHandler):
    server: RotatingServer

    def do_GET(self) -> None:
        self.server.loads += 1
        advert = ADVERTS[self.server.loads % len(ADVERTS)]
        body = (
            "<!doctype html><html lang=en><meta charset=utf-8><title>Rotating</title><h1>A page</h1>"
            f"<p id=hello></p>{_STAYS}<div id=advert></div><footer>{FOOT} <b>{self.server.loads:04d}</b></footer>"
            + _SCRIPT.replace("ADVERT", repr(advert))
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def serving() -> Iterator[RotatingServer]:
    """Serve the site while the block runs."""
    with running(RotatingServer()) as server:
        yield server
