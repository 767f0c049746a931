"""Choose what a result is answered as, by the Accept header (RFC 9110): JSON about the job, or its text."""

from collections.abc import Mapping, Sequence

from domsieve.analysis.writers.registry import PAGE_FORMATS
from domsieve.service.jobs.requests import CleanRequest, PageRequest
from domsieve.service.jobs.values import Job
from domsieve.service.web.problems import ProblemError

JSON = "application/json"
_TYPES: Mapping[str, str] = {
    name: entry.media_type.partition(";")[0] for name, entry in PAGE_FORMATS.items() if entry.is_prose
}
_FORMATS: Mapping[str, str] = {kind: form for form, kind in _TYPES.items()}
TEXTS = tuple(_FORMATS)
"""The types of results that are answered as they are."""


def agreed(accept: str | None, offered: Sequence[str]) -> str:
    """Return which of the offered types an Accept header asks for; the first one without a header.

    Of types that are liked equally the one that is named more exactly is taken, then the one that is named first.

    Raises
    ------
    ProblemError : none of them is acceptable.
    """
    if accept is None or not accept.strip():
        return offered[0]
    ranges = [*map(_range, accept.split(","))]
    liked: list[tuple[float, int, int, int, str]] = []
    for place, kind in enumerate(offered):
        fits = [
            (exactness, -number, quality)
            for number, (pattern, quality) in enumerate(ranges)
            if (exactness := _exactness(pattern, kind))
        ]
        if fits:
            exactness, number, quality = max(fits)
            liked.append((quality, exactness, number, -place, kind))
    if not liked or max(liked)[0] <= 0:
        raise ProblemError(406, f"This result is available as {', '.join(offered)}.")
    return max(liked)[-1]


def _range(text: str) -> tuple[str, float]:
    """Return a range of types and how much it is liked, 0 for what is none."""
    pattern, *parameters = (part.strip().lower() for part in text.split(";"))
    quality = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            digits = value.strip().replace(".", "", 1)
            is_number = digits.isascii() and digits.isdigit() and len(digits) <= 4
            quality = min(float(value), 1.0) if is_number else 0.0
    return pattern, quality


def _exactness(pattern: str, kind: str) -> int:
    """Return how exactly a range names a type, 0 when it does not."""
    if pattern == kind:
        return 3
    if pattern == f"{kind.partition('/')[0]}/*":
        return 2
    return int(pattern == "*/*")


def offered_by(request: PageRequest) -> list[str]:
    """Return what the result of a request can be answered as; a format that is named is the only text."""
    if not isinstance(request, CleanRequest):
        return [JSON]
    if "format" in request.model_fields_set:
        return [JSON, *(_TYPES[form] for form in (request.format,) if form in _TYPES)]
    return [JSON, _TYPES["markdown"], _TYPES["text"]]


def in_format(request: PageRequest, kind: str) -> PageRequest:
    """Return the request with the format that stands for the type of its answer."""
    if kind not in _FORMATS or "format" in request.model_fields_set:
        return request
    return request.model_copy(update={"format": _FORMATS[kind]})


def offered_of(job: Job) -> list[str]:
    """Return what the result of a job that is done can be answered as."""
    kind = job.files[0].content_type.partition(";")[0].strip() if job.files else ""
    return [JSON, kind] if kind in _FORMATS and job.kind != "report" else [JSON]
