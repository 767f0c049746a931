"""Serving, serialising and scoring of sites that scripts draw; the corpora themselves only where they are."""

import json
import os
import urllib.request
from pathlib import Path

import pytest

from domsieve.errors import TargetError
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.store import PageStore
from experiments.corpora.javascript_sites import read_routes, serialise, serve_corpus
from experiments.experiments.javascript import JAVASCRIPT, RAW, RENDERED, figure, tables
from experiments.frame.experiment import Inputs
from experiments.systems.cleaners import CLEANERS
from experiments.systems.peers import PEERS

SERVER = """
import http.server, os, sys
os.chdir(os.path.join(sys.argv[1], "site"))
server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])),
                                         http.server.SimpleHTTPRequestHandler)
print("http://127.0.0.1:%d/" % server.server_port, flush=True)
server.serve_forever()
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "js/shop"
    (folder / "site").mkdir(parents=True)
    (folder / "truth").mkdir()
    (folder / "site/index.html").write_text("<p>Raw words", "utf-8")
    (folder / "manifest.json").write_text(json.dumps({"site": "site", "steps": ["node build.js"]}), "utf-8")
    (folder / "routes.json").write_text(json.dumps([{"route": "#/one", "truth": "truth/one.txt"}]), "utf-8")
    (folder / "truth/one.txt").write_text("Raw words, rendered words, a b", "utf-8")
    (tmp_path / "js/serve.py").write_text(SERVER, "utf-8")
    return folder


def test_a_corpus_has_the_same_address_every_time(corpus: Path, tmp_path: Path) -> None:
    with serve_corpus(corpus, tmp_path) as one:
        assert urllib.request.urlopen(one).read() == b"<p>Raw words"
        with pytest.raises(TargetError, match=r"is port 2\d+ free"), serve_corpus(corpus, tmp_path):
            pass
    with serve_corpus(corpus, tmp_path) as other:
        assert other == one


def test_a_corpus_that_cannot_be_served_or_built_is_told(corpus: Path, tmp_path: Path) -> None:
    (corpus.parent / "serve.py").write_text("raise SystemExit", "utf-8")
    with pytest.raises(TargetError, match="cannot be served"), serve_corpus(corpus, tmp_path):
        pass
    (corpus / "site/index.html").unlink()
    (corpus / "site").rmdir()
    with pytest.raises(TargetError, match="cannot be built"), serve_corpus(corpus, tmp_path / "none"):
        pass


def test_routes_in_the_store_are_not_rendered_again(corpus: Path, tmp_path: Path) -> None:
    (corpus.parent / "serve.py").unlink()
    with PageStore(tmp_path / "store") as store:
        store.put(parse_html(b"<p>Raw words", url="http://127.0.0.1:5/#/one"), source=b"<p>Raw words")
    (route,) = read_routes(corpus, tmp_path, tmp_path / "store")
    assert (route.name, route.source) == ("#/one", b"<p>Raw words")
    assert route.truth == {"raw": 1, "words": 2, "rendered": 1}
    assert route.complete_truth == route.truth


def test_a_page_is_written_whole() -> None:
    page = parse_html(b'<body><p class="a&quot;b" hidden>1 &lt; 2<br>x</p></body>', url="http://x/")
    assert '<p class="a&quot;b" hidden="">1 &lt; 2<br>x</p></body>' in serialise(page)


def test_tables_hold_all_systems() -> None:
    scores = {"precision": 0.5, "recall": 1.0, "f1": 0.75, "cost": {"cpu_ms": 2.0}}
    rows = [
        {
            "corpus": "shop",
            "routes": 2,
            "truth_words": 10,
            "nodes": 20,
            "browser": "Chrome/1",
            "seen_rendered": 1.0,
            "seen_worst": 0.9,
            "seen_raw": 0.1,
        },
        *({"corpus": "shop", "system": name, "side": RAW, **scores} for name in CLEANERS),
        *({"corpus": "shop", "system": name, "side": RENDERED, **scores} for name in (*CLEANERS, *PEERS)),
    ]
    seen, rendered, raw, cost = tables(rows)
    assert seen.rows == [["shop", 2, 10, 1.0, 0.9, 0.1], ["all", 2, 10, 1.0, 0.9, 0.1]]
    assert [row[0] for row in rendered.rows] == [*CLEANERS, *PEERS]
    assert rendered.rows[0][1:] == [0.75, 0.75]
    assert [row[0] for row in raw.rows] == list(CLEANERS)
    assert cost.varies
    assert len(figure(rows).axes) == 1


@pytest.mark.data
def test_there_is_a_task_per_corpus(tmp_path: Path) -> None:
    data = Path(os.environ.get("DOMSIEVE_DATA", "/nowhere"))
    if not (data / "js").is_dir():
        pytest.skip("DOMSIEVE_DATA names no folder with js/")
    names = [task.name for task in JAVASCRIPT.tasks(Inputs(data, tmp_path, tmp_path))]
    assert len(names) == 6
    assert names == sorted(names)
