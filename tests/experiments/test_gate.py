"""The gate: small samples of every corpus against pinned floors, and the rules of lowering one."""

import os
from pathlib import Path

import pytest

from tests.experiments.gate import SAMPLES, SLACK, digest_of_sample, moved_floors, read_floors

LEAST_WORD = 20


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_no_figure_is_below_its_floor(name: str) -> None:
    where, measure = SAMPLES[name]
    data = Path(os.environ.get("DOMSIEVE_DATA", ""))
    if not os.environ.get("DOMSIEVE_DATA") or not (data / where).exists():
        pytest.skip(f"DOMSIEVE_DATA names no folder with {where}")
    pinned = read_floors()[name]
    if digest_of_sample(data, name) != pinned["digest"]:
        pytest.skip(f"{where} is another version of the corpus than the floors were pinned on")
    figures = measure(data)
    assert figures.keys() == pinned["floors"].keys()
    fallen = {
        figure: (found, pinned["floors"][figure][-1]["floor"])
        for figure, found in figures.items()
        if found < pinned["floors"][figure][-1]["floor"]
    }
    assert not fallen


def test_every_sample_has_floors() -> None:
    assert read_floors().keys() == SAMPLES.keys()


def test_a_floor_was_lowered_only_with_a_word() -> None:
    for sample in read_floors().values():
        for floors in sample["floors"].values():
            assert all(len(floor.get("word", "")) >= LEAST_WORD for floor in floors[1:])


class TestMovedFloors:
    def test_rise_with_the_figure(self) -> None:
        assert moved_floors([], 0.9, None) == [{"floor": pytest.approx(0.9 - SLACK)}]
        assert moved_floors([{"floor": 0.8}], 0.9, None) == [{"floor": pytest.approx(0.9 - SLACK)}]

    def test_stay_where_the_figure_is_a_little_above(self) -> None:
        assert moved_floors([{"floor": 0.9}], 0.901, None) == [{"floor": 0.9}]

    def test_fall_only_with_a_word_which_is_kept(self) -> None:
        with pytest.raises(ValueError, match="below its floor"):
            moved_floors([{"floor": 0.9}], 0.8, None)
        assert moved_floors([{"floor": 0.9}], 0.8, "why")[1] == {"floor": pytest.approx(0.795), "word": "why"}
