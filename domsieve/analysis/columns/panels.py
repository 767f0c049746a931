"""Hidden panels of raw pages that a visible control opens: tabs, accordions, answers of a FAQ.

A panel has an id, and its control names it:

- in ``aria-controls``;
- in ``data-bs-target``, ``data-target`` or ``href``, if the control has a ``data-bs-toggle`` or ``data-toggle`` of
  Bootstrap for tabs or collapsed parts;
- or the panel names the control: a ``tabpanel`` has the id of its ``tab`` in ``aria-labelledby``.

Classes are no evidence. Text without a control that readers see may be planted.
"""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from domsieve.analysis.columns.batch import Bools, Ints, below, counted_before
from domsieve.analysis.columns.page_columns import attributes_of, has_tag, page_texts
from domsieve.snapshot.page import Snapshot

TOGGLES = ("data-bs-toggle", "data-toggle")
_TARGETS = ("data-bs-target", "data-target", "href")
_OPENING = frozenset(("collapse", "list", "pill", "tab"))
# What opens in or as one of these is no part of the document: windows, menus, lists of choices.
_APART = ("dialog", "menu", "nav")
_APART_ROLES = frozenset(
    ("alertdialog", "dialog", "listbox", "menu", "menubar", "navigation", "search", "tooltip", "tree")
)


def opened_panels(page: Snapshot, hidden: Ints, shown: Bools) -> Ints:
    """Return those of the `hidden` elements that a visible control opens.

    Menus, dialogs and popups are not opened.

    Parameters
    ----------
    page : a raw page of N nodes.
    hidden : elements that an attribute hides.
    shown : (N,), the nodes that are shown while all panels are closed. A control must be one of them and have text.
    """
    attributes = attributes_of(page)
    is_hidden = np.zeros(len(page), np.bool_)
    is_hidden[hidden] = True
    nodes, ids = attributes.strings("id")
    mine = is_hidden[nodes]
    panels: dict[str, list[int]] = defaultdict(list)
    for node, name in zip(nodes[mine].tolist(), page.strings.take(ids[mine].tolist()), strict=True):
        if name.strip():
            panels[name.strip()].append(node)
    controls: dict[str, set[int]] = defaultdict(set)
    for name, control in _controls(page, panels) if panels else ():
        controls[name].add(control)
    if not controls:
        return np.zeros(0, np.int64)
    texts = page_texts(page)
    words = counted_before(~texts.is_blank & shown[texts.node])
    texts_before = np.append(texts.rank, texts.node.size)
    roles = attributes.found("role", _folded)
    apart = has_tag(page, *_APART)
    apart[[node for node, role in roles.items() if role in _APART_ROLES]] = True
    apart = below(apart, page.end.astype(np.int64))
    popups = attributes.found("aria-haspopup", lambda value: _folded(value) != "false" or None)

    def works(control: int) -> bool:
        says = words[texts_before[page.end[control]]] > words[texts_before[control]]
        is_apart = apart[control] and roles.get(control) != "tab"
        return bool(shown[control] and says) and not is_apart and control not in popups

    opened = [
        node
        for name, all_controls in controls.items()
        # Some pages give all their panels the same id: each control opens one.
        for node in panels[name][: sum(map(works, all_controls))]
        if not apart[node]
    ]
    return np.array(opened, np.int64)


def _controls(page: Snapshot, panels: dict[str, list[int]]) -> Iterator[tuple[str, int]]:
    """Yield the id of a panel and an element that names it as what it opens."""
    attributes = attributes_of(page)
    for control, names in attributes.found("aria-controls", str.split).items():
        yield from ((name, control) for name in panels.keys() & set(names))
    for toggle in TOGGLES:
        for control in attributes.found(toggle, lambda value: _folded(value) in _OPENING or None):
            own = page.attributes(control)
            targets = {own.get(target, "").strip().removeprefix("#") for target in _TARGETS}
            yield from ((name, control) for name in panels.keys() & targets)
    tab_panels = attributes.found("role", lambda value: _folded(value) == "tabpanel" or None)
    labels = {name: page.attributes(node) for name, (node, *_) in panels.items() if node in tab_panels}
    if labels:
        tabs = attributes.found("role", lambda value: _folded(value) == "tab" or None)
        by_id = {page.attributes(tab).get("id", "").strip(): tab for tab in tabs}
        for name, own in labels.items():
            label = own.get("aria-labelledby", "").strip()
            if label in by_id:
                yield name, by_id[label]


def _folded(value: str) -> str:
    return value.strip().lower()
