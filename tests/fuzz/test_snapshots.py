"""Files of pages: odd pages come back as they were, and whatever else is in a file is refused by name."""

from typing import Any

import msgspec
import numpy as np
import zstandard
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from domsieve.errors import DamagedFileError, FormatVersionError
from domsieve.snapshot.format import Base, decode, encode, payload_of
from domsieve.snapshot.page import Kind, Provenance, Snapshot, subtree_ends
from domsieve.snapshot.strings import Interner
from tests.fuzz.damage import altered, damaged
from tests.fuzz.fuzzing import fuzzed
from tests.snapshot.pages import made_up

PAGE = made_up(3, 40)
DATA = encode(PAGE)
PAYLOAD = payload_of(PAGE)
HEADER_END = 4 + int.from_bytes(PAYLOAD[:4], "little")
BASE_PAYLOAD = payload_of(made_up(4, 40))
BASE = Base(BASE_PAYLOAD)
ON_BASE = encode(PAGE, base=BASE)
FRAME = 23  # bytes before it
INT32 = st.integers(-(2**31), 2**31 - 1)
WORDS = st.text(max_size=12)
SCALARS = st.none() | st.booleans() | INT32 | WORDS | st.floats(allow_nan=False)
LEAF_KINDS = (Kind.ELEMENT, Kind.TEXT, Kind.TEXT, Kind.DOCUMENT, Kind.SHADOW_ROOT, Kind.PSEUDO)


@st.composite
def odd_pages(draw: DrawFn) -> dict[str, Any]:
    """Return the parts of a page that is one, whatever browsers make."""
    parent = [-1]
    for node in range(1, draw(st.integers(1, 25))):
        above = node - 1
        for _ in range(draw(st.integers(0, 3))):
            above = max(parent[above], 0)
        parent.append(above)
    n, inner = len(parent), set(parent)
    kind = [Kind.DOCUMENT]
    kind += [Kind.ELEMENT if node in inner else draw(st.sampled_from(LEAF_KINDS)) for node in range(1, n)]
    names = draw(st.lists(WORDS, max_size=3))
    rows = draw(st.integers(0, 3))
    style = [draw(st.integers(-1, rows - 1)) for _ in range(n)]
    edges = st.floats(width=32, allow_nan=False, allow_infinity=False) | INT32.map(lambda units: units / 64)
    attributes = draw(st.lists(st.sampled_from((0, 0, 1, 3)), min_size=n, max_size=n))
    cut = draw(st.lists(WORDS, max_size=2))
    return {
        "parent": parent,
        "kind": [*map(int, kind)],
        "tag": draw(st.lists(WORDS, min_size=n, max_size=n)),
        "text": [draw(st.text()) if one == Kind.TEXT else None for one in kind],
        "style": style,
        "box": [draw(st.lists(edges, min_size=4, max_size=4)) for row in style if row >= 0],
        "paint": [draw(INT32) for row in style if row >= 0],
        "attributes": [
            draw(st.lists(st.lists(WORDS, min_size=2, max_size=2), min_size=size, max_size=size))
            for size in attributes
        ],
        "style_names": names,
        "styles": [draw(st.lists(WORDS, min_size=len(names), max_size=len(names))) for _ in range(rows)],
        "provenance": {
            "url": draw(WORDS),
            "final_url": draw(WORDS),
            "producer": "rendered" if rows else "raw",
            "status": draw(st.none() | INT32),
            "options": draw(st.dictionaries(WORDS, SCALARS, max_size=3)),
            "extras": draw(st.dictionaries(WORDS, WORDS, max_size=2)),
            "complete": not cut,
            "reasons": cut,
            "timings_ms": draw(st.dictionaries(WORDS, st.floats(allow_nan=False), max_size=2)),
            "requests": draw(INT32),
            "refused": draw(st.lists(WORDS, max_size=2)),
            "missing_pictures": draw(st.lists(WORDS, max_size=2)),
        },
    }


