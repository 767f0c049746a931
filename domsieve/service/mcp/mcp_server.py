"""The MCP server: over the standard streams of the process, or as a part of the HTTP service.

Only this module needs the package `mcp`. The service checks the host, origin, token and limits of every HTTP request
before it gets here. There are no MCP sessions, so none can be stolen or fill the memory.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from importlib.metadata import version
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette
from starlette.routing import Route

from domsieve.service.mcp._tool_results import OUTPUT_SCHEMA
from domsieve.service.mcp._tools import INSTRUCTIONS, TOOLS, Tool
from domsieve.service.mcp.tool_calls import ToolCalls
from domsieve.service.web.settings import LOCAL, MCP_PATH

_READ_BYTES = 65_536
_CANCELLED = -32800  # the response of the package
# Maximum length of a line of standard input, which is a message. No tool accepts messages half as long.
LONGEST_LINE_BYTES = 32_000_000

_CallKey = tuple[str, ...]


class _CallsOverHttp:
    """The running calls, for clients that cancel a call with a separate message.

    In protocols before 2026, clients over HTTP cancel a call with another request. Without sessions, this request
    identifies the call only by an id that the client chose. It applies to calls of the same client, from the same
    address and program.
    """

    def __init__(self) -> None:
        self._running: dict[_CallKey, list[anyio.CancelScope]] = {}

    @contextmanager
    def running(self, request: Any, request_id: types.RequestId | None) -> Iterator[anyio.CancelScope]:
        """Run a call in a scope that can be cancelled."""
        key = self._key(request, request_id)
        with anyio.CancelScope() as scope:
            self._running.setdefault(key, []).append(scope)
            try:
                yield scope
            finally:
                self._running[key].remove(scope)
                if not self._running[key]:
                    del self._running[key]

    def cancel(self, request: Any, request_id: types.RequestId | None) -> None:
        """Cancel the call with an id, unless several calls match."""
        scopes = self._running.get(self._key(request, request_id), [])
        if request is not None and len(scopes) == 1:
            scopes[0].cancel()

    def _key(self, request: Any, request_id: types.RequestId | None) -> _CallKey:
        if request is None:
            return ("", str(request_id))
        host = request.client.host if request.client else ""
        return request.state.client, host, request.headers.get("user-agent", ""), str(request_id)


def mcp_server(calls: ToolCalls) -> Server[Any]:
    """Return a server of the tools."""
    http_calls = _CallsOverHttp()

    async def list_tools(_: Any, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_shown(tool) for tool in TOOLS.values()])

    async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in TOOLS:
            raise MCPError(types.INVALID_PARAMS, "There is no such tool.")
        client = LOCAL if ctx.request is None else ctx.request.state.client
        answer = None
        with http_calls.running(ctx.request, ctx.request_id):
            answer = await calls.call(
                params.name, params.arguments, client=client, progress=ctx.session.report_progress
            )
        if answer is None:
            raise MCPError(_CANCELLED, "The call was cancelled.")
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text) for text in answer.texts if text],
            structured_content=dict(answer.facts),
            is_error=answer.is_error,
        )

    async def cancelled(ctx: Any, params: types.CancelledNotificationParams) -> None:
        http_calls.cancel(ctx.request, params.request_id)

    server: Server[Any] = Server(
        "domsieve",
        version=version("domsieve"),
        title="domsieve",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    server.add_notification_handler("notifications/cancelled", types.CancelledNotificationParams, cancelled)
    return server


def over_http(app: Starlette, calls: ToolCalls, *, body_bytes: int) -> AbstractAsyncContextManager[None]:
    """Add MCP to an application, and return the context in which it is served."""
    manager = StreamableHTTPSessionManager(
        mcp_server(calls), stateless=True, max_request_body_size=body_bytes
    )
    app.router.routes.append(Route(MCP_PATH, StreamableHTTPASGIApp(manager), methods=["POST"]))
    running: AbstractAsyncContextManager[None] = manager.run()
    return running


async def over_stdio(calls: ToolCalls) -> None:
    """Serve until standard input ends. Only messages are written to standard output; other output is redirected."""
    server = mcp_server(calls)
    async with stdio_server(stdin=_lines()) as (messages, answers):
        await server.run(messages, answers, server.create_initialization_options())


def _shown(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=not tool.changes,
        destructive_hint=tool.changes and not tool.opens,
        open_world_hint=tool.opens,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=dict(OUTPUT_SCHEMA),
        annotations=hints,
    )


async def _lines() -> AsyncIterator[str]:
    """Yield the lines of standard input.

    A daemon thread reads them, so that the server can end while it waits for input. It does not use sys.stdin,
    because it would hold its lock when the process ends.
    """
    loop = asyncio.get_running_loop()
    came: asyncio.Queue[bytes] = asyncio.Queue()

    def tell(data: bytes) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            asyncio.run_coroutine_threadsafe(came.put(data), loop).result()

    threading.Thread(target=_read, args=(os.dup(0), tell), name="stdin", daemon=True).start()
    held = bytearray()
    while data := await came.get():
        *ended, rest = data.split(b"\n")
        for part in ended:
            yield (bytes(held) + part).decode("utf-8", "replace")
            held.clear()
        if len(held) > LONGEST_LINE_BYTES:
            held.clear()  # too long for a message; the rest of the line is not valid, either
        held += rest


def _read(descriptor: int, tell: Callable[[bytes], None]) -> None:
    with contextlib.suppress(OSError):
        while data := os.read(descriptor, _READ_BYTES):
            tell(data)
    tell(b"")
