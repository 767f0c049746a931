"""The grids of sites and classes that pages are clustered and classified on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from domsieve.snapshot.page import Scalar
from experiments.corpora.class_grids import Grid, read_grid
from experiments.corpora.crossed import read_crossed
from experiments.frame.experiment import Inputs, Row, Task

SEED = 0
_MANUALS = ("docs-apache", "docs-postgresql", "docs-python", "docs-racket", "docs-rustbook")
_TEMPLATES = (
    "api-cppreference",
    "uci-ngs_ics_uci_edu",
    "uci-wics_ics_uci_edu",
    "uci-www_cs_uci_edu",
    "uci-www_informatics_uci_edu",
)
_DRAW = {"per_cell": 27, "least_words": 100, "most_words": 200, "seed": SEED}


@dataclass(frozen=True, slots=True)
class GridSource:
    """Where a grid comes from.

    Parameters
    ----------
    name : what it is called in the tables.
    read : reads it from its files.
    files : names of the sites.
    parameters : what shapes it beside the files.
    """

    name: str
    read: Callable[[Sequence[Path]], Grid]
    files: tuple[str, ...]
    parameters: tuple[tuple[str, Scalar], ...] = ()


def _crossed(files: Sequence[Path]) -> Grid:
    by_name = {file.stem: file for file in files}
    texts = {name.removeprefix("docs-"): by_name[name] for name in _MANUALS}
    return read_crossed(texts, [by_name[name] for name in _TEMPLATES], **_DRAW)


GRIDS = (
    GridSource(
        "api",
        partial(read_grid, classes=("collections", "concurrency", "io", "mathtime", "text")),
        ("api-cppreference", "api-fpc", "api-openjdk", "api-qt", "api-rust-std"),
    ),
    GridSource(
        "webkb",
        partial(read_grid, classes=("course", "faculty", "project", "student")),
        ("webkb-cornell", "webkb-texas", "webkb-washington"),
    ),
    GridSource("crossed", _crossed, (*_MANUALS, *_TEMPLATES), tuple(_DRAW.items())),
)

ABOUT = f"""\
Three grids stand in for the shops, all of raw HTML, cleaned site by site:

- *api*: five API references of five generators with five topics each, the topic given by the path of the page: 1,233
  pages. Most words are content already (main share 0.93 or more, but 0.62 on cppreference), and what is not, such as
  breadcrumbs, side lists and boxes of links, partly names the topic. Judge methods against the perfect cleaner here:
  a gain beyond it is not noise removed but common words of the content itself removed, or weighed down.
- *webkb*: hand-made pages of three universities of 1997 (733 pages) with little that repeats: course, faculty,
  project and student. Left out are *department* (one page per site), *staff* (three pages at Texas) and *other*,
  which is no class but the rest; these pages are learned from and not told apart. A page that is but a set of
  frames has no words.
- *crossed*: **a construction**, because no shops by product class are at hand. Texts of five manuals (Apache,
  PostgreSQL, Python, Racket, Rust: the classes) are set into real pages of five sites full of noise
  ({", ".join(_TEMPLATES)}): the main content of a page goes, with its title and byline, and the
  text takes its place, a paragraph per line. Texts below {_DRAW["least_words"]} words are left out, longer ones end
  after {_DRAW["most_words"]}; {_DRAW["per_cell"]} pages per class and site, each text and each page used once (seed
  {SEED}), {_DRAW["per_cell"] * len(_MANUALS) * len(_TEMPLATES)} pages. The noise is real, the classes are known, and
  neither tells of the other, which favours cleaning: on real sites noise often does tell of the class. All main
  content has the same plain shape, which favours methods that look at structure.

Vectors: counts of words, English stop words left out, no stemming, at unit length; *CST* sums the weights of words
instead (words of alternative texts and titles among them), and *any length* leaves their vectors as they are. *Paper*
is a method with the parameters of its paper. The SST paper chose its threshold t per site by eye: *t per site* takes
the best of five on ten pages of which the true text is known, and plain *paper* the same 0.2 everywhere. The *perfect
cleaner* has the true main text, which *webkb* does not know.
"""
"""What a reader of the figures must know of the grids and the vectors, as Markdown."""


def grid_tasks(
    inputs: Inputs, measure: Callable[[GridSource, Sequence[Path]], list[Row]], **parameters: Scalar
) -> list[Task]:
    """Return a task per grid; `parameters` are those of the experiment."""
    tasks = []
    for source in GRIDS:
        files = tuple(inputs.data / "sites" / f"{name}.zip" for name in source.files)
        tasks.append(
            Task(
                source.name, partial(measure, source, files), files, {**dict(source.parameters), **parameters}
            )
        )
    return tasks


GRID_FILES = tuple(sorted({f"sites/{name}.zip" for source in GRIDS for name in source.files}))
"""What the experiments on grids read, as paths below the folder of the corpora."""
