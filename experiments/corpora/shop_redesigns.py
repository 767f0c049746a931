"""Three redesigns of the shop of `examples.seed_shop` that a reader does not see, rendered from loopback.

The first design of the shop is the original. A redesign draws the same page from other HTML: generic tags with new
classes, wrappers, blocks in another order that CSS puts back, and amounts of money that all have the same tags and
classes, the former price struck through and a price per gram in small print. The labels of facts come behind their
values in the source (1), all before all values (2), or all behind the values, which are backwards (3).
"""

import asyncio
import random
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from domsieve.errors import TargetError
from domsieve.options import Budget
from domsieve.renderer.network.egress import offline
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.page import Snapshot
from examples.loopback import folder_served
from examples.seed_shop import SEEDS, Seed, page

REDESIGNS = (1, 2, 3)
_PATIENT = Budget(time=timedelta(minutes=3))
_NAMES = (
    *("sheet", "menu", "stack", "name", "text", "offer", "amount", "by"),
    *("facts", "value", "side", "foot", "box"),
)


def redesigned_page(seed: Seed, redesign: int) -> str:
    """Return the page of a seed in a redesign.

    Parameters
    ----------
    seed : the goods.
    redesign : one of `REDESIGNS`; it also seeds the class names, the wrappers and the order of blocks.
    """
    draw = random.Random(redesign)
    c = {name: "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for name in _NAMES}
    others = [SEEDS[(seed.number + step) % len(SEEDS)] for step in (2, 5)]
    links = ", ".join(f"<a href='/growers/{name[3:].lower()}'>{name}</a>" for name in seed.growers)
    amounts = [seed.was, seed.price, f"£0.{seed.number + 10}"]
    struck, price, small = range(3)
    order = list(range(3))
    draw.shuffle(order)
    offer = "".join(f"<span class='{c['amount']}'>{amounts[at]}</span>" for at in order)
    facts, facts_css = _facts(seed, redesign, c)
    blocks = [
        f"<div class='{c['name']}'>{seed.name}</div>",
        f"<div class='{c['text']}'>{seed.text}.</div>",
        f"<div class='{c['offer']}'>{offer}</div>",
        f"<div class='{c['by']}'>Grown by: {links}</div>",
        facts,
    ]
    places = list(range(len(blocks)))
    draw.shuffle(places)
    stack = "".join(f"<div>{blocks[at]}</div>" for at in places)
    side = "".join(
        f"<li><a href='/{one.number}'>{one.name}</a> <span class='{c['amount']}'>{one.price}</span></li>"
        for one in others
    )
    parts = [
        f"<div class='{c['side']}'><div>You may also like</div><ul>{side}</ul></div>",
        f"<div class='{c['stack']}'>{stack}</div>",
    ]
    deep = draw.randint(1, 3)
    wrapped = f"<div class='{c['box']}'>" * deep
    css = [
        f".{c['sheet']} {{ display: flex; justify-content: space-between; align-items: flex-start }}",
        f".{c['stack']} {{ display: flex; flex-direction: column; order: 1 }}",
        f".{c['side']} {{ order: 2; width: 220px }} .{c['side']} > div {{ font: bold 19px serif; margin: 18px 0 }}",
        f".{c['side']} .{c['amount']} {{ font-weight: bold }}",
        f".{c['name']} {{ font-size: 32px; font-weight: bold; margin: 21px 0 }}",
        f".{c['text']}, .{c['by']} {{ margin: 16px 0 }}",
        f".{c['offer']} {{ display: flex; align-items: baseline; gap: 5px; margin: 16px 0 }}",
        *(f".{c['stack']} > :nth-child({n}) {{ order: {at} }}" for n, at in enumerate(places, 1)),
        *(f".{c['offer']} > :nth-child({n}) {{ order: {at} }}" for n, at in enumerate(order, 1)),
        f".{c['offer']} > :nth-child({order.index(struck) + 1}) {{ text-decoration: line-through }}",
        f".{c['offer']} > :nth-child({order.index(price) + 1}) {{ font: bold 22px sans-serif; color: #a02020 }}",
        f".{c['offer']} > :nth-child({order.index(small) + 1}) {{ font-size: 11px }}",
        facts_css,
    ]
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{seed.name} - Seed Shop</title>"
        f"<style>{' '.join(css)}</style><body><ul class='{c['menu']}'><li><a href='/'>Home</a></li>"
        f"<li><a href='/seeds'>Seeds</a></li></ul>{wrapped}"
        f"<div class='{c['sheet']}'>{''.join(parts if redesign != 2 else reversed(parts))}</div>"
        f"{'</div>' * deep}<div class='{c['foot']}'>Seed Shop, Norwich</div></body></html>\n"
    )


def _facts(seed: Seed, redesign: int, c: dict[str, str]) -> tuple[str, str]:
    """Return the facts with their labels, which are drawn at their left, and the style."""
    rows = [("Item number", f"SEED-{seed.number:04}"), ("Sow in", seed.sown)]
    if redesign == 1:  # value, label, value, label
        cells = [text for label, value in rows for text in (value, label)]
        at = [(1, 2), (1, 1), (2, 2), (2, 1)]
    elif redesign == 2:  # labels, values
        cells = [label for label, _ in rows] + [value for _, value in rows]
        at = [(1, 1), (2, 1), (1, 2), (2, 2)]
    else:  # values backwards, labels
        cells = [value for _, value in reversed(rows)] + [label for label, _ in rows]
        at = [(2, 2), (1, 2), (1, 1), (2, 1)]
    css = [
        f".{c['facts']} {{ display: grid; justify-content: start; gap: 2px }} .{c['value']} {{ padding: 4px }}"
    ]
    css += [
        f".{c['facts']} > :nth-child({n}) {{ grid-area: {row} / {column} }}"
        for n, (row, column) in enumerate(at, 1)
    ]
    spans = "".join(f"<span class='{c['value']}'>{text}</span>" for text in cells)
    return f"<div class='{c['facts']}'>{spans}</div>", " ".join(css)


def rendered_shop(designs: Sequence[int]) -> dict[int, list[tuple[Snapshot, bytes]]]:
    """Return the pages of each design in the order of `SEEDS`, as rendered and as source; 0 is the original.

    Raises
    ------
    TargetError : a page cannot be rendered.
    """
    with tempfile.TemporaryDirectory() as temporary:
        names = {}
        for design in designs:
            for seed in SEEDS:
                name = f"{design}-{seed.number:02}.html"
                html = redesigned_page(seed, design) if design else page(seed, 1)
                (Path(temporary) / name).write_text(html, "utf-8")
                names[name] = design, seed.number
        with folder_served(Path(temporary)) as address:
            done = asyncio.run(_render([f"{address}/{name}" for name in names]))
    found = {names[url.rsplit("/", 1)[1]]: one for url, one in done.items()}
    return {design: [found[design, seed.number] for seed in SEEDS] for design in designs}


async def _render(urls: Sequence[str]) -> dict[str, tuple[Snapshot, bytes]]:
    done: dict[str, tuple[Snapshot, bytes]] = {}
    async with Renderer(budget=_PATIENT, concurrency=1, egress=offline()) as renderer:
        async for url, outcome in renderer.render_many(urls):
            if not isinstance(outcome, Rendering) or not outcome.snapshot.provenance.complete:
                raise TargetError(f"The page of the shop '{url}' was not rendered: {outcome}")
            if outcome.source is None:
                raise TargetError(f"The page of the shop '{url}' has no source: {outcome.source_reason}")
            done[url] = outcome.snapshot, outcome.source
    return done
