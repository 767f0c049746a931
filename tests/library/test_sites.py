"""A site visited from Python."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import domsieve
from domsieve.snapshot.store import PageStore
from domsieve.tasks.site_models import model_file
from domsieve.tasks.sites import RAW
from examples.loopback import folder_served
from tests.command import page, run, write_pages

FETCHED = domsieve.CaptureOptions(render="never")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "site"
    folder.mkdir()
    links = "".join(f"<a href={n}.html>Page {n}</a> " for n in range(4)) + "<a href=gone.html>Gone</a>"
    (folder / "index.html").write_text(f"<title>Start</title><p>All pages: {links}", encoding="utf-8")
    for n in range(4):
        (folder / f"{n}.html").write_text(page(n), encoding="utf-8")
    (folder / "robots.txt").write_text("User-agent: *\nCrawl-delay: 0\n", encoding="utf-8")
    with folder_served(folder) as base:
        yield f"{base}/index.html"


def network(url: str) -> domsieve.NetworkOptions:
    return domsieve.NetworkOptions(private_hosts=[url.split("/")[2]])


@pytest.mark.parametrize("twin", ["site", "site_async"])
def test_all_pages_with_progress_and_failures(served: str, twin: str) -> None:
    steps: list[domsieve.SiteProgress] = []
    how: dict[str, Any] = {
        "pages": None,
        "capture": FETCHED,
        "network": network(served),
        "progress": steps.append,
    }
    call = getattr(domsieve, twin)
    found = asyncio.run(call(served, **how)) if twin.endswith("async") else call(served, **how)
    names = sorted(snapshot.provenance.url.rsplit("/", 1)[1] for snapshot in found.pages)
    assert names == ["0.html", "1.html", "2.html", "3.html", "index.html"]
    assert "gone.html" in [url.rsplit("/", 1)[1] for url in found.failed]
    assert found.ended == "exhausted"
    assert {step.url for step in steps if step.error} == {*found.failed}
    assert {step.url for step in steps if step.url} == {*found.failed} | {
        snapshot.provenance.url for snapshot in found.pages
    }
    assert steps[-1].pages == 5
    assert all(step.message for step in steps)
    assert all("Heading" in result.text for result in domsieve.clean(found.pages[1:]))


def test_a_part_into_a_cache(served: str, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    how: dict[str, Any] = {"capture": FETCHED, "network": network(served), "cache": cache}
    found = domsieve.site(served, include=["/[01].html"], **how)
    assert len(found.pages) == 3
    assert domsieve.site(served, pages=2, **how).ended == "complete"
    with PageStore(cache) as store:
        assert {snapshot.digest() for snapshot in found.pages} <= {
            store.get(record.page_id).digest() for record in store.records()
        }


def test_a_private_site_is_refused_with_the_way_out(served: str) -> None:
    with pytest.raises(domsieve.PolicyError, match="private_hosts=") as caught:
        domsieve.site(served, capture=FETCHED)
    assert caught.value.reason == "private"


@pytest.mark.parametrize(
    "how", [{"pages": 0}, {"pages": True}, {"seed": "x"}, {"progress": 1}, {"include": [""]}, {"depth": -1}]
)
def test_wrong_parameters_are_refused(how: dict[str, Any]) -> None:
    with pytest.raises(domsieve.UsageError) as caught:
        domsieve.site("http://a.test/", **how)
    assert caught.value.parameter in how


def test_a_folder_of_models_has_one_for_each_site(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    site = [page(n) for n in range(6)]
    tree = domsieve.SiteStyleTree().fit(
        [domsieve.clean(source, url="http://a.test/").snapshot for source in site]
    )
    domsieve.save_model(tree, models / model_file(f"a.test {RAW}"))
    urls = ["http://a.test/1", "http://b.test/1"]
    known, other = domsieve.clean([site[1], site[2]], url=urls, models=models)
    assert (known.method, other.method) == ("sst", "auto")
    assert known.text == domsieve.clean(site[1], url=urls[0], model=tree).text
    assert other.text == domsieve.clean(site[2], url=urls[1]).text
    (models / model_file(f"b.test {RAW}")).write_bytes(b"nonsense")
    known, other = domsieve.clean([site[1], site[2]], url=urls, models=models)
    assert known.error is None
    assert isinstance(other.error, domsieve.DomsieveError)


def test_models_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    with pytest.raises(domsieve.UsageError, match="contains no model") as caught:
        domsieve.clean("<p>Text", models=tmp_path)
    assert caught.value.parameter == "models"
    with pytest.raises(domsieve.StorageError, match="Cannot read the folder"):
        domsieve.clean("<p>Text", models=tmp_path / "absent")
    for how in ({"alone": True}, {"model": "a.model"}):
        with pytest.raises(domsieve.DomsieveError):
            domsieve.clean("<p>Text", models=tmp_path, **how)


def test_the_command_takes_the_folder(tmp_path: Path) -> None:
    site, models, cache = tmp_path / "site", tmp_path / "models", tmp_path / "cache"
    site.mkdir()
    models.mkdir()
    files = write_pages(site, 6)
    tree = domsieve.SiteStyleTree().fit([result.snapshot for result in domsieve.clean(files)])
    own = run("clean", files[1], "--json", cache=cache)
    assert json.loads(own.stdout)["method"] == "auto"
    domsieve.save_model(tree, models / model_file(f"a.test {RAW}"))
    done = run("clean", files[1], "--url", "http://a.test/1", "--models", models, "--json", cache=cache)
    assert json.loads(done.stdout)["method"] == "sst"
    refused = run("clean", files[1], "--models", models, "--alone", cache=cache)
    assert refused.exit_code == 2
    assert "--models or --alone" in refused.output


def test_lists_of_html_are_grouped_by_site() -> None:
    """Pages with `url` are learned from with those of their host only, as bytes and as str."""
    sources = [page(n) for n in range(6)]
    urls = [f"http://a.test/{n}" for n in range(5)] + ["http://b.test/5"]
    for given in (sources, [source.encode() for source in sources]):
        results = domsieve.clean(given, url=urls)
        assert [result.verdict.site_pages for result in results] == [5] * 5 + [0]
