"""The algorithms of the papers on Snapshots, and the writers of their results. Knows no browser.

What only the report is made of is in `domsieve.analysis.report`.
"""

from domsieve.analysis.auto.cleaner import AutoCleaner
from domsieve.analysis.cleaning.entropy import BlockEntropies, EntropyFilter, NoiseScores, noise_scores
from domsieve.analysis.cleaning.furniture import judge_furniture
from domsieve.analysis.cleaning.hidden_text import hidden_words, judge_hidden
from domsieve.analysis.cleaning.none import NoCleaning
from domsieve.analysis.cleaning.template import TemplateFilter
from domsieve.analysis.cleaning.tps import HasContent, TagPathFilter, noise_removed
from domsieve.analysis.cleaning.tps_search import Region, Round, largest_region, page_regions, tag_path_codes
from domsieve.analysis.columns.batch import prune
from domsieve.analysis.columns.hidden import HIDING_REASONS
from domsieve.analysis.columns.page_blocks import PageBlocks, page_blocks
from domsieve.analysis.compare.compared_blocks import CHANGES, Change, ComparedBlock
from domsieve.analysis.compare.comparison import Comparison, Delivery, Overlap, Side, compare_page
from domsieve.analysis.estimator import Estimator, PageEstimator
from domsieve.analysis.filtered_mining import MainRegionMiner
from domsieve.analysis.kinds.finding import node_kinds
from domsieve.analysis.kinds.judging import DROPPED_BY_KIND, EVERY_METHOD_DECIDES, KindChoice, judge_kinds
from domsieve.analysis.marks.mark import Mark, MarkKind, described
from domsieve.analysis.marks.marks import page_marks
from domsieve.analysis.marks.missing import missing_mark
from domsieve.analysis.metadata.kept_title import TITLE_REASON, judge_title, keep_title
from domsieve.analysis.metadata.reading import read_metadata
from domsieve.analysis.metadata.values import Metadata
from domsieve.analysis.model_file import load_model, save_model
from domsieve.analysis.records.fields import Field, FieldTable, field_tables
from domsieve.analysis.records.iepad import RepeatedPatterns
from domsieve.analysis.records.mdr import DataRegionMiner
from domsieve.analysis.records.result import Records
from domsieve.analysis.records.wobm import WebObjectBlocks
from domsieve.analysis.registry import (
    METHODS,
    MINERS,
    PAGE_METHODS,
    SITE_METHODS,
    MethodEntry,
    Options,
    check_fixed,
    check_options,
    new_site_model,
    page_cleaner,
    variants,
)
from domsieve.analysis.report.thresholds import ThresholdHelp, ThresholdStep, threshold_help
from domsieve.analysis.site_groups import groups_of, traits_of
from domsieve.analysis.site_model import FEWEST_PAGES, SiteModel
from domsieve.analysis.trees.cst import BlockWeights, CompressedStructureTree
from domsieve.analysis.trees.simplify import simplified
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers.evidence import Block, dropped_blocks, text_blocks, write_json
from domsieve.analysis.writers.front_matter import write_front_matter
from domsieve.analysis.writers.html import write_html
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.matrix import (
    FeatureMatrix,
    matrix_names,
    matrix_npz,
    matrix_parquet,
    matrix_svmlight,
)
from domsieve.analysis.writers.record_tables import (
    RecordSheet,
    record_rows,
    write_records_csv,
    write_records_jsonl,
    write_records_parquet,
)
from domsieve.analysis.writers.text import write_text
from domsieve.vocabulary import Method, MiningMethod, Mode, StyleLevel

__all__ = [
    "CHANGES",
    "DROPPED_BY_KIND",
    "EVERY_METHOD_DECIDES",
    "FEWEST_PAGES",
    "HIDING_REASONS",
    "METHODS",
    "MINERS",
    "PAGE_METHODS",
    "SITE_METHODS",
    "TITLE_REASON",
    "AutoCleaner",
    "Block",
    "BlockEntropies",
    "BlockWeights",
    "Change",
    "ComparedBlock",
    "Comparison",
    "CompressedStructureTree",
    "DataRegionMiner",
    "Delivery",
    "EntropyFilter",
    "Estimator",
    "FeatureMatrix",
    "Field",
    "FieldTable",
    "HasContent",
    "KindChoice",
    "MainRegionMiner",
    "Mark",
    "MarkKind",
    "Metadata",
    "Method",
    "MethodEntry",
    "MiningMethod",
    "Mode",
    "NoCleaning",
    "NoiseScores",
    "Options",
    "Overlap",
    "PageBlocks",
    "PageEstimator",
    "RecordSheet",
    "Records",
    "Region",
    "RepeatedPatterns",
    "Round",
    "Side",
    "SiteModel",
    "SiteStyleTree",
    "StyleLevel",
    "TagPathFilter",
    "TemplateFilter",
    "ThresholdHelp",
    "ThresholdStep",
    "Verdict",
    "WebObjectBlocks",
    "check_fixed",
    "check_options",
    "compare_page",
    "described",
    "dropped_blocks",
    "field_tables",
    "groups_of",
    "hidden_words",
    "judge_furniture",
    "judge_hidden",
    "judge_kinds",
    "judge_title",
    "keep_title",
    "largest_region",
    "load_model",
    "matrix_names",
    "matrix_npz",
    "matrix_parquet",
    "matrix_svmlight",
    "missing_mark",
    "new_site_model",
    "node_kinds",
    "noise_removed",
    "noise_scores",
    "page_blocks",
    "page_cleaner",
    "page_marks",
    "page_regions",
    "prune",
    "read_metadata",
    "record_rows",
    "save_model",
    "simplified",
    "tag_path_codes",
    "text_blocks",
    "threshold_help",
    "traits_of",
    "variants",
    "write_front_matter",
    "write_html",
    "write_json",
    "write_markdown",
    "write_records_csv",
    "write_records_jsonl",
    "write_records_parquet",
    "write_text",
]
