"""From the flat HTML that the Markdown writer makes to Markdown, by the library markdownify."""

import re
from typing import Any

from markdownify import MarkdownConverter

from domsieve.budget import check


def to_markdown(html: str) -> str:
    """Return flat HTML whose text is escaped already as Markdown, without space around it."""
    return _Converter(heading_style="atx", autolinks=False).convert(html).strip()


class _Converter(MarkdownConverter):
    """markdownify for text that is escaped already, in linear time for long lists."""

    def escape(self, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002
        """Return `text` as it is; markdownify comes here for each."""
        check()
        return text

    def convert_img(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002
        """Return the image, in headings and table cells too."""
        return f"![{el['alt']}]({el['src']})"

    def convert_li(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002
        """Return one item; markdownify counts the items before it anew for each of them."""
        bullet = f"{el['value']}. " if el.parent.name == "ol" else "- "
        lines = text.strip().split("\n")
        indent = " " * len(bullet)
        return bullet + "\n".join([lines[0], *(line and indent + line for line in lines[1:])]) + "\n"

    def convert_pre(self, el: Any, text: str, parent_tags: set[str]) -> str:  # noqa: ARG002
        """Return a code block whose fence is longer than any inside it."""
        runs = re.findall("`{3,}", text)
        fence = "`" * max(3, *(len(run) + 1 for run in runs)) if runs else "```"
        return f"\n\n{fence}\n{text.strip(chr(10))}\n{fence}\n\n"
