"""Captures made from source, as if a browser had rendered it."""

from dataclasses import replace

import msgspec

from domsieve.options import CaptureOptions
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.protocol import Rendering


def captured(url: str, html: str = "<p>The words of it.", *, final_url: str = "") -> Rendering:
    """Return the page of a source, captured with the options of requests that name none."""
    page = parse_html(html.encode(), url=url, content_type="text/html; charset=utf-8")
    provenance = msgspec.structs.replace(
        page.provenance,
        url=url,
        final_url=final_url or url,
        producer="rendered",
        status=200,
        captured_at="2026-01-01T00:00:00+00:00",
        options=CaptureOptions().canonical(),
    )
    return Rendering(snapshot=replace(page, provenance=provenance), source=html.encode(), source_url=url)
