"""What commands cost before and around their work: CPU time of whole processes, over that of trafilatura's command.

    python -m benchmarks.startup [--rounds 5] [FILE]

By default the file is a small generated article. Each command runs once a round, by turns, with its output thrown
away; the figure is the median. Every command runs with compiled bytecode, as pip installs it, and once more without,
as in containers that may not write.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.analysis import machine
from benchmarks.printing import print_table

PEER = "trafilatura FILE"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        file = arguments.file or Path(folder, "page.html")
        if arguments.file is None:
            words = "<p>The hive was weighed in the morning, and again at night, by two of us.</p>"
            file.write_text(f"<title>Bees</title><nav><a href=/>Home</a></nav><h1>Bees</h1>{words * 30}")
        for title, variables in (
            ("with compiled bytecode", {"PYTHONPYCACHEPREFIX": folder, "PYTHONDONTWRITEBYTECODE": ""}),
            ("without", {"PYTHONPYCACHEPREFIX": f"{folder}/none", "PYTHONDONTWRITEBYTECODE": "1"}),
        ):
            print(f"CPU seconds {title}, median of {arguments.rounds} rounds\n")
            measure(commands(file), file, arguments.rounds, os.environ | variables)


def commands(file: Path) -> dict[str, Sequence[str]]:
    bin_folder = Path(sys.executable).parent
    ours = [str(bin_folder / "domsieve")]
    return {
        "python": [sys.executable, "-c", ""],
        "numpy, lxml, msgspec": [sys.executable, "-c", "import numpy, lxml.etree, msgspec"],
        "import domsieve": [sys.executable, "-c", "import domsieve"],
        PEER: [str(bin_folder / "trafilatura")],
        "domsieve --version": [*ours, "--version"],
        "domsieve clean FILE": [*ours, "clean", str(file)],
        "domsieve clean --format markdown": [*ours, "clean", "--format", "markdown", str(file)],
        "domsieve clean --json": [*ours, "clean", "--json", str(file)],
        "domsieve records FILE": [*ours, "records", str(file)],
    }


def spent_by_children() -> float:
    """Return the CPU seconds of all processes that were started and have ended; finer than ``os.times``."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def measure(wanted: dict[str, Sequence[str]], file: Path, rounds: int, environment: dict[str, str]) -> None:
    spent: dict[str, list[float]] = {name: [] for name in wanted}
    for number in range(rounds + 1):
        for name, call in wanted.items():
            before = spent_by_children()
            with file.open("rb") as source:  # the peer reads standard input
                subprocess.run(
                    call,
                    stdin=source,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=environment,
                    check=False,
                )
            if number:  # the first round compiles
                spent[name].append(spent_by_children() - before)
    peer = statistics.median(spent[PEER])
    rows = [
        (name, {"CPU s": statistics.median(found), "over trafilatura": statistics.median(found) / peer})
        for name, found in spent.items()
    ]
    print_table(["command", "CPU s", "over trafilatura"], rows)
    print(flush=True)


if __name__ == "__main__":
    main()
