"""Jobs that learn fields from examples and return the fields of pages: over HTTP, on the web page, and for MCP."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from domsieve.analysis.fields.picking_page import picking_page
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.service.jobs.job_values import SiteQuota
from domsieve.service.jobs.requests import FieldsRequest, LearnFieldsRequest, shown
from domsieve.service.mcp._tools import TOOLS
from examples.loopback import folder_served
from examples.seed_shop import SEEDS, values, write_shop
from tests.service.test_stores import worked
from tests.service.web.stage import Stage, stage

URL = "http://shop.example/1"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[str]:
    write_shop(tmp_path / "shop")
    with folder_served(tmp_path / "shop") as base:
        yield base


def address(base: str, number: int) -> str:
    return f"{base}/{number:02}.html"


def asked(base: str, **more: Any) -> dict[str, Any]:
    examples = [{"url": address(base, n), "fields": values(SEEDS[n - 1])} for n in (2, 3)]
    return {
        "examples": examples,
        "urls": [address(base, n) for n in range(4, 10)],
        "render": "never",
        **more,
    }


def ended(made: Stage, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of a finished job: its result, or its problem."""
    answer = made.client.post(path, json=body)
    while answer.status_code == 202:
        time.sleep(0.02)
        answer = made.client.get(f"{answer.headers['location']}/result")
    found: dict[str, Any] = answer.json()
    return found


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_model_is_learned_and_finds_the_fields_of_other_pages(tmp_path: Path, shop: str) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        learned = ended(made, "/v1/fields/learn", asked(shop))
        assert learned["state"] == "done", learned
        assert (learned["summary"]["examples"], learned["summary"]["learned_from"]) == (2, 8)
        assert learned["summary"]["fields"]["price"] == "found in 8 of 8"
        assert json.loads(learned["content"])["kind"] == "domsieve fields model"
        table = lines(made.client.get(learned["files"][1]["url"]).text)
        assert [row["fields"]["name"]["value"] for row in table] == [seed.name for seed in SEEDS[1:9]]

        # The pages of the learning are known now, and need not be named.
        body = {"url": address(shop, 1), "known_pages": 20, "model": learned["content"], "render": "never"}
        found = ended(made, "/v1/fields", body)
        rows = {row["url"]: row["fields"] for row in lines(found["content"])}
        assert len(rows) == 9
        assert rows[address(shop, 1)]["growers"]["value"] == [*SEEDS[0].growers]
        assert rows[address(shop, 1)]["price"]["node"] > 0
        assert "model" not in found["request"]
        as_object = ended(made, "/v1/fields", {**body, "model": json.loads(learned["content"])})
        assert as_object["content"] == found["content"]


def test_a_field_that_breaks_is_named_in_the_remarks(tmp_path: Path, shop: str) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        model = ended(made, "/v1/fields/learn", asked(shop))["content"]
        write_shop(tmp_path / "shop", 4)
        urls = [address(shop, n) for n in range(1, 7)]
        body = {"url": urls[0], "urls": urls, "model": model, "refresh": True, "render": "never"}
        [remark] = ended(made, "/v1/fields", body)["summary"]["remarks"]
        assert remark.startswith("price: found on 0 of 6 pages, was 8 of 8")


def test_without_a_model_the_product_is_returned_as_a_table(tmp_path: Path, shop: str) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        body = {"url": address(shop, 1), "format": "csv", "render": "never"}
        header, row = ended(made, "/v1/fields", body)["content"].splitlines()
        assert header.startswith("url,name,price,currency")
        assert row.startswith(f"{address(shop, 1)},{SEEDS[0].name},{SEEDS[0].price[1:]},GBP")


def test_pages_that_fail_are_listed_and_an_example_without_its_page_fails_the_job(
    tmp_path: Path, shop: str
) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        body = {"url": address(shop, 1), "urls": [f"{shop}/none.html"], "render": "never"}
        found = ended(made, "/v1/fields", body)["summary"]
        assert (found["records"], found["failed"]) == (1, 1)
        assert found["failures"][0]["url"] == f"{shop}/none.html"
        gone = asked(shop)
        gone["examples"][0]["url"] = f"{shop}/none.html"
        problem = ended(made, "/v1/fields/learn", gone)
        assert (problem["status"], problem["fault"]) == (502, "page")


def test_a_value_that_is_nowhere_is_told_with_what_comes_closest(tmp_path: Path, shop: str) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        wrong = asked(shop)
        wrong["examples"][1]["fields"]["name"] = "Dull"
        problem = ended(made, "/v1/fields/learn", wrong)
        assert (problem["status"], problem["fault"]) == (422, "caller")
        assert "example 2" in problem["detail"]
        assert "Dill" in problem["detail"]


def test_captures_of_other_clients_do_not_count(tmp_path: Path, shop: str) -> None:
    tokens = {"anna": "anna-has-a-long-token", "bert": "bert-has-a-long-token"}
    with stage(tmp_path, work=worked, free_bytes=0, tokens=tokens) as made:
        numbers: list[int] = []
        for name in ("anna", "anna", "bert"):
            client = made.as_client(name)
            body = {"url": address(shop, 5), "known_pages": 9, "render": "never"}
            if not numbers:
                body |= {"urls": [address(shop, n) for n in range(1, 5)], "known_pages": 0}
            numbers.append(_rows(client, body))
        assert numbers == [5, 5, 1]


def _rows(client: httpx.Client, body: dict[str, Any]) -> int:
    answer = client.post("/v1/fields", json=body)
    while answer.status_code == 202:
        time.sleep(0.02)
        answer = client.get(f"{answer.headers['location']}/result")
    rows: int = answer.json()["summary"]["records"]
    return rows


