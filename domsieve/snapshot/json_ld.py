"""What a snapshot keeps of scripts that only hold data: the text of JSON-LD, as an attribute of its element.

As an attribute it is no node and no text of the page, so no method and no writer sees it. Captures of before lack it.
Imports nothing.
"""

JSON_LD = "json-ld"
"""The attribute of a ``script`` element that holds its text."""

LONGEST_JSON_LD = 1_000_000
"""The most characters of one such text; a longer one is not kept."""


def is_json_ld(script_type: str) -> bool:
    """Return whether the attribute ``type`` of a script says that it is JSON-LD."""
    return script_type[:100].partition(";")[0].strip().lower() == "application/ld+json"
