"""`domsieve fields` on the command line: learn from a file of examples, extract, and notice a field that breaks."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from domsieve.errors import UsageError
from domsieve.options import Scope
from domsieve.tasks.targets import FileTarget, Target, UrlTarget, within
from examples import seed_shop
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


def test_pages_that_were_listed_are_chosen_by_their_path() -> None:
    listed = [
        UrlTarget(f"http://shop.example/{path}", "feed.xml") for path in ("books/1", "books/2", "old/1")
    ]
    named: list[Target] = [UrlTarget("http://shop.example/about"), FileTarget(Path("a.html"), Path())]
    assert within([*listed, *named], Scope(include=("/books/*",))) == [*listed[:2], *named]
    assert within(listed, Scope(exclude=("*/1",))) == [listed[1]]
    assert within([], Scope(include=("/x",))) == []
    with pytest.raises(UsageError, match="None of 3 pages has a path that matches"):
        within(listed, Scope(include=("/none/*",)))


def test_a_report_shows_the_values_of_a_model_at_their_blocks(shop: Path) -> None:
    model, report = learn(shop), shop.parent / "report.html"
    page = shop / "05.html"
    result = run("report", page, "--model", model, "-o", report, cache=shop.parent / "cache")
    assert result.exit_code == 0, result.output
    found = re.search(
        r'<script[^>]*id="part-raw-0"[^>]*>(.*?)</script>', report.read_text("utf-8"), re.DOTALL
    )
    assert found
    view = json.loads(found[1])["view"]
    values = {value["name"]: value for value in view["values"]}
    assert view["learned"]
    assert values["price"]["text"] == fields(5)["price"]
    assert fields(5)["price"] in view["text"][values["price"]["block"]]


def test_the_made_up_shop_leaves_a_file_of_examples_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["seed_shop", str(tmp_path / "shop")])
    seed_shop.main()
    seed_shop.main()
    own = tmp_path / "examples.jsonl"
    own.write_text("mine", encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        seed_shop.main()
    assert ended.value.code == 2
    assert "move it away" in capsys.readouterr().err
    assert own.read_text(encoding="utf-8") == "mine"
