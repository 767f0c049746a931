"""Headless Chrome under a budget: URLs become Snapshots, hostile pages become incomplete ones."""

from typing import TYPE_CHECKING

from domsieve.doors import opened_on_use

if TYPE_CHECKING:
    from domsieve.renderer.browser.connection import DriverName
    from domsieve.renderer.browser.discovery import Browser
    from domsieve.renderer.browser.machine import FreeMemory, Machine, family, held_memory, this_machine
    from domsieve.renderer.browser.playwright_driver import browser_in_use, find_browser, launch_options
    from domsieve.renderer.browser.sign_in import sign_in
    from domsieve.renderer.limits import Clock, Limits, Patience
    from domsieve.renderer.network.egress import (
        NO_PLACE,
        Caps,
        Egress,
        is_web_address,
        offline,
        place_of,
        private_host,
    )
    from domsieve.renderer.network.host_rules import HostRules
    from domsieve.renderer.network.proxy import Proxy
    from domsieve.renderer.network.replay import Replay
    from domsieve.renderer.network.upstream import environment_proxies
    from domsieve.renderer.options import Budget, CaptureOptions, SettlePolicy
    from domsieve.renderer.page.capture import STYLE_NAMES
    from domsieve.renderer.page.extra_names import DATA, SCREENSHOT
    from domsieve.renderer.page.opened import capture
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
    from domsieve.renderer.sampling.listings import Listing, listing_at, listing_in
    from domsieve.renderer.sampling.missing import missing_addresses
    from domsieve.renderer.sampling.polite import visit_politely
    from domsieve.renderer.sampling.sample import sample_site
    from domsieve.renderer.sampling.scope import Scope
    from domsieve.renderer.source.origin import PageOrigin, file_origin, source_origin
    from domsieve.renderer.source.raw import (
        file_stem,
        html_files,
        parse_html,
        parse_html_file,
        read_html_file,
        read_tree,
    )
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
    "DriverName",
    "Egress",
    "FreeMemory",
    "HostRules",
    "Limits",
    "Listing",
    "Machine",
    "MissingSeen",
    "Outcome",
    "PageDone",
    "PageFailed",
    "PageOrigin",
    "PageRepeated",
    "PageSource",
    "Patience",
    "Proxy",
    "Renderer",
    "Rendering",
    "Replay",
    "ReplaySource",
    "SampleEnded",
    "SampleEvent",
    "Scope",
    "Served",
    "SettlePolicy",
    "SiteOpened",
    "SitemapsRead",
    "Supervisor",
    "Wear",
    "browser_in_use",
    "capture",
    "environment_proxies",
    "family",
    "file_origin",
    "file_stem",
    "find_browser",
    "held_memory",
    "html_files",
    "is_web_address",
    "launch_options",
    "listing_at",
    "listing_in",
    "missing_addresses",
    "offline",
    "parse_html",
    "parse_html_file",
    "place_of",
    "private_host",
    "read_html_file",
    "read_tree",
    "sample_site",
    "sign_in",
    "source_origin",
    "this_machine",
    "visit_politely",
]

_PLACES = {
    "renderer.browser.connection": "DriverName",
    "renderer.browser.discovery": "Browser",
    "renderer.browser.machine": "FreeMemory Machine family held_memory this_machine",
    "renderer.browser.playwright_driver": "browser_in_use find_browser launch_options",
    "renderer.browser.sign_in": "sign_in",
    "renderer.limits": "Clock Limits Patience",
    "renderer.network.egress": "NO_PLACE Caps Egress is_web_address offline place_of private_host",
    "renderer.network.host_rules": "HostRules",
    "renderer.network.proxy": "Proxy",
    "renderer.network.replay": "Replay",
    "renderer.network.upstream": "environment_proxies",
    "renderer.options": "Budget CaptureOptions SettlePolicy",
    "renderer.page.capture": "STYLE_NAMES",
    "renderer.page.extra_names": "DATA SCREENSHOT",
    "renderer.page.opened": "capture",
    "renderer.protocol": "Outcome PageSource Rendering ReplaySource",
    "renderer.renderer": "Renderer",
    "renderer.sampling.events": (
        "MissingSeen PageDone PageFailed PageRepeated SampleEnded SampleEvent SitemapsRead SiteOpened"
    ),
    "renderer.sampling.missing": "missing_addresses",
    "renderer.sampling.listings": "Listing listing_at listing_in",
    "renderer.sampling.polite": "visit_politely",
    "renderer.sampling.sample": "sample_site",
    "renderer.sampling.scope": "Scope",
    "renderer.source.origin": "PageOrigin file_origin source_origin",
    "renderer.source.raw": "file_stem html_files parse_html parse_html_file read_html_file read_tree",
    "renderer.supervisor": "Served Supervisor Wear",
}

# Type checkers, which know all names from above, shall not take this for a promise of any other.
if not TYPE_CHECKING:
    __getattr__, __dir__ = opened_on_use(__name__, _PLACES)
