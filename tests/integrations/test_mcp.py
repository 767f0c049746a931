"""The MCP server with the client of the package `mcp`: every tool over both transports, and what is refused."""

import asyncio
import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from examples.serve import serve_demo
from tests.licences import installed_by, permits_any_use

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "domsieve.cli", "mcp"]
TOKEN = "a-token-of-some-length"
HTML = "<title>Bees</title><nav><a href=/>Home</a></nav><h1>Bees</h1>" + (
    "<p>The hive was weighed in the morning, and again at night.</p>" * 9
)
TOOLS = {"clean_page", "clean_site", "find_records", "compare_page", "get_result"}


@pytest.fixture(scope="module")
def demo() -> Iterator[str]:
    with serve_demo() as base:
        yield base


@pytest.mark.parametrize("name", installed_by(["", "mcp"]))
def test_what_the_extra_brings_along_permits_any_use(name: str) -> None:
    assert permits_any_use(name)


@contextmanager
def http_server(*words: str, data: Path) -> Iterator[str]:
    """Run the server over HTTP; the value is its address."""
    command = [*COMMAND, "--http", "--port", "0", "--data", str(data), *words]
    with (data.parent / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, cwd=ROOT)
    with process:
        assert process.stdout
        url = process.stdout.readline().decode().strip()
        assert url.endswith("/mcp"), (data.parent / "log").read_text()
        try:
            yield url
        finally:
            process.terminate()
            assert process.wait(60) == 0
    assert "Traceback" not in (data.parent / "log").read_text()


def stdio_server(*words: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], *words], cwd=ROOT, env=dict(os.environ)
    )


@asynccontextmanager
async def client_of(transport: str, place: str, folder: Path, *, mode: str = "auto") -> AsyncIterator[Any]:
    if transport == "stdio":
        words = ("--private-host", place, "--data", str(folder / "data"))
        async with Client(stdio_server(*words), mode=mode) as client:
            yield client
        return
    with http_server("--private-host", place, data=folder / "data") as url:
        async with Client(url, mode=mode) as client:
            yield client


def job_states(folder: Path) -> list[str]:
    place = folder / "data" / "jobs.sqlite"
    # There may be no database yet.
    with (
        contextlib.suppress(sqlite3.OperationalError),
        contextlib.closing(sqlite3.connect(place)) as jobs,
    ):
        return [state for (state,) in jobs.execute("SELECT state FROM jobs")]
    return []


