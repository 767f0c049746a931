"""Find out from pictures of an open page which of its texts can be seen.

A page is pictured twice: as it is, and with all letters transparent. What differs inside the boxes of a text is what
a reader sees of it. A text is seen if a tenth of the pixels differ that would if its letters were black on white.

Before the pictures, what moves is ended, a locked page is released, and fixed boxes are made transparent, so that
only boxes that scroll with the page can cover text. The texts of fixed boxes are pictured apart, box by box.
Boxes that scroll are scrolled until their texts were in view. Texts that overlap others are made transparent one
after the other.

The page cannot act against this. Its scripts are off, style sheets are adopted and not inserted, letters are made
transparent by a highlight with a random name, and all changes are undone. Texts that have changed since the capture
or that move are `Sight.UNSURE`, and so are texts whose letters cannot be made transparent alone.

Pictures have half the size of the page, so they are four times as cheap.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.browser.connection import CommandError
from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page._pixel_pictures import LEAST_SHARE, SCALE, Pictures, area, picture_of
from domsieve.renderer.page._pixel_scene import F64, Bools, Ints, PixelCapture, Scene, common
from domsieve.snapshot.page import Kind

if TYPE_CHECKING:
    from PIL.Image import Image

Bytes = NDArray[np.uint8]


class Sight(IntEnum):
    """What pictures say of a node."""

    NONE = 0  # it is no text, or has no box
    SEEN = 1
    UNSEEN = 2
    UNSURE = 3


_SCRIPT = Path(__file__).with_name("pixels.js").read_text("utf-8")
_WORLD = "domsieve-pixels"
# Chrome pictures large parts faster than many small ones.
_TILE_PX, _TALLEST_PX, _WIDEST_PX = 16_384, 65_536, 4_096
# Bounds of the work on one page. Texts beyond them are judged by layout.
_MOST_FRAMES, _MOST_VIEWS, _MOST_SHADED = 20, 60, 200
# Around the texts of a fixed box, for what reaches beyond their boxes.
_MARGIN_PX = 40.0
# A box counts as in view if so much of what fits is.
_IN_VIEW = 0.99


async def look(tab: Tab, capture: PixelCapture, style_names: Sequence[str], *, limit_s: float) -> list[Bytes]:
    """Return the `Sight` (N,) of the nodes of each document of a capture that was just taken.

    The scripts of the page must be off, and it must not be scrolled. All texts are `Sight.UNSURE` if it changed its
    structure, or is not done within `limit_s` seconds.

    Parameters
    ----------
    tab : the open page.
    capture : its capture, which is not changed.
    style_names : the computed properties of the capture.
    """
    page = _Page(tab)
    try:
        try:
            async with asyncio.timeout(limit_s):
                found = await page.look(capture, style_names)
        finally:
            async with asyncio.timeout(limit_s):
                await page.restore()
    except (TimeoutError, CommandError, ValueError, LookupError, ArithmeticError, msgspec.MsgspecError):
        found = None  # also where the numbers that a hostile page brings about make no sense
    kinds = [np.array(document.nodes.node_type) for document in capture.documents]
    said = np.where(np.concatenate(kinds) == Kind.TEXT, Sight.UNSURE if found is None else found, Sight.NONE)
    return np.split(said.astype(np.uint8), np.cumsum([kind.size for kind in kinds])[:-1])


def add_sights(capture: PixelCapture, sights: Sequence[Bytes]) -> None:
    """Add what pictures say of each node to its styles, as one more property whose values are names of `Sight`."""
    first = len(capture.strings)
    capture.strings += ["", *(sight.name.lower() for sight in Sight if sight)]
    for document, sight in zip(capture.documents, sights, strict=True):
        layout = document.layout
        layout.styles = [
            row
            if (plain := bytes(row)) == b"[]"
            else msgspec.Raw(plain[:-1] + b",%d]" % (first + int(sight[node])))
            for node, row in zip(layout.node_index, layout.styles, strict=True)
        ]


class _Page:
    """The look at one page; of each of its documents it has a world and handles of its closed shadow roots."""

    def __init__(self, tab: Tab) -> None:
        self._session = tab.session
        self._worlds: dict[int, int] = {}
        self._roots: dict[int, list[Any]] = {}

    async def look(self, capture: PixelCapture, names: Sequence[str]) -> Bytes:
        """Return the `Sight` of all nodes, one document after another.

        Raises
        ------
        ValueError : the page has changed its structure.
        """
        scene = Scene(capture, names)
        await self._open_worlds(scene)
        handles = await self._settle_boxes(scene)
        if await self._still() or scene.sticky.size or scene.frames:
            params = {"computedStyles": [], "includePaintOrder": True, "includeDOMRects": True}
            placed = await self._session.ask("DOMSnapshot.captureSnapshot", params, PixelCapture)
            scene.place(placed, await self._frames(scene))
        fixed = {node: handles[node] for node in scene.fixed.tolist()}
        await self._check_blank(scene)
        metrics = await self._session.send("Page.getLayoutMetrics")
        size, window = metrics["cssContentSize"], metrics["cssLayoutViewport"]
        whole = np.array([0, 0, min(size["width"], _WIDEST_PX), min(size["height"], _TALLEST_PX)], np.float64)
        first = np.array([window["pageX"], window["pageY"]] * 2, np.float64)
        first[2:] += window["clientWidth"], window["clientHeight"]
        count = _Count(scene, np.array([*self._worlds]))
        for hidden in fixed.values():
            await self._call(0, "put", hidden, "opacity", "0")
        await self._view(count, count.in_view(-1), whole)
        for root, shown in fixed.items():
            boxes = count.in_view(root)
            if boxes.any():
                place, _ = scene.in_view()
                around = np.concatenate((place[boxes, :2].min(axis=0), place[boxes, 2:].max(axis=0)))
                margin = np.array([-_MARGIN_PX, -_MARGIN_PX, _MARGIN_PX, _MARGIN_PX])
                async with self._showing(shown):
                    await self._view(count, boxes, common(np.rint(around) + margin, first))
        await self._scroll(count, fixed, whole)
        # What does not fit into the largest picture is not known.
        is_cut = np.array([size["width"] > _WIDEST_PX, size["height"] > _TALLEST_PX])
        return count.sights(((scene.box[:, :2] >= whole[2:]) & is_cut).any(axis=1))

    @contextlib.asynccontextmanager
    async def _showing(self, fixed: Any) -> AsyncIterator[None]:
        """Show a fixed box, which is transparent, for a block of code; None for no box."""
        if fixed:
            await self._call(0, "undo", fixed)
        yield
        if fixed:
            await self._call(0, "put", fixed, "opacity", "0")

    async def _settle_boxes(self, scene: Scene) -> dict[int, Any]:
        """Put sticky boxes in their places, and find out which fixed boxes stay; return handles of fixed boxes."""
        for node in scene.sticky.tolist():
            document = int(scene.document_of[node])
            if document in self._worlds:
                handle = await self._handle(document, int(scene.ids[node]))
                for name, value in (("position", "relative"), ("inset", "auto")):
                    await self._call(document, "put", handle, name, value)
        handles = {node: await self._handle(0, int(scene.ids[node])) for node in scene.fixed.tolist()}
        stays = await self._call(0, "staying", *handles.values()) if handles else []
        scene.keep_fixed(np.array(stays, np.bool_))
        return handles

    async def _frames(self, scene: Scene) -> dict[int, F64]:
        """Return where the contents of frame elements are (4, 2), by node."""
        found = {}
        for node in scene.frames[:_MOST_FRAMES]:
            try:
                answer = await self._session.send("DOM.getBoxModel", {"backendNodeId": int(scene.ids[node])})
            except CommandError:  # it has no box
                continue
            found[node] = np.array(answer["model"]["content"], np.float64).reshape(4, 2)
        return found

    async def _check_blank(self, scene: Scene) -> None:
        """Find the texts that are not transparent without letters, since an inline style forbids it."""
        texts = np.unique(scene.owner[~scene.alone[scene.owner] & ~scene.unsure[scene.owner]])
        scene.unsure[texts[_MOST_SHADED:]] = True
        texts = texts[:_MOST_SHADED]
        for document in np.unique(scene.document_of[texts]).tolist():
            if document not in self._worlds:
                continue
            own = texts[scene.document_of[texts] == document]
            parents = [
                await self._handle(document, int(scene.ids[node])) for node in scene.parent[own].tolist()
            ]
            await self._blank({document: None})
            scene.unsure[own] = ~np.array(await self._call(document, "areBlank", *parents), np.bool_)
            await self._unblank([document])

    async def _scroll(self, count: "_Count", fixed: dict[int, Any], whole: F64) -> None:
        """Scroll what scrolls until all its texts were in view."""
        scene = count.scene
        handles: dict[int, Any] = {}
        for _ in range(_MOST_VIEWS):
            waiting = count.waiting()
            if not waiting.size:
                return
            box = int(waiting[0])
            root = int(scene.fixed_box[box])
            for one in scene.scroll_to(box):
                document = int(scene.document_of[one.node])
                if one.node not in handles:
                    handles[one.node] = await self._handle(document, int(scene.ids[one.node]))
                at = await self._call(document, "scroll", handles[one.node], *one.at.tolist())
                one.at = np.array(at, np.float64)
            boxes = count.in_view(root)
            if boxes[box]:
                async with self._showing(fixed.get(root)):
                    await self._view(count, boxes, common(scene.port_of(box), whole))
            count.give_up(box)

    async def restore(self) -> None:
        """Undo all changes of the page."""
        was_scrolled = False
        for document in self._worlds:
            await self._call(document, "unblank")
            was_scrolled |= await self._call(document, "restore")
        if was_scrolled:  # the page is told with its next frame, while its scripts are off
            await self._picture(np.array([0.0, 0.0, 2.0, 2.0]))

    # ---- pictures

    async def _view(self, count: "_Count", boxes: Bools, clip: F64) -> None:
        """Picture what is in a part of the page, and count what changes of some boxes."""
        left, top, right, bottom = clip.tolist()
        if right - left < 1 or bottom - top < 1:
            count.add(boxes, [])
            return
        place, _ = count.scene.in_view()
        tiles = [
            np.array([left, y, right, min(y + _TILE_PX, bottom)])
            for y in np.arange(top, bottom, _TILE_PX).tolist()
            if ((place[boxes, 3] > y) & (place[boxes, 1] < y + _TILE_PX)).any()
        ]
        parts = await self._compare(count, boxes, tiles)
        if not any(part.changed[boxes].any() for part in parts):
            # Nothing is seen of any text. A browser that is very busy may have pictured what was there before.
            parts = await self._compare(count, boxes, tiles)
        count.add(boxes, parts)

    async def _compare(self, count: "_Count", boxes: Bools, tiles: Sequence[F64]) -> "list[Pictures]":
        """Picture parts of the page without and with letters.

        In this order, because a layer may be missing in the first picture after a change.
        """
        await self._blank(dict.fromkeys(self._worlds))
        without = [await self._shoot(tile) for tile in tiles]
        await self._unblank(self._worlds)
        complete = [await self._shoot(tile) for tile in tiles]
        parts = []
        for tile, first, second in zip(tiles, without, complete, strict=True):
            part = await asyncio.to_thread(Pictures, count.scene, tile, await first, await second)
            if await asyncio.to_thread(part.moves):
                await asyncio.to_thread(part.take_out, await (await self._shoot(tile)))
            for group in await asyncio.to_thread(part.crowds, boxes, count.can_be_alone):
                await self._blank(await self._nodes(count.scene, group))
                picture = await self._shoot(tile)
                await self._unblank(self._worlds)
                await asyncio.to_thread(part.count_alone, group, await picture)
            parts.append(part)
        return parts

    async def _shoot(self, clip: F64) -> "asyncio.Task[Image]":
        """Take a picture of a part of the page; it is decoded while the page goes on."""
        return asyncio.create_task(asyncio.to_thread(picture_of, await self._picture(clip)))

    async def _picture(self, clip: F64) -> str:
        left, top, right, bottom = clip.tolist()
        answer = await self._session.send(
            "Page.captureScreenshot",
            {
                "format": "png",
                "optimizeForSpeed": True,
                "captureBeyondViewport": True,
                "clip": {"x": left, "y": top, "width": right - left, "height": bottom - top, "scale": SCALE},
            },
        )
        return str(answer["data"])

    async def _nodes(self, scene: Scene, group: Ints) -> dict[int, list[Any]]:
        """Return handles of the text nodes of some boxes, by document."""
        found: dict[int, list[Any]] = {}
        for node in np.unique(scene.owner[group]).tolist():
            document = int(scene.document_of[node])
            found.setdefault(document, []).append(await self._handle(document, int(scene.ids[node])))
        return found

    async def _blank(self, nodes: dict[int, Any]) -> None:
        for document, chosen in nodes.items():
            roots = self._roots.get(document, [])
            await self._call(
                document, "blank", -1 if chosen is None else len(chosen), *(chosen or ()), *roots
            )

    async def _unblank(self, documents: Any) -> None:
        for document in documents:
            await self._call(document, "unblank")

    # ---- the page

    async def _open_worlds(self, scene: Scene) -> None:
        """Load the script in all documents with text."""
        closed = await self._closed_roots() if scene.has_closed_trees() else {}
        with_text = np.unique(scene.document_of[scene.owner]).tolist()
        for document in [0, *(number for number in with_text if number)][:_MOST_FRAMES]:
            frame_id = scene.capture.strings[scene.capture.documents[document].frame_id]
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
            self._worlds[document] = number
            self._roots[document] = [await self._handle(document, root) for root in closed.get(frame_id, ())]

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

    async def _still(self) -> bool:
        """Still all documents; return whether anything may have moved by that."""
        changes = [await self._call(document, "still", not document) for document in self._worlds]
        return any(changes)

    async def _handle(self, document: int, node_id: int) -> dict[str, str]:
        answer = await self._session.send(
            "DOM.resolveNode", {"backendNodeId": node_id, "executionContextId": self._worlds[document]}
        )
        return {"objectId": answer["object"]["objectId"]}

    async def _call(self, document: int, name: str, *arguments: Any) -> Any:
        """Call a function of ``pixels.js`` in a document; handles of nodes are passed as they are."""
        answer = await self._session.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": f"function (...values) {{ return domsievePixels.{name}(...values) }}",
                "executionContextId": self._worlds[document],
                "arguments": [one if isinstance(one, dict) else {"value": one} for one in arguments],
                "returnByValue": True,
            },
        )
        if fault := answer.get("exceptionDetails"):
            raise CommandError(fault.get("exception", {}).get("description") or fault["text"])
        return answer["result"].get("value")


class _Count:
    """How much was seen to change of each box of a scene, and how much would if its letters were black on white.

    Attributes
    ----------
    can_be_alone : (B,), whether the letters of a box can be made transparent while those of all others are seen.
    """

    def __init__(self, scene: Scene, documents: Ints) -> None:
        self.scene = scene
        count = scene.owner.size
        self._changed, self._ink = np.zeros(count), np.zeros(count)
        self._is_known = np.isin(scene.document_of[scene.owner], documents) & ~scene.unsure[scene.owner]
        self._is_counted = np.zeros(count, np.bool_)
        self._is_given_up = np.zeros(count, np.bool_)
        self.can_be_alone = scene.alone[scene.owner]

    def in_view(self, root: int) -> Bools:
        """Return the boxes (B,) that are in view now, below a fixed box or (-1) on the page, and not counted yet."""
        _, share = self.scene.in_view()
        waiting = self._is_known & ~self._is_counted
        return np.asarray(waiting & (self.scene.fixed_box == root) & (share >= _IN_VIEW))

    def waiting(self) -> Ints:
        """Return the boxes that scroll and have not been in view."""
        scrolls = self.scene.scroller >= 0
        return np.flatnonzero(self._is_known & ~self._is_counted & ~self._is_given_up & scrolls)

    def give_up(self, box: int) -> None:
        """Do not try again to bring a box in view."""
        self._is_given_up[box] = True

    def add(self, boxes: Bools, parts: "Sequence[Pictures]") -> None:
        """Add what pictures say of some boxes, which are in view."""
        self._is_counted |= boxes
        place, _ = self.scene.in_view()
        whole = area(self.scene.box)
        share = np.divide(area(place), whole, out=np.ones_like(whole), where=whole > 0)
        self._ink[boxes] = (self.scene.ink * share)[boxes]
        for part in parts:
            self._changed[boxes] += part.changed[boxes]
            self._is_known[boxes & part.moving] = False

    def sights(self, is_beyond: Bools) -> Bytes:
        """Return the `Sight` of all nodes (N,); nothing is known of boxes (B,) beyond the largest picture."""
        scene = self.scene
        is_known = self._is_known & self._is_counted & ~is_beyond
        size = scene.ids.size
        changed = np.bincount(scene.owner[is_known], self._changed[is_known], size)
        ink = np.bincount(scene.owner[is_known], self._ink[is_known], size)
        sights = np.where((changed > 0) & (changed >= LEAST_SHARE * ink), Sight.SEEN, Sight.UNSEEN).astype(
            np.uint8
        )
        unknown = np.ones(size, np.bool_)
        unknown[scene.owner[is_known]] = False
        sights[unknown] = Sight.UNSURE
        return sights
