"""Signs on the source of a page that it needs a browser; no sign says that it needs none.

The thresholds were fitted on 79 pages that scripts draw and 137 static ones. All of the former had a sign, and 12 of
the latter.
"""

import numpy as np

from domsieve.analysis.browser_need.source_parts import SourceParts
from domsieve.analysis.columns.hiding import hidden_texts
from domsieve.analysis.columns.page_columns import attributes_of, has_tag, in_tag, page_texts
from domsieve.analysis.columns.visible import in_closed_panels, never_shown
from domsieve.analysis.columns.words import fold
from domsieve.analysis.verdict import Verdict
from domsieve.budget import spending
from domsieve.snapshot.page import Snapshot

_FEW_WORDS, _FEW_WORDS_WITH_SCRIPT = 20, 100
_LEAST_EXPECTED_F1 = 0.45
_MOST_NOSCRIPT_RATIO, _MOST_WORDS_WITH_NOSCRIPT = 0.5, 300
_MOST_WORDS_WITH_PHRASE = 300
_MOST_WORDS_WITH_ROOT = 60
_MOST_HIDDEN_RATIO = 0.5
_MOST_SCRIPT_BYTES_PER_WORD = 2_000
_SKELETONS, _MOST_WORDS_WITH_SKELETONS = 8, 150
_MOST_WORDS_UNCLEANED = 300
_SOON_S = 10
_ROOTS = frozenset(
    ("root", "app", "__next", "__nuxt", "react-root", "app-root", "___gatsby", "svelte", "q-app")
)
_SKELETON_WORDS = ("skeleton", "shimmer", "placeholder")
# Folded, as they occur in messages to readers without JavaScript.
_PHRASES = (
    "enable javascript",
    "javascript enabled",
    "enabled javascript",
    "javascript to be enabled",
    "javascript is disabled",
    "javascript disabled",
    "javascript is required",
    "requires javascript",
    "require javascript",
    "javascript to run this app",
    "turn on javascript",
    "javascript aktivieren",
    "aktivieren sie javascript",
    "activer javascript",
    "activez javascript",
    "habilitar javascript",
    "habilite javascript",
    "abilitare javascript",
)


def signs_of(page: Snapshot, parts: SourceParts, verdict: Verdict | None = None) -> tuple[str, ...]:
    """Return the signs that a page needs a browser, each as the end of a sentence; empty without any.

    Parameters
    ----------
    page : the parsed source.
    parts : the parts of the source that are not in the page.
    verdict : what the default method keeps of it, without hidden text. Without one, signs that depend on it are left
        out; see `depends_on_content`.
    """
    with spending("signs", page.provenance.url):
        return tuple(_signs(page, parts, verdict))


def depends_on_content(page: Snapshot, parts: SourceParts) -> bool:
    """Return whether a page may have a sign that only cleaning it can show.

    This is so for short pages, and for those that have what a script fills, or much script. What cleaning expects of
    longer pages is not asked for: a page that has 300 visible words and is drawn by a script all the same is left to
    the audits.
    """
    return (
        visible_words(page) < _MOST_WORDS_UNCLEANED
        or parts.script_bytes > _MOST_SCRIPT_BYTES_PER_WORD * _FEW_WORDS
        or _has_empty_root(page)
        or _skeletons(page) >= _SKELETONS
    )


def visible_words(page: Snapshot) -> int:
    """Return the number of words of a source, separated by white space, that nothing in it hides."""
    texts = page_texts(page)
    hidden = (hidden_texts(page) > 0) | in_closed_panels(page) | never_shown(page)
    return int(texts.words[~hidden[texts.node]].sum())


def _signs(page: Snapshot, parts: SourceParts, verdict: Verdict | None) -> list[str]:
    visible = visible_words(page)
    found: list[str] = []
    if not page.provenance.complete:
        found.append("its source is incomplete")
    if visible < _FEW_WORDS or (visible < _FEW_WORDS_WITH_SCRIPT and parts.scripts):
        found.append(f"its source shows {visible} words")
    if visible < _MOST_WORDS_WITH_NOSCRIPT and parts.noscript_words > _MOST_NOSCRIPT_RATIO * visible:
        found.append("much of its text is for browsers without scripts")
    if visible < _MOST_WORDS_WITH_PHRASE and _asks_for_scripts(page):
        found.append("it asks to enable JavaScript")
    hidden = _hidden_words(page)
    if hidden > _MOST_HIDDEN_RATIO * (hidden + visible):
        found.append("most of the text in its source is hidden")
    if _refreshes(page):
        found.append("it redirects by itself")
    if has_tag(page, "frameset").any():
        found.append("it consists of frames")
    if verdict is not None:
        found += _signs_in_content(page, parts, verdict)
    return found


def _signs_in_content(page: Snapshot, parts: SourceParts, verdict: Verdict) -> list[str]:
    texts = page_texts(page)
    kept = int(texts.words[verdict.kept[texts.node]].sum())
    found: list[str] = []
    if verdict.expected_f1 is not None and verdict.expected_f1 < _LEAST_EXPECTED_F1:
        found.append("its source has no clear content")
    if kept < _MOST_WORDS_WITH_ROOT and _has_empty_root(page):
        found.append("the element that a script fills is empty")
    if parts.script_bytes > _MOST_SCRIPT_BYTES_PER_WORD * kept:
        found.append("its source is mostly script")
    if kept < _MOST_WORDS_WITH_SKELETONS and _skeletons(page) >= _SKELETONS:
        found.append("it has placeholders for content")
    return found


def _asks_for_scripts(page: Snapshot) -> bool:
    text = fold(" ".join(page_texts(page).text))
    return any(phrase in text for phrase in _PHRASES)


def _has_empty_root(page: Snapshot) -> bool:
    roots = attributes_of(page).found("id", lambda value: value in _ROOTS or None)
    texts = page_texts(page)
    worded = np.zeros(len(page) + 1, np.int64)
    worded[1:][texts.node[~texts.is_blank]] = 1
    worded[1:][never_shown(page)] = 0
    before = np.cumsum(worded)
    return any(before[page.end[node]] == before[node] for node in roots)


def _hidden_words(page: Snapshot) -> int:
    nodes = np.flatnonzero(hidden_texts(page))
    return sum(len(text.split()) for text in page_texts(page).of(nodes))


def _skeletons(page: Snapshot) -> int:
    def test(value: str) -> bool | None:
        lowered = value.lower()
        return any(word in lowered for word in _SKELETON_WORDS) or None

    return len(attributes_of(page).found("class", test))


def _refreshes(page: Snapshot) -> bool:
    """Return whether the page soon navigates to another address."""
    attributes = attributes_of(page)
    metas = attributes.found("http-equiv", lambda value: value.strip().lower() == "refresh" or None)
    if not metas:
        return False
    # What is in `noscript` is for browsers without scripts.
    for_others = in_tag(page, "noscript")
    contents = attributes.found("content", str)
    return any(_is_soon(contents.get(node, "")) for node in metas if not for_others[node])


def _is_soon(content: str) -> bool:
    seconds, _, rest = content[:1_000].replace(",", ";").partition(";")
    number = seconds.strip().partition(".")[0]
    return "=" in rest and (not number.isdecimal() or len(number) < 2 or int(number[:5]) <= _SOON_S)
