"""The gate's samples and floors: what a change may not make worse without saying so.

    python -m tests.experiments.gate DATA [--lower "WORD"]

measures every sample and raises the floors in ``floors.json`` to it, less `SLACK`. A figure that fell below its floor
is an error, and lowers it only with a word of why, which stays beside the floor. Samples are of development halves
where there are any, and pinned by a digest of the files they are of.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.records.result import Records
from domsieve.analysis.writers.text import write_text
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from experiments.corpora.record_pages import halves, read_collection, score_records
from experiments.corpora.tps_pages import read_tps
from experiments.corpora.wcxb_pages import page_files, read_page
from experiments.corpora.whole_sites import read_site, without_neutral
from experiments.experiments.records import METHODS as MINERS
from experiments.experiments.table_1 import measure_site, noise_of
from experiments.frame.journal import digest_of
from experiments.measures.noise_blocks import NoiseCounts, count_noise, seen_texts
from experiments.measures.word_scores import count_words, score
from experiments.systems.cleaners import CLEANERS, PAGE_CLEANERS

FLOORS = Path(__file__).with_name("floors.json")
SLACK = 0.005
Figures = dict[str, float]


def of_site(name: str, pages: int) -> Callable[[Path], Figures]:
    """Return what measures word F1, and F of noise blocks where there are selectors, on the first pages of a site."""

    def measure(data: Path) -> Figures:
        site = read_site(data / "sites" / f"{name}.zip").groups()[0][:pages]
        figures = {}
        for method, clean in CLEANERS.items():
            verdicts = clean([page.snapshot for page in site])
            pairs = list(zip(site, verdicts, strict=True))
            figures[f"{method} F1"] = fmean(
                score(
                    count_words(write_text(page.snapshot, without_neutral(page, verdict))),
                    count_words(page.truth or ""),
                ).f1
                for page, verdict in pairs
            )
            if site[0].main is not None and method != "none":
                counts = [
                    count_noise(seen_texts(page.snapshot, page.neutral), page.main, verdict, unit="box")[0]
                    for page, verdict in pairs
                    if page.main is not None
                ]
                figures[f"{method} noise F"] = sum(counts, NoiseCounts()).f or 0.0
        return figures

    return measure


def of_wcxb(data: Path) -> Figures:
    """Return word F1 on the first 80 pages of the development half."""
    pages = [read_page(*pair) for pair in page_files(data)[:170]]
    pages = [page for page in pages if page.half == "development"][:80]
    found: dict[str, list[float]] = {name: [] for name in PAGE_CLEANERS}
    for page in pages:
        snapshot = parse_html(page.source, url=page.name, encoding="utf-8")
        for name, clean in PAGE_CLEANERS.items():
            text = write_text(snapshot, clean([snapshot])[0])
            found[name].append(score(count_words(text), count_words(page.truth)).f1)
    return {f"{name} F1": fmean(values) for name, values in found.items()}


def of_collection(name: str) -> Callable[[Path], Figures]:
    """Return what measures F1 of records on the first 20 pages of the development half of a collection."""

    def measure(data: Path) -> Figures:
        pages = halves(read_collection(data / "records" / name))[0][:20]
        chosen: Mapping[str, Callable[[Snapshot], Records]] = {
            miner: MINERS[miner] for miner in ("WOBM", "WOBM paper", "MDR (edit)", "IEPAD")
        }
        return {f"{miner} F1": score_records(pages, mine).scores.f for miner, mine in chosen.items()}

    return measure


def of_table_1(data: Path) -> Figures:
    """Return the share of sites with their content, of nodes pruned, and of noise removed, on Table I."""
    rows = [measure_site(site) for site in read_tps(data / "tps") if site.table_1 is not None]
    noise = [share for row in rows if (share := noise_of(row)) is not None]
    return {
        "content as in the paper": fmean(row["present"] == row["paper"]["content_present"] for row in rows),
        "nodes pruned": fmean(1 - row["pruned_nodes"] / row["nodes"] for row in rows),
        "noise removed": fmean(noise) / 100,
    }


def of_classes(data: Path) -> Figures:
    """Return the share of the words of hand-made pages, with little template, that methods keep."""
    site = read_site(data / "sites" / "webkb-texas.zip")
    pages = [page.snapshot for page in site.pages[::8]]
    whole = [count_words(write_text(page, NoCleaning().transform(page))).total() for page in pages]
    figures = {}
    for method in ("sst", "cst", "template"):
        kept = [
            count_words(write_text(page, verdict)).total()
            for page, verdict in zip(pages, CLEANERS[method](pages), strict=True)
        ]
        figures[f"{method} words kept"] = sum(kept) / sum(whole)
    return figures


SAMPLES: Mapping[str, tuple[str, Callable[[Path], Figures]]] = {
    "uci-www_cs_uci_edu": ("sites/uci-www_cs_uci_edu.zip", of_site("uci-www_cs_uci_edu", 40)),
    "docs-racket": ("sites/docs-racket.zip", of_site("docs-racket", 30)),
    "api-rust-std": ("sites/api-rust-std.zip", of_site("api-rust-std", 30)),
    "news-foxnews": ("sites/news-foxnews.zip", of_site("news-foxnews", 10)),
    "webkb-texas": ("sites/webkb-texas.zip", of_classes),
    "wcxb": ("wcxb/dev", of_wcxb),
    "zhao1": ("records/zhao1", of_collection("zhao1")),
    "yamada": ("records/yamada", of_collection("yamada")),
    "tps": ("tps", of_table_1),
}
"""What is measured, by name: the files below the folder of the corpora that it is of, and what measures it."""


def digest_of_sample(data: Path, name: str) -> str:
    """Return the digest of the files that a sample is of."""
    return digest_of((data / SAMPLES[name][0],))


def read_floors() -> dict[str, Any]:
    """Return the floors: by sample the digest, and by figure the floors so far, the last one in force."""
    floors: dict[str, Any] = json.loads(FLOORS.read_text("utf-8")) if FLOORS.exists() else {}
    return floors


def moved_floors(floors: list[dict[str, Any]], found: float, word: str | None) -> list[dict[str, Any]]:
    """Return the floors of a figure after it was found to be `found`.

    Raises
    ------
    ValueError : it fell below its floor and there is no word of why.
    """
    least = round(found - SLACK, 4)
    if not floors:
        return [{"floor": least}]
    if found >= floors[-1]["floor"]:
        return floors if least <= floors[-1]["floor"] else [*floors[:-1], {**floors[-1], "floor": least}]
    if not word:
        raise ValueError(f"fell to {found:.4f}, below its floor {floors[-1]['floor']}")
    return [*floors, {"floor": least, "word": word}]


def main() -> int:
    """Measure, and write the floors; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--lower", metavar="WORD", help="why floors are lowered")
    arguments = parser.parse_args()
    floors, fallen = read_floors(), 0
    for name, (_, measure) in SAMPLES.items():
        known = floors.setdefault(name, {"digest": "", "floors": {}})
        known["digest"] = digest_of_sample(arguments.data, name)
        for figure, found in measure(arguments.data).items():
            try:
                known["floors"][figure] = moved_floors(
                    known["floors"].get(figure, []), found, arguments.lower
                )
            except ValueError as error:
                fallen += 1
                print(f"{name}, {figure}: {error}", file=sys.stderr)
    FLOORS.write_text(json.dumps(floors, indent=1) + "\n", encoding="utf-8", newline="\n")
    return int(fallen > 0)


if __name__ == "__main__":
    sys.exit(main())
