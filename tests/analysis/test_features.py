"""Block features: figures of blocks by hand, the weights, and what the method makes of pages."""

import math

import numpy as np
import pytest

from domsieve.analysis import (
    FEATURES,
    BlockFeatures,
    block_features,
    content_probabilities,
    page_blocks,
    write_text,
)
from domsieve.analysis.cleaning.block_features import _depths
from domsieve.analysis.cleaning.features import FeatureWeights, _weights
from domsieve.errors import UsageError
from tests.analysis.contract import body, site

SENTENCE = (
    "The mill was built in 1804, burned down twice, and grinds the flour of the whole valley to this day. "
)
ARTICLE = (
    "<header><ul><li><a href=/>Home</a></li><li><a href=/shop>Shop</a></li></ul></header>"
    "<nav><ul><li><a href=/a>Roads</a></li><li><a href=/b>Rivers</a></li></ul></nav>"
    f"<main><article><h1>The old mill</h1><p>{SENTENCE * 3}</p><p>{SENTENCE * 2}</p></article></main>"
    "<footer><p>© 2026 All rights reserved</p></footer>"
)


def figures(html: str) -> list[dict[str, float]]:
    page = body(html)
    rows = block_features(page, page_blocks(page))
    return [dict(zip(FEATURES, row, strict=True)) for row in rows.tolist()]


class TestFigures:
    def test_of_a_block_are_those_counted_by_hand(self) -> None:
        menu, text = figures("<nav><a href=/>Home page</a> | now</nav><p>One, TWO: 3 words.</p>")
        assert menu["words"] == pytest.approx(math.log1p(4))
        assert menu["link share"] == pytest.approx(2 / 4)
        assert menu["in nav"] == 1
        assert menu["arrows"] == 1
        assert text["words"] == pytest.approx(math.log1p(4))
        assert text["link share"] == 0
        assert text["marks"] == pytest.approx(3 / 4)
        assert text["capitals"] == pytest.approx(4 / 18)
        assert text["digits"] == pytest.approx(1 / 18)
        assert (text["ends a sentence"], text["ends in a colon"], text["is p"], text["in nav"]) == (
            1,
            0,
            1,
            0,
        )
        assert text["position"] == 1 / 2
        assert text["words before"] == pytest.approx(2 / 6)
        assert text["-1: link share"] == pytest.approx(2 / 4)
        assert text["+1: words"] == 0

    def test_of_what_stands_around_are_sums_over_the_elements_above(self) -> None:
        first = figures("<div><section><p>a b c</p><p><a href=/>d</a></p></section><p>e f</p></div>")[0]
        assert first["1 above: words"] == pytest.approx(math.log1p(3))
        assert first["1 above: share"] == pytest.approx(3 / 5)
        assert first["1 above: link share"] == pytest.approx(1 / 4)
        assert first["2 above: words"] == pytest.approx(math.log1p(5))
        assert first["2 above: words per block"] == pytest.approx(5 / 3 / 20)

    def test_of_paths_and_texts_count_what_repeats(self) -> None:
        rows = figures("<ul><li>more</li><li>more</li><li>less</li></ul><p>other</p>")
        assert [row["blocks of path"] for row in rows] == pytest.approx([math.log1p(n) for n in (3, 3, 3, 1)])
        assert [row["repeats"] for row in rows] == pytest.approx([math.log1p(n) for n in (1, 1, 0, 0)])

    @pytest.mark.parametrize("html", ["", "<p>one", "<p></p>", "<div><p>a<p>b"])
    def test_are_finite_on_small_pages(self, html: str) -> None:
        page = body(html)
        rows = block_features(page, page_blocks(page))
        assert rows.shape == (len(page_blocks(page)), len(FEATURES))
        assert np.isfinite(rows).all()

    def test_depth_is_the_number_of_nodes_above(self) -> None:
        for page in site(3):
            above = [0] * len(page)
            for node in range(1, len(page)):
                above[node] = above[page.parent[node]] + 1
            assert _depths(page).tolist() == above


class TestProbabilities:
    def test_follow_the_logistic_function(self) -> None:
        weights = FeatureWeights(0.5, dict.fromkeys(FEATURES, 0.0) | {"words": 2.0})
        row = np.zeros((1, len(FEATURES)))
        row[0, FEATURES.index("words")] = -1.0
        assert content_probabilities(row, weights) == pytest.approx([1 / (1 + math.exp(1.5))])

    def test_use_a_weight_for_every_figure(self) -> None:
        assert tuple(_weights().weights) == FEATURES


class TestBlockFeatures:
    def test_keep_the_article_and_drop_what_stands_around_it(self) -> None:
        page = body(ARTICLE)
        text = write_text(page, BlockFeatures().transform(page))
        assert text.count("grinds the flour") == 5
        assert not {"Roads", "Shop", "reserved"} & set(text.split())

    def test_keep_all_visible_text_of_a_page_unlike_others(self) -> None:
        page = body("<nav><a href=/>Home</a></nav><div style='display:none'>secret</div>")
        verdict = BlockFeatures().transform(page)
        assert write_text(page, verdict).split() == ["Home"]
        assert "nothing here looks like content" in {verdict.reasons[i] for i in verdict.reason[verdict.kept]}

    def test_drop_what_floats_over_a_rendered_page(self) -> None:
        box = f"<div style='position: fixed'><p>{SENTENCE.replace('mill', 'cookie')}</p></div>"
        page = body(ARTICLE + box, producer="rendered")
        verdict = BlockFeatures().transform(page)
        assert "cookie" not in write_text(page, verdict)
        node = next(n for n in page_blocks(page).node.tolist() if "cookie" in page.text_of(n))
        assert verdict.reasons[verdict.reason[node]] == "floats over the page"
        assert "cookie" in write_text(body(ARTICLE + box), BlockFeatures().transform(body(ARTICLE + box)))

    def test_keep_a_page_that_stays_in_place_as_a_whole(self) -> None:
        page = body(f"<div style='position: fixed'>{ARTICLE}</div>", producer="rendered")
        assert write_text(page, BlockFeatures().transform(page)).count("grinds the flour") == 5

    def test_give_the_figures_behind_a_block(self) -> None:
        page = body(ARTICLE)
        verdict = BlockFeatures().transform(page)
        node = next(n for n in page_blocks(page).node.tolist() if "grinds" in page.text_of(n))
        assert verdict.numbers["words"][node] == 3 * len(SENTENCE.split())
        assert verdict.numbers["link_share"][node] == 0
        assert 0.35 <= verdict.score[node] <= 1

    def test_refuse_a_threshold_out_of_range(self) -> None:
        with pytest.raises(UsageError, match="0 to 1"):
            BlockFeatures(threshold=1.5).transform(body("<p>x"))
