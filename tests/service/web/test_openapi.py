"""The description of the API is what the service does: requests made from it, good and bad, all get what it says."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from schemathesis import Case
from schemathesis.checks import load_all_checks

from domsieve.service.jobs.database import Database
from domsieve.service.jobs.store import JobStore
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


# Hosts of all kinds that the pattern lets pass; which names and numbers are one, no pattern can say.
HOSTS = st.from_regex(
    r"[a-z\u00e0-\u00f6\u4e00-\u4e20][a-z0-9-]{0,9}[a-z](\.[a-z]{2,5}){0,3}", fullmatch=True
)
NUMBERS = st.sampled_from(["127.1", "0x7f.1", "2130706433", "[::1]", "[2001:db8::1]"])
schemathesis.openapi.format(
    "iri",
    st.builds(
        "{}://{}{}{}".format,
        st.sampled_from(["http", "https", "HTTP"]),
        HOSTS | NUMBERS,
        st.sampled_from(["", ":", ":8080", ":65535"]),
        st.from_regex(r"([/?#][!-~\u00a1-\u00ff]{0,30})?", fullmatch=True),
    ),
)
schema = schemathesis.openapi.from_dict(document())


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
    case.call_and_validate(base_url=service.url, timeout=300)
