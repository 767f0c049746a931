"""Examples of requests, for the description of the API."""

from fastapi.openapi.models import Example

_PAGE = "https://example.org/news/1"


def _of(summary: str, **value: str | int | float | bool | None) -> Example:
    return Example(summary=summary, value=value)


CLEAN = {
    "shortest": _of("As Markdown, by the method that suits", url=_PAGE),
    "text": _of("As text, of a page that loads more as one scrolls", url=_PAGE, format="text", scroll=True),
}
RECORDS = {
    "shortest": _of("One line of JSON for each record", url="https://example.org/shop"),
    "csv": _of("As a table", url="https://example.org/shop", method="mdr", format="csv"),
}
COMPARE = {"shortest": _of("Is a browser needed for this page?", url=_PAGE)}
REPORT = {"phone": _of("As a phone shows it", url=_PAGE, viewport_width=390, viewport_height=844)}
SITE = {"thirty": _of("Thirty pages of a site", url="https://example.org/", pages=30, seed=1)}
