"""The pages of the tag path sequence paper as Snapshots, with their records and what the paper says of each."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from experiments.corpora.selecting import select_nodes


@dataclass(frozen=True, slots=True, eq=False)
class TpsSite:
    """One result page of a site.

    Parameters
    ----------
    name : the site.
    snapshot : the page, of N nodes.
    truth : the first node of each record, ascending, None where no selector finds them.
    targets : records that the page shows.
    table_1 : its row in Table I as numbers by column, None where it has none.
    """

    name: str
    snapshot: Snapshot
    truth: NDArray[np.int64] | None
    targets: int
    table_1: Mapping[str, int] | None


def read_tps(folder: Path) -> list[TpsSite]:
    """Return the sites in a folder with ``pages.zip`` and ``targets.json``, those of Table I first.

    Raises
    ------
    TargetError : the files are not there, or a selector does not find what they say.
    """
    try:
        entries = json.loads((folder / "targets.json").read_text("utf-8"))
        with zipfile.ZipFile(folder / "pages.zip") as archive:
            sources = [archive.read(entry["file"]) for entry in entries]
    except (OSError, LookupError, ValueError, zipfile.BadZipFile) as error:
        raise TargetError(f"'{folder}' does not hold the pages of Table I: {error}.") from error
    sites = []
    for entry, source in zip(entries, sources, strict=True):
        page = parse_html(source, url=entry["file"])
        truth = select_nodes(page, entry["record_xpath"]) if entry.get("record_xpath") else None
        if truth is not None and truth.size != entry["count_lxml"]:
            raise TargetError(
                f"The page of {entry['site']} has {truth.size} of {entry['count_lxml']} records."
            )
        sites.append(TpsSite(entry["site"], page, truth, entry["targets"], entry.get("table_i")))
    return sorted(sites, key=lambda site: site.table_1 is None)
