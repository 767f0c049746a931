"""What the validators of requests ask for, in the words of JSON Schema, for the description of the API."""

from typing import Any

from domsieve.analysis.registry import DEFAULT_METHOD, METHODS, MINERS, MethodEntry, MiningMethod
from domsieve.declaration import declared
from domsieve.options import CaptureOptions
from domsieve.tasks.render_modes import NEEDING_BROWSER, STYLES_OF_LAYOUT

BY_THEMSELVES = ("mode", "favor")
"""Parameters of methods that are not among the `params` of requests."""

DEFAULT_MINER: MiningMethod = "wobm"

NOT_BY_PIXELS = {"not": {"properties": {"hidden": {"const": "pixels"}}, "required": ["hidden"]}}
"""For requests with HTML, of which there are no pictures."""


def _params_schema(entry: MethodEntry[Any]) -> dict[str, Any]:
    schemas = entry.estimator.parameter_schemas()
    properties = {name: schema for name, schema in schemas.items() if name not in BY_THEMSELVES}
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **entry.estimator.schema_rules,
    }


def unrendered_rules(**others: dict[str, Any]) -> dict[str, Any]:
    """Return what requests may contain whose pages are not rendered.

    Parameters
    ----------
    others : schemas of other fields with values that need no browser.
    """
    usual: dict[str, dict[str, Any]] = {
        one.served_name: {"maxItems": 0} if one.is_list else {"const": NEEDING_BROWSER[name]}
        for name, one in declared(CaptureOptions).items()
        if one.option.served and name in NEEDING_BROWSER
    }
    for name, length in zip(("viewport_width", "viewport_height"), CaptureOptions().viewport_px, strict=True):
        usual[name] = {"const": length}
    rendered = {"properties": {"render": {"enum": ["always", "auto"]}}}
    return {"allOf": [{"anyOf": [rendered, {"properties": {**usual, **others}}]}]}


def cleaning_rules(*, site: bool) -> dict[str, Any]:
    """Return what the validators of cleaning requests ask for.

    Parameters
    ----------
    site : whether the request is for a site.
    """
    branches: list[dict[str, Any]] = []
    for name, entry in METHODS.items():
        properties: dict[str, Any] = {"params": _params_schema(entry)}
        if name == DEFAULT_METHOD:
            branches.append({"properties": {"method": {"enum": [None, name]}, **properties}})
            continue
        properties |= {"method": {"const": name}, "favor": {"type": "null"}}
        if site and entry.min_pages > 1:
            properties["pages"] = {"minimum": entry.min_pages}
        branches.append({"properties": properties, "required": ["method"]})
    unrendered = unrendered_rules(
        method={"enum": [None, DEFAULT_METHOD]},
        params={"properties": {"style": {"not": {"enum": [*STYLES_OF_LAYOUT]}}}},
        hidden={"not": {"const": "pixels"}},
    )
    return {"anyOf": branches, **unrendered}


def mining_rules() -> dict[str, Any]:
    """Return what the validators of requests for records ask for."""
    branches: list[dict[str, Any]] = []
    for name, entry in MINERS.items():
        properties = {"method": {"const": name}, "params": _params_schema(entry)}
        required: dict[str, Any] = {} if name == DEFAULT_MINER else {"required": ["method"]}
        branches.append({"properties": properties, **required})
    return {"anyOf": branches, **unrendered_rules()}
