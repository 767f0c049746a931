"""The algorithms of the papers on Snapshots, and the writers of their results. Knows no browser.

What only the report is made of is in `domsieve.analysis.report`.
"""

from typing import TYPE_CHECKING

from domsieve.doors import opened_on_use

if TYPE_CHECKING:
    from domsieve.analysis.auto.cleaner import AutoCleaner
    from domsieve.analysis.cleaning.entropy import BlockEntropies, EntropyFilter, NoiseScores, noise_scores
    from domsieve.analysis.cleaning.furniture import judge_furniture
    from domsieve.analysis.cleaning.hidden_text import hidden_words, judge_hidden
    from domsieve.analysis.cleaning.none import NoCleaning
    from domsieve.analysis.cleaning.template import TemplateFilter
    from domsieve.analysis.cleaning.tps import HasContent, TagPathFilter, noise_removed
    from domsieve.analysis.cleaning.tps_search import (
        Region,
        Round,
        largest_region,
        page_regions,
        tag_path_codes,
    )
    from domsieve.analysis.columns.batch import prune
    from domsieve.analysis.columns.hidden import HIDING_REASONS
    from domsieve.analysis.columns.page_blocks import PageBlocks, page_blocks
    from domsieve.analysis.compare.compared_blocks import CHANGES, Change, ComparedBlock, DifferingBlock
    from domsieve.analysis.compare.comparison import (
        Comparison,
        Delivery,
        Overlap,
        Side,
        TwoLoads,
        compare_loads,
        compare_page,
        without_rotating,
    )
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
    from domsieve.analysis.model_file import load_model, model_from_bytes, model_to_bytes, save_model
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
    from domsieve.analysis.selection.selection import Selection
    from domsieve.analysis.site_groups import groups_of, traits_of
    from domsieve.analysis.site_model import FEWEST_PAGES, SiteModel
    from domsieve.analysis.trees.capping import capped
    from domsieve.analysis.trees.cst import BlockWeights, CompressedStructureTree
    from domsieve.analysis.trees.simplify import simplified
    from domsieve.analysis.trees.sst import SiteStyleTree
    from domsieve.analysis.verdict import Verdict
    from domsieve.analysis.writers.chunks import MAX_WORDS, Chunk, chunks_of, write_chunks
    from domsieve.analysis.writers.evidence import (
        Block,
        block_columns,
        dropped_blocks,
        text_blocks,
        write_json,
    )
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
    "MAX_WORDS",
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
    "Chunk",
    "ComparedBlock",
    "Comparison",
    "CompressedStructureTree",
    "DataRegionMiner",
    "Delivery",
    "DifferingBlock",
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
    "Selection",
    "Side",
    "SiteModel",
    "SiteStyleTree",
    "StyleLevel",
    "TagPathFilter",
    "TemplateFilter",
    "ThresholdHelp",
    "ThresholdStep",
    "TwoLoads",
    "Verdict",
    "WebObjectBlocks",
    "block_columns",
    "capped",
    "check_fixed",
    "check_options",
    "chunks_of",
    "compare_loads",
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
    "model_from_bytes",
    "model_to_bytes",
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
    "without_rotating",
    "write_chunks",
    "write_front_matter",
    "write_html",
    "write_json",
    "write_markdown",
    "write_records_csv",
    "write_records_jsonl",
    "write_records_parquet",
    "write_text",
]

_PLACES = {
    "analysis.auto.cleaner": "AutoCleaner",
    "analysis.cleaning.entropy": "BlockEntropies EntropyFilter NoiseScores noise_scores",
    "analysis.cleaning.furniture": "judge_furniture",
    "analysis.cleaning.hidden_text": "hidden_words judge_hidden",
    "analysis.cleaning.none": "NoCleaning",
    "analysis.cleaning.template": "TemplateFilter",
    "analysis.cleaning.tps": "HasContent TagPathFilter noise_removed",
    "analysis.cleaning.tps_search": "Region Round largest_region page_regions tag_path_codes",
    "analysis.columns.batch": "prune",
    "analysis.columns.hidden": "HIDING_REASONS",
    "analysis.columns.page_blocks": "PageBlocks page_blocks",
    "analysis.compare.compared_blocks": "CHANGES Change ComparedBlock DifferingBlock",
    "analysis.compare.comparison": "Comparison Delivery Overlap Side TwoLoads compare_loads compare_page "
    "without_rotating",
    "analysis.estimator": "Estimator PageEstimator",
    "analysis.filtered_mining": "MainRegionMiner",
    "analysis.kinds.finding": "node_kinds",
    "analysis.kinds.judging": "DROPPED_BY_KIND EVERY_METHOD_DECIDES KindChoice judge_kinds",
    "analysis.marks.mark": "Mark MarkKind described",
    "analysis.marks.marks": "page_marks",
    "analysis.marks.missing": "missing_mark",
    "analysis.metadata.kept_title": "TITLE_REASON judge_title keep_title",
    "analysis.metadata.reading": "read_metadata",
    "analysis.metadata.values": "Metadata",
    "analysis.model_file": "load_model model_from_bytes model_to_bytes save_model",
    "analysis.records.fields": "Field FieldTable field_tables",
    "analysis.records.iepad": "RepeatedPatterns",
    "analysis.records.mdr": "DataRegionMiner",
    "analysis.records.result": "Records",
    "analysis.records.wobm": "WebObjectBlocks",
    "analysis.registry": (
        "METHODS MINERS PAGE_METHODS SITE_METHODS MethodEntry Options check_fixed check_options "
        "new_site_model page_cleaner variants"
    ),
    "analysis.report.thresholds": "ThresholdHelp ThresholdStep threshold_help",
    "analysis.selection.selection": "Selection",
    "analysis.site_groups": "groups_of traits_of",
    "analysis.site_model": "FEWEST_PAGES SiteModel",
    "analysis.trees.capping": "capped",
    "analysis.trees.cst": "BlockWeights CompressedStructureTree",
    "analysis.trees.simplify": "simplified",
    "analysis.trees.sst": "SiteStyleTree",
    "analysis.verdict": "Verdict",
    "analysis.writers.chunks": "MAX_WORDS Chunk chunks_of write_chunks",
    "analysis.writers.evidence": "Block block_columns dropped_blocks text_blocks write_json",
    "analysis.writers.front_matter": "write_front_matter",
    "analysis.writers.html": "write_html",
    "analysis.writers.markdown": "write_markdown",
    "analysis.writers.matrix": "FeatureMatrix matrix_names matrix_npz matrix_parquet matrix_svmlight",
    "analysis.writers.record_tables": (
        "RecordSheet record_rows write_records_csv write_records_jsonl write_records_parquet"
    ),
    "analysis.writers.text": "write_text",
    "vocabulary": "Method MiningMethod Mode StyleLevel",
}

# Type checkers, which know all names from above, shall not take this for a promise of any other.
if not TYPE_CHECKING:
    __getattr__, __dir__ = opened_on_use(__name__, _PLACES)
