"""What `domsieve sync` reports: edits, and nothing that rotates.

    python -m benchmarks.sync [--only edits rotation …] [--peers DIR] [--data DATA/js --node-modules DIR]

The site is this project's guides, served on loopback and fetched without a browser, except for the figures `cost`,
which renders, and `drawn`, which loads the demo site and the sites drawn by JavaScript in a browser, with the
adverts, times and tokens that `benchmarks.two_loads` puts in.

edits: single edits of a word, number, sentence, table cell, line of code, heading or list item at random places of
the kept content. Each must be found in its page and passage, nothing else may be reported, and all ids must stay.
history: this project's guides as they were at 20 commits that changed them. The words that the reported passages gain
and lose must be those by which the content of each page differs.
around: edits in the menu, footer and advert of every page.
rotation: five runs of an unchanged site, a day apart, with adverts, times, tokens, a line with the day on every page
and a counter on one; compared with the pages whose text changes for inscriptis and for trafilatura.
redesign: the same text in another template.
lies: a server that answers every conditional request with 304, and a sitemap that always has the same times.
kills: `kill -9` at random moments; the manifest and the files must agree after the next run.
cost: processor time of a run over unchanged static pages, against rendering them, with Chrome's processes.
"""

import argparse
import asyncio
import contextlib
import difflib
import importlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.changing_site import ChangingSite, sentence
from benchmarks.loopback_factory import LoopbackFactory
from benchmarks.printing import print_check, print_table
from benchmarks.processes import processor_seconds
from benchmarks.served_manual import ManualServer
from benchmarks.sync_history import history
from benchmarks.two_loads import served as rotating_served
from domsieve.files import digest_of
from domsieve.options import Budget, CaptureOptions, RenderMode
from domsieve.renderer.sampling.events import SampleEvent
from domsieve.tasks.site_sync.syncing import place_of, sync_folder
from domsieve.tasks.site_sync.values import SyncResult
from examples.loopback import running
from examples.serve import serve_demo
from experiments.corpora.javascript_sites import serve_corpus

QUIET_FROM = 3
"""Runs after the first one from which on nothing may be reported."""
RUNS, PATIENT = 5, Budget(time=timedelta(minutes=2))
LEAST_COST, MOST_REDESIGN = 0.05, 0.02
_NUMBER = re.compile(r"\b\d+\b")


class Silent:
    """Reports nothing."""

    def visited(self, event: SampleEvent) -> None:
        """Ignore an event."""

    def said(self, sentence: str) -> None:
        """Ignore a sentence."""

    def stage(self, what: str, pages: int) -> None:
        """Ignore a stage."""

    def advanced(self) -> None:
        """Ignore a page."""


def sync(
    source: str, folder: Path, *, render: RenderMode = "never", day: int = 0, **chosen: Any
) -> SyncResult:
    """Do a run."""
    path, given, names = place_of(source, folder, **chosen)
    factory = LoopbackFactory(
        options=CaptureOptions(render=render),
        budget=PATIENT,
        concurrency=2,
    )
    now = datetime(2026, 11, 2, 6, tzinfo=UTC) + timedelta(day)
    run = sync_folder(
        path, given, lambda _: factory, chosen=names, report=Silent(), concurrency=2, now=lambda: now
    )
    return asyncio.run(run)


def edits(folder: Path, *, number: int) -> tuple[dict[str, Any], list[str]]:
    """Return how many edits of each kind were found where they are, and what is wrong."""
    rng, wrong = random.Random(7), []
    found: Counter[str] = Counter()
    tried: Counter[str] = Counter()
    false = ids_kept = ids = 0
    with running(ManualServer()) as site:
        sync(f"{site.base}/", folder, format="chunks")
        while tried.total() < number:
            marks: dict[str, tuple[str, str, str]] = {}
            before = {path: passages_of(folder, path) for path in site.texts}
            for path in rng.sample(sorted(site.texts), len(site.texts)):
                kind = KINDS[(tried.total()) % len(KINDS)]
                mark = f"zq{tried.total()}x" if kind != "number" else str(700_000 + tried.total())
                text = edited(site.texts[path], kind, mark, "\n".join(before[path].values()), rng)
                if text is None or tried.total() >= number:
                    continue
                tried[kind] += 1
                marks[path] = kind, mark, site.texts[path]
                site.texts[path] = text
            result = sync(f"{site.base}/", folder)
            wrong += [f"{page.url} failed: {page.error}" for page in result.failed]
            changes = {change.url.removeprefix(site.base): change for change in result.changes}
            for path, (kind, mark, _) in marks.items():
                change = changes.pop(path, None)
                passages = change.passages if change else ()
                right = [one for one in passages if one.new and mark in one.new and one.kind == "edited"]
                found[kind] += bool(right)
                false += len(passages) - len(right)
                if not right:
                    wrong.append(f"{path} {kind} {mark}")
                after = passages_of(folder, path)
                others = {one for one in before[path] if all(one != change.id for change in passages)}
                ids += len(others)
                ids_kept += len(others & {*after})
            false += sum(len(change.passages) for change in changes.values())
    figures = {"edits": tried.total(), "found": found.total(), "other passages reported": false}
    figures |= {"other ids": ids, "kept": ids_kept}
    return figures, wrong + [f"{false} others"] * bool(false) + ["ids"] * (ids != ids_kept)


