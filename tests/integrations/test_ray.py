"""Ray maps the same functions over the same shards: the rows of one process, whoever dies."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from domsieve.bulk.on_ray import RayEngine
from domsieve.bulk.plan import Shard
from domsieve.bulk.render_job import RenderJob
from domsieve.bulk.runs import render_sites
from domsieve.bulk.scheduling import Event, run
from tests.bulk.made import Nothing, cleaned, digest_of, rows_of, write_sites
from tests.bulk.served import serve_sites, stored
from tests.licences import installed_by, permits_any_use

pytest.importorskip("ray")


@pytest.mark.parametrize("name", installed_by(["", "ray"]))
def test_what_the_extra_brings_along_permits_any_use(name: str) -> None:
    assert permits_any_use(name)


def made() -> RayEngine:
    return RayEngine(None, 2)


def test_on_this_machine_it_asks_for_a_token() -> None:
    import ray

    engine = made()
    try:
        address = ray.get_runtime_context().gcs_address
        join = f"import ray; ray.init(address={address!r}, log_to_driver=False)"
        for mode, code in (("disabled", 1), ("token", 0)):
            environment = {**os.environ, "RAY_AUTH_MODE": mode}
            done = subprocess.run(
                [sys.executable, "-c", join], env=environment, capture_output=True, check=False
            )
            assert done.returncode == code, done.stderr.decode()
    finally:
        engine.close(now=True)


def test_it_makes_a_token_where_there_is_none_though_ray_was_imported_before(tmp_path: Path) -> None:
    code = "import ray; from domsieve.bulk.on_ray import RayEngine; RayEngine(None, 1).close(now=True)"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert (tmp_path / ".ray" / "auth_token").is_file()


@pytest.mark.parametrize("per_shard", [28, 14, 10, 7])
def test_rows_are_those_of_one_process(tmp_path: Path, per_shard: int) -> None:
    sites = write_sites(tmp_path / "in")
    cleaned(tmp_path / "one", [sites], per_shard=100)
    cleaned(tmp_path / "out", [sites], per_shard=per_shard, engine=made)
    assert digest_of(tmp_path / "out") == digest_of(tmp_path / "one")
    assert len(rows_of(tmp_path / "out")) == 28


def test_a_shard_that_kills_its_worker_is_listed_and_the_others_are_done(tmp_path: Path) -> None:
    events: list[Event] = []
    shards = [Shard.of(f"s{number}", [number], ["x"]) for number in range(5)]
    engine = made()
    try:
        run(Nothing(str(tmp_path), "s2"), shards, engine, events.append)
    finally:
        engine.close(now=True)
    ends = {event.shard.name: event.what for event in events if event.what in {"done", "condemned"}}
    assert ends == {"s0": "done", "s1": "done", "s2": "condemned", "s3": "done", "s4": "done"}


class Killed(RayEngine):
    """Kills one of its actors once, when some pages of its site are stored."""

    def __init__(self, output: Path, seen: list[dict[str, int]]) -> None:
        super().__init__(None, 2)
        self._output, self._seen = output, seen
        threading.Thread(target=self._kill, daemon=True).start()

    def _kill(self) -> None:
        def pages() -> int:
            return max(
                (len([*i.parent.rglob("*.dsnap")]) for i in self._output.glob("*/index.sqlite3")), default=0
            )

        while pages() < 2:
            time.sleep(0.02)
        _, actor = next(iter(self._flying.values()))
        self._ray.kill(actor)
        self._seen.append(stored(self._output))


def test_two_actors_render_six_sites_and_one_is_killed(tmp_path: Path) -> None:
    seen: list[dict[str, int]] = []
    engines: list[Any] = []

    def make() -> RayEngine:
        engines.append(Killed(tmp_path, seen))
        return engines[-1]  # type: ignore[no-any-return]

    with serve_sites(6) as (bases, asked):
        urls = [f"{base}/p{number}" for base in bases for number in range(5)]
        summary = render_sites(RenderJob(output=str(tmp_path)), urls, make, lambda _: None)
    assert (summary.pages, summary.failed, summary.condemned) == (30, 0, {})
    assert {url: count for url, count in stored(tmp_path).items() if url in urls} == dict.fromkeys(urls, 1)
    assert seen[0]
    assert {asked[url] for url in seen[0] if url in urls} == {1}
