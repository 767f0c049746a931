"""`bulk clean --write files` writes a file per page, the same as `clean`, however pages are split into shards."""

from pathlib import Path

import pytest

from domsieve.tasks.file_names import MANIFEST
from domsieve.tasks.page_folder import PageFolder
from tests.archive.made import packed, page_record, written
from tests.bulk.made import write_sites
from tests.command import run


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files of pages by name."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith("_")}


def bulk(source: Path, out: Path, *words: str) -> str:
    options = ("--workers", "1", "--write", "files", "--output-dir", str(out))
    done = run("bulk", "clean", source, *options, *words, cache=out.parent / "cache")
    assert (done.exit_code, done.stdout) == (0, "")
    return done.stderr


def test_files_are_those_of_clean(tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "in", sites=2, pages=3)
    bulk(
        sites,
        tmp_path / "bulk",
        "--method",
        "none",
        "--format",
        "markdown",
        "--metadata",
        "--shard-pages",
        "2",
    )
    words = ("--method", "none", "--format", "markdown", "--metadata", "--output-dir", tmp_path / "one")
    assert run("clean", sites, *words, cache=tmp_path / "cache").exit_code == 0
    files = tree(tmp_path / "bulk")
    assert files.keys() == {f"s{site}/p{page}.md" for site in range(2) for page in range(3)} | {MANIFEST}
    assert files == tree(tmp_path / "one")


def test_files_do_not_depend_on_shards_and_are_not_written_anew(tmp_path: Path) -> None:
    pages = [page_record(1), page_record(2), page_record(1), page_record(3)]
    archive = written(tmp_path, packed(pages), "a.warc.gz")
    bulk(archive, tmp_path / "a", "--shard-pages", "1")
    bulk(archive, tmp_path / "b", "--shard-pages", "10")
    assert tree(tmp_path / "a").keys() == {"p/1.txt", "p/1-2.txt", "p/2.txt", "p/3.txt", MANIFEST}
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    with PageFolder(tmp_path / "a") as folder:
        assert folder.entries["p/1-2.txt"].key == ("http://moss.example/p/1", 2)
    (tmp_path / "a/p/2.txt").write_bytes(b"edited")
    assert f"{tmp_path / 'a/p/2.txt'} has been edited" in bulk(archive, tmp_path / "a", "--shard-pages", "1")
    assert tree(tmp_path / "a")["p/2.txt"] == b"edited"


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--blocks",), "Rows of blocks are not written"), (("--output-dir", "memory://x"), "this machine")],
)
def test_what_files_cannot_be_is_refused(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    page = write_sites(tmp_path / "in", sites=1, pages=1)
    options = ("--write", "files", "--output-dir", str(tmp_path / "out"), *words)
    done = run("bulk", "clean", page, *options, cache=tmp_path / "cache")
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
