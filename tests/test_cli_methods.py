"""The command line with each cleaning method, and the matrix of a site, on pages that need no browser."""

import json
from pathlib import Path

import pytest
from scipy.sparse import load_npz

from domsieve.analysis.registry import METHODS, SITE_METHODS
from tests.command import damage, fill, page, run, write_pages

URLS = [f"http://example.org/{number}" for number in range(1, 7)]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    write_pages(tmp_path / "site", 6)
    return tmp_path / "site"


@pytest.mark.parametrize("method", METHODS)
class TestEveryMethod:
    def test_cleans_a_site(self, cache: Path, site: Path, method: str) -> None:
        result = run("clean", "--method", method, "--json", site, cache=cache)
        assert (result.exit_code, result.stderr) == (0, "")
        pages = [json.loads(line) for line in result.stdout.splitlines()]
        assert len(pages) == 6
        assert {one["method"] for one in pages} == {method}
        assert all(f"word{number}a" in one["text"] for number, one in enumerate(pages, 1))

    def test_cleans_one_page(
        self, cache: Path, site: Path, caplog: pytest.LogCaptureFixture, method: str
    ) -> None:
        result = run("clean", "--method", method, site / "p1.html", cache=cache)
        assert result.exit_code == 0
        assert "word1a" in result.stdout or method == "entropy"
        warning = "only 1 page to learn from"
        assert (warning in caplog.text) == (method in SITE_METHODS and method != "auto")

    def test_heeds_its_options_or_refuses_them(self, cache: Path, site: Path, method: str) -> None:
        takes = {"threshold": {"sst", "entropy"}, "style": {"auto", "sst", "cst", "tps"}}
        for option, value in (("threshold", "0.3"), ("style", "html")):
            result = run("clean", "--method", method, "--param", f"{option}={value}", site, cache=cache)
            refused = f"has no parameter '{option}'; it has " in result.stderr
            assert refused == (method not in takes[option])
            assert result.exit_code == (2 if refused else 0)


@pytest.mark.parametrize("method", SITE_METHODS)
def test_a_model_of_each_site_method_cleans_further_pages(
    cache: Path, site: Path, tmp_path: Path, method: str
) -> None:
    learned = run("learn", "--method", method, "--json", site, "-o", tmp_path / "model", cache=cache)
    assert learned.exit_code == 0
    assert json.loads(learned.stdout)["pages"] == 6
    (tmp_path / "new.html").write_text(page(9), encoding="utf-8")
    result = run("clean", "--model", tmp_path / "model", "--json", tmp_path / "new.html", cache=cache)
    one = json.loads(result.stdout)
    assert (one["method"], "word9a" in one["text"]) == (method, True)
    other = next(name for name in SITE_METHODS if name != method)
    wrong = run("clean", "--model", tmp_path / "model", "--method", other, tmp_path / "new.html", cache=cache)
    assert wrong.exit_code == 2
    assert f"This model is for the method {method}, not {other}." in wrong.stderr


class TestWeigh:
    @pytest.mark.parametrize("form", ["npz", "svmlight", "parquet"])
    def test_writes_the_same_bytes_twice(self, cache: Path, site: Path, tmp_path: Path, form: str) -> None:
        written = []
        for name in ("a", "b"):
            result = run("vectorize", site, "--format", form, "-o", tmp_path / name, cache=cache)
            assert result.exit_code == 0
            written.append([p.read_bytes() for p in sorted([tmp_path / name, *tmp_path.glob(f"{name}.*")])])
        assert written[0] == written[1]
        assert len(written[0]) == (1 if form == "parquet" else 2)

    def test_rows_are_pages_in_the_order_asked_for(self, cache: Path, site: Path, tmp_path: Path) -> None:
        (site / "sub").mkdir()
        (site / "sub/p7.html").write_text(page(7), encoding="utf-8")
        targets = [site / "p3.html", site / "sub", site / "p1.html"]
        result = run("vectorize", "--json", *targets, "-o", tmp_path / "w.npz", cache=cache)
        facts = json.loads(result.stdout)
        assert (facts["pages"], facts["rows"]) == (3, 3)
        names = json.loads((tmp_path / "w.npz.names.json").read_text(encoding="utf-8"))
        assert [Path(label).name for label in names["pages"]] == ["p3.html", "p7.html", "p1.html"]
        assert names["features"] == sorted(names["features"])
        matrix = load_npz(tmp_path / "w.npz")
        assert matrix.shape == (3, len(names["features"]))
        column = names["features"].index("word7a")
        assert [bool(value) for value in matrix[:, [column]].toarray()] == [False, True, False]

    def test_rows_are_blocks_when_asked_for(self, cache: Path, site: Path, tmp_path: Path) -> None:
        result = run("vectorize", "--per-block", "--json", site, "-o", tmp_path / "w.npz", cache=cache)
        names = json.loads((tmp_path / "w.npz.names.json").read_text(encoding="utf-8"))
        assert len(names["nodes"]) == len(names["pages"]) == json.loads(result.stdout)["rows"]
        assert json.loads(result.stdout)["pages"] == 6

    def test_few_pages_are_told(
        self, cache: Path, site: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        run("vectorize", site, "-o", tmp_path / "w.npz", cache=cache)
        assert "weigh among each other" not in caplog.text
        run("vectorize", site / "p1.html", "-o", tmp_path / "w.npz", cache=cache)
        assert "only 1 page(s) to compare words with" in caplog.text

    def test_by_a_model(self, cache: Path, site: Path, tmp_path: Path) -> None:
        run("learn", "--method", "cst", site, "-o", tmp_path / "model", cache=cache)
        (tmp_path / "new.html").write_text(page(9), encoding="utf-8")
        call = ("vectorize", "--model", tmp_path / "model", tmp_path / "new.html", "-o", tmp_path / "w.npz")
        assert run(*call, cache=cache).exit_code == 0
        names = json.loads((tmp_path / "w.npz.names.json").read_text(encoding="utf-8"))
        assert "word1a" in names["features"]
        assert "word9a" not in names["features"]
        for option in (("--mode", "paper"), ("--param", "style=full")):
            refused = run(*call, *option, cache=cache)
            assert (refused.exit_code, "fixed when the model was learned" in refused.stderr) == (2, True)
        run("learn", "--method", "entropy", site, "-o", tmp_path / "model", cache=cache)
        result = run(*call, cache=cache)
        assert (result.exit_code, "of the method cst" in result.stderr) == (2, True)

    def test_a_bad_page_has_no_row(self, cache: Path, tmp_path: Path) -> None:
        damage(cache, fill(cache, URLS)[1])
        result = run("vectorize", "example.org", "-o", tmp_path / "w.npz", cache=cache)
        assert result.exit_code == 1
        assert result.stderr.endswith("1 of 6 pages failed.\n")
        names = json.loads((tmp_path / "w.npz.names.json").read_text(encoding="utf-8"))
        assert names["pages"] == [url for url in URLS if url != URLS[1]]

    def test_nothing_to_vectorize(self, cache: Path, tmp_path: Path) -> None:
        damage(cache, fill(cache, URLS[:1])[0])
        result = run("vectorize", "example.org", "-o", tmp_path / "w.npz", cache=cache)
        assert result.exit_code == 3
        assert "nothing to vectorize" in result.stderr
        assert not (tmp_path / "w.npz").exists()
