"""The experiments of the papers and public benchmarks, each one command; nothing is fetched."""

from evaluation._document import print_tables, write_document
from evaluation._experiment import Experiment, Inputs, Task, data_folder
from evaluation._figures import save_figure
from evaluation._journal import Journal
from evaluation._measures import (
    Assignment,
    ClassScores,
    RecordScores,
    assign_classes,
    class_scores,
    mean_noise_removed,
    noise_share,
    record_scores,
)
from evaluation._registry import EXPERIMENTS
from evaluation._running import Ran, run
from evaluation._runs import Run, Unit, runs_of_pair
from evaluation._tables import Table

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
