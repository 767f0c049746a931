"""The parts of a source that are not in its Snapshot: scripts, style sheets and what is there without scripts."""

import re
from dataclasses import dataclass

from domsieve.budget import check

_OPENING = re.compile(rb"<(script|style|noscript)(?=[\s/>])", re.IGNORECASE)
_MARKUP = re.compile(rb"<[^<>]*>?")


@dataclass(frozen=True, slots=True)
class SourceParts:
    """Parts of a source.

    Parameters
    ----------
    styles : the content of each ``style`` element, in document order.
    scripts : number of ``script`` elements.
    script_bytes : size of the content of all of them.
    noscript_words : number of words, separated by white space, in ``noscript`` elements.
    """

    styles: tuple[bytes, ...]
    scripts: int
    script_bytes: int
    noscript_words: int


def source_parts(source: bytes) -> SourceParts:
    """Return the parts of a source, in time linear in its length.

    Elements in comments count as well: some browsers read them, and a part too many only costs a rendering.
    """
    lowered = source.lower()
    styles: list[bytes] = []
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
        else:
            noscript_words += len(_MARKUP.sub(b" ", content).split())
    return SourceParts(tuple(styles), scripts, script_bytes, noscript_words)
