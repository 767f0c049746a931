"""Everything that a user installs with domsieve has a licence that permits any use."""

import re
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Licences that ask for no more than their notice, or for changes of their own files (MPL).
PERMITTED = re.compile(
    r"MIT(-CMU)?|BSD(-[23]-CLAUSE)?|0BSD|APACHE(-2\.0)?|ISC|PSF-2\.0|ZLIB|CC0-1\.0|MPL-2\.0|CNRI-PYTHON|UNLICENSE"
)
CLASSIFIERS = {
    "MIT License": "MIT",
    "BSD License": "BSD",
    "Apache Software License": "APACHE",
    "ISC License (ISCL)": "ISC",
    "Python Software Foundation License": "PSF-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
# Those of users; `dev` and `evaluate` are for people who work on domsieve. MCP and Ray are not installed here.
EXTRAS = ("", "bulk", "parquet", "serve")


def installed_by(extras: tuple[str, ...]) -> set[str]:
    """Return the names of all packages that domsieve and these extras bring along."""
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
    return {name for name, _ in seen} - {"domsieve"}


def licences_of(name: str) -> set[str]:
    """Return what a package says its licence is, in capitals; an expression is taken apart."""
    head = metadata.metadata(name)
    kinds = [
        line.split(" :: ")[-1] for line in head.get_all("Classifier") or () if line.startswith("License ::")
    ]
    said = [*(head.get_all("License-Expression") or ()), *kinds] or head.get_all("License") or ["none"]
    parts = [
        part for each in said for part in re.split(r" (?:AND|OR|WITH) |[()]", CLASSIFIERS.get(each, each))
    ]
    return {part.strip().upper() for part in parts if part.strip()}


def test_all_packages_of_a_user_are_found() -> None:
    names = installed_by(EXTRAS)
    assert {"playwright", "lxml", "numpy", "scikit-learn", "typer", "fastapi", "pyarrow", "fsspec"} <= names
    assert not {"pytest", "trafilatura", "hypothesis"} & names


@pytest.mark.parametrize("name", sorted(installed_by(EXTRAS)))
def test_its_licence_permits_any_use(name: str) -> None:
    found = licences_of(name)
    assert all(PERMITTED.fullmatch(licence) for licence in found), f"{name}: {found}"
