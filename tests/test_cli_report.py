"""The commands `report` and `learn --explain` without a browser: files and pages of the cache."""

import json
import re
from pathlib import Path
from typing import Any

from tests.command import damage, fill, run, write_pages

URLS = [f"https://example.org/{number}" for number in range(6)]


def index_of(file: Path) -> dict[str, Any]:
    found = re.search(r'id="index">(.*?)</script>', file.read_text(encoding="utf-8"))
    assert found
    index: dict[str, Any] = json.loads(found[1])
    return index


def test_a_report_on_files(tmp_path: Path) -> None:
    write_pages(tmp_path / "pages", 6)
    result = run("report", tmp_path / "pages", "-o", tmp_path / "r.html", cache=tmp_path / "cache")
    assert (result.exit_code, result.stdout) == (0, "")
    index = index_of(tmp_path / "r.html")
    assert len(index["pages"]) == 6
    assert index["start"] == "auto"
    expected = [page["expected_f1"]["raw"] for page in index["pages"]]
    assert expected == sorted(expected)
    assert {name for page in index["pages"] for name in page["editions"]} == {"raw"}
    kept, dropped = index["pages"][0]["words"]["raw"]["sst"]
    assert kept > dropped > 0


def test_a_report_on_one_page_of_the_cache(tmp_path: Path) -> None:
    records = fill(tmp_path, URLS)
    result = run("report", records[0].page_id, "-o", tmp_path / "r.html", cache=tmp_path)
    assert result.exit_code == 0
    index = index_of(tmp_path / "r.html")
    assert [index["labels"][page["number"]] for page in index["pages"]] == [records[0].url]


def test_equal_pages_give_equal_bytes(tmp_path: Path) -> None:
    fill(tmp_path, URLS)
    for name in ("a", "b"):
        assert run("report", "example.org", "-o", tmp_path / name, cache=tmp_path).exit_code == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_pages_that_cannot_be_read_are_left_out_and_told(tmp_path: Path) -> None:
    records = fill(tmp_path, URLS)
    damage(tmp_path, records[5])
    result = run("report", "example.org", "-o", tmp_path / "r.html", cache=tmp_path)
    assert result.exit_code == 1
    assert f"{records[5].url}: The page in" in result.stderr
    assert result.stderr.endswith("1 of 6 pages failed.\n")
    assert len(index_of(tmp_path / "r.html")["pages"]) == 5


def test_nothing_to_report(tmp_path: Path) -> None:
    (record,) = fill(tmp_path, URLS[:1])
    damage(tmp_path, record)
    result = run("report", "example.org", "-o", tmp_path / "r.html", cache=tmp_path)
    assert result.exit_code == 3
    assert not (tmp_path / "r.html").exists()


def test_explain_shows_thresholds_and_proposes_one(tmp_path: Path) -> None:
    fill(tmp_path, URLS)
    result = run("learn", "example.org", "--method", "sst", "--explain", cache=tmp_path)
    assert result.exit_code == 0
    assert re.search(r"^ +0\.05 +\d+ \(\d+ %\) +18", result.stdout, re.MULTILINE)
    assert "widest gap: no block between" in result.stdout
    assert "proposed: --param threshold=0." in result.stdout
    words = ("--method", "sst", "--explain", "--json", "-o", tmp_path / "model")
    both = run("learn", "example.org", *words, cache=tmp_path)
    thresholds = json.loads(both.stdout)["thresholds"]
    assert len(thresholds["steps"]) == 8
    assert thresholds["gap"][0] < thresholds["proposed"] < thresholds["gap"][1]
    assert (tmp_path / "model").exists()


def test_explain_is_about_one_method_and_learn_wants_something_to_do(tmp_path: Path) -> None:
    fill(tmp_path, URLS)
    for method in ([], ["--method", "template"]):
        other = run("learn", "example.org", "--explain", *method, cache=tmp_path)
        assert other.exit_code == 2
        assert "--explain shows thresholds of the method sst; add --method sst." in other.stderr
    nothing = run("learn", "example.org", cache=tmp_path)
    assert nothing.exit_code == 2
    assert "--explain" in nothing.stderr


def test_examples_cannot_steer_the_terminal(tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    folder.mkdir()
    for number in range(12):
        extra = "\u202e\x1b[31mborder\x9b text" if number < 4 else f"other{number}"
        (folder / f"{number}.html").write_text(
            f"<p>unique{number} words{number}</p><p>{extra} {number // 4}</p><p>same</p>", encoding="utf-8"
        )
    result = run("learn", folder, "--method", "sst", "--explain", cache=tmp_path / "cache")
    assert result.exit_code == 0
    assert not set("\x1b\x9b\u202e") & set(result.stdout)
