"""What a folder remembers between runs, in its subfolder ``.domsieve``.

    state.json       settings, and what is known about each page; a run counts once this file is written
    pages/           the passages of each page, and which of its nodes were kept, named by hashes of their content
    models/          site models, named likewise
    captures/        a store of the latest captures

Files that are named by hashes are written before the state that names them. The manifest is written after it; a run
that finds them in disagreement writes the manifest again.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self, get_args

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from domsieve.analysis.changes.passages import Passage
from domsieve.analysis.model_file import model_from_bytes, model_to_bytes
from domsieve.analysis.site_model import SiteModel
from domsieve.errors import DamagedFileError, FormatVersionError, UsageError
from domsieve.files import digest_of
from domsieve.options import Scope
from domsieve.tasks.manifest import PageEntry
from domsieve.tasks.page_folder import PageFolder
from domsieve.types import SyncFormat
from domsieve.urls import has_web_scheme, split_url

OWN = ".domsieve"
"""The subfolder."""
CAPTURES = "captures"
Loaded = Literal["rendered", "fetched"]

_STATE, _PAGES, _MODELS = f"{OWN}/state.json", f"{OWN}/pages", f"{OWN}/models"
_VERSION = 1
_MOST_KNOWN = 10_000
_MOST_PAGE_BYTES = 200_000_000


class SyncSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the first run decides for all later ones.

    Parameters
    ----------
    source : address of the first page of the site.
    format : what the files hold.
    include, exclude, depth : see `Scope`.
    pages : maximum number of pages.
    """

    source: str
    format: SyncFormat = "markdown"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    depth: int = Scope().depth
    pages: int = 10_000

    @classmethod
    def of(cls, source: str, **chosen: Any) -> Self:
        """Return the settings for the address of a site.

        Parameters
        ----------
        source : http or https.
        chosen : other settings; those that are None are at their defaults.

        Raises
        ------
        UsageError : it is not an address, or contains a password, or a setting is wrong.
        """
        parts = split_url(source) if has_web_scheme(source) else None
        if parts is None or not parts.hostname:
            raise UsageError(f"{source!a} is not the http or https address of a site.")
        if "@" in parts.netloc:
            raise UsageError(
                "The address contains a password, which would get into the folder; give a header such as "
                "'Authorization: Basic …' instead."
            )
        given = {name: value for name, value in chosen.items() if value is not None}
        settings = cls(source=parts._replace(path=parts.path or "/").geturl(), **given)
        if settings.format not in get_args(SyncFormat):
            raise UsageError(
                f"format is one of {', '.join(get_args(SyncFormat))}, not {settings.format!a}.",
                parameter="format",
            )
        if settings.pages < 1:
            raise UsageError(f"pages must be 1 or more, not {settings.pages}.", parameter="pages")
        settings.scope  # noqa: B018 (checks its values)
        return settings

    @property
    def scope(self) -> Scope:
        """The pages that are visited."""
        return Scope(include=self.include, exclude=self.exclude, depth=self.depth)


class SyncFile(msgspec.Struct, frozen=True):
    """A file that a page loaded, such as data that its scripts requested; see `LoadedFile`.

    Parameters
    ----------
    url, status : address and HTTP status.
    etag, last_modified : one of its validators; empty if it has none.
    digest : hash of its content, if it has no validators; empty if it is not known yet.
    """

    url: str
    status: int
    etag: str = ""
    last_modified: str = ""
    digest: str = ""


