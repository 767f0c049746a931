"""Files of models of fields, and examples: whatever is in one works, or is refused by name."""

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

from domsieve.analysis.fields.examples import parse_examples
from domsieve.analysis.fields.extraction import extract
from domsieve.analysis.fields.fields_model import fields_model_from_bytes, fields_model_to_bytes
from domsieve.errors import DamagedFileError, FormatVersionError, UsageError
from tests.analysis.test_learned_fields import learned, listing, page
from tests.fuzz.damage import altered, damaged, odd_values
from tests.fuzz.fuzzing import fuzzed


@cache
def data_of_a_model() -> bytes:
    return fields_model_to_bytes(learned(3, 4, others=range(100, 104)))


def use(data: bytes) -> None:
    """Read a model and, if it is one, work with it; only errors of the project may come of that."""
    try:
        model = fields_model_from_bytes(data, name="a.json")
    except (DamagedFileError, FormatVersionError) as error:
        model, said = None, str(error)
    if model is None:
        assert "a.json" in said
        return
    assert fields_model_from_bytes(fields_model_to_bytes(model)) == model
    for one in (page(6), listing(1, 4)):
        found = extract(one, model)
        rows = found.records or (found.fields,)
        assert all(0 <= value.confidence <= 1 for row in rows for value in row.values())


@fuzzed(30, data=st.deferred(lambda: damaged(data_of_a_model())))
def test_a_damaged_file_works_or_is_refused(data: bytes) -> None:
    use(data)


@fuzzed(30, content=st.deferred(lambda: altered(json.loads(data_of_a_model()))))
def test_a_model_that_was_made_by_hand_works_or_is_refused(content: Any) -> None:
    use(json.dumps(content, default=str).encode("utf-8", "replace"))


@fuzzed(30, values=st.lists(odd_values, max_size=3), key=st.sampled_from(("fields", "records", "url")))
def test_odd_examples_are_refused_by_line(values: list[Any], key: str) -> None:
    lines = [json.dumps({"url": "https://a.example/", key: value}, default=str) for value in values]
    try:
        parse_examples("\n".join(lines), name="e.jsonl")
    except UsageError as error:
        said = str(error)
    else:
        said = "e.jsonl"
    assert "e.jsonl" in said
