"""Files of site models: whatever is in one is a model that works, or is refused by name."""

import pickle
from functools import cache
from typing import Any

import msgspec
import numpy as np
import zstandard
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from domsieve.analysis.model_file import model_from_bytes, model_to_bytes
from domsieve.analysis.registry import SITE_METHODS
from domsieve.analysis.site_model import SiteModel
from domsieve.analysis.trees.style_tree import capped
from domsieve.budget import AnalysisBudget, budgeted
from domsieve.errors import DamagedFileError, DomsieveError, FormatVersionError
from domsieve.snapshot.page import Snapshot
from tests.analysis.pages import page as laid_out
from tests.fuzz.damage import altered, damaged, odd_values
from tests.fuzz.fuzzing import fuzzed

ITEM = "<li><a href='/p/{0}'>Title {0}</a> some words {0}</li>"
PARAMETERS: dict[str, list[dict[str, Any]]] = {
    "auto": [{}],
    "sst": [{}, {"merge_similarity": 0.8, "siblings": "style"}],
    "cst": [{}],
    "entropy": [{}],
    "template": [{}, {"detection": "global"}],
}


@cache
def pages() -> tuple[Snapshot, ...]:
    return tuple(
        laid_out(
            f"<html><head><title>Page {n}</title></head><body><div><a href='/'>Home</a>"
            f"<a href='/p/{(n + 1) % 6}'>Next</a><a href='/about'>About</a></div>"
            f"<h1>Heading {n}</h1><p>Words of the page {n}, a number of them.</p>"
            f"<ul>{''.join(ITEM.format(n * 7 + i) for i in range(4))}</ul><div>The same foot.</div></body></html>",
            url=f"https://example.org/p/{n}",
        )
        for n in range(6)
    )


@cache
def contents() -> list[dict[str, Any]]:
    """Return what is in the files of models of all kinds."""
    models: list[SiteModel[Any]] = [
        SITE_METHODS[name].estimator(**parameters).fit(pages())  # type: ignore[index]
        for name, all_parameters in PARAMETERS.items()
        for parameters in all_parameters
    ]
    models += [capped(models[1])]
    return [msgspec.msgpack.decode(zstandard.decompress(model_to_bytes(model))) for model in models]


def held(content: Any) -> bytes:
    return zstandard.ZstdCompressor(level=1, write_checksum=True).compress(msgspec.msgpack.encode(content))


def read(data: bytes) -> SiteModel[Any] | None:
    """Return the model of a file, None where it is refused; nothing else may happen."""
    try:
        return model_from_bytes(data, name="a.model")
    except (DamagedFileError, FormatVersionError) as error:
        said = str(error)
    assert "a.model" in said
    return None


def use(data: bytes) -> None:
    """Read a model and, if it is one, work with it; only errors of the project may come of that."""
    model = read(data)
    if model is None:
        return
    with budgeted(AnalysisBudget(memory_bytes=1_000_000_000)):
        try:
            verdicts = model.transform(pages()[:2])
            model.facts()
            again = model_from_bytes(model_to_bytes(model)).transform(pages()[:2])
        except DomsieveError:
            return
    for page, verdict, other in zip(pages(), verdicts, again, strict=False):
        assert verdict.kept.shape == verdict.score.shape == (len(page),)
        assert np.isfinite(verdict.score).all()
        assert (verdict.kept == other.kept).all()


@st.composite
def columns(draw: DrawFn, content: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file with odd numbers in one column of one of its tables."""
    tables = [name for name, value in content["counts"].items() if isinstance(value, dict)]
    name = draw(st.sampled_from(tables))
    table = content["counts"][name]
    group = draw(st.sampled_from([part for part in ("key", "fixed", "sums") if table[part]]))
    column = None if group == "key" else draw(st.sampled_from(sorted(table[group])))
    kind, data = table["key"] if column is None else table[group][column]
    numbers = np.frombuffer(data, kind).copy()
    odd = st.integers(-3, 3) | st.integers(-(2**63), 2**64 - 1)
    for _ in range(draw(st.integers(1, 3)) if numbers.size else 0):
        at = draw(st.integers(0, numbers.size - 1))
        wanted = draw(odd) if draw(st.booleans()) else int(numbers[draw(st.integers(0, numbers.size - 1))])
        numbers[at] = np.array([wanted % 2**64], np.uint64).astype(numbers.dtype)[0]
    changed = [kind, numbers.tobytes()]
    new = {**table, "key": changed} if column is None else {**table, group: {**table[group], column: changed}}
    return {**content, "counts": {**content["counts"], name: new}}


numbers = st.integers(0, 6)


@fuzzed(30, data=numbers.flatmap(lambda number: damaged(held(contents()[number]))))
def test_damage_is_noticed(data: bytes) -> None:
    model = read(data)
    # Some bits of the frame's header mean nothing.
    assert model is None or model_to_bytes(model) in {
        model_to_bytes(model_from_bytes(held(one))) for one in contents()
    }


@fuzzed(30, content=numbers.flatmap(lambda number: altered(contents()[number])))
def test_a_model_that_was_made_by_hand_works_or_is_refused(content: Any) -> None:
    try:
        data = held(content)
    except OverflowError:
        return  # MessagePack has no such number
    use(data)


@fuzzed(30, content=numbers.flatmap(lambda number: columns(contents()[number])))
def test_columns_that_were_made_by_hand_work_or_are_refused(content: Any) -> None:
    use(held(content))


@fuzzed(5, one=numbers, other=numbers, part=st.sampled_from(("counts", "parameters", "style", "method")))
def test_parts_of_another_model_are_refused(one: int, other: int, part: str) -> None:
    use(held({**contents()[one], part: contents()[other][part]}))


@fuzzed(30, data=st.binary(max_size=300) | odd_values.map(pickle.dumps), is_packed=st.booleans())
def test_bytes_of_any_kind_are_no_model(data: bytes, is_packed: bool) -> None:
    assert read(zstandard.compress(data) if is_packed else data) is None
