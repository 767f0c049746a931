"""Files appear whole or not at all, whatever their names, and what killed writers left is told from what is alive."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from domsieve.errors import StorageError
from domsieve.files import create_database, leftovers, write_file


def test_a_file_and_its_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "file"
    write_file(path, b"one", what="The file")
    write_file(path, b"two", what="The file")
    assert path.read_bytes() == b"two"
    assert [*path.parent.iterdir()] == [path]


def test_a_name_may_be_as_long_as_names_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    write_file(path, b"one", what="The file")
    assert path.read_bytes() == b"one"


def test_the_bytes_are_on_the_disk_before_the_file_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    seen: list[bool] = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.append(path.exists()))
    write_file(path, b"one", what="The file")
    assert seen == [False]


def test_a_failure_keeps_the_old_file_and_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    write_file(path, b"one", what="The file")
    monkeypatch.setattr(os, "fsync", is_full)
    with pytest.raises(StorageError) as raised:
        write_file(path, b"two", what="The model")
    assert raised.value.message == f"The model {path} cannot be written: No space left on device."
    assert path.read_bytes() == b"one"
    assert [*tmp_path.iterdir()] == [path]


def test_threads_do_not_write_into_each_others_files(tmp_path: Path) -> None:
    path = tmp_path / "file"
    texts = [bytes([65 + number]) * 100_000 for number in range(4)]

    def write(text: bytes) -> None:
        for _ in range(20):
            write_file(path, text, what="The file")

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            assert path.read_bytes() in texts
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize(
    "name",
    [
        "x.dsnap.{pid}.part",
        "x.dsnap.{pid}-140.part",
        ".domsieve.{pid}-0a1b.part",
        "model.part",
        ".domsieve.{pid}-0a.part-wal",
    ],
)
def test_what_a_dead_writer_left_is_found(tmp_path: Path, name: str) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], stdout=-1, check=True)
    left = tmp_path / "sub" / name.format(pid=int(dead.stdout))
    left.parent.mkdir()
    left.touch()
    assert [*leftovers(tmp_path)] == [left]


@pytest.mark.parametrize("make", ["file", "database"])
def test_what_a_living_writer_holds_is_not_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: str
) -> None:
    held: list[Path] = []
    real_replace, real_link = Path.replace, Path.hardlink_to

    def look() -> None:
        held.extend(tmp_path.glob(".*.part"))
        assert not [*leftovers(tmp_path)]

    def replace(self: Path, target: Path) -> Path:
        look()
        return real_replace(self, target)

    def link(self: Path, target: Path) -> None:
        look()
        real_link(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(Path, "hardlink_to", link)
    if make == "file":
        write_file(tmp_path / "file", b"one", what="The file")
    else:
        create_database(tmp_path / "file", "CREATE TABLE t (x);", version=1, shrinks="full")
    assert held
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
