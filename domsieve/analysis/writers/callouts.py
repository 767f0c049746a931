"""What a page sets apart as a note, a tip or a warning, by its kind.

Sphinx, MkDocs, Docusaurus, GitHub, VitePress, Starlight, AsciiDoc, MDN and Bootstrap name the kind in a class.
Imports nothing of the project but a helper for words.
"""

from domsieve.analysis.columns.flow import word_set

TAGS = word_set("aside blockquote details div section table")
# GitHub shows five kinds; the others go to the one that is nearest.
_KINDS = {
    **dict.fromkeys(
        word_set("note info abstract summary tldr seealso see-also question faq quote example"), "NOTE"
    ),
    **dict.fromkeys(word_set("tip hint success check done"), "TIP"),
    **dict.fromkeys(word_set("important versionadded"), "IMPORTANT"),
    **dict.fromkeys(word_set("warning warn attention deprecated"), "WARNING"),
    **dict.fromkeys(word_set("caution danger error failure fail bug critical"), "CAUTION"),
}
_MARKERS = word_set(
    "admonition admonitionblock alert callout custom-block hint markdown-alert notecard starlight-aside "
    "theme-admonition"
)
_PREFIXES = (
    *("admonition-", "alert-", "alert--", "callout-", "callout--", "hint-", "hint--", "markdown-alert-"),
    *("starlight-aside--", "theme-admonition-"),
)
_ALONE = word_set("caution important note tip warning")
_LONGEST_CLASS = 500


def callout_kind(value: str) -> str | None:
    """Return the kind of callout that a class names, as GitHub writes it; None where it names none."""
    tokens = value[:_LONGEST_CLASS].lower().split()
    if len(tokens) == 1 and tokens[0] in _ALONE:  # DocBook, rustdoc
        return tokens[0].upper()
    if _MARKERS.isdisjoint(tokens):
        return None
    for token in tokens:
        for prefix in _PREFIXES:
            if token.startswith(prefix) and token[len(prefix) :] in _KINDS:
                return _KINDS[token[len(prefix) :]]
    for token in tokens:
        if token in _KINDS and token not in _MARKERS:
            return _KINDS[token]
    if "hint" in tokens and "admonition" in tokens:
        return "TIP"
    return "NOTE" if "admonition" in tokens else None


def details_kind(value: str) -> str | None:
    """Return the kind of callout that the class of a ``details`` names, which MkDocs writes without more."""
    return next((_KINDS[token] for token in value[:_LONGEST_CLASS].lower().split() if token in _KINDS), None)


def says_kind(words: str, kind: str) -> bool:
    """Return whether a title says no more than the kind itself does."""
    return words.strip(" :!.*").upper() == kind
