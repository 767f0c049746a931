"""All experiments by name."""

from domsieve.evaluation.experiments.auto import AUTO
from domsieve.evaluation.experiments.blocks import BLOCKS
from domsieve.evaluation.experiments.classification import CLASSIFICATION
from domsieve.evaluation.experiments.clustering import CLUSTERING
from domsieve.evaluation.experiments.errors import ERRORS
from domsieve.evaluation.experiments.fidelity import FIDELITY
from domsieve.evaluation.experiments.javascript import JAVASCRIPT
from domsieve.evaluation.experiments.kinds import KINDS
from domsieve.evaluation.experiments.metadata import METADATA
from domsieve.evaluation.experiments.records import RECORDS
from domsieve.evaluation.experiments.settings import SETTINGS_EXPERIMENT
from domsieve.evaluation.experiments.sites import SITES
from domsieve.evaluation.experiments.table_1 import TABLE_1
from domsieve.evaluation.experiments.wcxb import WCXB
from domsieve.evaluation.frame.experiment import Experiment

_ALL = (
    SITES,
    SETTINGS_EXPERIMENT,
    WCXB,
    METADATA,
    KINDS,
    AUTO,
    FIDELITY,
    CLUSTERING,
    CLASSIFICATION,
    JAVASCRIPT,
    BLOCKS,
    ERRORS,
    RECORDS,
    TABLE_1,
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}
"""All experiments by name, in the order of the document."""
