"""Install the npm packages that the JavaScript corpora name, below a folder; nothing is done where all are there.

    python tools/node_packages.py DATA FOLDER

DATA holds ``js/NAME/manifest.json``. The packages come to lie in FOLDER/node_modules; no script of theirs is run.
"""

import json
import subprocess
import sys
from pathlib import Path


def wanted(data: Path) -> dict[str, str]:
    """Return the versions of all packages that the manifests name.

    Raises
    ------
    ValueError : two manifests name different versions of one package.
    """
    versions: dict[str, str] = {}
    for file in sorted((data / "js").glob("*/manifest.json")):
        for name, version in json.loads(file.read_text("utf-8")).get("npm", {}).items():
            if versions.setdefault(name, version) != version:
                raise ValueError(f"{file} names {name} {version}, another manifest {versions[name]}.")
    return versions


def missing(versions: dict[str, str], folder: Path) -> dict[str, str]:
    """Return the packages that are not in the folder in that version."""
    return {name: version for name, version in versions.items() if _installed(folder, name) != version}


def _installed(folder: Path, name: str) -> str | None:
    file = folder / "node_modules" / name / "package.json"
    return json.loads(file.read_text("utf-8")).get("version") if file.is_file() else None


def main(data: Path, folder: Path) -> int:
    """Install what is missing; return 0, or the exit code of npm."""
    versions = wanted(data)
    if not missing(versions, folder):
        return 0
    folder.mkdir(parents=True, exist_ok=True)
    named = [f"{name}@{version}" for name, version in versions.items()]
    command = [
        "npm",
        "install",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--prefix",
        str(folder),
        *named,
    ]
    return subprocess.run(command, check=False, stdout=sys.stderr).returncode


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
