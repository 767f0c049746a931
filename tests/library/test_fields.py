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


def test_without_a_model_the_fields_are_those_of_the_product() -> None:
    html = """<title>Kettle</title><h1>Kettle</h1><p class=price>$24.50</p><p>SKU: K-17</p><p>Sold out</p>
    <script type="application/ld+json">{"@type": "Product", "name": "Kettle", "brand": "Steam"}</script>"""
    result = domsieve.fields(html, url="https://shop.example/kettle")
    found = {name: value for name, value in result.values.items() if value is not None}
    assert found == {
        "name": "Kettle",
        "price": "24.50",
        "currency": "USD",
        "availability": "OutOfStock",
        "sku": "K-17",
        "brand": "Steam",
    }
    assert result.fields["brand"].description.startswith("json-ld")
    assert result.fields["price"].description == "page"
    assert result.snapshot.attributes(result.fields["price"].node) == {"class": "price"}
    assert result.fields["gtin"].value is None
    assert result.csv.startswith("url,name,price,currency,availability,sku,gtin,brand,rating,")


def test_a_wrong_model_is_refused() -> None:
    with pytest.raises(UsageError, match="model"):
        domsieve.fields("<p>A</p>", model=3)  # type: ignore[call-overload]
