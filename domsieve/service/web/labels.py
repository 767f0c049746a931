"""Labels for the web page: jobs, events and figures as texts for people. The templates escape all of it."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from domsieve.plain import plain
from domsieve.service.jobs.values import Event, Job
from domsieve.service.web.forms import KINDS

KIND_NAMES = {kind.value: kind.label for kind in KINDS} | {
    "clean_html": "Clean HTML",
    "records_html": "Find records in HTML",
}
_STATE_LINES = {
    "queued": "Waiting for a worker",
    "running": "A worker started it",
    "done": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
}
_STAGE_LINES = {"render": "Opening the page in the browser", "analyse": "Extracting the content"}
_ROWS = 50
_UNSHOWN = frozenset({"page_id", "title", "retry", "marks"})
_IN_THE_BANNER = frozenset({"fault", "marks", "remarks", "instead_of"})
_LONGEST = 300


def short_time(iso: str | None) -> str:
    """Return a time for people, in UTC."""
    if not iso:
        return "–"
    at = datetime.fromisoformat(iso)
    return f"{at.day} {at:%b %H:%M:%S}"


def size(size_bytes: int) -> str:
    """Return a size for people."""
    if size_bytes < 1000:
        return f"{size_bytes} bytes"
    for unit in ("kB", "MB"):
        size_bytes_of = size_bytes / (1000 if unit == "kB" else 1_000_000)
        if size_bytes_of < 1000:
            return f"{size_bytes_of:.1f} {unit}"
    return f"{size_bytes / 1e9:.1f} GB"


def page_count(job: Job) -> str:
    """Return how many pages a job has done, empty when it is of one page alone."""
    if job.kind != "site":
        return ""
    return f"{job.done_pages} of {job.total_pages} pages" if job.total_pages else f"{job.done_pages} pages"


def event_line(event: Event) -> dict[str, str] | None:
    """Return an event as time and words."""
    data = event.data
    if event.kind == "stage":
        said = _STAGE_LINES.get(str(data.get("stage")), str(data.get("stage")))
    elif event.kind == "state":
        said = _STATE_LINES.get(str(data.get("state")), str(data.get("state")))
        if (attempt := data.get("attempt", 1)) != 1:
            said += f", attempt {attempt}"
        if data.get("lost"):
            said = "Its worker was lost; waiting for another one"
    elif isinstance(data.get("said"), str):
        said = data["said"]
        said = _flat(said if said.startswith("http") else said[:1].upper() + said[1:])
    else:
        said = event.kind.replace("_", " ").capitalize()
        details = [_flat(value) for name, value in data.items() if isinstance(value, str | int | float)]
        said += f": {' · '.join(details)}" if details else ""
    return {"at": event.at[11:19], "said": said[:_LONGEST], "kind": event.kind}


def verdict_of(job: Job) -> str:
    """Return what a comparison came to, empty for other jobs."""
    needed = (job.summary or {}).get("browser_needed") if job.kind == "compare" else None
    if needed is None:
        return ""
    return "This page needs a browser." if needed else "This page works without a browser."


def remarks_of(job: Job) -> list[str]:
    """Return what the reader of a result must know, a sentence each."""
    summary = job.summary or {}
    said = summary.get("remarks")
    remarks = [_flat(remark) for remark in said] if isinstance(said, list) else []
    if job.kind == "site" and summary.get("marked"):
        remarks.append(
            f"{_flat(summary['marked'])} of the pages look like walls, or say that there is no page."
        )
    if job.kind == "site" and summary.get("failed"):
        remarks.append(f"{_flat(summary['failed'])} pages failed.")
    return remarks


# What the summary tells of a capture besides, and where the page says what.
_TOLD_OF_CAPTURE = frozenset(("captured_at", "sources", "status", "url"))


def facts_of(summary: Mapping[str, Any], *, url: str) -> dict[str, Any]:
    """Return what came out of a job as pairs of name and value and as tables of rows.

    What only repeats the address that was asked for, or says nothing, is left out.
    """
    summary = {
        name: value
        for name, value in summary.items()
        if value not in (url, None, []) and name not in _IN_THE_BANNER
    }
    if isinstance(about := summary.get("metadata"), Mapping):
        shown = {name: value for name, value in about.items() if value and name not in _TOLD_OF_CAPTURE}
        summary["metadata"] = shown
    pairs: list[tuple[str, str]] = []
    tables: list[dict[str, Any]] = []
    for name, value in _named(summary, ""):
        if isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value):
            columns = [
                key for key in dict.fromkeys(key for row in value for key in row) if key not in _UNSHOWN
            ]
            tables.append(
                {
                    "name": name,
                    "columns": [_label(column) for column in columns],
                    "rows": [[_flat(row.get(column)) for column in columns] for row in value[:_ROWS]],
                    "left_out": max(0, len(value) - _ROWS),
                }
            )
        elif isinstance(value, list):
            pairs.append((name, ", ".join(map(_flat, value[:_ROWS])) or "–"))
        else:
            pairs.append((name, _flat(value)))
    return {"pairs": pairs, "tables": tables}


def _named(values: Mapping[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        whole = _label(f"{before} {name}".strip())
        if isinstance(value, Mapping):
            yield from _named(value, whole)
        else:
            yield whole, value


def _label(name: str) -> str:
    return str(name).replace("_", " ").replace(" f1", " F1")


def _flat(value: object) -> str:
    if value is None or value == []:
        return "–"
    if isinstance(value, list):
        return " ".join(map(_flat, value))[:_LONGEST]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return plain(str(value))[:_LONGEST]
