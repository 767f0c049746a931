"""Text by language: what language a page is in, how figures and their intervals are pooled, what the tables say."""

import pytest

from experiments.corpora.origins import domain_of, language_of
from experiments.experiments.languages import LANGUAGES
from experiments.frame.experiment import Row
from experiments.measures.papers import bootstrap_interval, ratio_with_interval


@pytest.mark.parametrize(
    ("html", "url", "language"),
    [
        ('<html lang="de-AT">', "https://e.example/", "German"),
        ("<HTML class=x LANG=en>", "https://e.de/", "English"),
        ('<html xml:lang="fr">', "", "French"),
        ('<html lang="zh-Hans">', "", "Chinese"),
        ('<html lang="pl">', "https://e.de/", "other"),
        ('<html data-lang="en">', "https://e.at/", "German"),
        ('<html lang="">', "https://e.co.uk/", "English"),
        ("<p lang=fr>", "https://e.com/", "unknown"),
        ("<p>", "0001", "unknown"),
    ],
)
def test_a_page_says_its_language_or_its_address_does(html: str, url: str, language: str) -> None:
    assert language_of(html, url) == language


def test_a_domain_is_the_host_or_the_name_of_the_page() -> None:
    assert domain_of("https://www.e.example/a", "a") == "e.example"
    assert domain_of("", "a") == domain_of("0001", "a") == "a"


def test_ratios_are_pooled_and_pages_of_a_domain_are_drawn_together() -> None:
    assert ratio_with_interval([1, 3], [2, 4], ["a", "a"], seed=0) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert ratio_with_interval([0, 0], [0, 0], ["a", "b"], seed=0) == (0, 0, 0)
    values = [0.0, 1.0] * 20
    mean, low, high = ratio_with_interval(values, [1] * 40, list(map(str, range(40))), seed=0)
    assert mean == 0.5
    assert (low, high) == pytest.approx(bootstrap_interval(values, seed=0), abs=0.03)
    halves = [str(number % 2) for number in range(40)]
    assert ratio_with_interval(values, [1] * 40, halves, seed=0)[1:] == (0.0, 1.0)


def row(corpus: str, language: str, *figures: float, failed: bool = False) -> Row:
    return {
        "corpus": corpus,
        "page": "a",
        "domain": f"{corpus}.example",
        "language": language,
        "systems": {"auto": list(figures)},
        "failures": ["auto"] * failed,
        "late": ["auto"] * failed,
    }


def test_tables_part_corpora_and_languages() -> None:
    rows = [
        row("wcxb", "English", 0.5, 0.4, 0.6),
        row("wcxb", "English", 0.7, 0.6, 0.8),
        row("trafilatura", "German", 2, 1, 0, 1, failed=True),
    ]
    corpora, languages, sides = LANGUAGES.tables(rows)
    assert corpora.head == ("system", "wcxb (2)", "trafilatura (1)")
    assert corpora.rows == [["auto", "0.600", "0.800"]]
    assert languages.rows == [
        ["wcxb", "English", 2, 1, "0.600"],
        ["trafilatura", "German", 1, 1, "0.800"],
    ]
    assert sides.rows[0] == ["wcxb", "auto", "0.500", "0.700", 0, 0]
    assert sides.rows[1] == ["trafilatura", "auto", "0.667", "1.000", 1, 1]
    assert LANGUAGES.tables([]) == []
