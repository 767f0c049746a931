"""The command `records` on pages that need no browser."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from domsieve.analysis.registry import MINERS
from tests.command import damage, fill, process, result_files, run


def shop(count: int = 6) -> str:
    """Return the source of a page with a menu, a footer and a list of products."""
    items = "".join(
        f"<li class=product><img src=/i{n}.png><h3 class=name><a href=/p/{n}>Product {n}</a></h3>"
        f"<p class=price>{n}.50</p><p>Sentence number {n} says what product {n} is good for.</p></li>"
        for n in range(1, count + 1)
    )
    return (
        "<!doctype html><meta charset=utf-8><title>Shop</title><body>"
        "<div><a href=/>Home</a> <a href=/about>About us</a></div>"
        f"<h1>Our products</h1><ul>{items}</ul><div><p>Imprint</p></div>"
    )


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder of two pages."""
    folder = tmp_path / "site"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.html").write_text(shop(6), encoding="utf-8")
    (folder / "sub/b.html").write_text(shop(7), encoding="utf-8")
    return folder


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_fields_are_picked_and_named_by_what_they_hold(cache: Path, site: Path) -> None:
    result = run("records", "--fields", "title,price,link,image", site / "a.html", cache=cache)
    assert result.exit_code == 0
    first, *others = table(result.stdout)
    assert list(first) == ["page", "region", "record", "title", "price", "link", "image"]
    assert (first["title"], first["price"]) == ("Product 1", "1.50")
    assert first["link"].endswith("/p/1")
    assert first["image"].endswith("/i1.png")
    assert len(others) == 5


def test_one_table_of_several_pages_says_how_to_tell_them_apart(cache: Path, site: Path) -> None:
    told = "One table has the records of 2 regions; page and region tell them apart"
    assert told in run("records", site, cache=cache).stderr
    assert "One table" not in run("records", site / "a.html", cache=cache).stderr


@pytest.mark.parametrize("names", ["title,prise", "", "title,,price", "Title"])
def test_fields_of_other_names_are_refused_with_the_choices(cache: Path, site: Path, names: str) -> None:
    result = run("records", "--fields", names, site / "a.html", cache=cache)
    assert result.exit_code == 2
    assert result.stdout == ""
    said = " ".join(result.stderr.replace("│", " ").split())
    assert "is not one of 'title', 'description', 'price', 'number', 'date', 'link', 'image'" in said


@pytest.mark.parametrize("method", MINERS)
def test_every_method_finds_the_products(cache: Path, site: Path, method: str) -> None:
    result = run("records", "--method", method, site / "a.html", cache=cache)
    assert result.exit_code == 0
    rows = [row for row in table(result.stdout) if row.get("price")]
    assert [row["price"] for row in rows] == [f"{n}.50" for n in range(1, 7)]
    assert [row["name"] for row in rows] == [f"Product {n}" for n in range(1, 7)]
    assert rows[0]["name_link"].endswith("/p/1")
    assert {row["page"] for row in rows} == {str(site / "a.html")}
    assert str(site / "a.html") in result.stderr


def test_wobm_is_the_default_and_every_method_says_its_name(cache: Path, site: Path) -> None:
    lines = run("records", "--format", "jsonl", site / "a.html", cache=cache).stdout.splitlines()
    assert {json.loads(line)["method"] for line in lines} == {"wobm"}
    assert run("records", "--json", site / "a.html", cache=cache).stdout.splitlines() == lines
    for method in MINERS:
        found = run("records", "--method", method, "--json", site, cache=cache).stdout
        assert {json.loads(line)["method"] for line in found.splitlines()} == {method}


def test_several_pages_make_one_table(cache: Path, site: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.csv"
    result = run("records", "-o", out, site, cache=cache)
    assert (result.exit_code, result.stdout) == (0, "")
    rows = table(out.read_bytes().decode())
    assert [Path(row["page"]).name for row in rows] == ["a.html"] * 6 + ["b.html"] * 7
    assert run("records", site, cache=cache).stdout_bytes == out.read_bytes()


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_file_per_page(cache: Path, site: Path, tmp_path: Path, form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    result = run("records", "--format", form, "--output-dir", tmp_path / "out", site, cache=cache)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result_files(tmp_path / "out") == [f"a.{form}", f"sub/b.{form}"]


def test_parquet_holds_the_same_records(cache: Path, site: Path, tmp_path: Path) -> None:
    parquet: Any = pytest.importorskip("pyarrow.parquet")
    assert (
        run("records", "--format", "parquet", "-o", tmp_path / "r.parquet", site, cache=cache).exit_code == 0
    )
    found = parquet.read_table(tmp_path / "r.parquet").to_pylist()
    rows = table(run("records", site, cache=cache).stdout)
    assert [{k: str(v or "") for k, v in row.items()} for row in found] == rows


def test_parquet_needs_its_library_and_a_file(
    cache: Path, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("records", "--format", "parquet", site, cache=cache)
    assert (result.exit_code, result.stdout) == (2, "")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run("records", "--format", "parquet", "-o", tmp_path / "x", site, cache=cache)
    assert result.exit_code == 2
    assert "the extra parquet" in result.stderr
    assert not (tmp_path / "x").exists()


def test_pages_of_the_cache_and_a_damaged_one(cache: Path) -> None:
    one, bad, three = fill(cache, [f"http://example.org/{n}" for n in range(3)])
    damage(cache, bad)
    result = run("records", "--method", "iepad", one.page_id, bad.page_id, three.page_id, cache=cache)
    assert result.exit_code == 1
    assert "http://example.org/1" in result.stderr
    assert "1 of 3 pages failed." in result.stderr
    assert result.stdout.startswith("page,region,record")
    assert run("records", bad.page_id, cache=cache).exit_code == 3


def test_a_page_without_records_is_an_empty_table(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "x.html").write_text("<p>nothing", encoding="utf-8")
    result = run("records", tmp_path / "x.html", cache=cache)
    assert (result.exit_code, result.stdout_bytes) == (0, b"page,region,record\r\n")
    assert run("records", "--format", "jsonl", tmp_path / "x.html", cache=cache).stdout == ""


def test_a_call_that_contradicts_itself(cache: Path, site: Path, tmp_path: Path) -> None:
    both = ("-o", tmp_path / "x", "--output-dir", tmp_path / "y")
    assert run("records", *both, site, cache=cache).exit_code == 2
    assert run("records", "--method", "x", site, cache=cache).exit_code == 2


def test_formulas_and_line_ends_stay_harmless(cache: Path, tmp_path: Path) -> None:
    hostile = shop().replace("Product 2", '=HYPERLINK(&quot;http://x&quot;)\r\n\x00&#x202e;"')
    (tmp_path / "x.html").write_text(hostile, encoding="utf-8", newline="")
    data = process("records", tmp_path / "x.html", cache=cache).stdout
    rows = table(data.decode("utf-8"))
    assert len(rows) == 6
    assert rows[1]["name"].startswith("'=HYPERLINK(")
    assert b"\0" not in data
    assert (
        data
        == process("records", tmp_path / "x.html", cache=cache, environment={"PYTHONHASHSEED": "7"}).stdout
    )
