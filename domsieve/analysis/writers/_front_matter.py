"""Write metadata as YAML front matter, and as ``meta`` elements of HTML.

All texts are double-quoted strings in the form that JSON and YAML share, so that untrusted text cannot be read as a
date, a number, a comment, or the end of the front matter.
"""

import json
import re
from collections.abc import Mapping
from html import escape

from domsieve.analysis.metadata.values import Metadata, Product
from domsieve.sanitize import utf8

# Characters that YAML does not allow or reads as line ends; written as JSON escapes.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def write_front_matter(metadata: Metadata, *, expected_f1: float | None = None) -> str:
    """Return the known fields as YAML between two lines ``---``, followed by an empty line.

    Parameters
    ----------
    metadata : metadata of the page.
    expected_f1 : the method's own estimate of its F1 on this page, in [0, 1]; None if it gives none.
    """
    lines = ["---"]
    for name in Metadata.__struct_fields__:
        value = getattr(metadata, name)
        if isinstance(value, dict) and value:
            lines += [f"{name}:", *_pairs(value, 1)]
        elif isinstance(value, Product):
            known = ((key, getattr(value, key)) for key in Product.__struct_fields__)
            texts = {key: text for key, text in known if isinstance(text, str) and text}
            lines += [f"{name}:", *_pairs(texts, 1), "  sources:", *_pairs(value.sources, 2)]
        elif isinstance(value, tuple) and value:
            lines += [f"{name}:", *(f"  - {_quoted(text)}" for text in value)]
        elif isinstance(value, int):
            lines.append(f"{name}: {value}")
        elif isinstance(value, str) and value:
            lines.append(f"{name}: {_quoted(value)}")
    if expected_f1 is not None:
        lines.append(f"expected_f1: {expected_f1:.3f}")
    return "\n".join([*lines, "---", "", ""])


def _pairs(texts: Mapping[str, str], level: int) -> list[str]:
    return [f"{'  ' * level}{key}: {_quoted(text)}" for key, text in texts.items()]


def _quoted(text: str) -> str:
    quoted = json.dumps(utf8(text), ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def meta_elements(metadata: Metadata) -> str:
    """Return the known fields as ``meta`` and ``link`` elements, one per line."""
    named = [("author", name) for name in metadata.authors]
    named += [
        ("description", metadata.description),
        ("keywords", ", ".join(metadata.keywords)),
        ("dcterms.issued", metadata.published),
        ("dcterms.modified", metadata.modified),
        ("application-name", metadata.site_name),
    ]
    lines = [f'<meta name="{name}" content="{escape(text)}">\n' for name, text in named if text]
    for relation, address in (("canonical", metadata.canonical_url), ("license", metadata.licence)):
        if address.startswith(("http://", "https://")):
            lines.append(f'<link rel="{relation}" href="{escape(address)}">\n')
    return "".join(lines)
