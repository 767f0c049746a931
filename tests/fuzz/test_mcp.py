"""Calls and messages of any kind to the MCP server: failures look like failures, and the server goes on."""

import asyncio
import atexit
import contextlib
import json
import select
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError
from starlette.types import ASGIApp

from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.job_values import NewFile
from domsieve.service.jobs.requests import CleanRequest
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.mcp._tools import TOOLS
from domsieve.service.mcp.mcp_server import mcp_server, over_http
from domsieve.service.mcp.tool_calls import ToolCalls
from domsieve.service.web.app import create_app
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.settings import LOCAL, MCP_PATH, Settings
from tests.fuzz.asgi import HEADERS, asked, scope_of
from tests.fuzz.damage import altered, damaged, odd_values
from tests.fuzz.fuzzing import ROOT, fuzzed

URL = "https://example.org/"
TEXT = "A line of the text.\n" * 40
NAMES = sorted({name for tool in TOOLS.values() for name in tool.input_schema["properties"]})
CALLS = st.one_of(
    st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), odd_values, max_size=4),
    st.builds(
        lambda more: {"url": URL, **more},
        st.dictionaries(
            st.sampled_from(NAMES),
            odd_values | st.integers(-1, 300) | st.sampled_from(("auto", "csv")),
            max_size=2,
        ),
    ),
    st.fixed_dictionaries(
        {"job": st.sampled_from(("JOB", "0" * 32, "x"))},
        optional={
            "offset": st.integers(-1, 900),
            "max_characters": st.integers(99, 1_000),
            "wait_s": st.just(0),
        },
    ),
)
LINES: list[Any] = [
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
    {
        "jsonrpc": "2.0",
        "id": "a",
        "method": "tools/call",
        "params": {"name": "get_result", "arguments": {"job": "0" * 32}},
    },
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "clean_page", "arguments": {"url": "file:///x"}},
    },
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1, "reason": "x"}},
    {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "a", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "id": 4, "result": {}},
]
# Of a message that hangs nothing comes back, on a busy machine neither for a while.
_LIMIT_S = 900


@cache
def prepared() -> tuple[ToolCalls, str, str]:
    """Return tools that wait for nothing, a job that is done, and the folder that nobody may learn of."""
    folder = tempfile.TemporaryDirectory(prefix="domsieve-fuzz-")
    atexit.register(folder.cleanup)
    database = Database(Path(folder.name) / "jobs.sqlite")
    store = JobStore(database)
    gateway = Gateway(Settings(free_bytes=0, queue=10**9, client_queue=10**9), store, version=lambda: None)
    job = asyncio.run(gateway.add(CleanRequest(url=URL), client=LOCAL, key=None))
    queue = WorkQueue(database)
    claim = queue.claim("fuzz", lease_s=60)
    assert claim
    queue.finish(claim, {"status": 200}, [NewFile("page.md", "text/markdown", TEXT.encode())], pages=[])
    gateway.stop()
    return ToolCalls(gateway), job.id, folder.name


@fuzzed(
    15,
    name=st.sampled_from(sorted(TOOLS)) | st.text(max_size=9),
    arguments=CALLS,
    mode=st.sampled_from(("legacy", "auto")),
)
def test_calls_that_fail_look_like_failures(name: str, arguments: dict[str, Any], mode: str) -> None:
    tools, job, folder = prepared()
    given = {key: job if value == "JOB" else value for key, value in arguments.items()}
    try:
        given = json.loads(json.dumps(given, default=repr, allow_nan=False))
    except ValueError:
        return  # no client can send such a number

    async def call() -> Any:
        async with Client(mcp_server(tools), mode=mode) as client:
            try:
                return await client.call_tool(name, given)
            except MCPError:
                return None

    answer = asyncio.run(call())
    if answer is None:
        assert name not in TOOLS
        return
    state = answer.structured_content["state"]
    assert answer.is_error == (state in {"failed", "refused", "cancelled"})
    assert answer.content
    assert folder not in str(answer)
    assert "Traceback" not in str(answer)
    if name == "get_result" and state == "done":
        start = given.get("offset", 0)
        assert answer.structured_content["text"] == TEXT[start : start + given.get("max_characters", 40_000)]


# The long run limits the addresses of its processes, of which a browser takes more than it uses.
_UNLIMITED = ("/bin/sh", "-c", 'ulimit -S -v unlimited && exec "$@"', "sh")
_running: list[subprocess.Popen[bytes]] = []
_numbers = count(1)


