"""What the calls of the library take by keyword, for checkers of types. Imports types only."""

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, TypedDict

from domsieve.analysis.site_model import SiteModel
from domsieve.budget import AnalysisBudget
from domsieve.renderer.browser.connection import DriverName
from domsieve.renderer.options import CaptureOptions
from domsieve.vocabulary import BlockKind, Favor, FieldName, Method, MiningMethod, Mode, StyleLevel

AnyPath = str | os.PathLike[str]


class FetchKeywords(TypedDict, total=False):
    """How URLs become pages."""

    cache: AnyPath | None
    options: CaptureOptions | None
    timeout: timedelta
    concurrency: int | None
    private_hosts: Iterable[str]
    allow_private: bool
    driver: DriverName
    keep_errors: bool
    analysis_budget: AnalysisBudget | None


class CompareKeywords(FetchKeywords, total=False):
    """How pages are compared with their source."""

    twice: bool


class SelectKeywords(FetchKeywords, total=False):
    """Which parts of pages are worked on."""

    select: Iterable[str]
    drop: Iterable[str]


class CleanKeywords(SelectKeywords, total=False):
    """How pages are cleaned."""

    method: Method | None
    favor: Favor | None
    mode: Mode
    threshold: float | None
    style: StyleLevel | None
    regions: int | None
    complement: bool | None
    has_text: str | None
    model: SiteModel[Any] | AnyPath | None
    keep_hidden: bool
    keep_kinds: Iterable[BlockKind]
    drop_kinds: Iterable[BlockKind]


class RecordsKeywords(SelectKeywords, total=False):
    """How records are found, and which of their fields are wanted."""

    method: MiningMethod
    fields: Iterable[FieldName]
