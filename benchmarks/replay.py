"""Whether pages drawn by JavaScript look from their archive as they did, and what recording them costs.

    python -m benchmarks.replay --node-modules DIR [--data DATA/js] [--pages 6] [--rounds 3] [--driver pipe]

Each corpus is served over https on loopback by its own server behind TLS; all other hosts have no name. Its pages are
rendered twice without and once with recording in every round (once in all with ``--rounds 0``), each in a process of
its own, start-up included. Then
the server is ended, and the pages are rendered from the archive. Compared are the texts of a page and its columns;
columns count where the two renderings without recording agree. Fails where a text from the archive differs from that
of the recording, or recording changes a column. Linux only: times come from /proc.
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.printing import command_line, print_check
from benchmarks.rendering import processor_seconds
from domsieve.archive.recording import Recording
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.network.certificate import new_certificate
from domsieve.renderer.network.egress import offline
from domsieve.renderer.network.replay import Replay
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.page import Snapshot
from domsieve.snapshot.store import PageStore
from domsieve.tasks.site_recording import add_page
from experiments.corpora.javascript_sites import serve_corpus

HOST = "docs.localhost"
BUDGET_S = 180


@contextlib.contextmanager
def behind_tls(port: int) -> Iterator[tuple[int, str]]:
    """Yield the port that leads to another one over TLS, and the pin of its certificate."""
    certificate = new_certificate()
    context = certificate.server_context()

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(copy(reader, to_writer), copy(to_reader, writer))

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(lead, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1], certificate.pin
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()


def facts(page: Snapshot) -> dict[str, str]:
    """Return digests of the texts of a page, and of all that it holds, and why it was cut."""
    texts = [page.text_of(node) for node in range(len(page))]
    return {
        "text": hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest(),
        "columns": page.digest(),
        "cut": "; ".join(page.provenance.reasons),
    }


async def run(job: dict[str, Any]) -> dict[str, Any]:
    """Render the pages of a job and return the time it took, and what each page holds."""
    from datetime import timedelta

    archive = Path(job["archive"]) if job["archive"] else None
    replay = Replay.of(archive) if archive and job["replay"] else None
    flags = () if replay else (f"--ignore-certificate-errors-spki-list={job['pin']}",)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        store = stack.enter_context(PageStore(Path(folder)))
        recording = stack.enter_context(Recording(archive)) if archive and not replay else None
        async with Renderer(
            CaptureOptions(record=recording is not None),
            Budget(time=timedelta(seconds=BUDGET_S)),
            egress=offline(),
            arguments=flags,
            driver=job["driver"],
            replay=replay,
        ) as renderer:
            async for url, outcome in renderer.render_many(job["urls"]):
                if not isinstance(outcome, Rendering):
                    found[url] = {"text": f"{outcome}", "columns": "", "cut": f"{outcome}"}
                    continue
                found[url] = facts(outcome.snapshot)
                store.put(outcome.snapshot, source=outcome.source)
                if recording:
                    add_page(outcome, recording)
            seconds = processor_seconds()
        missing = recording.missing if recording else {}
        if recording:
            recording.finish()
    return {"cpu_s": seconds, "pages": found, "missing": missing, "unknown": replay.unknown if replay else 0}


def child(arguments: argparse.Namespace, job: dict[str, Any]) -> dict[str, Any]:
    """Return what a process of its own finds."""
    command = [sys.executable, "-m", "benchmarks.replay", "--node-modules", "-", "--data", "-", "--job"]
    told = json.dumps({"archive": "", "replay": False, "driver": arguments.driver, "pin": "", **job})
    done = subprocess.run(command, input=told, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Print the figures of all corpora."""
    parser = command_line(__doc__, data="js")
    parser.add_argument("--node-modules", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--driver", choices=("playwright", "pipe"), default="pipe")
    parser.add_argument("--corpora", nargs="*")
    parser.add_argument("--job", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        print(json.dumps(asyncio.run(run(json.load(sys.stdin)))))
        return
    other_texts: list[str] = []
    other_columns: list[str] = []
    changed: list[str] = []
    costs: list[float] = []
    pages = steady = 0
    names = arguments.corpora or sorted(file.parent.name for file in arguments.data.glob("*/manifest.json"))
    for name in names:
        corpus = arguments.data / name
        routes = [entry["route"] for entry in json.loads((corpus / "routes.json").read_text("utf-8"))]
        routes = routes[:: max(1, len(routes) // arguments.pages)][: arguments.pages]
        with tempfile.TemporaryDirectory() as folder:
            archive = str(Path(folder) / "archive.wacz")
            with serve_corpus(corpus, arguments.node_modules) as address:
                port = int(address.rstrip("/").rpartition(":")[2])
                with behind_tls(port) as (safe_port, pin):
                    job = {"urls": [f"https://{HOST}:{safe_port}/{route}" for route in routes], "pin": pin}
                    for number in range(arguments.rounds):
                        plain = [child(arguments, job) for _ in range(2)]
                        Path(archive).unlink(missing_ok=True)
                        recorded = child(arguments, {**job, "archive": archive})
                        cost = sum(one["cpu_s"] for one in plain) / 2
                        costs.append(recorded["cpu_s"] / cost)
                        print(
                            f"{name} round {number + 1}: {cost / len(routes) * 1000:.0f} ms a page, "
                            f"recording {costs[-1]:.2f} times that",
                            flush=True,
                        )
                    if not arguments.rounds:
                        plain, recorded = [], child(arguments, {**job, "archive": archive})
            again = child(arguments, {**job, "archive": archive, "replay": True})
        here: list[str] = []
        for url in job["urls"]:
            kept, replayed = recorded["pages"][url], again["pages"][url]
            for way, page in (("recorded", kept), ("from the archive", replayed)):
                if page["cut"]:
                    print(f"{url} is cut {way}: {page['cut']}", flush=True)
            live = [one["pages"][url] for one in plain]
            pages += 1
            here += [url] if kept["text"] != replayed["text"] else []
            if live and live[0] == live[1]:
                steady += 1
                changed += [url] if kept != live[0] else []
                other_columns += [url] if replayed != kept else []
        other_texts += here
        print(
            f"{name}: {len(routes) - len(here)} of {len(routes)} texts equal; missing {recorded['missing']}, "
            f"unknown {again['unknown']}",
            flush=True,
        )
    said = f"; recording costs {median(costs):.2f} times (median)" if costs else ""
    print(f"{pages} pages, {steady} alike in two renderings{said}")
    print_check("texts from the archive are those that were recorded", other_texts)
    print_check("columns are, too, wherever two renderings agree", other_columns)
    print_check("recording changes no column there", changed)
    sys.exit(bool(other_texts or changed))


if __name__ == "__main__":
    main()
