"""The algorithms of the papers on Snapshots, and the writers of their results. Imports only `snapshot`."""

from analysis._cleaning.block_features import FEATURES, block_features
from analysis._cleaning.entropy import BlockEntropies, EntropyFilter, NoiseScores, noise_scores
from analysis._cleaning.features import BlockFeatures, FeatureWeights, content_probabilities
from analysis._cleaning.hidden_text import hidden_words, judge_hidden
from analysis._cleaning.none import NoCleaning
from analysis._cleaning.template import TemplateFilter
from analysis._cleaning.tps import HasContent, TagPathFilter, noise_removed
from analysis._cleaning.tps_search import Region, Round, largest_region, page_regions, tag_path_codes
from analysis._columns.batch import prune
from analysis._columns.hidden import HIDING_REASONS
from analysis._columns.page_blocks import PageBlocks, page_blocks
from analysis._columns.styles import StyleLevel
from analysis._compare.blocks import CHANGES, Change, ComparedBlock
from analysis._compare.comparison import Comparison, Delivery, Overlap, Side, compare_page
from analysis._model_file import load_model, save_model
from analysis._records.fields import Field, FieldTable, field_tables
from analysis._records.iepad import RepeatedPatterns
from analysis._records.mdr import DataRegionMiner
from analysis._records.records import Records
from analysis._records.wobm import WebObjectBlocks
from analysis._report.document import ReportPart, Tile, write_report
from analysis._report.thresholds import ThresholdHelp, ThresholdStep, threshold_help
from analysis._report.view import PageView, Recurrences, TreeView, page_view, tree_view
from analysis._site_model import SiteModel
from analysis._trees.cst import BlockWeights, CompressedStructureTree
from analysis._trees.outline import Outliner, SiteOutline
from analysis._trees.simplify import simplified
from analysis._trees.sst import SiteStyleTree
from analysis._trees.tree_model import Mode
from analysis._verdict import Verdict
from analysis._writers.evidence import Block, dropped_blocks, text_blocks, write_json
from analysis._writers.html import write_html
from analysis._writers.markdown import write_markdown
from analysis._writers.matrix import (
    FeatureMatrix,
    matrix_names,
    matrix_npz,
    matrix_parquet,
    matrix_svmlight,
)
from analysis._writers.records import (
    RecordSheet,
    write_records_csv,
    write_records_jsonl,
    write_records_parquet,
)
from analysis._writers.text import write_text

__all__ = [
    "CHANGES",
    "FEATURES",
    "HIDING_REASONS",
    "Block",
    "BlockEntropies",
    "BlockFeatures",
    "BlockWeights",
    "Change",
    "ComparedBlock",
    "Comparison",
    "CompressedStructureTree",
    "DataRegionMiner",
    "Delivery",
    "EntropyFilter",
    "FeatureMatrix",
    "FeatureWeights",
    "Field",
    "FieldTable",
    "HasContent",
    "Mode",
    "NoCleaning",
    "NoiseScores",
    "Outliner",
    "Overlap",
    "PageBlocks",
    "PageView",
    "RecordSheet",
    "Records",
    "Recurrences",
    "Region",
    "RepeatedPatterns",
    "ReportPart",
    "Round",
    "Side",
    "SiteModel",
    "SiteOutline",
    "SiteStyleTree",
    "StyleLevel",
    "TagPathFilter",
    "TemplateFilter",
    "ThresholdHelp",
    "ThresholdStep",
    "Tile",
    "TreeView",
    "Verdict",
    "WebObjectBlocks",
    "block_features",
    "compare_page",
    "content_probabilities",
    "dropped_blocks",
    "field_tables",
    "hidden_words",
    "judge_hidden",
    "largest_region",
    "load_model",
    "matrix_names",
    "matrix_npz",
    "matrix_parquet",
    "matrix_svmlight",
    "noise_removed",
    "noise_scores",
    "page_blocks",
    "page_regions",
    "page_view",
    "prune",
    "save_model",
    "simplified",
    "tag_path_codes",
    "text_blocks",
    "threshold_help",
    "tree_view",
    "write_html",
    "write_json",
    "write_markdown",
    "write_records_csv",
    "write_records_jsonl",
    "write_records_parquet",
    "write_report",
    "write_text",
]
