"""What is refused before a route sees it, and the headers that every answer has."""

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.datastructures import Headers
from starlette.responses import Response

from domsieve.errors import UsageError
from domsieve.service.jobs.job_values import Claim, NewFile
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.web.load_shedding import Held, Requests
from domsieve.service.web.problems import ProblemError
from domsieve.service.web.sessions import Sessions
from domsieve.service.web.settings import Settings, client_of, read_tokens
from tests.service.web.stage import PAGE, TOKENS, Stage, stage


@pytest.fixture(scope="module")
def open_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("open"), public_hosts=("Clean.example.org",)) as made:
        yield made


@pytest.fixture(scope="module")
def closed_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("closed"), tokens=TOKENS) as made:
        yield made


def problem(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, Any] = answer.json()
    assert body["status"] == status
    return body


@pytest.mark.parametrize(
    "path", ["/", "/jobs", "/v1/health", "/v1/jobs", "/nothing", "/static/app.js", "/metrics"]
)
def test_every_answer_has_the_headers_that_keep_it_in_its_place(open_service: Stage, path: str) -> None:
    headers = open_service.client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert "server" not in headers
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8090", 200),
        ("LOCALHOST", 200),
        ("[::1]:8090", 200),
        ("clean.example.org:443", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost:80@evil.example", 421),
        ("localhost:99999999", 421),
        ("", 421),
    ],
)
def test_names_that_are_not_ours_are_refused(open_service: Stage, host: str, status: int) -> None:
    assert open_service.client.get("/v1/jobs", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "{own}"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[evil"}, 403),
        ({"Origin": ""}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "{own}", "Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_pages_of_other_sites_change_nothing(
    open_service: Stage, headers: dict[str, str], status: int
) -> None:
    sent = {name: value.replace("{own}", open_service.url) for name, value in headers.items()}
    before = len(open_service.client.get("/v1/jobs?limit=200").json()["jobs"])
    answer = open_service.client.post("/v1/clean", json={"url": PAGE}, headers=sent)
    assert answer.status_code == status
    after = len(open_service.client.get("/v1/jobs?limit=200").json()["jobs"])
    assert after - before == (status == 200)


@pytest.mark.parametrize(
    ("site", "mode", "dest", "status"),
    [
        ("same-origin", "cors", "empty", 200),
        ("none", "navigate", "document", 200),
        ("cross-site", "navigate", "document", 200),
        ("cross-site", "navigate", "iframe", 403),
        ("cross-site", "no-cors", "image", 403),
        ("same-site", "cors", "empty", 403),
    ],
)
def test_pages_of_other_sites_lead_here_and_get_nothing(
    tmp_path: Path, site: str, mode: str, dest: str, status: int
) -> None:
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": dest}
    with stage(tmp_path, requests_per_minute=1) as made:
        assert made.client.get("/v1/jobs", headers=headers).status_code == status
        # What was refused is not counted as the user's.
        assert made.client.get("/v1/jobs").status_code == (429 if status == 200 else 200)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "headers",
    [
        *({"Sec-Fetch-Site": site} for site in ("cross-site", "same-site", "same-origin", "none")),
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_no_link_makes_a_browser_clean_a_page(
    open_service: Stage, method: str, headers: dict[str, str]
) -> None:
    before = len(open_service.client.get("/v1/jobs?limit=200").json()["jobs"])
    answer = open_service.client.request(method, "/v1/clean", params={"url": PAGE}, headers=headers)
    assert answer.status_code == 403
    assert method == "HEAD" or "use the form" in problem(answer, 403)["detail"]
    assert len(open_service.client.get("/v1/jobs?limit=200").json()["jobs"]) == before


def test_an_address_is_cleaned_with_the_token_in_a_header_and_never_with_a_cookie(
    closed_service: Stage,
) -> None:
    page = {"url": PAGE}
    signed_in = closed_service.as_client(None)
    signed_in.post("/login", data={"token": TOKENS["anna"]})
    assert signed_in.get("/v1/jobs").status_code == 200
    problem(signed_in.get("/v1/clean", params=page), 401)
    in_the_address = {**page, "token": TOKENS["anna"]}
    problem(closed_service.as_client(None).get("/v1/clean", params=in_the_address), 401)
    refused = problem(closed_service.as_client("anna").get("/v1/clean", params=in_the_address), 422)
    assert refused["errors"][0]["where"] == "query.token"
    answer = closed_service.as_client("anna").get("/v1/clean", params=page)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert answer.text.startswith("# Title")


def test_cleaning_an_address_takes_from_the_limits_of_the_client(tmp_path: Path) -> None:
    with stage(tmp_path, requests_per_minute=1) as made:
        assert made.client.get("/v1/clean", params={"url": PAGE}).status_code == 200
        problem(made.client.get("/v1/clean", params={"url": PAGE}), 429)


class TestBody:
    def test_a_long_one_is_refused(self, open_service: Stage) -> None:
        body = json.dumps({"url": PAGE, "locale": "x" * 70_000})
        problem(open_service.client.post("/v1/clean", content=body), 413)

    def test_a_long_one_in_pieces_is_refused(self, open_service: Stage) -> None:
        pieces = (b" " * 10_000 for _ in range(8))
        problem(open_service.client.post("/v1/clean", content=pieces), 413)

    def test_a_long_one_is_refused_before_it_has_come(self, open_service: Stage) -> None:
        head = f"POST /v1/clean HTTP/1.1\r\nHost: 127.0.0.1:{open_service.port}\r\n"
        for rest in (
            b"Content-Length: 10000000\r\n\r\n",
            b"Content-Length: 65537\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n10001\r\n" + b" " * 0x10001 + b"\r\n",
        ):
            with open_service.connect(head.encode() + rest) as connection:
                assert connection.recv(12) == b"HTTP/1.1 413"

    def test_one_that_does_not_come_is_not_waited_for(self, tmp_path: Path) -> None:
        with stage(tmp_path, body_s=0.05) as made:
            head = f"POST /v1/clean HTTP/1.1\r\nHost: 127.0.0.1:{made.port}\r\nContent-Length: 10\r\n"
            head += "Connection: close\r\n\r\n{"
            answer = made.send(head.encode())
        assert answer.startswith(b"HTTP/1.1 408 ")

    @pytest.mark.parametrize(
        "body", [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"1e999", b"[" * 60_000]
    )
    def test_one_that_is_no_request_is_the_callers_fault(self, open_service: Stage, body: bytes) -> None:
        answer = open_service.client.post(
            "/v1/clean", content=body, headers={"Content-Type": "application/json"}
        )
        assert problem(answer, 400 if len(body) > 1000 else 422)["fault"] == "caller"


def test_what_is_no_http_is_told_as_a_problem(open_service: Stage) -> None:
    answer = open_service.send(b"GARBAGE <script>\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in answer
    assert b"script" not in answer


def test_a_long_address_is_refused(open_service: Stage) -> None:
    problem(open_service.client.get("/v1/jobs?before=" + "a" * 9000), 414)


def test_an_endless_head_is_refused(open_service: Stage) -> None:
    answer = open_service.send(b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000)
    assert not answer or answer.startswith(b"HTTP/1.1 400 ")  # or cut before it was sent whole


def test_a_head_has_32_kb_at_most_however_it_comes(open_service: Stage) -> None:
    begin, end = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nX: ", b"\r\n\r\n"
    room = 32_768 - len(begin + end)
    first = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for before, more in ((b"", 0), (b"", 1), (b"", 30_000), (first, 0), (first, 1)):
        answer = open_service.send(before + begin + b"a" * (room + more) + end)
        codes = re.findall(rb"HTTP/1\.1 (\d+) ", answer)
        assert codes == [b"200"] * bool(before) + [b"400" if more else b"200"], (before, more)


def test_methods_that_there_are_not_are_named(open_service: Stage) -> None:
    answer = open_service.client.put("/v1/jobs/" + "0" * 32)
    problem(answer, 405)
    assert answer.headers["allow"] == "DELETE, GET, HEAD"


def test_a_head_request_is_answered_without_a_body(open_service: Stage) -> None:
    job = open_service.job()
    for path in ("/v1/jobs", "/", f"/v1/jobs/{job['id']}/events", job["files"][0]["url"]):
        answer = open_service.client.head(path)
        assert (answer.status_code, answer.content) == (200, b""), path


class TestConnections:
    def test_that_ask_for_nothing_are_cut(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("domsieve.service.web.server._HEAD_S", 0.05)
        with stage(tmp_path) as made:
            assert made.send(b"GET / HTTP/1.1\r\nHost: ") == b""

    def test_that_are_slow_to_ask_again_are_cut(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("domsieve.service.web.server._HEAD_S", 1.0)
        ask = b"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        with stage(tmp_path) as made:
            answer = made.send(ask + b"\r\n" + ask)
            assert answer.count(b"HTTP/1.1 200 ") == 1

    def test_that_wait_for_an_answer_are_not_cut(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("domsieve.service.web.server._HEAD_S", 0.5)
        body = json.dumps({"url": PAGE})
        head = f"POST /v1/clean HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        head += "Content-Type: application/json\r\nPrefer: wait=1\r\n\r\n"
        with stage(tmp_path, work=None) as made:
            assert made.send((head + body).encode()).startswith(b"HTTP/1.1 202 ")

    def test_that_there_is_no_room_for_are_refused(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("domsieve.service.web.server._CONNECTIONS", 3)
        monkeypatch.setattr("domsieve.service.web.server._STRANGERS", 0)
        # On a busy machine, requests may arrive long after their connection.
        monkeypatch.setattr("domsieve.service.web.connections._SWEEP_S", 60)
        body = json.dumps({"url": PAGE})
        head = f"POST /v1/clean HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
        ask = f"{head}Content-Type: application/json\r\nPrefer: wait=60\r\n\r\n{body}".encode()
        with stage(tmp_path, work=None) as made, ExitStack() as stack:
            held = []
            for count in range(3):  # of jobs that nobody does
                held.append(stack.enter_context(made.connect(ask)))
                until(lambda: len(made.store.list("local")) > count)  # noqa: B023
            connections = made.server.server_state.connections
            answer = made.send(b"")
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"content-type: application/problem+json" in answer
            assert b'"fault":"service"' in answer
            held[0].close()
            until(lambda: len(connections) == 2)
            assert made.client.get("/v1/health").status_code == 200

    def test_that_do_not_take_the_answer_are_cut(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def large(queue: WorkQueue, claim: Claim) -> None:
            queue.finish(claim, {}, [NewFile("a.bin", "application/octet-stream", bytes(30_000_000))])

        monkeypatch.setattr("domsieve.service.web.server._READER_S", 0.05)
        with stage(tmp_path, work=large) as made:
            (file,) = made.job()["files"]
            with socket.create_connection(("127.0.0.1", made.port), timeout=300) as slow:
                slow.sendall(f"GET {file['url']} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
                until(lambda: made.server.server_state.connections and busy(made))
                until(lambda: not busy(made))  # although it has read nothing

    def test_that_go_away_are_not_worked_for_but_their_job_goes_on(self, tmp_path: Path) -> None:
        with stage(tmp_path, work=None, wait_s=60) as made:
            body = json.dumps({"url": PAGE})
            head = f"POST /v1/clean HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n"
            with socket.create_connection(("127.0.0.1", made.port), timeout=300) as gone:
                gone.sendall(f"{head}Content-Type: application/json\r\n\r\n{body}".encode())
                until(lambda: made.store.list("local"))
            until(lambda: not busy(made))
            assert made.store.list("local")[0].state == "queued"


def busy(made: Stage) -> bool:
    return any(not task.done() for task in [*made.server.server_state.tasks])


def until(is_so: Callable[[], object]) -> None:
    """Wait until something is so; the limit is only there to end a test that fails."""
    end = time.monotonic() + 300
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


class TestTokens:
    @pytest.mark.parametrize(
        "path", ["/v1/jobs", "/v1/pages", "/metrics", "/v1/jobs/" + "0" * 32, "/v1/nothing"]
    )
    def test_are_asked_for(self, closed_service: Stage, path: str) -> None:
        answer = closed_service.client.get(path)
        problem(answer, 401)
        assert answer.headers["www-authenticate"].startswith("Bearer")

    def test_are_asked_for_before_jobs_are_made(self, closed_service: Stage) -> None:
        problem(closed_service.client.post("/v1/clean", json={"url": PAGE}), 401)

    def test_lead_people_to_the_login(self, closed_service: Stage) -> None:
        answer = closed_service.client.get("/jobs")
        assert (answer.status_code, answer.headers["location"]) == (303, "/login")

    def test_are_not_needed_to_ask_for_health(self, closed_service: Stage) -> None:
        assert closed_service.client.get("/v1/health").json() == {"status": "ok"}

    @pytest.mark.parametrize(
        "value", ["Bearer", "Bearer x", "Basic YTpi", "Bearer " + TOKENS["anna"][:-1], "Bearer \xe4" * 9]
    )
    def test_that_are_wrong_open_nothing(self, closed_service: Stage, value: str) -> None:
        headers = {"Authorization": value.encode("latin-1")}
        assert closed_service.client.get("/v1/jobs", headers=headers).status_code == 401  # type: ignore[arg-type]

    def test_show_each_client_its_own_jobs_alone(self, closed_service: Stage) -> None:
        anna, bert = closed_service.as_client("anna"), closed_service.as_client("bert")
        job = anna.post("/v1/clean", json={"url": PAGE}).json()
        assert anna.get(job["url"]).status_code == 200
        assert anna.get("/v1/pages").json()["pages"]
        assert bert.get("/v1/jobs").json()["jobs"] == []
        assert bert.get("/v1/pages").json()["pages"] == []
        for path in (job["url"], job["url"] + "/events", job["files"][0]["url"], f"/jobs/{job['id']}"):
            assert bert.get(path).status_code == 404, path
        assert bert.post(job["url"] + "/cancel").status_code == 404
        assert bert.delete(job["url"]).status_code == 404
        assert anna.delete(job["url"]).status_code == 204


def test_a_token_is_compared_whole_with_every_other_and_by_its_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr("domsieve.service.web.settings.hmac.compare_digest", compare)
    right = TOKENS["anna"]
    for token, client in ((right, "anna"), (right[:-1], None), ("x", None), (TOKENS["bert"], "bert")):
        compared.clear()
        assert client_of(token, TOKENS) == client
        assert len(compared) == len(TOKENS), "which of them it was takes no less"
        assert {len(side) for pair in compared for side in pair} == {32}, "nor do the lengths tell"


class TestLogin:
    def test_a_cookie_stands_for_the_token(self, closed_service: Stage) -> None:
        browser = closed_service.as_client(None)
        answer = browser.post("/login", data={"token": TOKENS["anna"]})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.casefold()
        assert TOKENS["anna"] not in cookie
        assert browser.get("/").status_code == 200
        browser.post("/logout")
        assert browser.get("/").status_code == 303

    def test_signing_out_ends_the_session_whoever_has_learnt_of_it(self, closed_service: Stage) -> None:
        browser, other = closed_service.as_client(None), closed_service.as_client(None)
        browser.post("/login", data={"token": TOKENS["anna"]})
        other.post("/login", data={"token": TOKENS["anna"]})
        (cookie,) = browser.cookies.jar
        learnt = {"Cookie": f"{cookie.name}={cookie.value}"}
        assert closed_service.client.get("/v1/jobs", headers=learnt).status_code == 200
        browser.post("/logout")
        assert closed_service.client.get("/v1/jobs", headers=learnt).status_code == 401
        assert other.get("/v1/jobs").status_code == 200

    def test_signing_in_again_ends_the_session_of_before(self, closed_service: Stage) -> None:
        browser = closed_service.as_client(None)
        browser.post("/login", data={"token": TOKENS["anna"]})
        (cookie,) = browser.cookies.jar
        browser.post("/login", data={"token": TOKENS["bert"]})
        learnt = {"Cookie": f"{cookie.name}={cookie.value}"}
        assert closed_service.client.get("/v1/jobs", headers=learnt).status_code == 401
        assert ">bert<" in browser.get("/").text

    def test_a_session_of_one_service_opens_no_other(self, closed_service: Stage, tmp_path: Path) -> None:
        """Browsers send cookies to every port of a host, and the services may have the same tokens."""
        with stage(tmp_path, tokens=TOKENS) as neighbour:
            data = {"token": TOKENS["anna"]}
            for made in (closed_service, neighbour):
                made.as_client(None).post("/login", data=data)
            browser, other = closed_service.as_client(None), neighbour.as_client(None)
            browser.post("/login", data=data)
            (cookie,) = browser.cookies.jar
            assert cookie.name == f"domsieve_session_{closed_service.port}"
            for name in (cookie.name, f"domsieve_session_{neighbour.port}", "domsieve_session"):
                headers = {"Cookie": f"{name}={cookie.value}"}
                assert other.get("/v1/jobs", headers=headers).status_code == 401
            other.post("/login", data=data)
            (theirs,) = other.cookies.jar
            both = {"Cookie": f"{theirs.name}={theirs.value}; {cookie.name}={cookie.value}"}
            for made in (closed_service, neighbour):
                assert made.client.get("/v1/jobs", headers=both).status_code == 200

    def test_a_session_ends_when_it_is_not_used_and_after_a_week(self) -> None:
        now = [0.0]
        sessions, response = Sessions(TOKENS, clock=lambda: now[0]), Response()
        sessions.open(response, "anna", headers=Headers({"host": "localhost:1"}), scheme="http")
        cookie = response.headers["set-cookie"].partition(";")[0]
        headers = Headers({"host": "localhost:1", "cookie": cookie})
        hours = 0
        while hours < 7 * 24:
            assert sessions.client(headers, scheme="http") == "anna"
            hours += 12
            now[0] = hours * 3_600.0
        assert sessions.client(headers, scheme="http") == "anna"
        now[0] += 1.0
        assert sessions.client(headers, scheme="http") is None
        sessions.open(response, "anna", headers=headers, scheme="http")
        cookie = response.headers.getlist("set-cookie")[-1].partition(";")[0]
        headers = Headers({"host": "localhost:1", "cookie": cookie})
        assert sessions.client(headers, scheme="http") == "anna"
        now[0] += 12 * 3_600.0 + 1.0
        assert sessions.client(headers, scheme="http") is None

    def test_a_client_has_so_many_sessions_and_the_oldest_goes(self) -> None:
        now = [0.0]
        sessions = Sessions(TOKENS, clock=lambda: now[0])
        cookies = []
        for client in ("bert", *["anna"] * 51):
            now[0] += 1.0
            response = Response()
            sessions.open(response, client, headers=Headers({"host": "localhost"}), scheme="http")
            cookies.append(response.headers["set-cookie"].partition(";")[0])
        seen = [
            sessions.client(Headers({"host": "localhost", "cookie": cookie}), scheme="http")
            for cookie in cookies
        ]
        assert seen == ["bert", None, *["anna"] * 50]

    def test_the_cookie_is_for_tls_alone_where_others_could_listen(self, tmp_path: Path) -> None:
        with stage(tmp_path, tokens=TOKENS, public_hosts=("clean.example.org",)) as made:
            data = {"token": TOKENS["anna"]}
            for headers in ({"Host": "clean.example.org"}, {"X-Forwarded-Proto": "https"}):
                cookie = made.client.post("/login", data=data, headers=headers).headers["set-cookie"]
                assert cookie.startswith("__Host-")
                assert "Secure" in cookie

    def test_a_neighbours_cookie_does_not_take_its_place(self, tmp_path: Path) -> None:
        """A page under a neighbouring name can set all cookies but those of the host alone."""
        with stage(tmp_path, tokens=TOKENS, public_hosts=("clean.example.org",)) as made:
            host = {"Host": "clean.example.org"}
            plain = made.client.post("/login", data={"token": TOKENS["bert"]}).headers["set-cookie"]
            secure = made.client.post("/login", data={"token": TOKENS["anna"]}, headers=host).headers[
                "set-cookie"
            ]
            theirs, own = plain.partition(";")[0], secure.partition(";")[0]
            for sent, name in ((f"{theirs}; {own}", "anna"), (own, "anna"), (theirs, None)):
                answer = made.client.get("/", headers={**host, "Cookie": sent})
                assert answer.status_code == (200 if name else 303), sent
                assert name is None or f">{name}<" in answer.text

    def test_a_cookie_is_found_among_others_of_any_form(self) -> None:
        """Not by `http.cookies`, which takes seconds for 32 kB of backslashes in some versions of Python."""
        sessions, response = Sessions(TOKENS), Response()
        sessions.open(response, "anna", headers=Headers({"host": "[::1]"}), scheme="https")
        cookie = response.headers["set-cookie"].partition(";")[0]
        for other in ("a=" + "\\" * 32_000, 'a="' + "\\" * 32_000 + '"', "=;;=", "a", cookie[:-2] + '"'):
            headers = Headers({"host": "[::1]", "cookie": f"{other}; {cookie} ;b"})
            assert sessions.client(headers, scheme="https") == "anna", other[:20]

    def test_a_wrong_token_gets_none(self, closed_service: Stage) -> None:
        answer = closed_service.client.post("/login", data={"token": "not-one-of-the-tokens"})
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers

    def test_a_forged_cookie_opens_nothing(self, closed_service: Stage) -> None:
        browser = closed_service.as_client(None)
        browser.post("/login", data={"token": TOKENS["anna"]})
        (good,) = browser.cookies.jar
        value = str(good.value)
        for forged in (
            value[:-1],
            value + "x",
            value.swapcase(),
            value[::-1],
            TOKENS["anna"],
            "anna",
            "x",
            "",
        ):
            headers = {"Cookie": f"{good.name}={forged}"}
            assert closed_service.client.get("/v1/jobs", headers=headers).status_code == 401, forged


class TestLimits:
    def test_a_client_that_asks_too_often_is_told_when_to_come_back(self, tmp_path: Path) -> None:
        with stage(tmp_path, requests_per_minute=3) as made:
            answers = [made.client.get("/v1/jobs") for _ in range(4)]
            assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
            assert 1 <= int(answers[-1].headers["retry-after"]) <= 20
            assert made.client.get("/v1/health").status_code == 200

    def test_those_without_a_token_share_one_limit_and_take_nothing_from_others(self, tmp_path: Path) -> None:
        with stage(tmp_path, tokens=TOKENS, requests_per_minute=3) as made:
            anna = made.as_client("anna")
            for answers in (
                [made.client.get("/v1/jobs").status_code for _ in range(2)],
                [made.client.post("/login", data={"token": "a guess of a token"}).status_code],
            ):
                assert {*answers} == {401}
            # Their limit is used up, wherever they ask and whatever they show.
            assert made.client.get("/v1/jobs").status_code == 429
            assert made.client.post("/login", data={"token": TOKENS["anna"]}).status_code == 429
            wrong = {"Authorization": "Bearer a-guess-of-a-token"}
            assert made.client.get("/v1/jobs", headers=wrong).status_code == 429
            assert anna.get("/v1/jobs").status_code == 200

    def test_the_bucket_fills_again(self) -> None:
        now = [0.0]
        requests = Requests(60, clock=lambda: now[0])
        for _ in range(60):
            requests.take("a")
        requests.take("b")
        with pytest.raises(ProblemError):
            requests.take("a")
        now[0] = 1.0
        requests.take("a")
        with pytest.raises(ProblemError):
            requests.take("a")

    def test_health_is_worked_out_once_however_many_ask(self) -> None:
        now, values = [0.0], iter((1, 2))
        held = Held(lambda: next(values), seconds=1.0, clock=lambda: now[0])
        assert [held(), held()] == [1, 1]
        now[0] = 1.0
        assert held() == 2

    def test_a_full_queue_refuses(self, tmp_path: Path) -> None:
        with stage(tmp_path, work=None, queue=2, wait_s=0) as made:
            for _ in range(2):
                made.job()
            answer = made.client.post("/v1/clean", json={"url": PAGE})
            assert problem(answer, 503)["retry"]
            assert int(answer.headers["retry-after"]) > 0

    def test_a_client_has_a_share_of_the_queue(self, tmp_path: Path) -> None:
        with stage(tmp_path, work=None, tokens=TOKENS, client_queue=1, wait_s=0) as made:
            anna, bert = made.as_client("anna"), made.as_client("bert")
            assert anna.post("/v1/clean", json={"url": PAGE}).status_code == 202
            answer = anna.post("/v1/clean", json={"url": PAGE})
            problem(answer, 429)
            assert "retry-after" in answer.headers
            assert bert.post("/v1/clean", json={"url": PAGE}).status_code == 202

    def test_a_client_has_so_many_streams(self, tmp_path: Path) -> None:
        with stage(tmp_path, work=None, streams=1, wait_s=0) as made:
            path = made.job()["url"] + "/events"
            with made.client.stream("GET", path) as first:
                assert first.status_code == 200
                problem(made.client.get(path), 429)


class TestTokenFile:
    def test_is_read(self, tmp_path: Path) -> None:
        file = tmp_path / "tokens"
        file.write_text("# who\n\nanna:0123456789abcdef\n")
        tokens = read_tokens(file)
        assert client_of("0123456789abcdef", tokens) == "anna"
        assert client_of("0123456789abcdeF", tokens) is None

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "anna\n",
            "anna:short\n",
            ":0123456789abcdef",
            "a b:0123456789abcdef",
            "a:0123456789abcdef\n" * 2,
        ],
    )
    def test_is_refused_when_it_is_no_good(self, tmp_path: Path, text: str) -> None:
        file = tmp_path / "tokens"
        file.write_text(text)
        with pytest.raises(UsageError) as caught:
            read_tokens(file)
        assert "0123456789abcdef" not in str(caught.value)
        assert "short" not in str(caught.value)

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "clean.example.org"])
    def test_is_made_up_for_those_who_listen_beyond_loopback(self, host: str) -> None:
        made = [Settings(host=host).closed().tokens["operator"] for _ in range(2)]
        assert made[0] != made[1]
        assert all(re.fullmatch(r"[\w-]{43}", token, re.ASCII) for token in made)
        assert made[0] not in repr(Settings(host=host).closed())
        assert Settings(host=host, tokens=TOKENS).closed().tokens == TOKENS
        assert not Settings(host="127.0.0.1").closed().tokens
