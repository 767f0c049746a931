"""Small pages for tests: HTML source as a rendered or a raw Snapshot, without a browser."""

from html.parser import HTMLParser

import numpy as np

from domsieve.analysis.columns.flow import word_set
from domsieve.snapshot.page import Kind, Producer, Provenance, Snapshot, subtree_ends
from domsieve.snapshot.strings import Interner

_VOID = word_set("area base br col embed hr img input link meta source track wbr")
_HIDDEN = word_set("base head link meta noscript script style template title")
_INLINE = word_set(
    "a abbr b bdi bdo br cite code data dfn em font i img ins kbd label mark q s samp small span strong sub "
    "sup svg time u var wbr del"
)
_DISPLAY = {
    **dict.fromkeys(_INLINE, "inline"),
    **dict.fromkeys(word_set("button input select textarea"), "inline-block"),
    "slot": "contents",
    "li": "list-item",
    "table": "table",
    "thead": "table-header-group",
    "tbody": "table-row-group",
    "tr": "table-row",
    "td": "table-cell",
    "th": "table-cell",
    "caption": "table-caption",
}
STYLE_NAMES = ("display", "position", "visibility", "white-space", "font-size")
_SPECIAL = {"#shadow-root": Kind.SHADOW_ROOT, "#document": Kind.DOCUMENT}


class _Builder(HTMLParser):
    """Takes each tag as it stands; ``x-shadow-root``, ``x-document`` and ``x-before`` are no elements."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parent, self.kind, self.names = [-1], [int(Kind.DOCUMENT)], ["#document"]
        self.attributes: list[dict[str, str]] = [{}]
        self.texts = [""]
        self.open = [0]

    def add(self, name: str, kind: Kind, attributes: dict[str, str], text: str = "") -> None:
        self.parent.append(self.open[-1])
        self.kind.append(int(kind))
        self.names.append(name)
        self.attributes.append(attributes)
        self.texts.append(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        name = tag.replace("x-shadow-root", "#shadow-root").replace("x-document", "#document")
        name = name.replace("x-before", "::before")
        kind = Kind.PSEUDO if name == "::before" else _SPECIAL.get(name, Kind.ELEMENT)
        self.add(name, kind, {k: v or "" for k, v in attrs})
        if tag not in _VOID:
            self.open.append(len(self.parent) - 1)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.add("#text", Kind.TEXT, {}, data)


def page(
    html: str, *, producer: Producer = "raw", url: str = "https://example.org/dir/page.html"
) -> Snapshot:
    """Return well-formed `html` as a Snapshot; a rendered one obeys a few properties of inline CSS."""
    built = _Builder()
    built.feed(html)
    built.close()
    strings, tags = Interner(), Interner()
    n = len(built.parent)
    rows: dict[tuple[int, ...], int] = {}
    style = [-1] * n
    css: list[dict[str, str]] = []
    for i, (above, name) in enumerate(zip(built.parent, built.names, strict=True)):
        inherited = {k: v for k, v in css[above].items() if k not in {"display", "position"}} if i else {}
        own = {
            "display": _DISPLAY.get(name, "block"),
            "position": "static",
            "visibility": "visible",
            "white-space": "normal",
            "font-size": "16px",
        }
        own.update(inherited)
        if name == "pre":
            own["white-space"] = "pre"
        for rule in built.attributes[i].get("style", "").split(";"):
            key, _, value = rule.partition(":")
            if key.strip() in own:
                own[key.strip()] = value.strip()
        if name in _HIDDEN or (i and css[above]["display"] == "none"):
            own["display"] = "none"
        css.append(own)
        blank = built.kind[i] == Kind.TEXT and not built.texts[i].strip()
        shown = own["display"] not in {"none", "contents"} and not (
            blank and css[above]["display"] in {"flex", "table", "table-row", "grid"}
        )
        if producer != "raw" and shown:
            row = tuple(strings(css[i][k]) for k in STYLE_NAMES)
            style[i] = rows.setdefault(row, len(rows))
    has_box = np.array(style) >= 0
    box = np.where(has_box[:, None], np.arange(4 * n).reshape(n, 4) * 10, np.nan).astype(np.float32)
    for i, above in enumerate(built.parent):
        given = built.attributes[max(above, 0)].get("data-box")
        if given and has_box[i]:
            box[i] = [float(x) for x in given.split()]
    starts = np.concatenate(([0], np.cumsum([len(a) for a in built.attributes])))
    return Snapshot(
        parent=np.array(built.parent, np.int32),
        end=subtree_ends(built.parent),
        kind=np.array(built.kind, np.uint8),
        tag=np.array([tags(name) for name in built.names], np.int32),
        text=np.array(
            [strings(t) if k == Kind.TEXT else -1 for t, k in zip(built.texts, built.kind, strict=True)],
            np.int32,
        ),
        style=np.array(style, np.int32),
        box=box,
        paint=np.where(has_box, np.arange(n), -1).astype(np.int32),
        attr_start=starts.astype(np.int32),
        attr_name=np.array([strings(k) for a in built.attributes for k in a], np.int32),
        attr_value=np.array([strings(v) for a in built.attributes for v in a.values()], np.int32),
        tags=tags.table(),
        strings=strings.table(),
        style_names=STYLE_NAMES if producer != "raw" else (),
        styles=np.array([list(row) for row in rows], np.int32).reshape(
            len(rows), len(STYLE_NAMES) if producer != "raw" else 0
        ),
        provenance=Provenance(url=url, final_url=url, producer=producer),
    )
