"""What the benchmarks of quality share: word scores and tables."""

import argparse
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 of words, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def count_words(text: str, *, shortest: int = 1) -> Counter[str]:
    """Return the multiset of the words of `text` of at least `shortest` characters, in lower case."""
    return Counter(re.findall(rf"\w{{{shortest},}}", text.lower()))


def score(found: Counter[str], truth: Counter[str], *, complete_truth: Counter[str] | None = None) -> Score:
    """Return how well `found` gives `truth`; two empty texts agree.

    Where `truth` is known to lack words of the content, precision is against `complete_truth`.
    """
    precision = _share((found & (truth if complete_truth is None else complete_truth)).total(), found.total())
    recall = _share((found & truth).total(), truth.total())
    return Score(
        precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    )


def mean_score(scores: Collection[Score]) -> Score:
    """Return the mean over pages of each figure."""
    return Score(*(fmean(getattr(s, name) for s in scores) for name in ("precision", "recall", "f1")))


def command_line(description: str | None, *, data: str) -> argparse.ArgumentParser:
    """Return a parser with ``--data``, by default the folder `data` in the one that ``DOMSIEVE_DATA`` names."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    above = os.environ.get("DOMSIEVE_DATA")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(above, data) if above else None,
        required=not above,
        help=f"folder of the corpora; by default $DOMSIEVE_DATA/{data}",
    )
    return parser


def print_table(head: Sequence[str], rows: Iterable[tuple[str, Mapping[str, float]]]) -> None:
    """Print one Markdown row per name with its figures by column; a figure that is not there stays blank."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for name, figures in rows:
        values = [figures.get(column, "") for column in head[1:]]
        cells = [f"{value:.3f}" if isinstance(value, float) else str(value) for value in values]
        print(f"| {name} | " + " | ".join(cells) + " |")


def print_check(claim: str, exceptions: Collection[str]) -> None:
    """Print whether a claim holds, and where not."""
    print(f"{claim}: " + (f"no ({', '.join(exceptions)})" if exceptions else "yes"))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0
