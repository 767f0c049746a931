"""Write what the commands of a checkout make of 300 real pages, to show that a change of the code changes no output.

    python tools/same_output.py DATA OUTPUT [--checkout FOLDER] [--cache FOLDER --host NAME]

Run it for the code before and after the change, with the same cache, and compare: ``diff -r BEFORE AFTER``. DATA
holds ``sites/*.zip`` and ``wcxb/dev/html``; the cache holds the rendered pages of the hosts, made by
``domsieve render``. File names in OUTPUT are those of the command, so each difference names what to run again.
"""

import argparse
import contextlib
import gzip
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent
PAGES_PER_SITE = 5
WCXB_PAGES = 110
SITE_METHODS = ("sst", "cst", "entropy", "template", "tps")
FORMATS = ("text", "markdown", "html", "json", "chunks")

T = TypeVar("T")


def unpack(data: Path, folder: Path) -> dict[str, list[Path]]:
    """Write the pages below a folder; return the files of each set, with an even spread over each corpus."""
    sets: dict[str, list[Path]] = {}
    for archive in sorted((data / "sites").glob("*.zip")):
        with zipfile.ZipFile(archive) as opened:
            names = sorted(name for name in opened.namelist() if name.startswith("pages/"))
            for number, name in enumerate(_spread(names, PAGES_PER_SITE)):
                page = folder / archive.stem / f"{number}.html"
                page.parent.mkdir(parents=True, exist_ok=True)
                page.write_bytes(opened.read(name))
                sets.setdefault(archive.stem, []).append(page)
    (folder / "wcxb").mkdir()
    for packed in _spread(sorted((data / "wcxb" / "dev" / "html").iterdir()), WCXB_PAGES):
        page = folder / "wcxb" / packed.stem
        page.write_bytes(gzip.decompress(packed.read_bytes()))
        sets.setdefault("wcxb", []).append(page)
    return sets


def _spread(values: Sequence[T], count: int) -> Sequence[T]:
    step = max(1, len(values) // count)
    return values[::step][:count]


def commands(sets: dict[str, list[Path]], hosts: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of an output and the arguments that write it; ``{}`` stands for its path."""
    inputs = {name: [str(file) for file in files] for name, files in sets.items()}
    inputs |= {f"cache-{host.replace(':', '-')}": [host] for host in hosts}
    for name, targets in inputs.items():
        for output in FORMATS:
            yield f"{name}-auto.{output}", ["clean", *targets, "--format", output, "--metadata", "-o", "{}"]
        for method in () if name == "wcxb" else SITE_METHODS:
            for mode in ("site", "paper"):
                options = ["--method", method, "--mode", mode, "--format", "json", "-o", "{}"]
                yield f"{name}-{method}-{mode}.json", ["clean", *targets, *options]
        yield (
            f"{name}-none.markdown",
            ["clean", *targets, "--method", "none", "--format", "markdown", "-o", "{}"],
        )
        for output in ("csv", "jsonl"):
            yield f"{name}-records.{output}", ["records", *targets, "--format", output, "-o", "{}"]
        if name != "wcxb":
            yield f"{name}.svmlight", ["vectorize", *targets, "--format", "svmlight", "-o", "{}"]
            yield f"{name}.model", ["learn", *targets, "--method", "cst", "-o", "{}"]
        if name.startswith("cache-"):
            yield f"{name}-raw.json", ["clean", *targets, "--raw", "--format", "json", "-o", "{}"]
            yield f"{name}-compare.json", ["compare", *targets, "--json"]


def run(checkout: Path, arguments: list[str], output: Path, cache: Path | None) -> None:
    """Write what a command writes to a file or to stdout, and its exit code if it fails."""
    command = [sys.executable, "-c", "from domsieve.cli import app; app()"]
    command += [argument.replace("{}", str(output)) for argument in arguments]
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout),
        "DOMSIEVE_CACHE": str(cache or output.parent / "none"),
    }
    done = subprocess.run(command, capture_output=True, env=environment, cwd=checkout, check=False)
    if not output.exists():  # others tell on stdout where the output is
        output.write_bytes(done.stdout)
    if done.returncode:
        output.with_suffix(output.suffix + ".failed").write_text(str(done.returncode))


def main() -> None:
    """Read the arguments, run all commands."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="whose code to run")
    parser.add_argument("--cache", type=Path, help="cache of rendered pages")
    parser.add_argument("--host", action="append", default=[], help="a site in the cache; repeatable")
    given = parser.parse_args()
    output, checkout = given.output.resolve(), given.checkout.resolve()
    output.mkdir(parents=True)
    pages = output.parent / "pages"  # the same for all runs: addresses of files are part of some outputs
    with contextlib.suppress(FileExistsError):
        pages.mkdir()
        unpack(given.data, pages)
    sets: dict[str, list[Path]] = {}
    for file in sorted(pages.glob("*/*")):
        sets.setdefault(file.parent.name, []).append(file)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [
            pool.submit(run, checkout, arguments, output / name, given.cache and given.cache.resolve())
            for name, arguments in commands(sets, given.host)
        ]
        for number, job in enumerate(jobs, 1):
            job.result()
            print(f"\r{number} of {len(jobs)}", end="", file=sys.stderr)


if __name__ == "__main__":
    main()
