"""Facts that the documentation states and the code decides: counts, options, names of numbers, folders."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

import domsieve
from domsieve.analysis.metadata.json_values import DEEPEST
from domsieve.analysis.registry import METHODS, Method
from domsieve.archive._decompression import ArchiveLimits
from domsieve.budget import AnalysisBudget
from domsieve.cli import app
from domsieve.options import Budget
from domsieve.renderer.html_parser._long_tags import MOST_ATTRIBUTES
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.network.egress import Caps
from domsieve.renderer.network.proxy import _LISTED
from domsieve.renderer.page._page_events import _NAVIGATION_LIMIT
from domsieve.renderer.page.capture import STYLE_NAMES
from domsieve.service.jobs.request_fields import HTML_CHARACTERS
from domsieve.service.web import server
from domsieve.service.web.settings import Settings
from domsieve.service.web.shown_results import PREVIEWED
from examples.manual import manual
from tests.command import ROOT

DOCS = ROOT / "docs"
SECURITY = " ".join((DOCS / "security.md").read_text("utf-8").split())


def commands(group: Any, names: tuple[str, ...] = ()) -> dict[tuple[str, ...], set[str]]:
    """Return the long options of every command below a group."""
    found: dict[tuple[str, ...], set[str]] = {}
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found |= commands(command, (*names, name))
        else:
            options = [option for one in command.params for option in (*one.opts, *one.secondary_opts)]
            found[(*names, name)] = {option for option in options if option.startswith("--")} - {"--help"}
    return found


ALL = commands(typer.main.get_command(app))


@pytest.mark.parametrize("names", ALL, ids=" ".join)
def test_every_option_of_a_command_is_described(names: tuple[str, ...]) -> None:
    pages = [
        "cli.md",
        *(["bulk.md"] if names[0] == "bulk" else []),
        *(["service.md"] if names == ("serve",) else []),
    ]
    described = set(
        re.findall(r"--[a-z][a-z-]*", "".join((DOCS / page).read_text("utf-8") for page in pages))
    )
    assert ALL[names] <= described


def test_the_options_of_serve_stand_in_one_table_and_are_those_that_it_has() -> None:
    section = (DOCS / "service.md").read_text("utf-8").split("\n## Run it\n", 1)[1].split("\n### ", 1)[0]
    rows = re.findall(r"^\| (`--.*?) \|", section, re.MULTILINE)
    assert {option for row in rows for option in re.findall(r"--[a-z-]+", row)} == (
        ALL["serve",] - set[str].intersection(*ALL.values())
    )
    guide = (DOCS / "cli.md").read_text("utf-8").split("\n## serve\n", 1)[1].split("\n## ", 1)[0]
    assert not re.search(r"^\| `--", guide, re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md", "docs/which-tool.md"])
def test_figures_beside_other_tools_are_those_of_the_results(page: str) -> None:
    figures = set(re.findall(r"\b0\.\d{3}\b", (ROOT / page).read_text("utf-8")))
    assert len(figures) > 10
    measured = [DOCS / "results.md", ROOT / "benchmarks/README.md"]
    assert figures <= {x for file in measured for x in re.findall(r"\b0\.\d{3}\b", file.read_text("utf-8"))}


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_locks_have_versions_with_hashes_and_no_addresses(name: str) -> None:
    lock = (ROOT / name).read_text("utf-8")
    assert "://" not in lock
    for pin in re.split(r"\n(?=\S)", lock.strip()):
        assert "==" in pin.splitlines()[0]
        assert "--hash=sha256:" in pin, pin


def test_rendering_says_how_many_style_properties_are_kept() -> None:
    (said,) = re.findall(r"(\d+) computed\s+style\s+properties", (DOCS / "rendering.md").read_text("utf-8"))
    assert int(said) == len(STYLE_NAMES)


def test_the_limits_of_security_are_those_of_the_code() -> None:
    caps, page, analysis, service = Caps(), Budget(), AnalysisBudget(), Settings(mcp=True)
    for said in (
        f"heads\n({caps.head_bytes // 1000} kB, {caps.head_s:g} s), bytes ({caps.connection_bytes // 10**6} MB per",
        f"connections ({caps.connections:,}, at most {caps.waiting} of them not yet connected to a server",
        f"silence ({caps.idle_s:g} s)",
        f"{analysis.time.total_seconds():g} s of processor time and {analysis.memory_bytes // 10**9} GB of memory",
        f"HTML in a call has {HTML_CHARACTERS:,} characters at most",
        f"Heads end at {server._HEAD_BYTES // 1024} kB and {server._HEAD_S:g} s",
        f"bodies at {service.body_bytes // 1024} kB and {service.body_s:g} s",
        f"readers that do not read after {server._READER_S:g} s",
        f"{server._CONNECTIONS} connections are open at once",
        f"have {server._STRANGERS} of them, {server._OF_ADDRESS} from one address",
        f"a page is cut at {ArchiveLimits().page_bytes // 10**6} MB",
        f"of raw source {MOST_ATTRIBUTES:,} attributes of a tag are read",
        f"holds more than {page.memory_bytes / 10**9:g} GB",
        f"(`refused`, at most {_LISTED})",
        f"JSON-LD is read to {DEEPEST} levels",
        f"at most {PREVIEWED:,} characters, one at a time",
    ):
        assert " ".join(said.split()) in SECURITY, said
    assert (service.downloads, "by ten downloads of a client at once" in SECURITY) == (10, True)
    assert (_NAVIGATION_LIMIT, "Cut as unstable after four" in SECURITY) == (4, True)


@pytest.mark.parametrize("method", METHODS)
def test_the_card_of_a_method_names_the_numbers_of_its_verdicts(method: Method) -> None:
    pages = [
        parse_html(body, url=f"http://tides.example{path}")
        for path, body in manual().items()
        if "/guide/" in path
    ]
    numbers = {name for page in domsieve.clean(pages, method=method) for name in page.verdict.numbers}
    numbers -= {"score", "by_structure"}  # the same for all methods
    card = (DOCS / f"methods/{method}.md").read_text("utf-8")
    (part,) = re.findall(r"\*\*Numbers of a verdict\.\*\*(.*?)\n\n", card, re.DOTALL)
    assert set(re.findall(r"`([a-z_]+)`", part)) >= numbers
    assert numbers or "None." in part


def test_the_architecture_names_every_room_and_no_other() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8").split("\n## Snapshot", 1)[0]
    rows = [
        cell
        for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
        for cell in re.findall(r"`([^`]+)`", row)
    ]
    folders = {name.rstrip("/") for name in rows if name.endswith("/")}
    real = {
        path.relative_to(ROOT / "domsieve").as_posix()
        for path in (ROOT / "domsieve").rglob("*")
        if path.is_dir() and any(path.glob("*.py"))
    }
    assert real - folders == set()
    beside = {name for name in folders - real if not (ROOT / name).is_dir()}
    assert beside == {"service_data"}


def test_every_document_is_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        for link in re.findall(r"\]\(([^)\s#]+)", page.read_text("utf-8")):
            file = (page.parent / link).resolve()
            if not link.startswith("http") and file.is_file():
                waiting.append(file)
            elif file.is_dir():
                waiting += file.glob("*.md")
    assert set(DOCS.rglob("*.md")) <= seen
