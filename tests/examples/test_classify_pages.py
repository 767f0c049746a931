"""The example that fits a pipeline on the matrix of the demo site, on its pages written as plain HTML."""

from html import escape
from pathlib import Path

import pytest

from domsieve.renderer.html_parser.parser import parse_html
from domsieve.tasks.page_matrix import vectorize, write_matrix
from domsieve.tasks.pages import Page
from examples.classify_pages import main, routes
from examples.serve import DEMO

FRAME = "<nav><ul><li><a href=/>Home</a></li><li><a href=/shop>Workshop</a></li></ul></nav>"


def plain(entry: dict[str, str]) -> Page:
    """Return a page of the demo site with its main content between a menu and a footer."""
    lines = (DEMO / entry["truth"]).read_text(encoding="utf-8").splitlines()
    blocks = "".join(f"<p>{escape(line)}</p>" for line in lines)
    source = f"<!doctype html><body>{FRAME}<main><div><div>{blocks}</div></div></main><footer>Foot</footer>"
    url = "http://127.0.0.1:1" + entry["route"]
    return Page(url, entry["truth"], "demo", lambda: parse_html(source.encode(), url=url))


def test_articles_and_products_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = vectorize(
        [plain(entry) for entry in routes()], failed=lambda *_: pytest.fail("all can be read")
    )
    write_matrix(weights, tmp_path / "weights.npz", form="npz")
    main([str(tmp_path / "weights.npz")])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["article", "product"]
    assert sum(int(line.split()[1]) for line in lines[:2]) >= 15
    assert lines[3].startswith("telling of product: ")
