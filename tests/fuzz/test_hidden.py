"""Rules about layout and pixels agree on what a reader sees of pages with random CSS.

Every disagreement is written to ``build/fuzz/hidden-disagreements.txt``, with its section of the page.
``python -m tests.fuzz.hiding SEED NUMBER`` makes a page of one section again, and
``python -m tests.renderer.pixel_oracle FILE.html`` judges it.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable

import pytest

from tests.fuzz.fuzzing import ROOT, drawn
from tests.fuzz.hiding import number_of, page, sections
from tests.renderer.pixel_oracle import Judgement, sitting

if sys.platform == "linux":
    import resource

    # `fuzzing` limits the address space, of which Chrome reserves more than there is.
    _most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (_most, _most))

REPORT = ROOT / "build" / "fuzz" / "hidden-disagreements.txt"
PAGES = 5
# In a long run .983 of 1,188 texts agreed, and one that is seen was lost. The limits leave room for a few of the 149
# texts of the short run, which another version of Chrome may paint differently.
LEAST_AGREEMENT = 0.95
MOST_LOST = 0.015


@pytest.mark.browser
def test_rules_and_pixels_agree(request: pytest.FixtureRequest) -> None:
    seed = int(request.config.getoption("--hypothesis-seed") or 0)
    outcomes, disagreements = asyncio.run(_judge(drawn(test_rules_and_pixels_agree, PAGES, seed)))
    clear = outcomes["agree"] + outcomes["lost"] + outcomes["leaked"]
    agreement, lost = outcomes["agree"] / clear, outcomes["lost"] / clear
    facts = (
        f"{agreement:.3f} of {clear} texts agree; {outcomes['lost']} that are seen count as hidden, "
        f"{outcomes['leaked']} that are not seen count as visible; {outcomes['doubtful']} are doubtful, "
        f"{outcomes['seen']} are seen"
    )
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text("\n\n".join([facts, *disagreements]) + "\n", "utf-8")
    print(facts)
    assert agreement >= LEAST_AGREEMENT, f"{facts}; see {REPORT}"
    assert lost <= MOST_LOST, f"{facts}; see {REPORT}"


async def _judge(seeds: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """Return how often rules and pixels agree, and a text about each disagreement."""
    outcomes: Counter[str] = Counter()
    disagreements = []
    async with sitting() as jury:
        for seed in seeds:
            parts = sections(seed)
            for judgement in await jury.judge(page(parts)):
                number = number_of(judgement.sight.text)
                if number is None or not judgement.sight.is_judged:
                    continue
                outcome = _outcome(judgement)
                outcomes[outcome] += 1
                outcomes["seen"] += judgement.sight.is_seen and outcome != "doubtful"
                if outcome in {"lost", "leaked"}:
                    disagreements.append(f"seed {seed}, {outcome}: {judgement}\n{parts[number]}")
    return outcomes, disagreements


def _outcome(judgement: Judgement) -> str:
    if judgement.sight.is_doubtful:
        return "doubtful"
    return "agree" if judgement.agrees else "lost" if judgement.sight.is_seen else "leaked"
