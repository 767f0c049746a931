"""Errors keep what they know, also on their way from another process."""

import pickle
from datetime import timedelta
from typing import Any

import pytest

from domsieve.errors import DomsieveError, NavigationError, PolicyError, TargetError, UsageError

CONTEXT: dict[str, Any] = {
    "url": "http://a.example/",
    "stage": "navigate",
    "elapsed": timedelta(seconds=1),
    "retry": True,
}


@pytest.mark.parametrize(
    "error",
    [
        DomsieveError("x", **CONTEXT),
        UsageError("x", parameter="threshold", **CONTEXT),
        TargetError("x", parameter="targets"),
        PolicyError("x", reason="private", **CONTEXT),
        NavigationError("x", timed_out=True, **CONTEXT),
    ],
)
def test_an_error_comes_whole_from_another_process(error: DomsieveError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), vars(again), str(again)) == (type(error), vars(error), str(error))


def test_what_is_not_said_is_unknown() -> None:
    assert UsageError("x").parameter is None
    assert PolicyError("x").reason is None
    assert not NavigationError("x").timed_out


def test_its_text_says_where() -> None:
    assert str(PolicyError("No.", stage="navigate", url="http://a.example/")) == (
        "No. (at navigate of http://a.example/)"
    )
