"""Running the command line: in this process where that is enough, as a process of its own where it is not."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from typer.testing import CliRunner, Result

from domsieve.cli import app
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "domsieve.cli"]
TIMEOUT_S = 600


def run(*words: str | Path, cache: Path, stdin: str | bytes | None = None) -> Result:
    """Return what the command does in this process."""
    environment = {"DOMSIEVE_CACHE": str(cache)}
    arguments = [str(word) for word in words]
    return CliRunner().invoke(app, arguments, env=environment, input=stdin, prog_name="domsieve")


def process(
    *words: str | Path, cache: Path, cwd: Path | None = None, environment: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    """Return what the command does as a process."""
    return subprocess.run(
        [*COMMAND, *map(str, words)],
        capture_output=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "DOMSIEVE_CACHE": str(cache), **(environment or {})},
        timeout=TIMEOUT_S,
    )


def page(number: int) -> str:
    """Return the source of a page: a menu and a footer as on every page, and text as on no other."""
    sentence = " ".join(f"word{number}{letter}" for letter in "abcdefghijkl")
    return (
        f"<!doctype html><meta charset=utf-8><title>Page {number}</title>"
        "<div><a href=/>Home</a> <a href=/about>About us</a></div>"
        f"<main><h1>Heading {number}</h1><p>{sentence}.</p><p>Again {sentence} ä→.</p></main>"
        "<div><p>Imprint</p></div>"
    )


def write_pages(folder: Path, count: int) -> list[Path]:
    """Write `count` pages into `folder` and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"p{number}.html" for number in range(1, count + 1)]
    for number, path in enumerate(paths, 1):
        path.write_text(page(number), encoding="utf-8")
    return paths


def result_files(folder: Path) -> list[str]:
    """Return the paths of the results below a folder, without its manifest."""
    files = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return sorted(name for name in files if name != "manifest.jsonl")


def fill(cache: Path, urls: Sequence[str], *, site: str = "example.org") -> list[PageRecord]:
    """Put one page for each of `urls` into the cache and return their records."""
    with PageStore(cache) as store:
        return [
            store.put(parse_html(page(number).encode(), url=url), source=page(number).encode(), site=site)
            for number, url in enumerate(urls, 1)
        ]


def damage(cache: Path, record: PageRecord) -> Path:
    """Cut the file of a cached page short and return its path."""
    path = next(cache.rglob(f"{record.page_id}.dsnap"))
    path.write_bytes(path.read_bytes()[:-20])
    return path
