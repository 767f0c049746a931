"""What callers give as pages: URLs, HTML, files and Snapshots, and which of them are learned from together.

A text is fetched only when it begins as a URL, and is never taken for the name of a file: pages may be a stranger's.
Imports the renderer's parser, tasks and the errors of the project.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from domsieve.errors import DomsieveError, TargetError, UsageError
from domsieve.library.checks import wrong
from domsieve.renderer import parse_html, place_of, read_html_file
from domsieve.snapshot import Producer, Snapshot
from domsieve.tasks import site_of

PageInput = str | bytes | os.PathLike[str] | Snapshot
"""One page: a URL or HTML as str, HTML as bytes, a file as Path, or a Snapshot."""

_URL = re.compile(r"https?://", re.IGNORECASE)
_MARKUP = re.compile(r"<[A-Za-z/!?]")
_NO_ADDRESS = "HTML without an address"
_KINDS = "a URL, HTML as str or bytes, a Path, a Snapshot, or a list of these"


@dataclass(frozen=True, slots=True)
class Source:
    """A page as it was given.

    Parameters
    ----------
    label : its address or file; empty for HTML that came without.
    site : pages of an equal site are learned from together.
    load : reads the page, once; None for URLs, which must be fetched.
    fault : why it is no page.
    """

    label: str
    site: str = ""
    load: Callable[[], Snapshot] | None = None
    fault: DomsieveError | None = None


def is_list(page: object) -> bool:
    """Return whether the caller gave several pages; a file, a response or a tree of another library is no list."""
    if isinstance(page, str | bytes | bytearray | os.PathLike | Snapshot | Mapping):
        return False
    return isinstance(page, Iterable) and not any(hasattr(page, name) for name in ("read", "text"))


def sources_of(page: object, url: object = None) -> list[Source]:
    """Return the pages that were given, in order.

    Parameters
    ----------
    page : one page or an iterable of them.
    url : where HTML came from; for several pages a sequence of equal length, None for those that have no address.

    Raises
    ------
    UsageError : something is no page by its type, or `url` does not fit the pages.
    """
    if not is_list(page):
        return [_source(page, url)]
    assert isinstance(page, Iterable)
    pages = list(page)
    if url is None:
        return [_source(each, None) for each in pages]
    if isinstance(url, str) or not isinstance(url, Sequence) or len(url) != len(pages):
        raise wrong(
            "url", url, f"give a list of {len(pages)} addresses, one for each page, None where there is none"
        )
    return [_source(each, its_url) for each, its_url in zip(pages, url, strict=True)]


def urls_of(page: object) -> list[str]:
    """Return the URLs that were given, in order, where only URLs can be meant.

    Raises
    ------
    UsageError : something is no URL.
    """
    urls = []
    for each in page if is_list(page) and isinstance(page, Iterable) else [page]:
        if not isinstance(each, str) or not _URL.match(each):
            raise wrong("url", each, "give a URL that begins with http:// or https://")
        if fault := _url_fault(each):
            raise fault
        urls.append(each)
    return urls


def url_of(url: object) -> str:
    """Return the URL that was given, where only one can be meant.

    Raises
    ------
    UsageError : it is none, or several were given.
    """
    if is_list(url):
        raise wrong(
            "url", url, "give one URL, or call clean: it takes several, and its results have a snapshot"
        )
    return urls_of(url)[0]


def _source(page: object, url: object) -> Source:
    origin = _origin(url)
    if isinstance(page, str) and _URL.match(page):
        _refuse_url(origin, "a URL is its own address")
        return Source(page, _site(page, "rendered"), fault=_url_fault(page))
    if isinstance(page, Snapshot):
        _refuse_url(origin, "a Snapshot knows its address")
        return _of_snapshot(page)
    if isinstance(page, os.PathLike):
        path = Path(os.fspath(page))
        site = site_of(origin) if origin else str(path.parent)
        return Source(origin or str(path), _raw(site), cache(lambda: _read(path, origin or None)))
    if isinstance(page, str | bytes | bytearray):
        return _of_html(page, origin)
    raise wrong("page", page, f"give {_KINDS}")


def _origin(url: object) -> str:
    """Return the address that HTML came from, empty without one."""
    if url is None:
        return ""
    if isinstance(url, str) and place_of(url) and not _url_fault(url):
        return url
    raise wrong("url", url, "give the address that the HTML came from, with http:// or https://")


def _of_html(page: str | bytes | bytearray, url: str) -> Source:
    if isinstance(page, str) and not _MARKUP.search(page):
        return Source(url, fault=_no_markup(page))
    site = _raw(site_of(url) if url else _NO_ADDRESS)
    if isinstance(page, str):
        source, encoding = page.encode("utf-8", "replace"), "utf-8"
        return Source(url, site, cache(lambda: parse_html(source, url=url, encoding=encoding)))
    data = bytes(page)
    return Source(url, site, cache(lambda: parse_html(data, url=url)))


def _of_snapshot(page: Snapshot) -> Source:
    origin = page.provenance
    return Source(origin.url, _site(origin.url, origin.producer, origin.site), lambda: page)


def _site(url: str, producer: Producer, known: str = "") -> str:
    """Return what pages are grouped by: raw pages are never learned from together with rendered ones."""
    site = known or (site_of(url) if place_of(url) else str(Path(url).parent) if url else _NO_ADDRESS)
    return site if producer == "rendered" else f"{site} ({producer})"


def _raw(site: str) -> str:
    return f"{site} (raw)"


def _read(path: Path, url: str | None) -> Snapshot:
    if path.is_dir():
        raise TargetError(
            f"{path} is a folder; give its files, such as list(Path({str(path)!r}).rglob('*.html')).",
            parameter="page",
        )
    return read_html_file(path, url=url)


def _refuse_url(origin: str, why: str) -> None:
    if origin:
        raise UsageError(f"url says where HTML came from, and {why}; leave it out.", parameter="url")


def _url_fault(url: str) -> TargetError | None:
    if url.isprintable() and " " not in url:
        return None
    return TargetError(
        f"{_begin(url)} begins as a URL, but has characters that no URL has. "
        "Give HTML that begins so as bytes: page.encode().",
        parameter="page",
    )


def _no_markup(page: str) -> TargetError:
    return TargetError(
        f"{_begin(page)} is neither a URL nor HTML: it does not begin with http:// or https:// and has no tag. "
        "Give a file as Path(...), and HTML without tags as bytes.",
        parameter="page",
    )


def _begin(text: str) -> str:
    return ascii(text if len(text) <= 60 else f"{text[:59]}…")
