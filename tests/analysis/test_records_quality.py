"""Floors under the quality of record mining on labelled result pages, on the half that nothing was tuned on."""

import os
from pathlib import Path

import pytest

from domsieve.analysis.records.iepad import RepeatedPatterns
from domsieve.analysis.records.mdr import DataRegionMiner
from domsieve.analysis.records.wobm import WebObjectBlocks
from experiments.corpora.record_pages import halves, read_collection, score_records

pytestmark = [pytest.mark.data, pytest.mark.slow]


@pytest.mark.parametrize(("collection", "floor"), [("zhao1", 0.95), ("yamada", 0.88), ("zhao2", 0.94)])
def test_wobm_finds_the_records(collection: str, floor: float) -> None:
    folder = Path(os.environ.get("DOMSIEVE_DATA", "")) / "records" / collection
    if not folder.is_dir():
        pytest.skip("DOMSIEVE_DATA names no folder with records/")
    pages = halves(read_collection(folder))[1]
    miners = (WebObjectBlocks(), DataRegionMiner(), DataRegionMiner(similarity="tree"), RepeatedPatterns())
    wobm, *others = [score_records(pages, miner.transform).scores.f for miner in miners]
    assert wobm >= floor
    assert wobm > max(others)
