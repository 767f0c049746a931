"""The measures of the papers' experiments, and the runs they are made of. Imports the analysis only."""

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
from evaluation._runs import Run, Unit, runs_of_pair

__all__ = [
    "Assignment",
    "ClassScores",
    "RecordScores",
    "Run",
    "Unit",
    "assign_classes",
    "class_scores",
    "mean_noise_removed",
    "noise_share",
    "record_scores",
    "runs_of_pair",
]
