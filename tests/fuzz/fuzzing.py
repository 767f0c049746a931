"""Fuzz tests: properties that hold for whatever strangers send, tried on inputs of hypothesis.

A fuzz test lies in ``tests/fuzz/test_GROUP.py`` and names its inputs and how many of them the short run tries::

    @fuzzed(20, source=sources())
    def test_every_source_is_read(source: bytes) -> None: ...

An input is made of bytes, text, numbers, booleans, None, lists and dicts, so that it can be kept as a file of JSON in
``tests/fuzz/found/GROUP/``. What is kept there is tried first, in every run.

`make test` tries few inputs, the same ones each time. `make fuzz` (``tools/fuzz.py``) tries many others: it sets
`REPORT` to a file that then says how many, and new inputs that fail are kept.
"""

import atexit
import hashlib
import json
import os
import signal
import sys
import sysconfig
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException

ROOT = Path(__file__).resolve().parents[2]
REPORT = "DOMSIEVE_FUZZ_REPORT"
LONG = REPORT in os.environ
# One round of the long run tries so many times the inputs of the short one.
LONGER = 8
# No input of a few thousand nodes takes a tenth of that.
MOST_CPU_S = 20.0
# Below this, the processor's own pauses are larger than what is measured.
_FLOOR_S = 0.05
# Of work 8 times as large; a machine under load takes up to 13 times, quadratic work 64.
_STEEPEST = 16.0

_LIBRARY = sysconfig.get_path("stdlib")

Input = dict[str, Any]
T = TypeVar("T")
# Explaining a fault takes longer than finding it.
_PHASES = (Phase.explicit, Phase.generate, Phase.shrink)
_FAULTS = (Exception, pytest.fail.Exception)

_interrupts: list[int] = []
_tried: Counter[str] = Counter()
_found: list[dict[str, str]] = []


