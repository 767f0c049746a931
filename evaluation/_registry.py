"""All experiments by name."""

from evaluation._experiment import Experiment
from evaluation._experiments.blocks import BLOCKS
from evaluation._experiments.records import RECORDS

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in (BLOCKS, RECORDS)}
"""All experiments by name, in the order of the document."""
