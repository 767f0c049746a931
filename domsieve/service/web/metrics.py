"""Metrics in the text format of Prometheus. No text from callers becomes a label."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from domsieve.errors import BusyReason

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS"})
_DURATIONS_S = (0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120)


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of the workers and the job store.

    Parameters
    ----------
    jobs : number of jobs by kind, state and fault (empty if nothing failed).
    oldest_queued_s : seconds that the oldest job in the queue has waited; 0 if there is none.
    workers : number of running worker processes.
    refused : number of jobs refused since the start of the service, by reason.
    loads : number of pages that jobs have loaded, by whether they were rendered or fetched, and by reason; see
        `load_reason`.
    worker_restarts, pages, browser_starts : numbers since the start of the service, of running workers.
    browser_memory_bytes : memory of all browsers.
    """

    jobs: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    oldest_queued_s: float = 0.0
    refused: Mapping[BusyReason, int] = field(default_factory=dict)
    workers: int = 0
    worker_restarts: int = 0
    pages: int = 0
    loads: Mapping[tuple[str, str], int] = field(default_factory=dict)
    browser_starts: int = 0
    browser_memory_bytes: int = 0


class Traffic:
    """The metrics of a service.

    Parameters
    ----------
    figures : returns the current figures; called whenever the metrics are read.
    """

    def __init__(self, figures: Callable[[], Figures]) -> None:
        self._registry = CollectorRegistry()
        self._took = Histogram(
            "domsieve_request_seconds",
            "Time to answer a request.",
            ["method", "route"],
            buckets=_DURATIONS_S,
            registry=self._registry,
        )
        self._answers = Counter(
            "domsieve_requests", "Requests answered.", ["method", "route", "status"], registry=self._registry
        )
        self._registry.register(_Figures(figures))

    def answered(self, method: str, route: str, status: int, taken_s: float) -> None:
        """Count a request; `route` is the route's template, such as ``/v1/jobs/{job}``."""
        known = method if method in _METHODS else "other"
        self._took.labels(known, route).observe(taken_s)
        self._answers.labels(known, route, str(status)).inc()

    def text(self) -> bytes:
        """Return all metrics."""
        return generate_latest(self._registry)


class _Figures(Collector):
    def __init__(self, figures: Callable[[], Figures]) -> None:
        self._figures = figures
        self._started = time.time()

    def describe(self) -> Iterable[Metric]:
        """Return no metrics, because listing them would read the store at the start."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """Yield the current metrics."""
        figures = self._figures()
        jobs = GaugeMetricFamily(
            "domsieve_jobs", "Jobs that are kept, by what became of them.", labels=["kind", "state", "fault"]
        )
        queued = 0
        for (kind, state, fault), count in sorted(figures.jobs.items()):
            jobs.add_metric([kind, state, fault], count)
            queued += count * (state == "queued")
        yield jobs
        yield _gauge("domsieve_queue_length", "Jobs that wait.", queued)
        yield _gauge(
            "domsieve_queue_oldest_seconds",
            "Age of the job that has waited longest.",
            figures.oldest_queued_s,
        )
        refused = CounterMetricFamily(
            "domsieve_jobs_refused", "Jobs that were not accepted, by what was used up.", labels=["reason"]
        )
        for reason in get_args(BusyReason):
            refused.add_metric([reason], figures.refused.get(reason, 0))
        yield refused
        yield _gauge("domsieve_workers", "Worker processes that are alive.", figures.workers)
        yield _counter("domsieve_worker_restarts", "Workers that died.", figures.worker_restarts)
        yield _counter("domsieve_pages", "Pages rendered.", figures.pages)
        loads = CounterMetricFamily(
            "domsieve_pages_loaded",
            "Pages that jobs have loaded, by whether they were rendered, and why.",
            labels=["how", "reason"],
        )
        for (how, reason), count in sorted(figures.loads.items()):
            loads.add_metric([how, reason], count)
        yield loads
        yield _counter("domsieve_browser_starts", "Browsers started.", figures.browser_starts)
        yield _gauge("domsieve_browser_memory_bytes", "Memory of the browsers.", figures.browser_memory_bytes)
        yield _gauge("domsieve_start_time_seconds", "When the service was started.", self._started)
        if (memory := _resident_bytes()) is not None:
            yield _gauge("domsieve_web_memory_bytes", "Resident memory of the process that answers.", memory)


def _gauge(name: str, what: str, value: float) -> Metric:
    return GaugeMetricFamily(name, what, value=value)


def _counter(name: str, what: str, value: float) -> Metric:
    return CounterMetricFamily(name, what, value=value)


def _resident_bytes() -> int | None:
    """Return the memory of this process; None without /proc."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS:")), None)