KINDS = ("word", "number", "sentence", "table cell", "code line", "heading", "list item")


def edited(text: str, kind: str, mark: str, kept: str, rng: random.Random) -> str | None:
    """Return a Markdown text with one edit of content that was kept; None if it has no place for it."""
    lines, places, fenced = text.split("\n"), [], False
    whole = " ".join(kept.split())
    for place, line in enumerate(lines):
        fenced ^= line.startswith("```")
        if _kind_of(line, fenced=fenced, before=lines[place - 1] if place else "") != _PLACE[kind]:
            continue
        if kind == "number" and not _NUMBER.search(line):
            continue
        words = re.findall(r"[A-Za-z]{3,}", line)
        first = " ".join(line.strip("#|- ").split("|")[0].split())
        if words and all(word in whole for word in words) and first in whole:
            places.append(place)
    if not places:
        return None
    place = rng.choice(places)
    lines[place] = _changed(lines[place], kind, mark, rng)
    return "\n".join(lines)


_PLACE = {
    "word": "text",
    "number": "text",
    "sentence": "text",
    "table cell": "table",
    "code line": "code",
    "heading": "heading",
    "list item": "item",
}


def _kind_of(line: str, *, fenced: bool, before: str) -> str:
    if line.startswith("```") or not line.strip():
        return ""
    if fenced or line.startswith("    "):
        return "code" if fenced or (line.startswith("    ") and not before.startswith(("- ", "1."))) else ""
    if line.startswith("|"):
        return "table" if before.startswith("|") and not line.startswith("|--") and "---" not in line else ""
    if line.startswith("#"):
        return "heading"
    if line.startswith("- "):
        return "item"
    is_text = line[0].isalpha() and "](" not in line and "`" not in line and "<" not in line
    return "text" if is_text else ""


def _changed(line: str, kind: str, mark: str, rng: random.Random) -> str:
    if kind == "number":
        return _NUMBER.sub(mark, line, count=1)
    if kind == "sentence":
        return f"{line} A sentence with {mark} is new."
    if kind == "table cell":
        cells = line.strip().strip("|").split("|")
        cells[-1] = f" {mark} "
        return f"|{'|'.join(cells)}|"
    if kind == "code line":
        return f"{line} {mark}"
    words = line.split(" ")
    places = [place for place, word in enumerate(words) if word.isalpha()]
    if not places:
        return f"{line} {mark}"
    words[rng.choice(places)] = mark
    return " ".join(words)


def passages_of(folder: Path, path: str) -> dict[str, str]:
    """Return the passages in the file of a page, by id."""
    file = folder / f"{path[1:] or 'index'}.jsonl"
    lines = map(json.loads, file.read_text("utf-8").splitlines()) if file.exists() else ()
    return {line["id"]: line["text"] for line in lines}


