"""Site style tree: learns what repeats over the pages of one site, and cleans them (Yi, Liu, Li; KDD 2003).

    paper                           here
    t                               threshold
    g                               attenuation
    gamma, lambda (5.6.1)           merge_frequency, merge_similarity
    epsilon (5.6.3)                 local_noise
    virtual leaf tag nodes (5.6.2)  leaf_height

Two named modes share all code. ``paper`` reproduces the paper. ``site`` is for today's sites: runs of equal siblings
collapse, element nodes are aligned by label instead of splitting with every optional sibling, inline markup is
unwrapped, what few pages share counts as little evidence, the importance of a leaf is discounted by the share of
words that stand in links where these are navigation, and short leaves are read in the light of what stands around
them. The last three are ours: posts found under several addresses repeat, and teasers of other articles differ from
page to page, so entropy alone takes the first for noise and the second for content.
"""

import math
from types import MappingProxyType
from typing import Annotated, Literal

import numpy as np

from domsieve.analysis.columns.batch import Batch, page_batch
from domsieve.analysis.columns.hash import combine
from domsieve.analysis.columns.words import fold
from domsieve.analysis.estimator import Bounds, Share
from domsieve.analysis.trees.importance import Importances, importances
from domsieve.analysis.trees.leaf_features import occurrences, word_features
from domsieve.analysis.trees.link_lists import LinkLists
from domsieve.analysis.trees.mapping import map_pages
from domsieve.analysis.trees.merging import merge_similar
from domsieve.analysis.trees.paths import Runs, Siblings
from domsieve.analysis.trees.simplify import simplified
from domsieve.analysis.trees.sst_verdict import LocalNoise, Ready, verdicts
from domsieve.analysis.trees.style_tree import StyleTree, count_pages
from domsieve.analysis.trees.tree_model import TreeModel
from domsieve.analysis.verdict import Verdict
from domsieve.snapshot.page import Kind, Snapshot
from domsieve.vocabulary import StyleLevel

# t = -ln(share) / ln m; on fewer than ten pages importances of content are too coarse for more than a half.
_LOG_SHARE = 0.2 * math.log(500)
_HIGHEST_THRESHOLD = 0.5


