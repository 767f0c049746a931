"""What cleaning a web archive costs: memory of many responses, and processor time a page beside trafilatura.

The archive is made of the pages of research corpora. Where it is to hold more responses than there are pages, they
come again under other hosts.
"""

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import count, islice
from pathlib import Path

import trafilatura
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import domsieve
from domsieve.archive.packed import unpacked

MOST_MEGABYTES = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with sites/ and wcxb/")
    parser.add_argument(
        "--responses", type=int, default=100_000, help="of the archive whose memory is measured"
    )
    parser.add_argument("--pages", type=int, default=2_000, help="of the archive that trafilatura reads, too")
    parser.add_argument("--method", default="auto")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "crawl.warc.gz")
        write(archive, options.data, options.pages, spread=True)
        ours_s, _ = clean(archive, Path(folder, "some"), options.method)
        sources = [page.source for page in domsieve.pages(archive)]
        begun_s = time.process_time()
        for source in sources:
            trafilatura.extract(source)
        theirs_s = time.process_time() - begun_s
        print(
            f"{options.pages:,} pages, processor ms a page: {options.method} {1000 * ours_s / options.pages:.1f}"
        )
        print(f"trafilatura {1000 * theirs_s / options.pages:.1f}; ratio {ours_s / theirs_s:.3f}")
        write(archive, options.data, options.responses, spread=False)
        spent_s, megabytes = clean(archive, Path(folder, "all"), options.method)
        print(
            f"{options.responses:,} responses, {archive.stat().st_size / 1e6:,.0f} MB: {megabytes:,.0f} MB of memory"
        )
        print(f"processor ms a page: {1000 * spent_s / options.responses:.1f}")
        sys.exit(megabytes > MOST_MEGABYTES)


def write(archive: Path, data: Path, responses: int, *, spread: bool) -> None:
    """Write an archive of so many responses; `spread` takes them from all sites alike."""
    pages = list(sources(data))
    if spread:
        pages = pages[:: max(len(pages) // responses, 1)]
    with archive.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        rounds = ((number, page) for number in count() for page in pages)
        for number, (host, path, source) in islice(rounds, responses):
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
            url = f"http://{host}-{number}.example/{path}"
            writer.write_record(
                writer.create_warc_record(url, "response", payload=io.BytesIO(source), http_headers=head)
            )


def sources(data: Path) -> Iterator[tuple[str, str, bytes]]:
    """Yield the site, the path and the source of all pages."""
    for archive in sorted((data / "sites").glob("*.zip")):
        with zipfile.ZipFile(archive) as file:
            for name in sorted(name for name in file.namelist() if name.startswith("pages/")):
                if not name.endswith("/"):
                    yield archive.stem.replace("_", "-"), name.removeprefix("pages/"), file.read(name)
    for path in sorted((data / "wcxb" / "dev" / "html").iterdir()):
        source, _ = unpacked(path.read_bytes(), path)
        yield f"wcxb-{path.name.partition('.')[0]}", "", source


def clean(archive: Path, folder: Path, method: str) -> tuple[float, float]:
    """Return the processor time of the command, in seconds, and the most memory that it held, in MB."""
    before = os.times()
    command = subprocess.Popen(
        [sys.executable, "-m", "domsieve.cli", "clean", archive, "--method", method, "--output-dir", folder],
        stderr=subprocess.DEVNULL,
    )
    # What the system tells of an ended process counts what this one held when it started that.
    most_kb = 0
    while command.poll() is None:
        with suppress(OSError):
            status = Path(f"/proc/{command.pid}/status").read_text("utf-8")
            most_kb = max(most_kb, *map(int, re.findall(r"VmHWM:\s+(\d+)", status)), 0)
        time.sleep(0.2)
    if command.returncode not in (0, 1):  # some pages of the corpora are empty
        sys.exit(f"domsieve clean ended with {command.returncode}.")
    after = os.times()
    spent_s = after.children_user + after.children_system - before.children_user - before.children_system
    return spent_s, most_kb / 1024


if __name__ == "__main__":
    main()
