"""The description of the API is what the service does: requests made from it, good and bad, all get what it says."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from schemathesis import Case
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import positive_data_acceptance
from schemathesis.specs.openapi.schemas import OpenApiSchema

from domsieve.analysis.fields.fields_model import (
    Description,
    FieldsModel,
    LearnedField,
    fields_model_to_bytes,
)
from domsieve.service.jobs.database import Database
from domsieve.service.jobs.job_request import JobKind
from domsieve.service.jobs.job_store import JobStore
from domsieve.service.jobs.request_fields import NO_URL
from domsieve.service.jobs.requests import REQUESTS
from domsieve.service.web.app import create_app
from domsieve.service.web.settings import Settings
from tests.service.web.stage import Stage, unlimited

load_all_checks()
# Few examples, so that this stays quick; how to run it with many is in the guide of the service.
EXAMPLES = 12


def document() -> dict[str, Any]:
    """Return the description of a service that asks for no tokens."""
    with tempfile.TemporaryDirectory() as folder, Database(Path(folder) / "jobs.sqlite") as database:
        return create_app(Settings(), JobStore(database)).openapi()


# Hosts of all kinds; which names and numbers are one, no pattern can say. They are samples, since thousands are
# drawn, and the pattern is left out for the same reason: what it refuses has tests of its own.
HOSTS = ["a", "b.example", "a-1.b.c.example", "xn--bcher-kva.example", "bücher.example", "一.example", "é.a"]
NUMBERS = ["127.1", "0x7f.1", "2130706433", "[::1]", "[2001:db8::1]"]
PATHS = [
    "",
    "/",
    "?",
    "#",
    "/a/b?c=d&e#f",
    "/%",
    "/%2F..%00",
    "//",
    "/?#!$&'()*+,;=:@",
    "/ÿ¡",
    "/" + "a" * 30,
]
schemathesis.openapi.format(
    "iri",
    st.builds(
        "{}://{}{}{}".format,
        st.sampled_from(["http", "https", "HTTP"]),
        st.sampled_from([*HOSTS, *NUMBERS]),
        st.sampled_from(["", ":", ":8080", ":65535"]),
        st.sampled_from(PATHS),
    ),
)

# Selectors that a stored page can answer, which no pattern can say.
SELECTORS = ["main", "#a .b > c", "[lang|=de]", "a:not([href])", "p, li:nth-child(2n+1)", "*"]
schemathesis.openapi.format("css-selector", st.sampled_from(SELECTORS))

# Names and values of fields have a character that can be seen; a model is a file of the program.
SEEN = st.sampled_from(["title", "price", "a b", "£24.00", "é"])
schemathesis.openapi.format("field-name", SEEN)
schemathesis.openapi.format("field-value", SEEN)
FIELD = LearnedField(descriptions=(Description(where=("class price",)),))
MODEL = fields_model_to_bytes(FieldsModel(fields={"price": FIELD})).decode()
schemathesis.openapi.format("fields-model", st.just(MODEL))


def without_patterns_of_addresses(part: Any) -> Any:
    """Return a part of a description without the patterns of addresses, which are said by their format instead."""
    if isinstance(part, dict):
        part = {**part, "format": "iri"} if part.get("pattern") == NO_URL else part
        left_out = {"pattern"} if part.get("format") in ("iri", "css-selector") else set()
        return {
            name: without_patterns_of_addresses(held) for name, held in part.items() if name not in left_out
        }
    return [*map(without_patterns_of_addresses, part)] if isinstance(part, list) else part


KINDS: dict[str, JobKind] = {"/v1/fields": "fields", "/v1/fields/learn": "learn_fields", "/v1/sync": "sync"}
MODELS = {
    path: jsonschema_rs.validator_for(REQUESTS[kind].model_json_schema()) for path, kind in KINDS.items()
}


@pytest.fixture(scope="module")
def description() -> OpenApiSchema:
    # An address or a body that is too long is refused before it is looked at.
    refusals = [
        "400",
        "401",
        "403",
        "404",
        "405",
        "406",
        "409",
        "413",
        "414",
        "415",
        "422",
        "428",
        "429",
        "5xx",
    ]
    config = schemathesis.Config.from_dict(
        {"checks": {"negative_data_rejection": {"expected-statuses": refusals}}}
    )
    return schemathesis.openapi.from_dict(without_patterns_of_addresses(document()), config=config)


# Read when the test runs: the thousands of requests are not made where this file is only collected.
schema = schemathesis.pytest.from_fixture("description")


@pytest.fixture(autouse=True)
def node_id(request: pytest.FixtureRequest) -> None:
    """Give the test the name that the library looks for and this pytest keeps elsewhere."""
    request.node._nodeid = request.node.nodeid


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with unlimited(tmp_path_factory.mktemp("openapi")) as made:
        yield made


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_requests_get_what_the_description_says(case: Case[Any], service: Stage) -> None:
    # The library puts examples of fields together without the rules between fields, and calls what comes of it valid.
    model = MODELS.get(case.path)
    is_wrong = model is not None and isinstance(case.body, dict) and not model.is_valid(case.body)
    excluded: list[Any] = [positive_data_acceptance] if is_wrong else []
    case.call_and_validate(base_url=service.url, timeout=300, excluded_checks=excluded)
