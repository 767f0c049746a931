"""How the cleaner `auto` is learned, and what it does on pages and sites that it has not learned from."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.auto.cleaner import with_site
from domsieve.analysis.auto.context_features import MeasuredBlocks
from domsieve.analysis.auto.model import SHIPPED, write_model
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.files import write_file
from experiments.corpora.main_elements import MainPage, draw_from_sites
from experiments.corpora.origins import Language
from experiments.corpora.whole_sites import in_drawn_order, read_site, text_site_halves
from experiments.experiments.auto_documents import (
    main_pages,
    measure_documents,
    measure_site_documents,
    single_pages,
)
from experiments.experiments.auto_rendered import rendered_tasks
from experiments.experiments.auto_tables import GRID, PREFACE, calibration_by, tables
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.summary import Answer
from experiments.measures.word_scores import Score, count_words, score
from experiments.systems.auto_learning import (
    SEED,
    UNCALIBRATED,
    LearningPage,
    Lessons,
    PageModel,
    chosen,
    evidence_of,
    learn_pages,
    model_of,
    part_of,
    with_segments,
)
from experiments.systems.peers import PEER_PACKAGES, PEERS, extract

FOLDS = 5
SITE_PAGES = 24
"""Pages of a site that are learned from and measured, the first by the hash of their names; its tree knows all."""
FEW_PAGES = 8
"""Of how many pages a site is learned when few are known."""
MODEL_FILE = "auto_model.zst"
PERMITTED = ("api-", "docs-")
"""How the names of the sites begin that the model may be learned from; the licences of the others forbid it."""
LEFT_OUT: tuple[Language, ...] = ("German", "French", "Chinese")
"""Languages that are left out one by one. Without English, hardly any page would be left."""
_ABLATED = ("names", "words", "head")
_EXTRACTORS = ("trafilatura", "resiliparse", "jusText", "boilerpy3")
_BETAS = {"balance": None, "precision": 0.5, "F1": 1.0, "recall": 2.0}


def tasks(inputs: Inputs) -> list[Task]:
    """Return tasks: single pages and the model that is shipped, whole sites, and each rendered one."""
    data = inputs.data
    files = (data / "wcxb" / "dev", data / "magic", data / "trafilatura", data / "sites")
    common = {"seed": SEED, "site_pages": SITE_PAGES}
    return [
        Task(
            "pages",
            partial(measure_pages, data, inputs.output / MODEL_FILE),
            files,
            {"folds": FOLDS, **common},
        ),
        Task("sites", partial(measure_sites, data), files, common),
        Task("languages", partial(measure_languages, data), files, common),
        Task("ablations", partial(measure_ablations, data), files, {"folds": FOLDS, **common}),
        *rendered_tasks(inputs),
    ]


def measure_pages(data: Path, file: Path) -> list[Row]:
    """Return a row per single page, judged by what was learned without its domain, and learn the shipped model.

    The model is written to `file`; the last row says whether it is the one that is shipped.
    """
    pages, peers = _learning_pages(data)
    sites = [page for site in _permitted(data) for page in site]
    mains = main_pages(data)
    rows: list[Row] = []
    documents: list[Row] = []
    for fold in range(FOLDS):
        learned = learn_pages([page for page in pages if part_of(page.group, FOLDS, "fold") != fold] + sites)
        held = [page for page in pages if part_of(page.group, FOLDS, "fold") == fold]
        rows += [
            {**_judged(page, learned), "fold": fold, "peers": peers[page.name]}
            for page in held
            if page.name in peers
        ]
        sources = (one for one in single_pages(data) if part_of(one.domain, FOLDS, "fold") == fold)
        documents += measure_documents(sources, model_of(learned, UNCALIBRATED), mains)
    found = write_model(model_of(learn_pages(pages + sites), calibration_by(rows)))
    write_file(file, found, what="The model")
    same = SHIPPED.exists() and SHIPPED.read_bytes() == found
    about = {"model": hashlib.sha256(found).hexdigest(), "bytes": len(found), "shipped": same}
    return [*rows, *documents, about]


def measure_languages(data: Path) -> list[Row]:
    """Return a row per single page in some languages, judged by what was learned without pages in its language."""
    pages, _ = _learning_pages(data, peers=False)
    sites = [page for site in _permitted(data) for page in site]
    rows: list[Row] = []
    for language in LEFT_OUT:
        learned = learn_pages([page for page in pages if page.language != language] + sites)
        sources = (one for one in single_pages(data) if one.language == language)
        rows += [
            {"left_out": language, **row}
            for row in measure_documents(sources, model_of(learned, UNCALIBRATED), {})
        ]
    return rows


def measure_ablations(data: Path) -> list[Row]:
    """Return a row per single page of WCXB, judged by what was learned without its domain and a group of figures."""
    pages, _ = _learning_pages(data, peers=False)
    sites = [page for site in _permitted(data) for page in site]
    rows: list[Row] = []
    for fold in range(FOLDS):
        lessons = Lessons.of([page for page in pages if part_of(page.group, FOLDS, "fold") != fold] + sites)
        learned = {group: lessons.learned(without=group) for group in ("", *_ABLATED)}
        for page in pages:
            if page.corpus == "wcxb" and part_of(page.group, FOLDS, "fold") == fold:
                scores = {
                    group: round(_score(page, chosen(page, one.log_odds(page)).kept).f1, 4)
                    for group, one in learned.items()
                }
                rows.append({"ablated": page.name, "kind": page.kind, "without": scores})
    return rows


def measure_sites(data: Path) -> list[Row]:
    """Return a row per whole site, judged by what was learned without it, at each step of `GRID`."""
    singles, _ = _learning_pages(data, peers=False)
    permitted = {site[0].group: site for site in _permitted(data)}
    files = text_site_halves(data)
    learned = learn_pages(singles + [page for site in permitted.values() for page in site])
    drawn = draw_from_sites(data)
    rows: list[Row] = []
    for file in files:
        pages = permitted.get(file.stem)
        if pages is None:
            rows += _judged_site(file, _site_pages(file), learned, drawn)
        else:
            rest = [page for other, held in permitted.items() if other != file.stem for page in held]
            rows += _judged_site(file, pages, learn_pages(singles + rest), drawn)
    return rows


def _learning_pages(
    data: Path, *, peers: bool = True
) -> tuple[list[LearningPage], dict[str, dict[str, float]]]:
    """Return all single pages with their labels, and the word F1 of other extractors by page."""
    pages, found = [], {}
    for one in single_pages(data):
        snapshot = one.parsed()
        page = evidence_of(
            snapshot,
            one.truth,
            corpus=one.corpus,
            group=one.domain,
            name=one.name,
            kind=one.kind,
            language=one.language,
        )
        if one.corpus == "trafilatura":
            texts = MeasuredBlocks.of(snapshot, page_blocks(snapshot)).text
            page = with_segments(page, texts, one.wanted, one.unwanted)
        elif peers:
            html, truth = one.source.decode("utf-8", "replace"), count_words(one.truth)
            found[one.name] = {
                name: round(score(count_words(extract(PEERS[name], html).text), truth).f1, 4)
                for name in _EXTRACTORS
            }
        pages.append(page)
    return pages, found


def _permitted(data: Path) -> list[list[LearningPage]]:
    return [_site_pages(file) for file in text_site_halves(data) if file.name.startswith(PERMITTED)]


def _site_pages(file: Path) -> list[LearningPage]:
    """Return pages of a site with the verdict of its style tree; each era of a site is one of its own."""
    site = read_site(file)
    found: list[LearningPage] = []
    groups = site.groups()
    for group in groups:
        tree = SiteStyleTree().fit([page.snapshot for page in group])
        drawn = in_drawn_order(group)
        few = SiteStyleTree().fit([page.snapshot for page in drawn[:FEW_PAGES]])
        for number, page in enumerate(drawn[: -(-SITE_PAGES // len(groups))]):
            found.append(
                evidence_of(
                    page.snapshot,
                    page.truth or "",
                    corpus="sites",
                    group=site.name,
                    name=page.name,
                    kind=site.name.partition("-")[0],
                    neutral=page.neutral,
                    by_tree=tree.transform(page.snapshot),
                    by_few=few.transform(page.snapshot) if number < FEW_PAGES else None,
                )
            )
    return found


def _judged(page: LearningPage, learned: PageModel) -> Row:
    odds = learned.log_odds(page)
    choices = {name: chosen(page, odds, beta=beta) for name, beta in _BETAS.items()}
    scores = {name: _score(page, choice.kept) for name, choice in choices.items()}
    return {
        "corpus": page.corpus,
        "page": page.name,
        "kind": page.kind,
        "language": page.language,
        "empty": not page.truth.truth.sum(),
        "expected": round(choices["balance"].expected, 4),
        "single_share": round(page.single_share, 4),
        **{
            figure: {name: round(getattr(one, figure), 4) for name, one in scores.items()}
            for figure in ("f1", "precision", "recall")
        },
        "best": round(page.truth.f1(page.content), 4),
    }


def _score(page: LearningPage, kept: NDArray[np.bool_]) -> Score:
    words = page.truth
    common = int(np.minimum(words.held(kept), words.truth).sum())
    found, true = int(words.size[kept].sum()), int(words.truth.sum())
    return Score(common / found if found else 1.0, common / true if true else 1.0, words.f1(kept))


def _judged_site(
    file: Path, pages: Sequence[LearningPage], learned: PageModel, drawn: Sequence[MainPage]
) -> Iterator[Row]:
    yield _judged_blocks(pages, learned)
    yield from measure_site_documents(file, model_of(learned, UNCALIBRATED), SITE_PAGES, drawn)


def _judged_blocks(pages: Sequence[LearningPage], learned: PageModel) -> Row:
    scores: dict[str, list[Score]] = defaultdict(list)
    for page in pages:
        odds = learned.log_odds(page)
        scores["page alone"].append(_score(page, chosen(page, odds).kept))
        scores["best"].append(_score(page, page.content & ~page.neutral))
        if page.by_tree is not None:
            scores["sst"].append(_score(page, page.by_tree.keeps & ~page.neutral))
            for adds, middle in GRID:
                both = with_site(odds, page.words, *page.by_tree, tree_odds=adds, tree_middle=middle)
                scores[f"{adds:g} {middle:g}"].append(_score(page, chosen(page, both).kept))
        if page.by_few is not None:
            both = with_site(odds, page.words, *page.by_few)
            scores["of few pages"].append(_score(page, chosen(page, both).kept))
            scores["sst of few pages"].append(_score(page, page.by_few.keeps & ~page.neutral))
    return {
        "site": pages[0].group,
        "pages": len(pages),
        "permitted": pages[0].group.startswith(PERMITTED),
        "systems": {
            name: [
                round(fmean(getattr(one, figure) for one in held), 4)
                for figure in ("f1", "precision", "recall")
            ]
            for name, held in scores.items()
        },
    }


AUTO = Experiment(
    "auto",
    "How the cleaner auto was learned",
    ("wcxb", "magic", "sites", "trafilatura"),
    tasks,
    tables,
    None,
    PREFACE,
    packages=("lightgbm", *PEER_PACKAGES),
    answers=(
        Answer("text", "Word F1 of single pages of WCXB by type", "all pages"),
        Answer("text, articles", "Word F1 of single pages of WCXB by type", "article"),
    ),
)
