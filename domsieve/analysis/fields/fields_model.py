"""What was learned of the fields of a site, and its file: JSON that people can read.

The file has no code and no patterns, only bounded texts and numbers, and every part is checked when it is read. So
files from others are safe to use.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from domsieve.analysis.fields.places import FAMILIES, LONGEST_FEATURE, Source
from domsieve.analysis.fields.text_parts import WHOLE, Part
from domsieve.analysis.fields.value_kinds import ValueKind
from domsieve.analysis.selection.element_matching import check_selector
from domsieve.errors import DamagedFileError, FormatVersionError, StorageError, UsageError
from domsieve.files import write_file

KIND = "domsieve fields model"
VERSION = 1
MOST_FIELDS = 100
"""Maximum number of fields of a model."""
MOST_DESCRIPTIONS = 6
"""Maximum number of descriptions of a field."""
_MOST_LABELS = 1_000
_MOST_BYTES = 5_000_000

Feature = Annotated[str, msgspec.Meta(min_length=1, max_length=LONGEST_FEATURE + 20)]
FieldKey = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]
Pick = Literal["first", "last", "all"]
"""Which of several places of a page is meant."""


class Description(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """One way to find a field.

    Parameters
    ----------
    source : what the value is read from.
    where : features that a place must have, all of them.
    css : a CSS selector, in place of `where`; the value is the text of the element.
    pick : which place is meant if several match.
    part : the part of the text that is the value.
    weight : how far it agreed with the other descriptions on the pages of the learning, from 0 to 1.
    """

    source: Source = "text"
    where: Annotated[tuple[Feature, ...], msgspec.Meta(max_length=12)] = ()
    css: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    pick: Pick = "first"
    part: Part = WHOLE
    weight: Share = 1.0

    @cached_property
    def wanted(self) -> frozenset[str]:
        """The features as a set."""
        return frozenset(self.where)

    @cached_property
    def families(self) -> frozenset[str]:
        """The families of its features."""
        if self.css:
            return frozenset(("css",))
        return frozenset(FAMILIES[feature.partition(" ")[0]] for feature in self.where)

    def __str__(self) -> str:
        place = self.css or ", ".join(self.where)
        part = ""
        if not self.part.is_whole:
            said = {name: value for name, value in msgspec.to_builtins(self.part).items() if name != "split"}
            part = f", part {' '.join(f'{name} {value!r}' for name, value in said.items())}"
        return f"{self.source}: {place}{part}"


class LearnedField(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was learned of a field.

    Parameters
    ----------
    many : whether it is a list.
    kind : the kind of most of its values.
    digits : whether all its values have a digit; others are then no values.
    descriptions : ways to find it, the best first.
    found : number of pages (or records) of the learning on which it was found.
    pages : number of pages (or records) of the learning.
    of_kind : share of its values that are of `kind`.
    length : median length of its values, in characters.
    levels : how many ancestors up its record is, counting only ancestors with the tag of records; see
        `FieldsModel.record_tag`.
    """

    many: bool = False
    kind: ValueKind = "text"
    digits: bool = False
    descriptions: Annotated[tuple[Description, ...], msgspec.Meta(min_length=1, max_length=MOST_DESCRIPTIONS)]
    found: Count = 0
    pages: Count = 0
    of_kind: Share = 1.0
    length: Count = 0
    levels: Annotated[int, msgspec.Meta(ge=0, le=50)] = 0

    @property
    def share(self) -> float:
        """The share of pages of the learning on which the field was found, from 0 to 1."""
        return self.found / self.pages if self.pages else 1.0


