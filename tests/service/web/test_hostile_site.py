"""A site that tries every way to a private server reaches it not once through the service."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.running_service import RunningService
from tests.renderer.hostile_site import SPELLINGS, HostileSite, Standin, hostile_site
from tests.service.web.running import running

pytestmark = pytest.mark.browser

# The main frame does not leave these: windows are not opened at all.
STAYING = {"/", "/workers", "/leave/open-self"}
# All of this machine, so that a test that fails contacts nobody else.
FURTHER = (
    "127.0.0.1:{}",
    "127.0.1:{}",
    "127.9.8.7:{}",
    "0x7f000001:{}",
    "0X7F.0.0.1:{}",
    "017700000001:{}",
    "0x7f.0.0x0.01:{}",
    "0:{}",
    "LOCALHOST:{}",
    "a.b.localhost.:{}",
    "localhost%2e:{}",
    "ⓛocalhost:{}",
    "127。0.0.1:{}",
    "①27.0.0.1:{}",
    "127.0.0.1%00:{}",
    "127.0.0.1%20:{}",
    "[::ffff:7f00:1]:{}",
    "[0:0:0:0:0:ffff:127.0.0.1]:{}",
    "[0:0:0:0:0:0:0:1]:{}",
    "[::1%25lo]:{}",
    "public.example\\@127.0.0.1:{}",
    "public.example@127.0.0.1:{}",
    "127.0.0.1:0{}",
)
LIMIT_S = 300.0


def untouched(standin: Standin) -> bool:
    return (standin.connections, standin.datagrams, standin.reached) == (0, 0, set())


def ask(base: str, kind: str, url: str, **fields: Any) -> tuple[int, dict[str, Any]]:
    """Return status and answer of a request for a page."""
    answer = httpx.post(
        f"{base}/v1/{kind}",
        json={"url": url, **fields},
        headers={"Prefer": "wait=60"},
        timeout=LIMIT_S,
        trust_env=False,
    )
    body: dict[str, Any] = answer.json()
    return answer.status_code, body


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    with hostile_site() as site:
        yield site


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, site: HostileSite) -> Iterator[RunningService]:
    """Return a service that may render the hostile site and nothing else that is private."""
    with running(tmp_path_factory.mktemp("service"), f"127.0.0.1:{site.port}") as service:
        yield service


def test_its_pages_reach_nothing_private(site: HostileSite, service: RunningService) -> None:
    with ThreadPoolExecutor(3) as threads:
        answers = dict(
            zip(
                site.paths,
                threads.map(lambda path: ask(service.url, "clean", site.url(path)), site.paths),
                strict=True,
            )
        )
    assert untouched(site.standin)
    for path, (status, body) in answers.items():
        if path in STAYING:
            assert (status, body.get("state")) == (200, "done"), (path, body)
        else:
            assert (status, body["fault"], body["retry"]) == (403, "policy", False), (path, body)
            assert f"127.0.0.1:{site.standin.port}" in body["detail"]


@pytest.mark.parametrize("kind", ["records", "compare", "report"])
def test_what_else_can_be_asked_of_a_page_reaches_nothing_private(
    site: HostileSite, service: RunningService, kind: str
) -> None:
    status, body = ask(service.url, kind, site.url("/"), refresh=True)
    assert untouched(site.standin)
    assert status == 200 or body["fault"] == "page", body


def test_a_sample_of_the_site_reaches_nothing_private(site: HostileSite, service: RunningService) -> None:
    status, job = ask(service.url, "sites", site.url("/"), pages=3, method="none", refresh=True)
    assert status == 202
    # The stream ends with the job.
    httpx.get(f"{service.url}{job['url']}/events", timeout=LIMIT_S, trust_env=False)
    ended = httpx.get(service.url + job["url"], timeout=LIMIT_S, trust_env=False).json()
    assert (ended["state"], ended["summary"]["pages"]) == ("done", 1), ended
    assert untouched(site.standin)


def test_no_spelling_of_a_private_server_is_rendered(site: HostileSite, service: RunningService) -> None:
    for spelling in (*SPELLINGS, *FURTHER):
        url = f"http://{spelling.format(site.standin.port)}/p/asked"
        status, body = ask(service.url, "clean", url)
        assert (status, body["fault"]) in {(403, "policy"), (422, "caller")}, (url, body)
    for spelling in ("127.0.0.1:{}", "localhost:{}", "0x7f.1:{}", "[::1]:{}"):
        url = f"http://{spelling.format(site.standin.port)}/"
        for kind in ("records", "compare", "report"):
            assert ask(service.url, kind, url)[0] == 403, (kind, url)
    # Allowed is the spelling that was allowed, at its port.
    assert ask(service.url, "clean", f"http://localhost:{site.port}/workers")[0] == 403
    assert untouched(site.standin)


def test_it_is_reached_where_the_operator_allows_it(tmp_path: Path) -> None:
    """Else the tests above could not fail."""
    with hostile_site() as site:
        with running(tmp_path, f"127.0.0.1:{site.port}", f"127.0.0.1:{site.standin.port}") as service:
            for path in ("/", "/leave/location"):
                ask(service.url, "clean", site.url(path), time_s=6)
        standin = site.standin
    ways = {"img", "iframe", "fetch", "websocket", "css-import", "redirect-302-img", "location"}
    assert ways <= standin.reached
    assert not standin.datagrams, "but never past the proxy"
