"""Prepare a page for the Markdown writer: which nodes to visit, and what some of them are."""

import re
from bisect import bisect_right
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import below, counted_before
from domsieve.analysis.columns.flow import BREAK, NONE, boundaries, text_flow, word_set
from domsieve.analysis.columns.formulas import seen_shapes
from domsieve.analysis.columns.hiding import HIDING_REASONS, hidden_media
from domsieve.analysis.columns.page_columns import PLAYERS, attributes_of, has_tag
from domsieve.analysis.columns.paint_styles import LEAST_OPACITY, PaintStyles
from domsieve.analysis.verdict import Verdict
from domsieve.analysis.writers._annotations import callout_kind, details_kind, find_footnotes
from domsieve.analysis.writers._code import is_line_class
from domsieve.analysis.writers._formulas import Formula, clean_tex, described, formulas, unseen_words
from domsieve.analysis.writers._markdown_blocks import data_tables
from domsieve.analysis.writers._mathml import tex_of
from domsieve.analysis.writers._media import Reader, shown_image
from domsieve.analysis.writers.html import written_nodes, written_texts
from domsieve.snapshot.page import Snapshot

_NO_TERM = word_set("blockquote h1 h2 h3 h4 h5 h6 ol pre table ul")
_CELLS = frozenset(["td", "th", "tr"])
_TITLE = re.compile("title|heading", re.IGNORECASE)
_STEPS_TO_BOX = 3
# Of formulas in a page: words, such as names of macros, and letters in no words.
_MOST_UNSEEN, _MOST_LETTERS = 4, 10
_LEAST_PICTURE_PX = 4.0  # the height of a letter that can be read


