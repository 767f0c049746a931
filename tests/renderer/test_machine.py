"""What a process may use, as control groups of both versions tell it."""

import os
from pathlib import Path

import pytest

from domsieve.renderer.browser.resources import (
    FreeMemory,
    Machine,
    held_memory,
    memory_of,
    read_system,
    this_machine,
)

MEGABYTE = 1 << 20


def machine(root: Path, files: dict[str, str]) -> Machine:
    files = {"proc/meminfo": "MemTotal:       8388608 kB\nMemFree: 1 kB\n", **files}
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return this_machine(root)


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)


def test_without_control_groups_it_is_the_machine(tmp_path: Path) -> None:
    assert machine(tmp_path, {}) == Machine(8, 8192 * MEGABYTE)


def test_version_2(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "0::/app.slice/one\n",
        "sys/fs/cgroup/app.slice/one/cpu.max": "150000 100000\n",
        "sys/fs/cgroup/app.slice/one/memory.max": "max\n",
        "sys/fs/cgroup/app.slice/cpu.max": "max 100000\n",
        "sys/fs/cgroup/app.slice/memory.max": f"{1024 * MEGABYTE}\n",
    }
    assert machine(tmp_path, files) == Machine(1.5, 1024 * MEGABYTE)


def test_version_1_in_a_container_that_sees_the_paths_of_its_host(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n1:name=systemd:/x\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{512 * MEGABYTE}\n",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "200000\n",
        "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    }
    assert machine(tmp_path, files) == Machine(2.0, 512 * MEGABYTE)


def test_version_1_without_limits(tmp_path: Path) -> None:
    files = {
        "proc/self/cgroup": "4:memory:/\n3:cpu:/\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
    }
    assert machine(tmp_path, files) == Machine(8, 8192 * MEGABYTE)


@pytest.mark.parametrize("text", ["", "nonsense", "0::/../../etc\n", "\0\0"])
def test_files_that_say_nothing_of_use(tmp_path: Path, text: str) -> None:
    assert machine(
        tmp_path, {"proc/self/cgroup": text or "0::/\n", "sys/fs/cgroup/cpu.max": text}
    ) == Machine(8, 8192 * MEGABYTE)


@pytest.mark.parametrize(
    ("cores", "megabytes", "concurrency"), [(2, 8192, 2), (1.5, 8192, 2), (8, 1000, 2), (0.5, 100, 1)]
)
def test_concurrency(cores: float, megabytes: int, concurrency: int) -> None:
    assert Machine(cores, megabytes * MEGABYTE).concurrency == concurrency


def test_memory_is_of_a_process_and_all_below_it(tmp_path: Path) -> None:
    for pid, (pss, children) in {1: (100, "2 3 "), 2: (10, "4"), 3: (1, ""), 4: (7, "1")}.items():
        folder = tmp_path / "proc" / str(pid)
        (folder / "task" / str(pid)).mkdir(parents=True)
        (folder / "task" / str(pid) / "children").write_text(children, "ascii")
        if pid != 3:  # it has ended meanwhile
            (folder / "smaps_rollup").write_text(f"Rss: 999 kB\nPss: {pss} kB\nPss_Anon: 5 kB\n", "ascii")
    assert memory_of(1, tmp_path) == 117 * 1024
    assert memory_of(5, tmp_path) == 0


def test_free_memory_is_that_of_the_narrowest_group(tmp_path: Path) -> None:
    files = {
        "proc/meminfo": "MemTotal: 8388608 kB\nMemAvailable: 4194304 kB\nSwapFree: 1024 kB\n",
        "proc/self/cgroup": "0::/a/b\n4:memory:/c\n",
    }
    machine(tmp_path, files)
    assert FreeMemory(tmp_path)() == 4097 * MEGABYTE
    assert FreeMemory(tmp_path, swap=False)() == 4096 * MEGABYTE
    wide = {
        "sys/fs/cgroup/a/memory.max": f"{2000 * MEGABYTE}\n",
        "sys/fs/cgroup/a/memory.current": f"{1500 * MEGABYTE}\n",
        "sys/fs/cgroup/a/memory.stat": f"anon 5\ninactive_file {100 * MEGABYTE}\n",
        "sys/fs/cgroup/a/b/memory.max": "max\n",
        "sys/fs/cgroup/a/b/memory.current": "5\n",
    }
    machine(tmp_path, files | wide)
    assert FreeMemory(tmp_path)() == 600 * MEGABYTE
    narrow = {
        "sys/fs/cgroup/memory/c/memory.limit_in_bytes": f"{1000 * MEGABYTE}\n",
        "sys/fs/cgroup/memory/c/memory.usage_in_bytes": f"{900 * MEGABYTE}\n",
        "sys/fs/cgroup/memory/c/memory.stat": f"total_inactive_file {MEGABYTE}\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
        "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{99999 * MEGABYTE}\n",
    }
    machine(tmp_path, files | wide | narrow)
    assert FreeMemory(tmp_path)() == 101 * MEGABYTE


def test_what_a_process_holds_are_no_files(tmp_path: Path) -> None:
    folder = tmp_path / "proc" / "7"
    folder.mkdir(parents=True)
    (folder / "status").write_text(
        "VmRSS:\t 111 kB\nRssAnon:\t  10 kB\nRssFile:\t 100 kB\nRssShmem:\t 1 kB\nVmSwap:\t 5 kB\n", "ascii"
    )
    assert held_memory(7, tmp_path) == 16 * 1024
    assert held_memory(8, tmp_path) == 0


def test_a_file_of_the_system_is_read_whole(tmp_path: Path) -> None:
    long = b"memory 1\n" * 10_000
    (tmp_path / "stat").write_bytes(long)
    assert read_system(tmp_path / "stat") == long
    assert read_system(tmp_path / "none") == read_system(tmp_path) == b""
