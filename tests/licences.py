"""What packages say of their licences, and what domsieve brings along with each of its extras."""

import re
from collections.abc import Iterable
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Licences that ask for no more than their notice, or for changes of their own files (MPL).
_PERMITTED = re.compile(
    r"MIT(-0|-CMU)?|BSD(-[23]-CLAUSE)?|0BSD|APACHE(-2\.0)?|ISC|PSF-2\.0|ZLIB|CC0-1\.0|MPL-2\.0|CNRI-PYTHON|UNLICENSE"
)
_CLASSIFIERS = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Apache Software License": "APACHE",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Apache 2.0": "APACHE-2.0",
    "3-Clause BSD License": "BSD-3-CLAUSE",
}


def installed_by(extras: Iterable[str]) -> list[str]:
    """Return the names of all packages that domsieve and these extras bring along; ``""`` is none of the extras."""
    waiting = [("domsieve", extra) for extra in extras]
    seen: set[tuple[str, str]] = set()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for line in metadata.requires(name) or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                waiting += [(canonicalize_name(wanted.name), each) for each in ("", *wanted.extras)]
    return sorted({name for name, _ in seen} - {"domsieve"})


def licences_of(name: str) -> set[str]:
    """Return what a package says its licence is, in capitals; an expression is taken apart."""
    head = metadata.metadata(name)
    kinds = [
        line.split(" :: ")[-1] for line in head.get_all("Classifier") or () if line.startswith("License ::")
    ]
    said = [*(head.get_all("License-Expression") or ()), *kinds] or head.get_all("License") or ["none"]
    parts = [
        part for each in said for part in re.split(r" (?:AND|OR|WITH) |[()]", _CLASSIFIERS.get(each, each))
    ]
    return {part.strip().upper() for part in parts if part.strip()}


def permits_any_use(name: str) -> bool:
    """Return whether everything that a package says of its licence permits any use."""
    return all(_PERMITTED.fullmatch(licence) for licence in licences_of(name))
