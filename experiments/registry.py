"""All experiments by name."""

from experiments.experiments.auto import AUTO
from experiments.experiments.blocks import BLOCKS
from experiments.experiments.classification import CLASSIFICATION
from experiments.experiments.clustering import CLUSTERING
from experiments.experiments.errors import ERRORS
from experiments.experiments.fidelity import FIDELITY
from experiments.experiments.htmldate import HTMLDATE
from experiments.experiments.javascript import JAVASCRIPT
from experiments.experiments.kinds import KINDS
from experiments.experiments.languages import LANGUAGES
from experiments.experiments.learned_fields import LEARNED_FIELDS
from experiments.experiments.metadata import METADATA
from experiments.experiments.products import PRODUCTS
from experiments.experiments.records import RECORDS
from experiments.experiments.settings import SETTINGS_EXPERIMENT
from experiments.experiments.sites import SITES
from experiments.experiments.table_1 import TABLE_1
from experiments.experiments.trafilatura import TRAFILATURA
from experiments.experiments.wcxb import WCXB
from experiments.frame.experiment import Experiment

_ALL = (
    SITES,
    SETTINGS_EXPERIMENT,
    WCXB,
    TRAFILATURA,
    LANGUAGES,
    METADATA,
    HTMLDATE,
    PRODUCTS,
    KINDS,
    AUTO,
    FIDELITY,
    CLUSTERING,
    CLASSIFICATION,
    JAVASCRIPT,
    BLOCKS,
    ERRORS,
    RECORDS,
    LEARNED_FIELDS,
    TABLE_1,
)

EXPERIMENTS: dict[str, Experiment] = {experiment.name: experiment for experiment in _ALL}
"""All experiments by name, in the order of the document."""
