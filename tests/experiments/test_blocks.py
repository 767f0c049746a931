"""Noise blocks: what counts as a block, as noise and as found."""

import os
from pathlib import Path

import numpy as np
import pytest

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.verdict import Verdict
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from experiments.corpora.selecting import select_inside
from experiments.experiments.blocks import BLOCKS
from experiments.experiments.blocks import measure as measure_blocks
from experiments.measures.noise_blocks import NoiseCounts, count_noise, seen_texts

PAGE = """
<body>
 <div id=menu width=9><a>Home</a> <a>About us</a></div>
 <div id=main><h1>Title</h1><p>one two three four</p><p>five six</p></div>
 <p>Imprint</p><p hidden>never seen</p>
</body>
"""


def page() -> Snapshot:
    return parse_html(PAGE.encode(), url="page")


def keeping(snapshot: Snapshot, *selectors: str) -> Verdict:
    kept = select_inside(snapshot, selectors)
    return Verdict("some", kept, kept.astype(np.float32), kept.astype(np.uint8), ("dropped", "kept"))


def test_lines_and_boxes_hold_the_texts_that_can_be_seen() -> None:
    snapshot = page()
    texts = seen_texts(snapshot, np.zeros(len(snapshot), np.bool_))
    words = {unit: np.bincount(block, texts.words).tolist() for unit, block in texts.block.items()}
    assert words["line"] == [3, 1, 4, 2, 1]
    assert sorted(words["box"]) == [1, 3, 7]


def test_neutral_texts_count_nowhere() -> None:
    snapshot = page()
    texts = seen_texts(snapshot, select_inside(snapshot, ["h1"]))
    assert texts.words.sum() == 10


def test_noise_is_what_lies_mostly_outside_the_content() -> None:
    snapshot = page()
    texts = seen_texts(snapshot, np.zeros(len(snapshot), np.bool_))
    main = select_inside(snapshot, ["#main"])
    # Drops the menu and, wrongly, two lines of the content; the imprint stays.
    verdict = keeping(snapshot, "body > p", "h1", "#main p:last-child")
    blocks, words = count_noise(texts, main, verdict, unit="line")
    assert blocks == NoiseCounts(all=5, noise=2, mixed=0, detected=2, correct=1)
    assert words == NoiseCounts(all=11, noise=4, mixed=0, detected=7, correct=3)
    assert (blocks.precision, blocks.recall, blocks.f) == (0.5, 0.5, 0.5)
    boxes, _ = count_noise(texts, main, verdict, unit="box")
    assert boxes == NoiseCounts(all=3, noise=2, mixed=0, detected=2, correct=1)


def test_a_box_with_content_and_noise_is_mixed() -> None:
    snapshot = page()
    texts = seen_texts(snapshot, np.zeros(len(snapshot), np.bool_))
    boxes, words = count_noise(
        texts, select_inside(snapshot, ["p"]), NoCleaning().transform(snapshot), unit="box"
    )
    assert (boxes.mixed, boxes.noise, boxes.detected) == (1, 1, 0)
    assert words.mixed == 7
    assert boxes.precision is None
    assert boxes.recall == 0


def test_selectors_may_ask_for_any_attribute() -> None:
    snapshot = page()
    assert select_inside(snapshot, ['div[width="9"]']).sum() == 6


@pytest.mark.data
def test_sst_finds_the_noise_of_a_noisy_site() -> None:
    data = os.environ.get("DOMSIEVE_DATA")
    if not data:
        pytest.skip("DOMSIEVE_DATA does not name the folder of the corpora")
    rows = measure_blocks(Path(data) / "sites" / "uci-cml_ics_uci_edu.zip")
    found = {(row["method"], row["unit"]): row for row in rows}
    assert found["sst", "line"]["F"] > 0.95
    assert found["none", "line"]["R"] == 0
    assert found["entropy", "box"]["P"] > 0.7
    assert len(BLOCKS.tables(rows)) == 4
