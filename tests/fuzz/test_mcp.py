"""Calls and messages of any kind to the MCP server: failures look like failures, and the server goes on."""

import asyncio
import atexit
import contextlib
import json
import select
import subprocess
import sys
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError

from domsieve.service.jobs.database import Database
from domsieve.service.jobs.requests import CleanRequest
from domsieve.service.jobs.store import JobStore
from domsieve.service.jobs.values import NewFile
from domsieve.service.jobs.work_queue import WorkQueue
from domsieve.service.mcp.calls import ToolCalls
from domsieve.service.mcp.server import mcp_server
from domsieve.service.mcp.tools import TOOLS
from domsieve.service.web.gateway import Gateway
from domsieve.service.web.settings import LOCAL, Settings
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
_LIMIT_S = 120


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
