"""The table of capabilities in docs/capabilities.md, held against the parameters, options and schemas of the code."""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
import typer

import domsieve
from domsieve.cli import app
from domsieve.service.jobs.requests import REQUESTS
from domsieve.service.mcp._tools import TOOLS
from domsieve.service.web.forms import CHOICES, DEFAULTS

ROOT = Path(__file__).parents[1]
LINES = (ROOT / "docs/capabilities.md").read_text(encoding="utf-8").splitlines()
COLUMNS = ("command", "Python", "HTTP", "MCP", "web page", "bulk", "integrations")

# What each interface would call a capability: all of these names exist, or none does.
CAPABILITIES: dict[str, tuple[list[str], ...]] = {
    "text and Markdown": (
        ["clean --format=text", "clean --format=markdown"],
        ["CleanResult.text", "CleanResult.markdown"],
        ["clean.format=text", "clean.format=markdown"],
        ["clean_page.format=text", "clean_page.format=markdown"],
        ["clean_format=text", "clean_format=markdown"],
        ["bulk clean --format=text", "bulk clean --format=markdown"],
        ["text", "markdown"],
    ),
    "HTML": (
        ["clean --format=html"],
        ["CleanResult.html"],
        ["clean.format=html"],
        ["clean_page.format=html"],
        ["clean_format=html"],
        ["bulk clean --format=html"],
        ["html"],
    ),
    "JSON with all blocks and reasons": (
        ["clean --format=json"],
        ["CleanResult.json"],
        ["clean.format=json"],
        ["clean_page.format=json"],
        ["clean_format=json"],
        ["bulk clean --blocks"],
        ["blocks"],
    ),
    "passages (chunks)": (
        ["clean --format=chunks"],
        ["CleanResult.chunks"],
        ["clean.format=chunks"],
        ["clean_page.format=chunks"],
        ["clean_format=chunks"],
        ["bulk clean --format=chunks"],
        ["chunks"],
    ),
    "metadata": (
        ["clean --metadata"],
        ["CleanResult.metadata"],
        ["clean.metadata"],
        ["clean_page.metadata"],
        ["metadata"],
        ["bulk clean --metadata"],
        ["metadata"],
    ),
    "links and images as lists": (
        ["clean --links"],
        ["CleanResult.links", "CleanResult.images"],
        ["clean.links"],
        ["clean_page.links"],
        ["links"],
        ["bulk clean --links"],
        ["links"],
    ),
    "parts of pages": (
        ["clean --select", "clean --drop"],
        ["clean(select)", "clean(drop)"],
        ["clean.select", "clean.drop"],
        ["clean_page.select", "clean_page.drop"],
        ["select", "drop"],
        ["bulk clean --select"],
        ["select"],
    ),
    "kinds of blocks": (
        ["clean --keep-kind", "clean --drop-kind"],
        ["clean(keep_kinds)", "clean(drop_kinds)"],
        ["clean.keep_kinds", "clean.drop_kinds"],
        ["clean_page.keep_kinds", "clean_page.drop_kinds"],
        ["block_comments"],
        ["bulk clean --keep-kind"],
        ["keep_kinds", "drop_kinds"],
    ),
    "hidden text (`--hidden`)": (
        ["clean --hidden"],
        ["clean(hidden)"],
        ["clean.hidden"],
        ["clean_page.hidden"],
        ["hidden"],
        ["bulk clean --hidden"],
        ["hidden"],
    ),
    "fetch instead of render (`--render`)": (
        ["clean --render"],
        ["CaptureOptions(render)"],
        ["clean.render"],
        ["clean_page.render"],
        ["render"],
        ["bulk render --render"],
        ["render"],
    ),
    "methods": (
        ["clean --method"],
        ["clean(method)"],
        ["clean.method"],
        ["clean_page.method"],
        ["clean_method"],
        ["bulk clean --method"],
        ["method"],
    ),
    "models of sites": (
        ["clean --model", "clean --models"],
        ["clean(model)", "clean(models)"],
        ["clean.model"],
        ["clean_page.model"],
        ["model"],
        ["bulk clean --models"],
        ["model"],
    ),
    "a site sampled or crawled": (
        ["site"],
        ["site"],
        ["site"],
        ["clean_site"],
        ["kind=site"],
        ["bulk render --pages"],
        ["sample"],
    ),
    "records": (
        ["records"],
        ["records"],
        ["records"],
        ["find_records"],
        ["kind=records"],
        ["bulk records"],
        ["records"],
    ),
    "fields of records": (
        ["records --fields"],
        ["records(fields)"],
        ["records.fields"],
        ["find_records.fields"],
        ["field_title"],
        ["bulk records --fields"],
        ["fields"],
    ),
    "fields from examples": (
        ["fields"],
        ["fields", "learn_fields"],
        ["fields", "learn_fields"],
        ["extract_fields", "learn_fields"],
        ["kind=fields", "kind=learn_fields"],
        ["bulk fields"],
        ["learn_fields"],
    ),
    "sync": (
        ["sync"],
        ["sync"],
        ["sync"],
        ["sync_site", "list_stores"],
        ["kind=sync"],
        ["bulk sync"],
        ["sync"],
    ),
    "compare": (
        ["compare"],
        ["compare"],
        ["compare"],
        ["compare_page"],
        ["kind=compare"],
        ["bulk compare"],
        ["compare"],
    ),
    "report": (
        ["report"],
        ["report"],
        ["report"],
        ["report_page"],
        ["kind=report"],
        ["bulk report"],
        ["report"],
    ),
    "web archives read": (
        ["clean --from"],
        ["pages"],
        ["clean.archive"],
        ["clean_page.archive"],
        ["archive"],
        ["bulk clean --input-file"],
        ["archive"],
    ),
    "web archives written": (
        ["render --archive"],
        ["CaptureOptions(archive_file)"],
        ["clean.record"],
        ["clean_page.record"],
        ["record"],
        ["bulk render --archive"],
        ["archive"],
    ),
    "data frames": (
        ["clean --pandas"],
        ["to_pandas"],
        ["clean.pandas"],
        ["clean_page.pandas"],
        ["pandas"],
        ["bulk clean --pandas"],
        ["pandas"],
    ),
    "word weights (vectorize)": (
        ["vectorize"],
        ["CompressedStructureTree"],
        ["vectorize"],
        ["vectorize_pages"],
        ["kind=vectorize"],
        ["bulk vectorize"],
        ["vectorize"],
    ),
}
# Commands that only prepare or look after the others.
APART = {
    "render",
    "capture",
    "load_model",
    "save_model",
    "load_fields_model",
    "save_fields_model",
    "learn",
    "login",
    "serve",
    "mcp",
    "doctor",
    "get_result",
    "bulk learn",
    "bulk clean",
    "bulk render",
} | {
    "clean",
    "clean_page",
    "cache",
    "bulk",
}


