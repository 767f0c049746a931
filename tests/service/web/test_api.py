"""What the routes of the API do with jobs."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import Claim
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.web.api import wait_of
from domsieve.service.web.metrics import Figures
from tests.service.web.stage import PAGE, REPORT, Stage, instant, stage


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("api")) as made:
        yield made


@pytest.fixture
def idle(tmp_path: Path) -> Iterator[Stage]:
    """Return a service whose jobs wait."""
    with stage(tmp_path, work=None, wait_s=0) as made:
        yield made


def told(text: str) -> list[dict[str, Any]]:
    """Return the events of a stream."""
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


@pytest.mark.parametrize("kind", ["clean", "records", "compare", "report"])
def test_a_page_is_done_in_one_request(service: Stage, kind: str) -> None:
    answer = service.client.post(f"/v1/{kind}", json={"url": PAGE})
    job = answer.json()
    assert (answer.status_code, job["state"], job["kind"]) == (200, "done", kind)
    assert answer.headers["location"] == job["url"]
    (file,) = job["files"]
    data = service.client.get(file["url"])
    assert len(data.content) == file["size_bytes"] == int(data.headers["content-length"])
    assert job["content"] == (None if kind == "report" else data.text)


def test_a_site_is_never_waited_for(idle: Stage) -> None:
    answer = idle.client.post("/v1/sites", json={"url": PAGE})
    assert answer.status_code == 202
    assert idle.client.get(answer.headers["location"]).json()["state"] == "queued"


def test_a_job_that_takes_longer_goes_on(idle: Stage) -> None:
    answer = idle.client.post("/v1/clean", json={"url": PAGE}, headers={"Prefer": "wait=0"})
    assert (answer.status_code, answer.json()["state"]) == (202, "queued")
    assert answer.headers["location"] == answer.json()["url"]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 30),
        ("wait=5", 5),
        ("respond-async", 0),
        ("respond-async, wait=7", 7),
        ("wait=999", 60),
        ("wait=-1", 30),
        ("waiting=5", 30),
        ("handling=lenient; wait=4", 4),
        ("wait=٣", 30),
        ("", 30),
    ],
)
def test_a_caller_says_how_long_to_wait(header: str | None, seconds: int) -> None:
    assert wait_of(header, default=30) == seconds


@pytest.mark.parametrize(
    ("fault", "status"),
    [("caller", 422), ("policy", 403), ("page", 502), ("browser", 503), ("service", 503), ("bogus", 503)],
)
def test_a_failed_page_says_whose_fault_it_was(service: Stage, fault: str, status: int) -> None:
    answer = service.client.post("/v1/clean", json={"url": f"https://example.org/bad-{fault}"})
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (answer.status_code, body["status"], body["retry"], body["stage"]) == (
        status,
        status,
        True,
        "navigate",
    )
    assert body["fault"] == (fault if fault != "bogus" else "service")
    assert service.client.get(f"/v1/jobs/{body['job']}").json()["state"] == "failed"


def test_a_page_that_took_too_long_is_a_gateway_timeout(tmp_path: Path) -> None:
    def slow(queue: WorkQueue, claim: Claim) -> None:
        queue.fail(claim, {"title": "The page took too long.", "detail": "x", "fault": "page", "retry": True})

    with stage(tmp_path, work=slow) as made:
        assert made.client.post("/v1/clean", json={"url": PAGE}).status_code == 504


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"url": 1},
        {"url": "ftp://example.org"},
        {"url": "javascript:alert(1)"},
        {"url": "http://user:pw@example.org"},
        {"url": "http://-1.0.0.1/"},
        {"url": "http://1_0.0.0.1/"},
        {"url": "http://%\ud800/"},
        {"url": "http://\ud800.example/"},
        {"url": "http://%/"},
        {"url": PAGE, "script": "alert(1)"},
        {"url": PAGE, "proxy": "http://127.0.0.1"},
        {"url": PAGE, "viewport_width": "1280"},
        {"url": PAGE, "viewport_width": 1},
        {"url": PAGE, "method": "best"},
        {"url": PAGE, "scroll": 1},
        {"url": PAGE, "time_s": 1e9},
        {"url": PAGE, "locale": ["de"]},
    ],
)
def test_requests_are_known_scalars_alone(service: Stage, fields: dict[str, Any]) -> None:
    body = json.dumps(fields).encode()  # as other programs send it: half surrogates are escaped
    answer = service.client.post("/v1/clean", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["errors"]
    assert service.client.get("/v1/jobs?limit=1").status_code == 200


@pytest.mark.parametrize("number", ["1_0", "%2B5", "%205", "5%0A", "-1", "%D9%A3", "5.0", "", "9" * 5_000])
@pytest.mark.parametrize("query", ["jobs?limit=", "pages?limit=", "pages?before="])
def test_numbers_in_addresses_are_of_digits(service: Stage, query: str, number: str) -> None:
    assert service.client.get(f"/v1/{query}{number}").status_code == 422


def test_a_site_whose_address_has_no_host_makes_no_job(idle: Stage) -> None:
    answer = idle.client.post("/v1/sites", json={"url": "http://-1.0.0.1/"})
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "body.url")
    assert idle.client.get("/v1/jobs").json()["jobs"] == []


class TestIdempotencyKey:
    def test_the_same_request_gives_the_same_job(self, idle: Stage) -> None:
        sent = [
            idle.client.post("/v1/clean", json={"url": PAGE}, headers={"Idempotency-Key": "k1"}) for _ in "ab"
        ]
        assert sent[0].json()["id"] == sent[1].json()["id"]
        assert len(idle.client.get("/v1/jobs").json()["jobs"]) == 1

    def test_another_request_is_a_conflict(self, idle: Stage) -> None:
        headers = {"Idempotency-Key": "k1"}
        idle.client.post("/v1/clean", json={"url": PAGE}, headers=headers)
        assert idle.client.post("/v1/clean", json={"url": PAGE + "0"}, headers=headers).status_code == 409
        assert idle.client.post("/v1/compare", json={"url": PAGE}, headers=headers).status_code == 409

    @pytest.mark.parametrize("key", ["", "a b", "x" * 256])
    def test_a_bad_key_is_refused(self, idle: Stage, key: str) -> None:
        answer = idle.client.post("/v1/clean", json={"url": PAGE}, headers={"Idempotency-Key": key})
        assert answer.status_code == 422


class TestJobs:
    def test_are_listed_in_parts_newest_first(self, idle: Stage) -> None:
        made = [idle.job(url=f"{PAGE}/{number}")["id"] for number in range(5)]
        path, seen = "/v1/jobs?limit=2", []
        while path:
            part = idle.client.get(path).json()
            seen += [job["id"] for job in part["jobs"]]
            path = part["next"]
        assert seen == made[::-1]

    def test_are_listed_by_state(self, idle: Stage) -> None:
        first, second = idle.job()["id"], idle.job()["id"]
        assert idle.client.post(f"/v1/jobs/{first}/cancel").json()["state"] == "cancelled"
        found = {
            state: [job["id"] for job in idle.client.get(f"/v1/jobs?state={state}").json()["jobs"]]
            for state in ("cancelled", "queued", "done")
        }
        assert found == {"cancelled": [first], "queued": [second], "done": []}

    def test_that_there_are_not_are_not_found(self, idle: Stage) -> None:
        nothing = f"/v1/jobs/{'0' * 32}"
        for path in (nothing, f"{nothing}/events", f"{nothing}/files/page.md", f"/v1/jobs?before={'0' * 32}"):
            assert idle.client.get(path).status_code == 404, path
        assert idle.client.delete(nothing).status_code == 404

    @pytest.mark.parametrize("name", ["..%2f..%2fjobs.sqlite", ".hidden", "%00", "a%0d%0ab", "x" * 200])
    def test_names_of_files_are_names(self, service: Stage, name: str) -> None:
        job = service.job()
        assert service.client.get(f"{job['url']}/files/{name}").status_code in {404, 422}

    def test_a_deleted_one_is_gone(self, service: Stage) -> None:
        job = service.job()
        assert service.client.delete(job["url"]).status_code == 204
        assert service.client.get(job["url"]).status_code == 404

    def test_one_that_is_cancelled_while_it_is_waited_for_is_a_conflict(self, tmp_path: Path) -> None:
        def cancelled(queue: WorkQueue, claim: Claim) -> None:
            JobStore(queue.database).cancel(claim.job.id, claim.job.client)

        with stage(tmp_path, work=cancelled) as made:
            assert made.client.post("/v1/clean", json={"url": PAGE}).status_code == 409


class TestEvents:
    def test_all_are_told_in_order(self, service: Stage) -> None:
        job = service.job()
        answer = service.client.get(f"{job['url']}/events")
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = told(answer.text)
        assert [event["data"].get("state") for event in events] == ["queued", "running", None, "done"]
        assert [event["number"] for event in events] == sorted({event["number"] for event in events})

    def test_those_that_were_seen_are_not_told_again(self, service: Stage) -> None:
        path = f"{service.job()['url']}/events"
        numbers = [event["number"] for event in told(service.client.get(path).text)]
        rest = service.client.get(path, headers={"Last-Event-ID": str(numbers[1])})
        assert [event["number"] for event in told(rest.text)] == numbers[2:]
        assert service.client.get(path, headers={"Last-Event-ID": str(numbers[-1])}).status_code == 204

    def test_come_while_the_job_runs(self, tmp_path: Path) -> None:
        seen = threading.Event()

        def paced(queue: WorkQueue, claim: Claim) -> None:
            queue.event(claim, "page", {"url": PAGE})
            assert seen.wait(30)
            instant(queue, claim)

        with stage(tmp_path, work=paced, wait_s=0) as made:
            job, lines = made.job(), []
            with made.client.stream("GET", f"{job['url']}/events") as stream:
                for line in stream.iter_lines():
                    lines.append(line)
                    if '"kind": "page"' in line:
                        seen.set()
            assert '"done"' in lines[-2]

    def test_the_stream_ends_when_the_job_is_deleted(self, idle: Stage) -> None:
        job = idle.job()
        with idle.client.stream("GET", f"{job['url']}/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "retry: 2000"
            idle.client.delete(job["url"])
            assert list(lines)[-1] == ""


def test_a_stop_answers_all_who_wait(tmp_path: Path) -> None:
    with stage(tmp_path, work=None, wait_s=60) as made:
        answers: list[int] = []
        waiting = threading.Thread(
            target=lambda: answers.append(made.client.post("/v1/clean", json={"url": PAGE}).status_code)
        )
        waiting.start()
        while not made.store.list("local"):
            pass
        job = made.store.list("local")[0].id
        with made.as_client(None) as other, other.stream("GET", f"/v1/jobs/{job}/events") as stream:
            made.server.should_exit = True
            assert '"queued"' in "".join(stream.iter_lines())
        waiting.join()
    assert answers == [202]


class TestFiles:
    def test_the_report_is_a_document_in_a_sandbox(self, service: Stage) -> None:
        (file,) = service.job("report")["files"]
        answer = service.client.get(file["url"])
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("sandbox allow-scripts;")
        assert "allow-same-origin" not in policy
        assert "default-src 'none'" in policy
        assert answer.headers["content-disposition"].startswith("inline")
        assert answer.content == REPORT

    def test_the_report_can_be_saved(self, service: Stage) -> None:
        (file,) = service.job("report")["files"]
        answer = service.client.get(file["url"] + "?download=true")
        assert answer.headers["content-disposition"] == 'attachment; filename="report.html"'
        assert "allow-scripts" not in answer.headers["content-security-policy"]

    def test_all_others_are_for_saving(self, service: Stage) -> None:
        (file,) = service.job("clean")["files"]
        answer = service.client.get(file["url"])
        assert answer.headers["content-disposition"].startswith("attachment")
        assert "sandbox" in answer.headers["content-security-policy"].split()
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_cache_lists_what_the_clients_jobs_used(service: Stage) -> None:
    for number in range(3):
        service.job(url=f"https://example.org/cache/{number}")
    part = service.client.get("/v1/pages?limit=2").json()
    assert [page["url"] for page in part["pages"]] == [
        "https://example.org/cache/2",
        "https://example.org/cache/1",
    ]
    assert service.client.get(part["next"]).json()["pages"][0]["url"] == "https://example.org/cache/0"


class TestMetrics:
    def test_tell_of_jobs_and_workers(self, tmp_path: Path) -> None:
        figures = Figures(workers=2, pages=7, browser_starts=3, worker_restarts=1)
        with stage(tmp_path, told={"figures": lambda: figures}) as made:
            made.job()
            made.client.post("/v1/clean", json={"url": "https://example.org/bad-page"})
            text = made.client.get("/metrics").text
        for line in (
            'domsieve_jobs{fault="",kind="clean",state="done"} 1.0',
            'domsieve_jobs{fault="page",kind="clean",state="failed"} 1.0',
            "domsieve_queue_length 0.0",
            "domsieve_workers 2.0",
            "domsieve_pages_total 7.0",
            "domsieve_browser_starts_total 3.0",
            'domsieve_requests_total{method="POST",route="/v1/clean",status="200"} 1.0',
        ):
            assert line in text.splitlines()

    def test_have_no_label_that_a_caller_sent(self, service: Stage) -> None:
        service.client.get("/secret-path")
        service.client.get(f"/v1/jobs/{'abc' * 10}00")
        service.client.request("BREW", "/v1/jobs")
        text = service.client.get("/metrics").text
        assert not [word for word in ("secret", "abcabc", "BREW", "example.org") if word in text]


def test_health_fails_with_its_workers(tmp_path: Path) -> None:
    with stage(tmp_path, told={"is_well": lambda: False}) as made:
        answer = made.client.get("/v1/health")
        assert (answer.status_code, answer.json()) == (503, {"status": "failing"})


def test_what_was_not_foreseen_is_told_without_particulars(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> bool:
        raise ValueError("secret")

    with stage(tmp_path, told={"is_well": broken}) as made:
        answer = made.client.get("/v1/health")
    assert (answer.status_code, answer.json()["fault"]) == (500, "service")
    assert "secret" not in answer.text
    assert "nosniff" in answer.headers["x-content-type-options"]
    assert "request_failed" in caplog.text
