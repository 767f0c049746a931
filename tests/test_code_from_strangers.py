"""Nothing that comes from strangers is run: what reads files cannot run code, and what looks like code is refused."""

import ast
import pickle
from pathlib import Path

import pytest

from domsieve.analysis.model_file import load_model
from domsieve.errors import DamagedFileError
from tests.command import ROOT, run, write_pages

# What runs code that stands in data. Only the shards of bulk runs are pickled, which stay with the process that made
# them, in a file without a name, and with its workers.
RUNS_CODE = {
    "eval",
    "exec",
    "pickle.load",
    "pickle.loads",
    "marshal.loads",
    "yaml.load",
    "joblib.load",
    "os.system",
}
UNPICKLES = {"domsieve/bulk/plan.py"}


def calls(path: Path) -> list[tuple[str, ast.Call]]:
    tree = ast.parse(path.read_text("utf-8"))
    return [(ast.unparse(node.func), node) for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_no_module_runs_what_it_reads() -> None:
    found = set()
    for path in [*(ROOT / "domsieve").rglob("*.py"), *(ROOT / "experiments").rglob("*.py")]:
        for name, call in calls(path):
            if name in RUNS_CODE:
                found.add(path.relative_to(ROOT).as_posix())
            keywords = {word.arg: ast.unparse(word.value) for word in call.keywords}
            assert name != "np.load" or keywords.get("allow_pickle") == "False", path
            assert keywords.get("shell", "False") == "False", path
    assert found == UNPICKLES


class _Runs:
    def __init__(self, mark: Path) -> None:
        self._mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return Path.write_text, (self._mark, "run")


@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_a_pickle_in_place_of_a_model_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    mark, file = tmp_path / "mark", tmp_path / "site.model"
    file.write_bytes(pickle.dumps(_Runs(mark), protocol))
    with pytest.raises(DamagedFileError, match="not a valid site model"):
        load_model(file)
    pages = write_pages(tmp_path / "pages", 1)
    done = run("clean", *pages, "--model", file, cache=tmp_path / "cache")
    assert done.exit_code == 5
    assert not mark.exists()
    pickle.loads(file.read_bytes())  # which does run it
    assert mark.exists()
