"""Sites drawn by JavaScript: served on loopback with their npm packages, rendered, and kept in a page store.

All other hosts have no name for the browser. A site that is not shipped is built in a temporary folder, as its
manifest says.
"""

import asyncio
import contextlib
import html
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from domsieve.errors import TargetError
from domsieve.options import Budget
from domsieve.renderer.network.egress import offline
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.store import PageStore
from experiments.measures.word_scores import count_words

SHORTEST = 2
"""Words of the truth have at least this many characters."""

_BUILD_LIMIT_S = 120
# What is measured is the page, be the machine as busy as it may.
_PATIENT = Budget(time=timedelta(minutes=3))
_FIRST_PORT, _PORTS = 20_000, 10_000
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """One page of a site.

    Parameters
    ----------
    name : path and fragment of its address.
    page : as rendered.
    source : the response it came from.
    truth : words that it must show.
    complete_truth : words that may be shown; more than `truth` where that is known to be incomplete.
    """

    name: str
    page: Snapshot
    source: bytes
    truth: Counter[str]
    complete_truth: Counter[str]


@contextlib.contextmanager
def serve_corpus(corpus: Path, node_modules: Path) -> Iterator[str]:
    """Serve a corpus on a port of its own while the context is open; the value is the address of its root.

    The port goes by the name: addresses shape what methods that compare links find, so a free one would not do.

    Raises
    ------
    TargetError : the site cannot be built or served.
    """
    with tempfile.TemporaryDirectory() as temporary:
        manifest = json.loads((corpus / "manifest.json").read_text("utf-8"))
        server_file = corpus.parent / "serve.py"
        if not (corpus / manifest["site"]).exists():
            corpus = _build(corpus, manifest["steps"], node_modules, Path(temporary))
        port = _FIRST_PORT + zlib.crc32(corpus.name.encode()) % _PORTS
        command = [sys.executable, str(server_file), str(corpus)]
        command += ["--node-modules", str(node_modules), "--port", str(port)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stdout
            try:
                address = server.stdout.readline().strip()
                if not address:
                    raise TargetError(
                        f"The corpus '{corpus}' cannot be served by {server_file}; is port {port} free?"
                    )
                yield address
            finally:
                server.terminate()


def _build(corpus: Path, steps: Sequence[str], node_modules: Path, folder: Path) -> Path:
    """Return a folder with the site that the node command among the steps of the manifest makes."""
    build = next(step for step in steps if step.startswith("node "))
    (folder / "node_modules").symlink_to(node_modules.absolute())
    built = folder / corpus.name
    built.mkdir()
    shutil.copyfile(corpus / "manifest.json", built / "manifest.json")
    try:
        subprocess.run(
            shlex.split(build),
            cwd=folder,
            check=True,
            timeout=_BUILD_LIMIT_S,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise TargetError(f"The site of '{corpus}' cannot be built: {error}") from error
    return built


def read_routes(corpus: Path, node_modules: Path, folder: Path) -> list[Route]:
    """Return all routes of a corpus; those that the page store in `folder` lacks are rendered first.

    Raises
    ------
    TargetError : a route cannot be rendered; the others are in the store then.
    """
    entries = json.loads((corpus / "routes.json").read_text("utf-8"))
    with PageStore(folder) as store:
        if missing := [entry["route"] for entry in entries if entry["route"] not in _by_route(store)]:
            with serve_corpus(corpus, node_modules) as address:
                asyncio.run(_render([address + route for route in missing], store))
        stored = _by_route(store)
        return [
            _route(corpus / entry["truth"], entry["route"], stored[entry["route"]], store)
            for entry in entries
        ]


def _by_route(store: PageStore) -> dict[str, PageRecord]:
    """Return the newest complete capture of each route; the port is another in every run."""
    records = [record for record in store.records() if record.complete]
    return {record.url.removeprefix(f"http://{urlsplit(record.url).netloc}/"): record for record in records}


def _route(truth: Path, name: str, record: PageRecord, store: PageStore) -> Route:
    words = _words(truth)
    better = truth.parents[1] / "truth_rendered" / truth.name
    source = store.source(record) if record.source_digest else b""
    return Route(name, store.get(record.page_id), source, words, _words(better) if better.exists() else words)


async def _render(urls: Sequence[str], store: PageStore) -> None:
    failed = []
    async with Renderer(budget=_PATIENT, concurrency=2, egress=offline()) as renderer:
        async for url, outcome in renderer.render_many(urls):
            if isinstance(outcome, Rendering) and outcome.snapshot.provenance.complete:
                store.put(outcome.snapshot, source=outcome.source)
            else:
                failed.append(f"{url}: {'it is incomplete' if isinstance(outcome, Rendering) else outcome}")
    if failed:
        raise TargetError(f"{len(failed)} of {len(urls)} routes were not rendered; the first is {failed[0]}.")


def _words(file: Path) -> Counter[str]:
    return count_words(file.read_text("utf-8"), shortest=SHORTEST)


def serialise(page: Snapshot) -> str:
    """Return the whole page as HTML with all attributes, visible or not, as a browser's ``outerHTML`` does.

    Shadow roots and frames are written in place, scripts and style sheets are empty.
    """
    written = ["<!DOCTYPE html>"]
    open_until: list[tuple[int, str]] = []
    for node in range(len(page)):
        while open_until and open_until[-1][0] <= node:
            written.append(open_until.pop()[1])
        kind = page.kind[node]
        if kind == Kind.TEXT:
            written.append(html.escape(page.text_of(node), quote=False))
        elif kind == Kind.ELEMENT:
            tag = page.tag_name(node)
            attributes = "".join(f' {n}="{html.escape(v)}"' for n, v in page.attributes(node).items())
            written.append(f"<{tag}{attributes}>")
            open_until.append((int(page.end[node]), "" if tag in _VOID else f"</{tag}>"))
    written.extend(close for _, close in reversed(open_until))
    return "".join(written)
