"""How the learned cleaner is learned: trees as LightGBM has them, tokens, equal bytes, and the tables."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from domsieve.analysis.auto.model import UNIT, read_model, shipped_model, write_model
from domsieve.analysis.trees.sst import SiteStyleTree
from experiments.corpora.magic_pages import magic_pages
from experiments.corpora.main_elements import MainPage
from experiments.experiments.auto_documents import Source, document_tables, measure_documents, unseen_table
from experiments.experiments.auto_tables import GRID, tables
from experiments.measures.word_scores import count_words
from experiments.systems.auto_learning import (
    LearningPage,
    Lessons,
    calibration_of,
    chosen,
    evidence_of,
    learn_pages,
    learn_tokens,
    model_of,
    part_of,
    with_segments,
)
from experiments.systems.tree_learning import PARAMETERS, ROUNDS, learn_trees
from tests.analysis.contract import ARTICLE, SENTENCE, body, site

lightgbm = pytest.importorskip("lightgbm")


def test_trees_say_what_lightgbm_says(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(0)
    figures = chance.normal(size=(600, 5)).astype(np.float32)
    figures[chance.random(figures.shape) < 0.1] = np.nan
    figures[:, 4] = np.round(np.nan_to_num(figures[:, 4]))  # a figure that is never missing
    content = np.nan_to_num(figures[:, 0]) + figures[:, 4] > chance.normal(size=600)
    weight = chance.random(600) + 0.5
    monkeypatch.setitem(PARAMETERS, "feature_fraction", 0.6)
    learned = learn_trees(figures, content, weight, np.array([0, 0, 1, 1, 1]))
    data = lightgbm.Dataset(figures, content.astype(np.float64), weight=weight / weight.mean())
    theirs = lightgbm.train(PARAMETERS, data, ROUNDS).predict(figures, raw_score=True)
    leaves = learned.leaves(figures.T.copy())
    ours = learned.log_odds(leaves) / UNIT
    assert ours == pytest.approx(theirs, abs=0.01)
    assert (learned.bias / UNIT + learned.shares_of(leaves).sum(axis=0) / UNIT) == pytest.approx(
        theirs, abs=0.02
    )
    # What is never missing where it was learned counts as 0 where it is.
    unknown = figures[:20].copy()
    unknown[:, 4] = np.nan
    known = np.nan_to_num(unknown, nan=0.0)
    known[:, :4] = unknown[:, :4]
    assert (learned.leaves(unknown.T.copy()) == learned.leaves(known.T.copy())).all()


def learning_pages() -> list[LearningPage]:
    pages = []
    for number in range(12):
        text = f"{SENTENCE * (1 + number % 3)} Page {number}."
        pages.append(
            evidence_of(
                body(ARTICLE.replace("The old mill", f"Mill {number}") + f"<p>{text}</p>"),
                f"Mill {number} {SENTENCE * 5} {text}",
                corpus="wcxb",
                group=f"{number}.example",
                name=str(number),
                kind="article",
            )
        )
    return pages


class TestLearning:
    def test_labels_are_the_best_choice(self) -> None:
        page = learning_pages()[0]
        assert page.truth.f1(page.content) == pytest.approx(1)
        assert not page.content[:4].any()

    def test_a_page_without_blocks_is_no_hindrance(self) -> None:
        empty = evidence_of(body(""), "", corpus="wcxb", group="e", name="e", kind="article")
        assert len(empty) == 0
        pages = [*learning_pages(), empty]
        assert learn_pages(pages).log_odds(pages[0]).size == len(pages[0])

    def test_equal_pages_give_equal_bytes(self) -> None:
        by = calibration_of([0.1, 0.5, 0.9], [0.0] * 3, [0.0, 0.6, 0.8])
        first, second = (write_model(model_of(learn_pages(learning_pages()), by)) for _ in range(2))
        assert first == second
        assert read_model(first).figures == learn_pages(learning_pages()).names

    def test_trees_may_be_learned_without_a_group_of_figures(self) -> None:
        lessons = Lessons.of(learning_pages())
        whole, poorer = lessons.learned(), lessons.learned(without="text")
        text = [number for number, group in enumerate(lessons.groups) if group == "text"]
        assert np.isin(whole.trees.figure[np.isfinite(whole.trees.threshold)], text).any()
        assert not np.isin(poorer.trees.figure[np.isfinite(poorer.trees.threshold)], text).any()

    def test_tokens_of_one_domain_alone_weigh_nothing(self) -> None:
        pages = learning_pages()
        weights = learn_tokens(pages[:1])
        assert not weights.names.any()
        assert not weights.texts.any()
        assert learn_tokens(pages).texts.any()

    def test_what_is_neutral_is_never_chosen(self) -> None:
        page = body("<p>one two three</p>")
        learned = evidence_of(
            *(page, "one two three"),
            corpus="sites",
            group="s",
            name="n",
            kind="api",
            neutral=np.ones(len(page), np.bool_),
            by_tree=SiteStyleTree().fit(site()).transform(page),
        )
        assert not chosen(learned, np.full(len(learned), UNIT)).kept.any()
        assert learned.by_tree is not None

    def test_segments_label_the_blocks_that_hold_them(self) -> None:
        page = learning_pages()[0]
        texts = [f"menu {number}" for number in range(len(page))]
        texts[0], texts[1] = (
            "The mill was  built in 1804, and it grinds",
            "Read more about mills and bakers here",
        )
        texts[2] = "a mill was built, and bakers"
        wanted, unwanted = ("mill was built",), (f"More: {texts[1]}.", "and bakers")
        learned = with_segments(page, texts, wanted, unwanted)
        assert learned.content[:3].tolist() == [True, False, False]
        assert learned.known.tolist() == [True, True] + [False] * (len(page) - 2)
        assert (learned.weight > 0).tolist() == learned.known.tolist()

    def test_blocks_without_a_label_teach_nothing(self) -> None:
        pages = learning_pages()
        none = np.zeros(len(pages[0]), np.bool_)
        silent = [
            replace(page, corpus="trafilatura", known=none[: len(page)], group="t") for page in pages[:2]
        ]
        plain, more = Lessons.of(pages), Lessons.of([*pages, *silent])
        assert more.content.tobytes() == plain.content.tobytes()
        assert (more.tokens.texts == plain.tokens.texts).all()

    def test_the_address_is_unknown_for_half_of_the_domains(self) -> None:
        lessons = Lessons.of(learning_pages())
        depth = lessons.figures[:, lessons.names.index("address depth")]
        words = lessons.figures[:, lessons.names.index("words")]
        assert 0 < np.isnan(depth).mean() < 1
        assert not np.isnan(words).any()

    def test_pages_without_spaces_share_the_curve_of_the_others(self) -> None:
        promised, found = [0.2, 0.4, 0.6, 0.8], [0.3, 0.5, 0.7, 0.9]
        spaced = calibration_of(promised, [0.0] * 4, found)
        assert spaced.single_gain == 0
        assert spaced.f1(0.4, single_share=1) == pytest.approx(0.5)
        # Odds of 1 that count twice are a probability of 2/3.
        both = calibration_of([*promised, 0.5, 0.5], [0.0] * 4 + [1.0] * 2, [*found, 0.7, 0.8333])
        assert both.single_gain == 2 - 1
        assert both.f1(0.5, single_share=1) == pytest.approx(23 / 30, abs=1e-3)
        assert both.f1(0.4, single_share=0) == pytest.approx(0.5)

    def test_the_gain_of_one_script_alone_is_unknown(self) -> None:
        assert calibration_of([0.2, 0.8], [1.0, 0.9], [0.5, 0.9]).single_gain == 0

    def test_parts_depend_on_the_name_alone(self) -> None:
        assert part_of("a.example", 5, "fold") == part_of("a.example", 5, "fold")
        assert {part_of(f"{n}.example", 5, "fold") for n in range(60)} == set(range(5))


def test_words_of_scripts_without_blanks_are_characters() -> None:
    assert count_words("漢字 kana かな ok ok") == {"漢": 1, "字": 1, "kana": 1, "か": 1, "な": 1, "ok": 2}
    assert count_words("漢 a bc", shortest=2) == {"漢": 1, "bc": 1}


def test_pages_of_the_corpus_are_read(tmp_path: Path) -> None:
    import json
    import zipfile

    (tmp_path / "magic").mkdir()
    for kind in ("article", "forum"):
        with zipfile.ZipFile(tmp_path / "magic" / f"{kind}.zip", "w") as archive:
            archive.writestr("pages/a.html", "<p>x</p>")
            archive.writestr(
                "truth/a.json",
                json.dumps({"url": "https://www.e.example/", "content": "x", "language": "zh"}),
            )
    pages = list(magic_pages(tmp_path))
    assert [(page.name, page.domain, page.language, page.truth) for page in pages] == [
        *(("article/a", "e.example", "Chinese", "x"), ("forum/a", "e.example", "Chinese", "x")),
    ]


def test_tables_of_pages_and_sites() -> None:
    favoured = {"balance": 0.8, "precision": 0.7, "recall": 0.6}
    page = {
        **dict.fromkeys(("f1", "precision", "recall"), favoured),
        "corpus": "wcxb",
        "kind": "article",
        "language": "German",
        "empty": False,
        "best": 0.9,
        "peers": {"trafilatura": 0.5},
    }
    pages = [
        {**page, "page": str(number), "fold": number % 5, "expected": number / 40, "single_share": 0.0}
        for number in range(40)
    ]
    systems = {" ".join(f"{step:g}" for step in steps): [0.9, 0.8, 1.0] for steps in GRID}
    systems |= {
        name: [0.5, 0.5, 0.5] for name in ("page alone", "sst", "of few pages", "sst of few pages", "best")
    }
    sites = [
        {"site": f"s{number}", "pages": 2, "permitted": number < 1, "systems": systems} for number in range(2)
    ]
    rendered = {"rendered": "r", "routes": 3, "systems": {"auto": [0.9, 0.8, 1.0], "sst": [0.7, 0.6, 0.9]}}
    ablated = {"ablated": "p", "kind": "article", "without": {"": 0.8, "names": 0.7, "words": 0.75}}
    found = tables([*pages, *sites, ablated, rendered, {"model": "abc", "bytes": 5, "shipped": True}])
    by_title = {table.title: table for table in found}
    single = by_title["Word F1 of single pages of WCXB by type"]
    assert [row[0] for row in single.rows] == ["auto", "trafilatura", "best"]
    assert single.rows[0][1] == "0.800 [0.800, 0.800]"
    assert by_title["Word F1 of single pages by language"].head == ("system", "wcxb, German (40)")
    whole = by_title["Word F1 of whole sites, each left out"]
    assert whole.rows[-1][2] == pytest.approx(0.9)
    assert whole.rows[0][-1] == pytest.approx(0.4)
    assert by_title["The model"].rows == [["abc", 5, "yes"]]
    brings = by_title["What groups of figures bring: word F1 of single pages of WCXB"]
    assert [row[:2] for row in brings.rows] == [
        ["all figures", pytest.approx(0.8)],
        ["without names", pytest.approx(0.7)],
        ["without tokens of texts", pytest.approx(0.75)],
    ]
    assert by_title["Word F1 of rendered sites by the shipped model"].rows == [["r", 3, 0.9, 0.7, 0.8, 1.0]]
    fifths = by_title["Expected F1 against true F1, by fifths"].rows
    assert [row[1] for row in fifths] == [8] * 5
    by_language = by_title["Expected F1 against true F1, by language"].rows
    assert [row[:3] for row in by_language] == [["wcxb", "German", 40]]
    assert not tables([])


MANUAL = (
    "<title>Oven</title><body><nav><a href=/>Home</a></nav>"
    f"<main><h1>Oven</h1><p>{SENTENCE * 4}</p><h2>Door</h2><p>{SENTENCE * 3}</p></main></body>"
)


def test_documents_are_measured_as_users_get_them() -> None:
    truth = f"Oven {SENTENCE * 4} Door {SENTENCE * 3}"
    markdown = f"# Oven\n\n{SENTENCE * 4}\n\n## Door\n\n{SENTENCE * 3}"
    reviewed = Source(
        *("wcxb", "1", "article", "German", "a.example", "http://a.example/b", MANUAL.encode(), truth),
        markdown=markdown,
    )
    marked = replace(reviewed, corpus="trafilatura", markdown="", wanted=("Door",), unwanted=("Home",))
    sources = [reviewed, marked]
    main = MainPage("wcxb/1", reviewed.url, reviewed.source, ("headings",))
    first, second = measure_documents(sources, shipped_model(), {"1": main})
    assert first["f1"][1] > 0.95
    assert first["reference"]["headings"][1] == 1
    assert second["segments"] == [1, 0, 0, 1]
    assert first["main"]["headings"][1] == 1
    assert first["passages"] == [2, 2, 2, 2]
    documents, passages, segments = document_tables([first, second])
    assert documents.rows[0][:3] == ["main element, WCXB", "headings", 1]
    assert passages.rows == [["wcxb", 2, 1.0, 2, 1.0]]
    assert [row[0] for row in segments.rows] == ["all", "German"]
    assert segments.rows[0][1:] == [1, 1.0, 1.0, 1.0]
    unseen = unseen_table([{"left_out": "German", **second}], [first, second])
    assert unseen.rows == [["German", "trafilatura", 1, 1.0, 1.0]]
