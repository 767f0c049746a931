"""Steps of datatrove: every document is accounted for, whatever it holds."""

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor

from domsieve.errors import UsageError
from domsieve.integrations.datatrove import DomsieveExtractor, DomsieveSites

MENU = (
    "<nav><ul>"
    + "".join(f"<li><a href=/{word}>{word}</a>" for word in ("home", "news", "shop", "about"))
    + "</ul></nav>"
)
ODD = {
    "empty": "",
    "blank": " \n",
    "no tags": "Words without a single tag.",
    "an address": "http://127.0.0.1:1/",
    "binary": "\x00\x01\x02" * 999,
    "deep": "<div>" * 3_000 + "<p>Words at the bottom of it all.",
    "half a surrogate": "<p>Words with \ud800 half of a pair.",
    "wrong encoding": "<meta charset=utf-16><p>Grüße aus dem Süden, wo alles anders ist.",
}


def page(number: int) -> str:
    sentence = " ".join(f"word{number}{letter}" for letter in "abcdefghijklmnop")
    body = "".join(f"<p>{sentence}, part {part} of the article.</p>" for part in range(5))
    main = f"<main><h1>Heading {number}</h1>{body}</main>"
    return f"<!doctype html><title>Page {number}</title><body>{MENU}{main}<footer>Imprint</footer>"


def documents(count: int) -> list[Document]:
    """Return documents of twenty sites, odd ones among them."""
    odd = [Document(text, name, metadata={"url": "http://odd.example/"}) for name, text in ODD.items()]
    odd += [
        Document(page(1), "none", metadata={}),
        Document(page(2), "no url", metadata={"url": "mailto:a b"}),
    ]
    usual = [
        Document(page(n), str(n), metadata={"url": f"https://site{n % 20}.example/{n}"})
        for n in range(count - len(odd))
    ]
    return [*usual[:100], *odd, *usual[100:]]


def counts(step: Any) -> Counter[str]:
    return Counter({name: int(step.stats[name].total) for name in list(step.stats.stats)})


def test_400_of_400_documents_are_accounted_for_one_by_one() -> None:
    step = DomsieveExtractor(timeout=120)
    given = documents(400)
    kept = {document.id: document.text for document in step.run(iter(given))}
    said = counts(step)
    assert said["total"] == 400
    assert said["forwarded"] + said["dropped"] == said["extracted"] == 400
    assert len(kept) == said["forwarded"]
    assert {document.id for document in given} - kept.keys() == {"empty", "blank", "binary", "deep"}
    assert "word7a" in kept["7"]
    assert "shop" not in kept["7"]
    assert kept["wrong encoding"].startswith("Grüße aus dem Süden")
    assert kept["an address"].strip() == "http://127.0.0.1:1/"


def test_400_of_400_documents_are_accounted_for_site_by_site() -> None:
    step = DomsieveSites(form="markdown")
    kept = {document.id: document for document in step.run(iter(documents(400)))}
    said = counts(step)
    assert said["total"] == 400
    assert said["forwarded"] + said["dropped"] + said["failed"] == 400
    assert (said["failed_empty"], said["failed_type"], said["failed_cut"], said["failed"]) == (2, 1, 1, 4)
    assert len(kept) == said["forwarded"] == 396
    facts = kept["7"].metadata["domsieve"]
    assert kept["7"].text.startswith("# Heading 7")
    assert facts["metadata"]["title"]
    assert 0 < facts["expected_f1"] <= 1
    assert json.dumps(facts)


def test_the_same_comes_of_it_however_few_are_held() -> None:
    sites = [[f"https://{name}.example/{n}" for n in range(6)] for name in "abc"]
    given = [Document(page(n), url, metadata={"url": url}) for urls in sites for n, url in enumerate(urls)]
    whole = {one.id: one.text for one in DomsieveSites().run(iter(given))}
    given = [Document(page(n), url, metadata={"url": url}) for urls in sites for n, url in enumerate(urls)]
    few = DomsieveSites(pages_at_once=6)
    assert {one.id: one.text for one in few.run(iter(given))} == whole
    assert counts(few)["forwarded"] == 18


def test_a_pipeline_runs_it_in_processes_of_its_own(tmp_path: Path) -> None:
    from datatrove.pipeline.writers import JsonlWriter

    executor = LocalPipelineExecutor(
        pipeline=[
            documents(40),
            DomsieveSites(),
            JsonlWriter(str(tmp_path / "out"), compression=None),
        ],
        tasks=1,
        logging_dir=str(tmp_path / "logs"),
    )
    executor.run()
    lines = (tmp_path / "out" / "00000.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 36
    assert json.loads(lines[0])["metadata"]["domsieve"]["method"] == "auto"


def test_wrong_parameters_are_told_before_anything_runs() -> None:
    for wrong in ({"form": "pdf"}, {"method": "best"}, {"keep_kinds": ["x"]}):
        with pytest.raises(UsageError):
            DomsieveExtractor(**wrong)
    with pytest.raises(UsageError):
        DomsieveSites(pages_at_once=0)


@pytest.mark.skipif("DOMSIEVE_DATA" not in os.environ, reason="needs the research corpora")
def test_400_of_400_real_pages_are_accounted_for() -> None:
    files = sorted(Path(os.environ["DOMSIEVE_DATA"], "wcxb", "dev", "html").glob("*.html.gz"))[:400]
    given = [
        Document(gzip.decompress(file.read_bytes()).decode("utf-8", "replace"), file.name) for file in files
    ]
    assert len(given) == 400
    step = DomsieveExtractor(timeout=120)
    kept = list(step.run(iter(given)))
    said = counts(step)
    assert said["forwarded"] + said["dropped"] == said["total"] == 400
    assert len(kept) == said["forwarded"]
