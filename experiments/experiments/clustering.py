"""Clustering of pages by class after cleaning: 800 runs of k-means (CST and SST experiments)."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from experiments.corpora.class_grids import Unit
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.figures import COLOURS, new_panels
from experiments.frame.tables import Table
from experiments.measures.papers import assign_classes
from experiments.page_classes.clusters import cluster, draw_seeds
from experiments.page_classes.grids import ABOUT, GRID_FILES, SEED, GridSource, grid_tasks
from experiments.page_classes.vectors import NO_CLEANING, WEIGHTS, spaces

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RUNS = 800
ROUNDS = 100
HIGH, LOW = 0.7, 0.5
_STEPS = 50

PREFACE = f"""\
What differs from the papers: they clustered 5,469 pages of five shops by five kinds of product, and their pages are
lost. Their numbers and those below are not of one corpus; what can be compared is the order of the methods.

{ABOUT}
Protocol: k-means with as many clusters as classes, Euclidean, {RUNS} runs from distinct random pages (seed
{SEED}, the same draws for each cleaner), at most {ROUNDS} rounds; an empty cluster gets the farthest page. The score
of a run is the mean F of the classes under the best one-to-one assignment of classes to clusters. Site purity is the
share of pages that lie with the most frequent site of their cluster: where it is high, pages were clustered by site.

What comes of it: on *crossed* uncleaned pages cluster by site, as badly as can be (clusters that are the sites score
0.2 there), and cleaning turns that round, in the order that the SST paper gives: SST, template, no cleaning. With the
parameters of its paper SST only equals the template. SST comes close to the perfect cleaner, which itself is far from
1: there k-means on counts of words is the limit, not the noise. CST beats no cleaning by far and stays below the
template; the paper's parameters do better than those for today's sites. TPS, which keeps the one region that looks
most like a list of records, does not help. On *webkb* little repeats
and little changes; on *api* all scores are low, the perfect cleaner's too. CST does best there, beyond the perfect
cleaner, perhaps because it also weighs down words that the content of a site repeats. *Any length* lets the longest
pages have clusters of their own: vectors have to be of unit length.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per grid."""
    return grid_tasks(inputs, measure, runs=RUNS, rounds=ROUNDS, draws=SEED)


def measure(source: GridSource, files: Sequence[Path], *, runs: int = RUNS) -> list[Row]:
    """Return a row per cleaner on a grid."""
    grid = source.read(files)
    units = grid.units()
    seeds = draw_seeds(len(units), len({name for _, name in units}), runs=runs, seed=SEED)
    rows: list[Row] = []
    for space in spaces(grid):
        scores, purity = score_runs(cluster(space.gram, seeds, most_rounds=ROUNDS), units)
        steps = np.minimum((scores * _STEPS).astype(np.int64), _STEPS - 1)
        rows.append(
            {
                "corpus": source.name,
                "cleaner": space.name,
                "pages": len(units),
                "words": float(space.vectors.sum()) / len(units),
                "mean F": float(scores.mean()),
                "high": float((scores > HIGH).mean()),
                "low": float((scores < LOW).mean()),
                "site purity": float(purity.mean()),
                "histogram": np.bincount(steps, minlength=_STEPS).tolist(),
            }
        )
    return rows


def score_runs(
    labels: NDArray[np.int64], units: Sequence[Unit]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean F of the classes and the site purity of each of R runs, both (R,), in [0, 1].

    Parameters
    ----------
    labels : (R, P), the cluster of each page.
    units : the site and the class of each page; there are as many clusters as classes.
    """
    sites, classes = (np.unique(names, return_inverse=True)[1] for names in zip(*units, strict=True))
    clusters = int(classes.max()) + 1
    scores, purity = np.zeros(len(labels)), np.zeros(len(labels))
    for run, label in enumerate(labels):
        by_class, by_site = (
            np.bincount(label * count + kind, minlength=clusters * count).reshape(clusters, count)
            for kind, count in ((classes, clusters), (sites, int(sites.max()) + 1))
        )
        scores[run] = assign_classes(by_class).mean_f
        purity[run] = by_site.max(axis=1).sum() / len(units)
    return scores, purity


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the figures of the CST paper, and a table per grid."""
    figures = ("mean F", f"share of runs with F > {HIGH}", f"F < {LOW}")
    return [
        Table(
            "The CST paper: five shops, 5,469 pages",
            ("cleaner", *figures),
            [["no cleaning", 0.506, 0.005, 0.476], ["CST", 0.756, 0.844, 0.046]],
            "The values of the SST paper are not recoverable; its order is SST, template, no cleaning.",
        ),
        *(
            Table(
                f"{corpus}: {group[0]['pages']:,} pages",
                ("cleaner", *figures, "site purity", "words or weights per page"),
                [
                    [r["cleaner"], r["mean F"], r["high"], r["low"], r["site purity"], round(r["words"])]
                    for r in group
                ],
            )
            for corpus, group in _by_corpus(rows)
        ),
    ]


def figure(rows: Sequence[Row]) -> "Figure":
    """Return how the scores of the runs are distributed, a panel per grid."""
    shown = (NO_CLEANING, "template, k = 3", "SST", WEIGHTS, "entropy", "TPS", "perfect cleaner")
    corpora = _by_corpus(rows)
    drawn, panels = new_panels(len(corpora), width=4 * len(corpora), height=4)
    for axes, (corpus, group) in zip(panels, corpora, strict=True):
        for name, colour in zip(shown, COLOURS, strict=False):
            for row in group:
                if row["cleaner"] == name:
                    counts = np.array(row["histogram"]) / sum(row["histogram"])
                    axes.stairs(counts, np.linspace(0, 1, len(counts) + 1), color=colour, label=name)
        axes.set(title=corpus, xlabel="mean F of the classes", xlim=(0, 1))
    panels[0].set_ylabel("share of runs")
    handles = {
        text: line for axes in panels for line, text in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    drawn.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles), frameon=False
    )
    return drawn


def _by_corpus(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    return [(name, list(group)) for name, group in groupby(rows, key=lambda row: str(row["corpus"]))]


CLUSTERING = Experiment(
    "clustering",
    "Clustering of pages by class, site by site cleaned",
    GRID_FILES,
    tasks,
    tables,
    figure,
    PREFACE,
)
