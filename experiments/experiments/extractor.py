"""Any extractor that is a command, on all corpora whose truth is text: for ``--extractor``."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from experiments.corpora.text_corpora import CORPORA, TextPage
from experiments.experiments.languages import NEEDS, TEXT_NOTES
from experiments.experiments.texts import measure_texts, tables, text_tasks
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.systems.commands import TIME_LIMIT, command_words, extract_with


def extractor_experiment(command: str) -> Experiment:
    """Return the experiment that measures a command.

    Raises
    ------
    UsageError : it is no command, or its program is not there.
    """
    words = command_words(command)

    def tasks(inputs: Inputs) -> list[Task]:
        # The command is in the name, so that results of several commands stay side by side in one journal.
        return text_tasks(
            inputs,
            CORPORA,
            partial(measure, command, words),
            prefix=f"{command}: ",
            parameters={"command": command, "time_limit_s": TIME_LIMIT.total_seconds()},
        )

    return Experiment(
        "extractor",
        f"Text of single pages by `{command}`",
        NEEDS,
        tasks,
        tables,
        None,
        TEXT_NOTES,
    )


def measure(command: str, words: Sequence[str], read: Callable[[], Iterable[TextPage]]) -> list[Row]:
    """Return a row per page, in a process of its own for each."""
    return measure_texts({command: lambda page: extract_with(words, page.source)}, read())
