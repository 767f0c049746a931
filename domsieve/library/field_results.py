"""The fields of a page as a result of a call."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from domsieve.analysis.fields.extraction import FieldValue
from domsieve.analysis.writers.field_tables import FieldSheet, field_rows, write_fields_csv
from domsieve.library.results import Result
from domsieve.notebook import tables
from domsieve.sanitize import utf8
from domsieve.snapshot.page import Snapshot


class FieldsResult(Result[tuple[Snapshot, FieldSheet]]):
    """The fields of a page, returned by `domsieve.fields`.

    Attributes
    ----------
    url : address of the page, or its file; empty for HTML without an address.
    error : why the page failed; None if it did not. The properties of a failed page raise it.
    """

    @property
    def snapshot(self) -> Snapshot:
        """The whole page."""
        return self._outcome[0]

    @property
    def fields(self) -> Mapping[str, FieldValue]:
        """The fields by name, each with `value`, `confidence`, `node` and `description`; empty for list pages."""
        return self._outcome[1].found.fields

    @property
    def records(self) -> tuple[Mapping[str, FieldValue], ...]:
        """The fields of each record of a list page; empty for other pages."""
        return self._outcome[1].found.records

    @cached_property
    def values(self) -> dict[str, str | tuple[str, ...] | None]:
        """The values of the fields by name; None for fields that the page does not have. Empty for list pages."""
        return {name: one.value for name, one in self.fields.items()}

    @cached_property
    def rows(self) -> list[dict[str, str | int | tuple[str, ...] | None]]:
        """One dict for the page, or one per record: its address and number, and its fields by name."""
        with self._meter.running("write"):
            return field_rows([self._outcome[1]])

    @cached_property
    def csv(self) -> str:
        """The fields as CSV; cells that a spreadsheet would run as formulas begin with an apostrophe."""
        with self._meter.running("write"):
            return write_fields_csv([self._outcome[1]]).decode()

    def json(self) -> str:
        """Return the result as a line of JSON: `url` and `rows`."""
        return json.dumps({"url": utf8(self.url), "rows": self.rows}, ensure_ascii=False) + "\n"

    def _rows(self) -> list[Mapping[str, Any]]:
        return [*self.rows]

    def _summary(self) -> str:
        if self._outcome[1].has_records:
            return f"{len(self.records):,} records"
        found = sum(one.value is not None for one in self.fields.values())
        return f"{found:,} of {len(self.fields):,} fields"

    def _html_box(self, title: str) -> str:
        groups = [
            {name: "" if value is None else str(value) for name, value in row.items() if name != "url"}
            for row in self.rows
        ]
        return tables(title, [self._summary()], [groups])
