"""Find blocks of each type by the names of elements, if their content fits the type.

A name alone is not enough, because site builders name whole pages after what is on them. Depending on the type, a
named element must also be small, or full of links, or without the heading of the page.
"""

from collections.abc import Callable

import numpy as np

from domsieve.analysis.block_types._block_columns import Columns, NameFlag, union
from domsieve.analysis.columns.batch import Bools, Ints
from domsieve.analysis.columns.tables import ranges

# Guesses; experiment `kinds` measures the result. Sizes are in letters: characters other than white space.
_PATH_LETTERS, _SHARE_LETTERS = 300, 300
_CAPTION_LETTERS, _FIGURE_LETTERS, _BYLINE_LETTERS = 1_000, 300, 160
_LEAST_TIMES_ON_PAGE = 2  # the page must have more than twice the letters of a part of it
_PLAIN, _LINKED, _ALL_LINKED = 0.3, 0.6, 0.8  # shares of letters in links
_FEWEST_LINKS = 3
_TEASER = 22  # average letters of links that are titles of other pages rather than menu entries
_LONG_CELL = 400  # a cell above this is layout
_FORUM = b"DiscussionForumPosting"


class TypeRules:
    """Finds the nodes of each block type by name.

    Methods return nodes in ascending order, of which some may be inside others.
    """

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._names = columns.names
        self._code = self._names.called(NameFlag.CODE)
        self._beside = self._part_of_page(self._names.called(NameFlag.BESIDE))

    def comments(self) -> Ints:
        """Return elements named after comments that have no page heading and are not just a number of comments."""
        c = self._columns
        most = (0.95 if c.titles[-1] else 0.5) * c.total

        def holds(nodes: Ints) -> Bools:
            tallies = self._names.are(nodes, NameFlag.TALLY | NameFlag.PICK)
            return self._untitled(nodes) & ~tallies & (c.of(c.letters, nodes) <= most)

        named, typed = self._names.called(NameFlag.COMMENT), self._names.called(NameFlag.TYPED_COMMENT)
        # Forums declare their posts as comments, but these are the content of the page.
        if typed.size and _FORUM not in c.page.strings.blob.tobytes():
            named = union(named, typed)
        return self._chosen(named, holds)

    def related(self) -> Ints:
        """Return parts of the page with links that are named after related pages, and teasers in sidebars."""
        c = self._columns

        def holds(nodes: Ints) -> Bools:
            letters, linked, links = (c.of(counts, nodes) for counts in (c.letters, c.linked, c.links))
            fewest = np.where(self._names.are(nodes, NameFlag.RELATED), 1, 2)
            return (
                self._is_part(nodes)
                & self._untitled(nodes)
                & (links >= fewest)
                & (linked >= _PLAIN * letters)
            )

        def teases(nodes: Ints) -> Bools:
            letters, linked, links = (c.of(counts, nodes) for counts in (c.letters, c.linked, c.links))
            wordy = (links >= _FEWEST_LINKS) & (linked >= _TEASER * links) & (linked >= _LINKED * letters)
            return wordy & self._is_part(nodes)

        called = self._names.called
        picks = called(NameFlag.PICK, NameFlag.THING | NameFlag.COMMENT)
        named = self._chosen(union(called(NameFlag.RELATED), picks), holds)
        return union(named, self._chosen(self._beside, teases))

    def captions(self) -> Ints:
        """Return figure captions, elements named after captions or picture credits, and figures with a few words.

        The latter have a picture, no caption, and no headings, tables, code or quotes.
        """
        c, called = self._columns, self._names.called
        parts = c.counted(called(NameFlag.TITLE | NameFlag.HEADING | NameFlag.BUTTON))

        def holds(nodes: Ints) -> Bools:
            others = self._names.are(nodes, NameFlag.SLIDE | NameFlag.TABLE_CAPTION) | (
                c.of(parts, nodes) > 0
            )
            return ~others & (c.of(c.letters, nodes) <= _CAPTION_LETTERS) & self._is_part(nodes)

        named = self._chosen(
            union(called(NameFlag.CAPTION), called(NameFlag.PICTURE, NameFlag.CREDIT)), holds
        )
        figures, captions = self._full(called(NameFlag.FIGURE)), called(NameFlag.FIGURE_CAPTION)
        if figures.size:
            others = called(
                NameFlag.FIGURE_CAPTION
                | NameFlag.TITLE
                | NameFlag.HEADING
                | NameFlag.TABLE
                | NameFlag.CODE
                | NameFlag.QUOTE
            )
            pictures, others = c.counted(called(NameFlag.IMAGE)), c.counted(others)
            plain = (c.of(pictures, figures) > 0) & (c.of(others, figures) == 0)
            figures = figures[plain & (c.of(c.letters, figures) <= _FIGURE_LETTERS)]
        return union(named, captions, figures)

    def bylines(self) -> Ints:
        """Return short elements named after authors, and short lines with the metadata of a post and a time."""
        c, called = self._columns, self._names.called
        times = c.counted(called(NameFlag.TIME))

        def short(nodes: Ints) -> Bools:
            letters = c.of(c.letters, nodes)
            named = self._names.are(nodes, NameFlag.BYLINE) & ~self._names.are(nodes, NameFlag.BIOGRAPHY)
            fits = (letters > 0) & (letters <= _BYLINE_LETTERS) & self._untitled(nodes) & self._is_part(nodes)
            return fits & (named | (c.of(times, nodes) > 0))

        return self._chosen(union(called(NameFlag.BYLINE), called(NameFlag.POST, NameFlag.META)), short)

    def shares(self) -> Ints:
        """Return small elements named after sharing that contain a link or a button."""
        c = self._columns
        pressed = c.counted(self._names.called(NameFlag.LINK | NameFlag.BUTTON))

        def holds(nodes: Ints) -> Bools:
            small = (c.of(c.letters, nodes) <= _SHARE_LETTERS) & self._is_part(nodes)
            return small & (c.of(pressed, nodes) > 0) & self._untitled(nodes)

        return self._chosen(self._names.called(NameFlag.SHARE), holds)

    def paths(self) -> Ints:
        """Return small elements named after breadcrumbs."""
        c = self._columns

        def holds(nodes: Ints) -> Bools:
            return (c.of(c.letters, nodes) <= _PATH_LETTERS) & self._is_part(nodes) & self._untitled(nodes)

        return self._chosen(self._names.called(NameFlag.CRUMB), holds)

    def navigation(self) -> Ints:
        """Return navigation by tag, role and name, and lists of links in headers, footers and sidebars."""
        c, called = self._columns, self._names.called

        def is_no_article(nodes: Ints) -> Bools:
            letters, linked = c.of(c.letters, nodes), c.of(c.linked, nodes)
            return (linked * 2 >= letters) | ((letters * 5 <= c.total) & self._untitled(nodes))

        def is_list(nodes: Ints) -> Bools:
            return (c.of(c.links, nodes) > 1) & (c.of(c.linked, nodes) >= _LINKED * c.of(c.letters, nodes))

        def is_all_links(nodes: Ints) -> Bools:
            links = c.of(c.links, nodes)
            return (links >= _FEWEST_LINKS) & (c.of(c.linked, nodes) >= _ALL_LINKED * c.of(c.letters, nodes))

        frames = self._part_of_page(called(NameFlag.FRAME))
        frames = frames[~c.among(frames, called(NameFlag.ARTICLE))]
        around = c.tops(union(frames, self._beside))
        framed, _ = ranges(around, c.end[around] - around)
        return union(
            self._chosen(called(NameFlag.NAVIGATION), is_no_article),
            self._chosen(called(NameFlag.MENU), is_list),
            framed[is_all_links(framed)],
        )

    def tables(self) -> Ints:
        """Return data tables, which have header cells, or rows of several short cells, and no table inside."""
        c, called = self._columns, self._names.called
        grids = called(NameFlag.GRID)
        nodes = called(NameFlag.TABLE)
        if not nodes.size:
            return grids
        cells = called(NameFlag.CELL)
        letters = c.of(c.letters, cells)
        n_cells, n_long = (
            c.of(c.counted(cells[which]), nodes) for which in (letters > 0, letters > _LONG_CELL)
        )
        n_rows, n_heads = (
            c.of(c.counted(self._full(called(what))), nodes) for what in (NameFlag.ROW, NameFlag.HEAD)
        )
        n_tables, n_code = (c.of(c.counted(which), nodes) for which in (nodes, called(NameFlag.LISTING)))
        data = (n_rows > 1) & (n_cells * 2 >= 3 * n_rows) & (n_long == 0) & (n_code == 0)
        data = (data | (n_heads > 0)) & (n_cells > 1) & (n_tables == 1)
        return union(nodes[data & ~self._names.are(nodes, NameFlag.LAYOUT)], grids)

    def may_be_consent(self) -> Ints:
        """Return dialogs, and elements named after cookie notices or vendors of consent banners."""
        called = self._names.called
        cookie_notices = called(NameFlag.COOKIE, NameFlag.NOTICE)
        return self._part_of_page(union(cookie_notices, called(NameFlag.CONSENT | NameFlag.DIALOG)))

    def _chosen(self, nodes: Ints, holds: Callable[[Ints], Bools]) -> Ints:
        nodes = self._part_of_page(nodes)
        if nodes.size:
            nodes = nodes[holds(nodes)]
        return nodes[~self._columns.among(nodes, self._code)] if nodes.size else nodes

    def _part_of_page(self, nodes: Ints) -> Ints:
        return nodes[~self._names.are(nodes, NameFlag.WHOLE)]

    def _full(self, nodes: Ints) -> Ints:
        return nodes[self._columns.of(self._columns.letters, nodes) > 0]

    def _untitled(self, nodes: Ints) -> Bools:
        return np.asarray(self._columns.of(self._columns.titles, nodes) == 0)

    def _is_part(self, nodes: Ints) -> Bools:
        return self._columns.of(self._columns.letters, nodes) * _LEAST_TIMES_ON_PAGE < self._columns.total
