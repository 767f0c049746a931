"""The registry of output formats: every layer offers what it has."""

from pathlib import Path
from typing import Any, get_args

import pytest

import domsieve
from domsieve.analysis.writers.formats import PAGE_FORMATS, RECORD_FORMATS
from domsieve.service.jobs.requests import REQUESTS
from domsieve.service.web.forms import CHOICES
from domsieve.types import PageFormat, RecordFormat
from tests.command import page, run

ALL = [*PAGE_FORMATS.values(), *RECORD_FORMATS.values()]


def test_types_name_the_formats_of_the_registry() -> None:
    assert get_args(PageFormat) == tuple(PAGE_FORMATS)
    assert get_args(RecordFormat) == tuple(RECORD_FORMATS)
    assert [entry.name for entry in ALL] == [*PAGE_FORMATS, *RECORD_FORMATS]


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_entries_are_whole(entry: Any) -> None:
    assert callable(entry.function)
    assert entry.ending.startswith(".")
    assert "/" in entry.media_type
    assert entry.options <= {"metadata", "max_words"}


@pytest.mark.parametrize(
    ("kind", "formats"), [("clean", PAGE_FORMATS), ("site", PAGE_FORMATS), ("records", RECORD_FORMATS)]
)
def test_the_service_offers_every_format(kind: Any, formats: Any) -> None:
    schema = REQUESTS[kind].model_json_schema()["properties"]["format"]
    assert schema["enum"] == [*formats]
    assert {choice.value for choice in CHOICES[f"{kind}_format"]} == formats.keys()


@pytest.mark.parametrize("form", PAGE_FORMATS)
def test_the_command_and_the_library_write_the_same(form: PageFormat, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page(1), encoding="utf-8")
    folder = tmp_path / "out"
    result = run("clean", file, "--format", form, "--output-dir", folder, cache=tmp_path / "cache")
    assert result.exit_code == 0, result.stderr
    (written,) = folder.glob("page.*")
    assert written.suffix == PAGE_FORMATS[form].ending
    assert written.read_text("utf-8") == domsieve.clean(file).write(form)


def test_a_format_that_does_not_exist_is_refused_with_the_choices() -> None:
    result = domsieve.clean(page(1))
    with pytest.raises(
        domsieve.UsageError, match="choose one of text, markdown, html, json, chunks"
    ) as caught:
        result.write("pdf")  # type: ignore[arg-type]
    assert caught.value.parameter == "form"


@pytest.mark.parametrize("form", ["markdown", "html", "chunks"])
def test_links_of_a_file_stay_as_the_file_has_them(form: PageFormat, tmp_path: Path) -> None:
    links = ["b.html", "../c/d.html#y", "#tab1", "/e.html", "?f=1", "g.png"]
    anchors = "".join(f"<p><a href='{link}'>words of a link</a></p>" for link in links[:-1])
    file = tmp_path / "docs" / "a.html"
    file.parent.mkdir()
    file.write_text(f"<h1>Heading</h1>{anchors}<img src={links[-1]} alt=picture>", encoding="utf-8")
    words = ("--method", "none", "--format", form)
    written = run("clean", *words, file, cache=tmp_path / "cache").stdout
    for link in links:
        assert (f'"{link}"' if form == "html" else f"({link})") in written
    url = "https://example.org/x/a.html"
    written = run("clean", *words, "--url", url, file, cache=tmp_path / "cache").stdout
    assert "https://example.org/x/b.html" in written
    assert f"{url}#tab1" in written