class SyncPage(msgspec.Struct, kw_only=True):
    """What is known about a page.

    Parameters
    ----------
    file : its file in the folder.
    first_seen, last_changed : UTC times, ISO 8601.
    content_hash : hash of what was written to the file.
    passages : name of the file with its `Kept`.
    capture : id of its latest capture in the store.
    loaded : how that was made.
    needs_browser : whether the page needs a browser.
    source_hash : hash of the raw source, as it was last fetched or rendered.
    etag, last_modified : validators of the last response; None if it had none.
    listed_at : when the sitemap or the feed says that the page was last changed; empty if it does not.
    template : hash of the outline of its elements.
    expected_f1 : see `Verdict`; None if it is not known.
    missing : number of successive runs in which it was missing.
    numbers : of places where only numbers changed: in how many successive runs, and in which run last.
    known : hashes of places of the page that change by themselves.
    files : what a page that needs a browser depends on besides its source; None if that is not known.
    """

    file: str
    first_seen: str
    last_changed: str
    content_hash: str
    passages: str
    capture: str
    loaded: Loaded
    needs_browser: bool = True
    source_hash: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    listed_at: str = ""
    template: str = ""
    expected_f1: float | None = None
    missing: int = 0
    numbers: dict[str, tuple[int, int]] = {}
    known: list[str] = []
    files: list[SyncFile] | None = None


