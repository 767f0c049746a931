"""Headless Chrome under a budget: URLs become Snapshots, hostile pages become incomplete ones."""

from renderer._capture import STYLE_NAMES
from renderer._discovery import Browser, browser_in_use, find_browser, launch_options
from renderer._egress import ONLY_PUBLIC, Caps, Egress, offline, place_of
from renderer._extras import DATA, SCREENSHOT
from renderer._machine import Machine, this_machine
from renderer._options import Budget, CaptureOptions, SettlePolicy
from renderer._protocol import Outcome, PageSource, Rendering, ReplaySource
from renderer._raw import html_files, parse_html, read_html_file, read_tree
from renderer._renderer import Renderer
from renderer._sample import sample_site
from renderer._sample_events import (
    PageDone,
    PageFailed,
    PageRepeated,
    SampleEnded,
    SampleEvent,
    SitemapsRead,
    SiteOpened,
)
from renderer._supervisor import Served, Supervisor, Wear
from renderer._upstream import environment_proxies

__all__ = [
    "DATA",
    "ONLY_PUBLIC",
    "SCREENSHOT",
    "STYLE_NAMES",
    "Browser",
    "Budget",
    "Caps",
    "CaptureOptions",
    "Egress",
    "Machine",
    "Outcome",
    "PageDone",
    "PageFailed",
    "PageRepeated",
    "PageSource",
    "Renderer",
    "Rendering",
    "ReplaySource",
    "SampleEnded",
    "SampleEvent",
    "Served",
    "SettlePolicy",
    "SiteOpened",
    "SitemapsRead",
    "Supervisor",
    "Wear",
    "browser_in_use",
    "environment_proxies",
    "find_browser",
    "html_files",
    "launch_options",
    "offline",
    "parse_html",
    "place_of",
    "read_html_file",
    "read_tree",
    "sample_site",
    "this_machine",
]