class FieldsModel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The fields of a site, learned by `domsieve.learn_fields`.

    Parameters
    ----------
    kind, version : what the file is.
    records : whether pages are lists of records, and each record has the fields.
    record_tag : tag of the elements that hold one record each; empty if they have no element of their own.
    examples : number of example pages.
    pages : number of pages of the learning, with the examples.
    labels : texts that several pages say, such as ``"publisher:"``, in lower case and with 0 for every digit.
    fields : the fields by name. Those of records are in the order in which a record shows them.
    """

    kind: Literal["domsieve fields model"] = "domsieve fields model"
    version: Literal[1] = 1
    records: bool = False
    record_tag: Annotated[str, msgspec.Meta(max_length=100)] = ""
    examples: Count = 0
    pages: Count = 0
    labels: Annotated[
        tuple[Annotated[str, msgspec.Meta(max_length=LONGEST_FEATURE)], ...],
        msgspec.Meta(max_length=_MOST_LABELS),
    ] = ()
    fields: Annotated[dict[FieldKey, LearnedField], msgspec.Meta(min_length=1, max_length=MOST_FIELDS)]


class _Envelope(msgspec.Struct):
    kind: Literal["domsieve fields model"]
    version: Annotated[int, msgspec.Meta(ge=1)]


def fields_model_to_bytes(model: FieldsModel) -> bytes:
    """Return the content of a model file. Equal models give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(model), indent=1) + b"\n"


def save_fields_model(model: FieldsModel, path: Path | str) -> None:
    """Write a model to a file and create missing folders.

    Raises
    ------
    StorageError : the file cannot be written.
    """
    write_file(Path(path), fields_model_to_bytes(model), what="The model")


def load_fields_model(path: Path | str) -> FieldsModel:
    """Read a model that `save_fields_model` has written. Files from others are safe to read.

    Raises
    ------
    StorageError : the file cannot be read.
    DamagedFileError : it is not a valid model of fields.
    FormatVersionError : it was written by a newer version of domsieve.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise StorageError(f"The model {path} cannot be read: {error.strerror}.") from error
    return fields_model_from_bytes(data, name=str(path))


def fields_model_from_bytes(data: bytes, *, name: str = "") -> FieldsModel:
    """Return the model in the content of a file.

    Parameters
    ----------
    data : the result of `fields_model_to_bytes`.
    name : the name of the file, for messages.

    Raises
    ------
    DamagedFileError : the bytes are not a valid model of fields.
    FormatVersionError : they were written by a newer version of domsieve.
    """
    label = f"The model {name}" if name else "This model"
    try:
        if len(data) > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES:,} bytes")
        if (version := msgspec.json.decode(data, type=_Envelope).version) > VERSION:
            raise FormatVersionError(
                f"{label} has format {version}, but this version of domsieve reads formats up to {VERSION}; "
                "update domsieve or learn the fields again."
            )
        model = msgspec.json.decode(data, type=FieldsModel)
        _check(model)
    except (msgspec.DecodeError, UsageError, ValueError, RecursionError) as error:
        raise DamagedFileError(
            f"{name or 'This'} is not a valid model of fields ({error}); learn them again."
        ) from error
    return model


def _check(model: FieldsModel) -> None:
    """Raise an error unless the parts of a decoded model fit together.

    Raises
    ------
    ValueError, UsageError : they do not.
    """
    for name, learned in model.fields.items():
        if learned.found > learned.pages:
            raise ValueError(f"field {name!r} was found on more pages than there were")
        for one in learned.descriptions:
            if bool(one.css) == bool(one.where):
                raise ValueError(f"a description of {name!r} needs either features or a CSS selector")
            if one.css:
                check_selector(one.css)
            for feature in one.where:
                if feature.partition(" ")[0] not in FAMILIES:
                    raise ValueError(f"{feature!r} is no feature of a place")


def model_facts(model: FieldsModel) -> Mapping[str, Any]:
    """Return the figures of the learning by name, for the command line."""
    return {
        "examples": model.examples,
        "pages": model.pages,
        "records": model.records,
        "fields": {
            name: {
                "found": learned.found,
                "of": learned.pages,
                "kind": learned.kind,
                "descriptions": len(learned.descriptions),
            }
            for name, learned in model.fields.items()
        },
    }
