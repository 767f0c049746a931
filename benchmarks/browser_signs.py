"""The thresholds of the signs that a page needs a browser, learned with sites left out.

    python -m benchmarks.browser_signs [--data DATA] --node-modules FOLDER/node_modules [--pages 10]

For each site in turn, every threshold is fitted on the pages of all others: the widest one that flags at most 1 % of
their static pages. Then the signs are applied to the pages of the site. Printed are the share of the pages that are
flagged, for sites drawn by scripts (DATA/js; all should be) and static ones (DATA/sites; none should be), with the
shipped thresholds and with the learned ones, and the range of each learned threshold.
"""

import json
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.printing import command_line, print_table
from domsieve.analysis.browser_need.signs import signs_of, visible_words
from domsieve.analysis.browser_need.source_parts import source_parts
from domsieve.analysis.columns.page_columns import page_texts
from domsieve.analysis.registry import page_cleaner
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.tasks.postprocess import judged
from experiments.corpora.javascript_sites import serve_corpus

# What a page is judged by: the larger, the more a browser is needed.
_FIGURES = ("few visible words", "few kept words", "low expected F1", "words of noscript", "bytes of script")
_MOST_FLAGGED = 0.01


def figures_of(source: bytes, url: str) -> tuple[list[float], bool]:
    """Return the figures of a page (see `_FIGURES`), and whether it has a sign by the shipped thresholds."""
    page, parts = parse_html(source, url=url), source_parts(source)
    verdict = judged(page, page_cleaner("auto"), hidden="layout", may_change=True)
    visible = visible_words(page)
    texts = page_texts(page)
    kept = int(texts.words[verdict.kept[texts.node]].sum())
    figures = [
        -float(visible),
        -float(kept),
        -(1.0 if verdict.expected_f1 is None else verdict.expected_f1),
        parts.noscript_words / max(visible, 1),
        parts.script_bytes / max(kept, 1),
    ]
    return figures, bool(signs_of(page, parts, verdict))


def sources(
    data: Path, node_modules: Path, pages: int
) -> Iterator[tuple[str, bool, list[tuple[str, bytes]]]]:
    """Yield each site with its name, whether scripts draw it, and the addresses and sources of some pages."""
    for routes in sorted(data.glob("js/*/routes.json")):
        corpus = routes.parent
        wanted = [entry["route"].partition("#")[0] for entry in json.loads(routes.read_text("utf-8"))]
        with serve_corpus(corpus, node_modules) as address:
            urls = [address + route for route in dict.fromkeys(wanted)][:pages]
            yield corpus.name, True, [(url, urllib.request.urlopen(url).read()) for url in urls]
    for packed in sorted((data / "sites").glob("*.zip")):
        with zipfile.ZipFile(packed) as site:
            names = sorted(
                name
                for name in site.namelist()
                if name.startswith("pages/") and name.endswith((".html", ".htm"))
            )
            names = names[:: max(1, len(names) // pages)][:pages]
            yield (
                packed.stem,
                False,
                [(f"http://{packed.stem}.example/{name}", site.read(name)) for name in names],
            )


def fitted(static: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> list[float]:
    """Return the threshold of each figure (P, F) that at most 1 % of the static pages exceed."""
    ordered = np.sort(static, axis=0)
    last = ordered[-1 - int(_MOST_FLAGGED * len(ordered))]
    return [float(value) for value in last]


def main() -> None:
    """Print a row for each site, and the learned thresholds."""
    parser = command_line(__doc__, data="")
    parser.add_argument("--node-modules", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=10, help="at most, of each site")
    arguments = parser.parse_args()
    sites = {
        name: (is_drawn, [figures_of(source, url) for url, source in found])
        for name, is_drawn, found in sources(
            arguments.data, arguments.node_modules.resolve(), arguments.pages
        )
    }
    rows: dict[str, dict[str, float]] = {}
    learned = []
    for name, (is_drawn, pages) in sites.items():
        others = [
            figures
            for other, (drawn, found) in sites.items()
            if other != name and not drawn
            for figures, _ in found
        ]
        limits = fitted(np.array(others))
        learned.append(limits)
        flagged = [any(np.array(figures) > limits) for figures, _ in pages]
        rows[name] = {
            "drawn": int(is_drawn),
            "pages": len(pages),
            "shipped": sum(sign for _, sign in pages) / len(pages),
            "learned": sum(map(int, flagged)) / len(pages),
        }
    print_table(["site", "drawn", "pages", "shipped", "learned"], rows.items())
    for drawn in (1, 0):
        chosen = [row for row in rows.values() if row["drawn"] == drawn]
        total = sum(row["pages"] for row in chosen)
        shares = [sum(row[way] * row["pages"] for row in chosen) / total for way in ("shipped", "learned")]
        kind = "drawn by scripts" if drawn else "static"
        print(f"{kind}: {total:.0f} pages, flagged {shares[0]:.3f} (shipped), {shares[1]:.3f} (learned)")
    for number, name in enumerate(_FIGURES):
        column = [abs(limits[number]) for limits in learned]
        print(f"{name}: {min(column):.3g} to {max(column):.3g}")


if __name__ == "__main__":
    main()
