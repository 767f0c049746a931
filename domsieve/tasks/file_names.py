"""Readable file names for pages, after the path of their address: ``install/linux.md``, ``install/index.md``.

A name is a relative path with ``/``. It is safe on Linux, macOS and Windows, and no two names of a folder are equal
for a file system that ignores case or the Unicode form. The names depend only on the set of pages and on the names
that are already taken, never on the order of the pages.
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Mapping
from itertools import count
from urllib.parse import unquote

from domsieve.analysis.writers.formats import PAGE_FORMATS, RECORD_FORMATS
from domsieve.sanitize import plain, utf8
from domsieve.tasks.targets import site_of
from domsieve.urls import has_web_scheme, split_url

PageKey = tuple[str, int]
"""What identifies a page in a folder: its address (or its path, for local files), and the number of its capture.

The number is 1, except for further captures of the same address, such as those of an archive.
"""

MANIFEST = "manifest.jsonl"
"""The list of all pages of a folder."""
GONE = "gone"
"""The subfolder for the files of pages that no longer exist."""

MOST_PART_BYTES = 255
"""The maximum length of a file or folder name on common file systems, in bytes of UTF-8."""
MOST_PATH_BYTES = 1_000
"""The maximum length of a whole name, in bytes of UTF-8: Linux allows 4,096 with the folder, macOS 1,024."""

# Windows allows 260 UTF-16 units for a path with its folder, so names that we make are shorter than the maximum.
_PART_BYTES, _PATH_UNITS = 120, 160
_REFUSED = frozenset('\\:*?"<>|')
_KEPT_MARKS = frozenset("-_.+@,")
_KEPT_CATEGORIES = frozenset("LMN")  # letters, marks, numbers
# Characters of these categories that are not drawn, and that some file systems ignore in comparisons.
_IGNORED = frozenset(
    number
    for first, last in [
        (0x034F, 0x034F),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFFA0, 0xFFA0),
        (0xE0100, 0xE01EF),
    ]
    for number in range(first, last + 1)
)
# Names of devices, with any ending.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$"]
    + [f"{name}{number}" for name in ("com", "lpt") for number in range(10)]
)
_OWN_STARTS, _OWN_ENDINGS = ("manifest.", "changes."), (".jsonl", ".html", ".atom")
_PAGE_ENDINGS = (".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp")
_PACKED_ENDINGS = (".gz", ".zst")
_ENDINGS = frozenset(
    [".atom", *(entry.ending for entry in (*PAGE_FORMATS.values(), *RECORD_FORMATS.values()))]
)


def file_names(
    pages: Iterable[PageKey],
    *,
    ending: str,
    taken: Mapping[PageKey, str] | None = None,
    others: Iterable[str] = (),
) -> dict[PageKey, str]:
    """Return a file name for each page.

    If the pages are of several sites, each site has a folder. Where names collide, the shortest address keeps the
    readable name, and the others get a short hash of their address.

    Parameters
    ----------
    pages : addresses, or paths of local files below their common folder, each with the number of its capture.
    ending : the ending of the files, with the dot.
    taken : the names of pages from earlier runs; these pages keep them.
    others : names of other files in the folder, which are not used either.
    """
    wanted, kept = set(pages), taken or {}
    new = sorted(wanted - kept.keys(), key=lambda page: (page[1], len(page[0]), page[0]))
    home = _home(new, kept)
    used = {folded(name) for name in (*kept.values(), *others)}
    names = {page: kept[page] for page in kept if page in wanted}
    crowded: list[tuple[PageKey, tuple[str, ...]]] = []
    for page in new:
        parts = _parts(page, home, ending)
        name = _joined(parts, ending)
        if _is_long(name) or folded(name) in used:
            crowded.append((page, parts))
        else:
            used.add(folded(name))
            names[page] = name
    for page, parts in crowded:
        names[page] = _with_hash(page, parts, ending, used)
        used.add(folded(names[page]))
    return names


def folded(name: str) -> str:
    """Return a form of a name that is equal for names that a file system may take for the same."""
    name = "".join(letter for letter in name if ord(letter) not in _IGNORED)
    for _ in range(2):  # folding can undo the normal form, and the other way round
        name = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return name


def fault_of_name(name: str) -> str:
    """Return why a name is not that of a page's file in a folder; empty if it is one.

    Names from a manifest are checked with it: they never lead out of the folder, to hidden files, or to the files
    that domsieve keeps there itself.
    """
    parts = name.split("/")
    if not name or any(part in {"", ".", ".."} for part in parts):
        return "it is not a path below the folder"
    if plain(utf8(name)) != name or _REFUSED & set(name):
        return "it has characters that are not safe in file names"
    if len(name.encode()) > MOST_PATH_BYTES or any(len(part.encode()) > MOST_PART_BYTES for part in parts):
        return "it is too long"
    if any(part.startswith(".") for part in parts):
        return "it is hidden"
    if any(part.endswith((".", " ")) or _is_device(part) for part in parts):
        return "Windows does not allow it"
    if _is_own(parts[0]):
        return "it is a file that domsieve keeps there itself"
    return ""


def _home(new: Iterable[PageKey], taken: Mapping[PageKey, str]) -> str | None:
    """Return the site whose pages are directly in the folder; None if each site has a folder of its own."""
    for page, name in taken.items():
        site = _site(page)
        if not site or name.partition("/")[0] != _folder_of(site):
            return site
    sites = {_site(page) for page in new}
    return None if taken else sites.pop() if len(sites) == 1 else "" if "" in sites else None


def _site(page: PageKey) -> str:
    """Return the site of a page; empty for local files."""
    url = page[0]
    return site_of(url) if has_web_scheme(url) and split_url(url) else ""


def _folder_of(site: str) -> str:
    """Return the name of the folder of a site."""
    return _joined((_cut(_without_ending(_safe(site))), ""), "").partition("/")[0]


def _parts(page: PageKey, home: str | None, ending: str) -> tuple[str, ...]:
    """Return the folders and the name of a page, without an ending; pages of the site `home` are directly below."""
    address, capture = page
    url = split_url(address) if has_web_scheme(address) else None
    if url is None:
        *folders, last = address.split("/")
        suffix = ""
        for packed in _PACKED_ENDINGS:
            last = last.removesuffix(packed)
    else:
        *folders, last = (_decoded(part) for part in url.path.split("/"))
        suffix = "-".join(_decoded(part.replace("+", " ")) for part in (url.query, url.fragment) if part)
    stem = last.strip() or "index"
    for page_ending in (*_PAGE_ENDINGS, ending):
        if stem.lower().endswith(page_ending) and len(stem) > len(page_ending):
            stem = stem[: -len(page_ending)]
            break
    for more in (suffix.replace("=", "&"), f"{capture}" if capture > 1 else ""):
        if more := _safe(more).strip("_"):
            stem = f"{stem}-{more}"
    site = _site(page)
    folders = [*([site] if site != home else []), *filter(None, folders)]
    # A folder never has a name that a file could get.
    return (*(_cut(_without_ending(_safe(folder))) for folder in folders), _cut(_safe(stem)))


def _decoded(part: str) -> str:
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        return part


def _safe(part: str) -> str:
    """Return a part of a path with only safe characters; it may be too long."""
    letters: list[str] = []
    for letter in unicodedata.normalize("NFC", part):
        if ord(letter) in _IGNORED:
            continue
        is_kept = letter in _KEPT_MARKS or unicodedata.category(letter)[0] in _KEPT_CATEGORIES
        if is_kept or letters[-1:] != ["\0"]:
            letters.append(letter if is_kept else "\0")
    text = "".join(letters).lstrip("\0").rstrip("\0.").replace("\0", "-")
    start = text.lstrip(".-")
    text = start if start == text else f"_{start}"
    text = unicodedata.normalize("NFC", text)
    return f"_{text}" if not text or _is_device(text) else text


def _cut(part: str) -> str:
    """Return a part of a path, shortened; its end then is a hash of the whole."""
    if len(part.encode()) <= _PART_BYTES:
        return part
    start = part.encode()[: _PART_BYTES - 9].decode(errors="ignore").rstrip(".-")
    return f"{start}-{_hash(part)}"


def _without_ending(folder: str) -> str:
    stem, dot, ending = folder.rpartition(".")
    return f"{stem}-{ending}" if dot and folded(f".{ending}") in _ENDINGS else folder


def _joined(parts: tuple[str, ...], ending: str) -> str:
    name = "/".join(parts) + ending
    return f"_{name}" if _is_own(name.partition("/")[0]) else name


def _is_long(name: str) -> bool:
    return len(name.encode("utf-16-le")) // 2 > _PATH_UNITS


def _with_hash(page: PageKey, parts: tuple[str, ...], ending: str, used: set[str]) -> str:
    """Return a free name with a hash of the page's address, in as many of its folders as there is room for."""
    *folders, stem = parts
    stem = f"{stem}-{_hash(repr(page))}"
    while _is_long(_joined((*folders, stem), ending)) and folders:
        folders.pop()
    for number in count(1):
        name = _joined((*folders, f"{stem}-{number}" if number > 1 else stem), ending)
        if folded(name) not in used:
            break
    return name


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


def _is_device(part: str) -> bool:
    return folded(part).partition(".")[0].rstrip() in _DEVICES


def _is_own(part: str) -> bool:
    """Return whether domsieve itself keeps a file of this name in the folder, or may keep one there."""
    name = folded(part)
    return name == GONE or (name.startswith(_OWN_STARTS) and name.endswith(_OWN_ENDINGS))
