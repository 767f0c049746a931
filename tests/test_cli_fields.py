"""`domsieve fields` on the command line: learn from a file of examples, extract, and notice a field that breaks."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.analysis.test_learned_fields import fields, source
from tests.command import run


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    for number in range(1, 13):
        (folder / f"{number:02}.html").write_text(source(number), encoding="utf-8")
    lines = [{"file": f"shop/{number:02}.html", "fields": fields(number)} for number in (3, 4)]
    (tmp_path / "examples.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder


def learn(shop: Path) -> Path:
    model = shop.parent / "shop.json"
    words: list[str | Path] = ["--examples", shop.parent / "examples.jsonl", "-o", model]
    result = run("fields", "learn", shop, *words, cache=shop.parent / "cache")
    assert result.exit_code == 0, result.output
    assert "12 pages" in result.stdout
    assert "price: found in 12 of 12 pages" in result.stdout
    return model


def test_fields_are_written_as_json_lines_and_as_a_table(shop: Path) -> None:
    model = learn(shop)
    words: list[str | Path] = ["fields", "extract", shop, "--model", model]
    result = run(*words, cache=shop.parent / "cache")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["fields"]["price"]["value"] for line in lines] == [f"£{n + 9}.50" for n in range(1, 13)]
    assert lines[2]["fields"]["authors"]["value"] == ["Date Smith", "Date Jones"]
    assert lines[2]["fields"]["authors"]["confidence"] > 0.5
    table = run(*words, "--format", "csv", cache=shop.parent / "cache")
    rows = [*csv.DictReader(io.StringIO(table.stdout))]
    assert [row["isbn"] for row in rows] == [fields(n)["isbn"] for n in range(1, 13)]
    assert rows[2]["authors"] == "Date Smith; Date Jones"
    assert "isbn: found in 12 of 12 pages" in table.stderr


def test_a_field_that_breaks_is_named_and_can_end_the_command(shop: Path) -> None:
    model = learn(shop)
    for number in range(1, 13):
        (shop / f"{number:02}.html").write_text(source(number, without=["price"]), encoding="utf-8")
    words: list[str | Path] = ["fields", "extract", shop, "--model", model, "--format", "csv"]
    result = run(*words, cache=shop.parent / "cache")
    assert result.exit_code == 0
    assert "price: found on 0 of 12 pages, was 12 of 12; the place is gone" in result.stderr
    assert run(*words, "--fail-on-drift", cache=shop.parent / "cache").exit_code == 7


def test_bad_examples_name_the_line(shop: Path) -> None:
    examples = shop.parent / "examples.jsonl"
    examples.write_text(examples.read_text() + '\n{"file": "shop/05.html", "fields": {"title": "Nowhere"}}\n')
    result = run("fields", "learn", shop, "--examples", examples, "-o", "m.json", cache=shop.parent / "cache")
    assert result.exit_code == 2
    assert "examples.jsonl, line 3: 'title' is 'Nowhere', which is nowhere on its page" in result.stderr
    examples.write_bytes(b'{"url": "\xff"}')
    result = run("fields", "learn", shop, "--examples", examples, "-o", "m.json", cache=shop.parent / "cache")
    assert result.exit_code == 2
    assert "line 1 is not UTF-8" in result.stderr


def test_a_model_of_something_else_is_refused(shop: Path) -> None:
    model = shop.parent / "shop.json"
    model.write_text('{"kind": "another"}')
    result = run("fields", "extract", shop, "--model", model, cache=shop.parent / "cache")
    assert result.exit_code == 5
    assert "shop.json is not a valid model of fields" in result.stderr


def test_without_a_model_the_product_of_each_page_is_written(shop: Path) -> None:
    words: list[str | Path] = ["fields", "extract", shop]
    result = run(*words, cache=shop.parent / "cache")
    assert result.exit_code == 0, result.output
    lines = [json.loads(line)["fields"] for line in result.stdout.splitlines()]
    assert [line["price"]["value"] for line in lines] == [f"{n + 9}.50" for n in range(1, 13)]
    assert {line["currency"]["value"] for line in lines} == {"GBP"}
    assert {line["price"]["description"] for line in lines} == {"page"}
    assert "price: found in 12 of 12 pages" in result.stderr
    refused = run(*words, "--fail-on-drift", cache=shop.parent / "cache")
    assert refused.exit_code == 2
    assert "give --model" in refused.stderr
