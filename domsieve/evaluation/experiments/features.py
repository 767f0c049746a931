"""How well single pages are cleaned by block features, and the weights that come with the program."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import msgspec
import numpy as np

from domsieve.analysis import BlockFeatures, FeatureWeights, content_probabilities
from domsieve.evaluation.corpora.wcxb_pages import page_files, read_page
from domsieve.evaluation.frame.experiment import Experiment, Inputs, Row, Task
from domsieve.evaluation.frame.tables import Table
from domsieve.evaluation.systems.feature_learning import (
    FOLDS,
    LabelledBlocks,
    fold_of,
    label_blocks,
    learn_weights,
)
from domsieve.files import write_file

THRESHOLDS = (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6)
WEIGHTS_FILE = "feature_weights.json"

PREFACE = f"""\
The method `features` weighs what a block of text and its surroundings look like. Its weights are learned on half of
the domains of the development split of WCXB, those whose SHA-256 begins with an even byte. A block is content when it
is in the choice of blocks that gives the page the highest word F1. The threshold was chosen by cross-validation over
{FOLDS} parts of the development half, by domain. Pages with an empty reference are in these figures.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return the one task: all pages are read once."""
    measured = partial(measure, inputs.data, inputs.output / WEIGHTS_FILE)
    return [Task("weights", measured, (inputs.data / "wcxb" / "dev",), {"folds": FOLDS})]


def measure(data: Path, file: Path) -> list[Row]:
    """Return the F1 by half and threshold and the weights, and write the weights to a file."""
    pages = [label_blocks(read_page(*pair)) for pair in page_files(data)]
    development = [page for page in pages if page.half == "development"]
    test = [page for page in pages if page.half == "test"]
    parts = [[page for page in development if fold_of(page.domain) == fold] for fold in range(FOLDS)]
    crossed = [
        (page, weights)
        for fold, part in enumerate(parts)
        for weights in [learn_weights([p for other in range(FOLDS) if other != fold for p in parts[other]])]
        for page in part
    ]
    learned = learn_weights(development)
    write_file(file, msgspec.json.format(msgspec.json.encode(learned), indent=1) + b"\n", what="The weights")
    halves = {
        "development, cross-validated": crossed,
        "test": [(page, learned) for page in test],
    }
    rows: list[Row] = []
    for half, judged in halves.items():
        for threshold in THRESHOLDS:
            scores = [_f1(page, weights, threshold) for page, weights in judged]
            rows.append(
                {"half": half, "pages": len(judged), "threshold": threshold, "f1": round(fmean(scores), 4)}
            )
    rows.append({"learned": msgspec.to_builtins(learned), "difference": _difference(test, learned)})
    return rows


def _f1(page: LabelledBlocks, weights: FeatureWeights, threshold: float) -> float:
    return page.words.f1(content_probabilities(page.figures, weights) >= threshold)


def _difference(pages: Sequence[LabelledBlocks], learned: FeatureWeights) -> float:
    """Return by how much the probabilities of the shipped weights differ at most from those just learned."""
    return round(
        max(
            float(
                np.abs(content_probabilities(p.figures) - content_probabilities(p.figures, learned)).max(
                    initial=0
                )
            )
            for p in pages
        ),
        4,
    )


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return F1 by threshold, and the weights."""
    scored = [row for row in rows if "half" in row]
    last = rows[-1]
    halves = list(dict.fromkeys(row["half"] for row in scored))
    shipped = BlockFeatures().threshold
    weights = sorted(last["learned"]["weights"].items(), key=lambda item: -abs(item[1]))
    return [
        Table(
            "Mean word F1 by threshold",
            ("half", "pages", *(f"{t:g}" for t in THRESHOLDS)),
            [
                (
                    half,
                    next(r["pages"] for r in scored if r["half"] == half),
                    *(r["f1"] for r in scored if r["half"] == half),
                )
                for half in halves
            ],
            f"The default is {shipped:g}. Probabilities by the weights that come with the program differ from those "
            f"of the weights learned here by at most {last['difference']:g}.",
        ),
        Table("The twenty largest weights", ("figure", "weight"), weights[:20]),
    ]


FEATURES = Experiment(
    "features",
    "How block features were learned",
    ("wcxb",),
    tasks,
    tables,
    None,
    PREFACE,
)
