"""The page and the feed of changes: text of strangers is escaped, nothing runs or is loaded, colours can be read."""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

from lxml import etree, html

from domsieve.analysis.changes.passages import PassageChange
from domsieve.tasks.site_sync import changes_page
from domsieve.tasks.site_sync.changes_feed import feed_of
from domsieve.tasks.site_sync.changes_page import page_of
from domsieve.tasks.site_sync.values import PageChange

HOSTILE = '</p><script>alert(1)</script><img src=x onerror="alert(2)">\x1b]\u202e'
SOURCE = "https://docs.example.org/"


def change(url: str = SOURCE, text: str = HOSTILE, run: int = 2) -> PageChange:
    passage = PassageChange(
        kind="edited", id="a", headings=(text,), old="It is 10 cm deep.", new=f"It is 12 cm {text}"
    )
    return PageChange(
        run=run,
        at="2026-11-25T03:00:00+00:00",
        kind="changed",
        url=url,
        file="a.md",
        title=text,
        passages=(passage,),
    )


def found(tree: Any, path: str) -> list[Any]:
    """Return what an XPath finds."""
    return [*tree.xpath(path, namespaces={"a": "http://www.w3.org/2005/Atom"})]


def test_text_of_strangers_is_only_text() -> None:
    page = page_of([change(), change("javascript:alert(3)")], source=SOURCE)
    tree = html.fromstring(page)
    assert found(tree, "//script | //img | //@onerror | //*[starts-with(@href, 'javascript')]") == []
    assert "alert(1)" in "".join(found(tree, "//text()"))
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_the_policy_allows_only_the_style_of_the_page() -> None:
    page = page_of([change()], source=SOURCE)
    [style] = re.findall("<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    [policy] = found(html.fromstring(page), "//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_an_edit_is_shown_as_a_diff() -> None:
    tree = html.fromstring(page_of([change(text="deep.")], source=SOURCE))
    assert [one.text_content() for one in found(tree, "//del")] == ["[removed: 10]"]
    assert [one.text_content() for one in found(tree, "//ins")] == ["[added: 12]"]


def test_the_latest_run_comes_first() -> None:
    tree = html.fromstring(page_of([change(run=1), change(run=2)], source=SOURCE))
    assert [one.get("id") for one in found(tree, "//h2")] == ["run-2", "run-1"]


def test_the_feed_is_well_formed() -> None:
    feed = etree.fromstring(feed_of([change(run=1), change(run=2)], source=SOURCE))
    ids = found(feed, "//a:entry/a:id/text()")
    assert ids == [f"{SOURCE}#run-2-changed", f"{SOURCE}#run-1-changed"]
    assert etree.fromstring(feed_of([], source=SOURCE)).tag.endswith("feed")


def test_colours_have_enough_contrast() -> None:
    style = (Path(changes_page.__file__).parent / "changes.css").read_text("utf-8")
    colours = dict(re.findall(r"--([\w-]+): (light-dark\([^)]*\))", style))

    def luminance(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for mode in (0, 1):
        shade = {name: luminance(re.findall("#[0-9a-f]{6}", value)[mode]) for name, value in colours.items()}
        pairs = [
            (name, ground)
            for name in ("ink", "faint", "accent", "in", "out")
            for ground in ("paper", "ground")
        ]
        for name, ground in [*pairs, ("in", "in-ground"), ("out", "out-ground")]:
            low, high = sorted((shade[name], shade[ground]))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ground, mode)
