"""Rendering sites into stores of their own: nothing is rendered again that is stored, whoever dies."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from domsieve.bulk.local import LocalEngine
from domsieve.bulk.plan import Shard
from domsieve.bulk.render_job import RenderJob, close_browser
from domsieve.bulk.runs import Summary, render_sites
from domsieve.bulk.scheduling import Outcome
from domsieve.errors import UsageError
from domsieve.tasks.targets import ListedWord
from tests.bulk.made import Inline, cleaned, rows_of, stamps
from tests.bulk.served import serve_sites, stored
from tests.command import run

Sites = tuple[list[str], "Counter[str]"]


@pytest.fixture
def sites() -> Iterator[Sites]:
    with serve_sites(3) as served:
        yield served


@pytest.fixture
def inline() -> Iterator[type[Inline]]:
    yield Inline
    close_browser()


def rendered(output: Path, urls: list[str], *, engine: Any, **how: Any) -> Summary:
    return render_sites(RenderJob(output=str(output), **how), urls, engine, lambda _: None)


@pytest.mark.browser
def test_each_site_gets_a_store_that_other_commands_read(
    sites: Sites, inline: type[Inline], tmp_path: Path
) -> None:
    bases, asked = sites
    urls = [f"{base}/p{number}" for number in range(3) for base in bases]
    first = rendered(tmp_path / "out", [*urls, f"{bases[0]}/p999"], engine=inline)
    assert (first.pages, first.failed, first.made) == (10, 1, 3)
    assert stored(tmp_path / "out").items() >= dict.fromkeys(urls, 1).items()
    assert len([*(tmp_path / "out").glob("*/index.sqlite3")]) == 3
    before, counts = stamps(tmp_path / "out"), dict(asked)
    again = rendered(tmp_path / "out", [*urls, f"{bases[0]}/p999"], engine=inline)
    assert (again.pages, again.failed, again.made, again.kept) == (10, 1, 0, 3)
    assert stamps(tmp_path / "out").keys() == before.keys()
    assert asked == counts
    more = rendered(tmp_path / "out", [f"{bases[0]}/p{number}" for number in range(5)], engine=inline)
    assert more.made == 1
    assert {asked[url] for url in urls} == {1}
    cleaned(tmp_path / "clean", [tmp_path / "out"])
    assert {row["page"] for row in rows_of(tmp_path / "clean")} == {*urls, f"{bases[0]}/p3", f"{bases[0]}/p4"}


class Killed(LocalEngine):
    """Kills its workers once, when they have stored some pages of their sites."""

    def __init__(self, workers: int, output: Path, seen: list[dict[str, int]]) -> None:
        super().__init__(workers)
        self._output, self._seen = output, seen
        threading.Thread(target=self._kill, daemon=True).start()

    def _kill(self) -> None:
        while (
            sum(len([*index.parent.rglob("*.dsnap")]) for index in self._output.glob("*/index.sqlite3")) < 4
        ):
            time.sleep(0.02)
        assert self._pool
        for process in [*self._pool._processes]:
            os.kill(process, signal.SIGKILL)
        self._seen.append(stored(self._output))


@pytest.mark.browser
def test_killed_workers_lose_nothing_and_render_nothing_again_that_is_stored(
    sites: Sites, tmp_path: Path
) -> None:
    bases, asked = sites
    urls = [f"{base}/p{number}" for base in bases for number in range(6)]
    seen: list[dict[str, int]] = []
    summary = rendered(tmp_path, urls, engine=partial(Killed, 2, tmp_path, seen))
    assert (summary.pages, summary.failed, summary.condemned) == (18, 0, {})
    assert stored(tmp_path).items() >= dict.fromkeys(urls, 1).items()
    assert len(seen[0]) >= 4
    assert {asked[url] for url in seen[0] if url in urls} == {1}


@pytest.mark.browser
def test_sites_are_sampled(sites: Sites, inline: type[Inline], tmp_path: Path) -> None:
    bases, _ = sites
    summary = rendered(tmp_path, [f"{base}/p1" for base in bases[:2]], engine=inline, pages=1)
    assert summary.pages == 2


@pytest.mark.browser
def test_lists_of_hosts_hold_for_workers_too(sites: Sites, tmp_path: Path) -> None:
    bases, asked = sites
    done = run(
        "bulk",
        "render",
        f"{bases[0]}/p1",
        "--output-dir",
        tmp_path / "out",
        "--deny-host",
        "127.0.0.0/8",
        cache=tmp_path,
    )
    assert done.exit_code == 3
    (failures,) = (tmp_path / "out" / "_failed").iterdir()
    assert "127.0.0.1 is on the deny list: 127.0.0.0/8." in failures.read_text("utf-8")
    assert not asked


@pytest.mark.browser
def test_lines_of_lists_open_no_private_host(sites: Sites, inline: type[Inline], tmp_path: Path) -> None:
    bases, asked = sites
    job = RenderJob(output=str(tmp_path / "out"))
    words = [ListedWord(f"{bases[0]}/p1", "list, line 1")]
    summary = render_sites(job, words, inline, lambda _: None)
    assert (summary.pages, summary.failed, len(asked)) == (1, 1, 0)
    job = RenderJob(output=str(tmp_path / "other"))
    assert render_sites(job, [f"{bases[0]}/p2", *words], inline, lambda _: None).failed == 0  # it was named


def test_stores_are_folders(tmp_path: Path) -> None:
    job = RenderJob(output="memory://x/y")
    with pytest.raises(UsageError, match="folders of this machine"):
        render_sites(job, ["http://x.example/"], Inline, lambda _: None)


def test_what_is_no_url_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a URL"):
        rendered(tmp_path / "out", ["page.html"], engine=Inline)


def test_notes_hold_no_secrets(tmp_path: Path) -> None:
    from domsieve.options import CaptureOptions

    class Refusing(Inline):
        def finished(self) -> list[tuple[Shard, Outcome]]:
            raise UsageError("not now")

    options = CaptureOptions(cookies=(("session", "s3cret"),))
    with pytest.raises(UsageError, match="not now"):
        rendered(tmp_path / "out", ["http://x.example/"], engine=Refusing, options=options)
    assert "s3cret" not in "".join(path.read_text() for path in (tmp_path / "out").iterdir())
