"""Files of results are whole or absent, in folders and on object stores; what is there stays."""

from pathlib import Path
from uuid import uuid4

import fsspec
import pytest

from domsieve.bulk._places import place_at
from domsieve.errors import StorageError, UsageError
from tests.bulk.made import cleaned, rows_of, write_sites


@pytest.fixture(params=["folder", "store"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "out") if request.param == "folder" else f"memory://{uuid4().hex}/out"


def test_a_file_is_there_when_it_is_whole(address: str) -> None:
    place = place_at(address)
    with place.writing("a/b.bin") as path:
        path.write_bytes(b"some")
        assert place.names("a") == set()
        path.write_bytes(b"all")
    assert place.names("a") == {"b.bin"}
    assert place.names() == place.names("c") == set()
    assert place.read("a/b.bin") == b"all"
    with place.opened("a/b.bin") as file:
        file.seek(1)
        assert file.read() == b"ll"
    place.remove("a/b.bin")
    place.remove("a/b.bin")
    assert place.names("a") == set()
    with pytest.raises(StorageError, match="cannot be read"):
        place.read("a/b.bin")


def test_an_error_leaves_no_file(address: str) -> None:
    place = place_at(address)

    def fail() -> None:
        with place.writing("b.bin") as path:
            path.write_bytes(b"some")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert place.names() == set()


def test_on_object_stores_a_name_is_put_once_unless_it_is_to_be_replaced() -> None:
    place = place_at(f"memory://{uuid4().hex}/out")
    for text, replace, there in (
        (b"one", False, b"one"),
        (b"two", False, b"one"),
        (b"three", True, b"three"),
    ):
        with place.writing("x", replace=replace) as path:
            path.write_bytes(text)
        assert place.read("x") == there


def test_parts_on_an_object_store_are_those_of_a_folder(tmp_path: Path) -> None:
    sites = write_sites(tmp_path / "in")
    address = f"memory://{uuid4().hex}/out"
    assert cleaned(address, [sites]).made == cleaned(tmp_path / "out", [sites]).made == 3
    fsspec.filesystem("memory").get(address.removeprefix("memory:/"), str(tmp_path / "got"), recursive=True)
    (got,) = {path.parent for path in (tmp_path / "got").rglob("part-*")}
    assert rows_of(got) == rows_of(tmp_path / "out")
    assert cleaned(address, [sites]).made == 0


def test_unknown_kinds_of_addresses_are_refused() -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        place_at("nothing://bucket/x")
