"""Where a page comes from: its domain, and the language it is in."""

import re
from typing import Literal
from urllib.parse import urlsplit

Language = Literal["German", "English", "French", "Chinese", "other", "unknown"]

_LANG = re.compile(
    r"<html\b[^>]{0,500}?[\s\"'](?:xml:)?lang\s*=\s*[\"']?\s*([a-z]{2,3})(?![a-z])", re.IGNORECASE
)
_BY_CODE: dict[str, Language] = {"de": "German", "en": "English", "fr": "French", "zh": "Chinese"}
_BY_TOP_DOMAIN: dict[str, Language] = {
    **dict.fromkeys(("at", "ch", "de", "li"), "German"),
    **dict.fromkeys(("au", "edu", "gov", "ie", "uk", "us"), "English"),
    "fr": "French",
    **dict.fromkeys(("cn", "tw"), "Chinese"),
}  # fmt: skip


def domain_of(url: str, name: str) -> str:
    """Return the host of an address without ``www.``; the name of the page where it has no address."""
    return (urlsplit(url).hostname or name).removeprefix("www.")


def language_of(html: str, url: str) -> Language:
    """Return the language that the ``html`` element of a page declares, else the one of its top-level domain.

    It is unknown where a page says nothing and its address is in a domain such as ``.com``.
    """
    if declared := _LANG.search(html):
        return _BY_CODE.get(declared[1].lower(), "other")
    return _BY_TOP_DOMAIN.get((urlsplit(url).hostname or "").rpartition(".")[2], "unknown")
