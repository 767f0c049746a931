"""The experiments of the papers and public benchmarks, each one command; nothing is fetched."""

from domsieve.evaluation.corpora.class_grids import Unit
from domsieve.evaluation.frame.document import print_tables, write_document
from domsieve.evaluation.frame.experiment import Experiment, Inputs, Task, data_folder
from domsieve.evaluation.frame.figures import save_figure
from domsieve.evaluation.frame.journal import Journal
from domsieve.evaluation.frame.running import Ran, run
from domsieve.evaluation.frame.tables import Table
from domsieve.evaluation.measures.papers import (
    Assignment,
    ClassScores,
    RecordScores,
    assign_classes,
    class_scores,
    mean_noise_removed,
    noise_share,
    record_scores,
)
from domsieve.evaluation.page_classes.runs import Run, runs_of_pair
from domsieve.evaluation.registry import EXPERIMENTS

__all__ = [
    "EXPERIMENTS",
    "Assignment",
    "ClassScores",
    "Experiment",
    "Inputs",
    "Journal",
    "Ran",
    "RecordScores",
    "Run",
    "Table",
    "Task",
    "Unit",
    "assign_classes",
    "class_scores",
    "data_folder",
    "mean_noise_removed",
    "noise_share",
    "print_tables",
    "record_scores",
    "run",
    "runs_of_pair",
    "save_figure",
    "write_document",
]
