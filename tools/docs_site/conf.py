"""How docs/ becomes a site: Sphinx reads the Markdown by MyST and writes it with the theme Furo.

``make docs`` runs it. The sources are those that the repository's host shows, with no word for Sphinx in them: the
menu is made of the lists of links in ``docs/index.md``.
"""

import re
from pathlib import Path
from typing import Any

project = "domsieve"
author = "the authors of domsieve"
root_doc = "docs/index"
extensions = ["myst_parser"]
include_patterns = [
    "docs/*.md", "docs/*/*.md", "benchmarks/README.md", "examples/README.md", "CONTRIBUTING.md", "CHANGELOG.md",
    "SECURITY.md",
]  # fmt: skip
source_suffix = {".md": "markdown"}

myst_heading_anchors = 4
myst_enable_extensions: list[str] = []
myst_links_external_new_tab = False
# Words in code blocks that no lexer knows stay as they are.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "domsieve"
html_permalinks_icon = "#"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["domsieve.css"]
html_extra_path = ["root"]

_SECTION = re.compile(r"^## (.+)\n\n((?:- \[.+\]\(.+\)\n)+)", re.MULTILINE)
_LINK = re.compile(r"- \[(.+)\]\((.+)\.md\)")

# What Sphinx and the theme write, and what keyboards and screen readers need: levels, names, no empty heads,
# and a way to scroll what is too wide.
_READABLE = {
    '<p class="caption" role="heading">': '<p class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="This page">',
    '<th class="head"><p></p></th>': '<td class="head"></td>',
    '<div class="table-wrapper ': '<div tabindex="0" class="table-wrapper ',
    "<pre>": '<pre tabindex="0">',
    '<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
}


def _make_readable(app: Any, error: Exception | None) -> None:
    """Change the pages that were written, see `_READABLE`."""
    for file in Path(app.outdir).rglob("*.html") if error is None else ():
        text = file.read_text("utf-8")
        for written, readable in _READABLE.items():
            text = text.replace(written, readable)
        file.write_text(text, "utf-8")


def _add_menu(_app: Any, name: str, source: list[str]) -> None:
    """Append a hidden menu to the first page: a part for each list of links."""
    if name != root_doc:
        return
    for title, links in _SECTION.findall(source[0]):
        entries = [f"{text} <{path}>" for text, path in _LINK.findall(links)]
        lines = ["```{toctree}", ":hidden:", f":caption: {title}", "", *entries, "```"]
        source[0] += "\n\n" + "\n".join(lines) + "\n"


def setup(app: Any) -> dict[str, bool]:
    """Connect the menu to the reading of sources, and the changes to what is written."""
    app.connect("source-read", _add_menu)
    app.connect("build-finished", _make_readable)
    return {"parallel_read_safe": True}
