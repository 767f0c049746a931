"""The tag path sequence filter on whole pages."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from domsieve.analysis.cleaning.tps import HasContent, TagPathFilter
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.text import write_text
from domsieve.errors import UsageError
from domsieve.snapshot.page import Snapshot
from tests.analysis.pages import page

CARD = "<li class='card'><b>{0}</b><i>text {0}</i></li>"
CARDS = "".join(CARD.format(n) for n in ("one", "two", "three", "four"))
SHOP = f"<nav><a>home</a><a>help</a></nav><ul>{CARDS}</ul><footer><p>small</p><p>print</p></footer>"
KEPT = "onetext one\ntwotext two\nthreetext three\nfourtext four\n"


def body(html: str, **options: Any) -> Snapshot:
    return page(f"<html><head><title>t</title></head><body>{html}</body></html>", **options)


def clean(snapshot: Snapshot, **options: Any) -> str:
    return write_text(snapshot, TagPathFilter(**options).transform(snapshot))


def reasons(snapshot: Snapshot, verdict: Verdict) -> dict[str, str]:
    """Return the reason given for each text and each tag, the last of equal ones."""
    return {
        snapshot.text_of(n) or snapshot.tag_name(n): verdict.reasons[verdict.reason[n]]
        for n in range(len(snapshot))
    }


@pytest.mark.parametrize("producer", ["raw", "rendered"])
@pytest.mark.parametrize("style", ["layout", "full", "html", "none"])
def test_the_records_are_kept(producer: str, style: str) -> None:
    assert clean(body(SHOP, producer=producer), style=style) == KEPT


def test_reasons_scores_and_numbers() -> None:
    snapshot = body(SHOP)
    verdict = TagPathFilter().transform(snapshot)
    told = reasons(snapshot, verdict)
    assert told["one"] == told["li"] == "in the main region"
    assert told["ul"] == told["body"] == told["html"] == "above the main region"
    assert told["home"] == told["nav"] == told["small"] == "outside the main region"
    assert told["title"] == told["t"] == "not visible"
    dropped = [verdict.reasons.index(r) for r in ("outside the main region", "not visible")]
    assert (verdict.kept == ~np.isin(verdict.reason, dropped)).all()
    assert (verdict.score == (verdict.reason == verdict.reasons.index("in the main region"))).all()
    tags = [snapshot.tag_name(n) for n in range(len(snapshot))]
    text = tags.index("#text", tags.index("li"))
    for name, number in {"path": 6, "count": 4, "position": 7}.items():
        assert verdict.numbers[name][text] == verdict.numbers[name][text - 1] == number
    assert np.isnan(verdict.numbers["path"][0])


def test_hidden_elements_of_a_rendered_page_are_not_in_the_sequence() -> None:
    hidden = "<div style='display: none'>" + "<span>x</span>" * 30 + "</div>"
    snapshot = body(hidden + SHOP, producer="rendered")
    assert clean(snapshot) == KEPT
    assert reasons(snapshot, TagPathFilter().transform(snapshot))["x"] == "not visible"


def test_hidden_text_in_the_region_is_not_kept() -> None:
    snapshot = body(SHOP.replace("<i>text two</i>", "<i style='display: none'>text two</i>"), producer="raw")
    assert clean(snapshot) == KEPT.replace("text two", "")


def test_visible_content_of_a_hidden_element_keeps_its_path() -> None:
    wrapped = "<div style='visibility: hidden'><ul style='visibility: visible'>" + CARDS + "</ul></div>"
    assert clean(body(SHOP.replace(f"<ul>{CARDS}</ul>", wrapped), producer="rendered")) == KEPT


def test_styles_tell_equal_tags_apart() -> None:
    rows = "".join(f"<p class='{c}'>{c}{n}</p>" for c in ("x", "y") for n in range(3 if c == "x" else 7))
    kept = "".join(f"y{n}\n" for n in range(7))
    assert clean(body(rows), style="html") == kept
    assert clean(body(rows), style="none") != kept
    bold = rows.replace("class='y'", "style='display: flex'")
    assert clean(body(bold, producer="rendered"), style="layout") == kept


def test_shadow_roots_and_frames_are_looked_through() -> None:
    shop = f"<x-shop><x-shadow-root>{SHOP}</x-shadow-root></x-shop>"
    assert clean(body(shop)) == KEPT
    frame = f"<iframe><x-document><html><head></head><body>{SHOP}</body></html></x-document></iframe>"
    assert clean(body(frame)) == KEPT
    direct = "<x-shadow-root>tail</x-shadow-root>"
    assert "tail" in clean(body(f"<b>x</b><p>{direct}</p>"), max_rounds=0)


def test_generated_text_and_scripts_have_no_say() -> None:
    noise = "<script></script>" * 9 + "<noscript><p>n</p></noscript>" * 9 + "<x-before>b</x-before>" * 9
    assert clean(body(noise + SHOP)) == KEPT


def test_text_in_the_sequence_weighs_pages_of_bare_text() -> None:
    texts = "<br>a" * 17
    snapshot = body(f"<p>{texts}</p><ul>{CARDS}</ul>")
    assert "text one" in clean(snapshot)
    assert "text one" not in clean(snapshot, include_text=True)


def test_a_page_without_any_difference_is_kept_whole() -> None:
    snapshot = body("<p>a</p><p>b</p>")
    assert clean(snapshot) == "a\nb\n"
    assert TagPathFilter().transform(snapshot).parameters["rounds"] == 0


@pytest.mark.parametrize("html", ["", "<html></html>", "<html><head></head><body></body></html>", "<p>x</p>"])
@pytest.mark.parametrize("mode", ["site", "paper"])
def test_odd_pages_do_no_harm(html: str, mode: str) -> None:
    assert clean(page(html), mode=mode) == ("x\n" if "x" in html else "")


def test_a_frameset_is_a_body() -> None:
    frames = "<frameset><frame><x-document><html><body><b>x</b></body></html></x-document></frame></frameset>"
    verdict = TagPathFilter().transform(page(f"<html><head></head>{frames}</html>"))
    assert np.nanmax(verdict.numbers["position"]) == 5


def test_paper_mode_compares_raw_classes_and_counts_text() -> None:
    snapshot = body(
        "<p class='a b'>x</p><p class='b a'>y</p> <style></style><script></script><noscript>n</noscript>"
    )
    verdict = TagPathFilter(mode="paper").transform(snapshot)
    assert np.nanmax(verdict.numbers["position"]) == 6  # body, two p, their texts, style
    assert np.nanmax(verdict.numbers["path"]) == 6
    user = TagPathFilter().transform(snapshot)
    assert np.nanmax(user.numbers["path"]) == 2


def test_deep_pages_do_not_recurse() -> None:
    depth = 50_000
    snapshot = body("<div>" * depth + "x" + "</div>" * depth)
    assert clean(snapshot) == "x\n"


def test_a_sequence_gives_a_list_and_clone_keeps_the_parameters() -> None:
    method = clone(TagPathFilter(gap=0.3, mode="paper"))
    assert method.get_params()["gap"] == 0.3
    snapshot = body(SHOP)
    first, second = method.transform([snapshot, snapshot])
    assert (first.kept == second.kept).all()
    assert first.method == "tps"
    told = {name: value for name, value in method.get_params().items() if name != "has_text"}
    assert first.parameters == {**told, "rounds": 2}
    asked = TagPathFilter(has_text="end").transform(snapshot)
    assert asked.parameters["has_text"] == "end"


FOOTER = SHOP.replace("<footer>", "<footer><h6>end</h6>")


def has(word: str) -> HasContent:
    return lambda snapshot, nodes: any(word in snapshot.text_of(n) for n in nodes.tolist())


def test_e3_complement_of_a_page() -> None:
    snapshot = body("<p><b>x</b></p>" * 6 + "<div><i>y</i></div>" * 2)
    verdict = TagPathFilter(complement=True).transform(snapshot)
    inside = verdict.reason == verdict.reasons.index("in the complement")
    assert np.unique(verdict.numbers["position"][inside]).tolist() == [1, 14, 15, 16, 17]
    assert write_text(snapshot, verdict) == "y\ny\n"


def test_e5_complement_of_a_page() -> None:
    snapshot = body("<div><a>x</a></div><ul>" + "<li>one</li>" * 2 + "</ul>")
    assert clean(snapshot) == "one\none\n"
    verdict = TagPathFilter(complement=True).transform(snapshot)
    assert write_text(snapshot, verdict) == "x\n"
    told = reasons(snapshot, verdict)
    assert told["x"] == told["div"] == told["a"] == told["ul"] == "in the complement"
    assert told["html"] == "above the complement"
    assert told["one"] == told["li"] == "in the main region, which is left out"
    assert (verdict.score == (verdict.reason == verdict.reasons.index("in the complement"))).all()


def test_algorithm_6_keeps_the_complement_where_the_content_is_not_in_the_region() -> None:
    snapshot = body(FOOTER)
    found = TagPathFilter().transform(snapshot, has_content=has("three"))
    assert write_text(snapshot, found) == KEPT
    missed = TagPathFilter().transform(snapshot, has_content=has("print"))
    assert write_text(snapshot, missed) == "home\thelp\nend\nsmall\nprint\n".replace("\t", "")
    turned = TagPathFilter(complement=True).transform(snapshot, has_content=has("three"))
    assert write_text(snapshot, turned) == KEPT


def test_the_content_test_sees_what_would_be_kept() -> None:
    seen: list[list[str]] = []

    def look(snapshot: Snapshot, nodes: NDArray[np.int64]) -> bool:
        seen.append([t for n in nodes.tolist() if (t := snapshot.text_of(n))])
        return True

    hidden = body(SHOP.replace("<i>text two</i>", "<i style='display: none'>text two</i>"), producer="raw")
    TagPathFilter().transform([hidden, hidden], has_content=look)
    TagPathFilter(complement=True).transform(hidden, has_content=look)
    kept = ["one", "text one", "two", "three", "text three", "four", "text four"]
    assert seen == [kept, kept, ["home", "help", "small", "print"]]


def test_several_regions_of_a_heterogeneous_page() -> None:
    rows = "".join(
        f"<p><{tag}>{tag}{n}</{tag}></p>" for tag in ("b", "i") for n in range(4 + 8 * (tag == "i"))
    )
    html = f"<nav><a>home</a></nav><main>{rows.replace('<p><b>', '<h2><b>').replace('</b></p>', '</b></h2>')}</main>"
    snapshot = body(html)
    assert clean(snapshot) == "".join(f"i{n}\n" for n in range(12))
    both = "".join(f"b{n}\n" for n in range(4)) + clean(snapshot)
    assert clean(snapshot, regions=2) == both
    number = TagPathFilter().transform(snapshot).numbers["region"]
    regions = {snapshot.text_of(n): number[n] for n in range(len(snapshot)) if snapshot.text_of(n)}
    assert regions["i0"] == 1
    assert regions["b0"] == regions["b3"] == 2
    assert regions["home"] > 2


def test_the_filter_can_be_pickled_and_cloned_with_every_parameter() -> None:
    options: dict[str, Any] = {
        "cuts": "best",
        "regions": 3,
        "complement": True,
        "include_text": True,
        "max_rounds": 7,
    }
    method = TagPathFilter(**options)
    for twin in (clone(method), pickle.loads(pickle.dumps(method))):
        assert twin.get_params() == method.get_params()


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "x"},
        {"mode": "user"},
        {"gap": 1.0},
        {"gap": -0.1},
        {"min_fraction": 2.0},
        {"cuts": "rightmost"},
        {"regions": 0},
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        TagPathFilter(**options).transform(body(SHOP))
