"""Grids of sites and classes: read, constructed, turned into vectors, clustered and classified."""

import os
from pathlib import Path

import numpy as np
import pytest

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.trees.cst import CompressedStructureTree
from domsieve.analysis.writers.text import write_text
from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot
from experiments.corpora.class_grids import Grid, read_grid
from experiments.corpora.crossed import read_crossed, replace_content
from experiments.experiments import classification, clustering
from experiments.frame.experiment import Inputs
from experiments.page_classes.grids import GRID_FILES, GRIDS, grid_tasks
from experiments.page_classes.vectors import (
    NO_CLEANING,
    VECTORS,
    counted,
    spaces,
    unit_rows,
    weights_of,
    words_in,
)
from tests.experiments.small_sites import (
    OTHER_WORDS,
    WORDS,
    files_of,
    page_of,
    text_of,
    write_grid,
    write_site,
)


def small_grid(folder: Path) -> Grid:
    source = write_grid(folder)
    return source.read(files_of(source, folder))


def seen(page: Snapshot) -> str:
    return write_text(page, NoCleaning().transform(page))


def test_words_are_those_of_the_structure_tree_without_stop_words() -> None:
    assert words_in("The Sparrow_no1: don't Ｗren, heron-x9") == ["sparrow", "no1", "wren", "heron", "x9"]


def test_pages_of_other_classes_are_learned_from_and_no_rows(tmp_path: Path) -> None:
    grid = small_grid(tmp_path)
    assert [len(pages) for pages in grid.sites.values()] == [9, 9, 9]
    assert len(grid.units()) == len(grid.truths or ()) == 24
    assert grid.units()[0] == ("site0", "birds")


def test_a_site_that_lacks_a_class_is_refused(tmp_path: Path) -> None:
    file = write_site(tmp_path / "a.zip", {"one": ("birds", page_of("a", "wren"), "wren")})
    with pytest.raises(TargetError, match="tools"):
        read_grid([file], classes=("birds", "tools"))
    (tmp_path / "b.zip").write_bytes(b"")
    with pytest.raises(TargetError, match="no corpus"):
        read_grid([tmp_path / "b.zip"], classes=())


def test_no_cleaning_gives_exactly_the_numbers_of_the_texts_themselves(tmp_path: Path) -> None:
    source = write_grid(tmp_path)
    grid = source.read(files_of(source, tmp_path))
    texts = [
        " ".join(
            [
                *(f"{site} item{i}" for i in range(8)),
                f"{site} box",
                text_of(name, i),
                f"{site} footer of {site}",
            ]
        )
        for site, name, i in ((s, n, i) for s in grid.sites for n in WORDS for i in range(4))
    ]
    uncleaned, space = counted(texts), next(spaces(grid))
    assert space.name == NO_CLEANING
    assert (space.vectors != uncleaned).nnz == 0
    products = unit_rows(uncleaned) @ unit_rows(uncleaned).T
    assert space.gram.tolist() == products.toarray().tolist()


def test_every_cleaner_has_vectors_and_perfection_needs_the_truth(tmp_path: Path) -> None:
    names = [space.name for space in spaces(small_grid(tmp_path))]
    assert set(VECTORS) <= set(names)
    source = write_grid(tmp_path, with_truth=False)
    without = [space.name for space in spaces(source.read(files_of(source, tmp_path)))]
    assert set(names) - set(without) == {"perfect cleaner", "SST paper, t per site"}


def test_weights_are_those_of_the_tree_of_each_site(tmp_path: Path) -> None:
    grid = small_grid(tmp_path)
    weights, row = weights_of(grid, "paper"), 0
    for pages in grid.sites.values():
        tree = CompressedStructureTree.of_mode("paper").fit([page.snapshot for page in pages])
        own = tree.weigh([page.snapshot for page in pages if page.label])
        stopped = np.array([not words_in(word) for word in tree.get_feature_names_out()])
        assert weights[row : row + 8].sum(axis=1) == pytest.approx(own[:, ~stopped].sum(axis=1))
        row += 8
    assert row == weights.shape[0]


def test_rows_without_words_stay_without_length() -> None:
    rows = unit_rows(counted(["", "heron heron wren"])).toarray()
    assert rows.tolist() == [[0, 0], pytest.approx([2 / 5**0.5, 1 / 5**0.5])]


def test_content_is_replaced_and_noise_stays() -> None:
    source = page_of("shop", "old words\nof the page", title="An old title").encode()
    made = replace_content(source, ["new <line>", "two"], {"keep": ["#content"], "drop": [".box"]})
    page = parse_html(made, url="page")
    items = [f"shop item{i}" for i in range(8)]
    assert seen(page).splitlines() == [*items, "shop box", "new <line>", "two", "shop footer of shop"]


