"""Run the benchmarks, and write their figures into README.md beside this file.

    python -m benchmarks.everything --data DATA [--only text startup] [--pages 40] [--rounds 3]

Each benchmark is a process of its own, one after the other, and its figures replace what stands in README.md between
the comments that carry its name. One that fails, or takes longer than its share of the 25 minutes, leaves the figures
as they were. Crawlers to compare with get environments of their own below build/peers; one that cannot be installed
is left out.
"""

import argparse
import os
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.printing import between

HERE = Path(__file__).parent
README = HERE / "README.md"
# Together 25 minutes.
LIMITS_S = {"rendering": 600, "concurrency": 240, "text": 150, "startup": 90, "methods": 330, "report": 60}
INSTALL_S = 300
CRAWLERS = {"crawlee": "crawlee[playwright]", "crawl4ai": "crawl4ai"}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    above = os.environ.get("DOMSIEVE_DATA")
    parser.add_argument("--data", type=Path, default=Path(above) if above else None, required=not above)
    parser.add_argument("--only", nargs="+", choices=LIMITS_S, default=list(LIMITS_S))
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    failed = 0
    for name in arguments.only:
        print(f"== {name}", flush=True)
        peers = list(installed(HERE.parent / "build" / "peers")) if name == "rendering" else []
        words = call(name, arguments.data, arguments.pages, arguments.rounds, peers)
        try:
            done = subprocess.run(
                [sys.executable, "-m", *words],
                cwd=HERE.parent,
                stdout=subprocess.PIPE,
                text=True,
                check=True,
                timeout=LIMITS_S[name],
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            print(f"{name} is left as it was: {error}", file=sys.stderr)
            failed += 1
            continue
        print(done.stdout)
        figures = shown(done.stdout)
        README.write_text(between(README.read_text("utf-8"), name, figures), "utf-8")
    return int(failed > 0)


def call(name: str, data: Path, pages: int, rounds: int, peers: Sequence[str]) -> list[str]:
    """Return the module of a benchmark, and what it is told."""
    html = str(data / "wcxb" / "dev" / "html")
    few = ["--pages", str(pages)]
    return {
        "rendering": ["benchmarks.rendering", html, *few, "--rounds", str(rounds), *peers],
        "concurrency": [
            *("benchmarks.rendering", html, *few, "--rounds", "0", "--concurrency", *"1248"),
        ],
        "text": ["benchmarks.text", "--data", str(data), *few, "--rounds", str(rounds)],
        "startup": ["benchmarks.startup", "--rounds", str(rounds)],
        "methods": ["benchmarks.methods", "--data", str(data / "tps")],
        "report": ["benchmarks.report", "--nodes", "23500"],
    }[name]


def shown(output: str) -> str:
    """Return what README.md shows of a benchmark's output: tables as they are, anything else as text."""
    return output if "|---" in output else f"```\n{output.strip()}\n```"


def installed(folder: Path) -> Iterator[str]:
    """Yield how the benchmark of rendering is told of each crawler; makes environments that are not there."""
    for name, package in CRAWLERS.items():
        python = folder / name / "bin" / "python"
        try:
            if not python.exists():
                venv.create(folder / name, with_pip=True)
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", package], check=True, timeout=INSTALL_S
            )
        except (OSError, subprocess.SubprocessError) as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        yield f"--peer={name}={python}"


if __name__ == "__main__":
    sys.exit(main())
