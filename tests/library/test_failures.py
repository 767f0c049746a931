"""Pages that failed are errors of the library, too; kept ones say what they are."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

import domsieve
from domsieve.errors import ContentError, NavigationError, PageError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.cut import Cut
from domsieve.snapshot.page import Snapshot
from tests.command import page

PDF = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj << >>"


def snapshot(html: str = "", **origin: Any) -> Snapshot:
    """Return a page of these facts."""
    parsed = parse_html((html or page(1)).encode(), url="http://example.org/")
    return replace(parsed, provenance=msgspec.structs.replace(parsed.provenance, **origin))


LATE: dict[str, Any] = {"complete": False, "reasons": (str(Cut("time", "20 s are used up")),)}
FAILED: list[tuple[Any, str]] = [
    (snapshot(status=404), "status"),
    (snapshot(status=503), "status"),
    (snapshot(content_type="image/png"), "type"),
    (snapshot("<img src=a>", **LATE), "cut"),
    (snapshot("<html></html>"), "empty"),
    (PDF, "type"),
    (b"", "empty"),
    (bytes(range(32)) * 9, "type"),
]


@pytest.mark.parametrize(("given", "reason"), FAILED)
@pytest.mark.parametrize("call", [domsieve.clean, domsieve.records])
def test_the_only_page_raises_its_error(given: Any, reason: str, call: Any) -> None:
    with pytest.raises(PageError) as error:
        call(given)
    assert error.value.reason == reason
    assert isinstance(error.value, NavigationError if reason == "cut" else ContentError)


def test_of_several_pages_those_that_failed_have_an_error() -> None:
    results = domsieve.clean([given for given, _ in FAILED] + [page(2)])
    assert [getattr(result.error, "reason", None) for result in results] == [
        *(reason for _, reason in FAILED),
        None,
    ]
    with pytest.raises(ContentError):
        _ = results[0].marks
    assert "word2a" in results[-1].text


@pytest.mark.parametrize(("given", "reason"), FAILED)
def test_errors_may_be_kept(given: Any, reason: str) -> None:
    cleaned = domsieve.clean(given, network=domsieve.NetworkOptions(keep_errors=True))
    assert cleaned.error is None
    assert cleaned.fault
    assert cleaned.fault.reason == reason
    mined = domsieve.records(given, network=domsieve.NetworkOptions(keep_errors=True))
    assert mined.fault == cleaned.fault
    assert cleaned.fault.detail in cleaned._repr_html_().replace("&#x27;", "'")


def test_files_too(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    path.write_bytes(PDF)
    with pytest.raises(ContentError, match="application/pdf"):
        domsieve.clean(path)


def test_a_page_cut_with_text_is_incomplete() -> None:
    result = domsieve.clean(snapshot(**LATE))
    assert (result.complete, result.fault, result.error) == (False, None, None)
    assert result.text


def test_walls_are_marked() -> None:
    wall = "<h1>One moment</h1><p>Verify you are human.</p>"
    [mark] = domsieve.clean(wall).marks
    assert (mark.kind, mark.evidence) == ("robot_wall", "verify you are human")
    assert domsieve.records(wall).marks == (mark,)
    assert "wall against robots" in domsieve.clean(wall)._repr_html_()
    assert domsieve.clean(page(1)).marks == ()


def test_the_method_that_was_taken_instead_is_named() -> None:
    same = [f"<!-- {number} -->{page(1)}" for number in range(6)]
    result = domsieve.clean(same, method=domsieve.SiteStyleTree(threshold=1))[0]
    assert (result.method, result.instead_of) == ("auto", "sst")
    assert "word1a" in result.text
    published = domsieve.clean(same, method=domsieve.SiteStyleTree.of_mode("paper", threshold=1))[0]
    assert (published.method, published.instead_of) == ("sst", "")
