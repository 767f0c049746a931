"""What two loads of a page tell of what rotates on it: adverts, times and tokens in known places of known sites.

    python -m benchmarks.two_loads [--node-modules FOLDER/node_modules] [--data DATA/js] [--pages 12]

The demo site, and with --node-modules the sites drawn by JavaScript, are served through a server on loopback whose
script puts adverts between paragraphs, a time into a paragraph and a token below the page: other ones in each load,
beside one advert that stays. Each page is loaded twice, as `compare --twice` does, and what is marked is held against
what really differs where it can be seen: recall by kind, and precision over all texts that are marked. Texts are also
marked without the script, where only the site itself can differ.

Then, of what `auto` keeps of the page, word F1 against the truth of the site as it is, without the texts that differ
(all), and without those of which most words differ (most), as `compare --twice` takes it. Fails where recall or
precision is below 0.95, or where F1 without the latter is lower than as it is.
"""

import asyncio
import contextlib
import json
import random
import threading
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.error import HTTPError

import numpy as np

from benchmarks.printing import command_line, print_check, print_table
from domsieve.analysis.columns.page_blocks import page_blocks
from domsieve.analysis.compare.compared_blocks import DifferingBlock
from domsieve.analysis.compare.comparison import compare_loads, without_rotating
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.renderer.network.egress import offline
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.page import Snapshot
from examples.loopback import LoopbackServer, QuietHandler, running
from examples.serve import DEMO, serve_demo
from experiments.corpora.javascript_sites import SHORTEST, serve_corpus
from experiments.measures.word_scores import Score, count_words, mean_score, score
from experiments.systems.cleaners import CLEANERS

LEAST = 0.95
KINDS = ("advert", "time", "token")
_GOODS = (
    "boots",
    "lanterns",
    "tents",
    "jackets",
    "maps",
    "kettles",
    "ropes",
    "stoves",
    "cameras",
    "bicycles",
)
_PRAISE = ("light", "warm", "sturdy", "cheap", "handmade", "waterproof", "silent", "folding", "durable")
_ENDS = ("Order today", "Only this week", "Free delivery", "Read the tests", "See our offers")
# Behind what the page's own script has drawn, and again where that draws over it.
_SCRIPT = """<script>(() => {
  const given = GIVEN;
  const mark = (node, kind, slot) => Object.assign(node.dataset, { rotates: kind, slot, of: given.of }) && node;
  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const seen = p => p.textContent.length > 30 && !p.dataset.put && p.getClientRects().length &&
    p.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  let stood = 0, before = 0;
  const put = () => {
    const all = [...document.querySelectorAll('p')].filter(seen);
    stood = all.length == before ? stood + 1 : 0;
    before = all.length;
    if (all.length && stood == 2 && !document.querySelector('[data-rotates]')) {
      given.adverts.forEach((text, slot) => {
        if (!text) return;
        const box = make('div', ''), link = make('a', text);
        link.href = '/' + slot;
        box.append(slot ? mark(link, 'advert', slot) : link);
        all[Math.floor((slot + 1) * (all.length - 1) / given.adverts.length)].after(box);
      });
      all[0].append(' Seen at ', mark(make('span', given.time), 'time', 't'));
      const below = make('p', 'Request number ');
      below.append(mark(make('span', given.token), 'token', 'k'));
      below.dataset.put = 1;
      document.body.append(below);
    }
    if (stood < 20) setTimeout(put, 50);
  };
  put();
})()</script>"""


class RotatingServer(LoopbackServer):
    """Hands on what another server answers; documents with what rotates, if that is wanted."""

    def __init__(self, upstream: str, *, rotates: bool) -> None:
        super().__init__(_Handler)
        self.upstream, self.rotates = upstream.rstrip("/"), rotates
        self._loads: Counter[str] = Counter()
        self._lock = threading.Lock()

    def script(self, path: str) -> str:
        """Return the script of the next load of a document."""
        with self._lock:
            self._loads[path] += 1
            rng = random.Random(f"{path} {self._loads[path]}")
        adverts = [_advert(random.Random(path))]  # the same in each load
        adverts += [_advert(rng) for _ in range(2)]
        adverts += [_advert(rng) if self._loads[path] % 2 else ""]  # in each second load only
        given = {
            "of": path,
            "adverts": adverts,
            "time": f"{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}",
            "token": f"{rng.getrandbits(48):012x}",
        }
        return _SCRIPT.replace("GIVEN", json.dumps(given))