class SiteStyleTree(TreeModel):
    """Keeps of each page of a site what varies over the site; learns that from the site's own pages.

    Parameters
    ----------
    style : presentation style that tells element nodes apart; ``"auto"`` is ``"layout"`` for rendered pages and
        ``"html"`` for raw ones.
    threshold : t in [0, 1]; a node of at most this importance is noise. A feature on x of m pages has importance
        1 - log_m x, so one t means other shares of the pages on small sites than on large ones.
        None keeps the share at 29 %, which is t = 0.2 on 500 pages.
    attenuation : g in [0, 1], weight of the descendants against the node's own styles.
    runs : ``"exact"`` child sequences, or ``"collapse"`` repeats.
    siblings : element nodes are told apart by the ``"style"`` node around them, or by ``"label"``.
    flatten_inline : unwrap inline markup and drop line breaks.
    leaf_height : elements at most this high are leaves.
    merge_similarity : lambda in (0, 1]; None leaves similar element nodes apart. Needs ``siblings="style"``.
    merge_frequency : gamma in (0, 1].
    local_noise : epsilon in [0, 1]; texts of content whose words all have 1 - H < epsilon are dropped.
    presence : count a feature once per page instead of as often as it occurs.
    link_discount : in [0, 1], how far the share of linked words lowers the importance of a leaf.
    list_share : in [0, 1], share of the pages with the element around a list of links below which the list is rare,
        and may be content instead of navigation (`link_lists`). With 0 all links are navigation.
    rare_share : in [0, 1], share of all pages on which a leaf must stand to be half trusted when it repeats.
    context : number of features, at least 0, that the surroundings of a leaf are worth against its own. Where this
        and `link_discount` are 0, MapSST decides alone.
    """

    name = "sst"
    paper = MappingProxyType(
        {
            "runs": "exact",
            "siblings": "style",
            "flatten_inline": False,
            "merge_similarity": 0.85,
            "link_discount": 0.0,
            "rare_share": 0.0,
            "context": 0.0,
            "threshold": 0.2,
        }
    )

    def __init__(
        self,
        *,
        style: StyleLevel | Literal["auto"] = "auto",
        threshold: Share | None = None,
        attenuation: Share = 0.9,
        runs: Runs = "collapse",
        siblings: Siblings = "label",
        flatten_inline: bool = True,
        leaf_height: Annotated[int, Bounds(0)] = 1,
        merge_similarity: Annotated[float, Bounds(0, 1, above=True)] | None = None,
        merge_frequency: Annotated[float, Bounds(0, 1, above=True)] = 0.85,
        local_noise: Share = 0.01,
        presence: bool = False,
        link_discount: Share = 1.0,
        list_share: Share = 0.2,
        rare_share: Share = 0.02,
        context: Annotated[float, Bounds(0)] = 8.0,
    ) -> None:
        self.style = style
        self.threshold = threshold
        self.attenuation = attenuation
        self.runs = runs
        self.siblings = siblings
        self.flatten_inline = flatten_inline
        self.leaf_height = leaf_height
        self.merge_similarity = merge_similarity
        self.merge_frequency = merge_frequency
        self.local_noise = local_noise
        self.presence = presence
        self.link_discount = link_discount
        self.list_share = list_share
        self.rare_share = rare_share
        self.context = context

    @property
    def figures_(self) -> Importances:
        """Importances and marks of the tree that pages are mapped on."""
        return self._ready().figures

    def content_words(self, page: Snapshot) -> list[str]:
        """Return the words of the kept texts in document order, locally noisy words left out."""
        used = self._ready()
        batch = page_batch(page)
        laid = self._read(batch, used.aliases)
        kept = np.flatnonzero(self.transform(page).kept & (page.kind == Kind.TEXT))
        found: list[str] = []
        for node, text in zip(kept.tolist(), page.strings.take(page.text[kept].tolist()), strict=True):
            words = fold(text).split()
            key = combine(laid.paths.path[laid.forest.owner[node]], word_features(words))
            row = used.tree.features.find(key)
            local = (row >= 0) & used.noise.feature[row]
            found += [word for word, noisy in zip(words, local.tolist(), strict=True) if not noisy]
        return found

    def facts(self) -> dict[str, int]:
        """Return the size of the tree that pages are mapped on and how many of its element nodes carry a mark."""
        used = self._ready()
        tree, figures = used.tree, used.figures
        return {
            "element_nodes": len(tree.elements),
            "of_them_in_the_simplified_tree": int(simplified(tree, figures).sum()),
            "style_nodes": len(tree.styles),
            "features": len(tree.features),
            "noisy": int(figures.noisy.sum()),
            "meaningful": int(figures.meaningful.sum()),
        }

    def _count(self, batch: Batch) -> StyleTree:
        self.style_ = self._style_of(batch)
        laid = self._read(batch, None)
        found = occurrences(batch, laid.forest, laid.texts)
        contents = found if self.merge_similarity is not None else None
        units = laid.forest.page.astype(np.int64)
        return count_pages(laid, found, units=units, contents=contents, presence=self.presence)

    def _verdicts(self, batch: Batch) -> list[Verdict]:
        used = self._ready()
        laid = self._read(batch, used.aliases)
        mapping = map_pages(
            used.tree, used.figures, laid.forest, laid.paths, threshold=used.threshold, siblings=self.siblings
        )
        return verdicts(
            laid,
            mapping,
            used,
            link_discount=self.link_discount,
            context=self.context,
            parameters={
                **self.scalars(),
                "style": self.style_,
                "threshold": used.threshold,
                "pages": used.tree.pages,
            },
        )

    def _ready(self) -> Ready:
        """Derive importances from the counts, once per state of counts and parameters."""
        key = (self.tree_, *sorted(self.get_params().items(), key=str))

        def make() -> Ready:
            self._check()
            tree, aliases = self.tree_, None
            if self.merge_similarity is not None:
                tree, aliases = merge_similar(
                    tree, frequency=self.merge_frequency, similarity=self.merge_similarity
                )
            if self.threshold is not None:
                threshold = float(self.threshold)  # numbers of numpy are written as those of Python
            else:
                threshold = min(_LOG_SHARE / math.log(max(tree.pages, 2)), _HIGHEST_THRESHOLD)
            figures = importances(
                tree, attenuation=self.attenuation, threshold=threshold, rare_share=self.rare_share
            )
            noise = LocalNoise.of(tree, figures, self.local_noise)
            lists = None
            if self.link_discount > 0 and self.list_share > 0:
                lists = LinkLists.of(tree, self.list_share)
            return Ready(tree, aliases, threshold, figures, noise, lists)

        return self._derived(key, make)
