"""Judge pages by pixels, by the rules about layout and by the pictures of a capture.

python -m tests.renderer.pixel_jury FILE.html ...
"""

import asyncio
import contextlib
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from domsieve.analysis.columns.hiding import Hiding, hidden_texts
from domsieve.analysis.columns.visible import never_shown
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.network.egress import offline
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.snapshot.pixels import without_pixels
from tests.renderer.bad_server import Server, serving
from tests.renderer.pixel_oracle import LOAD_LIMIT, WAYS, Oracle, Sight


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A text run judged by pixels and by the rules about layout.

    Parameters
    ----------
    sight : what pixels say.
    hiding : what the rules say; None if the snapshot has no such text.
    pictured : what rules and the pictures of the capture say together; None likewise.
    is_never_shown : whether it is in an element that browsers do not show, such as ``script``.
    """

    sight: Sight
    hiding: Hiding | None
    pictured: Hiding | None
    is_never_shown: bool

    @property
    def name(self) -> str:
        """Its name in pages of planted sentences, or else its first words."""
        text = " ".join(self.sight.text.split())
        planted = re.match(r"Planted (\S+) sentence", text)
        return planted[1] if planted else text[:40]

    @property
    def is_kept(self) -> bool:
        """Whether the rules count it as visible."""
        return self.hiding == Hiding.NONE and not self.is_never_shown

    @property
    def agrees(self) -> bool:
        """Whether rules and pixels agree; also where the pixels say nothing."""
        return not self.sight.is_judged or self.is_kept == self.sight.is_seen

    def __str__(self) -> str:
        sight = self.sight
        shares = " ".join(
            f"{way} {'-' if (share := sight.share(way)) is None else f'{share:.3f}'}" for way in WAYS
        )
        said = (
            "NOT_CAPTURED"
            if self.hiding is None
            else "NEVER_SHOWN"
            if self.is_never_shown
            else self.hiding.name
        )
        seen = "yes" if sight.is_seen else "no" if sight.is_judged else "not judged"
        mark = "" if self.agrees else "  DISAGREES, doubtful" if sight.is_doubtful else "  DISAGREES"
        return f"{self.name:32} {seen:4} {shares} letters {sight.letter_px:.1f} px  {said}{mark}"


def joined(sights: Sequence[Sight], page: Snapshot) -> list[Judgement]:
    """Return the runs with what the rules say of them; the k-th run with a text is the k-th node with it."""
    reason, pictured, never = hidden_texts(without_pixels(page)), hidden_texts(page), never_shown(page)
    nodes: dict[tuple[str, int], int] = {}
    met: Counter[str] = Counter()
    for node in np.flatnonzero(page.kind == Kind.TEXT).tolist():
        text = " ".join(page.text_of(node).split())
        nodes[text, met[text]] = node
        met[text] += 1
    met.clear()
    judgements = []
    for sight in sights:
        text = " ".join(sight.text.split())
        found = nodes.get((text, met[text]))
        met[text] += 1
        judgements.append(
            Judgement(
                sight=sight,
                hiding=None if found is None else Hiding(reason[found]),
                pictured=None if found is None else Hiding(pictured[found]),
                is_never_shown=found is not None and bool(never[found]),
            )
        )
    return judgements


class Jury:
    """Judges pages in one browser, each by pixels and by the rules about layout; `sitting` makes it.

    Attributes
    ----------
    server : serves the pages on loopback; add them to its `pages`.
    """

    def __init__(self, renderer: Renderer, server: Server, options: CaptureOptions) -> None:
        self.server = server
        self._renderer = renderer
        self._options = options

    async def judge(self, html: str) -> list[Judgement]:
        """Return the judgements about the text runs of a page, in document order."""
        self.server.pages["/judged"] = html
        url = self.server.url("/judged")
        page = (await self._renderer.render(url)).snapshot
        assert self._renderer._running
        sights = await Oracle(self._renderer._running[0], self._options).look(url)
        return joined(sights, page)


@contextlib.asynccontextmanager
async def sitting() -> AsyncIterator[Jury]:
    """Start a browser and a server on loopback for a block of code, with windows of 1280 x 800."""
    options = CaptureOptions(viewport_px=(1280, 800), pixels=True)
    with serving() as server:
        async with Renderer(
            options, Budget(time=LOAD_LIMIT), concurrency=1, egress=offline(), driver="pipe"
        ) as renderer:
            yield Jury(renderer, server, options)


async def _main(pages: Sequence[str]) -> None:
    async with sitting() as jury:
        for html in pages:
            for judgement in await jury.judge(html):
                print(judgement, flush=True)


if __name__ == "__main__":
    asyncio.run(_main([Path(file).read_text("utf-8") for file in sys.argv[1:]]))
