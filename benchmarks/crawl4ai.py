"""What the Markdown of crawl4ai is worth beside that of domsieve and trafilatura, on pages with reviewed content.

    python -m benchmarks.crawl4ai --data FOLDER --python PATH [--every N]

PATH is a Python in an environment of its own in which crawl4ai is installed (`pip install crawl4ai`; it brings some
890 MB). It gets the HTML of each page and makes Markdown as the crawler does without a browser and without a language
model: `LXMLWebScrapingStrategy`, then `DefaultMarkdownGenerator` with `PruningContentFilter`. Its *Markdown* is the
whole page, its *fit Markdown* what that filter keeps.

All Markdown is read back by one parser. *Text* is word F1 against the reviewed text of WCXB; headings, table rows and
code are F1 against the Markdown that people wrote for a part of these pages. domsieve cleans with the shipped model,
which has learned from these pages; `docs/results.md` has its figures without that.
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import domsieve
from benchmarks.printing import print_table
from experiments.corpora.wcxb_pages import ReviewedPage, page_files, read_page
from experiments.measures.structures import Structures, f1_of, read_markdown
from experiments.systems.markdown_peers import MARKDOWN_PEERS
from experiments.systems.peers import extract

PARTS = ("headings", "rows", "code")
_PEER = r"""
import importlib.metadata, json, sys, warnings
warnings.simplefilter("ignore")
from crawl4ai.content_filter_strategy import PruningContentFilter
from crawl4ai.content_scraping_strategy import LXMLWebScrapingStrategy
from crawl4ai.markdown_generation_strategy import DefaultMarkdownGenerator
print(importlib.metadata.version("crawl4ai"), flush=True)
for line in sys.stdin:
    url, html = json.loads(line)
    try:
        cleaned = LXMLWebScrapingStrategy().scrap(url, html).cleaned_html or ""
        generator = DefaultMarkdownGenerator(content_filter=PruningContentFilter())
        made = generator.generate_markdown(input_html=cleaned, base_url=url, citations=False)
        texts = made.raw_markdown or "", made.fit_markdown or ""
    except Exception:
        texts = "", ""
    print(json.dumps(texts), flush=True)
"""


def main() -> None:
    """Measure all systems on the same pages and print their means."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("DOMSIEVE_DATA"), required=False)
    parser.add_argument("--python", type=Path, required=True, help="a Python that has crawl4ai")
    parser.add_argument("--every", type=int, default=1, help="of so many pages one (default: all)")
    asked = parser.parse_args()
    if asked.data is None:
        parser.error("Give --data, the folder of the corpora, or set DOMSIEVE_DATA.")
    pages = (read_page(*pair) for pair in page_files(asked.data)[:: asked.every] if pair[0].exists())
    scores: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    empty: Counter[str] = Counter()
    with _crawl4ai(asked.python) as peer:
        for page in pages:
            for system, text in _written(page, peer).items():
                empty[system] += not text.strip()
                for part, figure in _figures(page, text).items():
                    scores[system][part].append(figure)
        version = peer.version
    columns = ("text", "text, articles", *PARTS)
    some = next(iter(scores.values()))
    print(f"crawl4ai {version}; pages: " + ", ".join(f"{name} {len(some[name])}" for name in columns))
    print_table(
        ["system", *columns, "empty"],
        [
            (system, {name: fmean(of[name]) for name in columns} | {"empty": empty[system]})
            for system, of in scores.items()
        ],
    )


def _written(page: ReviewedPage, peer: "_Peer") -> dict[str, str]:
    whole, fit = peer.markdown(page.url, page.html)
    return {
        "domsieve": extract(lambda html: domsieve.clean(html, url=page.url).markdown, page.html).text,
        "trafilatura": extract(MARKDOWN_PEERS["trafilatura"], page.html).text,
        "crawl4ai, Markdown": whole,
        "crawl4ai, fit Markdown": fit,
    }


def _figures(page: ReviewedPage, text: str) -> dict[str, float]:
    found = read_markdown(text)
    figures: dict[str, float | None] = {"text": _words_f1(found.words, page.truth)}
    if page.type == "article":
        figures["text, articles"] = figures["text"]
    if page.markdown:
        truth = read_markdown(page.markdown)
        figures |= {part: f1_of(getattr(found, part), getattr(truth, part)) for part in PARTS}
    return {part: figure for part, figure in figures.items() if figure is not None}


def _words_f1(found: Counter[str], truth: str) -> float | None:
    wanted = Structures()
    wanted.take_words(truth)
    return f1_of(found, wanted.words)


class _Peer:
    """A process of another Python that makes Markdown of pages, one line in and one line out."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.version = self._line().strip()

    def markdown(self, url: str, html: str) -> tuple[str, str]:
        """Return the Markdown of the whole page and that of what the filter keeps."""
        assert self._process.stdin is not None
        print(json.dumps([url, html]), file=self._process.stdin, flush=True)
        whole, fit = json.loads(self._line())
        return whole, fit

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("crawl4ai ended; is it installed in the environment of --python?")
        return line


@contextmanager
def _crawl4ai(python: Path) -> Iterator[_Peer]:
    with tempfile.TemporaryDirectory() as home:  # it writes its settings and a database below its home
        environment: dict[str, Any] = {**os.environ, "CRAWL4_AI_BASE_DIRECTORY": home, "HOME": home}
        environment.pop("PYTHONPATH", None)
        process = subprocess.Popen(
            [str(python), "-c", _PEER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        try:
            yield _Peer(process)
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
