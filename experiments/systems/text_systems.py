"""Systems that give the text of a page, under their names in the tables."""

from collections.abc import Callable, Mapping
from functools import partial

import domsieve
from experiments.corpora.text_corpora import TextPage
from experiments.systems.peers import PEERS, Extracted, Extractor, extract

TextSystem = Callable[[TextPage], Extracted]


def _auto(page: TextPage) -> Extracted:
    return extract(lambda html: domsieve.clean(html, url=page.url).text, page.html)


def _auto_without_address(page: TextPage) -> Extracted:
    return extract(lambda html: domsieve.clean(html).text, page.html)


def _peer(extractor: Extractor, page: TextPage) -> Extracted:
    return extract(extractor, page.html)


def _trafilatura_without_comments(html: str) -> str:
    import trafilatura

    return (
        trafilatura.extract(html, include_comments=False, include_tables=True, include_formatting=False) or ""
    )


TEXT_SYSTEMS: Mapping[str, TextSystem] = {
    "auto": _auto,
    "auto, without an address": _auto_without_address,
    **{name: partial(_peer, peer) for name, peer in PEERS.items() if name != "readability-lxml"},
    "trafilatura, without comments": partial(_peer, _trafilatura_without_comments),
}
"""*auto* as users get it from `domsieve.clean`, the extractors of others, and trafilatura as its own evaluation calls
it."""
