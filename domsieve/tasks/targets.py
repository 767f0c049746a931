"""Targets of a command: what the words on the command line mean.

A target is a URL, an HTML file, a web archive, a folder of both, or a page of the cache by its id or, for all its
pages, by the host name of their site.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from domsieve.archive import DamagedPart, StoredPage, archives_below, is_archive, read_archive
from domsieve.errors import ContentError, PageError, TargetError, UnknownPageError
from domsieve.renderer import file_stem, html_files
from domsieve.snapshot import PageRecord, PageStore

_ID = re.compile(r"[0-9a-f]{6,}")


@dataclass(frozen=True, slots=True)
class UrlTarget:
    """A page to be rendered, or taken from the cache when it was."""

    url: str


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A page from disk; `name` is its path below the folder that was given.

    It has no ending, unless another page of the folder, such as a.htm beside a.html, has the name without.
    """

    path: Path
    name: str
    folder: Path


@dataclass(frozen=True, slots=True)
class CacheTarget:
    """A page of the cache."""

    record: PageRecord


@dataclass(frozen=True, slots=True)
class ArchiveTarget:
    """A page of an archive, which is read when it is worked on."""

    page: StoredPage


@dataclass(frozen=True, slots=True)
class DamagedTarget:
    """A part of an archive that cannot be read; `label` says which."""

    label: str
    error: PageError


Target = UrlTarget | FileTarget | ArchiveTarget | DamagedTarget | CacheTarget


def find_targets(words: Iterable[str], store: PageStore) -> list[Target]:
    """Return the pages that `words` name, in their order, folders and sites in order of their pages' names.

    A site stands for the newest capture of each of its pages.

    Raises
    ------
    TargetError : a word names nothing, or a folder holds neither an HTML file nor an archive.
    """
    return [target for word in words for target in _find(word, store)]


def site_of(url: str) -> str:
    """Return the site of a URL: its host and, when it is not the usual one, port, in lower case."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return host.removesuffix(":443" if parts.scheme == "https" else ":80")


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
    if word.partition("://")[0].lower() not in {"http", "https"}:
        raise TargetError(f"{word}: only http and https pages are rendered; give a file by its path.")
    return UrlTarget(word)


def _on_disk(word: str) -> list[Target]:
    path = Path(word)
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError as error:
        raise TargetError(f"{word} cannot be looked up: {error.strerror}.") from error
    if is_file and is_archive(path):
        return _in_archive(path)
    if is_file:
        return [FileTarget(path, file_stem(path).name, path.parent)]
    if not is_folder:
        return []
    files, archives = html_files(path), archives_below(path)
    if not (files or archives):
        raise TargetError(f"The folder {word} holds no .html, .htm or .xhtml file and no archive.")
    firsts: dict[Path, Path] = {}
    for file in files:
        firsts.setdefault(file_stem(file), file)
    names = {file: name for name, file in firsts.items()}
    return [
        *(FileTarget(file, str(names.get(file, file).relative_to(path)), path) for file in files),
        *(target for archive in archives for target in _in_archive(archive)),
    ]


def _in_archive(path: Path) -> list[Target]:
    """Return the pages of an archive by where they stand in it, and what of it is damaged."""
    return [
        DamagedTarget(found.label, ContentError(found.message, stage="read"))
        if isinstance(found, DamagedPart)
        else ArchiveTarget(found)
        for found in read_archive(path)
    ]


def _in_cache(word: str, store: PageStore) -> list[CacheTarget]:
    records = [record for record in store.records(site=word.lower()) if record.producer != "unscripted"]
    if records:
        return [CacheTarget(record) for record in {record.url: record for record in records}.values()]
    if _ID.fullmatch(word):
        return [CacheTarget(store.resolve(word))]
    raise UnknownPageError(f"{word} is not a URL, a file, a folder, or a page or site in the cache.")
