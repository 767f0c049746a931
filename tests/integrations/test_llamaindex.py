"""The recipe for LlamaIndex: a reader whose documents keep what is known of each page."""

from pathlib import Path

import domsieve
from examples.loopback import folder_served
from tests.integrations.recipes import recipe

PAGE = "<!doctype html><title>Bees</title><body><nav><a href=/>Home</a></nav><h1>Bees</h1>" + (
    "<p>The hive stands behind the barn, where the morning sun warms it early in the year.</p>"
    "<p>Every colony needs water close by, a dry floor, and shelter from the wind of the north.</p>"
)


def test_pages_become_documents_and_failures_are_kept(tmp_path: Path) -> None:
    (tmp_path / "bees.html").write_text(PAGE)
    (tmp_path / "empty.html").write_text("")
    with folder_served(tmp_path) as base:
        reader = recipe("DomsieveReader")["DomsieveReader"](
            network=domsieve.NetworkOptions(private_hosts=[base.removeprefix("http://")])
        )
        urls = [f"{base}/bees.html", f"{base}/empty.html"]
        (document,) = reader.load_data(urls)
    assert document.text.startswith("# Bees\n\nThe hive")
    assert document.metadata["source"] == urls[0]
    assert 0 < document.metadata["expected_f1"] <= 1
    assert [*reader.failed] == urls[1:]
