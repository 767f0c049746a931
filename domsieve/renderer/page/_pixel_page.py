"""Talk to an open page about its documents and nodes, for `domsieve.renderer.page.pixels`."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page._pixel_capture import PixelCapture
from domsieve.renderer.page._pixel_scene import Scene

_SCRIPT = Path(__file__).with_name("pixels.js").read_text("utf-8")
_WORLD = "domsieve-pixels"
# Bounds of the work on one page.
MOST_FRAMES = 100


class OpenPage:
    """An open page; of each of its documents it has a world and handles of its closed shadow roots."""

    def __init__(self, tab: Tab) -> None:
        self._session = tab.session
        self.worlds: dict[int, int] = {}
        self._roots: dict[int, list[Any]] = {}
        self._known: dict[int, dict[str, str]] = {}
        self._frame_ids: list[str] = []

    async def open(self, capture: PixelCapture) -> None:
        """Load the script in all documents with text."""
        types = (one.nodes.shadow_root_type.value for one in capture.documents)
        is_closed = any(capture.strings[name] == "closed" for name in chain.from_iterable(types))
        closed = await self._closed_roots() if is_closed else {}
        self._frame_ids = [capture.strings[one.frame_id] for one in capture.documents]
        with_text = [
            number for number, one in enumerate(capture.documents) if number and one.text_boxes.bounds
        ]
        for document in [0, *with_text][:MOST_FRAMES]:
            frame_id = self._frame_ids[document]
            try:
                world = await self._session.send(
                    "Page.createIsolatedWorld", {"frameId": frame_id, "worldName": _WORLD}
                )
                number = world["executionContextId"]
                await self._session.send("Runtime.evaluate", {"expression": _SCRIPT, "contextId": number})
            except CommandError:  # the frame is gone
                if not document:
                    raise
                continue
            self.worlds[document] = number
            self._roots[document] = [await self._resolve(document, root) for root in closed.get(frame_id, ())]

    async def depends_on_scripts(self, documents: int) -> bool:
        """Return whether a style sheet in any of some number of documents asks whether scripts are on."""
        answers = [await self.call(document, "asksForScripts") for document in self.worlds]
        if True in answers or (None not in answers and len(answers) == documents):
            return True in answers
        try:  # style sheets of other origins are read by the browser only
            await self._session.send("DOM.enable")
            await self._session.send("CSS.enable")
            queries = await self._session.send("CSS.getMediaQueries")
        finally:
            await self._session.send("CSS.disable")
            await self._session.send("DOM.disable")
        return any("scripting" in str(query["text"]).lower() for query in queries["medias"])

    async def _closed_roots(self) -> dict[str, list[int]]:
        """Return the browser's ids of closed shadow roots, by frame; captures do not have them."""
        tree = await self._session.send("DOM.getDocument", {"depth": -1, "pierce": True})
        frame = (await self._session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        waiting = [(frame, tree["root"])]
        found: dict[str, list[int]] = {}
        while waiting:
            frame, node = waiting.pop()
            for root in node.get("shadowRoots", ()):
                waiting.append((frame, root))
                if root["shadowRootType"] == "closed":
                    found.setdefault(frame, []).append(root["backendNodeId"])
            waiting += [(frame, child) for child in node.get("children", ())]
            if inner := node.get("contentDocument"):
                waiting.append((node.get("frameId", frame), inner))
        return found

    async def _handle(self, scene: Scene, node: int) -> dict[str, str]:
        """Return the handle of a node of a scene."""
        if node not in self._known:
            self._known[node] = await self._resolve(int(scene.document_of[node]), int(scene.ids[node]))
        return self._known[node]

    async def _resolve(self, document: int, node_id: int) -> dict[str, str]:
        answer = await self._session.send(
            "DOM.resolveNode", {"backendNodeId": node_id, "executionContextId": self.worlds[document]}
        )
        return {"objectId": answer["object"]["objectId"]}

    async def call(self, document: int, name: str, *arguments: Any) -> Any:
        """Call a function of ``pixels.js`` in a document; handles of nodes are passed as they are."""
        answer = await self._session.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": f"function (...values) {{ return domsievePixels.{name}(...values) }}",
                "executionContextId": self.worlds[document],
                "arguments": [one if isinstance(one, dict) else {"value": one} for one in arguments],
                "returnByValue": True,
            },
        )
        if fault := answer.get("exceptionDetails"):
            raise CommandError(fault.get("exception", {}).get("description") or fault["text"])
        return answer["result"].get("value")

    async def _capture(self, names: Sequence[str]) -> PixelCapture:
        params = {"computedStyles": [*names], "includePaintOrder": True, "includeDOMRects": True}
        return await self._session.ask("DOMSnapshot.captureSnapshot", params, PixelCapture)
