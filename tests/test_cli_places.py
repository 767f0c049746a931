"""Where results go on the command line, and what they are named after, when it cannot be or is no text."""

import json
import os
import re
from pathlib import Path

import pytest
from typer.testing import Result

from tests.command import result_files, run, write_pages

WRITING: dict[str, list[str]] = {
    "clean": ["clean", "SITE", "-o"],
    "clean into a folder": ["clean", "SITE", "--output-dir"],
    "records": ["records", "SITE", "-o"],
    "records into a folder": ["records", "SITE", "--output-dir"],
    "learn": ["learn", "SITE", "-o"],
    "vectorize": ["vectorize", "SITE", "-o"],
    "report": ["report", "SITE", "-o"],
}


def called(call: str, place: Path, *, cache: Path, site: Path) -> Result:
    words = [str(site) if word == "SITE" else word for word in WRITING[call]]
    return run(*words, place, cache=cache)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    write_pages(tmp_path / "site", 2)
    return tmp_path / "site"


@pytest.mark.parametrize("call", WRITING)
def test_a_folder_that_does_not_exist_is_refused_before_any_work(
    call: str, site: Path, tmp_path: Path
) -> None:
    place = tmp_path / "new" / "deeper" / "results"
    result = called(call, place, cache=tmp_path / "cache", site=site)
    assert (result.exit_code, result.stdout) == (2, "")
    option = WRITING[call][-1].replace("-o", "--output") if WRITING[call][-1] == "-o" else WRITING[call][-1]
    assert result.stderr == (
        f"domsieve: {option} {place}: the folder {place.parent} does not exist; create it first.\n"
    )
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "cache").exists(), "nothing was begun"


@pytest.mark.parametrize("call", WRITING)
def test_a_place_that_something_else_takes_is_refused_before_any_work(
    call: str, site: Path, tmp_path: Path
) -> None:
    place = tmp_path / "taken"
    if WRITING[call][-1] == "--output-dir":
        place.touch()
    else:
        place.mkdir()
    result = called(call, place, cache=tmp_path / "cache", site=site)
    assert (result.exit_code, result.stdout) == (2, "")
    assert re.fullmatch(rf"domsieve: --[a-z-]+ {place}: this is a (file|folder); give .*\n", result.stderr)
    assert not (tmp_path / "cache").exists()


def test_a_folder_for_a_file_per_page_is_made(site: Path, tmp_path: Path) -> None:
    assert called("clean into a folder", tmp_path / "out", cache=tmp_path / "cache", site=site).exit_code == 0
    assert result_files(tmp_path / "out") == ["p1.txt", "p2.txt"]


BAD = "\udcff b\udce4\udcb8.html"


@pytest.fixture
def odd_site(site: Path) -> Path:
    """Return a folder of three pages, one of which has a name that is no UTF-8."""
    (site / "p1.html").rename(site / BAD)
    write_pages(site, 2)
    return site


@pytest.mark.parametrize("form", ["text", "markdown", "html", "json"])
def test_pages_whose_file_names_are_no_utf_8_are_cleaned(form: str, odd_site: Path, tmp_path: Path) -> None:
    printed = run("clean", "--method", "none", "--format", form, odd_site, cache=tmp_path / "cache")
    assert (printed.exit_code, printed.exception) == (0, None)
    one = tmp_path / "all"
    for place in (("-o", one), ("--output-dir", tmp_path / "out")):
        result = run(
            "clean", "--method", "none", "--format", form, *place, odd_site, cache=tmp_path / "cache"
        )
        assert (result.exit_code, result.exception) == (0, None)
    assert one.read_bytes() == printed.stdout_bytes
    assert len(result_files(tmp_path / "out")) == 3
    if form == "json":
        urls = [json.loads(line)["url"] for line in one.read_text(encoding="utf-8").splitlines()]
        assert [url for url in urls if "\ufffd" in url] == [str(odd_site / "\ufffd b\ufffd.html")]
    else:
        assert os.fsencode(BAD) in one.read_bytes()


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_records_of_pages_whose_file_names_are_no_utf_8(form: str, odd_site: Path, tmp_path: Path) -> None:
    for place in (("-o", tmp_path / "all"), ("--output-dir", tmp_path / "out")):
        result = run("records", "--format", form, *place, odd_site, cache=tmp_path / "cache")
        assert (result.exit_code, result.exception) == (0, None)
    if form != "parquet":
        (tmp_path / "all").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["npz", "svmlight", "parquet"])
def test_matrices_of_pages_whose_file_names_are_no_utf_8(form: str, odd_site: Path, tmp_path: Path) -> None:
    place = tmp_path / "m\udcff"
    result = run("vectorize", "--json", "--format", form, "-o", place, odd_site, cache=tmp_path / "cache")
    assert (result.exit_code, result.exception) == (0, None)
    assert "m\ufffd" in json.loads(result.stdout)["files"]
    if form != "parquet":
        names = json.loads((tmp_path / "m\udcff.names.json").read_text(encoding="utf-8"))
        assert str(odd_site / "\ufffd b\ufffd.html") in names["pages"]


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_models_and_messages_of_pages_whose_file_names_are_no_utf_8(
    as_json: list[str], odd_site: Path, tmp_path: Path
) -> None:
    model, cache = tmp_path / "m\udcff", tmp_path / "c\udcff"
    learned = run("learn", odd_site, *as_json, "-o", model, cache=cache)
    assert (learned.exit_code, learned.exception) == (0, None)
    cleaned = run("clean", *as_json, "--model", model, odd_site, cache=cache)
    assert (cleaned.exit_code, cleaned.exception) == (0, None)
    report = run("report", odd_site, "-o", tmp_path / "r\udcff.html", cache=cache)
    assert (report.exit_code, report.exception) == (0, None)
    for words in (
        ["doctor", "--browser", "/no/\udcff"],
        ["cache", "list", "\udcff"],
        ["cache", "show", "\udcff"],
    ):
        result = run(*words, *as_json, cache=cache)
        assert result.exit_code in {0, 2, 4}
        assert result.exception is None or isinstance(result.exception, SystemExit)
    text = run("clean", *as_json, "--method", "tps", "--param", "has_text=\udcff", odd_site, cache=cache)
    assert (text.exit_code, text.exception) == (0, None)


def test_a_batch_goes_on_after_a_page_whose_file_name_is_no_utf_8(odd_site: Path, tmp_path: Path) -> None:
    gone = odd_site / "\udcfe.html"
    gone.symlink_to(tmp_path / "nowhere")
    result = run("clean", "--json", "--method", "none", odd_site, cache=tmp_path / "cache")
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 3
    assert "1 of 4 pages failed." in result.stderr
