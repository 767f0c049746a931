"""Where results go."""

from pathlib import Path

import msgspec
import pytest

from domsieve.analysis.writers.formats import PAGE_FORMATS
from domsieve.errors import StorageError
from domsieve.snapshot.page import Provenance, Snapshot
from domsieve.tasks.file_names import MANIFEST
from domsieve.tasks.manifest import PageEntry, decoded
from domsieve.tasks.output import ResultFolder, Results
from domsieve.tasks.pages import Page


def page(name: str, label: str = "") -> Page:
    def load() -> Snapshot:
        raise NotImplementedError

    return Page(label or name, name, "site", load)


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_standard_output_names_each_page_in_front_of_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    with Results(None, heads=True) as results:
        results.write(page("a"), "one\n")
        results.write(page("b"), "two\n")
    assert capsys.readouterr() == ("==> a <==\none\n\n==> b <==\ntwo\n\n", "")


def test_standard_output_without_heads_is_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    with Results(None, heads=False) as results:
        results.write(page("a"), "one\n")
    assert capsys.readouterr().out == "one\n"


def test_one_file_appears_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new/all.txt"
    with Results(path, heads=False) as results:
        results.write(page("a"), "ä\n")
        assert files(tmp_path) == []
        results.write(page("b"), "two\n")
    assert path.read_bytes() == "ä\ntwo\n".encode()
    assert files(tmp_path) == ["new/all.txt"]


def test_an_error_or_an_empty_result_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "all.txt"
    path.write_text("old", encoding="utf-8")
    results = Results(path, heads=False)
    results.write(page("a"), "one\n")
    results.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    with Results(path, heads=False):
        pass
    assert path.read_text(encoding="utf-8") == "old"
    assert files(tmp_path) == ["all.txt"]


def test_a_head_with_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    with Results(tmp_path / "all.txt", heads=True) as results:
        results.write(page("a", label="\udcff.html"), "one\n")
    assert (tmp_path / "all.txt").read_bytes() == b"==> \xff.html <==\none\n\n"


ORIGIN = Provenance(url="x", final_url="x", producer="raw", captured_at="2026-01-01T00:00:00+00:00")
LATER = msgspec.structs.replace(ORIGIN, captured_at="2026-02-02T00:00:00+00:00", source_digest="0" * 32)


def write(root: Path, texts: dict[str, str], origin: Provenance = ORIGIN) -> list[Path]:
    """Write Markdown files of pages; return those that were kept."""
    pages = [page(name) for name in texts]
    with ResultFolder(root, PAGE_FORMATS["markdown"]) as results:
        results.expect(one.key for one in pages)
        kept = [results.write(one.key, texts[one.name].encode(), origin) for one in pages]
    return [path for path in kept if path]


def entries(root: Path) -> dict[str, PageEntry]:
    return decoded((root / MANIFEST).read_bytes(), name="")


def test_a_folder_has_a_file_per_page_and_a_manifest(tmp_path: Path) -> None:
    write(tmp_path / "out", {"a.html": "one", "sub/b.c": "two"})
    assert files(tmp_path / "out") == ["a.md", MANIFEST, "sub/b.c.md"]
    assert (tmp_path / "out/a.md").read_text(encoding="utf-8") == "one"
    assert entries(tmp_path / "out")["a.md"].url == "a.html"


def test_the_manifest_says_when_a_page_was_first_seen_and_last_changed(tmp_path: Path) -> None:
    write(tmp_path, {"a": "one", "b": "one"})
    write(tmp_path, {"a": "one", "c": "one"}, LATER)
    old, new = ORIGIN.captured_at, LATER.captured_at
    found = {name: (one.first_seen, one.last_changed) for name, one in entries(tmp_path).items()}
    assert found == {"a.md": (old, old), "b.md": (old, old), "c.md": (new, new)}
    write(tmp_path, {"a": "two"}, LATER)
    assert (entries(tmp_path)["a.md"].first_seen, entries(tmp_path)["a.md"].last_changed) == (old, new)
    assert entries(tmp_path)["a.md"].source_hash == LATER.source_digest


def test_an_edited_file_is_kept_and_so_is_its_line(tmp_path: Path) -> None:
    write(tmp_path, {"a": "one"})
    (tmp_path / "a.md").write_text("edited", encoding="utf-8")
    before = entries(tmp_path)
    assert write(tmp_path, {"a": "two", "b": "two"}, LATER) == [tmp_path / "a.md"]
    assert (tmp_path / "a.md").read_text(encoding="utf-8") == "edited"
    assert entries(tmp_path)["a.md"] == before["a.md"]


def test_what_an_interrupted_run_wrote_is_listed(tmp_path: Path) -> None:
    results = ResultFolder(tmp_path, PAGE_FORMATS["text"])
    results.__enter__()
    results.expect([("a", 1), ("b", 1)])
    results.write(("a", 1), b"one", ORIGIN)
    results.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert entries(tmp_path).keys() == {"a.txt"}


def test_a_file_at_a_place_of_one_file_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    results = Results(tmp_path / "place", heads=False)
    with pytest.raises(StorageError, match=r"place.* cannot be written"), results:
        results.write(page("a"), "one")
    assert not list(tmp_path.rglob("*.part"))


def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "place").touch()
    with pytest.raises(StorageError, match=r"place cannot be used"):
        write(tmp_path / "place", {"a": "one"})