def around(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Return how many pages are reported after edits around the content."""
    reported = 0
    with running(ManualServer()) as site:
        sync(f"{site.base}/", folder)
        for name, text in (
            ("menu", "Home of all guides"),
            ("footer", "Legal notice, privacy and contact"),
            ("advert", "Three tents for the price of two!"),
        ):
            setattr(site, name, text)
            reported += len(sync(f"{site.base}/", folder).changes)
        pages = len(site.texts) + 1
    return {"edits": 3 * pages, "pages reported": reported}, ["around"] * (reported > 0)


def rotation(folder: Path, *, peers: Path | None) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """Return how many pages are reported in each run of an unchanged site, by us and by the diffs of texts."""
    rows: dict[str, dict[str, Any]] = {"domsieve sync": {}}
    wrong: list[str] = []
    with running(ManualServer()) as site:
        site.rotating.is_on, site.rotating.single = True, "/compare"
        last: dict[str, dict[str, str]] = {}
        for run in range(RUNS):
            site.rotating.day = run
            result = sync(f"{site.base}/", folder, day=run)
            name = f"run {run + 1}"
            if run:
                changed = {change.url.removeprefix(site.base) for change in result.changes}
                rows["domsieve sync"][name] = len(changed)
                if changed - ({"/compare"} if run < 3 else set()):
                    wrong.append(f"{name}: {', '.join(sorted(changed))}")
            for peer, read in peers_of(peers):
                texts = {path: read(site.source(path) or "") for path in ("/", *site.texts)}
                if run:
                    rows.setdefault(peer, {})[name] = sum(
                        any(difflib.unified_diff(last[peer][path].split("\n"), text.split("\n"), n=0))
                        for path, text in texts.items()
                    )
                last[peer] = texts
        pages = len(site.texts) + 1
    return [(name, {"pages": pages, **figures}) for name, figures in rows.items()], wrong


def peers_of(folder: Path | None) -> Iterator[tuple[str, Callable[[str], str]]]:
    """Yield other readers of the text of pages, as far as they are installed."""
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))
    with contextlib.suppress(ImportError):
        yield "text of inscriptis", importlib.import_module("inscriptis").get_text
    with contextlib.suppress(ImportError):
        from trafilatura import extract

        yield "text of trafilatura", lambda source: extract(source) or ""


def redesign(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Return how many passages are reported as changed after a redesign."""
    with running(ManualServer()) as site:
        sync(f"{site.base}/", folder, format="chunks")
        passages = sum(len(passages_of(folder, path)) for path in ("/", *site.texts))
        site.template = 1
        result = sync(f"{site.base}/", folder)
        pages = len(site.texts) + 1
    reported = sum(len(change.passages) for change in result.changes)
    share = reported / passages
    figures = {"pages": pages, "passages": passages, "reported": reported, "share": share}
    figures["said that the layout changed"] = int(result.layout_changed)
    return figures, ["redesign"] * (share > MOST_REDESIGN or not result.layout_changed)


def lies(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Return after how many runs every change was found although validators lie."""
    figures: dict[str, Any] = {}
    names = [f"tree{number}" for number in range(60)]
    for how in ("304", "lastmod"):
        with running(ChangingSite(names)) as site:
            site.etags = how == "304"
            site.listed = {} if site.etags else dict.fromkeys(site.articles, "2026-01-01")
            place = folder / how
            sync(f"{site.base}/", place)
            sync(f"{site.base}/", place)
            site.lies = True
            wanted = {f"/tree{number}" for number in range(0, 60, 6)}
            for path in wanted:
                site.articles[path].first[1] = sentence(f"new {path}", 40)
            found: set[str] = set()
            runs = 0
            while runs < 20 and found != wanted:
                runs += 1
                found |= {
                    change.url.removeprefix(site.base) for change in sync(f"{site.base}/", place).changes
                }
            figures |= {f"found, {how}": f"{len(found)} of {len(wanted)}", f"runs, {how}": runs}
            if found != wanted:
                figures["wrong"] = how
    return figures, [figures.pop("wrong")] if "wrong" in figures else []


def kills(folder: Path, *, number: int) -> tuple[dict[str, Any], list[str]]:
    """Return how often manifest and files disagree after a kill and the next run."""
    rng, wrong, killed = random.Random(11), [], 0
    with running(ChangingSite([f"tree{number}" for number in range(40)])) as site:
        command = [sys.executable, "-m", "domsieve.cli", "sync", f"{site.base}/", "--output-dir", str(folder)]
        command += ["--render", "never", "--quiet"]
        for turn in range(number):
            for path in rng.sample(sorted(site.articles), 10):
                site.articles[path].first[0] = sentence(f"{path} {turn}", 40)
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(rng.uniform(0.2, 6))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                killed += 1
            manifest = folder / "manifest.jsonl"
            if manifest.exists():  # readable at any moment
                [*map(json.loads, manifest.read_text("utf-8").splitlines())]
            sync(f"{site.base}/", folder)
            entries = {one["file"]: one for one in map(json.loads, manifest.read_text("utf-8").splitlines())}
            files = {str(path.relative_to(folder)) for path in folder.rglob("*.md")}
            agree = files == {*entries} and all(
                digest_of((folder / name).read_bytes()) == one["content_hash"]
                for name, one in entries.items()
            )
            parts = [*folder.rglob("*.part")]
            texts = all(
                article.first[0] in (folder / f"{path[1:] or 'index'}.md").read_text("utf-8")
                for path, article in site.articles.items()
            )
            if not (agree and texts) or parts:
                wrong.append(f"turn {turn}")
    return {"turns": number, "killed": killed, "disagree": len(wrong)}, wrong


def cost(folder: Path, *, pages: int, rendered: int) -> tuple[dict[str, Any], list[str]]:
    """Return the processor time of a run over unchanged pages, against that of rendering them, with all browsers."""

    def spent(*words: str) -> tuple[float, int]:
        seconds, _, browsers = processor_seconds([sys.executable, "-m", "domsieve.cli", *words, "--quiet"])
        return seconds, browsers

    with running(ChangingSite([f"tree{number}" for number in range(pages - 1)])) as site:
        urls = [f"{site.base}{path}" for path in site.articles]
        words = ("sync", urls[0], "--output-dir", str(folder))
        runs = [spent(*words) for _ in range(3)]
        cache = folder.parent / "cache"
        render, _ = spent("render", *urls[:rendered], "--cache", str(cache), "--delay", "0")
        few, _ = spent("render", *urls[:1], "--cache", str(cache), "--refresh")
    (first, _), (second, _), (third, browsers) = runs
    rendering = (render - few) / (rendered - 1) * pages
    share = third / rendering
    figures = {"pages": pages, "first run, s": first, "second run, s": second, "third run, s": third}
    figures |= {"rendering them, s": rendering, "share": share, "browsers of the third run": browsers}
    return figures, ["cost"] * (share > LEAST_COST or browsers > 0)


def drawn(
    folder: Path, *, data: Path | None, modules: Path | None, pages: int, names: list[str] | None
) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """Return how many pages are reported in each run of unchanged sites that are drawn by scripts."""
    rows: list[tuple[str, dict[str, Any]]] = []
    wrong: list[str] = []
    sites = ["demo"]
    if data is not None and modules is not None:
        sites += sorted(path.parent.name for path in data.glob("*/routes.json"))
    for name in names or sites:
        with contextlib.ExitStack() as stack:
            if name == "demo":
                upstream = stack.enter_context(serve_demo())
            else:
                assert data is not None
                assert modules is not None
                upstream = stack.enter_context(serve_corpus(data / name, modules.resolve()))
            base = stack.enter_context(rotating_served(upstream, rotates=True))
            figures: dict[str, Any] = {}
            for run in range(RUNS):
                result = sync(f"{base}/", folder / name, render="auto", day=run, pages=pages)
                figures["pages"] = len(result.unchanged) + len(result.changes)
                if run:
                    figures[f"run {run + 1}"] = len(result.changes)
                    # Before, a text may still change by itself that two loads have not shown.
                    wrong += [f"{name} run {run + 1}"] * bool(result.changes and run >= QUIET_FROM)
            rows.append((name, figures))
            print(f"{name} done", flush=True)
    return rows, wrong


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    all_names = ("edits", "history", "around", "rotation", "redesign", "lies", "kills", "cost", "drawn")
    above = os.environ.get("DOMSIEVE_DATA")
    parser.add_argument("--only", nargs="+", choices=all_names, default=[*all_names])
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--pages", type=int, default=1_000, help="static pages of the figure cost")
    parser.add_argument("--rendered", type=int, default=40, help="of these that are rendered for comparison")
    parser.add_argument("--drawn", type=int, default=12, help="pages of each site drawn by scripts")
    parser.add_argument("--sites", nargs="+", metavar="NAME", help="only these sites drawn by scripts")
    parser.add_argument("--data", type=Path, default=Path(above, "js") if above else None)
    parser.add_argument("--node-modules", type=Path)
    parser.add_argument("--peers", type=Path, help="folder in which inscriptis is installed")
    given = parser.parse_args()
    failed: list[str] = []
    for name in given.only:
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="domsieve-sync-") as place:
            folder = Path(place) / "site"
            rows: list[tuple[str, dict[str, Any]]]
            if name == "rotation":
                rows, wrong = rotation(folder, peers=given.peers)
            elif name == "drawn":
                rows, wrong = drawn(
                    folder, data=given.data, modules=given.node_modules, pages=given.drawn, names=given.sites
                )
            else:
                works: dict[str, Callable[[], tuple[dict[str, Any], list[str]]]] = {
                    "edits": lambda: edits(folder, number=given.edits),  # noqa: B023
                    "history": lambda: history(sync, folder, commits=given.commits),  # noqa: B023
                    "around": lambda: around(folder),  # noqa: B023
                    "redesign": lambda: redesign(folder),  # noqa: B023
                    "lies": lambda: lies(folder),  # noqa: B023
                    "kills": lambda: kills(folder, number=given.kills),  # noqa: B023
                    "cost": lambda: cost(folder, pages=given.pages, rendered=given.rendered),  # noqa: B023
                }
                figures, wrong = works[name]()
                rows = [(name, figures)]
        print_table([name, *dict.fromkeys(column for _, row in rows for column in row)], rows)
        print_check(f"{name}, {time.monotonic() - began:.0f} s, as it must be", wrong)
        print(flush=True)
        failed += wrong
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