class _Handler(QuietHandler):
    server: RotatingServer

    def do_GET(self) -> None:
        try:
            with urllib.request.urlopen(self.server.upstream + self.path) as answer:
                status, kind, body = answer.status, answer.headers.get("Content-Type", ""), answer.read()
        except HTTPError as error:
            status, kind, body = error.code, error.headers.get("Content-Type", ""), error.read()
        if self.server.rotates and kind.startswith("text/html") and status == 200:
            body += self.server.script(self.path).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")  # no load may come from the cache of another
        self.end_headers()
        self.wfile.write(body)


def _advert(rng: random.Random) -> str:
    praise = ", ".join(rng.sample(_PRAISE, 2))
    return f"{rng.choice(_GOODS).capitalize()}: {praise}, from {rng.randrange(9, 99)} francs. {rng.choice(_ENDS)}"


def load(urls: Sequence[str]) -> dict[str, Snapshot]:
    """Return a load of each page, in a browser of its own."""

    async def run() -> dict[str, Snapshot]:
        async with Renderer(concurrency=1, egress=offline()) as renderer:
            return {
                url: outcome.snapshot
                async for url, outcome in renderer.render_many(urls)
                if isinstance(outcome, Rendering)
            }

    return asyncio.run(run())


def rotating(page: Snapshot) -> dict[tuple[str, str, str], tuple[str, set[int]]]:
    """Return what rotates and can be seen, by kind, document (page or frame) and slot: its text, and its nodes."""
    found, blocks = {}, page_blocks(page)
    seen = {*blocks.node[blocks.hidden[blocks.block] == 0].tolist()}
    for node in range(len(page)):
        attributes = page.attributes(node)
        if "data-rotates" in attributes and seen & set(range(node, int(page.end[node]))):
            below = range(node, int(page.end[node]))
            text = "".join(map(page.text_of, below))
            key = (attributes["data-rotates"], attributes["data-of"], attributes["data-slot"])
            found[key] = text, set(below)
    return found


def marked_rightly(
    other: Snapshot, page: Snapshot, blocks: Sequence[DifferingBlock]
) -> dict[str, list[bool]]:
    """Return whether each text that really differs is marked, by its kind, and whether each mark is right."""
    judged: dict[str, list[bool]] = {kind: [] for kind in (*KINDS, "marks")}
    right: set[int] = set()
    loads = {"rendered": rotating(page), "other": rotating(other)}
    for side, spans in (
        ("rendered", [block.rendered for block in blocks]),
        ("other", [block.other for block in blocks]),
    ):
        against = loads["other" if side == "rendered" else "rendered"]
        for key, (text, nodes) in loads[side].items():
            if key in against and against[key][0] == text:
                continue
            marks = [i for i, span in enumerate(spans) if span and nodes & set(range(*span))]
            right.update(marks)  # also where it is marked apart from what stands there in its place
            if side == "rendered" or key not in against:
                judged[key[0]].append(bool(marks))
    judged["marks"] = [i in right for i in range(len(blocks))]
    return judged


def without_all(verdict: Verdict, blocks: Sequence[DifferingBlock]) -> Verdict:
    """Return a verdict that keeps no text that differs."""
    kept = verdict.kept.copy()
    for block in blocks:
        if block.rendered:
            kept[slice(*block.rendered)] = False
    return replace(verdict, kept=kept)


