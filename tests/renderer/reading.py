"""Ways to read a Snapshot in a test."""

from domsieve.snapshot.page import Kind, Snapshot


def visible_text(page: Snapshot) -> str:
    """Return all texts that have a box, with single spaces between their words."""
    texts = [
        page.text_of(node) for node in range(len(page)) if page.kind[node] == Kind.TEXT and page.boxed()[node]
    ]
    return " ".join(" ".join(texts).split())


def nodes(page: Snapshot, tag: str) -> list[int]:
    """Return all nodes with this tag name."""
    return [node for node in range(len(page)) if page.tag_name(node) == tag]


def node(page: Snapshot, tag: str) -> int:
    """Return the only node with this tag name."""
    (found,) = nodes(page, tag)
    return found


def outline(page: Snapshot, top: int = 0) -> str:
    """Return the subtree of `top` in one line: tags, texts in quotes, children in parentheses."""
    if page.kind[top] == Kind.TEXT:
        return repr(page.text_of(top))
    children = [child for child in range(top + 1, int(page.end[top])) if page.parent[child] == top]
    inner = " ".join(outline(page, child) for child in children)
    return f"{page.tag_name(top)}({inner})" if inner else page.tag_name(top)
