"""Run the tasks of an experiment in processes of their own, and write each to the journal when it is done."""

import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any

from domsieve.errors import DomsieveError
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.frame.journal import Journal, Line, facts_of, key_of

# Sums of floats depend on how threads share them out, and two tasks at once use the cores better anyway.
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_KB_PER_MB = 1 << 10 if sys.platform != "darwin" else 1 << 20


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of an experiment: rows of all tasks that are done, in order, and errors by task."""

    rows: list[Row]
    failed: dict[str, str]


def run(
    experiment: Experiment,
    inputs: Inputs,
    *,
    processes: int | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Ran:
    """Measure the tasks of an experiment that are not in its journal yet, and return the rows of all.

    Parameters
    ----------
    processes : how many tasks run at once; by default one per core.
    report : is told each task that is done or has failed.

    Raises
    ------
    DomsieveError : the corpora cannot be read at all, or the journal is damaged.
    """
    journal = Journal(inputs.output, experiment.name)
    tasks = experiment.tasks(inputs)
    facts = {task.name: facts_of(experiment, task) for task in tasks}
    keys = {name: key_of(fact) for name, fact in facts.items()}
    done = {name for name, line in journal.read().items() if line.key == keys.get(name)}
    missing = [task for task in tasks if task.name not in done]
    if done:
        report(f"{experiment.name}: {len(done)} of {len(tasks)} tasks are in {journal.path} already")
    failed: dict[str, str] = {}
    if missing:
        os.environ.update(_ONE_THREAD)  # the new processes read them before they load numpy
        context = multiprocessing.get_context("spawn")
        at_once = min(processes or os.cpu_count() or 1, len(missing))
        with ProcessPoolExecutor(at_once, mp_context=context, initializer=_end_with_parent) as pool:
            futures = {pool.submit(_measured, task): task for task in missing}
            try:
                for number, future in enumerate(as_completed(futures), 1):
                    task = futures[future]
                    told = f"[{number}/{len(missing)}] {experiment.name} {task.name}"
                    try:
                        rows, cost = _result(future)
                    except DomsieveError as error:
                        failed[task.name] = str(error)
                        report(f"{told} failed: {error}")
                        continue
                    journal.add(Line(keys[task.name], {**facts[task.name], "cost": cost}, rows))
                    report(f"{told} {cost['seconds']:.0f} s, {cost['peak_mb']:.0f} MB")
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    names = [task.name for task in tasks if task.name not in failed]
    return Ran(list(journal.rows(names)), failed)


def _result(future: "Future[tuple[list[Row], dict[str, Any]]]") -> tuple[list[Row], dict[str, Any]]:
    """Return what a task gave; whatever went wrong in it is an error of that task alone."""
    try:
        return future.result()
    except DomsieveError:
        raise
    except Exception as error:
        raise DomsieveError(f"{type(error).__name__}: {error}") from error


def _end_with_parent() -> None:
    """Let an interrupt end this process without a traceback, and the end of the parent, however it came."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _measured(task: Task) -> tuple[list[Row], dict[str, Any]]:
    wall, processor = time.perf_counter(), time.process_time()
    rows = task.measure()
    return rows, {
        "seconds": round(time.perf_counter() - wall, 2),
        "cpu_seconds": round(time.process_time() - processor, 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KB_PER_MB, 1),
    }
