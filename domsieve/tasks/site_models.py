"""Folders of site models, and cleaning each page by the model of its site."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from domsieve.analysis.model_file import model_from_bytes
from domsieve.analysis.registry import Method
from domsieve.analysis.site_model import SiteModel
from domsieve.errors import DomsieveError, StorageError, UsageError
from domsieve.tasks.page_cleaning import Cleaned
from domsieve.tasks.pages import Page
from domsieve.tasks.targets import output_name


class ModelFiles(Protocol):
    """A place with files of models."""

    def names(self) -> set[str]:
        """Return the names of the files."""
        ...

    def read(self, name: str) -> bytes:
        """Return the content of a file; raise a `StorageError` if it does not exist."""
        ...


ENDING = ".model"
_PERIOD = "@"
_HELD = 4  # models in memory, for pages that alternate between sites


def model_file(site: str, period: str = "") -> str:
    """Return the file name of the model of a site and a period."""
    name = output_name(f"://{site}")
    return f"{name}{_PERIOD}{period}{ENDING}" if period else f"{name}{ENDING}"


class SiteModels:
    """The site models at a place, read when they are needed; a few are kept in memory.

    Models of several periods are merged.

    Parameters
    ----------
    place : has the files.
    name : the name of the place, for messages.

    Raises
    ------
    UsageError : the place contains no model.
    """

    def __init__(self, place: ModelFiles, name: str) -> None:
        self._place = place
        self._files: dict[str, list[str]] = {}
        for file in sorted(place.names()):
            if file.endswith(ENDING):
                stem = file.removesuffix(ENDING).partition(_PERIOD)[0]
                self._files.setdefault(stem, []).append(file)
        if not self._files:
            raise UsageError(f"{name} contains no model; `bulk learn` writes them.", parameter="models")
        self._held: OrderedDict[str, SiteModel[Any] | DomsieveError | None] = OrderedDict()

    def of(self, site: str) -> SiteModel[Any] | None:
        """Return the model of a site; None if there is none.

        Raises
        ------
        DomsieveError : a file cannot be used, or models of several periods cannot be merged.
        """
        if site not in self._held:
            if len(self._held) == _HELD:
                self._held.popitem(last=False)
            try:
                self._held[site] = self._read(model_file(site).removesuffix(ENDING))
            except DomsieveError as error:
                self._held[site] = error
        self._held.move_to_end(site)
        found = self._held[site]
        if isinstance(found, DomsieveError):
            raise found
        return found

    def _read(self, stem: str) -> SiteModel[Any] | None:
        model: SiteModel[Any] | None = None
        for name in self._files.get(stem, ()):
            part = model_from_bytes(self._place.read(name), name=name)
            model = part if model is None else model.merge(part)
        return model


class _Folder:
    """A folder of this machine."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def names(self) -> set[str]:
        try:
            return {path.name for path in self._root.iterdir()}
        except OSError as error:
            raise StorageError(f"Cannot read the folder {self._root}: {error.strerror}.") from error

    def read(self, name: str) -> bytes:
        try:
            return (self._root / name).read_bytes()
        except OSError as error:
            raise StorageError(f"Cannot read the file {self._root / name}: {error.strerror}.") from error


def models_in(folder: Path) -> SiteModels:
    """Return the site models in a folder.

    Raises
    ------
    StorageError : the folder cannot be read.
    UsageError : it contains no model.
    """
    return SiteModels(_Folder(folder), str(folder))


def clean_by_site(
    pages: Sequence[Page],
    models: SiteModels,
    cleaner: Callable[..., Iterator[Cleaned]],
    *,
    method: Method | None,
) -> Iterator[Cleaned]:
    """Yield each page with its verdict or an error, by the model of its site if there is one.

    If a model cannot be used, the pages of its site fail.

    Parameters
    ----------
    cleaner : `domsieve.tasks.page_cleaning.clean` with all its options but the model.
    method : the method that was asked for, which a model must be of; None if any will do.
    """
    for site, group in groupby(sorted(pages, key=lambda page: page.site), key=lambda page: page.site):
        members = list(group)
        try:
            model = models.of(site)
            if model is not None and method not in {None, model.name}:
                raise UsageError(f"The model of its site is for the method {model.name}, not {method}.")
        except DomsieveError as error:
            yield from ((page, error) for page in members)
            continue
        yield from cleaner(members, model=copy(model))  # cleaning sets parameters
