"""Talk to an open page about its documents and nodes, for `domsieve.renderer.page.pixels.look`."""

import asyncio
from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import SHARED, Tab
from domsieve.renderer.page.pixels._parts import F64
from domsieve.renderer.page.pixels._rests import put_rest, rests_of
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.renderer.page.pixels.pixel_capture import PixelCapture

_FILES = "page.js", "thrown.js", "motion.js", "letters.js", "fonts.js", "lines.js", "apart.js", "reach.js"
_SCRIPT = SHARED + "".join(Path(__file__).with_name(name).read_text("utf-8") for name in _FILES)
_WORLD = "domsieve-pixels"
# Bounds of the work on one page.
MOST_FRAMES = 100
_MOST_RESTS = 2_000
# So many nodes are asked for at once.
_AT_ONCE = 500


class OpenPage:
    """An open page; of each of its documents it has a world and handles of its closed shadow roots.

    Attributes
    ----------
    doubt : why no text is surely seen, "" if some are.
    """

    doubt = ""

    def __init__(self, tab: Tab) -> None:
        self.session = tab.session
        self.worlds: dict[int, int] = {}
        self._roots: dict[int, list[Any]] = {}
        self._known: dict[int, dict[str, str]] = {}
        self._frame_ids: list[str] = []
        self._xml: frozenset[str] | None = None
        self._closed: dict[str, list[int]] = {}

    async def open(self, capture: PixelCapture) -> None:
        """Load the script in the documents with text."""
        types = (one.nodes.shadow_root_type.value for one in capture.documents)
        is_closed = any(capture.strings[name] == "closed" for name in chain.from_iterable(types))
        self._closed = await self._closed_roots() if is_closed else {}
        self._xml = capture.xml
        self._frame_ids = [capture.strings[one.frame_id] for one in capture.documents]
        await self.enter(0, *(at for at, one in enumerate(capture.documents) if at and one.text_boxes.bounds))

    async def enter(self, *documents: int) -> None:
        """Load the script in some documents, as far as it is not there."""
        for document in documents:
            if document in self.worlds or len(self.worlds) == MOST_FRAMES:
                continue
            frame_id = self._frame_ids[document]
            try:
                world = await self.session.send(
                    "Page.createIsolatedWorld", {"frameId": frame_id, "worldName": _WORLD}
                )
                number = world["executionContextId"]
                await self.session.send("Runtime.evaluate", {"expression": _SCRIPT, "contextId": number})
            except CommandError:  # the frame is gone
                if not document:
                    raise
                continue
            self.worlds[document] = number
            roots = self._closed.get(frame_id, ())
            self._roots[document] = [await self._resolve(document, root) for root in roots]

    async def is_empty(self, sheet: dict[str, Any], lost: Collection[str]) -> bool:
        """Return whether a style sheet, of which the browser tells, is known to have no rules.

        Those with the addresses `lost` have none. Of imported ones, nothing tells the address.
        """
        document, node = self._frame_ids.index(sheet["frameId"]), sheet.get("ownerNode")
        if not node:
            return bool(lost)
        await self.enter(document)
        return bool(await self.call(document, "isEmpty", [*lost], await self._resolve(document, node)))

    @property
    def has_closed_roots(self) -> bool:
        """Whether the page has closed shadow roots, of whose attributes captures know nothing."""
        return bool(self._closed)

    async def ask_all(self, name: str, *arguments: Any) -> list[Any]:
        """Call a function of ``page.js`` in all documents, with their closed shadow roots as the last arguments."""
        await self.enter(*range(len(self._frame_ids)))
        return [await self.call(one, name, *arguments, *self._roots[one]) for one in self.worlds]

    async def _contents(self, scene: Scene, nodes: Sequence[int]) -> dict[int, F64]:
        """Return where the contents of elements are (4, 2), by node."""
        found = {}
        for node in nodes:
            try:
                answer = await self.session.send("DOM.getBoxModel", {"backendNodeId": int(scene.ids[node])})
            except CommandError:  # it has no box
                continue
            found[node] = np.array(answer["model"]["content"], np.float64).reshape(4, 2)
        return found

    async def frame_places(self, scene: Scene) -> dict[int, F64]:
        """Return where the contents of the frames of a scene are, as `Scene.place` takes them."""
        return await self._contents(scene, scene.frames[:MOST_FRAMES])

    async def is_reached(self, scene: Scene, node: int) -> bool:
        """Return whether a reader can scroll a box of a scene, also through the frames around it."""
        is_reached = True
        for one in (node, *reversed(scene.frames_around(node))):
            document = int(scene.document_of[one])
            await self.enter(document)
            if document in self.worlds:
                way = await self._way(scene, one, "isReached", bool(scene.fixed.size))
                if way == "by keys":
                    return True
                is_reached &= bool(way)
        return is_reached

    async def _way(self, scene: Scene, node: int, name: str, *arguments: Any) -> str:
        """Return how a wheel comes to a node, with a function of ``reach.js``: frames in it may keep it."""
        inner, way = await self._ask_over(scene, node, name, *arguments)
        if isinstance(way, str):
            return way
        for number, place in way:
            frame = inner[number]
            await self.enter(frame)
            # What a document beyond the limit does is not known.
            if frame not in self.worlds or await self._way(scene, int(scene.starts[frame]), "passes", place):
                return "by a pointer"
        return ""

    async def _ask_over(self, scene: Scene, node: int, name: str, *arguments: Any) -> tuple[list[int], Any]:
        """Call a function of ``reach.js`` for a node; return the documents of its frames, and the answer."""
        document, below = int(scene.document_of[node]), scene.below_one(node)
        outer = scene.parent[scene.starts[:-1]]
        inner = np.flatnonzero((outer >= 0) & below[outer] & (scene.document_of[outer] == document)).tolist()
        own, *frames = await self._handles(scene, [node, *outer[inner].tolist()])
        roots = self._roots[document]
        return inner, await self.call(document, name, own, *arguments, len(inner), *frames, *roots)

    async def _closed_roots(self) -> dict[str, list[int]]:
        """Return the browser's ids of closed shadow roots, by frame; captures do not have them."""
        tree = await self.session.send("DOM.getDocument", {"depth": -1, "pierce": True})
        frame = (await self.session.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
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

    async def box(self, scene: Scene, node: int) -> tuple[int, dict[str, str]]:
        """Return the document and the handle of a node of a scene."""
        return int(scene.document_of[node]), await self._handle(scene, node)

    async def _handles(self, scene: Scene, nodes: Sequence[int]) -> list[dict[str, str]]:
        """Return the handles of several nodes of a scene."""
        found = []
        for begin in range(0, len(nodes), _AT_ONCE):
            some = nodes[begin : begin + _AT_ONCE]
            found += await asyncio.gather(*(self._handle(scene, node) for node in some))
        return found

    async def _resolve(self, document: int, node_id: int) -> dict[str, str]:
        answer = await self.session.send(
            "DOM.resolveNode", {"backendNodeId": node_id, "executionContextId": self.worlds[document]}
        )
        return {"objectId": answer["object"]["objectId"]}

    async def call(self, document: int, name: str, *arguments: Any) -> Any:
        """Call a function of ``page.js`` in a document; handles of nodes are passed as they are."""
        answer = await self.session.send(
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

    async def capture(self, names: Sequence[str]) -> PixelCapture:
        """Capture the page with some computed properties."""
        params = {"computedStyles": [*names], "includePaintOrder": True, "includeDOMRects": True}
        capture = await self.session.ask("DOMSnapshot.captureSnapshot", params, PixelCapture)
        capture.xml = self._xml
        await self.complete(capture)
        return capture

    async def complete(self, capture: PixelCapture) -> None:
        """Add boxes of the words that a capture leaves out."""
        for number, document in enumerate(capture.documents):
            if number in self.worlds and (rests := rests_of(capture, document)[:_MOST_RESTS]):
                handles = await asyncio.gather(*(self._resolve(number, rest.node_id) for rest in rests))
                told = [(rest.begin, rest.box) for rest in rests]
                for rest, words in zip(rests, await self.call(number, "rests", told, *handles), strict=True):
                    put_rest(document, rest, words)
