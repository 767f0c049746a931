"""Text of single pages in several languages, over all corpora whose truth is text: ours and trafilatura."""

from collections.abc import Callable, Iterable

from experiments.corpora.text_corpora import CORPORA, TextPage
from experiments.experiments.texts import measure_texts, tables, text_tasks
from experiments.frame.experiment import Experiment, Inputs, Row, Task
from experiments.systems.text_systems import TEXT_SYSTEMS

_SYSTEMS = {name: TEXT_SYSTEMS[name] for name in ("auto", "trafilatura")}
NEEDS = ("wcxb", "magic", "trafilatura", "sites")
TEXT_NOTES = """\
- *wcxb*, *magic* and *sites* have texts as truth: a figure is word F1 (lower case, `\\w+`, multiset; Chinese,
  Japanese, Thai, Lao, Khmer and Burmese by characters), mean over pages. *trafilatura* has segments of text that must
  be kept or dropped: F1 is pooled over the segments.
- *sites* are 22 whole sites, here page by page, as if nothing were known of the site. Words of elements that the
  corpus calls neutral are taken out of every text as often as they stand there beyond the truth.
- Intervals are 95 %, bootstrap over domains; of *sites* over sites.
"""
PREFACE = f"""\
One table by language over all corpora, so that a change which helps one language and hurts another is seen. *auto* is
what users get: `domsieve.clean` on the HTML and its address, with all steps, as text.

{TEXT_NOTES}\
- On pages that the model of *auto* has learned from, its figures are no test. The experiment on the learned cleaner
  says which these are, and judges them by what other domains taught.
"""


def tasks(inputs: Inputs) -> list[Task]:
    """Return a task per part of a corpus."""
    return text_tasks(inputs, CORPORA, measure)


def measure(read: Callable[[], Iterable[TextPage]]) -> list[Row]:
    """Return a row per page."""
    return measure_texts(_SYSTEMS, read())


LANGUAGES = Experiment(
    "languages",
    "Text of single pages by language",
    NEEDS,
    tasks,
    tables,
    None,
    PREFACE,
    packages=("trafilatura",),
)
