"""Whether the tags of a source are nested so wrongly that browsers build another tree from it than the parser."""

from lxml import etree

from domsieve.budget import check, spending
from domsieve.renderer.html_parser._long_tags import with_few_attributes
from domsieve.renderer.html_parser.content import html_as_utf8

_CROSSED, _CLOSES_NOTHING = "Opening and ending tag mismatch", "Unexpected end tag : "  # messages of libxml2
# The parser ends these early, before a block for instance, where browsers keep them open or open them again.
_ENDED_EARLY_NAMES = """
address b big blockquote caption center dd dir dl dt em fieldset font form h1 h2 h3 h4 h5 h6 i li menu ol pre s small
span strike strong table tbody td th tr tt u ul
"""
_ENDED_EARLY = frozenset(_ENDED_EARLY_NAMES.split())
_DOCTYPE = b"<!doctype"
_START = 1_024  # bytes in which a doctype is looked for


def is_misnested(source: bytes, *, url: str, content_type: str = "") -> bool:
    """Return whether browsers probably build another tree from a source than `parse_html`, in linear time.

    They follow the HTML standard (13.2.6); the parser has rules of its own for tags that are not closed, or closed in
    the wrong order. It reports some of these errors: an end tag that closes nothing shows that it ended an element
    early. It also puts each ``dt`` and ``dd`` into the one before if that is not closed, and ends a paragraph at a
    table on pages without a doctype, where browsers do not.

    Parameters
    ----------
    source, url, content_type : see `parse_html`.
    """
    with spending("parse", url):
        data, _ = html_as_utf8(source, content_type=content_type, encoding=None)
        few, _ = with_few_attributes(data)
        parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
        root = etree.fromstring(few, parser)
        if root is None:
            return False
        ended = _ENDED_EARLY if _DOCTYPE in few[:_START].lower() else _ENDED_EARLY | {"p"}
        for error in parser.error_log:
            check()
            message = error.message.strip()
            if message.startswith(_CROSSED) or message.removeprefix(_CLOSES_NOTHING) in ended:
                return True
        terms = root.iter("dd", "dt")
        return any((above := term.getparent()) is not None and above.tag in {"dd", "dt"} for term in terms)
