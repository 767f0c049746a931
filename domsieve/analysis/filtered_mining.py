"""Find records in the main region of a page only (Velloso, Dorneles: JIDM 4(3), 2013).

The paper filters pages by tag paths before MDR mines them.
"""

from dataclasses import replace

from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.estimator import PageEstimator
from domsieve.analysis.records.mdr import DataRegionMiner
from domsieve.analysis.records.result import Records
from domsieve.snapshot.page import Snapshot


class MainRegionMiner(PageEstimator[Records]):
    """Finds data regions by tree matching in what the tag path filter keeps, both with their default parameters."""

    name = "tps+mdr"

    def _result(self, page: Snapshot) -> Records:
        miner = DataRegionMiner(similarity="tree")
        return replace(miner.on(page, kept=TagPathFilter().transform(page).kept), method=self.name)
