"""The table that opens the document of results: figures out of the tables below it, a line per system."""

from experiments.frame.summary import Answer, summarize
from experiments.frame.tables import Table
from experiments.registry import EXPERIMENTS

TEXT = Table(
    "Word F1 of pages",
    ("system", "all (2)"),
    [["auto", "0.9 [0.8, 1.0]"], ["trafilatura", 0.8], ["sst", 0.7]],
)
_OTHERS: list[list[str | int | float | None]] = [["trafilatura", 0.1], ["readability-lxml, html_text", 0.6]]
MORE = Table("The same of others", ("system", "all (2)"), _OTHERS)
SPEED = Table(
    "Time", ("system", "ms"), [["auto", 12.4], ["all text, resiliparse", 1.0], ["resiliparse", 2.6]]
)


def test_the_first_table_that_knows_a_system_counts_and_columns_stand_by_place() -> None:
    answers = [
        (Answer("time", "Time", "ms", digits=0, place=1), [TEXT, SPEED]),
        (Answer("text", "Word F1", "all"), [TEXT]),
        (Answer("text", "The same", "all"), [MORE]),
    ]
    assert summarize(answers).splitlines()[2:] == [
        "| system | text | time |",
        "|---|---|---|",
        "| domsieve | 0.900 | 12 |",
        "| trafilatura | 0.800 |  |",
        "| resiliparse |  | 3 |",
        "| readability-lxml | 0.600 |  |",
    ]


def test_without_figures_of_ours_there_is_no_summary() -> None:
    assert not summarize([])
    assert not summarize([(Answer("text", "The same", "all"), [MORE])])


def test_every_answer_names_an_experiment_that_has_it() -> None:
    headings = [answer.heading for experiment in EXPERIMENTS.values() for answer in experiment.answers]
    assert set(headings) == {
        "text", "text, articles", "headings", "tables", "code", "pages with an error", "time, ms",
    }  # fmt: skip
