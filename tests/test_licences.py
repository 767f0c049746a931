"""Everything that a user installs with domsieve has a licence that permits any use."""

import re
import tomllib

import pytest

from tests.command import ROOT
from tests.licences import installed_by, permits_any_use

# Those that are installed here; what the others install is looked at in environments of their own.
HERE = ("", "bulk", "parquet", "pixels", "serve")
ELSEWHERE = ("mcp", "ray")
# Extractors that the experiments measure domsieve against, and what these need. No other extra brings them along.
MEASURED_AGAINST = {"chardet", "tld"}  # LGPL 2.1; MPL 1.1, GPL 2 or LGPL 2.1, as the user likes


def test_every_extra_is_looked_at() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {*project["optional-dependencies"], ""} == {*HERE, *ELSEWHERE, "evaluate", "dev"}
    for extra in ELSEWHERE:
        tests = (ROOT / f"tests/integrations/test_{extra}.py").read_text("utf-8")
        assert f'installed_by(["", "{extra}"])' in tests
        assert f"-e .[{extra}]" in (ROOT / f"tests/integrations/{extra}.txt").read_text("utf-8")


def test_all_packages_of_a_user_are_found() -> None:
    names = {*installed_by(HERE)}
    assert {"playwright", "lxml", "numpy", "scikit-learn", "typer", "fastapi", "pyarrow", "fsspec"} <= names
    assert not {"pytest", "trafilatura", "hypothesis", *MEASURED_AGAINST} & names


@pytest.mark.parametrize("name", installed_by(HERE))
def test_its_licence_permits_any_use(name: str) -> None:
    assert permits_any_use(name)


def test_of_what_the_experiments_need_two_do_not_and_the_guide_says_so() -> None:
    others = [name for name in installed_by(["evaluate"]) if not permits_any_use(name)]
    assert {*others} == MEASURED_AGAINST
    guide = (ROOT / "docs/install.md").read_text("utf-8")
    assert all(re.search(rf"\b{name}\b", guide) for name in MEASURED_AGAINST)


def test_the_list_of_what_is_brought_along_has_every_extra_of_users() -> None:
    (extras,) = re.findall(r"^user_extras := (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert sorted(extras.split(",")) == sorted([*HERE[1:], *ELSEWHERE])
