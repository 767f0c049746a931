"""`domsieve bulk` on the command line: progress on stderr, exit codes, interrupts."""

import os
import signal
import subprocess
import time
from pathlib import Path

from tests.bulk.made import digest_of, rows_of, stamps, write_sites
from tests.command import COMMAND, process, run


def test_sites_are_learned_and_cleaned(tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "in")
    cache, models, out = tmp_path / "cache", tmp_path / "models", tmp_path / "out"
    done = run("bulk", "learn", sites, "--output-dir", models, "--workers", "1", cache=cache)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "28 pages, 4 parts written, 0 already there." in done.stderr
    words = ("bulk", "clean", sites, "--output-dir", out, "--models", models, "--workers", "1")
    done = run(*words, "--shard-pages", "20", cache=cache)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "[2/2] part-00000" in done.stderr
    assert {row["model_pages"] for row in rows_of(out)} == {7}
    before = stamps(out)
    assert run(*words, "--shard-pages", "20", cache=cache).exit_code == 0
    assert stamps(out) == before


def test_failed_pages_set_the_exit_code(tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "in", sites=1)
    (sites / "s0" / "p0.html").write_bytes(b"\x00\x01\x02" * 99)
    words = ("bulk", "clean", sites, "--output-dir", tmp_path / "out", "--workers", "1")
    done = run(*words, cache=tmp_path / "cache")
    assert done.exit_code == 1
    assert f"1 page failed; {tmp_path}/out/_failed/ says why" in done.stderr
    files = (*words[:4], tmp_path / "files", "--write", "files")
    said = run(*files, cache=tmp_path / "cache").stderr
    folder = Path(said.partition("1 page failed; ")[2].partition(" says")[0])
    assert folder.is_relative_to(tmp_path / "files")
    assert [*folder.iterdir()]
    assert run("bulk", "records", sites, "--output-dir", tmp_path / "r", cache=tmp_path / "c").exit_code == 1


def test_an_interrupted_run_ends_at_once_and_goes_on(tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "in", sites=12, pages=20)
    words = ["bulk", "clean", str(sites), "--output-dir", str(tmp_path / "out"), "--shard-pages", "10"]
    with subprocess.Popen(
        [*COMMAND, *words, "--workers", "2"], stderr=subprocess.PIPE, start_new_session=True
    ) as running:
        assert running.stderr
        assert b"part-" in running.stderr.readline()
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        said = running.stderr.read()
        assert running.wait() == 130
    assert b"interrupted" in said
    assert b"Traceback" not in said
    deadline = time.monotonic() + 60
    while _group_lives(running.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not _group_lives(running.pid)
    there = {path.name for path in (tmp_path / "out").glob("part-*")}
    assert 1 <= len(there) < 24
    before = stamps(tmp_path / "out")
    assert process(*words, cache=tmp_path / "cache").returncode == 0
    after = stamps(tmp_path / "out")
    assert {name: after[name] for name in there} == {name: before[name] for name in there}
    assert len(rows_of(tmp_path / "out")) == 240
    assert not [*(tmp_path / "out").glob(".*")]
    assert (
        process("bulk", "clean", sites, "--output-dir", tmp_path / "one", cache=tmp_path / "c").returncode
        == 0
    )
    assert digest_of(tmp_path / "one") == digest_of(tmp_path / "out")


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
