"""Pages per second of the service over those of the command line, on the same pages of the demo site.

    python -m benchmarks.service_throughput [--pages 84] [--rounds 3] [--concurrency 2]

Each round runs both by turns on pages that nobody has asked for before. The command line is one call of
``domsieve clean`` with all addresses; from its time that of a call with one address is taken away, so that neither
side pays for starting. The service is warm, and twice as many clients as its concurrency each wait for one page.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from statistics import median

import httpx

from benchmarks.running_service import RunningService, running_service
from examples.classify_pages import routes
from examples.serve import serve_demo


def by_command(urls: list[str], concurrency: int) -> float:
    """Return the seconds of one call of the command line."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "domsieve.cli", "clean", *urls, "--concurrency", str(concurrency)]
        command += ["--format", "markdown"]
        command += ["--cache", f"{folder}/cache", "--output-dir", f"{folder}/out"]
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        return time.perf_counter() - begun


def by_service(service: RunningService, urls: list[str], clients: int) -> float:
    """Return the seconds from the first request to the last answer."""
    with httpx.Client(base_url=service.url, timeout=90, headers={"Prefer": "wait=60"}) as http:

        def ask(url: str) -> None:
            answer = http.post("/v1/clean", json={"url": url, "format": "markdown"})
            if answer.status_code != 200 or answer.json()["state"] != "done":
                raise RuntimeError(f"{url}: {answer.text}")

        begun = time.perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            list(pool.map(ask, urls))
        return time.perf_counter() - begun


def main() -> None:
    """Print the rates of each round and the median of their ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=84)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=2)
    asked = parser.parse_args()
    numbers = count()
    paths = [entry["route"] for entry in routes() if "#" not in entry["route"]]
    with tempfile.TemporaryDirectory() as folder, serve_demo() as base:

        def fresh(pages: int) -> list[str]:
            return [f"{base}{paths[number % len(paths)]}?n={next(numbers)}" for number in range(pages)]

        arguments = ["--private-host", base.removeprefix("http://"), "--requests-per-minute", "60000"]
        arguments += ["--workers", "1", "--concurrency", str(asked.concurrency)]
        ratios = []
        with running_service(Path(folder, "data"), *arguments, log=Path(folder, "log")) as service:
            by_service(service, fresh(asked.concurrency * 2), asked.concurrency)
            for number in range(1, asked.rounds + 1):
                start = by_command(fresh(1), asked.concurrency)
                command = (asked.pages - 1) / (by_command(fresh(asked.pages), asked.concurrency) - start)
                answered = asked.pages / by_service(service, fresh(asked.pages), asked.concurrency * 2)
                ratios.append(answered / command)
                print(
                    f"round {number}: command line {command:.2f} pages per second (start {start:.1f} s), "
                    f"service {answered:.2f}, ratio {ratios[-1]:.2f}",
                    flush=True,
                )
    print(f"service over command line, median of {len(ratios)} rounds: {median(ratios):.2f}")


if __name__ == "__main__":
    main()