class Plan:
    """The nodes to write, and their roles, for a page of N nodes.

    Parameters
    ----------
    page : the page.
    verdict : verdict of a method on this page.

    Attributes
    ----------
    reader : the nodes of the page.
    address : address of the page, without a fragment.
    around : boundary of each of the N nodes, `NONE` to `BLOCK`.
    texts : written texts by text node.
    nodes : nodes to visit, in document order.
    tables : data tables.
    notes : footnotes.
    formulas : formulas by the node that displays them.
    callouts, details : kinds of callouts by node.
    titles, code_lines : nodes whose class marks them as a title or a line of code.
    headings : nodes with the role ``heading``.
    no_players : the nodes (N,) that are named like players, but show nothing but their text.
    tasks : checkboxes by list item.
    items : number of items of each of the N nodes.
    """

    def __init__(self, page: Snapshot, verdict: Verdict) -> None:
        around = boundaries(page)
        flow = text_flow(page, verdict.kept, around)
        attributes = attributes_of(page)
        self._page, self._kept = page, verdict.kept
        self._hidden = verdict.decided_by(HIDING_REASONS[1:])
        keeps = verdict.parameters.get("hidden", "keep") == "keep"
        self.no_players = np.zeros(len(page), np.bool_) if keeps else hidden_media(page) > 0
        self.reader = Reader(page)
        self.address = page.provenance.final_url.partition("#")[0]
        self.around: list[int] = around.tolist()
        self.texts = written_texts(self.reader, flow)
        self.tables = data_tables(page, flow, attributes)
        self.notes = find_footnotes(page, self.reader, attributes, self.texts)
        self.formulas = self._shown(formulas(page, self.reader, attributes))
        self.formulas |= self._from_mathml()
        self.callouts = attributes.found("class", callout_kind)
        self.details = attributes.found("class", details_kind)
        self.titles = attributes.found("class", lambda value: True if _TITLE.search(value) else None)
        self.code_lines = attributes.found("class", is_line_class)
        self.headings = attributes.found("role", lambda value: True if value.strip() == "heading" else None)
        parents = page.parent[has_tag(page, "li")]
        self.items: list[int] = np.bincount(parents, minlength=len(page)).tolist()
        self.tasks = self._tasks()
        self.nodes = self._nodes()
        words = np.zeros(len(page), np.bool_)
        words[[node for node, written in self.texts.items() if written.text.strip()]] = True
        newlines = (around == BREAK) & verdict.kept
        newlines[[node for node, written in self.texts.items() if "\n" in written.text]] = True
        self._newlines, self._blocks = _before(newlines), _before(has_tag(page, *_NO_TERM))
        self._words = _before(words)

    def has_words(self, node: int) -> bool:
        """Return whether there is kept text in `node`."""
        return _counted(self._words, node, self.reader.end[node]) > 0

    def is_alone(self, node: int) -> bool:
        """Return whether `node` has all kept text of its nearest ancestor that separates words."""
        parent = self.reader.parent[node]
        while parent > 0 and self.around[parent] == NONE:
            parent = self.reader.parent[parent]
        within = _counted(self._words, parent, self.reader.end[parent])
        return within == _counted(self._words, node, self.reader.end[node])

    def has_newlines(self, node: int) -> bool:
        """Return whether the kept text in `node` has several lines, by newlines or line breaks."""
        return _counted(self._newlines, node, self.reader.end[node]) > 0

    def has_blocks(self, node: int) -> bool:
        """Return whether there are blocks in `node` that cannot be written in a single line."""
        return _counted(self._blocks, node + 1, self.reader.end[node]) > 0

    def _shown(self, candidates: Mapping[int, Formula]) -> dict[int, Formula]:
        """Return the formulas with a kept picture that their TeX describes, or a kept text with the words of it."""
        if not candidates:
            return {}
        images, found = self._pictures(candidates), dict[int, Formula]()
        nodes = np.array(list(self.texts), np.int64)
        letters = seen_shapes(self._page, hidden_media(self._page))
        shaped = np.array([*letters], np.int64)
        unseen = single = 0
        for node, formula in candidates.items():
            inside = nodes[np.searchsorted(nodes, node) : np.searchsorted(nodes, formula.end)].tolist()
            text = "".join(self.texts[one].text for one in inside)
            if self._kept[self.reader.parent[node]]:
                first, last = np.searchsorted(shaped, (node, formula.end))
                text += "".join(letters[one] for one in shaped[first:last].tolist())
            pictures = images[slice(*np.searchsorted(images, (node, formula.end)))].tolist()
            if any(clean_tex(described(self.reader.given(one))) == formula.tex for one in pictures):
                found[node] = formula
            elif (
                text
                and (more := unseen_words(formula, text)) is not None
                and unseen + more[0] <= _MOST_UNSEEN
                and single + more[1] <= _MOST_LETTERS
            ):
                unseen += more[0]
                single += more[1]
                found[node] = formula
        return found

    def _pictures(self, formulas: Mapping[int, Formula]) -> NDArray[np.intp]:
        """Return the kept pictures in formulas that readers see."""
        page = self._page
        begun = np.zeros(len(page) + 1, np.int64)
        np.add.at(begun, [*formulas], 1)
        np.add.at(begun, [formula.end for formula in formulas.values()], -1)
        is_shown = has_tag(page, "img") & self._kept & ~(page.box[:, 2:] < _LEAST_PICTURE_PX).any(axis=1)
        images = np.flatnonzero(is_shown & (begun.cumsum()[:-1] > 0))
        if images.size:
            is_clear = PaintStyles(page).opacity < LEAST_OPACITY
            images = images[~below(is_clear, page.end.astype(np.int64))[images]]
        return images[np.array([bool(shown_image(self.reader, one)) for one in images.tolist()], np.bool_)]

    def _from_mathml(self) -> dict[int, Formula]:
        """Return the formulas of which only MathML is known, or whose TeX has words that their text has not."""
        found = dict[int, Formula]()
        ends = sorted((node, formula.end) for node, formula in self.formulas.items())
        for node in np.flatnonzero(has_tag(self._page, "math")).tolist():
            at = bisect_right(ends, (node, len(self._page))) - 1
            if at >= 0 and node < ends[at][1]:
                continue
            if tex := clean_tex(tex_of(self.reader, node, self.texts)):
                displayed = self.reader.given(node).get("display") == "block"
                found[node] = Formula(self.reader.end[node], tex, displayed)
        return found

    def _nodes(self) -> list[int]:
        page = self._page
        chosen = np.zeros(len(page), np.bool_)
        chosen[written_nodes(page, self._kept, self.texts)] = True
        chosen |= (
            has_tag(page, *PLAYERS) & (self._kept | self._kept[np.maximum(page.parent, 0)]) & ~self._hidden
        )
        chosen[list(self.formulas)] = True
        # Visible cells are written even without text, because they keep the others in their columns.
        cells = has_tag(page, *_CELLS) & (page.rendered() if page.has_layout else True)
        for table in self.tables:
            chosen[table : page.end[table]] |= cells[table : page.end[table]]
        nodes: list[int] = np.flatnonzero(chosen).tolist()
        return nodes

    def _tasks(self) -> dict[int, str]:
        reader, tasks = self.reader, dict[int, str]()
        for node in np.flatnonzero(has_tag(self._page, "input")).tolist():
            given = reader.given(node)
            item = reader.parent[node]
            for _ in range(_STEPS_TO_BOX):
                if item <= 0 or reader.names[reader.tag[item]] == "li":
                    break
                item = reader.parent[item]
            if (
                given.get("type", "").lower() == "checkbox"
                and item > 0
                and reader.names[reader.tag[item]] == "li"
                and node - item < 2 * _STEPS_TO_BOX
                and not any(n in self.texts and self.texts[n].text.strip() for n in range(item, node))
            ):
                tasks.setdefault(item, "[x]" if "checked" in given else "[ ]")
        return tasks


def _before(marked: NDArray[np.bool_]) -> list[int]:
    counts: list[int] = counted_before(marked).tolist()
    return counts


def _counted(before: list[int], start: int, end: int) -> int:
    return before[end] - before[start]