class State(msgspec.Struct, kw_only=True):
    """What a folder remembers.

    Parameters
    ----------
    settings : of the first run.
    run : number of finished runs.
    finished : when the last one ended, UTC, ISO 8601.
    pages : by address.
    models : names of the files of the site models, by how pages were loaded; and how many pages they have learned.
    known : hashes of texts of the site that change by themselves, the latest last.
    trusts_validators : whether sitemaps and validators are believed; False once one of them was wrong.
    version : of the format.
    """

    settings: SyncSettings
    run: int = 0
    finished: str = ""
    pages: dict[str, SyncPage] = {}
    models: dict[Loaded, tuple[str, int]] = {}
    known: list[str] = []
    trusts_validators: bool = True
    version: int = _VERSION

    def remember(self, known: Iterable[str]) -> None:
        """Remember hashes of texts that change by themselves; the oldest are forgotten."""
        self.known = list(dict.fromkeys([*self.known, *sorted(known)]))[-_MOST_KNOWN:]

    def entries(self) -> list[PageEntry]:
        """Return the manifest."""
        return [
            PageEntry(
                url=url,
                file=page.file,
                format=self.settings.format,
                first_seen=page.first_seen,
                last_changed=page.last_changed,
                content_hash=page.content_hash,
                source_hash=page.source_hash,
                etag=page.etag,
                last_modified=page.last_modified,
                needs_browser=page.needs_browser,
                template=page.template or None,
                expected_f1=page.expected_f1,
            )
            for url, page in self.pages.items()
        ]


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a page.

    Parameters
    ----------
    passages : its passages, with ids.
    kept : the nodes of the capture that were kept, as bits.
    nodes : how many nodes the capture has.
    """

    passages: tuple[Passage, ...]
    kept: bytes
    nodes: int

    @classmethod
    def of(cls, passages: Iterable[Passage], kept: NDArray[np.bool_]) -> "Kept":
        """Return the content of a page of N nodes; `kept` has the shape (N,)."""
        return cls(passages=tuple(passages), kept=np.packbits(kept).tobytes(), nodes=kept.size)

    @property
    def nodes_kept(self) -> NDArray[np.bool_]:
        """The nodes that were kept, (N,)."""
        return np.unpackbits(np.frombuffer(self.kept, np.uint8), count=self.nodes).astype(np.bool_)

    def with_passages(self, passages: Iterable[Passage]) -> "Kept":
        """Return the same nodes with other passages."""
        return msgspec.structs.replace(self, passages=tuple(passages))


class Memory:
    """Reads and writes what a folder remembers.

    Parameters
    ----------
    folder : the folder, open.
    """

    def __init__(self, folder: PageFolder) -> None:
        self._folder = folder

    @property
    def captures(self) -> Path:
        """The folder of the store of captures."""
        return self._folder.root / OWN / CAPTURES

    def state(self) -> State | None:
        """Return what the folder remembers; None before the first run has finished.

        Raises
        ------
        DamagedFileError, FormatVersionError : the file is damaged, or was written by a newer version of domsieve.
        """
        data = self._folder.read(_STATE)
        if data is None:
            return None
        name = str(self._folder.root / _STATE)
        try:
            version = msgspec.json.decode(data, type=dict[str, Any]).get("version")
            if isinstance(version, int) and version > _VERSION:
                raise FormatVersionError(
                    f"{name} has format {version}, but this version of domsieve reads formats up to {_VERSION}; "
                    "update domsieve or give another folder."
                )
            return msgspec.json.decode(data, type=State)
        except (msgspec.DecodeError, RecursionError) as error:
            raise DamagedFileError(
                f"{name} cannot be read ({error}); restore it or give another folder."
            ) from error

    def write(self, state: State) -> None:
        """Write the state; from now on the run counts."""
        self._folder.write_own(_STATE, msgspec.json.encode(state))

    def kept(self, name: str) -> Kept:
        """Return the content of a page.

        Raises
        ------
        DamagedFileError : its file is missing or damaged.
        """
        path = f"{_PAGES}/{name}"
        data = self._folder.read(path)
        try:
            if data is None:
                raise ValueError("it is missing")
            packed = zstandard.ZstdDecompressor().decompress(data, max_output_size=_MOST_PAGE_BYTES)
            if digest_of(packed) != name:
                raise ValueError("it has changed")
            return msgspec.msgpack.decode(packed, type=Kept)
        except (ValueError, zstandard.ZstdError, msgspec.DecodeError) as error:
            raise DamagedFileError(
                f"{self._folder.root / path} cannot be used: {error}; restore it or give another folder."
            ) from error

    def keep(self, kept: Kept) -> str:
        """Write the content of a page, and return the name of its file."""
        return self._write(_PAGES, msgspec.msgpack.encode(kept), pack=True)

    def model(self, name: str) -> SiteModel[Any]:
        """Return a site model.

        Raises
        ------
        DamagedFileError : its file is missing or damaged.
        """
        path = f"{_MODELS}/{name}"
        return model_from_bytes(self._folder.read(path) or b"", name=str(self._folder.root / path))

    def keep_model(self, model: SiteModel[Any]) -> str:
        """Write a site model, and return the name of its file."""
        return self._write(_MODELS, model_to_bytes(model), pack=False)

    def forget_unused(self, state: State) -> None:
        """Remove files that the state does not name."""
        used = {page.passages for page in state.pages.values()} | {name for name, _ in state.models.values()}
        for place in (_PAGES, _MODELS):
            folder = self._folder.root / place
            with suppress(OSError):
                for path in folder.iterdir():
                    if path.name not in used and not path.is_symlink():
                        path.unlink(missing_ok=True)

    def _write(self, place: str, data: bytes, *, pack: bool) -> str:
        name = digest_of(data)
        path = f"{place}/{name}"
        if self._folder.read(path) is None:
            self._folder.write_own(path, zstandard.compress(data, 3) if pack else data)
        return name


def settled(
    given: SyncSettings | None, state: State | None, *, chosen: Iterable[str], folder: str
) -> SyncSettings:
    """Return the settings of a run. They can be changed until a run has finished.

    Parameters
    ----------
    given : what the caller says; None if the folder is all that is known.
    state : what the folder remembers; None before the first run.
    chosen : the names of settings that the caller gave; the others are at their defaults.
    folder : the folder, for messages.

    Raises
    ------
    UsageError : what the caller says contradicts the first run, or there was none and no address is given.
    """
    if state is None:
        if given is None:
            raise UsageError(
                f"{folder} was not made by an earlier run; give the address of a site, and this folder for its pages."
            )
        return given
    remembered = state.settings
    if given is None:
        return remembered
    if not state.run:
        if given.source != remembered.source:
            return given
        return msgspec.structs.replace(remembered, **{name: getattr(given, name) for name in chosen})
    for name in chosen:
        now, before = getattr(given, name), getattr(remembered, name)
        if now != before:
            raise UsageError(
                f"{folder} was begun with {name} {_shown(before)}, not {_shown(now)}; leave it out, or begin another "
                "one."
            )
    return remembered


def _shown(value: object) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)
