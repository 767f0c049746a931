"""The manifest of a folder of pages: a line of JSON for each file, checked when it is read."""

from collections.abc import Iterable
from typing import Annotated, get_args

import msgspec

from domsieve.errors import DamagedFileError, FormatVersionError
from domsieve.tasks.file_names import PageKey, fault_of_name, folded
from domsieve.types import PageFormat, RecordFormat
from domsieve.urls import without_credentials

_VERSION = 1
_Text = Annotated[str, msgspec.Meta(max_length=100_000)]
_Hash = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]
_FORMATS = (*get_args(PageFormat), *get_args(RecordFormat))


class PageEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of a manifest.

    Parameters
    ----------
    url : the address of the page, without user name and password; for local files their path below their common
        folder.
    file : the path of the file below the folder, with ``/``.
    format : the format of the file, such as ``"markdown"``.
    first_seen : UTC time of the first capture of the page, ISO 8601.
    last_changed : UTC time of the capture that the present content of the file is from.
    etag, last_modified : HTTP validators of the raw source, as the server sent them; None if unknown.
    source_hash : `digest_of` the raw source, None if it was not stored.
    content_hash : `digest_of` the content of the file.
    needs_browser : whether the page needs a browser; None if that is not known.
    template : the template of the site that the page is made with; None if that is not known.
    expected_f1 : how well the method expects to have cleaned the page, from 0 to 1; None if it does not say.
    capture : the number of the capture, from 1. Further captures of an archive have further files.
    manifest : the version of the manifest's format.
    """

    url: _Text
    file: _Text
    format: _Text
    first_seen: _Text
    last_changed: _Text
    content_hash: _Hash
    source_hash: _Hash | None = None
    etag: _Text | None = None
    last_modified: _Text | None = None
    needs_browser: bool | None = None
    template: _Text | None = None
    expected_f1: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    capture: Annotated[int, msgspec.Meta(ge=1)] = 1
    manifest: Annotated[int, msgspec.Meta(ge=1)] = _VERSION

    @property
    def key(self) -> PageKey:
        """What identifies the page, as in `file_names`."""
        return self.url, self.capture


class _Head(msgspec.Struct):
    """The part of a line that all versions have."""

    manifest: Annotated[int, msgspec.Meta(ge=1)]


def encoded(entries: Iterable[PageEntry]) -> bytes:
    """Return the content of a manifest, sorted by file. Equal entries give equal bytes."""
    lines = [
        msgspec.json.encode(msgspec.structs.replace(entry, url=without_credentials(entry.url)))
        for entry in sorted(entries, key=lambda entry: entry.file)
    ]
    return b"".join(line + b"\n" for line in lines)


def decoded(data: bytes, *, name: str) -> dict[str, PageEntry]:
    """Return the entries of a manifest by file.

    Parameters
    ----------
    data : the content of the manifest.
    name : the path of the manifest, for messages.

    Raises
    ------
    DamagedFileError : it is not a manifest of domsieve, or names of files are unsafe or occur twice.
    FormatVersionError : it was written by a newer version of domsieve.
    """
    entries: dict[str, PageEntry] = {}
    names: set[str] = set()
    pages: set[tuple[PageKey, str]] = set()
    for number, line in enumerate(data.splitlines(), 1):
        place = f"{name}, line {number}"
        try:
            version = msgspec.json.decode(line, type=_Head).manifest
            if version > _VERSION:
                raise FormatVersionError(
                    f"{place}: the manifest has format {version}, but this version of domsieve reads formats up to "
                    f"{_VERSION}; update domsieve or give another folder."
                )
            entry = msgspec.json.decode(line, type=PageEntry)
        except (msgspec.DecodeError, RecursionError) as error:
            raise DamagedFileError(
                f"{place}: this is not a line of a manifest ({error}); restore it or give another folder."
            ) from error
        fault = fault_of_name(entry.file)
        if entry.format not in _FORMATS:
            fault = f"the format {entry.format!a} is unknown"
        elif folded(entry.file) in names or (entry.key, entry.format) in pages:
            fault = "it is listed twice"
        if fault:
            raise DamagedFileError(
                f"{place}: the file {entry.file!a} cannot be used, because {fault}; restore the manifest or give "
                "another folder."
            )
        names.add(folded(entry.file))
        pages.add((entry.key, entry.format))
        entries[entry.file] = entry
    return entries
