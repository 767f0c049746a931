"""Take pictures of parts of an open page, with letters and without, and have its letters drawn apart."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from domsieve.renderer.browser.tab import Tab
from domsieve.renderer.page.pixels._apart import are_others, likenesses_apart, near_ink, touching
from domsieve.renderer.page.pixels._boxes import fill
from domsieve.renderer.page.pixels._crowds import crowds, put_crowds
from domsieve.renderer.page.pixels._glyphs import named
from domsieve.renderer.page.pixels._images import FINE, ink_of, picture_of
from domsieve.renderer.page.pixels._letters import Letters
from domsieve.renderer.page.pixels._page import OpenPage
from domsieve.renderer.page.pixels._parts import CHANCE, F64, Bools, Ints
from domsieve.renderer.page.pixels._scene import Scene
from domsieve.snapshot.page import Kind

if TYPE_CHECKING:
    from PIL.Image import Image

# Bounds of the work on one page: texts whose lines the page is asked for, those that it is asked about again, and
# backgrounds that are cut to letters. Texts beyond them are unsure.
_MOST_DISPLACED, _MOST_SHADED, _MOST_CUT = 30_000, 30_000, 500
# Lines whose width differs from that in their font by more than this share may be first lines in another one.
_MOST_MISFIT = 0.01
_LONGEST_BREAK_S = 0.05
# What is clearer, of 255, is no ink of letters that are drawn one by one.
_LEAST_INK = 20
# Letters of other scripts reach so far beyond their boxes, in sizes. A guess.
_AROUND = 0.25


class Camera(OpenPage):
    """An open page that pictures are taken of.

    Attributes
    ----------
    origin : how far the place from which a page is scrolled is from the left and the top of all of it, in px (2,). It
        is not 0 in pages that are read to the left, if they are wider than the window.
    unblanked : how many letters cannot be made transparent, as their styles forbid it.
    """

    unblanked = 0

    def __init__(self, tab: Tab) -> None:
        super().__init__(tab)
        self.origin = np.zeros(2)

    async def measure(self, scene: Scene) -> Letters:
        """Return the lines that can be drawn apart, and tell the scene where exactly they are."""
        # Captures have the lines of a text that goes on in another column in the first one, and others a little off.
        split = np.unique(scene.owner[scene.is_displaced[scene.owner]])
        split = split[(scene.kind[split] == Kind.TEXT) & np.isin(scene.document_of[split], [*self.worlds])]
        scene.unsure[split[_MOST_DISPLACED:]] = True
        split = split[:_MOST_DISPLACED]
        for document in np.unique(scene.document_of[split]).tolist():
            nodes = split[scene.document_of[split] == document].tolist()
            offset, scale = scene.place_of[document]
            found = await self.call(document, "lines", *await self._handles(scene, nodes))
            for node, (boxes, matrix, is_drawn) in zip(nodes, found, strict=True):
                if matrix:
                    outer = scale[:, None] * np.array(matrix, np.float64).reshape(2, 2).T
                    scene.put_map(node, outer if is_drawn else outer @ scene.map_in_drawing(node))
                places = np.array(boxes, np.float64).reshape(-1, 4)
                scene.put_lines(node, places * np.tile(scale, 2) + np.tile(offset, 2))
        scene.squeeze(scene.is_split)
        for document, texts in crowds(scene).items():
            if document in self.worlds:
                put_crowds(
                    scene, texts, await self.call(document, "crowded", *await self._handles(scene, texts))
                )
        curved = split[scene.is_curved[split] & (scene.document_of[split] == 0)].tolist()
        handles = await self._handles(scene, curved)
        glyphs = await self.call(0, "glyphs", *handles) if curved else []
        letters = Letters(scene, self.worlds, dict(zip(curved, glyphs, strict=True)))
        for document, lines in letters.by_document.items():
            if lines:
                values = [letters.lines[line] for line in lines]
                found = await self.call(document, "measured", letters.fonts, values)
                if scene.has_first_lines:
                    await self._measure_first(scene, letters, document, found)
                letters.place(document, found)
        return letters

    async def _measure_first(self, scene: Scene, letters: Letters, document: int, found: list[Any]) -> None:
        """Measure lines of a document once more that do not fit their font, in that of the first line of a block.

        Parameters
        ----------
        found : what was measured of its lines, see `Letters.place`; it is replaced where the other font fits better.
        """
        lines = letters.by_document[document]
        misfits = [np.inf if one is None else one["misfit"] for one in found]
        at = [number for number, misfit in enumerate(misfits) if misfit > _MOST_MISFIT]
        owners = letters.texts(lines[number] for number in at)
        texts = [*dict.fromkeys(owners.values())][:_MOST_DISPLACED]
        late = {owners.get(lines[number], -1) for number in at if found[number] is None} - {-1, *texts}
        scene.unsure[[*late]] = True
        handles = await self._handles(scene, texts)
        styles = dict(zip(texts, await self.call(document, "firstLines", *handles), strict=True))
        changed = {number: said for number in at if (said := styles.get(owners.get(lines[number], -1)))}
        before = {number: letters.restyle(lines[number], said) for number, said in changed.items()}
        values = [letters.lines[lines[number]] for number in changed]
        again = await self.call(document, "measured", letters.fonts, values)
        for number, one in zip(changed, again, strict=True):
            if one and one["misfit"] < misfits[number]:
                found[number] = one
            else:
                letters.lines[lines[number]] = before[number]

    async def resized(self, letters: Letters) -> Bools:
        """Return which parts (B,) have letters that their font draws otherwise in their size than in a large one."""
        found = np.zeros(letters.ink.size, np.bool_)
        for document in letters.by_document:
            lines = letters.by_size(document)
            texts = ("".join(letters.lines[line]["text"] for line in some) for some in lines.values())
            said = ["".join(sorted({*text})) for text in texts]
            answers = await self.call(document, "resized", *zip(lines, said, strict=True))
            for some, odd in zip(lines.values(), answers, strict=True):
                for part in letters.parts_of(some) if odd else ():
                    found[part] = not {*odd}.isdisjoint(letters.said(part))
        return found

    async def draw(
        self, letters: Letters, clip: F64, size: tuple[int, int], owners: Ints, *, keep_inks: bool = False
    ) -> "Image":
        """Return the ink of the letters of some texts in a part of the page, in full size.

        Parameters
        ----------
        size : width and height of a reduced picture of the part.
        keep_inks : see `Letters.in_clip`.
        """
        lines = letters.in_clip(clip, owners, keep_inks=keep_inks)
        sheet = FINE * size[0], FINE * size[1]
        drawn = [
            await self.call(document, "drawn", letters.fonts, own, *sheet) for document, own in lines.items()
        ]
        return await asyncio.to_thread(ink_of, drawn, sheet)

    async def shows_others(
        self,
        letters: Letters,
        clip: F64,
        parts: Bools,
        seen: Bools,
        assumed: Bools,
        levels: NDArray[np.uint8],
        *,
        whole: bool = False,
    ) -> tuple[Bools, Bools]:
        """Return which of some parts (B,) show other letters of their font than they have, or are not compared.

        Of scripts other than Latin, Cyrillic and Greek, the latter says nothing. Also return which pixels
        (height, width) are near ink that is known: that of texts that can be drawn, of those three scripts letter by
        letter, and all in the boxes of other texts.

        Parameters
        ----------
        seen : the parts (B,) that may be beside these.
        assumed : parts (B,) that may be there, too: their ink is known, but says nothing of others.
        clip, levels : a part of the page, and by how much each pixel differs there without letters (height, width).
        whole : whether of letters with lines also what is below their feet counts, where lines may be.
        """
        (high, wide), count, some = levels.shape, letters.ink.size, parts | seen
        compared, found, is_whole = np.zeros((3, count), np.bool_)
        ink = np.zeros((high, wide), np.bool_)
        moved = [np.zeros((0, 6), np.intp)]
        for document, lines in letters.in_clip(clip, letters.owners(some), keep_inks=True).items():
            lines = letters.cut_to(lines, some)
            asked = [{**line, "isAbove": line["isLined"] and not whole} for line in lines]
            told, all_drawn, drawn = await self.call(document, "apart", letters.fonts, asked, wide, high)
            is_whole |= letters.are_in([lines[number] for number in all_drawn])
            sheet = np.concatenate([np.asarray(picture_of(one)) for one in drawn], axis=2)
            ink |= sheet[..., 0] > _LEAST_INK
            places = np.array(told, np.float64).reshape(-1, 12)
            line, unit, others = places[:, 4:7].astype(np.intp).T
            part = letters.parts_at(lines, line, unit)
            own = part >= 0
            if own.any():
                edges, part = np.rint(places[own, :4]).astype(np.intp), part[own]
                alike, other, moves = await asyncio.to_thread(
                    likenesses_apart, levels, sheet, edges, others[own], part
                )
                compared[part] = True
                letters.reach(part, places[own, :4] + np.tile(clip[:2], 2))
                odd = are_others(alike, other)
                # Some letters of a part may be in one picture, and the others in the next one.
                letters.cut(part, unit[own], (alike < 0) | (odd & ~parts[part]))
                found[part[odd]] = True
                found[part[touching(places[own, :4], places[own, 7:])]] = True
                moved.append(np.concatenate((edges, moves), axis=1)[moves.any(axis=1)])
        left = np.flatnonzero(parts & ~compared).tolist()
        found[[part for part in left if any(map(named, letters.said(part)))]] = True
        if (others := (some & ~is_whole | assumed) & letters.is_drawn).any():
            size = -(-wide // FINE), -(-high // FINE)
            texts = await self.draw(letters, clip, size, letters.owners(others), keep_inks=True)
            near = np.zeros_like(ink)
            fill(near, np.rint(letters.places(others, _AROUND) - np.tile(clip[:2], 2)))
            ink |= near & (np.asarray(texts).max(axis=2)[:high, :wide] > _LEAST_INK)
        boxes = letters.places((some | assumed) & ~letters.is_drawn) - np.tile(clip[:2], 2)
        known = await asyncio.to_thread(near_ink, ink, np.concatenate(moved), boxes)
        return np.asarray(found & parts), known

    async def again(
        self, clip: F64, count: int, nodes: dict[int, Any] | None = None
    ) -> "tuple[list[Image], list[Image]]":
        """Take so many reduced pictures each without and with letters, at times and in an order no page can know.

        With `nodes`, only the letters of these texts are left out, see `blank`.
        """
        found: tuple[list[asyncio.Task[Image]], list[asyncio.Task[Image]]] = [], []
        for with_letters in CHANCE.sample([False, True] * count, 2 * count):
            await asyncio.sleep(CHANCE.uniform(0, _LONGEST_BREAK_S))
            found[with_letters].append(
                await (self.shoot(clip, FINE) if with_letters else self.without(clip, nodes, FINE))
            )
        return await asyncio.gather(*found[0]), await asyncio.gather(*found[1])

    async def without(
        self, clip: F64, nodes: dict[int, Any] | None = None, reduced: int = 1
    ) -> "asyncio.Task[Image]":
        """Take a picture of a part of the page without letters, see `shoot`; with `nodes`, only of these texts."""
        await self.blank(nodes or dict.fromkeys(self.worlds))
        picture = await self.shoot(clip, reduced)
        await self.unblank(self.worlds)
        return picture

    async def without_some(self, clip: F64, nodes: dict[int, Any], *, filling: bool = False) -> "Image":
        """Take a reduced picture of a part of the page without the letters of some texts, see `blank`."""
        await self.blank(nodes, filling=filling)
        picture = await (await self.shoot(clip, FINE))
        await self.unblank(self.worlds)
        return picture

    async def shoot(self, clip: F64, reduced: int = 1) -> "asyncio.Task[Image]":
        """Take a picture of a part of the page, reduced so many times; it is decoded while the page goes on."""
        return asyncio.create_task(asyncio.to_thread(picture_of, await self.picture(clip), reduced))

    async def picture(self, clip: F64) -> str:
        """Return a picture of a part of the page in full size, as the browser encodes it.

        In another size, edges and patterns may look otherwise: boxes begin at whole pixels, and drawings can tell.
        """
        left, top, right, bottom = (clip + np.tile(self.origin, 2)).tolist()
        answer = await self.session.send(
            "Page.captureScreenshot",
            {
                "format": "png",
                "optimizeForSpeed": True,
                "captureBeyondViewport": False,  # else the page is laid out for another window, for a moment
                "clip": {"x": left, "y": top, "width": right - left, "height": bottom - top, "scale": 1},
            },
        )
        return str(answer["data"])

    async def aim(self, left: float, top: float) -> F64:
        """Scroll the page; return what the window shows of it: left, top, right and bottom in CSS px."""
        x, y, wide, high = await self.call(0, "scrollPage", left, top)
        return np.array([x, y, x + wide, y + high], np.float64)

    async def wake(self, left: float = 0.0, top: float = 0.0) -> None:
        """Let the browser draw a frame, with which styles follow what was scrolled; a place is in the window."""
        await self.picture(np.array([left, top, left + 2.0, top + 2.0]))

    async def nodes(self, scene: Scene, group: Ints) -> dict[int, list[Any]]:
        """Return handles of the text nodes of some parts, by document."""
        found: dict[int, list[Any]] = {}
        for node in np.unique(scene.owner[group]).tolist():
            found.setdefault(int(scene.document_of[node]), []).append(await self._handle(scene, node))
        return found

    async def blank(self, nodes: dict[int, Any], *, filling: bool = False) -> None:
        """Make letters transparent: for each document handles of texts, or None for all.

        With `filling`, their strokes and shadows stay.
        """
        for document, chosen in nodes.items():
            roots = self._roots.get(document, [])
            count = -1 if chosen is None else len(chosen)
            await self.call(document, "unfill" if filling else "blank", count, *(chosen or ()), *roots)

    async def unblank(self, documents: Iterable[int]) -> None:
        """Show the letters of documents again."""
        for document in documents:
            await self.call(document, "unblank")

    async def cut(self, scene: Scene) -> None:
        """Tell the documents which of their backgrounds are cut to letters, and where first letters are apart."""
        scene.unsure |= scene.below(np.isin(np.arange(scene.ids.size), scene.cut[_MOST_CUT:]))
        begun = scene.parent[scene.is_first_letter & scene.has_letters]
        for name, nodes in (("cut", scene.cut), ("begin", begun)):
            some = nodes[:_MOST_CUT]
            for document in np.intersect1d(scene.document_of[some], [*self.worlds]).tolist():
                own = some[scene.document_of[some] == document].tolist()
                await self.call(document, name, *await self._handles(scene, own))

    async def check_blank(self, scene: Scene) -> None:
        """Find the texts that are not transparent without letters, since their styles forbid it."""
        looks = scene.shaded | scene.below(np.isin(np.arange(scene.kind.size), scene.cut))
        shaded = np.unique(scene.owner[looks[scene.owner] & ~scene.unsure[scene.owner]])
        generated = np.unique(scene.owner[scene.is_generated[scene.owner]])
        begun = np.flatnonzero(scene.is_first_letter & scene.has_letters)
        left = np.zeros_like(scene.unsure)
        asked = {"areBlank": shaded, "isBeginBlank": begun, "isGeneratedBlank": generated}
        for question, every in asked.items():
            texts, scene.unsure[every[_MOST_SHADED:]] = every[:_MOST_SHADED], True
            for document in np.intersect1d(scene.document_of[texts], [*self.worlds]).tolist():
                own = texts[scene.document_of[texts] == document]
                parents = await self._handles(scene, scene.parent[own].tolist())
                await self.blank({document: None})
                left[own] |= ~np.array(await self.call(document, question, *parents), np.bool_)
                await self.unblank([document])
        scene.unsure |= left
        self.unblanked = int(scene.letters[left[scene.owner]].sum())
        if "mo" in scene.names:
            await self.blank(dict.fromkeys(self.worlds))
            self.unblanked += sum(await self.ask_all("countOperators"))
            await self.unblank(self.worlds)

    async def lined(self, scene: Scene, parts: Bools) -> Bools:
        """Return which of some parts (B,) have lines or marks now."""
        lined = np.zeros(scene.ids.size, np.bool_)
        parts = parts & np.isin(scene.document_of[scene.owner], [*self.worlds])
        for document, texts in (await self.nodes(scene, np.flatnonzero(parts))).items():
            own = np.unique(scene.owner[parts & (scene.document_of[scene.owner] == document)])
            lined[own] = await self.call(
                document, "areLined", len(texts), *texts, *self._roots.get(document, ())
            )
        return np.asarray(parts & lined[scene.owner])

    @contextlib.asynccontextmanager
    async def without_lines(self) -> AsyncIterator[None]:
        """Take the lines and marks of all letters from the page for a block of code."""
        for document in self.worlds:
            await self.call(document, "unline", *self._roots.get(document, ()))
        yield
        for document in self.worlds:
            await self.call(document, "reline")
