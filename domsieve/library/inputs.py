"""Pages as callers give them: URLs, HTML, files, pages of archives and Snapshots; and which of them are one site."""

import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from domsieve.archive.packed import unpacked
from domsieve.archive.reading import read_archive
from domsieve.archive.stored_page import Body, DamagedPart, StoredPage, archives_below, is_archive
from domsieve.budget import spending
from domsieve.declaration import wrong
from domsieve.errors import DomsieveError, TargetError, UsageError
from domsieve.library._checks import path_of
from domsieve.renderer.html_parser.content import PageOrigin, file_origin, source_origin
from domsieve.renderer.html_parser.parser import html_files, parse_html, read_html_file
from domsieve.renderer.network.egress import place_of
from domsieve.snapshot.page import Producer, Snapshot
from domsieve.snapshot.pixels import has_pixels
from domsieve.tasks.sites import RAW, Placed, placed, read_stored
from domsieve.tasks.targets import site_of
from domsieve.urls import has_web_scheme

logger = logging.getLogger("domsieve")


def pages(path: str | os.PathLike[str]) -> Iterator[StoredPage]:
    """Yield the pages of an HTML file, of a WARC or WACZ archive, or of all such files in a folder and below it.

    Pass the pages to `clean` or `records`. Each has a `url`, a `status`, a `content_type`, a time `captured_at`,
    `headers`, and its `source` as bytes. The source is read when it is used, so a list of pages needs little memory.
    Pages of archives are HTML responses, including error pages; revisits come last. Damaged parts of an archive are
    skipped with a warning of the logger ``domsieve``.

    Parameters
    ----------
    path : the file or folder. The names of archives end in ``.warc``, ``.warc.gz``, ``.warc.zst`` or ``.wacz``.

    Raises
    ------
    UsageError : `path` is not a path.
    TargetError : it cannot be read, or a folder contains no page.
    """
    return _pages(path_of("path", path))


def _pages(path: Path) -> Iterator[StoredPage]:
    if not path.is_dir():
        yield from _in_archive(path) if is_archive(path) else [_in_file(path)]
        return
    files, archives = html_files(path), archives_below(path)
    if not (files or archives):
        raise TargetError(f"The folder {path} contains no .html, .htm or .xhtml file and no archive.")
    yield from map(_in_file, files)
    for archive in archives:
        yield from _in_archive(archive)


def _in_archive(path: Path) -> Iterator[StoredPage]:
    for found in read_archive(path):
        if isinstance(found, DamagedPart):
            logger.warning("%s: %s", found.label, found.message)
        else:
            yield found


def _in_file(path: Path) -> StoredPage:
    origin = file_origin(path)
    url = origin.address if origin else ""
    return StoredPage(url, str(path), None, "", "", partial(_body, path))


def _body(path: Path) -> Body:
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise TargetError(f"Cannot read the page '{path}': {error.strerror}.", stage="read") from error
    with spending("read", str(path)):
        source, cuts = unpacked(packed, path)
    return Body(source, {}, tuple(cuts))


PageInput = str | bytes | os.PathLike[str] | Snapshot | StoredPage
"""One page: a URL or HTML as str, HTML as bytes, a file as Path, a Snapshot, or one that `pages` yields."""

_MARKUP = re.compile(r"<[A-Za-z/!?]")
_NO_ADDRESS = "HTML without an address"
_KINDS = "a URL, HTML as str or bytes, a Path, a Snapshot, a page of pages(), or a list of these"


@dataclass(frozen=True, slots=True)
class Source:
    """A page as the caller gave it.

    Parameters
    ----------
    label : its address or file; empty for HTML without an address.
    site : pages with equal sites are learned from together.
    load : reads the page, once; None for URLs, which must be fetched.
    keys : pages that share a key are the same page.
    fault : why it cannot be used; None if it can.
    has_pixels : whether it is a Snapshot of which pictures were taken.
    """

    label: str
    site: str = ""
    load: Callable[[], Snapshot] | None = None
    keys: tuple[str, ...] = ()
    fault: DomsieveError | None = None
    has_pixels: bool = False


@dataclass(frozen=True, slots=True)
class _Unplaced:
    """A page whose site can be determined only when all pages are known.

    Parameters
    ----------
    label : see `Source`.
    folder : its folder; pages without an address can only be of one site with others of the same folder.
    origin : returns the origin that its source states.
    read : reads the page; its argument is the address, or empty.
    """

    label: str
    folder: str
    origin: Callable[[], PageOrigin | None]
    read: Callable[[str], Snapshot]


def is_list(page: object) -> bool:
    """Return whether the caller gave several pages; files, responses and trees of other libraries are not lists."""
    if isinstance(page, str | bytes | bytearray | os.PathLike | Snapshot | Mapping):
        return False
    return isinstance(page, Iterable) and not any(hasattr(page, name) for name in ("read", "text"))


