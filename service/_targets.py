"""Targets of a command: what the words on the command line mean.

A target is a URL, an HTML file, a folder of HTML files, or a page of the cache by its id or, for all its pages,
by the host name of their site.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from renderer import html_files
from snapshot import PageRecord, PageStore, TargetError

_ID = re.compile(r"[0-9a-f]{6,}")


@dataclass(frozen=True, slots=True)
class UrlTarget:
    """A page to be rendered, or taken from the cache when it was."""

    url: str


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A page from disk; `name` is its path below the folder that was given, without the ending."""

    path: Path
    name: str
    folder: Path


@dataclass(frozen=True, slots=True)
class CacheTarget:
    """A page of the cache."""

    record: PageRecord


Target = UrlTarget | FileTarget | CacheTarget


def find_targets(words: Iterable[str], store: PageStore) -> list[Target]:
    """Return the pages that `words` name, in their order, folders and sites in order of their pages' names.

    Raises
    ------
    TargetError : a word names nothing, or a folder holds no HTML file.
    """
    return [target for word in words for target in _find(word, store)]


def site_of(url: str) -> str:
    """Return the site of a URL: its host and, when it is not the usual one, port, in lower case."""
    return urlsplit(url).netloc.rpartition("@")[2].lower()


def output_name(url: str) -> str:
    """Return a file name for a URL: readable, safe on every system, distinct for distinct URLs."""
    words = re.sub(r"[^a-z0-9]+", "-", url.lower().partition("://")[2]).strip("-")[:60].strip("-")
    return f"{words}-{hashlib.blake2b(url.encode(), digest_size=4).hexdigest()}"


def _find(word: str, store: PageStore) -> list[Target]:
    if "://" in word:
        scheme = word.partition("://")[0].lower()
        if scheme not in {"http", "https"}:
            raise TargetError(f"{word}: only http and https pages are rendered; give a file by its path.")
        return [UrlTarget(word)]
    path = Path(word)
    if path.is_dir():
        files = html_files(path)
        if not files:
            raise TargetError(f"The folder {word} holds no .html, .htm or .xhtml file.")
        return [FileTarget(file, str(file.relative_to(path).with_suffix("")), path) for file in files]
    if path.is_file():
        return [FileTarget(path, path.stem, path.parent)]
    records = store.records(site=word.lower())
    if records:
        return [CacheTarget(record) for record in records]
    if _ID.fullmatch(word):
        return [CacheTarget(store.resolve(word))]
    raise TargetError(
        f"{word} is no URL, file or folder, and no page or site of the cache; "
        "`domsieve cache list` shows what the cache holds."
    )
