"""What a capture is asked for, what a page may cost, and the sources of pages."""

import asyncio
from dataclasses import fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from domsieve.errors import DomsieveError, TargetError, UsageError
from domsieve.options import Budget, CaptureOptions
from domsieve.renderer.page._convert import document_only
from domsieve.renderer.page.capture import Body
from domsieve.renderer.protocol import PageSource, Rendering, ReplaySource
from domsieve.renderer.renderer import Renderer
from domsieve.snapshot.page import Provenance, Snapshot


def test_options_are_scalars_and_equal_for_equal_options(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text("{}", "utf-8")
    options = CaptureOptions(cookies=(("session", "secret"),), headers=(("A", "token"),), storage_state=state)
    canonical = options.canonical()
    assert all(isinstance(value, str | int | float | bool | None) for value in canonical.values())
    assert "secret" not in str(canonical)
    assert "token" not in str(canonical)
    assert (
        canonical
        == CaptureOptions(
            headers=(("A", "token"),), cookies=(("session", "secret"),), storage_state=state
        ).canonical()
    )
    assert canonical != CaptureOptions().canonical()
    state.write_text('{"cookies": []}', "utf-8")
    assert canonical != options.canonical()


def test_clicks_count_only_where_there_are_some() -> None:
    usual = CaptureOptions().canonical()
    assert not {"click", "wait_for"} & usual.keys(), "captures from before would count as others"
    empty: Any = []
    assert CaptureOptions(click=empty).canonical() == usual
    clicked = CaptureOptions(click=("a", "b"), wait_for="#c").canonical()
    assert clicked == usual | {"click": '["a", "b"]', "wait_for": "#c"}
    for wrong in ({"click": ("a", " ")}, {"wait_for": ""}):
        with pytest.raises(UsageError, match="give a CSS selector"):
            CaptureOptions(**wrong)


def test_every_option_counts_that_can_change_a_capture(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text("{}", "utf-8")
    special: dict[str, Any] = {
        "viewport_px": (1, 1),
        "headers": (("a", "b"),),
        "cookies": (("a", "b"),),
        "storage_state": state,
        "settle": "load",
        "render": "never",
        "settle_extra": timedelta(1),
    }
    usual = CaptureOptions()
    same = set()
    for option in fields(usual):
        default = getattr(usual, option.name)
        usual_change = not default if isinstance(default, bool) else ("x",) if default == () else "x"
        other: Any = special.get(option.name, usual_change)
        if replace(usual, **{option.name: other}).canonical() == usual.canonical():
            same.add(option.name)
    assert same == {"both_versions", "screenshot", "record", "record_credentials", "render"}


def test_missing_storage_state_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="storage-state"):
        CaptureOptions(storage_state=tmp_path / "none").canonical()


@pytest.mark.parametrize(
    "amounts",
    [
        {"time": timedelta()},
        {"received_bytes": 0},
        {"requests": 0},
        {"nodes": 0},
        {"frames": -1},
        {"memory_bytes": 0},
    ],
)
def test_a_budget_allows_something(amounts: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Budget(**amounts)


@pytest.mark.parametrize(
    ("text", "encoding", "header", "expected"),
    [
        ("a", "UTF-8", "", b"a"),
        ("é", "UTF-8", "text/html; charset=utf-8", "é".encode()),
        ("<meta charset='UTF8'>é", "UTF-8", "", "<meta charset='UTF8'>é".encode()),
        ("é", "UTF-8", "text/html", "\ufeffé".encode()),
        ("é", "windows-1252", "", b"\xe9"),
        ("é", "UTF-16LE", "", "\ufeffé".encode("utf-16-le")),
        ("\x81é", "windows-1252", "", "\ufeff\x81é".encode()),
        ("é", "x-user-defined", "", "\ufeffé".encode()),
        ("é", "", "", "\ufeffé".encode()),
    ],
)
def test_text_of_a_body_becomes_bytes_again(text: str, encoding: str, header: str, expected: bytes) -> None:
    assert Body(text, is_base64=False).to_bytes(encoding, header) == expected


def test_body_in_base64_is_taken_as_it_is() -> None:
    assert Body("/w==", is_base64=True).to_bytes("UTF-8", "") == b"\xff"


def load(url: str) -> Rendering:
    if "missing" in url:
        raise TargetError("It was never captured.", url=url)
    origin = Provenance(url=url, final_url=url, producer="rendered")
    return Rendering(
        snapshot=Snapshot(**document_only(("display",)), provenance=origin),
        source=None,
        source_reason="replay",
    )


def test_replay_serves_what_was_stored() -> None:
    sources: list[PageSource] = [ReplaySource(load), Renderer()]  # both satisfy the protocol

    async def run() -> dict[str, Rendering | DomsieveError]:
        return {url: outcome async for url, outcome in sources[0].render_many(["a", "missing", "b"])}

    outcomes = asyncio.run(run())
    assert [*outcomes] == ["a", "missing", "b"]
    assert isinstance(outcomes["missing"], TargetError)
    page = asyncio.run(sources[0].render("a", site="s")).snapshot
    assert page.provenance.url == "a"