def sources_of(page: object, url: object = None) -> list[Source]:
    """Return the pages that the caller gave, in order.

    Parameters
    ----------
    page : a page, or an iterable of pages.
    url : the address of HTML; for several pages, a sequence of equal length with None for pages without an address.

    Raises
    ------
    UsageError : something does not have the type of a page, or `url` does not match the pages.
    """
    if not is_list(page):
        return _all_placed([_source(page, url)])
    assert isinstance(page, Iterable)
    pages = list(page)
    if url is None:
        return _all_placed([_source(each, None) for each in pages])
    if isinstance(url, str) or not isinstance(url, Sequence) or len(url) != len(pages):
        raise wrong(
            "url", url, f"give a list of {len(pages)} addresses, one for each page, None where there is none"
        )
    return _all_placed([_source(each, its_url) for each, its_url in zip(pages, url, strict=True)])


def urls_of(page: object) -> list[str]:
    """Return the URLs that the caller gave, in order, for calls that take only URLs.

    Raises
    ------
    UsageError : something is not a URL.
    """
    urls = []
    for each in page if is_list(page) and isinstance(page, Iterable) else [page]:
        if not isinstance(each, str) or not has_web_scheme(each):
            raise wrong("url", each, "give a URL that begins with http:// or https://")
        if fault := _url_fault(each):
            raise fault
        urls.append(each)
    return urls


def url_of(url: object) -> str:
    """Return the URL that the caller gave, for calls that take only one.

    Raises
    ------
    UsageError : it is not a URL, or there are several.
    """
    if is_list(url):
        raise wrong(
            "url", url, "give one URL, or call clean: it takes several, and its results have a snapshot"
        )
    return urls_of(url)[0]


def _all_placed(pages: Sequence[Source | _Unplaced]) -> list[Source]:
    """Return the pages with their sites, in order."""
    unplaced = [page for page in pages if isinstance(page, _Unplaced)]
    places = iter(placed([(page.folder, page.origin) for page in unplaced]))
    return [page if isinstance(page, Source) else _placed(page, next(places)) for page in pages]


def _placed(page: _Unplaced, place: Placed) -> Source:
    return Source(page.label, place.site, cache(partial(page.read, place.address)), place.keys)


def _source(page: object, url: object) -> Source | _Unplaced:
    origin = _origin(url)
    if isinstance(page, str) and has_web_scheme(page):
        _refuse_url(origin, "a URL is its own address")
        return Source(page, _site(page, "rendered"), keys=(f"rendered {page}",), fault=_url_fault(page))
    if isinstance(page, Snapshot):
        _refuse_url(origin, "a Snapshot knows its address")
        return _of_snapshot(page)
    if isinstance(page, StoredPage):
        _refuse_url(origin, "a stored page knows its address")
        return _of_stored(page)
    if isinstance(page, os.PathLike):
        path = Path(os.fspath(page))
        return _Unplaced(
            origin or str(path),
            f"{path.parent} {RAW}",
            partial(file_origin, path, url=origin),
            lambda address: _read(path, address or None),
        )
    if isinstance(page, str | bytes | bytearray):
        return _of_html(page, origin)
    raise wrong("page", page, f"give {_KINDS}")


def _origin(url: object) -> str:
    """Return the address of HTML; empty without one."""
    if url is None:
        return ""
    if isinstance(url, str) and place_of(url) and not _url_fault(url):
        return url
    raise wrong("url", url, "give the address that the HTML came from, with http:// or https://")


def _of_html(page: str | bytes | bytearray, url: str) -> Source | _Unplaced:
    if isinstance(page, str) and not _MARKUP.search(page):
        return Source(url, fault=_no_markup(page))
    data, encoding = (
        (page.encode("utf-8", "replace"), "utf-8") if isinstance(page, str) else (bytes(page), None)
    )
    return _Unplaced(
        url,
        f"{_NO_ADDRESS} {RAW}",
        partial(source_origin, data, url=url),
        lambda address: parse_html(data, url=address, encoding=encoding),
    )


def _of_stored(page: StoredPage) -> _Unplaced:
    def origin() -> PageOrigin | None:
        try:
            return source_origin(page.source, url=page.url)
        except DomsieveError:  # the error appears when the page is read
            return None

    return _Unplaced(
        page.label,
        f"{Path(page.label).parent} {RAW}",
        origin,
        lambda address: read_stored(page, address=address),
    )


def _of_snapshot(page: Snapshot) -> Source:
    origin = page.provenance
    keys = (page.digest(), *([f"{origin.producer} {origin.url}"] if origin.url else []))
    site = _site(origin.url, origin.producer, origin.site)
    return Source(origin.url, site, lambda: page, keys, has_pixels=has_pixels(page))


def _site(url: str, producer: Producer, known: str = "") -> str:
    """Return the key of a site; raw pages are never learned from together with rendered ones."""
    site = known or (site_of(url) if place_of(url) else str(Path(url).parent) if url else _NO_ADDRESS)
    return site if producer == "rendered" else f"{site} ({producer})"


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
