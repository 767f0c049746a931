"""Rules, the pictures of a capture and the pixel oracle agree on what a reader sees of pages with random CSS.

Every disagreement is written to ``build/fuzz/hidden-disagreements.txt``, with its section of the page.
``python -m tests.fuzz.hiding SEED NUMBER`` makes a page of one section again, and
``python -m tests.renderer.pixel_jury FILE.html`` judges it.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable

import pytest

from domsieve.analysis.columns.hiding import Hiding
from tests.fuzz.fuzzing import ROOT, drawn
from tests.fuzz.hiding import number_of, page, sections
from tests.renderer.pixel_jury import Judgement, sitting

if sys.platform == "linux":
    import resource

    # `fuzzing` limits the address space, of which Chrome reserves more than there is.
    _most = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (_most, _most))

REPORT = ROOT / "build" / "fuzz" / "hidden-disagreements.txt"
PAGES = 5
# In a long run .998 of the texts agreed with the rules, and .001 were lost. The two ways of changing letters agreed
# on .999. In an earlier run .997 agreed with the pictures. The limits leave room for a few of the 149 texts of the
# short run, which another version of Chrome may paint differently.
LEAST_AGREEMENT = {"rules": 0.97, "pictures": 0.98}
MOST_LOST = 0.015
LEAST_AGREEMENT_OF_WAYS = 0.98


@pytest.mark.browser
def test_rules_and_pixels_agree(request: pytest.FixtureRequest) -> None:
    seed = int(request.config.getoption("--hypothesis-seed") or 0)
    outcomes, disagreements = asyncio.run(_judge(drawn(test_rules_and_pixels_agree, PAGES, seed)))
    ways = outcomes["ways agree", "True"] / (outcomes["ways agree", "True"] + outcomes["ways agree", "False"])
    facts = [
        f"{outcomes['rules', 'doubtful']} texts are doubtful, {outcomes['seen', '']} are seen",
        f"the two ways of changing letters agree on {ways:.3f}",
    ]
    for judge in LEAST_AGREEMENT:
        agreed, lost, leaked = (outcomes[judge, what] for what in ("agree", "lost", "leaked"))
        facts.append(
            f"{judge}: {agreed / (agreed + lost + leaked):.3f} of {agreed + lost + leaked} agree; "
            f"{lost} that are seen count as hidden, {leaked} that are not seen count as visible"
        )
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    REPORT.write_text("\n\n".join([*facts, *disagreements]) + "\n", "utf-8")
    print("\n".join(facts))
    assert ways >= LEAST_AGREEMENT_OF_WAYS, facts
    for judge, least in LEAST_AGREEMENT.items():
        agreed, lost, leaked = (outcomes[judge, what] for what in ("agree", "lost", "leaked"))
        assert agreed / (agreed + lost + leaked) >= least, f"{facts}; see {REPORT}"
        assert lost / (agreed + lost + leaked) <= MOST_LOST, f"{facts}; see {REPORT}"


async def _judge(seeds: Iterable[int]) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Return how often rules and pictures agree with pixels, and a text about each disagreement.

    What the rules call unreadable is painted, which is all that pixels can say.
    """
    outcomes: Counter[tuple[str, str]] = Counter()
    disagreements = []
    async with sitting() as jury:
        for seed in seeds:
            parts = sections(seed)
            for judgement in await jury.judge(page(parts)):
                number = number_of(judgement.sight.text)
                if number is None or not judgement.sight.is_judged or judgement.hiding == Hiding.UNREADABLE:
                    continue
                if not judgement.sight.is_doubtful:
                    outcomes["ways agree", str(judgement.sight.ways_agree)] += 1
                outcomes["seen", ""] += judgement.sight.is_seen and not judgement.sight.is_doubtful
                for judge, hiding in (("rules", judgement.hiding), ("pictures", judgement.pictured)):
                    outcome = _outcome(judgement, is_kept=hiding == Hiding.NONE)
                    outcomes[judge, outcome] += 1
                    if outcome in {"lost", "leaked"}:
                        disagreements.append(
                            f"seed {seed}, {outcome} by {judge}: {judgement}\n{parts[number]}"
                        )
    return outcomes, disagreements


def _outcome(judgement: Judgement, *, is_kept: bool) -> str:
    sight = judgement.sight
    if sight.is_doubtful:
        return "doubtful"
    return "agree" if is_kept == sight.is_seen else "lost" if sight.is_seen else "leaked"
