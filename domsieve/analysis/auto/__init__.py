"""The learned cleaner: figures of blocks, the trees that weigh them, and the choice that is expected to be best.

From outside the analysis this door serves but the learning of the model that comes with the program.
"""

from domsieve.analysis.auto.choice import Choice, choose, choose_balanced
from domsieve.analysis.auto.cleaner import TREE_MIDDLE, TREE_ODDS, AutoCleaner, with_site
from domsieve.analysis.auto.evidence import BlockEvidence
from domsieve.analysis.auto.figures import Row
from domsieve.analysis.auto.measured import MeasuredBlocks
from domsieve.analysis.auto.model import SHIPPED, AutoModel, read_model, shipped_model, write_model
from domsieve.analysis.auto.tokens import BUCKETS, TOKEN_UNIT, BlockTokens, PageTokens, TokenWeights
from domsieve.analysis.auto.trees import LEAVES, UNIT, BoostedTrees, probabilities
from domsieve.analysis.columns.characters import SINGLES

__all__ = [
    "BUCKETS",
    "LEAVES",
    "SHIPPED",
    "SINGLES",
    "TOKEN_UNIT",
    "TREE_MIDDLE",
    "TREE_ODDS",
    "UNIT",
    "AutoCleaner",
    "AutoModel",
    "BlockEvidence",
    "BlockTokens",
    "BoostedTrees",
    "Choice",
    "MeasuredBlocks",
    "PageTokens",
    "Row",
    "TokenWeights",
    "choose",
    "choose_balanced",
    "probabilities",
    "read_model",
    "shipped_model",
    "with_site",
    "write_model",
]
