"""Headless Chrome under a budget: URLs become Snapshots, hostile pages become incomplete ones."""

from renderer._capture import STYLE_NAMES
from renderer._discovery import Browser, find_browser
from renderer._options import Budget, CaptureOptions, SettlePolicy
from renderer._protocol import Outcome, PageSource, Rendering, ReplaySource
from renderer._raw import html_files, parse_html, read_html_file
from renderer._renderer import Renderer

__all__ = [
    "STYLE_NAMES",
    "Browser",
    "Budget",
    "CaptureOptions",
    "Outcome",
    "PageSource",
    "Renderer",
    "Rendering",
    "ReplaySource",
    "SettlePolicy",
    "find_browser",
    "html_files",
    "parse_html",
    "read_html_file",
]
