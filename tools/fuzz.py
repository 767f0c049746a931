"""Run the fuzz tests for a long time: ``make fuzz MINUTES=90``.

    python -m tools.fuzz [--minutes M] [--seed S] [--only GROUP ...]

Each file ``tests/fuzz/test_GROUP.py`` is a group. Rounds of about a minute go to the group that has had the least
time, each in a process and with a seed of its own; there is at least one. A group whose name is an integration runs
in the environment of that. What the groups have had and which seed comes next stands in ``build/fuzz/state.json``, so
that the next run goes on where this one stopped, also after an interrupt. ``build/fuzz/GROUP.txt`` holds what pytest
said of the last round that failed.

Inputs that fail are kept in ``tests/fuzz/found/`` and are tried first from then on; known faults hide no others. All
there is to say goes to stderr; the status is 0 without a fault, 1 with one, 130 after an interrupt.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tools import integrations

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "fuzz"
BUILD = ROOT / "build" / "fuzz"
# Rounds end by themselves within a minute or two, so that such a one hangs where no signal reaches it.
_ROUND_LIMIT_S = 3_600
_NO_TESTS = 5  # pytest's status


@dataclass(slots=True)
class Share:
    """What a group has had: seconds of the clock and of the processor, inputs, rounds."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    inputs: int = 0
    rounds: int = 0

    def add(self, other: "Share") -> None:
        """Add what a round took."""
        self.seconds += other.seconds
        self.cpu_seconds += other.cpu_seconds
        self.inputs += other.inputs
        self.rounds += other.rounds


@dataclass(slots=True)
class State:
    """Where the next run goes on."""

    seed: int = 1
    groups: dict[str, Share] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path) -> "State":
        """Return what the last run wrote, or a beginning."""
        if not path.exists():
            return cls()
        facts = json.loads(path.read_text("utf-8"))
        return cls(facts["seed"], {name: Share(**share) for name, share in facts["groups"].items()})

    def save(self, path: Path) -> None:
        """Write it for the next run."""
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(asdict(self), indent=1) + "\n", "utf-8")
        new.replace(path)


@dataclass(frozen=True, slots=True)
class Round:
    """What came of a round: what it had, the faults it met, and whether it was interrupted."""

    share: Share
    faults: dict[str, str]
    interrupted: bool = False


def groups(tests: Path) -> list[str]:
    """Return the names of all groups."""
    return sorted(path.stem.removeprefix("test_") for path in tests.glob("test_*.py"))


def run_round(tests: Path, build: Path, group: str, seed: int) -> Round:
    """Run the tests of a group once.

    Raises
    ------
    subprocess.SubprocessError : the environment of the group cannot be made, or the round does not end.
    """
    python = Path(sys.executable)
    options: list[str] = []
    if tests == TESTS and group in integrations.names():
        python = integrations.make(group)
        options = ["--confcutdir", str(TESTS)]  # the suite's own conftest needs packages of the suite
    build.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "--tb=short"]
        command += [f"--hypothesis-seed={seed}", *options, str(tests / f"test_{group}.py")]
        environment = {**os.environ, "DOMSIEVE_FUZZ_REPORT": str(report)}
        begun_s, before_s = time.monotonic(), _children_cpu_s()
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # an interrupt reaches it by us alone
        )
        interrupted = False
        try:
            output, _ = process.communicate(timeout=_ROUND_LIMIT_S)
        except KeyboardInterrupt:  # the tests then say how far they came
            interrupted = True
            process.send_signal(signal.SIGINT)
            output = _ended(process)
        except subprocess.TimeoutExpired:
            output = _ended(process)
        facts = json.loads(report.read_text("utf-8")) if report.exists() else {"inputs": {}, "found": []}
    share = Share(
        time.monotonic() - begun_s, _children_cpu_s() - before_s, sum(facts["inputs"].values()), rounds=1
    )
    faults = {f"{found['test']} ({found['kept']})": found["fault"] for found in facts["found"]}
    if process.returncode not in {0, _NO_TESTS} and not interrupted:
        (build / f"{group}.txt").write_text(output, "utf-8")
        if not faults:
            faults[f"{group} with seed {seed}"] = f"status {process.returncode}, see build/fuzz/{group}.txt"
    return Round(share, faults, interrupted)


def _ended(process: subprocess.Popen[str]) -> str:
    """Return what a process has said when it has ended, which it is made to after a minute."""
    try:
        return process.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()[0]


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fuzz(tests: Path, build: Path, *, minutes: float, seed: int | None, only: Sequence[str]) -> int:
    """Run rounds until the time is up, at least one; return the status."""
    chosen = [group for group in groups(tests) if not only or group in only]
    state = State.load(build / "state.json")
    state.seed = state.seed if seed is None else seed
    had = {group: Share() for group in chosen}
    faults: dict[str, str] = {}
    first, end_s, interrupted = state.seed, time.monotonic() + 60 * minutes, False
    while chosen and not interrupted:
        group = min(chosen, key=lambda name: had[name].seconds)
        try:
            done = run_round(tests, build, group, state.seed)
        except KeyboardInterrupt:
            break
        except subprocess.SubprocessError as error:
            _say(f"{group} cannot be run: {error}")
            faults[group] = "it cannot be run"
            chosen.remove(group)
            continue
        interrupted = done.interrupted
        had[group].add(done.share)
        state.groups.setdefault(group, Share()).add(done.share)
        state.seed += 1
        state.save(build / "state.json")
        for name, fault in done.faults.items():
            if name not in faults:
                _say(f"fault: {name}: {fault}")
        faults |= done.faults
        _say(
            f"{group}: {done.share.inputs:,} inputs in {done.share.seconds:.0f} s, "
            f"{max(end_s - time.monotonic(), 0) / 60:.0f} minutes left"
        )
        if time.monotonic() >= end_s:
            break
    _say(f"seeds {first} to {state.seed - 1}")
    for group, share in sorted(had.items()):
        all_of_it = state.groups.get(group, share)
        _say(
            f"{group:12} {share.seconds / 60:6.1f} min {share.inputs:10,} inputs; in all runs "
            f"{all_of_it.seconds / 60:7.1f} min {all_of_it.inputs:12,} inputs"
        )
    for name, fault in sorted(faults.items()):
        _say(f"fault: {name}: {fault}")
    _say(
        f"{len(faults)} faults{'; mend them, and commit what is kept in tests/fuzz/found' if faults else ''}"
    )
    return 130 if interrupted else 1 if faults else 0


def _say(text: str) -> None:
    print(f"[fuzz] {text}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str], tests: Path = TESTS, build: Path = BUILD) -> int:
    """Read the options and run; return the status."""
    parser = argparse.ArgumentParser(prog="fuzz", description="Run the fuzz tests for a long time.")
    parser.add_argument("--minutes", type=float, default=90.0, help="how long; 90 by default")
    parser.add_argument("--seed", type=int, help="of the first round; by default the one after the last run")
    parser.add_argument("--only", nargs="*", default=[], help="names of groups; all by default")
    given = parser.parse_args(arguments)
    # A shell starts what it runs in the background with interrupts ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    only = [name for word in given.only for name in word.split()]
    if unknown := sorted(set(only) - set(groups(tests))):
        _say(f"there is no {', '.join(unknown)}; there are {', '.join(groups(tests))}")
        return 2
    return fuzz(tests, build, minutes=given.minutes, seed=given.seed, only=only)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
