"""Jobs, events and numbers as texts for the web pages. The templates escape them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domsieve.analysis.metadata.values import metadata_labels
from domsieve.renderer.net_errors import without_names
from domsieve.sanitize import plain
from domsieve.service.jobs.job_values import OF_SITES, Event, Job
from domsieve.service.web.forms import KINDS

KIND_NAMES = {kind.value: kind.label for kind in KINDS} | {
    "clean_html": "Clean HTML",
    "records_html": "Find records in HTML",
    "learn_fields": "Learn fields",
}
_STATE_LINES = {
    "queued": "Waiting for a worker",
    "running": "A worker started it",
    "done": "Done",
    "failed": "Failed",
    "cancelled": "Cancelled",
}
_STAGE_LINES = {"render": "Opening the page", "analyse": "Extracting the content"}
_ROWS = 50
_UNSHOWN = frozenset({"page_id", "title", "retry"})
_IN_THE_BANNER = frozenset({"fault", "marks", "warnings", "remarks", "instead_of"})
_LONGEST = 300


def short_time(iso: str) -> str:
    """Return a time in UTC as text; a script of the page replaces it with the local time."""
    at = datetime.fromisoformat(iso)
    return f"{at.day} {at:%b %H:%M:%S} UTC"


def size(size_bytes: int) -> str:
    """Return a number of bytes as text."""
    if size_bytes < 1000:
        return f"{size_bytes} bytes"
    for unit in ("kB", "MB"):
        size_bytes_of = size_bytes / (1000 if unit == "kB" else 1_000_000)
        if size_bytes_of < 1000:
            return f"{size_bytes_of:.1f} {unit}"
    return f"{size_bytes / 1e9:.1f} GB"


def page_count(job: Job) -> str:
    """Return the number of pages that a job has finished; empty for jobs about one page."""
    if job.kind not in OF_SITES:
        return ""
    return f"{job.done_pages} of {job.total_pages} pages" if job.total_pages else f"{job.done_pages} pages"


def event_line(event: Event) -> dict[str, str] | None:
    """Return an event as time and text; error names of the browser are replaced by explanations."""
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
        said = flat(said if said.startswith("http") else said[:1].upper() + said[1:])
    else:
        said = event.kind.replace("_", " ").capitalize()
        details = [flat(value) for name, value in data.items() if isinstance(value, str | int | float)]
        said += f": {' · '.join(details)}" if details else ""
    return {"at": event.at, "said": without_names(said)[:_LONGEST], "kind": event.kind}


def verdict_of(job: Job) -> str:
    """Return the result of a comparison, the extent of a sample, or the changes of a site, in a sentence."""
    summary = job.summary or {}
    if job.kind == "site" and summary.get("extent"):
        return f"{flat(summary['extent'])}."
    if job.kind == "sync" and "unchanged" in summary:
        counts = [
            f"{summary[kind]} {name}"
            for kind, name in (("added", "new"), ("changed", "changed"), ("moved", "moved"), ("gone", "gone"))
            if summary.get(kind)
        ]
        return ", ".join([*counts, f"{summary['unchanged']} unchanged."])
    needed = summary.get("browser_needed") if job.kind == "compare" else None
    if needed is None:
        return ""
    return "This page needs a browser." if needed else "This page works without a browser."


def remarks_of(job: Job) -> list[str]:
    """Return warnings for readers of a result, one sentence each."""
    summary = job.summary or {}
    said = summary.get("remarks")
    remarks = [flat(remark) for remark in said] if isinstance(said, list) else []
    if job.kind == "site" and summary.get("marked"):
        number = summary["marked"]
        looks = (
            "page looks like a wall or an error page"
            if number == 1
            else "pages look like walls or error pages"
        )
        remarks.append(f"{flat(number)} {looks}.")
    if job.kind in OF_SITES and summary.get("failed"):
        number = summary["failed"]
        remarks.append("1 page failed." if number == 1 else f"{flat(number)} pages failed.")
    return remarks


# Values that are shown elsewhere: metadata, confidence, and tables.
_SHOWN_APART = frozenset(
    {
        "metadata",
        "expected_f1",
        "pages",
        "failed",
        "browser_needed",
        "captured_at",
        "site_pages",
        "ended",
        "extent",
        "marked",
    }
    | {"skipped_by_robots", "failures", "layout_changed", "added", "changed", "moved", "gone", "unchanged"}
)
_ABOUT = metadata_labels()
_SURE, _FAIR = 90, 75


@dataclass(frozen=True, slots=True)
class Confidence:
    """The F1 that the learned cleaner expects, in percent and as a word."""

    percent: int
    word: str


def about_of(metadata: object) -> list[tuple[str, str]]:
    """Return the metadata of a page as pairs of label and value."""
    known = metadata if isinstance(metadata, Mapping) else {}
    pairs = ((label, known.get(name)) for name, label in _ABOUT.items())
    return [(label, _said(value)) for label, value in pairs if value]


def _said(value: object) -> str:
    if isinstance(value, Mapping):  # the product
        parts = [
            value.get("name"),
            f"{value.get('price') or ''} {value.get('currency') or ''}",
            value.get("availability"),
        ]
        return ", ".join(text for part in parts if part and (text := flat(part).strip()))
    return ", ".join(map(flat, value)) if isinstance(value, list) else flat(value)


def confidence_of(result: Mapping[str, Any]) -> Confidence | None:
    """Return the confidence of a result; None if the method made no estimate. With warnings, it is never high."""
    expected_f1 = result.get("expected_f1")
    if not isinstance(expected_f1, float | int) or isinstance(expected_f1, bool):
        return None
    percent = round(100 * expected_f1)  # the word is about the number that is shown
    word = (
        "high" if percent >= _SURE and not result.get("warnings") else "fair" if percent >= _FAIR else "low"
    )
    return Confidence(percent, word)


def judged_of(result: Mapping[str, Any]) -> str:
    """Return how many pages of its site had a say in a result; empty if the page was judged alone."""
    pages = result.get("site_pages")
    if not isinstance(pages, int) or pages < 1:
        return ""
    return f"judged with {pages:,} {'page' if pages == 1 else 'pages'} of this site"


def facts_of(summary: Mapping[str, Any], *, url: str) -> list[tuple[str, str]]:
    """Return the summary of a job as pairs of name and value.

    Values that are empty, equal to the requested address, or shown elsewhere are left out.
    """
    unshown = _UNSHOWN | _IN_THE_BANNER | _SHOWN_APART
    return [
        (name, ", ".join(map(flat, value[:_ROWS])) if isinstance(value, list) else flat(value))
        for name, value in _named({name: summary[name] for name in summary if name not in unshown}, "")
        if value not in (url, None, [])
    ]


def _named(values: Mapping[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        whole = _label(f"{before} {name}".strip())
        if isinstance(value, Mapping):
            yield from _named(value, whole)
        else:
            yield whole, value


def _label(name: str) -> str:
    return str(name).replace("_", " ").replace(" f1", " F1")


def flat(value: object) -> str:
    """Return a value as a short text."""
    if value is None or value == []:
        return "–"
    if isinstance(value, list):
        return " ".join(map(flat, value))[:_LONGEST]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return plain(str(value))[:_LONGEST]
