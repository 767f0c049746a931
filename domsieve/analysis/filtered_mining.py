"""Records of the main region only: data records by tree matching in what the tag path filter keeps.

Velloso, Dorneles: JIDM 4(3), 2013, which filters pages before MDR mines them. Imports both methods.
"""

from dataclasses import replace

from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.estimator import PageEstimator
from domsieve.analysis.records.mdr import DataRegionMiner
from domsieve.analysis.records.result import Records
from domsieve.snapshot.page import Snapshot


class MainRegionMiner(PageEstimator[Records]):
    """Finds data regions by tree matching among what the tag path filter keeps, both with their defaults."""

    name = "tps+mdr"

    def _result(self, page: Snapshot) -> Records:
        miner = DataRegionMiner(similarity="tree")
        return replace(miner.on(page, kept=TagPathFilter().transform(page).kept), method=self.name)
