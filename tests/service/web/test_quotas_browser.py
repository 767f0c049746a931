"""What the operator sets by options of `domsieve serve` holds in the running service, whatever is asked of it."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.running_service import RunningService, running_service
from examples.loopback import LoopbackServer, QuietHandler, running
from tests.renderer.bad_server import send
from tests.service.web.running import WHEREVER

pytestmark = pytest.mark.browser

LIMIT_S = 300.0
PAGE_BYTES = 600_000
# A line of its own below the words about it; 32 bytes make 43 characters.
TOKEN = re.compile(r"^    ([A-Za-z0-9_-]{43})$", re.MULTILINE)


class Site(QuietHandler):
    """Pages below /small and /large that link to each other; what is below /never gets no answer."""

    def do_GET(self) -> None:
        answer(self)


def answer(handler: BaseHTTPRequestHandler) -> None:
    kind, _, name = handler.path.strip("/").partition("/")
    if kind == "never":
        handler.connection.recv(1)  # until the other side goes
    elif kind not in {"small", "large"} or not (name == "" or name.isdecimal()):
        send(handler, b"<p>nothing here</p>", status=404)
    else:
        links = "".join(f"<li><a href=/{kind}/{number}>page {number}</a>" for number in range(30))
        filling = f"<!--{'x' * PAGE_BYTES}-->" if kind == "large" else ""
        body = f"<!doctype html><title>{name}</title><p>Words of page {name}.</p>{links}{filling}"
        send(handler, body.encode())


@contextmanager
def service(folder: Path, *words: str) -> Iterator[RunningService]:
    with running_service(folder / "data", "--workers", "1", *words, log=folder / "log") as made:
        yield made
        assert made.stop() == 0
    assert "Traceback" not in made.log.read_text(encoding="utf-8")


def post(made: RunningService, kind: str, url: str, **fields: Any) -> httpx.Response:
    wait = {"Prefer": "wait=60"}
    return httpx.post(
        f"{made.url}/v1/{kind}",
        json={"url": url, **fields},
        headers=wait,
        timeout=LIMIT_S,
        trust_env=False,
    )


def site_job(made: RunningService, url: str, **fields: Any) -> dict[str, Any]:
    """Return the job of a site once it has ended."""
    job = post(made, "sites", url, method="none", **fields).json()
    httpx.get(f"{made.url}{job['url']}/events", timeout=LIMIT_S, trust_env=False)  # ends with the job
    ended: dict[str, Any] = httpx.get(made.url + job["url"], timeout=LIMIT_S, trust_env=False).json()
    return ended


def test_hosts_and_quotas_hold_and_are_told(tmp_path: Path) -> None:
    with running(LoopbackServer(Site)) as server:
        place, other = f"a.localhost:{server.server_port}", f"ads.localhost:{server.server_port}"
        words: tuple[str, ...] = ("--private-host", place, "--private-host", other)
        words += ("--deny-host", "ADS.localhost", "--allow-host", "*.localhost")
        words += ("--site-pages", "3", "--site-megabytes", "1", *WHEREVER)
        with service(tmp_path, *words) as made:
            limits = httpx.get(f"{made.url}/v1/limits", trust_env=False).json()["site"]
            assert limits == {"pages": 3, "bytes": 1_000_000, "seconds": 3600.0}
            for url, said in (
                (f"http://{other}/small/", "ads.localhost is on the deny list: ADS.localhost."),
                ("http://other.example/", "other.example is not on the allow list: *.localhost."),
            ):
                refused = post(made, "clean", url)
                assert (refused.status_code, refused.json()["fault"]) == (403, "policy")
                assert refused.json()["detail"] == said
            assert post(made, "clean", f"http://{place}/small/").status_code == 200

            few = site_job(made, f"http://{place}/small/1", pages=9)["summary"]
            assert (few["ended"], few["complete"]) == ("pages", False)
            assert few["remarks"] == [
                "This is a part of the sample. This service gives the job of a site 3 pages, which are used up."
            ]
            large = site_job(made, f"http://{place}/large/1", pages=3)["summary"]
            assert (large["ended"], large["complete"]) == ("bytes", False)
            assert large["pages"] == 1, "the second one was cut off"


def test_a_site_that_takes_too_long_ends_with_the_limit_as_its_reason(tmp_path: Path) -> None:
    with running(LoopbackServer(Site)) as server:
        place = f"127.0.0.1:{server.server_port}"
        with service(tmp_path, "--private-host", place, "--site-seconds", "1", *WHEREVER) as made:
            job = site_job(made, f"http://{place}/never/", time_s=60)
    assert job["state"] == "failed"
    assert job["problem"]["detail"] == (
        "There is no page yet. This service gives the job of a site 1 s, which are used up."
    )


def test_work_is_refused_while_there_is_too_little_memory(tmp_path: Path) -> None:
    with service(tmp_path, "--free-memory-percent", "100") as made:  # more than any machine has
        answer = post(made, "clean", "http://site.example/")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
        assert answer.json()["detail"].startswith("Less than 100% of the memory")
        metrics = httpx.get(f"{made.url}/metrics", trust_env=False).text
    assert 'domsieve_jobs_refused_total{reason="memory"} 1.0' in metrics


def test_where_others_could_listen_a_random_token_is_printed_once_and_kept_nowhere(tmp_path: Path) -> None:
    tokens: list[str] = []
    for _ in range(2):
        # Read as 127.0.0.1 by the system; that it is this machine's own is not taken for granted.
        with service(tmp_path, "--host", "127.1", "--quiet", *WHEREVER) as made:
            (token,) = set(TOKEN.findall(made.log.read_text("utf-8"))) - {*tokens}
            known = {"Authorization": f"Bearer {token}"}
            assert httpx.get(f"{made.url}/v1/jobs", trust_env=False).status_code == 401
            jobs = httpx.get(f"{made.url}/v1/jobs", headers=known, trust_env=False).json()["jobs"]
            assert len(jobs) == len(tokens), "the client is the same as before"
            html = {"url": "http://127.0.0.1:9/", "time_s": 1}
            assert httpx.post(f"{made.url}/v1/sites", json=html, headers=known, trust_env=False).is_success
            tokens.append(token)
    said = (tmp_path / "log").read_text("utf-8")
    lines = [line for line in said.splitlines() if line.startswith("{")]
    for token in tokens:
        assert said.count(token) == 1
        assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file() and holds(path, token)]
    assert not [line for line in lines if '"token"' in line]
    assert all(json.loads(line)["event"] for line in lines)
    assert "Authorization: Bearer TOKEN" in said


def holds(path: Path, token: str) -> bool:
    return token.encode() in path.read_bytes()
