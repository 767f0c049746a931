"""Show a page's raw source as a browser does when no script runs: styled, laid out, and otherwise as it came.

Imports, of the project, the page's tab.
"""

import asyncio
import base64
import contextlib
from dataclasses import dataclass
from typing import Any

from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The raw source of a navigation.

    Parameters
    ----------
    url : where it came from, after redirects: the base of its style sheets and images.
    source : the body that came.
    content_type : its header.
    """

    url: str
    source: bytes
    content_type: str


class Stage:
    """A tab made ready to show a source; what the source loads comes from its servers as usual."""

    def __init__(self, tab: Tab, original: Original) -> None:
        self._tab = tab
        self._original = original
        self._frame_id = ""
        self._answers: set[asyncio.Task[None]] = set()

    async def prepare(self, *, limit_s: float) -> None:
        """Switch scripts off, and answer the navigation that comes next."""
        self._tab.session.on("Fetch.requestPaused", self._pause)
        await self._tab.send("Emulation.setScriptExecutionDisabled", {"value": True}, limit_s=limit_s)
        documents = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}
        await self._tab.send("Fetch.enable", {"patterns": [documents]}, limit_s=limit_s)

    def _pause(self, event: dict[str, Any]) -> None:
        answer = asyncio.create_task(self._answer(event))
        self._answers.add(answer)
        answer.add_done_callback(self._answers.discard)

    async def _answer(self, event: dict[str, Any]) -> None:
        number = {"requestId": event["requestId"]}
        with contextlib.suppress(CommandError):  # the page is gone
            if not self._frame_id:
                self._frame_id = event["frameId"]
                headers = [{"name": "Content-Type", "value": self._original.content_type or "text/html"}]
                body = base64.b64encode(self._original.source).decode()
                answer = {"responseCode": 200, "responseHeaders": headers, "body": body}
                await self._tab.session.send("Fetch.fulfillRequest", {**number, **answer})
            elif event["frameId"] == self._frame_id:  # a refresh that leads to what is meant for no script
                await self._tab.session.send("Fetch.failRequest", {**number, "errorReason": "Aborted"})
            else:
                await self._tab.session.send("Fetch.continueRequest", number)
