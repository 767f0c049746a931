"""The recipe for LangChain: a loader whose documents keep what is known of each page."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import domsieve
from examples.loopback import folder_served
from tests.integrations.recipes import recipe

PAGE = "<!doctype html><title>Bees</title><body><nav><a href=/>Home</a></nav><h1>Bees</h1>" + (
    "<p>The hive stands behind the barn, where the morning sun warms it early in the year.</p>"
    "<p>Every colony needs water close by, a dry floor, and shelter from the wind of the north.</p>"
)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "bees.html").write_text(PAGE)
    (tmp_path / "empty.html").write_text("")
    with folder_served(tmp_path) as base:
        yield base


def test_pages_become_documents_and_failures_are_told(site: str) -> None:
    loader = recipe("DomsieveLoader")["DomsieveLoader"]
    failed: list[str] = []
    urls = [f"{site}/bees.html", f"{site}/empty.html", f"{site}/none.html"]
    network = domsieve.NetworkOptions(private_hosts=[site.removeprefix("http://")])
    (document,) = loader(urls, failed=lambda url, _: failed.append(url), network=network).load()
    assert document.page_content.startswith("# Bees\n\nThe hive")
    assert document.metadata["source"] == urls[0]
    assert document.metadata["title"] == "Bees"
    assert 0 < document.metadata["expected_f1"] <= 1
    assert failed == urls[1:]


def test_private_pages_are_refused(site: str) -> None:
    loader = recipe("DomsieveLoader")["DomsieveLoader"]
    assert loader([f"{site}/bees.html"]).load() == []