def test_the_quota_of_pages_holds(tmp_path: Path, shop: str) -> None:
    def limited(queue: Any, claim: Any) -> None:
        worked(queue, claim, quota=SiteQuota(pages=3))

    with stage(tmp_path, work=limited, free_bytes=0) as made:
        body = {
            "url": address(shop, 1),
            "urls": [address(shop, n) for n in range(2, 7)],
            "render": "never",
        }
        found = ended(made, "/v1/fields", body)["summary"]
        assert (found["records"], found["failed"]) == (3, 3)
        assert "3 pages" in found["failures"][0]["detail"]


@pytest.mark.parametrize(
    "examples",
    [
        [],
        [{"fields": {"a": "b"}}],
        [{"url": "file:///etc/passwd", "fields": {"a": "b"}}],
        [{"file": "/etc/passwd", "fields": {"a": "b"}}],
        [{"url": URL, "file": "x", "fields": {"a": "b"}}],
        [{"url": "http://-1.0.0.1/", "fields": {"a": "b"}}],
        [{"url": URL, "fields": {"a": None}}],
        [{"url": URL, "fields": {"a": {"css": "["}}}],
        [{"url": URL, "fields": {"a": "b"}}, {"url": URL, "records": [{"a": "b"}]}],
        [{"url": URL, "fields": {"a": "b"}}] * 21,
        [[]],
        "x",
    ],
)
def test_examples_that_are_wrong_are_refused_before_a_job_is_made(examples: Any) -> None:
    with pytest.raises(ValidationError):
        LearnFieldsRequest(examples=examples)


@pytest.mark.parametrize("model", ["", "{}", "[", "/etc/passwd", {}, {"kind": "domsieve fields model"}, 1])
def test_what_is_no_model_is_refused(model: Any) -> None:
    with pytest.raises(ValidationError):
        FieldsRequest(url=URL, model=model)


def test_lists_of_jobs_leave_out_models() -> None:
    assert shown({"url": URL, "model": "x" * 1000}) == {"url": URL}


def test_the_tools_make_the_same_requests() -> None:
    example = {"url": URL, "fields": {"title": "Kettle"}}
    learned = TOOLS["learn_fields"].parse({"examples": [example]})
    assert learned.request == LearnFieldsRequest(examples=(example,))  # type: ignore[union-attr]
    found = TOOLS["extract_fields"].parse({"url": URL, "format": "csv"})
    assert found.request == FieldsRequest(url=URL, format="csv")  # type: ignore[union-attr]


def test_the_form_finds_fields_and_offers_a_learned_model(tmp_path: Path, shop: str) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        job = ended(made, "/v1/fields/learn", asked(shop))
        page = made.client.get(f"/jobs/{job['id']}").text
        assert "Find these fields on more pages" in page
        assert "Borage" not in page  # it was not among the pages
        assert "Chervil" in page
        form = made.client.get(f"/?learned={job['id']}").text
        assert "domsieve fields model" in form
        answer = made.client.post(
            "/",
            data={
                "url": address(shop, 1),
                "kind": "fields",
                "fields_model": job["content"],
                "fields_urls": address(shop, 2),
                "render": "never",
            },
            headers={"Origin": made.url},
        )
        assert answer.status_code == 303, answer.text
        text = ""
        while "badge done" not in text:
            assert "badge failed" not in text
            time.sleep(0.02)
            text = made.client.get(answer.headers["location"]).text
        assert "Borage" in text
        assert "Chervil" in text


def test_values_are_chosen_on_the_page_of_a_job_and_learned(tmp_path: Path, shop: str) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        body = {"url": address(shop, 2), "urls": [address(shop, n) for n in range(3, 8)], "render": "never"}
        job = ended(made, "/v1/fields", body)
        page = made.client.get(f"/jobs/{job['id']}").text
        assert 'sandbox="allow-scripts"' in page
        document = made.client.get(f"{job['url']}/files/page.html")
        assert f">{SEEDS[1].price}" in document.text
        assert "frame-ancestors 'self'" in document.headers["content-security-policy"]
        assert "allow-same-origin" not in document.headers["content-security-policy"]
        rows = {"name_0": "title", "value_0": SEEDS[1].name, "name_3": "price", "value_3": SEEDS[1].price}
        headers = {"Origin": made.url}
        answer = made.client.post(f"/jobs/{job['id']}/teach", data=rows, headers=headers)
        assert answer.status_code == 303, answer.text
        text = ""
        while "badge done" not in text:
            assert "badge failed" not in text
            time.sleep(0.02)
            text = made.client.get(answer.headers["location"]).text
        for seed in SEEDS[1:7]:
            assert seed.name in text
            assert seed.price in text


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({}, "Click a value"),
        ({"name_0": "title"}, "“title” needs both"),
        ({"value_1": "x"}, "“x” needs both"),
    ],
)
def test_rows_that_are_not_filled_in_are_refused(
    tmp_path: Path, shop: str, rows: dict[str, str], said: str
) -> None:
    with stage(tmp_path, work=worked, free_bytes=0) as made:
        job = ended(made, "/v1/fields", {"url": address(shop, 2), "render": "never"})
        answer = made.client.post(f"/jobs/{job['id']}/teach", data=rows, headers={"Origin": made.url})
        assert answer.status_code == 422
        assert said in answer.text


def test_the_page_to_choose_from_has_only_escaped_text() -> None:
    source = b"<p>&lt;script&gt;ran=1&lt;/script&gt;</p><script>ran=2</script><p onclick='ran=3'>a&quot;b</p>"
    document = picking_page(parse_html(source, url=URL)).decode()
    assert document.count("<script>") == 1
    assert "ran=2" not in document
    assert "onclick" not in document
    assert "&lt;script&gt;ran=1" in document
    assert "&quot;b" in document
