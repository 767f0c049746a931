"""Shards are made of the pages at hand, for the workers at hand."""

from pathlib import Path

import pytest

from domsieve.bulk.page_list import members_of
from domsieve.bulk.plan import MOST_PER_SHARD, Counted, pages_per_shard
from domsieve.bulk.runs import Progress
from domsieve.errors import UsageError
from tests.bulk.made import cleaned, digest_of, rows_of, stamps, write_sites


@pytest.mark.parametrize(("pages", "workers"), [(248, 2), (2_000, 2), (2_000, 16), (50_000, 4)])
def test_all_workers_have_work_to_the_end(pages: int, workers: int) -> None:
    each = pages_per_shard(pages, workers)
    assert each <= MOST_PER_SHARD
    assert pages / each >= 4 * workers


def test_few_pages_are_not_divided_page_by_page() -> None:
    assert pages_per_shard(12, 8) == pages_per_shard(0, 8) == 10


def test_without_a_number_of_workers_shards_are_as_large_as_they_may_be() -> None:
    assert pages_per_shard(1_000, None) == MOST_PER_SHARD


def test_pages_are_counted_before_they_are_divided(tmp_path: Path) -> None:
    words = [str(write_sites(tmp_path / "in", sites=2, pages=3))]
    with Counted(members_of(words)) as pages:
        assert len(pages) == 6
        assert [*pages] == [*pages] == [*members_of(words)]


def test_shards_made_for_workers_change_no_row(tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "in")
    cleaned(tmp_path / "one", [sites], per_shard=100)
    assert cleaned(tmp_path / "many", [sites], per_shard=None, workers=2).made == 3
    assert digest_of(tmp_path / "many") == digest_of(tmp_path / "one")


def test_a_run_goes_on_with_its_shards_whatever_the_number_of_workers(tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "in", sites=8)
    assert cleaned(tmp_path / "out", [sites], per_shard=None, workers=1).made == 6
    there = sorted((tmp_path / "out").glob("part-*"))
    there[2].unlink()
    before = stamps(tmp_path / "out")
    again = cleaned(tmp_path / "out", [sites], per_shard=None, workers=64)
    assert (again.made, again.kept) == (1, 5)
    assert stamps(tmp_path / "out").items() >= before.items()
    assert len(rows_of(tmp_path / "out")) == 56
    with pytest.raises(UsageError):
        cleaned(tmp_path / "out", [sites], per_shard=9)


def test_progress_counts_pages(tmp_path: Path) -> None:
    states: list[Progress] = []
    sites = write_sites(tmp_path / "in")
    cleaned(tmp_path / "out", [sites], per_shard=None, workers=1, tell=states.append)
    assert {state.pages for state in states} == {28}
    assert [state.ended_pages for state in states if state.event and state.event.what == "done"] == [
        10,
        20,
        28,
    ]
