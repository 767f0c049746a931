"""The heading that is the title is kept where a method drops it, and nothing else is changed."""

from dataclasses import replace

import numpy as np
import pytest

from domsieve.analysis.cleaning.hidden_text import drop_hidden
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.metadata.page_metadata import read_metadata
from domsieve.analysis.metadata.title import TITLE_REASON, keep_title, restore_title
from domsieve.analysis.metadata.values import Metadata
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot

HEAD = "<title>Rain in the hills – The Post</title>"
BODY = "<header><h1>Rain <em>in</em> the hills</h1></header><p>It rained.</p>"


def page(body: str) -> Snapshot:
    return parse_html(f"<head>{HEAD}</head><body>{body}</body>".encode(), url="https://example.org/")


def only_paragraphs(snapshot: Snapshot, **parameters: str | bool) -> Verdict:
    """Return a verdict that keeps what stands in paragraphs."""
    kept = np.zeros(len(snapshot), np.bool_)
    kept[0] = True
    for node in range(len(snapshot)):
        if snapshot.tag_name(node) == "p":
            kept[node : snapshot.end[node]] = True
    return Verdict(
        "test",
        kept,
        kept.astype(np.float32),
        np.zeros(len(snapshot), np.uint8),
        ("judged",),
        parameters=parameters,
    )


def test_a_dropped_title_is_kept_with_a_reason_of_its_own() -> None:
    snapshot = page(BODY)
    before = only_paragraphs(snapshot)
    after = keep_title(snapshot, before, read_metadata(snapshot))
    assert write_text(snapshot, after) == "Rain in the hills\nIt rained.\n"
    assert {after.reasons[n] for n in after.reason[after.kept & ~before.kept].tolist()} >= {TITLE_REASON}
    assert write_text(snapshot, before) == "It rained.\n"
    assert write_text(snapshot, restore_title(snapshot, before)) == write_text(snapshot, after)


def test_the_mark_by_which_it_links_to_itself_is_not_kept() -> None:
    snapshot = page(BODY.replace("Rain in the hills", "Rain in the hills<a href=#rain>¶</a>"))
    after = restore_title(snapshot, only_paragraphs(snapshot))
    assert write_text(snapshot, after) == "Rain in the hills\nIt rained.\n"


def test_what_no_browser_shows_in_it_is_not_kept() -> None:
    inside = "<datalist>send</datalist><title>your</title><noscript>keys</noscript><template>now</template>"
    snapshot = page(BODY.replace("hills</h1>", f"hills{inside}</h1>"))
    before = only_paragraphs(snapshot)
    after = restore_title(snapshot, before)
    assert write_text(snapshot, after) == "Rain in the hills\nIt rained.\n"
    everything = replace(before, kept=np.ones(len(snapshot), np.bool_))
    dropped = drop_hidden(snapshot, everything, hidden="layout")
    assert write_text(snapshot, dropped) == "Rain in the hills\nIt rained.\n"


@pytest.mark.parametrize(
    "body",
    [
        "<h1>The Post</h1><h1>Another matter</h1><p>It rained.</p>",  # no heading is the title
        "<h1 hidden>Rain in the hills</h1><p>It rained.</p>",
        "<h2>Rain in the hills</h2><p>It rained.</p>",
        "<h1>Rain in the hills</h1>",  # nothing is kept
        "<h1>Rain in the hills</h1><p>It rained.</p><p><h2>Rain in the hills</h2></p>",
    ],
)
def test_nothing_else_is_kept(body: str) -> None:
    snapshot = page(body)
    before = only_paragraphs(snapshot)
    if "<h2>" in body and "<h1>" in body:
        kept = before.kept.copy()
        second = next(n for n in range(len(snapshot)) if snapshot.tag_name(n) == "h2")
        kept[second : snapshot.end[second]] = True
        before = replace(before, kept=kept)
    hidden = drop_hidden(snapshot, before, hidden="layout")
    assert write_text(snapshot, restore_title(snapshot, hidden)) == write_text(snapshot, hidden)


def test_a_kept_title_stays_as_it_is() -> None:
    snapshot = page(BODY)
    verdict = NoCleaning().transform(snapshot)
    assert restore_title(snapshot, verdict) is verdict
    assert keep_title(snapshot, verdict, read_metadata(snapshot)) is verdict
    assert keep_title(snapshot, only_paragraphs(snapshot), Metadata()).reasons == ("judged",)


@pytest.mark.parametrize("parameters", [{"mode": "paper"}, {"complement": True}])
def test_papers_and_what_the_main_region_leaves_are_left_alone(parameters: dict[str, str | bool]) -> None:
    snapshot = page(BODY)
    verdict = only_paragraphs(snapshot, **parameters)
    assert restore_title(snapshot, verdict) is verdict
