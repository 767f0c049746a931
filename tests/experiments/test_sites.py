"""Whole sites: what is learned together, what counts as wrong, and what the tables say."""

import json
import os
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Snapshot
from experiments.corpora.whole_sites import LabelledSite, read_site, text_site_halves, truth_of
from experiments.experiments.sites import (
    SITES,
    read_published,
    run_cleaner,
    run_peer,
    score_output,
    survived_values,
)
from experiments.frame.experiment import Experiment, Inputs, Row
from experiments.frame.tables import Table
from experiments.measures.papers import bootstrap_interval
from experiments.systems.cleaners import CLEANERS
from experiments.systems.peers import PEERS

PAGE = """<html><body><ul><li>Home</li><li>News</li></ul><h1>Title {n}</h1>
<div class="main"><p>Words of page {n}.</p></div></body></html>"""


def write_site(file: Path, **more: Any) -> LabelledSite:
    """Return a site of four pages, two of each era, with a neutral title beside the content."""
    file.parent.mkdir(parents=True, exist_ok=True)
    pages = []
    with zipfile.ZipFile(file, "w") as archive:
        for n in range(4):
            archive.writestr(f"pages/{n}.html", PAGE.format(n=n))
            archive.writestr(f"main_text/{n}.txt", f"Words of page {n}.")
            entry = {"page": f"pages/{n}.html", "main_text": f"main_text/{n}.txt", "main_words": 4}
            pages.append(
                {**entry, "all_words": 8, "era": str(n % 2), "values": {"name": [f"PAGE  {n}", "x"]}}
            )
        labels = {"keep": [".main"], "drop": [], "neutral": ["h1"], "pages": pages, **more}
        archive.writestr("labels.json", json.dumps(labels))
    return read_site(file)


@pytest.fixture
def site(tmp_path: Path) -> LabelledSite:
    return write_site(tmp_path / "sites" / "uci-small.zip")


def test_each_era_is_learned_alone_and_texts_come_in_the_order_of_the_site(site: LabelledSite) -> None:
    learned = []

    def clean(pages: Sequence[Snapshot]) -> list[Verdict]:
        learned.append([page.provenance.url for page in pages])
        return NoCleaning().transform(pages)

    output = run_cleaner(site, clean, 0.0)
    assert learned == [["pages/0.html", "pages/2.html"], ["pages/1.html", "pages/3.html"]]
    assert [text.split("\n")[2] for text in output.texts] == [f"Title {n}" for n in range(4)]
    assert output.seconds > 0


def test_neutral_words_are_out_of_our_nodes_and_alike_out_of_every_text(site: LabelledSite) -> None:
    ours = run_cleaner(site, CLEANERS["none"], 0.0)
    out, alike = score_output([truth_of(page) for page in site.pages], ours)
    assert (out.precision, out.recall) == pytest.approx((4 / 6, 1.0))
    assert (alike.precision, alike.recall) == pytest.approx((4 / 6, 1.0))
    theirs = run_peer(site, lambda html: "Title words of page " + html.partition("Title ")[2][0])
    out, alike = score_output([truth_of(page) for page in site.pages], theirs)
    assert (out.precision, alike.precision) == pytest.approx((4 / 5, 1.0))


def test_failures_of_a_peer_are_counted_as_empty(site: LabelledSite) -> None:
    def some(html: str) -> str:
        if "page 2" in html:
            raise ValueError
        return html

    output = run_peer(site, some)
    assert output.failures == 1
    assert [bool(text) for text in output.texts] == [True, True, False, True]


def test_values_survive_where_case_and_white_space_are_the_only_difference(site: LabelledSite) -> None:
    texts = ["of Page\n0.", "of page 1.", "ofpage 2", ""]
    assert survived_values(site.pages, texts) == {"name": (2, 8)}


def test_halves_alternate_among_sites_with_a_text(tmp_path: Path) -> None:
    for name in ("webkb-a", "uci-b", "api-c", "swde-d", "docs-e", "news-f"):
        write_site(tmp_path / "sites" / f"{name}.zip")
    found = {file.stem: half for file, half in text_site_halves(tmp_path).items()}
    assert found == {"api-c": "development", "docs-e": "test", "news-f": "development", "uci-b": "test"}


def test_published_figures_are_read_by_our_names(tmp_path: Path) -> None:
    (tmp_path / "PEERS.md").write_text(
        "| system | version |\n|---|---|\n| trafilatura | 2 |\n\n"
        "| site | all_text | trafilatura |\n|---|---|---|\n| uci-small | 0.5 | 0.9 |\n\nThe end.\n"
    )
    assert read_published(tmp_path / "PEERS.md")["uci-small"] == {
        "all text, resiliparse": 0.5,
        "trafilatura": 0.9,
    }


