"""Write a file per page from the Parquet parts of a run, when all pages and so all names are known."""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from domsieve.analysis.writers.formats import PAGE_FORMATS
from domsieve.bulk._places import Place, place_at
from domsieve.bulk.clean_job import CleanJob
from domsieve.errors import UsageError
from domsieve.snapshot.page import Provenance
from domsieve.tasks.file_names import PageKey
from domsieve.tasks.output import ResultFolder, encoded

PARTS = "_parts"
"""The subfolder of the parts that the files are written from."""
_ROWS_AT_ONCE = 256
_NAMED = ["page", "url"]
_WRITTEN = [*_NAMED, "text", "captured_at", "expected_f1"]


def parts_of(folder: str) -> str:
    """Return the place of the parts for a folder of files.

    Raises
    ------
    UsageError : it is not a folder of this machine.
    """
    if "://" in folder:
        raise UsageError(f"{folder}: files are written to folders of this machine.", parameter="output_dir")
    return str(Path(folder, PARTS))


def write_files(job: CleanJob, folder: Path) -> Iterator[Path | None]:
    """Write the files of all pages and their manifest, and yield for each page None, or its file if that was kept.

    Files that a user has edited or added are kept, see `domsieve.tasks.page_folder`.

    Parameters
    ----------
    job : the job that has written the parts.
    folder : where the files go.

    Raises
    ------
    StorageError : a file cannot be written, or the folder cannot be used.
    """
    place = place_at(job.output)
    # Files from disk are named after their paths below the folder that all of them are in.
    folders = {
        os.path.normpath(Path(row["page"]).absolute().parent) for row in _rows(place, _NAMED) if _is_path(row)
    }
    common = os.path.commonpath(folders) if folders else ""
    with ResultFolder(folder, PAGE_FORMATS[job.text]) as results:
        results.expect(key for key, _ in _keyed(place, _NAMED, common))
        for key, row in _keyed(place, _WRITTEN, common):
            origin = Provenance(
                url=key[0], final_url=row["url"], producer="raw", captured_at=row["captured_at"] or ""
            )
            yield results.write(key, encoded(row["text"]), origin, expected_f1=row["expected_f1"])


def _keyed(place: Place, columns: list[str], common: str) -> Iterator[tuple[PageKey, dict[str, Any]]]:
    captures: Counter[str] = Counter()
    for row in _rows(place, columns):
        name = os.path.relpath(row["page"], common or ".") if _is_path(row) else row["url"]
        captures[name] += 1
        yield (name, captures[name]), row


def _is_path(row: dict[str, Any]) -> bool:
    """Return whether a page is a file, and not from a store or an archive, which label pages with addresses."""
    page, url = row["page"], row["url"]
    return bool(page != url and not ("#" in page and page.endswith(f" {url}"))) or "://" not in url


def _rows(place: Place, columns: list[str]) -> Iterator[dict[str, Any]]:
    from pyarrow import parquet

    for name in sorted(name for name in place.names() if name.startswith("part-")):
        with place.opened(name) as file, parquet.ParquetFile(file) as part:
            for batch in part.iter_batches(_ROWS_AT_ONCE, columns=columns):
                yield from batch.to_pylist()
