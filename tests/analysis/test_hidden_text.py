"""Hidden text is dropped behind every method, or kept where what stands around it is kept."""

import dataclasses

import numpy as np
import pytest

from domsieve.analysis.cleaning.hidden_text import drop_hidden, hidden_words
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.columns.batch import prune
from domsieve.analysis.columns.covers import _BANDS, Covers
from domsieve.analysis.columns.scene import Scene
from domsieve.analysis.writers.evidence import text_blocks
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.text import write_text
from domsieve.snapshot.page import Kind, Producer
from tests.analysis.pages import page

HTML = (
    "<html><head><title>title</title></head><body><div><p>seen</p><p style='display:none'>secret plan</p>"
    "<div hidden style='display:none'><b>more</b></div></div><script>code</script></body></html>"
)


@pytest.mark.parametrize("producer", ["raw", "rendered"])
def test_hidden_text_is_dropped_or_kept(producer: Producer) -> None:
    snapshot = page(HTML, producer=producer)
    verdict = NoCleaning().transform(snapshot)
    without = drop_hidden(snapshot, verdict, hidden="layout")
    with_it = drop_hidden(snapshot, verdict, hidden="keep")
    assert write_text(snapshot, without).split() == ["seen"]
    assert write_text(snapshot, with_it).split() == ["seen", "secret", "plan", "more"]
    assert (hidden_words(snapshot, without), hidden_words(snapshot, with_it)) == (3, 0)
    assert (without.parameters["hidden"], with_it.parameters["hidden"]) == ("layout", "keep")
    secret = next(n for n in range(len(snapshot)) if snapshot.text_of(n) == "secret plan")
    assert without.reasons[without.reason[secret]] == "hidden: not rendered"
    assert (prune(with_it.kept, snapshot.end) == with_it.kept).all()
    assert verdict.kept.tobytes() == NoCleaning().transform(snapshot).kept.tobytes(), (
        "the verdict itself stays"
    )


@pytest.mark.parametrize("tag", ["head", "noscript", "template", "title"])
def test_tags_that_a_style_sheet_shows_are_judged_as_others(tag: str) -> None:
    # None of them has a box but by a style sheet, so that words planted there would else pass.
    snapshot = page(f"<html><body><p>seen</p><{tag}><i>words</i></{tag}></body></html>", producer="rendered")
    shown = np.flatnonzero([name in {tag, "i"} for name in map(snapshot.tag_name, range(len(snapshot)))])
    texts = [node for node in range(len(snapshot)) if snapshot.text_of(node) == "words"]
    for box, expected in (([0, 900, 50, 20], ["seen", "words"]), ([0, 900, 1, 1], ["seen"])):
        style, boxes, paint = snapshot.style.copy(), snapshot.box.copy(), snapshot.paint.copy()
        nodes = [*shown.tolist(), *texts]
        style[nodes], boxes[nodes], paint[nodes] = style[1], box, 900
        laid_out = dataclasses.replace(snapshot, style=style, box=boxes, paint=paint)
        verdict = drop_hidden(laid_out, NoCleaning().transform(laid_out), hidden="layout")
        assert write_text(laid_out, verdict).split() == expected
        assert write_markdown(laid_out, verdict).replace("*", "").split() == expected
        assert [block.text for block in text_blocks(laid_out, verdict) if block.kept] == ["\n".join(expected)]


def test_hidden_text_amid_noise_stays_away() -> None:
    snapshot = page(
        "<html><body><div><a>menu</a><i style='display:none'>secret</i></div>"
        f"<ul>{'<li><b>x</b><u>y</u></li>' * 9}</ul></body></html>",
        producer="rendered",
    )
    verdict = drop_hidden(snapshot, TagPathFilter().transform(snapshot), hidden="keep")
    assert set(write_text(snapshot, verdict).split()) <= {"x", "y", "xy"}


def test_what_is_covered_agrees_with_trying_every_pair() -> None:
    random = np.random.default_rng(0)
    places = np.hstack((random.integers(0, 90, (3 * _BANDS, 2)), random.integers(2, 40, (3 * _BANDS, 2))))
    boxes = "".join(
        "<p data-box='{0} {1} {2} {3}'>t</p><img data-box='{0} {1} {2} {3}'>".format(*place)
        for place in places
    )
    snapshot = page(f"<html><body>{boxes}</body></html>", producer="rendered")
    scene = Scene(snapshot)
    covers = Covers(scene)
    text = np.flatnonzero(snapshot.kind == Kind.TEXT)
    image = np.flatnonzero(np.array(snapshot.tags.to_list())[snapshot.tag] == "img")
    assert covers.of.tolist() == image.tolist()
    pairs = {
        (int(t), int(p))
        for at, over in covers._bands(scene.rect[text], np.arange(image.size))
        for t in text[at]
        for p in image[over]
    }
    touching = {
        (int(t), int(p))
        for t in text
        for p in image
        if scene.rect[p, 1] <= scene.rect[t, 3] and scene.rect[t, 1] <= scene.rect[p, 3]
    }
    assert touching <= pairs
