"""Where results go."""

from pathlib import Path

import pytest

from domsieve.errors import StorageError
from domsieve.snapshot.page import Snapshot
from domsieve.tasks.output import Results
from domsieve.tasks.pages import Page


def page(name: str, label: str = "") -> Page:
    def load() -> Snapshot:
        raise NotImplementedError

    return Page(label or name, name, "site", load)


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_standard_output_names_each_page_in_front_of_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    with Results(None, None, ".txt", heads=True) as results:
        results.write(page("a"), "one\n")
        results.write(page("b"), "two\n")
    assert capsys.readouterr() == ("==> a <==\none\n\n==> b <==\ntwo\n\n", "")


def test_standard_output_without_heads_is_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    with Results(None, None, ".txt", heads=False) as results:
        results.write(page("a"), "one\n")
    assert capsys.readouterr().out == "one\n"


def test_one_file_appears_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new/all.txt"
    with Results(path, None, ".txt", heads=False) as results:
        results.write(page("a"), "ä\n")
        assert files(tmp_path) == []
        results.write(page("b"), "two\n")
    assert path.read_bytes() == "ä\ntwo\n".encode()
    assert files(tmp_path) == ["new/all.txt"]


def test_an_error_or_an_empty_result_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "all.txt"
    path.write_text("old", encoding="utf-8")
    results = Results(path, None, ".txt", heads=False)
    results.write(page("a"), "one\n")
    results.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    with Results(path, None, ".txt", heads=False):
        pass
    assert path.read_text(encoding="utf-8") == "old"
    assert files(tmp_path) == ["all.txt"]


def test_a_file_per_page_in_folders_like_theirs(tmp_path: Path) -> None:
    with Results(None, tmp_path / "out", ".md", heads=True) as results:
        results.write(page("a"), "one")
        results.write(page("sub/b.c"), "two")
    assert files(tmp_path) == ["out/a.md", "out/sub/b.c.md"]
    assert (tmp_path / "out/a.md").read_text(encoding="utf-8") == "one"


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    with Results(None, tmp_path, ".json", heads=False) as results:
        results.write(page("x" * 250), "one")
    assert files(tmp_path) == ["x" * 250 + ".json"]


def test_a_head_with_a_name_that_is_not_utf_8(tmp_path: Path) -> None:
    with Results(tmp_path / "all.txt", None, ".txt", heads=True) as results:
        results.write(page("a", label="\udcff.html"), "one\n")
    assert (tmp_path / "all.txt").read_bytes() == b"==> \xff.html <==\none\n\n"


def test_nothing_is_left_of_a_file_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", is_full)
    with (
        pytest.raises(
            StorageError, match=r"The output file .*a\.txt cannot be written: No space left on device"
        ),
        Results(None, tmp_path, ".txt", heads=False) as results,
    ):
        results.write(page("a"), "one")
    assert files(tmp_path) == []


@pytest.mark.parametrize("folder", [True, False])
def test_a_place_that_cannot_be_written_to(tmp_path: Path, *, folder: bool) -> None:
    place = tmp_path / "place"
    if folder:  # a file is wanted there
        place.mkdir()
        results = Results(place, None, ".txt", heads=False)
    else:
        place.touch()
        results = Results(None, place, ".txt", heads=False)
    with pytest.raises(StorageError, match=r"place.* cannot be written"), results:
        results.write(page("a"), "one")
    assert not list(tmp_path.rglob("*.part"))
