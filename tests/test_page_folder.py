"""A folder of pages keeps what users edited, follows no links, and is whole after a kill at any moment."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from domsieve.analysis.writers.formats import PAGE_FORMATS
from domsieve.errors import DamagedFileError, FormatVersionError, StorageError
from domsieve.files import digest_of
from domsieve.tasks.file_names import MANIFEST
from domsieve.tasks.manifest import PageEntry, decoded, encoded
from domsieve.tasks.page_folder import JOURNAL, PageFolder

NOW = "2026-01-01T00:00:00+00:00"


def entry(file: str, data: bytes = b"one", **changes: object) -> PageEntry:
    values = {
        "url": f"https://example.org/{file}",
        "file": file,
        "format": "markdown",
        "first_seen": NOW,
        "last_changed": NOW,
        "content_hash": digest_of(data),
    }
    return msgspec.convert(values | changes, PageEntry)


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_folder_is_written_and_read_again(tmp_path: Path) -> None:
    page = entry(
        "install/linux.md", expected_f1=0.5, etag='"x"', needs_browser=True, source_hash=digest_of(b"")
    )
    with PageFolder(tmp_path / "out") as folder:
        assert folder.names([(page.url, 1)], PAGE_FORMATS["markdown"]) == {(page.url, 1): "install/linux.md"}
        assert folder.write(page.file, b"one", content_hash=None) == "written"
        folder.finish([page])
    assert files(tmp_path / "out").keys() == {"install/linux.md", MANIFEST}
    with PageFolder(tmp_path / "out") as folder:
        assert folder.entries == {page.file: page}
        assert folder.write(page.file, b"one", content_hash=page.content_hash) == "unchanged"
        assert folder.write(page.file, b"two", content_hash=page.content_hash) == "written"


def test_an_unused_folder_is_not_left(tmp_path: Path) -> None:
    with PageFolder(tmp_path / "out"):
        pass
    assert not (tmp_path / "out").exists()


def test_edited_and_added_files_are_kept(tmp_path: Path) -> None:
    with PageFolder(tmp_path) as folder:
        folder.write("a.md", b"one", content_hash=None)
        folder.finish([entry("a.md")])
    (tmp_path / "a.md").write_bytes(b"edited")
    (tmp_path / "b.md").write_bytes(b"added")
    with PageFolder(tmp_path) as folder:
        known = folder.entries["a.md"].content_hash
        assert folder.state("a.md", known) == "edited"
        assert folder.write("a.md", b"two", content_hash=known) == "kept"
        assert folder.write("b.md", b"two", content_hash=None) == "kept"
        assert not folder.remove("a.md", content_hash=known)
        assert folder.move("a.md", "gone/a.md", content_hash=known) == "kept"
        folder.finish([])
    assert files(tmp_path) == {"a.md": b"edited", "b.md": b"added", MANIFEST: b""}


def test_a_file_moves_and_its_empty_folder_goes(tmp_path: Path) -> None:
    with PageFolder(tmp_path) as folder:
        folder.write("x/y/a.md", b"one", content_hash=None)
        assert folder.move("x/y/a.md", "gone/x/y/a.md", content_hash=None) == "written"
        folder.finish([])
    assert files(tmp_path) == {"gone/x/y/a.md": b"one", MANIFEST: b""}
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("place", ["file", "folder"])
def test_links_are_not_followed(tmp_path: Path, place: str) -> None:
    outside, root = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    root.mkdir()
    (outside / "a.md").write_bytes(b"secret")
    if place == "folder":
        (root / "x").symlink_to(outside)
    else:
        (root / "x").mkdir()
        (root / "x" / "a.md").symlink_to(outside / "a.md")
    with PageFolder(root) as folder:
        known = digest_of(b"secret")
        assert folder.read("x/a.md") is None
        assert folder.state("x/a.md", known) == "edited"
        assert folder.write("x/a.md", b"two", content_hash=known) == "kept"
        assert not folder.remove("x/a.md", content_hash=known)
        folder.write("b.md", b"one", content_hash=None)
        assert folder.move("b.md", "x/b.md", content_hash=None) == (
            "kept" if place == "folder" else "written"
        )
    assert files(outside) == {"a.md": b"secret"}


@pytest.mark.parametrize("name", [MANIFEST, JOURNAL])
def test_files_of_domsieve_are_not_written_through_links(tmp_path: Path, name: str) -> None:
    (tmp_path / "victim").write_bytes(b"")
    (tmp_path / name).symlink_to(tmp_path / "victim")
    with pytest.raises(StorageError), PageFolder(tmp_path) as folder:
        folder.write("a.md", b"one", content_hash=None)
    assert (tmp_path / "victim").read_bytes() == b""


def test_a_pipe_or_a_folder_in_the_place_of_a_file_is_kept(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "file").write_bytes(b"added")
    with PageFolder(tmp_path) as folder:
        for name in ("pipe.md", "folder.md", "file/a.md"):
            assert folder.write(name, b"one", content_hash=None) == "kept"


def test_a_name_that_leads_out_is_refused(tmp_path: Path) -> None:
    with PageFolder(tmp_path) as folder, pytest.raises(StorageError, match="not a path below the folder"):
        folder.write("../a.md", b"one", content_hash=None)


def test_a_second_run_is_refused(tmp_path: Path) -> None:
    with (
        PageFolder(tmp_path),
        pytest.raises(StorageError, match="Another run") as raised,
        PageFolder(tmp_path),
    ):
        pass
    assert raised.value.retry
    with PageFolder(tmp_path):
        pass


def test_files_of_a_killed_run_are_known(tmp_path: Path) -> None:
    with PageFolder(tmp_path) as folder:  # ends without a manifest, as a killed one
        folder.write("a.md", b"one", content_hash=None)
        folder.write("b.md", b"one", content_hash=None)
        folder.write("c.md", b"one", content_hash=None)
    (tmp_path / "c.md").write_bytes(b"edited")
    with (tmp_path / JOURNAL).open("ab") as journal:
        journal.write(b'["d.md", "')
    with PageFolder(tmp_path) as folder:
        assert folder.write("a.md", b"two", content_hash=None) == "written"
        folder.finish([entry("a.md", b"two")])
    assert files(tmp_path).keys() == {"a.md", "c.md", MANIFEST}


WRITER = """
import sys
from pathlib import Path
from domsieve.files import digest_of
from domsieve.tasks.manifest import PageEntry
from domsieve.tasks.page_folder import PageFolder
print("ready", flush=True)
for number in range(10**9):
    with PageFolder(Path(sys.argv[1])) as folder:
        entries = []
        for page in range(5):
            name, data = f"{page}/a.md", f"{number}".encode() * 1000
            known = folder.entries.get(name)
            done = folder.write(name, data, content_hash=known and known.content_hash)
            assert done == "written" or (number == 0 and done == "unchanged"), done
            entries.append(PageEntry(url=name, file=name, format="text", first_seen="", last_changed="",
                                     content_hash=digest_of(data)))
        folder.finish(entries)
    print(number, flush=True)
