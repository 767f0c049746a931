"""Targets: the pages that the words on a command line stand for.

A word is a URL, an HTML file, a web archive, a folder of such files, a feed or a sitemap (for the pages that it
lists), the id of a page in the cache, or the host name of a site in the cache (for all its pages).
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from domsieve.archive.stored_page import DamagedPart, StoredPage, archives_below, is_archive
from domsieve.errors import ContentError, DomsieveError, PageError, TargetError, UnknownPageError, UsageError
from domsieve.options import Scope
from domsieve.renderer.html_parser.parser import html_files
from domsieve.renderer.network.addresses import parse_host
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.urls import has_web_scheme, meant, split_url

_ID = re.compile(r"[0-9a-f]{6,}")
_LISTINGS = (".atom", ".gz", ".rdf", ".rss", ".xml")


@dataclass(frozen=True, slots=True)
class UrlTarget:
    """A page to render, or to take from the cache.

    Parameters
    ----------
    url : the address, http or https.
    listed_by : the feed or sitemap that lists it; empty if the caller named the page.
    may_be_private : the caller typed the address, so its host may be private.
    """

    url: str
    listed_by: str = ""
    may_be_private: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A page from disk; `folder` is the given folder, or that of the given file."""

    path: Path
    folder: Path


@dataclass(frozen=True, slots=True)
class CacheTarget:
    """A page of the cache."""

    record: PageRecord


@dataclass(frozen=True, slots=True)
class ArchiveTarget:
    """A page of an archive; it is read when it is needed."""

    page: StoredPage


@dataclass(frozen=True, slots=True)
class DamagedTarget:
    """A part of an archive, a line of a list or a page of the cache that cannot be used; `label` says which."""

    label: str
    error: DomsieveError


@dataclass(frozen=True, slots=True)
class PipedTarget:
    """A page from standard input."""

    source: bytes


Target = UrlTarget | FileTarget | ArchiveTarget | DamagedTarget | PipedTarget | CacheTarget


@dataclass(frozen=True, slots=True)
class ListedWord:
    """A line of a list, which a stranger may have written.

    Parameters
    ----------
    word : the line.
    place : the name of the list and the line.
    is_path : it names a file or folder; otherwise it is an address.
    """

    word: str
    place: str
    is_path: bool = field(default=False, kw_only=True)


Word = str | ListedWord | Target
"""A word that a caller wrote, or a target that was made from it."""

Outcomes = dict[str, PageRecord | DomsieveError]


@dataclass(frozen=True, slots=True)
class Fetched:
    """Targets with the captures and errors of those that had to be fetched.

    Parameters
    ----------
    targets : the targets in order, with feeds and sitemaps replaced by the pages that they list.
    outcomes : by label: the capture or the error of every URL, and the errors of damaged targets.
    """

    targets: list[Target]
    outcomes: Outcomes = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """The number of pages that could not be fetched or read."""
        return sum(isinstance(outcome, DomsieveError) for outcome in self.outcomes.values())


def find_targets(words: Iterable[Word], store: PageStore) -> list[Target]:
    """Return the pages that `words` stand for, in order; pages of folders and sites are sorted by name.

    A site stands for the newest capture of each of its pages, and the file of a feed or sitemap for the pages that it
    lists. A line of a list stands for an address, or for files if the caller says so. A wrong line becomes a damaged
    target, so that the others are processed.

    Raises
    ------
    TargetError : a word has no meaning, or a folder contains neither an HTML file nor an archive.
    """
    found: list[Target] = []
    for word in words:
        if isinstance(word, ListedWord):
            try:
                found += _of_line(word)
            except TargetError as error:
                found.append(DamagedTarget(word.place, error))
        else:
            found += _find(word, store) if isinstance(word, str) else [word]
    return found


def within(targets: Iterable[Target], scope: Scope) -> list[Target]:
    """Return the targets without pages of sites, feeds, sitemaps and archives that are outside the scope.

    Files, and addresses that the caller gave, stay.

    Raises
    ------
    UsageError : no page is left.
    """
    given = list(targets)
    left = [target for target in given if not (url := _found_url(target)) or scope.has(_path_of(url))]
    if given and not left:
        raise UsageError(
            f"None of {len(given):,} pages has a path that matches; give patterns of the whole path, "
            "such as '/docs/*'.",
            parameter="include",
        )
    return left


def _found_url(target: Target) -> str:
    """Return the address of a page that the caller did not name; empty for others."""
    if isinstance(target, CacheTarget):
        return target.record.url
    if isinstance(target, ArchiveTarget):
        return target.page.url
    return target.url if isinstance(target, UrlTarget) and target.listed_by else ""


def _path_of(url: str) -> str:
    return "/" + url.partition("://")[2].partition("/")[2]


def site_of(url: str) -> str:
    """Return the site of a URL: the host as browsers write it, and the port if it is not the default."""
    parts = urlsplit(url)
    default = 443 if parts.scheme == "https" else 80
    try:
        host, port = str(parse_host(parts.hostname or "")), parts.port
    except ValueError:
        return parts.netloc.rpartition("@")[2].lower().removesuffix(f":{default}")
    return (f"[{host}]" if ":" in host else host) + ("" if port in {None, default} else f":{port}")


