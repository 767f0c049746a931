"""Bytes and values changed as disks, networks and strangers change them."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

_ODD_NUMBERS = (0, 1, 127, 128, 255, 256, 65_535, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)
_KINDS = ("flip", "set", "number", "cut", "delete", "repeat", "insert", "move")

odd_scalars: SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(_ODD_NUMBERS),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.text(max_size=9),
    st.binary(max_size=9),
)
"""Values of every kind that JSON or MessagePack knows."""

odd_values: SearchStrategy[Any] = st.recursive(
    odd_scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
"""The same, in lists and maps too."""


@st.composite
def damaged(draw: DrawFn, data: bytes, *, most: int = 3) -> bytes:
    """Return `data` after up to `most` changes: flipped, overwritten, cut, deleted, repeated or moved bytes."""
    for _ in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, max(len(data) - 1, 0)))
        end = min(start + draw(st.sampled_from((1, 1, 2, 4, 8, 30, 300, 3_000))), len(data))
        piece = data[start:end]
        kind: str = draw(st.sampled_from(_KINDS))
        if kind == "cut":
            data = data[:start]
        elif kind == "move":
            place = draw(st.integers(0, len(data)))
            data = data[:place] + piece + data[place:]
        elif kind == "insert":
            data = data[:start] + draw(st.binary(min_size=1, max_size=30)) + data[start:]
        else:
            data = data[:start] + _changed(draw, kind, piece) + data[end:]
    return data


def _changed(draw: DrawFn, kind: str, piece: bytes) -> bytes:
    if kind == "flip":
        return bytes([piece[0] ^ 1 << draw(st.integers(0, 7))]) + piece[1:] if piece else b""
    if kind == "set":
        return bytes([draw(st.integers(0, 255))]) * len(piece)
    if kind == "number":
        size = len(piece) if len(piece) in {1, 2, 4, 8} else 4
        number: int = draw(st.sampled_from(_ODD_NUMBERS)) % (1 << 8 * size)
        return number.to_bytes(size, draw(st.sampled_from(("little", "big"))))
    return piece * 2 if kind == "repeat" else b""


@st.composite
def altered(draw: DrawFn, value: Any) -> Any:
    """Return maps and lists with one value, anywhere in them, gone, odd, or in another's place."""
    if isinstance(value, dict) and value and draw(st.integers(0, 4)):
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: draw(altered(value[name]))}
    if isinstance(value, list | tuple) and value and draw(st.integers(0, 4)):
        at = draw(st.integers(0, len(value) - 1))
        return [*value[:at], draw(altered(value[at])), *value[at + 1 :]]
    if isinstance(value, dict) and value and draw(st.booleans()):
        gone = draw(st.sampled_from(sorted(value)))
        rest = {name: held for name, held in value.items() if name != gone}
        return rest if draw(st.booleans()) else {**rest, draw(st.text(max_size=9)): value[gone]}
    if isinstance(value, bytes) and draw(st.integers(0, 4)):
        return draw(damaged(value))
    return draw(odd_values)
