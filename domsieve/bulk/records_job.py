"""Find the records of the pages of a shard, and write one row per record."""

from dataclasses import dataclass

from domsieve.analysis.registry import MethodParams, MiningMethod
from domsieve.analysis.writers.record_tables import record_rows
from domsieve.bulk._parquet_parts import Kinds, part
from domsieve.bulk.job import Done, Failures, PageEnded, Reading, ignore, pages_of, place_of
from domsieve.bulk.plan import Shard
from domsieve.errors import BudgetError, DomsieveError
from domsieve.sanitize import utf8
from domsieve.tasks.record_mining import mine

_RECORD: Kinds = {
    "site": "text",
    "page": "text",
    "url": "text",
    "method": "text",
    "region": "whole",
    "record": "whole",
    "fields": "map",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsJob(Reading):
    """Find records with a method and its parameters."""

    method: MiningMethod = "wobm"
    params: MethodParams = MethodParams()  # noqa: RUF009 (frozen)

    def part(self, shard: str) -> str:
        """Return the name of the output file of a shard."""
        return f"{shard}.parquet"

    def on(self, shard: Shard, page_ended: PageEnded = ignore) -> Done:
        """Process a shard and write its output file."""
        failures, place = Failures(), place_of(self)
        with pages_of(shard, self, failures) as pages, part(place, self.part(shard.name), _RECORD) as table:
            for page, sheet in mine(pages, method=self.method, params=self.params):
                page_ended()
                if isinstance(sheet, DomsieveError):
                    failures.add(page.label, page.site, sheet)
                    continue
                try:
                    with page.at_work("write"):
                        rows = record_rows([sheet])
                except BudgetError as error:
                    failures.add(page.label, page.site, error)
                    continue
                numbers = [(row.pop("region"), row.pop("record"), row.pop("page")) for row in rows]
                table.add(
                    {
                        "site": utf8(page.site),
                        "page": utf8(page.label),
                        "url": sheet.url,
                        "method": sheet.method,
                        "region": [number[0] for number in numbers],
                        "record": [number[1] for number in numbers],
                        "fields": [[pair for pair in row.items() if pair[1] is not None] for row in rows],
                        "text": [str(value) for row in rows for value in row.values()],
                    },
                    len(rows),
                )
            failures.write(place, shard.name)
        return Done(shard=shard.name, pages=shard.pages, failed=len(failures), rows=table.rows)
