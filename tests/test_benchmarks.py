"""The benchmarks' figures in their README: where they are written, and that all together take no longer than said."""

import pytest

from benchmarks.everything import LIMITS_S, README, call
from benchmarks.printing import between


def test_new_figures_take_the_place_of_the_old_and_of_nothing_else() -> None:
    text = "above\n<!-- a -->\n\nold\n\n<!-- end of a -->\n<!-- b -->\n\nother\n\n<!-- end of b -->\n"
    once = between(text, "a", "new\n")
    assert once == text.replace("old", "new")
    assert between(once, "a", "old") == text


def test_figures_without_a_place_are_not_lost_in_silence() -> None:
    with pytest.raises(ValueError, match="no place"):
        between("<!-- a -->\n", "a", "new")


def test_every_benchmark_of_the_whole_run_has_a_place() -> None:
    text = README.read_text("utf-8")
    for name in LIMITS_S:
        assert between(text, name, "figures") != text
        assert call(name, README.parent, 40, 3, [])[0].startswith("benchmarks.")


def test_the_whole_run_takes_at_most_25_minutes() -> None:
    assert sum(LIMITS_S.values()) <= 25 * 60
