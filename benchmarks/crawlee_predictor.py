"""Crawlee's choice which pages to render, on pages that were loaded both ways.

Its adaptive crawler predicts from the URL alone, by a logistic regression on the similarity to known URLs. For a
tenth of the requests, and more at the beginning, it loads a page both ways, compares what the caller's handler
stores, here the cleaned words, for equality, and learns from the result.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

# Runs in the environment of Crawlee, which shares no package with this one.
_PROGRAM = """
import asyncio, json, random, sys
from crawlee import Request
from crawlee.crawlers._adaptive_playwright._rendering_type_predictor import DefaultRenderingTypePredictor

async def main():
    urls, same = json.load(sys.stdin)
    chance, rendered = random.Random(0), []
    async with DefaultRenderingTypePredictor() as predictor:
        for url in urls:
            request = Request.from_url(url)
            found = predictor.predict(request)
            if chance.random() < found.detection_probability_recommendation:
                predictor.store_result(request, "static" if same[url] else "client only")
                rendered.append(url)
            elif found.rendering_type == "client only":
                rendered.append(url)
    print(json.dumps(rendered))

asyncio.run(main())
"""


def rendered_by_crawlee(urls: Sequence[str], same: Mapping[str, bool], python: Path) -> set[str]:
    """Return the pages that Crawlee renders, those included that it loads both ways.

    Parameters
    ----------
    urls : the pages in the order in which they are visited.
    same : whether both versions of each page are equal.
    python : the interpreter of an environment in which ``crawlee[adaptive-crawler]`` is installed.

    Raises
    ------
    RuntimeError : the program fails, for example because Crawlee is not installed.
    """
    done = subprocess.run(
        [python, "-c", _PROGRAM],
        input=json.dumps([list(urls), dict(same)]),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-500:])
    return set(json.loads(done.stdout))