def server() -> subprocess.Popen[bytes]:
    """Return a server, the one of the input before if it has outlived that."""
    while _running:
        if _running[-1].poll() is None:
            return _running[-1]
        _end(_running.pop())
    folder = tempfile.TemporaryDirectory(prefix="domsieve-fuzz-")
    atexit.register(folder.cleanup)
    process = subprocess.Popen(
        [*_UNLIMITED, sys.executable, "-m", "domsieve.cli", "mcp", "--data", f"{folder.name}/data"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,  # else a line may have been read that `select` does not see
    )
    _running.append(process)
    return process


@atexit.register
def _end_all() -> None:
    for process in _running:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(BrokenPipeError):
        process.communicate()


def answer_to(process: subprocess.Popen[bytes], message: dict[str, Any]) -> dict[str, Any]:
    """Send a message and return its answer, which comes after those to the messages before it, or among them."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    while True:
        assert select.select([process.stdout], [], [], _LIMIT_S)[0], "it does not answer any more"
        line = process.stdout.readline()
        assert line, "it has ended"
        told: dict[str, Any] = json.loads(line)
        if told.get("id") == message["id"]:
            return told


@fuzzed(
    6,
    lines=st.lists(
        st.one_of(
            st.sampled_from(LINES)
            .flatmap(altered)
            .map(lambda value: json.dumps(value, default=repr).encode()),
            st.sampled_from(LINES).flatmap(lambda value: damaged(json.dumps(value).encode())),
            st.sampled_from((b"", b"[]", b"{}", b"null", b"\xff\xfe", b"9" * 5_000)),
        ),
        max_size=4,
    ),
    deep=st.sampled_from((0, 0, 0, 100_000)),
)
def test_messages_of_any_kind_end_nothing(lines: list[bytes], deep: int) -> None:
    process = server()
    assert process.stdin
    for line in [*lines, b"[" * deep]:
        process.stdin.write(line.replace(b"\n", b" ") + b"\n")
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    answer_to(
        process, {"jsonrpc": "2.0", "id": f"hello-{next(_numbers)}", "method": "initialize", "params": hello}
    )
    listed = answer_to(
        process, {"jsonrpc": "2.0", "id": f"list-{next(_numbers)}", "method": "tools/list", "params": {}}
    )
    assert {tool["name"] for tool in listed["result"]["tools"]} == {*TOOLS}


TOKENS = {"ann": "ann-has-a-long-token", "bob": "bob-has-a-long-token"}
OWN = [["accept", "application/json, text/event-stream"], ["content-type", "application/json"]]
RESULT = {
    "jsonrpc": "2.0",
    "id": 5,
    "method": "tools/call",
    "params": {"name": "get_result", "arguments": {"job": "JOB"}},
}
MESSAGES = st.one_of(
    st.just(RESULT),
    st.sampled_from(LINES),
    st.builds(
        lambda number, name, arguments: {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        },
        st.integers(0, 9) | st.text(max_size=3),
        st.sampled_from(sorted(TOOLS)) | st.text(max_size=5),
        CALLS,
    ),
)
MCP_HEADERS = st.lists(
    st.sampled_from(
        (
            ["accept", "application/json"],
            ["accept", "text/event-stream"],
            ["content-type", "text/plain"],
            ["mcp-session-id", "x"],
            ["mcp-session-id", "\u00e9" * 300],
            ["mcp-protocol-version", "2025-06-18"],
            ["mcp-protocol-version", "1900-01-01"],
            ["mcp-method", "tools/list"],
            ["mcp-name", "clean_page"],
            ["last-event-id", "7"],
            ["origin", "http://localhost"],
            ["origin", "null"],
        )
    ),
    max_size=2,
)


class Served:
    """The service with its MCP route, on a thread of its own, with a job of each of two clients."""

    def __init__(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="domsieve-fuzz-")
        atexit.register(folder.cleanup)
        self.folder = folder.name
        database = Database(Path(folder.name) / "jobs.sqlite")
        store, queue = JobStore(database), WorkQueue(database)
        many = 10**9
        settings = Settings(
            tokens=TOKENS, mcp=True, free_bytes=0, queue=many, client_queue=many, requests_per_minute=many
        )
        app = create_app(settings, store, watched=database.version)
        gateway: Gateway = app.state.gateway
        self.jobs = {}
        for client in TOKENS:
            self.jobs[client] = asyncio.run(gateway.add(CleanRequest(url=URL), client=client, key=None)).id
            claim = queue.claim("fuzz", lease_s=60)
            assert claim
            file = NewFile("page.md", "text/markdown", f"{client}'s: {TEXT}".encode())
            queue.finish(claim, {"status": 200}, [file], pages=[])
        gateway.stop()  # so that nothing is waited for
        self.app: ASGIApp = app
        self._loop = asyncio.new_event_loop()
        self._ended = asyncio.Event()
        ready: Future[None] = Future()

        async def serve() -> None:
            async with over_http(app, ToolCalls(gateway), body_bytes=settings.mcp_body_bytes):
                ready.set_result(None)
                await self._ended.wait()

        threading.Thread(target=self._loop.run_until_complete, args=(serve(),), daemon=True).start()
        ready.result(_LIMIT_S)
        atexit.register(lambda: self._loop.call_soon_threadsafe(self._ended.set))

    def ask(self, scope: dict[str, Any], body: bytes, *, stays: bool) -> tuple[int, dict[str, str], bytes]:
        """Return the answer to a request."""
        asking = asked(self.app, scope, body, stays=stays)
        return asyncio.run_coroutine_threadsafe(asking, self._loop).result(_LIMIT_S)


served = cache(Served)


def answers_in(kind: str, data: bytes) -> list[dict[str, Any]]:
    """Return the messages of an answer."""
    if kind.startswith("text/event-stream"):
        lines = data.decode().splitlines()
        return [json.loads(line[5:]) for line in lines if line.startswith("data:") and line[5:].strip()]
    return [json.loads(data)] if data else []


@fuzzed(
    60,
    method=st.sampled_from(("POST",) * 6 + ("GET", "HEAD", "DELETE", "PUT", "OPTIONS", "X")),
    token=st.sampled_from(("ann", "ann", "ann", "ann", None, "x")),
    headers=st.lists(st.one_of(MCP_HEADERS, HEADERS), max_size=2).map(
        lambda two: [each for one in two for each in one]
    )
    | st.just([]),
    body=MESSAGES.map(lambda value: json.dumps(value, default=repr).encode())
    | MESSAGES.flatmap(altered).map(lambda value: json.dumps(value, default=repr).encode())
    | st.sampled_from(LINES).flatmap(lambda value: damaged(json.dumps(value).encode()))
    | st.sampled_from((b"", b"[]", b"null", b"\xff\xfe", b"9" * 5_000, b"[" * 100_000)),
    stays=st.sampled_from((True, True, True, False)),
    whose=st.sampled_from(("ann", "bob")),
)
def test_requests_of_any_kind_over_http_end_nothing_and_learn_nothing(
    method: str, token: str | None, headers: list[list[str]], body: bytes, stays: bool, whose: str
) -> None:
    service = served()
    named = [["authorization", f"Bearer {TOKENS.get(token, token)}"]] if token else []
    # What stands twice is the caller's own doing; the token of nobody makes no client of a stranger.
    given = [*named, *(one for one in OWN if one[0] not in {name for name, _ in headers}), *headers]
    body = body.replace(b"JOB", service.jobs[whose].encode())
    status, told, data = service.ask(scope_of(method, MCP_PATH, headers=given), body, stays=stays)
    assert status != 500
    assert 200 <= status < 600
    assert told["x-content-type-options"] == "nosniff"
    text = data.decode("utf-8", "replace")
    for secret in (service.folder, "Traceback", "site-packages", str(ROOT), "bob's:"):
        assert secret not in text + repr(told)
    strange = {"host", "sec-fetch-site"} & {name.lower() for name, _ in headers}
    if token not in TOKENS or method != "POST" or strange:
        assert status >= 400
        assert "result" not in text
    elif status == 200 and data:
        for message in answers_in(told["content-type"], data):
            assert message["jsonrpc"] == "2.0"
            facts = message.get("result", {}).get("structuredContent")
            assert facts is None or message["result"].get("isError", False) == (
                facts["state"] in {"failed", "refused", "cancelled"}
            )
    # And the next caller is served.
    listing = json.dumps(LINES[0]).encode()
    known = [["authorization", f"Bearer {TOKENS['bob']}"], *OWN]
    status, told, data = service.ask(scope_of("POST", MCP_PATH, headers=known), listing, stays=True)
    assert status == 200
    (listed,) = answers_in(told["content-type"], data)
    assert {tool["name"] for tool in listed["result"]["tools"]} == {*TOOLS}
