"""Small sites on loopback, each at a port of its own, that count what is asked of them."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock

from domsieve.snapshot.store import PageStore
from examples.loopback import LoopbackServer, QuietHandler, running
from tests.command import page


class _Server(LoopbackServer):
    def __init__(self, number: int, asked: "Counter[str]", lock: Lock) -> None:
        super().__init__(_Handler, port=0)
        self.number, self.asked, self.lock = number, asked, lock


class _Handler(QuietHandler):
    server: _Server

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.asked[self.server.base + self.path] += 1
        number = self.path.removeprefix("/p")
        is_page = number.isdecimal() and int(number) < 100
        body = page(100 * self.server.number + int(number)).encode() if is_page else b"nothing"
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html" if is_page else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve_sites(count: int) -> Iterator[tuple[list[str], "Counter[str]"]]:
    """Serve so many sites; the value is their addresses and how often each URL was asked for."""
    asked: Counter[str] = Counter()
    lock = Lock()
    with ExitStack() as stack:
        servers = [stack.enter_context(running(_Server(number, asked, lock))) for number in range(count)]
        yield [server.base for server in servers], asked


def stored(folder: Path) -> dict[str, int]:
    """Return how many captures of each URL the stores in a folder hold."""
    found: Counter[str] = Counter()
    for index in sorted(folder.glob("*/index.sqlite3")):
        with PageStore(index.parent) as store:
            found.update(record.url for record in store.each_record())
    return dict(found)