def measure(
    urls: Sequence[str], truths: Sequence[Path]
) -> tuple[dict[str, float], dict[str, float], dict[str, list[bool]]]:
    """Return figures of what is marked, those of `auto`, and all judgements of pages that are loaded twice."""
    others, pages = load(urls), load(urls)
    judged: dict[str, list[bool]] = {}
    scores: dict[str, list[Score]] = {}
    adverts = kept_adverts = 0
    for url, file in zip(urls, truths, strict=True):
        if url not in others or url not in pages:
            continue
        page, truth = pages[url], count_words(file.read_text("utf-8"), shortest=SHORTEST)
        blocks = compare_loads(others[url], page).blocks
        for kind, marks in marked_rightly(others[url], page, blocks).items():
            judged.setdefault(kind, []).extend(marks)
        (verdict,) = CLEANERS["auto"]([page])
        variants = {
            "auto": verdict,
            "without all": without_all(verdict, blocks),
            "without most": without_rotating(verdict, blocks),
        }
        for name, variant in variants.items():
            found = count_words(write_text(page, variant), shortest=SHORTEST)
            scores.setdefault(name, []).append(score(found, truth))
        for (kind, *_), (_, nodes) in rotating(page).items():
            adverts += kind == "advert"
            kept_adverts += kind == "advert" and bool(np.any(verdict.kept[sorted(nodes)]))
    shares = {kind: sum(marks) / len(marks) for kind, marks in judged.items() if marks}
    marked = {"pages": len(pages), "texts": sum(len(judged[kind]) for kind in KINDS), **shares}
    f1 = {name: mean_score(each).f1 for name, each in scores.items()}
    return marked, {"pages": len(pages), "adverts": adverts, "kept": kept_adverts, **f1}, judged


@contextlib.contextmanager
def served(upstream: str, *, rotates: bool) -> Iterator[str]:
    """Serve what another server has; the value is the address without a slash at the end."""
    with running(RotatingServer(upstream, rotates=rotates)) as server:
        yield server.base


def main() -> None:
    parser = command_line(__doc__, data="js")
    parser.add_argument("--node-modules", type=Path)
    parser.add_argument("--pages", type=int, default=12, help="at most, of each site")
    parser.add_argument("--sites", nargs="+", metavar="NAME", help="only these")
    arguments = parser.parse_args()
    names = ["demo"]
    if arguments.node_modules:
        names += sorted(path.parent.name for path in arguments.data.glob("*/routes.json"))
    marked: list[tuple[str, dict[str, float]]] = []
    cleaned: list[tuple[str, dict[str, float]]] = []
    wrong: list[str] = []
    for name in arguments.sites or names:
        folder = DEMO if name == "demo" else arguments.data / name
        entries = json.loads((folder / "routes.json").read_text("utf-8"))
        entries = entries[:: max(1, len(entries) // arguments.pages)][: arguments.pages]
        truths = [folder / entry["truth"] for entry in entries]
        with contextlib.ExitStack() as stack:
            if name == "demo":
                upstream = stack.enter_context(serve_demo())
            else:
                modules = arguments.node_modules.resolve()
                upstream = stack.enter_context(serve_corpus(folder, modules))
            for rotates in (True, False):
                base = stack.enter_context(served(upstream, rotates=rotates))
                urls = [f"{base}/{entry['route'].removeprefix('/')}" for entry in entries]
                figures, auto, judged = measure(urls, truths)
                if rotates:
                    figures["marked"] = len(judged["marks"])
                    marked.append((name, figures))
                    cleaned.append((name, auto))
                    wrong += [f"{name} {kind}" for kind in (*KINDS, "marks") if figures.get(kind, 1) < LEAST]
                    wrong += [name] if auto["without most"] < auto["auto"] else []
                else:
                    marked[-1][1]["marked without"] = len(judged["marks"])
        print(f"{name} done", flush=True)
    print_table(["site", "pages", "texts", *KINDS, "marked", "marks", "marked without"], marked)
    print()
    print_table(["site", "pages", "adverts", "kept", "auto", "without all", "without most"], cleaned)
    print_check(f"recall and precision of at least {LEAST}, and no F1 lost", wrong)
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
