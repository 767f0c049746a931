"""All experiments by name."""

from evaluation._experiment import Experiment
from evaluation._experiments.blocks import BLOCKS
from evaluation._experiments.classification import CLASSIFICATION
from evaluation._experiments.clustering import CLUSTERING
from evaluation._experiments.errors import ERRORS
from evaluation._experiments.features import FEATURES
from evaluation._experiments.javascript import JAVASCRIPT
from evaluation._experiments.records import RECORDS
from evaluation._experiments.settings import SETTINGS_EXPERIMENT
from evaluation._experiments.sites import SITES
from evaluation._experiments.table_1 import TABLE_1
from evaluation._experiments.wcxb import WCXB

_ALL = (
    SITES,
    SETTINGS_EXPERIMENT,
    WCXB,
    FEATURES,
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