def test_the_interval_holds_the_mean_and_is_seeded() -> None:
    values = [0.2, 0.4, 0.9, 0.7]
    low, high = bootstrap_interval(values, seed=1)
    assert 0.2 <= low < 0.55 < high <= 0.9
    assert bootstrap_interval(values, seed=1) == (low, high)
    assert bootstrap_interval([0.5, 0.5], seed=0) == (0.5, 0.5)


def made_rows() -> list[Row]:
    """Return the rows of two sites and four systems; trafilatura is better on one, the quoted one on the other."""
    figures = {"none": (0.5, 0.7), "sst": (0.9, 0.8), "trafilatura": (0.95, 0.6)}
    rows: list[Row] = []
    for number, name in enumerate(("news-a", "docs-b")):
        common = {"site": name, "half": ("development", "test")[number], "main_share": (0.5, 0.95)[number]}
        for system, f1 in figures.items():
            value = f1[number]
            found = {"f1": value, "precision": value, "recall": value, "alike_f1": value}
            rows.append(
                {
                    **common,
                    "system": system,
                    "pages": 2,
                    **found,
                    "failures": 0,
                    "published": value - 0.001 if system == "trafilatura" else None,
                    "cost": {"cpu_ms": 5.0 if system == "sst" else 20.0},
                }
            )
        rows.append({**common, "system": "rs-trafilatura (quoted)", "f1": (0.9, 0.85)[number]})
    return rows


def by_title(experiment: Experiment, rows: Sequence[Row]) -> dict[str, Table]:
    return {table.title: table for table in experiment.tables(rows)}


def cell(table: Table, row: str, column: str) -> Any:
    return next(line for line in table.rows if line[0] == row)[table.head.index(column)]


def test_tables_name_the_best_rival_and_the_gain_over_no_cleaning() -> None:
    found = by_title(SITES, made_rows())
    rivals = found["Word F1 of page-by-page extractors, and the distance of SST to the best of them"]
    assert [cell(rivals, name, "best") for name in ("news-a", "docs-b")] == [
        "trafilatura",
        "rs-trafilatura (quoted)",
    ]
    assert cell(rivals, "docs-b", "sst - best") == pytest.approx(-0.05)
    assert cell(rivals, "mean", "sst - best") == pytest.approx(-0.05)
    means = found["Means over sites of word F1, with 95 % intervals"]
    assert cell(means, "sst", "share < 0.8 (1)") == "0.900 [0.900, 0.900]"
    assert cell(means, "sst", "over none, share < 0.8") == pytest.approx(0.4)
    assert cell(means, "sst", "test (1)") == "0.800 [0.800, 0.800]"
    repeated = found["Figures in the notes of the corpus, repeated"]
    assert cell(repeated, "trafilatura", "largest difference") == pytest.approx(0.001)
    cost = found["Processor time per page"]
    assert cost.varies
    assert cell(cost, "sst", "over trafilatura") == pytest.approx(0.25)


def test_the_figure_draws_every_site() -> None:
    pytest.importorskip("matplotlib")
    assert SITES.figure is not None
    axes = SITES.figure(made_rows()).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["docs-b (0.95)", "news-a (0.50)"]


@pytest.mark.data
def test_peers_give_the_published_figures_and_ours_learn_on_a_real_site() -> None:
    if not os.environ.get("DOMSIEVE_DATA"):
        pytest.skip("DOMSIEVE_DATA does not name the folder of the corpora")
    pytest.importorskip("trafilatura")
    inputs = Inputs(Path(os.environ["DOMSIEVE_DATA"]), Path())
    tasks = {task.name: task for task in SITES.tasks(inputs)}
    assert len(tasks) == 23
    whole = read_site(inputs.data / "sites" / "news-nypost.zip")
    output = run_peer(whole, PEERS["resiliparse"])
    published = read_published(inputs.data / "sites" / "PEERS.md")[whole.name]["resiliparse"]
    found, _ = score_output([truth_of(page) for page in whole.pages], output)
    assert found.f1 == pytest.approx(published, abs=0.005)
    few = replace(whole, pages=whole.pages[-10:])
    truths = [truth_of(page) for page in few.pages]
    none, sst = (score_output(truths, run_cleaner(few, CLEANERS[name], 0.0))[0] for name in ("none", "sst"))
    assert sst.f1 > none.f1 + 0.15