def page_of(parts: dict[str, Any]) -> Snapshot:
    """Return the page that is made of these parts."""
    strings, tags = Interner(), Interner()
    style, names = np.array(parts["style"], np.int32), parts["style_names"]
    boxed = style >= 0
    box = np.full((style.size, 4), np.nan, np.float32)
    box[boxed] = np.array(parts["box"], np.float32).reshape(-1, 4)
    paint = np.full(style.size, -1, np.int32)
    paint[boxed] = parts["paint"]
    attributes = [pair for pairs in parts["attributes"] for pair in pairs]
    counts = np.array([len(pairs) for pairs in parts["attributes"]], np.int64)
    text = [-1 if one is None else strings(one) for one in parts["text"]]
    styles = [[strings(value) for value in row] for row in parts["styles"]]
    return Snapshot(
        parent=np.array(parts["parent"], np.int32),
        end=subtree_ends(parts["parent"]),
        kind=np.array(parts["kind"], np.uint8),
        tag=tags.ids(parts["tag"]),
        text=np.array(text, np.int32),
        style=style,
        box=box,
        paint=paint,
        attr_start=np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        attr_name=strings.ids([name for name, _ in attributes]),
        attr_value=strings.ids([value for _, value in attributes]),
        styles=np.array(styles, np.int32).reshape(len(styles), len(names)),
        style_names=tuple(names),
        tags=tags.table(),
        strings=strings.table(),
        provenance=msgspec.convert(parts["provenance"], Provenance),
    )


def same(a: Snapshot, b: Snapshot) -> bool:
    return a.digest() == b.digest() and a.provenance == b.provenance


def outcome(data: bytes, base: Base | None = None) -> Snapshot | None:
    """Return the page of a file, None where it is refused; nothing else may happen."""
    try:
        return decode(data, source="a.dsnap", base=base)
    except (DamagedFileError, FormatVersionError) as error:
        said = str(error)
    assert "a.dsnap" in said
    return None


def held(payload: bytes) -> bytes:
    """Return a file with this payload, and a checksum that is right."""
    return DATA[:FRAME] + zstandard.ZstdCompressor(level=1, write_checksum=True).compress(payload)


def use(page: Snapshot, payload: bytes) -> None:
    """Read all of a page, which a file of strangers may be, and see that it is no larger than the file."""
    assert page.nbytes <= 50 * len(payload) + 1_000
    assert len(page.styles) <= len(payload)
    for node in range(len(page)):
        assert node < page.end[node] <= len(page)
        page.tag_name(node), page.text_of(node), page.attributes(node), page.computed_style(node)
        Kind(int(page.kind[node]))
    page.rendered()
    assert repr(page)
    assert same(decode(encode(page)), page)


@fuzzed(12, parts=odd_pages())
def test_odd_pages_come_back_as_they_were(parts: dict[str, Any]) -> None:
    page = page_of(parts)
    data = encode(page)
    assert same(decode(data), page)
    assert encode(decode(data)) == data
    assert same(decode(encode(page, base=BASE), base=BASE), page)


@fuzzed(40, data=damaged(DATA))
def test_damage_is_noticed(data: bytes) -> None:
    page = outcome(data)
    # Some bits of the frame's header mean nothing.
    assert page is None or same(page, PAGE)


@fuzzed(40, data=damaged(ON_BASE))
def test_damage_is_noticed_in_pages_written_against_a_base(data: bytes) -> None:
    page = outcome(data, BASE)
    assert page is None or same(page, PAGE)


@fuzzed(40, data=st.binary(max_size=300), head=st.integers(0, FRAME))
def test_bytes_of_any_kind_are_no_page(data: bytes, head: int) -> None:
    assert outcome(DATA[:head] + data) is None


@fuzzed(75, payload=damaged(PAYLOAD) | damaged(PAYLOAD, most=1))
def test_a_payload_that_was_made_by_hand_is_a_page_or_refused(payload: bytes) -> None:
    page = outcome(held(payload))
    if page is not None:
        use(page, payload)


@fuzzed(40, header=altered(msgspec.msgpack.decode(PAYLOAD[4:HEADER_END])))
def test_a_header_that_was_made_by_hand_is_a_page_or_refused(header: Any) -> None:
    try:
        made = msgspec.msgpack.encode(header)
    except OverflowError:
        return  # MessagePack has no such number
    payload = len(made).to_bytes(4, "little") + made + PAYLOAD[HEADER_END:]
    page = outcome(held(payload))
    if page is not None:
        use(page, payload)


@fuzzed(20, size=st.integers(0, 2**64 - 1) | st.integers(0, 2**32), rest=st.binary(max_size=50))
def test_a_frame_that_promises_much_costs_nothing(size: int, rest: bytes) -> None:
    # Magic number, a descriptor of eight bytes of size in one segment, and the size.
    frame = b"\x28\xb5\x2f\xfd\xe0" + size.to_bytes(8, "little") + rest
    assert outcome(DATA[:FRAME] + frame) is None


@fuzzed(20, payload=damaged(BASE_PAYLOAD))
def test_another_base_gives_no_page(payload: bytes) -> None:
    page = outcome(ON_BASE, Base(payload))
    assert page is None or payload == BASE_PAYLOAD
