"""Which setting of the site style tree cleans sites best: chosen on half of the sites, reported on the other half."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.snapshot.page import Snapshot
from experiments.corpora.whole_sites import read_site, text_site_halves, without_neutral
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.tables import Table
from experiments.measures.papers import bootstrap_interval
from experiments.measures.word_scores import count_words, score

SEED = 0
DEFAULT = "default"
_HIGHEST_THRESHOLD = 0.5

Setting = Callable[[Sequence[Snapshot]], list[Verdict]]


def _tree(pages: Sequence[Snapshot], **parameters: float | str) -> list[Verdict]:
    return SiteStyleTree().set_params(**parameters).fit(pages).transform(pages)


def _of_share(pages: Sequence[Snapshot], *, share: float) -> list[Verdict]:
    """Clean with the threshold at which a feature on this share of the pages is noise: t = -ln(share) / ln m."""
    return _tree(pages, threshold=min(_HIGHEST_THRESHOLD, -math.log(share) / math.log(len(pages))))


SETTINGS: Mapping[str, Setting] = {
    DEFAULT: _tree,
    **{f"share of pages {share:g}": partial(_of_share, share=share) for share in (0.2, 0.25, 0.35, 0.4)},
    **{f"context {value:g}": partial(_tree, context=value) for value in (0.0, 4.0, 16.0)},
    **{f"rare_share {value:g}": partial(_tree, rare_share=value) for value in (0.0, 0.01, 0.05)},
    **{f"link_discount {value:g}": partial(_tree, link_discount=value) for value in (0.0, 0.75)},
    **{f"list_share {value:g}": partial(_tree, list_share=value) for value in (0.0, 0.1, 0.3)},
    **{f"local_noise {value:g}": partial(_tree, local_noise=value) for value in (0.0, 0.1)},
    "style none": partial(_tree, style="none"),
    "runs exact": partial(_tree, runs="exact"),
}
"""Settings that differ from the default in one parameter."""

PREFACE = """\
One parameter at a time around the default of the method `sst`: word F1 on the sites of `data/sites` with a main text,
neutral words left out as in the experiment on sites. Development is
every second site by name; what is chosen is chosen there, and the test half shows what it is worth. No record says
which half of the sites chose the parameters at first, so some test sites may have been seen then. An interval is that
of the mean difference to the default over sites, 95 %, bootstrap: where it holds 0, the two are not told apart.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per site."""
    return [
        Task(file.stem, partial(measure, file, half), (file,), {"half": half})
        for file, half in text_site_halves(inputs.data).items()
    ]


def measure(file: Path, half: str) -> list[Row]:
    """Return the row of a site: the mean F1 of its pages by setting."""
    site = read_site(file)
    truths = {page.name: count_words(page.truth) for page in site.pages if page.truth is not None}
    figures = {}
    for name, clean in SETTINGS.items():
        scores = []
        for group in site.groups():
            for page, verdict in zip(group, clean([page.snapshot for page in group]), strict=True):
                if page.name in truths:
                    text = write_text(page.snapshot, without_neutral(page, verdict))
                    scores.append(score(count_words(text), truths[page.name]).f1)
        figures[name] = round(fmean(scores), 5)
    return [{"site": site.name, "half": half, "f1": figures}]


def tables(rows: Sequence[Row]) -> list[Table]:
    """Return the means of every setting on both halves."""
    halves = [[row for row in rows if row["half"] == half] for half in ("development", "test")]
    lines: list[list[str | float]] = []
    for name in SETTINGS:
        line: list[str | float] = [name]
        for half in halves:
            gains = [row["f1"][name] - row["f1"][DEFAULT] for row in half]
            low, high = bootstrap_interval(gains, seed=SEED)
            line += [fmean(row["f1"][name] for row in half), f"{fmean(gains):+.4f} [{low:+.4f}, {high:+.4f}]"]
        lines.append(line)
    head = [f"{part} ({len(half)} sites)" for part, half in zip(("development", "test"), halves, strict=True)]
    return [
        Table(
            "Mean word F1 of settings of the site style tree",
            ("setting", head[0], "over the default", head[1], "over the default "),
            lines,
            digits=4,
        )
    ]


SETTINGS_EXPERIMENT = Experiment(
    "settings",
    "Settings of the site style tree",
    ("sites",),
    tasks,
    tables,
    None,
    PREFACE,
)
