"""Headless Chrome under a budget: URLs become Snapshots, hostile pages become incomplete ones."""

from domsieve.renderer.browser.discovery import Browser, browser_in_use, find_browser, launch_options
from domsieve.renderer.browser.machine import Machine, family, held_memory, this_machine
from domsieve.renderer.limits import Clock, Limits, Patience
from domsieve.renderer.network.egress import NO_PLACE, Caps, Egress, offline, place_of, private_host
from domsieve.renderer.network.upstream import environment_proxies
from domsieve.renderer.options import Budget, CaptureOptions, SettlePolicy
from domsieve.renderer.page.capture import STYLE_NAMES
from domsieve.renderer.page.extras import DATA, SCREENSHOT
from domsieve.renderer.protocol import Outcome, PageSource, Rendering, ReplaySource
from domsieve.renderer.renderer import Renderer
from domsieve.renderer.sampling.events import (
    MissingSeen,
    PageDone,
    PageFailed,
    PageRepeated,
    SampleEnded,
    SampleEvent,
    SitemapsRead,
    SiteOpened,
)
from domsieve.renderer.sampling.missing import missing_addresses
from domsieve.renderer.sampling.sample import sample_site
from domsieve.renderer.source.origin import PageOrigin, file_origin, source_origin
from domsieve.renderer.source.raw import file_stem, html_files, parse_html, read_html_file, read_tree
from domsieve.renderer.supervisor import Served, Supervisor, Wear

__all__ = [
    "DATA",
    "NO_PLACE",
    "SCREENSHOT",
    "STYLE_NAMES",
    "Browser",
    "Budget",
    "Caps",
    "CaptureOptions",
    "Clock",
    "Egress",
    "Limits",
    "Machine",
    "MissingSeen",
    "Outcome",
    "PageDone",
    "PageFailed",
    "PageOrigin",
    "PageRepeated",
    "PageSource",
    "Patience",
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
    "family",
    "file_origin",
    "file_stem",
    "find_browser",
    "held_memory",
    "html_files",
    "launch_options",
    "missing_addresses",
    "offline",
    "parse_html",
    "place_of",
    "private_host",
    "read_html_file",
    "read_tree",
    "sample_site",
    "source_origin",
    "this_machine",
]
