"""`domsieve.learn_fields` and `domsieve.fields`: files, HTML and lists, with and without an event loop."""

import asyncio
from pathlib import Path

import pytest

import domsieve
from domsieve.errors import UsageError
from tests.analysis.test_learned_fields import fields, source


def write(folder: Path, *numbers: int) -> list[Path]:
    paths = [folder / f"{number:03}.html" for number in numbers]
    for number, path in zip(numbers, paths, strict=True):
        path.write_text(source(number), encoding="utf-8")
    return paths


def test_fields_are_learned_and_found(tmp_path: Path) -> None:
    others = write(tmp_path, *range(100, 110))
    model = domsieve.learn_fields([(source(3), fields(3)), (source(4), fields(4))], pages=others)
    result = domsieve.fields(source(6), url="https://shop.example/6", model=model)
    assert result.values == {**fields(6), "authors": ("Gum Smith", "Gum Jones")}
    assert result.url == "https://shop.example/6"
    assert result.csv.splitlines()[1].startswith(
        "https://shop.example/6,Gum and other trees,Gum Smith; Gum Jones,"
    )
    domsieve.save_fields_model(model, tmp_path / "shop.json")
    several = domsieve.fields([*others[:2], tmp_path / "none.html"], model=tmp_path / "shop.json")
    assert [one.error is None for one in several] == [True, True, False]
    assert several[0].values["isbn"] == fields(100)["isbn"]
    assert result.to_dict()["rows"][0]["isbn"] == result.values["isbn"]
    assert result.to_pandas()["isbn"].to_list() == [result.values["isbn"]]
    assert domsieve.to_pandas(several)["error"].notna().to_list() == [False, False, True]


def test_the_async_twins_give_the_same(tmp_path: Path) -> None:
    others = write(tmp_path, *range(100, 106))
    examples = [{"file": str(others[0]), "fields": fields(100)}]
    model = domsieve.learn_fields(examples, pages=others)
    assert asyncio.run(domsieve.learn_fields_async(examples, pages=others)) == model
    result = asyncio.run(domsieve.fields_async(source(6), model=model))
    assert result.values == domsieve.fields(source(6), model=model).values


@pytest.mark.parametrize(
    ("examples", "says"),
    [
        ("page", "examples"),
        ([("<p>A</p>",)], "give pairs"),
        ([{"fields": {"a": "b"}}], "give pairs"),
        ([("<p>A</p>", {"a": "B"})], "nowhere on its page"),
        ([], "has no example"),
    ],
)
def test_wrong_examples_are_refused(examples: object, says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        domsieve.learn_fields(examples)  # type: ignore[arg-type]
    assert caught.value.parameter == "examples"


def test_a_model_is_needed() -> None:
    with pytest.raises(UsageError, match="model"):
        domsieve.fields("<p>A</p>", model=None)  # type: ignore[call-overload]