def test_neutral_titles_go_unless_they_hold_the_content() -> None:
    source = (
        b"<body><h1>Site</h1><header class=t>Name<h2 class=t>x</h2></header><main class=t>old</main></body>"
    )
    made = replace_content(source, ["new"], {"keep": ["main"], "neutral": [".t"]})
    assert seen(parse_html(made, url="page")).split() == ["Site", "new"]
    with pytest.raises(ValueError, match="container"):
        replace_content(source, ["new"], {"keep": ["article"]})


def crossed(folder: Path, **options: int) -> Grid:
    for label in WORDS:
        texts = {str(i): (None, "", text_of(label, i)) for i in range(6)}
        write_site(folder / f"{label}.zip", {**texts, "stub": (None, "", "too short")})
    sites = []
    for site in ("one", "two"):
        pages = {str(i): (None, page_of(site, f"{OTHER_WORDS} {i}"), "") for i in range(5)}
        sites.append(write_site(folder / f"{site}.zip", pages))
    chosen = {"per_cell": 2, "least_words": 3, "most_words": 7, "seed": 0, **options}
    return read_crossed({label: folder / f"{label}.zip" for label in WORDS}, sites, **chosen)


def test_sites_and_classes_are_crossed_and_nothing_is_used_twice(tmp_path: Path) -> None:
    grid = crossed(tmp_path)
    units = grid.units()
    assert {unit: units.count(unit) for unit in units} == {(s, c): 2 for s in ("one", "two") for c in WORDS}
    pages = [page for of_site in grid.sites.values() for page in of_site]
    assert len({page.truth for page in pages}) == 8
    assert all(len({p.snapshot.provenance.url for p in of_site}) == 4 for of_site in grid.sites.values())
    for page in pages:
        assert page.truth is not None
        assert len(page.truth.split()) == 7
        assert page.truth in seen(page.snapshot)
        assert "ink" not in seen(page.snapshot)


def test_the_seed_decides_the_draw(tmp_path: Path) -> None:
    truths = [crossed(tmp_path, seed=seed).truths for seed in (0, 0, 1)]
    assert truths[0] == truths[1] != truths[2]


def test_too_few_texts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"birds.zip' has 6"):
        crossed(tmp_path, per_cell=4)


def test_the_experiments_tell_classes_apart_where_noise_is_gone(tmp_path: Path) -> None:
    source = write_grid(tmp_path)
    files = files_of(source, tmp_path)
    clusters = clustering.measure(source, files, runs=20)
    by_cleaner = {row["cleaner"]: row for row in clusters}
    none, template = by_cleaner[NO_CLEANING], by_cleaner["template, k = 3"]
    assert none["site purity"] > template["site purity"]
    assert none["mean F"] < template["mean F"]
    assert sum(by_cleaner["SST"]["histogram"]) == 20
    assert clusters == clustering.measure(source, files, runs=20)
    classes = classification.measure(source, files)
    bayes = {r["cleaner"]: r["F"] for r in classes if (r["classifier"], r["configuration"]) == ("NB", 3)}
    assert bayes["perfect cleaner"] == 1.0
    assert bayes[NO_CLEANING] < 1.0
    for experiment, rows in ((clustering, clusters), (classification, classes)):
        assert all(table.rows for table in experiment.tables(rows))
        assert len(experiment.figure(rows).axes) == 1


def test_tasks_name_all_that_shapes_them() -> None:
    tasks = grid_tasks(Inputs(Path("data"), Path("out")), lambda *_: [], runs=3)
    assert [task.name for task in tasks] == ["api", "webkb", "crossed"]
    assert {f"{file.parent.name}/{file.name}" for task in tasks for file in task.files} == set(GRID_FILES)
    assert tasks[2].parameters["per_cell"] == 27
    assert tasks[2].parameters["runs"] == 3


@pytest.mark.data
def test_the_construction_keeps_the_noise_of_real_sites() -> None:
    folder = os.environ.get("DOMSIEVE_DATA")
    if not folder:
        pytest.skip("DOMSIEVE_DATA does not name the folder of the corpora")
    files = {name: Path(folder, "sites", f"{name}.zip") for name in GRIDS[2].files}
    templates = [file for name, file in files.items() if not name.startswith("docs-")]
    grid = read_crossed(
        {"python": files["docs-python"]}, templates, per_cell=2, least_words=100, most_words=200, seed=0
    )
    for pages in grid.sites.values():
        for page in pages:
            truth, words = counted([page.truth or "", seen(page.snapshot)]).toarray()
            assert (truth <= words).all()
            assert words.sum() > 1.2 * truth.sum()
