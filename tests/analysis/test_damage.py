"""Warnings name results that a reader would not trust, and no others."""

import json
from dataclasses import replace

import numpy as np
import pytest

import domsieve
from domsieve.analysis.document.damage import HiddenPart, garbled_share, hidden_part, with_warnings
from domsieve.tasks.postprocess import remarks, with_condition
from tests.analysis.contract import SENTENCE
from tests.analysis.test_document import WORDS, keeping, page


def kinds(body: str, *wanted: str) -> list[str]:
    snapshot = page(body)
    return [warning.kind for warning in with_warnings(snapshot, keeping(snapshot, *wanted)).warnings]


def test_headings_without_their_text() -> None:
    body = "".join(f"<h2>Part {name}</h2><p>{WORDS}</p>" for name in "abc")
    assert kinds(body, "Part") == ["headings_without_text"]
    assert kinds(body, "Part", "Wipe") == []
    assert kinds(f"{body}<h2>End</h2><p>no</p>", "Part", "Wipe", "End") == []


def test_text_that_is_cut_before_its_end() -> None:
    first, rest = f"<p>{SENTENCE * 9}</p>", f"<p>{WORDS * 2}</p>" * 3
    snapshot = page(f"<article>{first}{rest}</article>")
    (warning,) = with_warnings(snapshot, keeping(snapshot, "The mill")).warnings
    words = 3 * 2 * len(WORDS.split())
    assert warning.kind == "text_cut"
    assert f"{words} words" in warning.detail
    assert kinds(f"<article>{first}<p>{WORDS}</p></article>", "The mill") == []
    assert kinds(f"<article>{rest}{first}</article>", "The mill") == []
    assert kinds(f"<article>{first}</article><article>{rest}</article>", "The mill") == []
    assert kinds(f"<article>{first}<div class=comments><p>x</p>{rest}</div></article>", "The mill") == []


def test_a_page_that_is_mostly_hidden_says_what_to_do() -> None:
    hidden = f"<div style='display:none'><p>{WORDS * 3}</p><p>{SENTENCE * 9}</p></div>"
    snapshot = page(f"<p>{SENTENCE}</p>{hidden}")
    verdict = keeping(snapshot, "The mill")
    (warning,) = with_warnings(snapshot, verdict).warnings
    assert warning.kind == "hidden_content"
    assert "Render the page, or use --hidden keep" in warning.detail
    assert with_warnings(snapshot, replace(verdict, parameters={"hidden": "keep"})).warnings == ()


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("Die Mühle wurde 1804 gebaut. «Écoutez», dit-il à l’élève. İstanbul, Ærø, ÄÖÜ", 0.0),
        ("风车建于一八〇四年，现在还在磨面。", 0.0),
        ("Die Mühle wurde für die Bäcker gebaut".encode().decode("cp1252"), 0.15),
        ("风车建于一八〇四年，现在还在磨面。".encode().decode("cp1252", "replace"), 0.8),
        ("风车建于一八〇四年，现在还在磨面。".encode().decode("gb18030", "ignore"), 0.5),
        ("风车建于一八〇四年".encode("gb18030").decode("latin-1"), 0.9),
    ],
)
def test_letters_of_a_wrong_encoding(text: str, share: float) -> None:
    snapshot = page(f"<p>{text}</p>")
    found = garbled_share(snapshot, keeping(snapshot, text[:5].strip()))
    assert found >= share if share else found == 0


def test_the_expected_f1_falls_with_garbled_letters() -> None:
    text = (SENTENCE + "Die Mühle wurde für die Bäcker gebaut. ").encode().decode("cp1252") * 3
    snapshot = page(f"<p>{text}</p>")
    verdict = replace(keeping(snapshot, text[:5]), expected_f1=0.9)
    found = with_condition(snapshot, verdict)
    assert found.expected_f1 == pytest.approx(0.9 * (1 - garbled_share(snapshot, verdict)))
    assert garbled_share(snapshot, verdict) > 0
    assert any("wrong encoding" in remark for remark in remarks(snapshot, found))


def test_methods_as_published_get_no_warnings() -> None:
    snapshot = page("".join(f"<h2>Part {name}</h2><p>{WORDS}</p>" for name in "abc"))
    assert with_warnings(snapshot, keeping(snapshot, "Part", mode="paper")).warnings == ()
    nothing = keeping(snapshot, "Part")
    assert with_warnings(snapshot, replace(nothing, kept=np.zeros_like(nothing.kept))).warnings == ()


def test_results_have_warnings_and_the_threshold() -> None:
    result = domsieve.clean(f"<body><main><h1>Oven</h1><p>{WORDS * 4}</p><p>{SENTENCE * 5}</p></main></body>")
    told = json.loads(result.write("json"))
    assert result.warnings == ()
    assert told["warnings"] == []
    assert 0 < told["threshold"] < 1
    assert told["threshold"] == round(result.verdict.threshold or 0, 6)
    kept = [block for block in told["blocks"] if block["reason"] == "looks like content"]
    assert all(block["score"] >= told["threshold"] for block in kept)


PARAGRAPH = "<p>This is a paragraph of fifteen plain words, which reads as texts of articles do.</p>"
CHINESE = f"<p>{'这是一个很长的段落' * 20}</p>"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", HiddenPart(words=0, hidden=0, is_content_like=False)),
        (PARAGRAPH, HiddenPart(words=15, hidden=0, is_content_like=False)),
        (f"{PARAGRAPH}<div hidden>{PARAGRAPH * 9}</div>", HiddenPart(150, 135, is_content_like=True)),
        (f"<p>few</p><div hidden>{PARAGRAPH}</div>", HiddenPart(16, 15, is_content_like=False)),
        (f"<div hidden>{'<p>one of many</p>' * 99}</div>", HiddenPart(297, 297, is_content_like=False)),
        (f"<div hidden><a>{PARAGRAPH * 9}</a></div>", HiddenPart(135, 135, is_content_like=False)),
        (f"<p>few</p><div hidden>{CHINESE}</div>", HiddenPart(113, 112, is_content_like=True)),
        (f"<script>{PARAGRAPH}</script>", HiddenPart(words=0, hidden=0, is_content_like=False)),
    ],
)
def test_the_hidden_part_is_counted_and_judged(body: str, expected: HiddenPart) -> None:
    assert hidden_part(page(body)) == expected


def test_the_hidden_share_is_that_of_words() -> None:
    assert HiddenPart(words=150, hidden=135, is_content_like=True).share == 0.9
    assert HiddenPart(words=0, hidden=0, is_content_like=False).share == 0
