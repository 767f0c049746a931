"""Of 222 planted sentences, what no reader sees is not kept; the truth is what a picture of each alone shows."""

import json
import os
import re
from pathlib import Path

import pytest

import domsieve
from domsieve.options import CaptureOptions
from domsieve.types import HiddenText
from tests.renderer.bad_server import DOT, send
from tests.renderer.conftest import Studio

pytestmark = [pytest.mark.browser, pytest.mark.data]

# Below a white canvas, and far to the right in a box that scrolls.
MOST_KEPT: dict[HiddenText, int] = {"layout": 2, "pixels": 0}


def test_planted_sentences_that_nobody_sees_are_not_kept(studio: Studio) -> None:
    folder = Path(os.environ.get("DOMSIEVE_DATA", "")) / "hidden"
    if "DOMSIEVE_DATA" not in os.environ or not folder.exists():
        pytest.skip("DOMSIEVE_DATA names no folder with hidden/")
    truth = json.loads((folder / "page.json").read_text("utf-8"))
    studio.server.pages["/dot.png"] = lambda handler: send(
        handler, DOT, headers={"Content-Type": "image/png"}
    )
    html = (folder / "hid.html").read_text("utf-8")
    page = studio.show(html, CaptureOptions(viewport_px=(1280, 800), pixels=True)).snapshot
    for hidden, most in MOST_KEPT.items():
        text = domsieve.clean(page, method="none", hidden=hidden).text
        kept = set(re.findall(r"Planted (\S+) sentence", text))
        invisible = {name for name in kept if truth.get(name) is False}
        assert len(invisible) <= most, (hidden, sorted(invisible))
