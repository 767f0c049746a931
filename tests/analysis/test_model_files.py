"""Files of site models that somebody made up: each is refused by name, before it costs anything."""

from collections.abc import Callable
from functools import cache
from typing import Any

import msgspec
import numpy as np
import pytest
import zstandard

from domsieve.analysis.cleaning.template import TemplateFilter
from domsieve.analysis.model_file import model_from_bytes, model_to_bytes
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.sst import SiteStyleTree
from domsieve.errors import DamagedFileError, DomsieveError
from tests.analysis.pages import page

Content = dict[str, Any]


@cache
def learned(kind: Callable[[], SiteModel[Any]]) -> bytes:
    pages = [
        page(
            f"<body><p><a href='/{n}'>One</a><a href='/'>Two</a><a href='/x'>Three</a></p><p>Text {n}.</p></body>",
            url=f"https://example.org/{n}",
        )
        for n in range(3)
    ]
    return model_to_bytes(kind().fit(pages))


def packed(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def refused(data: bytes) -> str:
    with pytest.raises(DamagedFileError) as caught:
        model_from_bytes(data, name="a.model")
    assert str(caught.value).startswith("a.model is not a valid site model (")
    return str(caught.value)


def with_change(kind: Callable[[], SiteModel[Any]], change: Callable[[Content], None]) -> str:
    content: Content = msgspec.msgpack.decode(zstandard.decompress(learned(kind)))
    change(content)
    return refused(packed(msgspec.msgpack.encode(content)))


def numbers(table: Content, *names: str) -> tuple[list[Any], np.ndarray[Any, Any]]:
    for name in names[:-1]:
        table = table[name]
    column = table[names[-1]]
    return column, np.frombuffer(column[1], column[0]).copy()


def test_lists_in_lists_without_end() -> None:
    refused(packed(b"\x91" * 100_000 + b"\x00"))
    head = msgspec.msgpack.encode({"kind": "domsieve site model", "version": 3})
    refused(packed(b"\x83" + head[1:] + b"\xa1x" + b"\x91" * 100_000 + b"\x00"))


@pytest.mark.parametrize("size", [2**31, 2**40, 2**62])
def test_a_size_that_is_promised_takes_no_memory(size: int) -> None:
    # A zstd frame of one segment, with eight bytes of size.
    assert "unpack to too many" in refused(b"\x28\xb5\x2f\xfd\xe0" + size.to_bytes(8, "little") + b"abc")


def test_what_unpacks_to_too_much_is_not_unpacked() -> None:
    assert "unpack to too many" in refused(packed(bytes(30_000_000)))


@pytest.mark.parametrize("version", [0, 99, -1, None, "3", 3.5])
def test_another_version_is_refused(version: object) -> None:
    content = msgspec.msgpack.decode(zstandard.decompress(learned(SiteStyleTree))) | {"version": version}
    with pytest.raises(DomsieveError, match=r"a\.model (has format|is not a valid)"):
        model_from_bytes(packed(msgspec.msgpack.encode(content)), name="a.model")


def test_rows_out_of_order() -> None:
    def change(content: Content) -> None:
        column, keys = numbers(content, "counts", "features", "key")
        column[1] = keys[::-1].tobytes()

    assert "features has" in with_change(SiteStyleTree, change)


def test_a_column_that_is_missing() -> None:
    def change(content: Content) -> None:
        del content["counts"]["elements"]["fixed"]["depth"]

    assert "elements has" in with_change(SiteStyleTree, change)


def test_elements_that_lie_in_each_other() -> None:
    def change(content: Content) -> None:
        column, parents = numbers(content, "counts", "elements", "fixed", "parent")
        _, keys = numbers(content, "counts", "elements", "key")
        column[1] = np.roll(keys, 1).tobytes()
        assert parents.size

    assert "elements has" in with_change(SiteStyleTree, change)


def test_a_depth_that_no_tree_has() -> None:
    def change(content: Content) -> None:
        column, depths = numbers(content, "counts", "elements", "fixed", "depth")
        column[1] = np.where(depths == depths.max(), 2**31 - 1, depths).astype(depths.dtype).tobytes()

    assert "depth" in with_change(SiteStyleTree, change)


@pytest.mark.parametrize("value", [-1, 2**62 + 1])
def test_sums_that_cannot_be(value: int) -> None:
    def change(content: Content) -> None:
        column, units = numbers(content, "counts", "elements", "sums", "units")
        units[0] = value
        column[1] = units.tobytes()

    assert "sums" in with_change(SiteStyleTree, change)


@pytest.mark.parametrize("pages", [0, -1, 2**60, True, 3.0, None])
def test_a_number_of_pages_that_cannot_be(pages: object) -> None:
    def change(content: Content) -> None:
        content["counts"]["pages"] = pages

    assert "pages" in with_change(SiteStyleTree, change)


@pytest.mark.parametrize(
    ("name", "value"), [("merge_similarity", 0.5), ("threshold", 7), ("siblings", "none"), ("style", "full")]
)
def test_parameters_that_did_not_learn_these_counts(name: str, value: object) -> None:
    def change(content: Content) -> None:
        content["parameters"] |= {
            name: value,
            **({"siblings": "style"} if name == "merge_similarity" else {}),
        }

    with_change(SiteStyleTree, change)


def test_links_belong_to_global_detection() -> None:
    def change(content: Content) -> None:
        content["parameters"]["detection"] = "global"

    assert "match its parameters" in with_change(TemplateFilter, change)


def test_what_stands_behind_a_model_is_noticed() -> None:
    refused(learned(SiteStyleTree) + b"more")