def _options(name: str, command: Any) -> set[str]:
    found = {name}
    for one in command.params:
        for flag in one.opts:
            found.add(f"{name} {flag}")
            found |= {f"{name} {flag}={choice}" for choice in getattr(one.type, "choices", ())}
    return found


def _commands() -> tuple[set[str], set[str]]:
    """Return the words of the command line and of its group `bulk`."""
    group: Any = typer.main.get_command(app)
    single: set[str] = set()
    for name in group.list_commands(None):
        single |= _options(name, group.get_command(None, name))
    bulk = group.get_command(None, "bulk")
    words: set[str] = set()
    for name in bulk.list_commands(None):
        words |= _options(f"bulk {name}", bulk.get_command(None, name))
    return single, words


def _python() -> set[str]:
    words = {*domsieve.__all__}
    for name in domsieve.__all__:
        value = getattr(domsieve, name)
        if inspect.isfunction(value) or name.endswith("Options"):
            words |= {f"{name}({parameter})" for parameter in inspect.signature(value).parameters}
        if name.endswith("Result"):
            words |= {f"{name}.{attribute}" for attribute in dir(value) if not attribute.startswith("_")}
    return words


def _choices(schema: dict[str, Any]) -> list[str]:
    kinds = [schema, *schema.get("anyOf", ())]
    return [choice for kind in kinds for choice in kind.get("enum", ()) if isinstance(choice, str)]


def _schemas(schemas: dict[str, Any]) -> set[str]:
    words = {*schemas}
    for name, schema in schemas.items():
        for field, one in schema["properties"].items():
            words.add(f"{name}.{field}")
            words |= {f"{name}.{field}={choice}" for choice in _choices(one)}
    return words


def _web_page() -> set[str]:
    words = {*DEFAULTS} | {f"kind={kind}" for kind in REQUESTS}
    return words | {f"{name}={choice.value}" for name, choices in CHOICES.items() for choice in choices}


def _integrations() -> set[str]:
    """Return the names of all parameters, functions and texts; the modules need packages that are not installed."""
    words: set[str] = set()
    for path in (ROOT / "domsieve/integrations").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.arg):
                words.add(node.arg)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                words.add(node.value)
    return words


@pytest.fixture(scope="module")
def words() -> dict[str, set[str]]:
    single, bulk = _commands()
    return {
        "command": single,
        "Python": _python(),
        "HTTP": _schemas({kind: model.model_json_schema() for kind, model in REQUESTS.items()}),
        "MCP": _schemas({name: tool.input_schema for name, tool in TOOLS.items()}),
        "web page": _web_page(),
        "bulk": bulk,
        "integrations": _integrations(),
    }


def _cells() -> dict[str, list[str]]:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES if line.startswith("|")]
    assert tuple(rows[0][1:]) == COLUMNS
    return {cells[0].partition("](")[0].lstrip("["): cells[1:] for cells in rows[2:]}


@pytest.mark.parametrize("column", COLUMNS)
def test_the_table_says_what_the_code_has(column: str, words: dict[str, set[str]]) -> None:
    at = COLUMNS.index(column)
    table = _cells()
    assert [*table] == [*CAPABILITIES]
    for capability, names in CAPABILITIES.items():
        there = [name in words[column] for name in names[at]]
        assert len({*there}) == 1, f"{capability}: only some of {names[at]} are there"
        said = table[capability][at]
        assert (said == "yes") == there[0], f"{capability} in {column}: the table says {said!r}"


def test_every_empty_cell_has_its_reason() -> None:
    given = {cell.removeprefix("no, ") for cells in _cells().values() for cell in cells if cell != "yes"}
    reasons = {line.partition(".")[0] for line in LINES if line[:1].isdigit()}
    assert given == reasons


def test_no_command_call_or_tool_is_missing(words: dict[str, set[str]]) -> None:
    known = {name for names in CAPABILITIES.values() for cell in names for name in cell} | APART
    for column in ("command", "HTTP", "MCP", "bulk"):
        named = {
            word for word in words[column] if " -" not in word and "." not in word and "targets" not in word
        }
        own = {word for word in named if word.count(" ") == (column == "bulk")}
        assert own <= known, own - known
    calls = {name for name in domsieve.__all__ if inspect.isfunction(getattr(domsieve, name))}
    calls -= {f"{name}_async" for name in calls}
    assert calls <= known, calls - known
