"""What the shipped cleaner `auto` does on rendered sites, with and without what a browser knows of the layout."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.auto.model import SHIPPED
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.snapshot.page import Snapshot
from experiments.corpora.javascript_sites import SHORTEST, Route, read_routes
from experiments.experiments.javascript import rendered_corpora
from experiments.frame.experiment import Inputs, Row, Task
from experiments.measures.word_scores import count_words, mean_score, score


class _WithoutLayout(AutoCleaner):
    """Knows nothing that only a browser knows: not what floats, and no computed style in its tree."""

    def __init__(self) -> None:
        super().__init__(style="html")

    def floating(self, page: Snapshot, visible: NDArray[np.bool_]) -> NDArray[np.bool_]:  # noqa: ARG002
        """Return that nothing floats."""
        return np.zeros(len(page), np.bool_)


def _alone(pages: Sequence[Snapshot]) -> list[Verdict]:
    cleaner = AutoCleaner()
    return [cleaner.transform(page) for page in pages]


_SYSTEMS: dict[str, Callable[[Sequence[Snapshot]], Sequence[Verdict]]] = {
    "auto": lambda pages: AutoCleaner().fit_transform(pages),
    "page alone": _alone,
    "without layout": lambda pages: _WithoutLayout().fit_transform(pages),
    "sst": lambda pages: SiteStyleTree().fit_transform(pages),
}


def rendered_tasks(inputs: Inputs) -> list[Task]:
    """Return a task per corpus that is drawn by JavaScript, where there are npm packages."""
    modules = inputs.node_modules
    if modules is None:
        return []
    return [
        Task(f"rendered {corpus.name}", partial(measure_rendered, corpus, modules, kept), (*files, SHIPPED))
        for corpus, files, kept in rendered_corpora(inputs)
    ]


def measure_rendered(corpus: Path, node_modules: Path, kept: Path) -> list[Row]:
    """Return a row on a corpus; its site is learned from the pages that are cleaned."""
    routes = read_routes(corpus, node_modules, kept)
    pages = [route.page for route in routes]
    return [
        {
            "rendered": corpus.name,
            "routes": len(routes),
            "systems": {name: _scores(routes, clean(pages)) for name, clean in _SYSTEMS.items()},
        }
    ]


def _scores(routes: Sequence[Route], verdicts: Sequence[Verdict]) -> list[float]:
    """Return F1, precision and recall, means over the pages."""
    found = []
    for route, verdict in zip(routes, verdicts, strict=True):
        words: Counter[Any] = count_words(write_text(route.page, verdict), shortest=SHORTEST)
        found.append(score(words, route.truth, complete_truth=route.complete_truth))
    mean = mean_score(found)
    return [round(value, 4) for value in (mean.f1, mean.precision, mean.recall)]