def run(
    work: Callable[[Any], Awaitable[None]], transport: str, demo: str, folder: Path, *, mode: str = "auto"
) -> None:
    async def main() -> None:
        async with client_of(transport, urlsplit(demo).netloc, folder, mode=mode) as client:
            await work(client)

    asyncio.run(main())


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_every_tool_is_listed_and_called(transport: str, demo: str, tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        listed = (await client.list_tools()).tools
        assert {tool.name for tool in listed} == TOOLS
        assert all(tool.description and tool.output_schema for tool in listed)

        page = await client.call_tool("clean_page", {"url": f"{demo}/articles/swifts", "method": None})
        assert not page.is_error
        assert page.content[0].text == page.structured_content["text"]
        assert "They arrive when the hawthorn flowers" in page.content[0].text
        assert "Expected F1" in page.content[1].text
        facts = page.structured_content
        assert (facts["state"], facts["status"], facts["complete"]) == ("done", 200, True)
        assert 0 < facts["expected_f1"] <= 1
        assert facts["metadata"]["title"]

        part = await client.call_tool(
            "clean_page", {"url": f"{demo}/articles/swifts", "max_characters": 1_000}
        )
        assert part.structured_content["from_cache"]
        rest = await client.call_tool("get_result", {"job": part.structured_content["job"], "offset": 1_000})
        assert part.structured_content["text"] + rest.structured_content["text"] == facts["text"]
        assert rest.structured_content["next_offset"] is None

        records = await client.call_tool("find_records", {"url": f"{demo}/shop", "format": "csv"})
        assert records.structured_content["records"] == 12
        assert "Folding hand lens" in records.content[0].text

        compared = await client.call_tool("compare_page", {"url": f"{demo}/articles/swifts"})
        assert compared.structured_content["browser_needed"] is True
        assert "needs a browser" in compared.content[1].text

        told: list[float] = []

        async def progress(done: float, total: float | None, message: str | None) -> None:
            told.append(done)

        site = await client.call_tool(
            "clean_site", {"url": demo + "/", "pages": 3, "wait_s": 240}, progress_callback=progress
        )
        assert not site.is_error
        assert len(site.structured_content["pages"]) == 3
        assert site.content[0].text.startswith("[page 1 of 3: http://127.0.0.1")
        assert told == sorted(told)

    run(work, transport, demo, tmp_path)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_failures_look_like_failures(transport: str, demo: str, tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        for name, arguments, state, fault in (
            ("clean_page", {"url": "http://127.0.0.1:9/"}, "failed", "policy"),
            ("clean_page", {"url": "http://169.254.169.254/latest/meta-data"}, "failed", "policy"),
            ("clean_page", {"url": f"{demo}/there-is-no-such-file.html"}, "failed", "page"),
            ("clean_page", {"url": "file:///etc/passwd"}, "refused", "caller"),
            ("clean_page", {}, "refused", "caller"),
            ("clean_site", {"url": demo, "pages": 10_000}, "refused", "caller"),
            ("compare_page", {"url": demo, "script": "1"}, "refused", "caller"),
            ("get_result", {"job": "0" * 32}, "refused", "caller"),
        ):
            answer = await client.call_tool(name, arguments)
            assert answer.is_error, arguments
            assert answer.structured_content["state"] == state, arguments
            assert answer.structured_content["problem"]["fault"] == fault, arguments
            assert "expected_f1" not in answer.structured_content
            assert answer.content[0].text

    run(work, transport, demo, tmp_path)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_html_is_cleaned_by_clients_of_all_ages(transport: str, mode: str, demo: str, tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        long = HTML + "<p>" + "ä word of a long page. " * 50_000
        answer = await client.call_tool("clean_page", {"html": long, "url": "https://bees.example/"})
        assert not answer.is_error
        assert answer.content[0].text.startswith("# Bees\n\n")
        assert answer.structured_content["status"] is None
        assert answer.structured_content["next_offset"] == 40_000

    run(work, transport, demo, tmp_path, mode=mode)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("has_begun", [False, True], ids=["before its stream", "in its stream"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_call_that_is_given_up_ends_its_job(
    transport: str, has_begun: bool, mode: str, demo: str, tmp_path: Path
) -> None:
    async def work(client: Any) -> None:
        told = asyncio.Event()

        async def progress(done: float, total: float | None, message: str | None) -> None:
            told.set()

        calling = asyncio.create_task(
            client.call_tool(
                "clean_site",
                {"url": demo + "/", "pages": 12, "wait_s": 300},
                progress_callback=progress if has_begun else None,
            )
        )
        while not job_states(tmp_path):  # noqa: ASYNC110 (another process changes it)
            await asyncio.sleep(0.1)
        if has_begun:
            await told.wait()
        calling.cancel()
        await asyncio.gather(calling, return_exceptions=True)
        while job_states(tmp_path) != ["cancelled"]:
            assert job_states(tmp_path) != ["done"]
            await asyncio.sleep(0.1)

    run(work, transport, demo, tmp_path, mode=mode)
    assert job_states(tmp_path) == ["cancelled"]


@pytest.mark.parametrize("protocol", ["2025-06-18", "2025-11-25"])
def test_a_client_that_goes_away_in_the_stream_ends_its_job(protocol: str, demo: str, tmp_path: Path) -> None:
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": protocol}
    body = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {
            "name": "clean_site",
            "arguments": {"url": demo + "/", "pages": 12, "wait_s": 300},
            "_meta": {"progressToken": "p"},
        },
    }
    with http_server("--private-host", urlsplit(demo).netloc, data=tmp_path / "data") as url:
        with (
            httpx2.Client(trust_env=False, timeout=120) as http,
            http.stream("POST", url, json=body, headers=headers) as answer,
        ):
            assert any("notifications/progress" in line for line in answer.iter_lines())
        while job_states(tmp_path) != ["cancelled"]:
            assert job_states(tmp_path) != ["done"]
            time.sleep(0.1)


def test_another_program_takes_no_call_back(demo: str, tmp_path: Path) -> None:
    async def work(client: Any) -> None:
        calling = asyncio.create_task(client.call_tool("clean_site", {"url": demo + "/", "pages": 2}))
        while not job_states(tmp_path):  # noqa: ASYNC110 (another process changes it)
            await asyncio.sleep(0.1)
        headers = {"Accept": "application/json, text/event-stream", "User-Agent": "another"}
        async with httpx2.AsyncClient(trust_env=False, timeout=120) as http:
            for number in range(9):
                body = {
                    "jsonrpc": "2.0",
                    "method": "notifications/cancelled",
                    "params": {"requestId": number},
                }
                assert (await http.post(urls[0], json=body, headers=headers)).status_code == 202
        await calling
        assert job_states(tmp_path) == ["done"]

    urls: list[str] = []

    async def main() -> None:
        with http_server("--private-host", urlsplit(demo).netloc, data=tmp_path / "data") as url:
            urls.append(url)
            async with Client(url, mode="legacy") as client:
                await work(client)

    asyncio.run(main())


def test_requests_of_strangers_are_refused(demo: str, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"anna:{TOKEN}\n")
    own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    known = {**own, "Authorization": f"Bearer {TOKEN}"}

    async def listed(url: str) -> set[str]:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {TOKEN}"}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return {tool.name for tool in (await client.list_tools()).tools}

    with http_server("--token-file", str(tokens), data=tmp_path / "data") as url:
        with httpx2.Client(trust_env=False, timeout=60) as http:
            for headers, status in (
                (own, 401),
                ({**own, "Authorization": "Bearer another-token-of-it"}, 401),
                ({**known, "Host": "rebound.example"}, 421),
                ({**known, "Origin": "http://rebound.example"}, 403),
                ({**known, "Origin": "null"}, 403),
                ({**known, "Sec-Fetch-Site": "cross-site"}, 403),
            ):
                assert http.post(url, json=body, headers=headers).status_code == status, headers
            assert http.post(url, content=b"x" * 16_000_001, headers=known).status_code == 413
            assert http.get(url, headers=known).status_code == 405
            assert http.get(url, headers=own).status_code == 401
        assert asyncio.run(listed(url)) == TOOLS


def test_where_others_could_listen_a_random_token_is_asked_for(tmp_path: Path) -> None:
    # Read as 127.0.0.1 by the system; that it is this machine's own is not taken for granted.
    with http_server("--host", "127.1", data=tmp_path / "data") as url:
        (token,) = re.findall(r"^    ([\w-]{43})$", (tmp_path / "log").read_text("utf-8"), re.MULTILINE)
        own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        with httpx2.Client(trust_env=False, timeout=60) as http:
            for headers, status in ((own, 401), ({**own, "Authorization": f"Bearer {token}"}, 200)):
                assert http.post(url, json=body, headers=headers).status_code == status, headers


def test_hosts_and_limits_that_are_set_hold_for_tools(demo: str, tmp_path: Path) -> None:
    place = urlsplit(demo).netloc

    async def work(client: Any) -> None:
        denied = await client.call_tool("clean_page", {"url": f"http://localhost:{place.partition(':')[2]}/"})
        assert denied.is_error
        assert "localhost is on the deny list: localhost." in denied.content[0].text
        site = await client.call_tool("clean_site", {"url": f"{demo}/", "pages": 9, "wait_s": 60})
        facts = site.structured_content
        assert (facts["state"], facts["ended"], facts["complete"]) == ("done", "pages", False)
        assert "gives the job of a site 3 pages, which are used up" in site.content[1].text

    async def main() -> None:
        limits = ("--private-host", place, "--deny-host", "localhost", "--site-pages", "3")
        async with Client(stdio_server(*limits)) as client:
            await work(client)
        async with Client(stdio_server("--free-memory-percent", "100")) as client:
            full = await client.call_tool("clean_page", {"html": HTML})
            assert full.structured_content["problem"]["status"] == 503

    asyncio.run(main())


@pytest.mark.parametrize("end", ["closed", "terminated"])
def test_the_end_of_a_client_leaves_nothing(end: str, tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        COMMAND, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(
            b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
            b'"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}\n'
        )
        process.stdin.flush()
        assert b'"serverInfo"' in process.stdout.readline()
        assert [path.name for path in tmp_path.iterdir()]
        if end == "closed":
            process.stdin.close()
        else:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stdout.read() == b""
        assert not [*tmp_path.iterdir()]
        assert all(line.startswith(b"{") for line in process.stderr)
