"""Write changes as one HTML page for people: pages in a list, and each change as a diff under its headings.

All captured text is escaped. The page runs no script and loads nothing, which its Content-Security-Policy makes sure.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path

from domsieve.analysis.changes.passages import PassageChange
from domsieve.analysis.changes.words import edits
from domsieve.sanitize import plain, utf8
from domsieve.tasks.site_sync.values import KIND_NAMES, PageChange
from domsieve.urls import has_web_scheme

_CONTEXT = 30
"""Unchanged words shown before and after an edit."""
_MOST_WORDS = 400
"""Words shown of a passage that was added or removed."""
_MOST_PASSAGES = 60
"""Passages shown of a page."""
_OPEN = 20
"""Pages of the newest run that are shown unfolded; those of new pages have nothing but their address."""
_PASSAGE_KINDS = {"added": "Added", "edited": "Edited", "removed": "Removed", "moved": "Moved"}


def page_of(changes: Sequence[PageChange], *, source: str) -> str:
    """Return an HTML page that shows changes, the latest run first.

    Parameters
    ----------
    changes : of several runs, by run.
    source : address of the site.
    """
    style = (Path(__file__).parent / "changes.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    title = f"Changes of {_text(source)}"
    runs = [[*several] for _, several in groupby(changes, lambda change: change.run)][::-1]
    body = "\n".join(_run(several, is_open=not number) for number, several in enumerate(runs))
    return utf8(f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>Changes of <bdi>{_text(source)}</bdi></h1>
<p class="faint">The last runs of <code>domsieve sync</code>, the latest first.
What rotates from load to load is left out.</p>
{body or "<p>Nothing has changed yet.</p>"}
</main>
</body>
</html>
""")


def _run(changes: Sequence[PageChange], *, is_open: bool) -> str:
    first = changes[0]
    counted = ", ".join(
        f"{number} {name.lower()}"
        for kind, name in KIND_NAMES.items()
        if (number := sum(change.kind == kind for change in changes))
    )
    opened = [change.url for change in changes if change.kind != "added"][: _OPEN if is_open else 0]
    pages = "\n".join(_page(change, is_open=change.url in opened) for change in changes)
    return (
        f'<section aria-labelledby="run-{first.run}">\n<h2 id="run-{first.run}">Run {first.run}, '
        f'<time datetime="{_text(first.at)}">{_text(_shown_time(first.at))}</time></h2>\n'
        f'<p class="faint">{counted}</p>\n{pages}\n</section>'
    )


def _page(change: PageChange, *, is_open: bool) -> str:
    shown = [*change.passages] if change.kind == "changed" else []
    rest = len(shown) - _MOST_PASSAGES
    link = f'<a href="{_text(change.url)}" rel="noreferrer">' if has_web_scheme(change.url) else "<span>"
    address = f"{link}<bdi>{_text(change.url)}</bdi>{'</a>' if link.startswith('<a') else '</span>'}"
    moved = f'<p class="address">before at <bdi>{_text(change.was)}</bdi></p>\n' if change.was else ""
    new = "\n".join(map(_passage, shown[:_MOST_PASSAGES]))
    more = f'<p class="faint">and {rest} more passages</p>' if rest > 0 else ""
    count = (
        f' <span class="faint">{_count(len(change.passages), "passage")}</span>' if change.passages else ""
    )
    return (
        f"<details{' open' if is_open else ''}>\n"
        f'<summary><span class="kind {change.kind}">{KIND_NAMES[change.kind]}</span>'
        f'<span class="title"><bdi>{_text(change.title or change.url)}</bdi></span>{count}</summary>\n'
        f'<div class="page">\n<p class="address">{address}</p>\n{moved}'
        f'<p class="address">file <bdi>{_text(change.file)}</bdi></p>\n{new}{more}\n</div>\n</details>'
    )


def _passage(change: PassageChange) -> str:
    path = "".join(f'<span class="step"><bdi>{_text(heading)}</bdi></span>' for heading in change.headings)
    return (
        f'<div class="passage">\n<p class="path"><span class="kind {change.kind}">'
        f"{_PASSAGE_KINDS[change.kind]}</span> {path}</p>\n"
        f'<p class="text" dir="auto">{"".join(_diff(change))}</p>\n</div>'
    )


def _diff(change: PassageChange) -> Iterator[str]:
    if change.kind == "moved":
        yield _text(_start(change.new or ""))
    elif change.old is None:
        yield _marked("ins", "added", _start(change.new or ""))
    elif change.new is None:
        yield _marked("del", "removed", _start(change.old))
    else:
        yield from _edited(_tokens(change.old), _tokens(change.new))


def _edited(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Yield the new words with the edits marked, and the unchanged ones near them."""
    found = edits([word.rstrip() for word in old], [word.rstrip() for word in new])
    last = 0
    for number, edit in enumerate(found):
        yield _between(new[last : edit.new_start], is_first=not number, is_last=False)
        if edit.old_end > edit.old_start:
            # On the line of what replaces it.
            removed = "".join(old[edit.old_start : edit.old_end]).rstrip()
            yield _marked("del", "removed", f"{removed} ")
        if edit.new_end > edit.new_start:
            yield _marked("ins", "added", "".join(new[edit.new_start : edit.new_end]))
        last = edit.new_end
    yield _between(new[last:], is_first=not found, is_last=True)


def _between(words: Sequence[str], *, is_first: bool, is_last: bool) -> str:
    before = 0 if is_first else _CONTEXT
    after = 0 if is_last else _CONTEXT
    if len(words) <= before + after + 5:
        return _text("".join(words))
    end = "".join(words[len(words) - after :]) if after else ""
    start = f"{_text(''.join(words[:before]))} " if before else ""
    return f"{start}… {_text(end)}"


def _tokens(text: str) -> list[str]:
    """Return the words of a text, each with the white space behind it."""
    tokens: list[str] = []
    word = ""
    for letter in text:
        if word and word[-1].isspace() and not letter.isspace():
            tokens.append(word)
            word = ""
        word += letter
    return [*tokens, word] if word else tokens


def _start(text: str) -> str:
    words = _tokens(text)
    return text if len(words) <= _MOST_WORDS else "".join(words[:_MOST_WORDS]) + "…"


def _marked(tag: str, name: str, text: str) -> str:
    # Screen readers do not say that a text was inserted or deleted.
    bare = text.rstrip()
    inside = f'<span class="unseen">[{name}: </span>{_text(bare)}<span class="unseen">]</span>'
    return f"<{tag}>{inside}</{tag}>{_text(text[len(bare) :])}"


def _text(text: str) -> str:
    return escape("\n".join(plain(line) for line in text.split("\n")), quote=True)


def _shown_time(at: str) -> str:
    return at[:16].replace("T", " ") + " UTC"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"
