"""A made-up shop of seeds in four designs: ``python -m examples.seed_shop FOLDER --design 2`` writes its pages.

The second and third design have other classes, other tags and other places for the same goods; the fourth has lost
its prices. `docs/tutorials/fields.md` learns the fields of the first design and follows them through the others.
"""

import argparse
import html
import json
from dataclasses import dataclass
from pathlib import Path

DESIGNS = (1, 2, 3, 4)
_PLANTS = (
    ("Borage", "Blue flowers that bees like", ("A. Coleman",)),
    ("Chervil", "A mild herb for the shade", ("R. Hauck", "J. Pym")),
    ("Dill", "Tall, with yellow umbels", ("A. Coleman",)),
    ("Fennel", "Sweet, and taller than you think", ("M. Okafor",)),
    ("Hyssop", "A small shrub for dry ground", ("R. Hauck",)),
    ("Lovage", "Tastes of celery, lives for years", ("J. Pym", "M. Okafor")),
    ("Marjoram", "The herb of pizza", ("A. Coleman",)),
    ("Parsley", "Flat leaves, slow to come up", ("R. Hauck",)),
    ("Rocket", "Ready in three weeks", ("M. Okafor", "A. Coleman")),
    ("Sorrel", "Sour leaves from March on", ("J. Pym",)),
    ("Tansy", "Buttons of gold in August", ("R. Hauck",)),
    ("Yarrow", "Stands any drought", ("A. Coleman",)),
)
_STYLES = {
    1: ".price { font: bold 22px sans-serif; color: #a02020 } .was { text-decoration: line-through }"
    " .facts td { padding: 4px } .side { float: right; width: 220px }",
    2: ".k3 { display: grid; grid-template-columns: 2fr 1fr } .k7 { font: bold 22px sans-serif; color: #a02020 }"
    " .k8 { text-decoration: line-through }",
    3: "main > p > b { font: bold 22px sans-serif; color: #a02020 } s { color: #777 }",
}
_STYLES[4] = _STYLES[1]


@dataclass(frozen=True, slots=True)
class Seed:
    """What the shop says of a seed.

    Parameters
    ----------
    number : from 1.
    name, text : its name and a sentence.
    growers : who grew it.
    price, was : the price, and what it was before.
    sown : the month of sowing.
    """

    number: int
    name: str
    text: str
    growers: tuple[str, ...]

    @property
    def price(self) -> str:
        """The price."""
        return f"£{1 + self.number % 4}.{50 + self.number}"

    @property
    def was(self) -> str:
        """The price of last year."""
        return f"£{3 + self.number % 4}.{60 + self.number}"

    @property
    def sown(self) -> str:
        """The month of sowing."""
        return ("March", "April", "May", "August")[self.number % 4]


SEEDS = [Seed(number, *plant) for number, plant in enumerate(_PLANTS, 1)]


def page(seed: Seed, design: int) -> str:
    """Return the page of a seed in a design."""
    growers = ", ".join(f"<a href='/growers/{name[3:].lower()}'>{name}</a>" for name in seed.growers)
    others = [SEEDS[(seed.number + step) % len(SEEDS)] for step in (2, 5)]
    body = (_first, _second, _third, _fourth)[design - 1](seed, growers, others)
    title = html.escape(seed.name)
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title} - Seed Shop</title>"
        f"<style>{_STYLES[design]}</style><body>{body}</body></html>\n"
    )


