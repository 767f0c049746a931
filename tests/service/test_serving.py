"""What the operator may say, what the service forgets by itself, and who else may read what it keeps."""

import inspect
import os
import stat
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from msgspec import structs

from domsieve.commands.mcp_serving import mcp
from domsieve.commands.serving import serve
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.service.jobs.job_values import NewFile, QueueLimits, SiteQuota, UsedPage
from domsieve.service.jobs.pool import owned
from domsieve.service.jobs.requests import CleanRequest
from domsieve.service.start import _forget_much, _forget_old
from domsieve.service.web.settings import Settings
from domsieve.snapshot.store import PageStore
from tests.command import run
from tests.service.jobs.opened import opened

NOW = "2999-01-01T00:00:00.000+00:00"
LONG_AGO = "2001-01-01T00:00:00.000+00:00"


def done(data: Path, number: int, *, at: str = NOW) -> str:
    """Do a job with a capture of its own, which ended at a time; return the id of the capture."""
    url = f"http://site.example/{number}"
    page = parse_html(f"<p>{number}".encode(), url=url)
    page = replace(page, provenance=structs.replace(page.provenance, captured_at=at))
    with opened(data / "jobs.sqlite") as (jobs, queue), PageStore(data / "cache") as pages:
        record = pages.put(page, site="site.example")
        job, _ = jobs.add(CleanRequest(url=url), client="ann", limits=QueueLimits())
        claim = queue.claim("w", lease_s=60)
        assert claim is not None
        used = UsedPage(
            page_id=record.page_id,
            url=url,
            site="site.example",
            captured_at=at,
            nodes=1,
            complete=True,
            job=job.id,
        )
        queue.finish(claim, {}, [NewFile("a", "text/plain", b"words")], pages=[used])
        jobs.database.run("UPDATE jobs SET ended_at = ? WHERE id = ?", (at, job.id))
        return record.page_id


def kept(data: Path) -> list[str]:
    with PageStore(data / "cache") as pages:
        return [record.page_id for record in pages.records()]


def test_what_is_too_much_goes_with_its_captures(tmp_path: Path) -> None:
    ids = [done(tmp_path, number, at=LONG_AGO) for number in range(3)]
    with opened(tmp_path / "jobs.sqlite") as (jobs, _):
        _forget_much(jobs, Settings(keep_jobs=3))
        assert len(jobs.list("ann")) == 3
        _forget_much(jobs, Settings(keep_jobs=2))
        assert len(jobs.list("ann")) == 2
    assert sorted(kept(tmp_path)) == sorted(ids[1:])


def test_what_is_old_goes_with_its_captures(tmp_path: Path) -> None:
    done(tmp_path, 1, at=LONG_AGO)
    newer = done(tmp_path, 2)
    with opened(tmp_path / "jobs.sqlite") as (jobs, _):
        _forget_old(jobs, Settings(free_bytes=0))
        assert len(jobs.list("ann")) == 1
    assert kept(tmp_path) == [newer]


def test_nobody_else_on_the_machine_reads_the_folder(tmp_path: Path) -> None:
    with owned(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_what_a_service_keeps_in_an_open_folder_is_for_its_owner(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data = tmp_path / "data"
    (data / "cache").mkdir(parents=True)
    for path in (data, data / "cache"):
        path.chmod(0o755)
    for name in ("jobs.sqlite", "notes.txt"):
        (data / name).touch(0o644)
    before = os.umask(0o022)
    try:
        with owned(data):
            (data / "made").touch()
        (tmp_path / "later").touch()
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.iterdir()}
    assert modes == {"cache": 0o700, "jobs.sqlite": 0o600, "lock": 0o600, "made": 0o600, "notes.txt": 0o644}
    assert stat.S_IMODE((tmp_path / "later").stat().st_mode) == 0o644
    assert stat.S_IMODE(data.stat().st_mode) == 0o755  # others may need what else is in it
    assert "folder_open_to_others" in caplog.text


@pytest.mark.parametrize("name", ["keep_jobs", "keep_bytes", "free_bytes"])
def test_there_is_a_bound_unless_somebody_lifts_it(name: str) -> None:
    assert getattr(Settings(), name) > 0


@pytest.mark.parametrize("text", ["", "a:0", "::1", "10.0.0.0/8", "http://a"])
def test_what_is_no_host_is_refused_before_anything_starts(text: str, tmp_path: Path) -> None:
    done = run("serve", "--port", "0", "--data", tmp_path / "data", "--private-host", text, cache=tmp_path)
    assert done.exit_code == 2
    assert "--private-host: " in done.stderr
    assert "is not a host" in done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("command", ["serve", "mcp", "mcp --http"])
def test_what_is_set_by_options_arrives(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_to: list[Settings] = []
    for module in ("serving", "mcp_serving"):
        monkeypatch.setattr(f"domsieve.commands.{module}.need_extra", lambda *_: None)
    for call in ("serve", "serve_stdio"):
        monkeypatch.setattr(
            f"domsieve.service.start.{call}", lambda settings, *_, **__: set_to.append(settings)
        )
    words = "--deny-host a --deny-host *.b --allow-host c --site-pages 7 --site-megabytes 8 --site-seconds 9"
    words += " --free-memory-percent 10 --max-load 1.5"
    done = run(*command.split(), "--data", tmp_path, *words.split(), cache=tmp_path)
    assert done.exit_code == 0, done.stderr
    (settings,) = set_to
    assert (settings.deny_hosts, settings.allow_hosts) == (("a", "*.b"), ("c",))
    assert settings.site == SiteQuota(pages=7, size_bytes=8_000_000, time_s=9.0)
    assert (settings.free_memory_ratio, settings.max_load) == (0.1, 1.5)


def test_the_command_line_and_the_service_have_the_same_defaults() -> None:
    settings, options = asdict(Settings()), inspect.signature(serve).parameters
    shared = settings.keys() & options.keys()
    assert {name: options[name].default for name in shared} == {name: settings[name] for name in shared}
    assert {"port", "queue", "keep_jobs"} <= shared
    for option, bound in (("keep_megabytes", "keep_bytes"), ("free_megabytes", "free_bytes")):
        assert options[option].default * 1_000_000 == settings[bound]
    for command in (serve, mcp):
        defaults = {name: option.default for name, option in inspect.signature(command).parameters.items()}
        megabytes = (defaults["site_megabytes"], defaults["store_megabytes"])
        size, store = (number * 1_000_000 for number in megabytes)
        quota = (defaults["site_pages"], size, defaults["site_seconds"], store)
        assert quota == tuple(settings["site"].values())
        assert defaults["free_memory_percent"] / 100 == settings["free_memory_ratio"]
        assert defaults["max_load"] == settings["max_load"]
    assert QueueLimits(queued=settings["queue"], per_client=settings["client_queue"]) == QueueLimits()
