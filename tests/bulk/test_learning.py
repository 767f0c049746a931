"""Models by site: the same bytes however pages are spread, merged over periods, and used page by page."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from domsieve.analysis.model_file import load_model, model_to_bytes
from domsieve.analysis.registry import MethodParams, new_site_model
from domsieve.bulk._places import place_at
from domsieve.bulk.learn_job import LearnJob
from domsieve.bulk.local import LocalEngine
from domsieve.bulk.runs import Summary, learn_sites
from domsieve.errors import UsageError
from domsieve.tasks.pages import from_file
from domsieve.tasks.site_learning import fit
from domsieve.tasks.site_models import SiteModels, model_file
from domsieve.tasks.sites import Placed
from domsieve.tasks.targets import FileTarget
from tests.bulk.made import Inline, cleaned, digest_of, rows_of, stamps, write_sites
from tests.command import page


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    return write_sites(tmp_path / "in")


def learned(
    output: Path, targets: list[Path], *, engine: Any = Inline, method: Any = "auto", **how: Any
) -> Summary:
    job = LearnJob(output=str(output), method=method)
    return learn_sites(job, [str(target) for target in targets], engine, lambda _: None, **how)


def models_of(output: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in output.glob("*.model")}


@pytest.mark.parametrize("method", ["auto", "sst", "entropy", "template"])
def test_models_are_those_of_all_pages_at_once(sites: Path, tmp_path: Path, method: str) -> None:
    learned(tmp_path / "out", [sites], per_shard=5, method=method)
    found = models_of(tmp_path / "out")
    assert len(found) == 4
    for number in range(4):
        folder = sites / f"s{number}"
        model = new_site_model(method, MethodParams())  # type: ignore[arg-type]
        paths = sorted(folder.glob("*.html"))
        pages = [from_file(FileTarget(path, sites), Placed("", "", ())) for path in paths]
        fit(model, pages, lambda *_: None)
        assert found[model_file(str(folder))] == model_to_bytes(model)
    assert not [*(tmp_path / "out" / "_partial").iterdir()]


def test_processes_learn_the_same(sites: Path, tmp_path: Path) -> None:
    learned(tmp_path / "one", [sites])
    learned(tmp_path / "two", [sites], per_shard=3, engine=partial(LocalEngine, 2))
    assert models_of(tmp_path / "two") == models_of(tmp_path / "one")


def test_a_second_run_writes_nothing_and_a_lost_model_is_learned_again(sites: Path, tmp_path: Path) -> None:
    (sites / "s4").mkdir()
    (sites / "s4" / "bad.html").write_bytes(b"\x00\x01\x02" * 99)
    first = learned(tmp_path / "out", [sites], per_shard=5)
    assert (first.made, first.kept, first.failed) == (5, 0, 1)
    before, models = stamps(tmp_path / "out"), models_of(tmp_path / "out")
    assert learned(tmp_path / "out", [sites], per_shard=5).made == 0
    assert stamps(tmp_path / "out") == before
    lost = tmp_path / "out" / model_file(str(sites / "s2"))
    lost.unlink()
    assert learned(tmp_path / "out", [sites], per_shard=5).made == 1
    assert models_of(tmp_path / "out") == models


def test_pages_are_cleaned_by_the_models_of_their_sites(sites: Path, tmp_path: Path) -> None:
    learned(tmp_path / "models", [sites / "s0", sites / "s1"], method="sst")
    assert load_model(tmp_path / "models" / model_file(str(sites / "s1"))).learned == 7
    models = str(tmp_path / "models")
    cleaned(tmp_path / "one", [sites], per_shard=100, models=models)
    rows = rows_of(tmp_path / "one")
    by_site = {
        Path(row["site"]).name: (row["method"], row["model_pages"], row["known_share"]) for row in rows
    }
    assert by_site["s1"] == ("sst", 7, 1.0)
    assert by_site["s3"] == ("auto", 0, None)
    cleaned(tmp_path / "many", [sites], per_shard=3, models=models)
    assert digest_of(tmp_path / "many") == digest_of(tmp_path / "one")


def test_pages_whose_model_cannot_be_used_fail_and_others_do_not(sites: Path, tmp_path: Path) -> None:
    learned(tmp_path / "models", [sites / "s0", sites / "s1"])
    (tmp_path / "models" / model_file(str(sites / "s0"))).write_bytes(b"nonsense")
    summary = cleaned(tmp_path / "out", [sites / "s0", sites / "s1"], models=str(tmp_path / "models"))
    assert (summary.pages, summary.failed) == (14, 7)
    with pytest.raises(UsageError, match="contains no model"):
        cleaned(tmp_path / "out2", [sites], models=str(tmp_path))


def test_models_of_periods_are_used_together(sites: Path, tmp_path: Path) -> None:
    (tmp_path / "more" / "s0").mkdir(parents=True)
    for number in range(50, 56):
        (tmp_path / "more" / "s0" / f"{number}.html").write_text(page(number))
    site = "a.example"
    for folder, period in ((sites / "s0", "2026-10"), (tmp_path / "more" / "s0", "2026-11")):
        for path in folder.glob("*.html"):
            path.write_text(f"<base href=http://{site}/{path.stem}>" + path.read_text())
        learned(tmp_path / "models", [folder], period=period)
    assert {path.name.partition("@")[2] for path in (tmp_path / "models").glob("*.model")} == {
        "2026-10.model",
        "2026-11.model",
    }
    model = SiteModels(place_at(str(tmp_path / "models")), "models").of(f"{site} (raw)")
    assert model is not None
    assert model.learned == 13


def test_capped_models_are_smaller_and_judge_alike(sites: Path, tmp_path: Path) -> None:
    learned(tmp_path / "whole", [sites])
    learned(tmp_path / "capped", [sites], cap=True)
    whole, capped = models_of(tmp_path / "whole"), models_of(tmp_path / "capped")
    assert sum(map(len, capped.values())) < 0.8 * sum(map(len, whole.values()))
    for name in ("whole", "capped"):
        cleaned(tmp_path / f"by {name}", [sites], models=str(tmp_path / name))
    assert digest_of(tmp_path / "by whole") == digest_of(tmp_path / "by capped")


def test_a_site_is_learned_from_so_many_pages_each_once(sites: Path, tmp_path: Path) -> None:
    for number in range(3):
        (sites / "s0" / f"twin{number}.html").write_bytes((sites / "s0" / "p1.html").read_bytes())
    learned(tmp_path / "all", [sites / "s0"])
    assert load_model(tmp_path / "all" / model_file(str(sites / "s0"))).learned == 7
    learned(tmp_path / "some", [sites / "s0"], per_site=5)
    assert load_model(tmp_path / "some" / model_file(str(sites / "s0"))).learned == 5


def test_drift_is_told_of_sites_whose_pages_are_other_ones(tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "in", sites=2, pages=24)
    learned(tmp_path / "models", [sites])
    for path in (sites / "s1").glob("*.html"):
        path.write_text(path.read_text().replace("<main>", "<table><tr><td>").replace("</main>", "</table>"))
    summary = cleaned(tmp_path / "out", [sites], models=str(tmp_path / "models"), per_shard=7)
    over = {Path(site).name: drift.is_over for site, drift in summary.drifts.items()}
    assert over == {"s0": False, "s1": True}
    assert summary.drifts[str(sites / "s0")].known_share == 1
