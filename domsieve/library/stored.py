"""Pages of files, folders and archives, one after another. Imports archives, the raw reader and the checks."""

import logging
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from domsieve.archive.packed import unpacked
from domsieve.archive.reading import read_archive
from domsieve.archive.stored_page import Body, DamagedPart, StoredPage, archives_below, is_archive
from domsieve.budget import spending
from domsieve.errors import TargetError
from domsieve.library.checks import path_of
from domsieve.renderer.html_parser.content import file_origin
from domsieve.renderer.html_parser.parser import html_files

logger = logging.getLogger("domsieve")


def pages(path: str | os.PathLike[str]) -> Iterator[StoredPage]:
    """Yield the pages of an HTML file, of a WARC or WACZ archive, or of all of these in and below a folder.

    Each page has a `url`, a `status`, a `content_type`, the time it was `captured_at`, its `headers` and its `source`
    as bytes, and is taken by `clean` and `records`. What it holds is read when it is asked for, so that many can be
    held. Pages of archives are HTML answers, errors of servers among them; revisits come last. Damaged parts of an
    archive are told by a warning of the logger ``domsieve`` and skipped.

    Parameters
    ----------
    path : the file or folder. Archives are known by their names: ``.warc``, ``.warc.gz``, ``.warc.zst``,
        ``.wacz``.

    Raises
    ------
    UsageError : `path` is no path.
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
