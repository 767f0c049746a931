"""Starting a Ray on this machine, with a stand-in for Ray: what is tried again, and that a token is asked for."""

import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from domsieve.bulk.on_ray import RayEngine
from domsieve.errors import UsageError


def stand_in(monkeypatch: pytest.MonkeyPatch, *faults: Exception) -> list[dict[str, Any]]:
    """Put a Ray in place whose first starts fail; return what its starts were called with."""
    called: list[dict[str, Any]] = []
    read: list[str] = []

    def init(**how: Any) -> None:
        called.append({**how, "mode": os.environ.get("RAY_AUTH_MODE"), "is_read": bool(read)})
        if len(called) <= len(faults):
            raise faults[len(called) - 1]

    ray = SimpleNamespace(
        init=init,
        remote=lambda **_: lambda made: made,
        _raylet=SimpleNamespace(Config=SimpleNamespace(initialize=read.append)),
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "")  # so that it is put back
    monkeypatch.delenv("RAY_AUTH_MODE")
    return called


def test_a_start_that_takes_too_long_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    late = Exception("The current node timed out during startup.")
    called = stand_in(monkeypatch, RuntimeError("Timed out waiting for file x"), late)
    assert RayEngine(None, 2).slots == 2
    assert len(called) == 3
    called = stand_in(monkeypatch, late, late, late)
    with pytest.raises(UsageError, match="timed out during startup"):
        RayEngine(None, 2)
    assert len(called) == 3


def test_another_fault_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    called = stand_in(monkeypatch, ValueError("no such thing"))
    with pytest.raises(UsageError, match="no such thing"):
        RayEngine(None, 2)
    assert len(called) == 1
    called = stand_in(monkeypatch, ConnectionError("Timed out"))
    with pytest.raises(UsageError, match="Timed out"):
        RayEngine("head:6379", 2)
    assert [one["address"] for one in called] == ["head:6379"]


@pytest.mark.parametrize("own", ["", "disabled"])
def test_a_token_is_asked_for_unless_the_user_says_otherwise(
    own: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (called,) = [stand_in(monkeypatch)]
    if own:
        monkeypatch.setenv("RAY_AUTH_MODE", own)
    RayEngine(None, 2)
    # What Ray read of the environment when it was imported is read anew.
    assert [(one["mode"], one["is_read"]) for one in called] == [(own or "token", not own)]


def test_how_a_cluster_is_kept_is_its_own_business(monkeypatch: pytest.MonkeyPatch) -> None:
    called = stand_in(monkeypatch)
    RayEngine("head:6379", 2)
    assert [one["mode"] for one in called] == [None]