_DOUBTS = "doubts"  # of what is known about a site


def doubt(urls: Iterable[str], capture: str, site: str, store: PageStore) -> None:
    """Record that captures of pages that were only fetched may lack something: another page has shown it since.

    Parameters
    ----------
    capture : their `PageRecord.capture`.
    """
    for url in urls:
        store.add_evidence(site, _DOUBTS, _doubted(capture, url))


def is_doubtful(record: PageRecord, store: PageStore) -> bool:
    """Return whether a page was only fetched, and `doubt` was recorded of it since then."""
    if record.producer != "raw":
        return False
    since = datetime.fromisoformat(record.captured_at) if record.captured_at else None
    return _doubted(record.capture, record.url) in store.evidence(site_of(record.url), _DOUBTS, since=since)


def _doubted(capture: str, url: str) -> bytes:
    return f"{capture} {url}".encode("utf-8", "replace")


def output_name(url: str) -> str:
    """Return a file name for a URL: readable, safe on every system, distinct for distinct URLs."""
    words = re.sub(r"[^a-z0-9]+", "-", url.lower().partition("://")[2]).strip("-")[:60].strip("-")
    return f"{words}-{hashlib.blake2b(url.encode(), digest_size=4).hexdigest()}".lstrip("-")


def _find(word: str, store: PageStore) -> Sequence[Target]:
    if "://" not in word:
        on_disk = _on_disk(word)
        if on_disk:
            return on_disk
    if not word.isprintable():
        raise TargetError(f"{word!a} is not a file or folder, and has characters that no address can have.")
    return [_url(word)] if "://" in word else _in_cache(word, store)


def _url(word: str) -> UrlTarget:
    if not has_web_scheme(word):
        raise TargetError(f"{word}: only http and https pages are rendered; give a file by its path.")
    return UrlTarget(word, may_be_private=True)


def _of_line(line: ListedWord) -> Sequence[Target]:
    if not line.word.isprintable():
        raise TargetError(f"{line.word!a} has characters that no address and no name of a file should have.")
    if line.is_path:
        if found := _on_disk(line.word):
            return found
        raise TargetError(f"{line.word} is neither a file nor a folder.")
    if not has_web_scheme(line.word):
        raise TargetError(
            f"{line.word}: only http and https addresses are read from lists.", parameter="input_paths"
        )
    return [UrlTarget(line.word)]


def _on_disk(word: str) -> list[Target]:
    path = Path(word)
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError as error:
        raise TargetError(f"{word} cannot be looked up: {error.strerror}.") from error
    if is_file and is_archive(path):
        return _in_archive(path)
    if is_file:
        return _listed_in(path) or [FileTarget(path, path.parent)]
    if not is_folder:
        return []
    files, archives = html_files(path), archives_below(path)
    if not (files or archives):
        raise TargetError(f"The folder {word} contains no .html, .htm or .xhtml file and no archive.")
    return [
        *(FileTarget(file, path) for file in files),
        *(target for archive in archives for target in _in_archive(archive)),
    ]


def _listed_in(path: Path) -> list[Target]:
    """Return the pages that a feed or a sitemap lists; empty if the file is neither or cannot be read."""
    if not path.name.lower().endswith(_LISTINGS):
        return []
    try:
        from domsieve.renderer.sampling.sitemap import listing_in

        listing = listing_in(path.read_bytes())
    except OSError:
        return []  # the error appears when it is read as a page
    if listing is None:
        return []
    urls = [url for url in (*listing.sitemaps, *listing.pages) if has_web_scheme(url)]
    if not urls:
        raise TargetError(f"{path} is a feed or a sitemap that lists no http or https address.")
    return [UrlTarget(url, str(path)) for url in urls]


def _in_archive(path: Path) -> list[Target]:
    """Return the pages of an archive in their order, and its damaged parts."""
    from domsieve.archive.reading import read_archive

    return [
        DamagedTarget(found.label, ContentError(found.message, stage="read"))
        if isinstance(found, DamagedPart)
        else ArchiveTarget(found)
        for found in read_archive(path)
    ]


_DOUBTFUL = """\
It was only fetched, and another page of the site has shown since then that such pages need a browser: give its \
address to load it again."""


def _in_cache(word: str, store: PageStore) -> list[Target]:
    url = split_url(f"http://{word}")
    site = site_of(url.geturl()) if url and url.netloc == word else word.lower()
    records = [record for record in store.records(site=site) if record.producer != "unscripted"]
    if records:
        # The newest of each page, and a rendered one rather than one that was only fetched.
        newest: dict[str, PageRecord] = {}
        for record in records:
            if record.producer == "rendered" or newest.get(record.url, record).producer != "rendered":
                newest[record.url] = record
        return [
            DamagedTarget(record.url, PageError(_DOUBTFUL, url=record.url))
            if is_doubtful(record, store)
            else CacheTarget(record)
            for record in newest.values()
        ]
    if _ID.fullmatch(word):
        return [CacheTarget(store.resolve(word))]
    raise UnknownPageError(
        f"{word} is not a URL, a file, a folder, or a page or site in the cache.{meant(word)}"
    )