def _first(seed: Seed, growers: str, others: list[Seed], *, priced: bool = True) -> str:
    side = "".join(f"<li><a href='/{one.number}'>{one.name}</a> <b>{one.price}</b></li>" for one in others)
    price = f"<span class='was'>{seed.was}</span> <span class='price'>{seed.price}</span>" if priced else ""
    return (
        "<ul class='menu'><li><a href='/'>Home</a></li><li><a href='/seeds'>Seeds</a></li></ul>"
        f"<div class='side'><h3>You may also like</h3><ul>{side}</ul></div>"
        f"<div class='item'><h1 class='name'>{seed.name}</h1><p class='text'>{seed.text}.</p>"
        f"<p class='offer'>{price}</p><p class='by'>Grown by: {growers}</p>"
        f"<table class='facts'><tr><td>Item number</td><td>SEED-{seed.number:04}</td></tr>"
        f"<tr><td>Sow in</td><td>{seed.sown}</td></tr></table></div><div class='foot'>Seed Shop, Norwich</div>"
    )


def _second(seed: Seed, growers: str, others: list[Seed]) -> str:
    side = "".join(
        f"<div class='k9'><a href='/{one.number}'>{one.name}</a> {one.price}</div>" for one in others
    )
    return (
        "<header class='k1'><a href='/'>Home</a> <a href='/seeds'>Seeds</a> <em>New: free delivery</em></header>"
        f"<section class='k2'><div class='k3'><div class='k4'><h1 class='k5'>{seed.name}</h1>"
        f"<table class='k6'><tr><td>Item number</td><td>SEED-{seed.number:04}</td></tr>"
        f"<tr><td>Sow in</td><td>{seed.sown}</td></tr></table><p class='k0'>Grown by: {growers}</p></div>"
        f"<div class='k10'><span class='k8'>{seed.was}</span> <span class='k7'>{seed.price}</span>"
        f"<p>{seed.text}.</p></div></div></section><h3>You may also like</h3>{side}"
        "<footer>Seed Shop, Norwich</footer>"
    )


def _third(seed: Seed, growers: str, others: list[Seed]) -> str:
    side = "".join(f"<p><a href='/{one.number}'>{one.name}</a> <i>{one.price}</i></p>" for one in others)
    return (
        f"<nav><a href='/'>Home</a> <a href='/seeds'>Seeds</a></nav><main><h1>{seed.name}</h1>"
        f"<p>Grown by: {growers}</p><p><s>{seed.was}</s> <b>{seed.price}</b></p>"
        f"<dl><dt>Sow in</dt><dd>{seed.sown}</dd><dt>Item number</dt><dd>SEED-{seed.number:04}</dd></dl>"
        f"<blockquote>{seed.text}.</blockquote></main><aside><h3>You may also like</h3>{side}</aside>"
        "<footer>Seed Shop, Norwich</footer>"
    )


def _fourth(seed: Seed, growers: str, others: list[Seed]) -> str:
    return _first(seed, growers, others, priced=False)


def values(seed: Seed) -> dict[str, str | list[str]]:
    """Return what a person sees on the page of a seed."""
    return {
        "name": seed.name,
        "price": seed.price,
        "growers": list(seed.growers),
        "item": f"SEED-{seed.number:04}",
        "sown": seed.sown,
    }


def write_shop(folder: Path, design: int = 1) -> list[Path]:
    """Write the pages of the shop into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{seed.number:02}.html" for seed in SEEDS]
    for seed, path in zip(SEEDS, paths, strict=True):
        path.write_text(page(seed, design), encoding="utf-8")
    return paths


def main() -> None:
    """Write the pages of a design, and two examples beside their folder; a file of others is left alone."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--design", type=int, choices=DESIGNS, default=1)
    asked = parser.parse_args()
    lines = [
        {"file": f"{asked.folder.name}/{SEEDS[n].number:02}.html", "fields": values(SEEDS[n])} for n in (1, 2)
    ]
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    examples = asked.folder.parent / "examples.jsonl"
    if examples.exists() and examples.read_bytes() != text.encode():
        parser.error(f"{examples} is not from this shop; move it away, or choose a folder elsewhere.")
    paths = write_shop(asked.folder, asked.design)
    examples.write_text(text, encoding="utf-8")
    print(f"{asked.folder}: {len(paths)} pages in design {asked.design}")


if __name__ == "__main__":
    main()
