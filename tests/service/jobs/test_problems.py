"""What is told of a job that failed."""

from pathlib import Path

import pytest

from domsieve.errors import StorageError
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_values import problem_of


def without_room_for_files() -> None:
    """Write to a disk that is always full."""
    try:
        Path("/dev/full").write_bytes(b"a")
    except OSError as error:
        raise StorageError("The cache file /srv/data/a cannot be written.") from error


def without_room_for_rows(folder: Path) -> None:
    """Write to a database that may not grow."""
    with Database(folder / "jobs.sqlite") as database:
        (pages,) = database.run("PRAGMA page_count")[0]
        database.run(f"PRAGMA max_page_count = {pages}")
        database.run("CREATE TABLE large (a)")
        database.run("INSERT INTO large VALUES (zeroblob(1000000))")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk here is always full")
def test_a_full_disk_is_told_without_its_paths(tmp_path: Path) -> None:
    for fill in (without_room_for_files, lambda: without_room_for_rows(tmp_path)):
        with pytest.raises(StorageError) as raised:
            fill()
        problem = problem_of(raised.value)
        assert problem["detail"] == "The disk of the service is full."
        assert (problem["fault"], problem["retry"]) == ("service", True)


def test_other_faults_of_files_are_for_the_log(tmp_path: Path) -> None:
    (tmp_path / "jobs.sqlite").write_text("This is no database.", encoding="utf-8")
    with pytest.raises(StorageError) as raised:
        Database(tmp_path / "jobs.sqlite")
    detail = problem_of(raised.value)["detail"]
    assert "its log says what" in detail
    assert str(tmp_path) not in detail
