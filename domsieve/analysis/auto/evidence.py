"""All that a page says of its blocks, before any weights. Imports the figures and the tokens."""

from dataclasses import dataclass

from domsieve.analysis.auto.around import Around
from domsieve.analysis.auto.described import described_figures
from domsieve.analysis.auto.figures import Row, block_figures, likeness_of
from domsieve.analysis.auto.measured import MeasuredBlocks
from domsieve.analysis.auto.names import NameTokens
from domsieve.analysis.auto.tokens import PageTokens, TokenWeights
from domsieve.analysis.columns.attributes import attributes_of

Groups = dict[str, dict[str, Row]]


@dataclass(frozen=True, slots=True, eq=False)
class BlockEvidence:
    """The evidence on the B blocks of a page: what stands around them, their figures, their tokens."""

    around: Around
    figures: Groups
    tokens: PageTokens

    @classmethod
    def of(cls, blocks: MeasuredBlocks) -> "BlockEvidence":
        """Return the evidence on the blocks of a page, of which there is one at least."""
        around, attributes = Around.of(blocks), attributes_of(blocks.page)
        names = NameTokens.of(blocks.page, attributes, around.any_of(len(blocks.page)))
        likeness = likeness_of(blocks, around, attributes)
        figures = block_figures(blocks, around, attributes, likeness)
        figures["head"] = dict(described_figures(blocks, around, attributes))
        return cls(around, figures, PageTokens.of(blocks, around, names, likeness))

    def weighed(self, weights: TokenWeights) -> Groups:
        """Return all figures by group and name, each (B,) or one number for all blocks."""
        return self.figures | self.tokens.figures(weights)
