"""The pages of a run: find them from words without reading them, and read them later."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from domsieve.archive.reading import read_archive
from domsieve.archive.stored_page import DamagedPart, archives_below, is_archive
from domsieve.errors import ContentError, DomsieveError, TargetError
from domsieve.renderer.html_parser.content import file_origin
from domsieve.renderer.html_parser.parser import html_files
from domsieve.renderer.network.egress import is_web_address
from domsieve.snapshot.index import PageRecord
from domsieve.snapshot.store import PageStore
from domsieve.tasks.pages import Page, from_archive, from_file, from_record
from domsieve.tasks.sites import RAW, Placed
from domsieve.tasks.targets import ArchiveTarget, DamagedTarget, FileTarget, ListedWord, UrlTarget, site_of


@dataclass(frozen=True, slots=True)
class StoredTarget:
    """A page of a store.

    Parameters
    ----------
    root : folder of the store.
    record : the page.
    """

    root: Path
    record: PageRecord


PageTarget = UrlTarget | FileTarget | ArchiveTarget | StoredTarget | DamagedTarget


@dataclass(frozen=True, slots=True)
class Member:
    """A page of a shard.

    Parameters
    ----------
    target : the target to read it from.
    label : URL or path, for messages.
    site : pages with equal sites are learned from together.
    address : its address if that is known and the target does not contain it; else empty.
    keys : pages that share a key are the same page.
    """

    target: PageTarget
    label: str
    site: str
    address: str = ""
    keys: tuple[str, ...] = ()

    def page(self, store_at: Callable[[Path], PageStore], *, keep_errors: bool) -> Page:
        """Return the page, which is read on use.

        Parameters
        ----------
        store_at : returns the open store of a folder.
        keep_errors : whether to use it even if it counts as failed.
        """
        target = self.target
        if isinstance(target, FileTarget):
            page = from_file(target, Placed(self.site, self.address, self.keys))
        elif isinstance(target, ArchiveTarget):
            page = from_archive(target.page)
        elif isinstance(target, StoredTarget):
            page = from_record(target.record, store_at(target.root))
        else:
            raise TypeError(f"no page that can be read: {target}")
        return replace(page, label=self.label, keep_errors=keep_errors)

    @property
    def damage(self) -> DomsieveError | None:
        """The error if this is not a page, but a damaged part of an archive or a wrong line of a list; else None."""
        return self.target.error if isinstance(self.target, DamagedTarget) else None


_INDEX = "index.sqlite3"
Named = str | ListedWord
"""A word that stands for pages, or a line of a list."""


def members_of(words: Iterable[Named]) -> Iterator[Member]:
    """Yield the pages of words: files, archives, stores of captures, and folders of these.

    A wrong line of a list becomes a damaged page, so that the others are processed.

    Raises
    ------
    TargetError : a word does not stand for a page, or the page must be rendered first.
    """
    return _of_each(words, _below, are_paths=True)


def urls_of(words: Iterable[Named]) -> Iterator[Member]:
    """Yield the URLs of words; wrong lines of lists are treated like in `members_of`.

    Raises
    ------
    TargetError : a word is not a URL.
    """
    return _of_each(words, _url, are_paths=False)


def _of_each(
    words: Iterable[Named], find: Callable[[str], Iterator[Member]], *, are_paths: bool
) -> Iterator[Member]:
    for word in words:
        if isinstance(word, str):
            yield from find(word)
            continue
        try:
            if word.is_path is not are_paths:
                raise TargetError(
                    f"{word.word!a} is in a list of {'files' if word.is_path else 'addresses'}."
                )
            yield from find(word.word)
        except TargetError as error:
            yield Member(DamagedTarget(word.place, error), word.place, "")


def _url(word: str) -> Iterator[Member]:
    if not is_web_address(word):
        raise TargetError(f"{word!a} is not a URL with http:// or https://; only these can be rendered.")
    yield Member(UrlTarget(word), word, site_of(word))


def _below(word: str) -> Iterator[Member]:
    if "://" in word:
        raise TargetError(f"{word}: URLs are rendered by `bulk render`; then name its output folder here.")
    path = Path(word)
    try:
        is_folder, is_file = path.is_dir(), path.is_file()
    except OSError as error:
        raise TargetError(f"{word} cannot be looked up: {error.strerror}.") from error
    if is_file:
        yield from _archived(path) if is_archive(path) else [_filed(path, path.parent)]
        return
    if not is_folder:
        raise TargetError(f"{word!a} is neither a file nor a folder.")
    stores = _stores(path)
    if stores:
        for root in stores:
            yield from _stored(root)
        return
    files, archives = html_files(path), archives_below(path)
    if not (files or archives):
        raise TargetError(f"The folder {word} contains no HTML file, no archive and no store of captures.")
    for file in files:
        yield _filed(file, path)
    for archive in archives:
        yield from _archived(archive)


def _filed(path: Path, folder: Path) -> Member:
    origin = file_origin(path)
    target = FileTarget(path, folder)
    if origin and origin.address:
        site = f"{site_of(origin.address)} {RAW}"
        return Member(target, str(path), site, origin.address, origin.keys)
    inner = path.relative_to(folder).parts
    return Member(
        target,
        str(path),
        str(folder / inner[0]) if len(inner) > 1 else str(folder),
        keys=origin.keys if origin else (),
    )


def _archived(path: Path) -> Iterator[Member]:
    for number, found in enumerate(read_archive(path)):
        if isinstance(found, DamagedPart):
            error = ContentError(found.message, stage="read")
            yield Member(DamagedTarget(found.label, error), found.label, f"{path} (damaged)")
        else:
            # An archive may contain many captures of one address.
            yield Member(
                ArchiveTarget(found),
                f"{path}#{number} {found.url}",
                f"{site_of(found.url)} {RAW}",
                keys=(f"raw {found.url}",),
            )


def _stores(folder: Path) -> list[Path]:
    """Return the stores in a folder, or the folder itself if it is a store."""
    if (folder / _INDEX).is_file():
        return [folder]
    return sorted(inner.parent for inner in folder.glob(f"*/{_INDEX}"))


def _stored(root: Path) -> Iterator[Member]:
    """Yield the newest capture of each page of a store."""
    with PageStore(root) as store:
        pages = (record for record in store.each_record() if record.producer != "unscripted" and record.site)
        for _, captures in groupby(pages, key=lambda record: record.url):
            *_, record = captures
            keys = (f"{record.producer} {record.url}",)
            yield Member(StoredTarget(root, record), record.url, record.site, keys=keys)