def fuzzed(
    inputs: int, /, **strategies: st.SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Return what makes a fuzz test of a function.

    Parameters
    ----------
    inputs : how many the short run tries besides those that are kept; all tests together may take 30 s of CPU.
    strategies : the inputs of the function, by name.
    """

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        return _hunting(check, inputs * LONGER, strategies) if LONG else _steady(check, inputs, strategies)

    return decorate


def only_long(check: Callable[[], None]) -> Callable[[], None]:
    """Leave a fuzz test to the long run, because it takes seconds for each input."""
    return pytest.mark.skipif(not LONG, reason="make fuzz runs it")(check)


def drawn(check: Callable[..., None], inputs: int, seed: int) -> Iterator[int]:
    """Yield the seeds of inputs for a test that judges many inputs together, and count them.

    Parameters
    ----------
    check : the test.
    inputs : how many the short run tries; the long run tries eight times as many.
    seed : the first; inputs of another first seed are others.
    """
    for number in range(inputs * LONGER if LONG else inputs):
        if _interrupts:
            raise KeyboardInterrupt
        _tried[f"{_group(check)}::{check.__name__}"] += 1
        yield seed * 1_000 + number


def _steady(
    check: Callable[..., None], inputs: int, strategies: dict[str, st.SearchStrategy[Any]]
) -> Callable[[], None]:
    """Return the test as the short run has it: the kept inputs, and a few that are always the same."""
    searching = settings.get_current_profile_name() == "search"
    test = given(**strategies)(_bounded(check))
    for _, kept in kept_inputs(check):
        test = example(**kept)(test)
    made: Callable[[], None] = settings(
        max_examples=inputs,
        deadline=None,
        derandomize=not searching,
        database=None,
        phases=_PHASES,
        suppress_health_check=list(HealthCheck),
    )(test)
    return made


def _hunting(
    check: Callable[..., None], inputs: int, strategies: dict[str, st.SearchStrategy[Any]]
) -> Callable[[], None]:
    """Return the test as the long run has it: faults that are known hide no others, and new ones are kept."""
    bounded = _bounded(check)
    known: set[str] = set()
    new: dict[str, str] = {}

    def tried(**given_inputs: Any) -> None:
        if _interrupts:
            raise KeyboardInterrupt
        _tried[name] += 1
        try:
            bounded(**given_inputs)
        except HypothesisException:
            raise
        except _FAULTS as error:
            place = _place(error)
            if place in known:
                return
            text = _written(given_inputs, error)
            if place not in new or len(text) <= len(new[place]):  # of two as long, the later is simpler
                new[place] = text
            raise

    name = f"{_group(check)}::{check.__name__}"
    tried.__name__ = tried.__qualname__ = check.__name__
    hunt: Callable[[], None] = settings(
        max_examples=inputs,
        deadline=None,
        database=None,  # what fails is kept by itself
        phases=_PHASES,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )(given(**strategies)(tried))

    def test() -> None:
        still: list[str] = []
        for path, kept in kept_inputs(check):
            try:
                bounded(**kept)
            except _FAULTS as error:
                known.add(_place(error))
                still.append(path.name)
                _found.append({"test": name, "kept": path.name, "fault": _said(error)})
        try:
            hunt()
        finally:
            for text in new.values():
                path = _keep(check, text)
                _found.append({"test": name, "kept": path.name, "fault": json.loads(text)["fault"]})
        assert not still, f"kept inputs that fail: {', '.join(still)}"

    test.__name__ = test.__qualname__ = check.__name__
    test.__doc__, test.__module__ = check.__doc__, check.__module__
    return test


def _bounded(check: Callable[..., None]) -> Callable[..., None]:
    """Return the function, which then fails where one input takes far too long, and says which failed."""

    def bounded(**given_inputs: Any) -> None:
        try:
            with at_most(MOST_CPU_S):
                check(**given_inputs)
        except HypothesisException:  # how it says that an input does not count
            raise
        except _FAULTS as error:
            error.add_note(f"Inputs: {given_inputs!r:.2000}")
            raise

    bounded.__name__ = bounded.__qualname__ = check.__name__
    bounded.__doc__, bounded.__module__ = check.__doc__, check.__module__
    return bounded


class TooSlowError(AssertionError):
    """An input took more processor time than it may."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Interrupt a block that takes more processor time; for the main thread.

    Raises
    ------
    TooSlowError : it does.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return the result of `work`, which may take so much processor time; it has two tries.

    Raises
    ------
    TooSlowError : it took more both times.
    """
    spent_s = 0.0
    for _ in range(2):
        begun_s = time.process_time()
        result = work()
        spent_s = time.process_time() - begun_s
        if spent_s <= seconds:
            return result
    raise TooSlowError(f"{spent_s:.2f} s of processor time, more than {seconds:.2f} s")


def assert_in_proportion(work: Callable[[int], Callable[[], object]], size: int) -> None:
    """Fail where eight times the input takes more than sixteen times as long, twice.

    Parameters
    ----------
    work : returns what is to be measured for an input of a size; preparing it does not count.
    size : of the smaller input; it grows until it takes 50 ms.
    """
    for _ in range(8):
        small_s = _least_s(work(size))
        if small_s >= _FLOOR_S:
            break
        size *= 2
    else:
        return
    steep = 0.0
    for _ in range(2):
        steep = _least_s(work(8 * size), 1) / max(_least_s(work(size)), _FLOOR_S)
        if steep <= _STEEPEST:
            return
    raise TooSlowError(f"8 times {size} took {steep:.1f} times as long")


def _least_s(work: Callable[[], object], times: int = 3) -> float:
    spent_s = []
    for _ in range(times):
        begun_s = time.process_time()
        work()
        spent_s.append(time.process_time() - begun_s)
    return min(spent_s)


def kept_inputs(check: Callable[..., None]) -> list[tuple[Path, Input]]:
    """Return the inputs that are kept for a test, with their files, sorted by name."""
    return [
        (path, {name: _read(value) for name, value in json.loads(path.read_text("utf-8"))["input"].items()})
        for path in sorted(_folder(check).glob(f"{check.__name__}-*.json"))
    ]


def _folder(check: Callable[..., None]) -> Path:
    return Path(check.__code__.co_filename).parent / "found" / _group(check)


def _group(check: Callable[..., None]) -> str:
    return Path(check.__code__.co_filename).stem.removeprefix("test_")


def _keep(check: Callable[..., None], text: str) -> Path:
    digest = hashlib.sha256(json.dumps(json.loads(text)["input"]).encode()).hexdigest()[:12]
    path = _folder(check) / f"{check.__name__}-{digest}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def _written(given_inputs: Input, error: BaseException) -> str:
    """Return the file of an input that fails: the fault, and the input."""
    facts = {
        "fault": _said(error),
        "input": {name: _plain(value) for name, value in given_inputs.items()},
    }
    return json.dumps(facts, indent=1) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}  # most are text that people can read so
    if isinstance(value, list | tuple):
        return [*map(_plain, value)]
    if isinstance(value, dict):
        return {"dict": {key: _plain(inner) for key, inner in value.items()}}
    assert value is None or isinstance(value, str | int | float), f"{type(value)} cannot be kept as an input"
    return value


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(_read, value)]
    if isinstance(value, dict):
        if "bytes" in value:
            return value["bytes"].encode("latin-1")
        return {key: _read(inner) for key, inner in value["dict"].items()}
    return value


def _said(error: BaseException) -> str:
    first = str(error).strip().partition("\n")[0]
    return f"{_place(error)}: {first[:200]}"


def _place(error: BaseException) -> str:
    """Return what tells one fault from others: its kind, and where in the project it arose."""
    frames = [
        f"{path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if "site-packages" not in (path := Path(frame.filename)).parts
        and not path.is_relative_to(_LIBRARY)
        and path != Path(__file__)
    ]
    return f"{type(error).__name__} at {frames[-1] if frames else 'unknown'}"


if LONG:
    # Where an interrupt comes while Python collects garbage, its exception is lost. So it waits for the next input.
    signal.signal(signal.SIGINT, lambda number, _: _interrupts.append(number))


@atexit.register
def _report() -> None:
    if LONG and _tried:
        facts = {"inputs": dict(_tried), "found": _found}
        Path(os.environ[REPORT]).write_text(json.dumps(facts), "utf-8")


if LONG and sys.platform == "linux":
    import resource

    # What would fill the machine fails by itself instead, and so is kept.
    _held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (_held + 8_000_000_000, resource.getrlimit(resource.RLIMIT_AS)[1]))
