"""Real edits as a test of `domsieve sync`: the guides of this project, as they were at its latest commits."""

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lxml.html

from benchmarks.served_manual import DOCS, ManualServer, linked
from domsieve.tasks.site_sync.values import SyncResult
from examples.loopback import running


def history(
    sync: Callable[..., SyncResult], folder: Path, *, commits: int
) -> tuple[dict[str, Any], list[str]]:
    """Return how well the reported changes agree with those of the content, for commits of the guides.

    Parameters
    ----------
    sync : does a run.
    folder : the folder of the runs.
    commits : how many of the latest commits.
    """

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=DOCS.parent, capture_output=True, text=True, check=True)
        return done.stdout

    def texts_at(commit: str) -> dict[str, str]:
        files = git("ls-tree", "-r", "--name-only", commit, "docs").split("\n")
        wanted = [file for file in files if file.endswith(".md") and Path(file).stem not in _NO_GUIDES]
        return {f"/{Path(file).stem}": linked(git("show", f"{commit}:{file}")) for file in wanted}

    left_out = [f":!docs/{name}.md" for name in _NO_GUIDES]
    names = git("log", f"-{commits + 1}", "--format=%h", "--", "docs/*.md", *left_out).split()[::-1]
    wrong: list[str] = []
    figures = Counter[str]()
    with running(ManualServer()) as site:
        site.texts = texts_at(names[0])
        sync(f"{site.base}/", folder)
        before = {path: _text(site.content(text)) for path, text in site.texts.items()}
        for day, name in enumerate(names[1:], 1):
            site.texts = texts_at(name)
            after = {path: _text(site.content(text)) for path, text in site.texts.items()}
            result = sync(f"{site.base}/", folder, day=day)
            wrong += [f"{name} {page.url} failed: {page.error}" for page in result.failed]
            changes = {change.url.removeprefix(site.base): change for change in result.changes}
            for path in sorted({*before} & {*after}):
                old, new = Counter(before[path]), Counter(after[path])
                gained, lost = new - old, old - new
                change = changes.pop(path, None)
                told: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
                for passage in change.passages if change else ():
                    told[0].update(_told(passage.new))
                    told[1].update(_told(passage.old))
                told_gained, told_lost = told[0] - told[1], told[1] - told[0]
                is_changed = before[path] != after[path]
                figures["pages edited"] += is_changed
                figures["found"] += is_changed and change is not None
                figures["others reported"] += not is_changed and change is not None
                figures["words"] += gained.total() + lost.total()
                missed = (gained - told_gained) + (lost - told_lost)
                more = (told_gained - gained) + (told_lost - lost)
                figures["words missed"] += missed.total()
                figures["words too many"] += more.total()
                if missed or more or is_changed != (change is not None):
                    wrong.append(f"{name} {path}: missed {dict(missed)}, too many {dict(more)}")
            # The start page lists the guides.
            is_other = {path for path in changes if path in before and path in after}
            wrong += [f"{name} {path}" for path in sorted(is_other)]
            before = after
    return {"commits": len(names) - 1, **figures}, wrong


_NO_GUIDES = ("results", "index")


def _text(html: str) -> list[str]:
    """Return the words of HTML, in order."""
    return re.findall(r"\w+", str(lxml.html.fromstring(f"<div>{html}</div>").xpath("string()")))


def _told(text: str | None) -> Counter[str]:
    """Return the words of a passage, without the addresses of links and the numbers of items, which HTML has not."""
    plain = re.sub(r"\]\([^)]*\)", "]", text or "")
    return Counter(re.findall(r"\w+", re.sub(r"^\s*[0-9]+\. ", "", plain, flags=re.MULTILINE)))
