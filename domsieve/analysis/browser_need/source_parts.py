"""The parts of a source that are not in its Snapshot: scripts, style sheets and what is there without scripts."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from urllib.parse import urlsplit

import msgspec
import numpy as np

from domsieve.analysis.columns.links import Addresses
from domsieve.analysis.columns.page_columns import attributes_of, has_tag
from domsieve.budget import check
from domsieve.snapshot.page import Snapshot

_OPENING = re.compile(rb"<(script|style|noscript)(?=[\s/>])", re.IGNORECASE)
_MARKUP = re.compile(rb"<[^<>]*>?")
_LITERAL = re.compile(
    rb"\"(?:[^\"\\\n]++|\\.)*+\"?|'(?:[^'\\\n]++|\\.)*+'?|(?<![\w$])[0-9][\w.]*+", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class SourceParts:
    """Parts of a source.

    Parameters
    ----------
    styles : the content of each ``style`` element, in document order.
    scripts : number of ``script`` elements.
    script_bytes : size of the content of all of them.
    codes : hashes of what those do that have content; see `scripts_of`.
    noscript_words : number of words, separated by white space, in ``noscript`` elements.
    """

    styles: tuple[bytes, ...]
    scripts: int
    script_bytes: int
    codes: frozenset[int]
    noscript_words: int


def source_parts(source: bytes) -> SourceParts:
    """Return the parts of a source, in time linear in its length.

    Elements in comments count as well: some browsers read them, and a part too many only costs a rendering.
    """
    lowered = source.lower()
    styles: list[bytes] = []
    codes: set[int] = set()
    scripts = script_bytes = noscript_words = 0
    place = 0
    while opening := _OPENING.search(lowered, place):
        check()
        name = opening[1]
        start = lowered.find(b">", opening.end()) + 1
        if not start:
            break
        end = lowered.find(b"</" + name, start)
        if end < 0:
            end = len(source)
        content = source[start:end]
        place = end
        if name == b"style":
            styles.append(content)
        elif name == b"script":
            scripts += 1
            script_bytes += len(content)
            if (code := content.strip()) and not _is_data(code):
                codes.add(_code_hash(code))
        else:
            noscript_words += len(_MARKUP.sub(b" ", content).split())
    return SourceParts(tuple(styles), scripts, script_bytes, frozenset(codes), noscript_words)


def scripts_of(page: Snapshot, parts: SourceParts) -> frozenset[int]:
    """Return hashes of what may run on a page: the code in it without its data, and the other hosts of scripts.

    Parameters
    ----------
    page : a source.
    parts : its parts.
    """
    addresses, attributes = Addresses(page), attributes_of(page)
    own = urlsplit(page.provenance.final_url).netloc
    found = {*parts.codes}
    nodes, sources = attributes.values("src")
    scripted = has_tag(page, "script")[nodes].tolist()
    for node, source, is_script in zip(nodes.tolist(), sources, scripted, strict=True):
        if is_script:
            address = addresses.absolute(node, source, linked=False)
            host = urlsplit(address).netloc if address else source
            if host != own:
                found.add(_code_hash(b"host " + host.encode("utf-8", "replace")))
    names = page.strings.take(np.unique(page.attr_name).tolist())
    for name in names:
        if name.startswith("on"):
            found |= {_code_hash(code.encode("utf-8", "replace")) for code in {*attributes.values(name)[1]}}
    return frozenset(found)


def _is_data(code: bytes) -> bool:
    """Return whether the content of a script is no code: JSON, or a template of HTML."""
    if code.startswith(b"<"):
        return not code.startswith(b"<!--")
    if not code.startswith((b"{", b"[")):
        return False
    try:
        msgspec.json.decode(code)
    except (ValueError, RecursionError):
        return False
    return True


def _code_hash(code: bytes) -> int:
    return int.from_bytes(blake2b(_LITERAL.sub(b"_", code), digest_size=8).digest())
