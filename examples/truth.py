"""The main content of every page of the demo site, from its JSON; ``python -m examples.truth`` writes it.

One block per line, in reading order. Main content is what the page is about: titles, standfirsts, bylines,
captions, text, table cells, prices, reviews, and letters from readers. Menus, breadcrumbs, adverts, buttons,
teasers of other pages and hidden text are not.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from examples.serve import DEMO, SITE


def _load(name: str) -> Any:
    return json.loads((SITE / "api" / name).read_text(encoding="utf-8"))


def _plain(text: str) -> str:
    """Return ``text`` without the marks of emphasis and links (``inline`` in dom.js draws them)."""
    return re.sub(r"\*([^*]+)\*|\[([^\]]+)\]\([^)]+\)", r"\1\2", text)


def _byline(entry: Any) -> str:
    return f"By {entry['author']}, {entry['date']}"


def _home() -> list[str]:
    home = _load("home.json")
    lines = [home["title"], *home["letter"], home["signed"], home["latest"]]
    for entry in _load("articles.json")["articles"][:4]:
        lines += [entry["title"], entry["summary"], _byline(entry)]
    return lines


def _article_list() -> list[str]:
    listing = _load("articles.json")
    lines = [listing["title"], listing["intro"]]
    for entry in listing["articles"]:
        lines += [entry["title"], entry["summary"], _byline(entry)]
    return lines


def _article(entry: Any) -> list[str]:
    full = _load(f"articles/{entry['slug']}.json")
    lines = [entry["title"], entry["summary"], _byline(entry), full["figure"]["caption"]]
    for block in full["body"]:
        [(kind, value)] = block.items()
        if kind == "table":
            lines += [*value["head"], *(cell for row in value["rows"] for cell in row)]
        else:
            lines += map(_plain, value if isinstance(value, list) else [value])
    if full.get("comments"):
        letters = _load(f"comments-{entry['slug']}.json")
        lines.append(letters["title"])
        for letter in letters["comments"]:
            lines += [letter["text"], letter["name"]]
    return lines


def _sightings() -> list[str]:
    first, second = _load("sightings-1.json"), _load("sightings-2.json")
    lines = [first["title"], first["intro"]]
    for record in first["records"] + second["records"]:
        lines += [record["name"], f"{record['place']}, {record['date']}", record["note"]]
    return lines


def _shop() -> list[str]:
    shop = _load("products.json")
    lines = [shop["title"], shop["intro"]]
    for product in shop["products"]:
        lines += [product[key] for key in ("name", "summary", "price", "stock")]
    return lines


def _product(entry: Any) -> list[str]:
    full = _load(f"products/{entry['id']}.json")
    lines = [entry[key] for key in ("name", "summary", "price", "stock")]
    lines += [*full["description"], "Specification"]
    lines += [cell for row in full["specification"] for cell in row]
    lines.append("Reviews")
    for review in full["reviews"]:
        lines += [review["text"], review["name"]]
    return lines


def pages() -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield (route, kind, name, lines) for every page; ``kind`` is home, list, article or product."""
    yield "/", "home", "home", _home()
    yield "/articles", "list", "articles", _article_list()
    for entry in _load("articles.json")["articles"]:
        yield f"/articles/{entry['slug']}", "article", f"article-{entry['slug']}", _article(entry)
    yield "/sightings", "list", "sightings", _sightings()
    yield "/shop", "list", "shop", _shop()
    for entry in _load("products.json")["products"]:
        if entry["page"]:
            yield f"/shop#/product/{entry['id']}", "product", f"product-{entry['id']}", _product(entry)


def files() -> dict[str, str]:
    """Return the text of routes.json and of every truth file, by path below the folder of the demo site."""
    texts, routes = {}, []
    for route, kind, name, lines in pages():
        texts[f"truth/{name}.txt"] = "".join(f"{line}\n" for line in lines)
        routes.append({"route": route, "kind": kind, "truth": f"truth/{name}.txt"})
    texts["routes.json"] = json.dumps(routes, indent=1) + "\n"
    return texts


def main() -> None:
    """Write the files."""
    for path, text in files().items():
        (DEMO / path).parent.mkdir(exist_ok=True)
        (DEMO / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
