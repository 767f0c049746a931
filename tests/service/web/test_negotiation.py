"""What a result is answered as, by the Accept header."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from domsieve.service.web.downloads import agreed
from domsieve.service.web.problems import ProblemError
from tests.service.web.stage import PAGE, Stage, stage

OFFERED = ["application/json", "text/markdown", "text/plain"]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("negotiation")) as made:
        yield made


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (None, "application/json"),
        ("", "application/json"),
        ("*/*", "application/json"),
        ("text/plain", "text/plain"),
        ("TEXT/Markdown; charset=utf-8", "text/markdown"),
        ("text/*", "text/markdown"),
        ("text/markdown, text/html, */*", "text/markdown"),
        ("text/html, application/xhtml+xml, */*;q=0.8", "application/json"),
        ("application/json;q=0.5, text/plain;q=0.9", "text/plain"),
        ("text/plain, application/json", "text/plain"),
        ("*/*, application/json;q=0", "text/markdown"),
        ("text/markdown;q=0, text/*", "text/plain"),
    ],
)
def test_the_type_that_is_liked_best_is_taken(accept: str | None, kind: str) -> None:
    assert agreed(accept, OFFERED) == kind


@pytest.mark.parametrize(
    "accept",
    ["text/html", "image/*", "*/*;q=0", "text/plain;q=0", "text/plain;q=", "text/plain;q=nan", ",;,", "text"],
)
def test_what_is_not_offered_is_refused_with_the_choices(accept: str) -> None:
    with pytest.raises(ProblemError, match=r"application/json, text/markdown, text/plain\.$") as caught:
        agreed(accept, OFFERED)
    assert (caught.value.problem.status, caught.value.problem.fault) == (406, "caller")


@pytest.mark.parametrize(("kind", "form"), [("text/markdown", "markdown"), ("text/plain", "text")])
def test_a_page_is_answered_as_it_is_asked_for(service: Stage, kind: str, form: str) -> None:
    answer = service.client.post("/v1/clean", json={"url": PAGE}, headers={"Accept": kind})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("attachment; ")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.text.startswith("# Title\n")
    job = service.client.get(answer.headers["location"]).json()
    assert job["request"]["format"] == form
    again = service.client.get(f"{job['url']}/result", headers={"Accept": kind})
    assert (again.text, again.headers["content-type"]) == (answer.text, answer.headers["content-type"])
    head = service.client.head(f"{job['url']}/result", headers={"Accept": kind})
    assert (head.content, head.headers["content-length"]) == (b"", str(len(answer.content)))
    told = service.client.get(f"{job['url']}/result").json()
    assert (told["state"], told["content"]) == ("done", answer.text)


def test_an_address_alone_is_answered_with_markdown(service: Stage) -> None:
    for accept, kind in (("*/*", "text/markdown"), ("text/plain", "text/plain")):
        answer = service.client.get("/v1/clean", params={"url": PAGE}, headers={"Accept": accept})
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
        assert answer.text.startswith("# Title\n")
    answer = service.client.get("/v1/clean", params={"url": PAGE}, headers={"Accept": "application/json"})
    assert answer.json()["content"].startswith("# Title\n")


@pytest.mark.parametrize(
    "url", ["example.org", "ftp://example.org/", "http://1.2.3.4.5/", "http://a@b.example/"]
)
def test_what_is_no_address_is_refused_in_words(service: Stage, url: str) -> None:
    posted = service.client.post("/v1/clean", json={"url": url}).json()
    got = service.client.get("/v1/clean", params={"url": url}).json()
    for answer, place in ((posted, "body.url"), (got, "query.url")):
        (wrong,) = answer["errors"]
        assert (answer["status"], wrong["where"]) == (422, place)
        assert "API description" not in wrong["what"]
    assert posted["errors"][0]["what"] == got["errors"][0]["what"]


def test_an_address_without_a_scheme_is_asked_for_with_one(service: Stage) -> None:
    answer = service.client.post("/v1/clean", json={"url": "example.org"}).json()
    assert answer["detail"] == "body.url: Give an address with http:// or https://"
    unencoded = service.client.get(f"/v1/clean?url={PAGE}?a=1&b=2").json()
    assert "%26" in unencoded["detail"]


def test_json_is_the_answer_to_those_who_do_not_care(service: Stage) -> None:
    for accept in ("*/*", "application/json", "text/html, */*;q=0.1"):
        answer = service.client.post("/v1/clean", json={"url": PAGE}, headers={"Accept": accept})
        assert answer.json()["content"].startswith("# Title\n")


def test_a_format_that_is_named_is_the_only_text(service: Stage) -> None:
    for form, accept in (("markdown", "text/plain"), ("json", "text/markdown"), ("text", "text/markdown")):
        asked = {"url": PAGE, "format": form}
        before = len(service.client.get("/v1/jobs").json()["jobs"])
        answer = service.client.post("/v1/clean", json=asked, headers={"Accept": accept})
        assert (answer.status_code, answer.headers["content-type"]) == (406, "application/problem+json")
        assert "application/json" in answer.json()["detail"]
        assert len(service.client.get("/v1/jobs").json()["jobs"]) == before
    asked = {"url": PAGE, "format": "text"}
    assert service.client.post("/v1/clean", json=asked, headers={"Accept": "text/plain"}).status_code == 200


@pytest.mark.parametrize("kind", ["records", "compare", "report"])
def test_what_is_no_text_is_refused_with_the_choice(service: Stage, kind: str) -> None:
    answer = service.client.post(f"/v1/{kind}", json={"url": PAGE}, headers={"Accept": "text/plain"})
    assert (answer.status_code, answer.json()["detail"]) == (
        406,
        "This result is available as application/json.",
    )
    job = service.job(kind)
    refused = service.client.get(f"{job['url']}/result", headers={"Accept": "text/markdown"})
    assert refused.status_code == 406


def test_a_job_that_failed_or_is_not_done_says_so_whatever_is_asked_for(
    service: Stage, tmp_path: Path
) -> None:
    plain = {"Accept": "text/plain"}
    failed = service.client.post("/v1/clean", json={"url": f"{PAGE}/bad-page"}, headers=plain)
    assert (failed.status_code, failed.headers["content-type"]) == (502, "application/problem+json")
    result = service.client.get(f"{failed.headers['location']}/result", headers=plain)
    assert result.status_code == 502
    assert service.client.get(f"/v1/jobs/{'0' * 32}/result").status_code == 404
    with stage(tmp_path, work=None, wait_s=0) as idle:
        answer = idle.client.post("/v1/clean", json={"url": PAGE}, headers=plain)
        assert (answer.status_code, answer.json()["state"]) == (202, "queued")
        waiting = idle.client.get(f"{answer.headers['location']}/result", headers=plain)
        assert (waiting.status_code, waiting.json()["state"]) == (202, "queued")
        idle.client.post(f"{answer.headers['location']}/cancel")
        assert idle.client.get(f"{answer.headers['location']}/result").status_code == 409


def test_the_description_names_the_types(service: Stage) -> None:
    document = service.client.get("/openapi.json").json()
    for path, method in (("/v1/clean", "post"), ("/v1/jobs/{job}/result", "get")):
        answers = document["paths"][path][method]["responses"]
        assert set(answers["200"]["content"]) == {"application/json", "text/markdown", "text/plain"}
        assert "406" in answers