"""


@pytest.mark.parametrize("rounds", range(4))
def test_a_folder_is_whole_after_a_kill(tmp_path: Path, rounds: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    for _ in range(rounds + 1):
        assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with PageFolder(tmp_path / "out") as folder:
        for page in range(5):
            name = f"{page}/a.md"
            known = folder.entries.get(name)
            state = folder.state(name, known.content_hash if known else None)
            assert state == "ours" or (state == "missing" and known is None)
        folder.finish(folder.entries.values())
    names = {name for name in files(tmp_path / "out") if name != MANIFEST}
    assert names == {f"{page}/a.md" for page in range(5)} or names == set()


LINE = encoded([entry("a.md")]).decode()


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "{}",
        "[]",
        '{"manifest": "1"}',
        "[" * 100_000,
        LINE.replace("a.md", "../a.md", 2),
        LINE.replace('"file":"a.md"', '"file":"/etc/passwd"'),
        LINE.replace("markdown", "magic"),
        LINE.replace('"capture":1', '"capture":0'),
        LINE.replace('"url"', '"link"'),
        LINE + LINE,
        LINE + LINE.replace("a.md", "A.md", 2).replace("example.org/A", "example.org/b"),
        LINE + LINE.replace('"file":"a.md"', '"file":"b.md"'),
    ],
)
def test_a_broken_manifest_gives_one_clear_error(tmp_path: Path, line: str) -> None:
    (tmp_path / MANIFEST).write_text(line)
    with pytest.raises(DamagedFileError, match=r"manifest\.jsonl, line [12]: "), PageFolder(tmp_path):
        pass


def test_a_newer_manifest_is_not_read() -> None:
    with pytest.raises(FormatVersionError, match="update domsieve"):
        decoded(b'{"manifest": 2, "new": true}\n', name="m")


def test_credentials_stay_out_of_the_manifest() -> None:
    assert b"secret" not in encoded([entry("a.md", url="https://me:secret@example.org/")])


def test_a_full_disk_is_reported_and_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def is_full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with PageFolder(tmp_path / "out") as folder:
        monkeypatch.setattr(os, "fsync", is_full)
        with pytest.raises(StorageError, match="No space left"):
            folder.write("a.md", b"one", content_hash=None)
    assert not list((tmp_path / "out").glob("*.md"))
    shutil.rmtree(tmp_path / "out")
