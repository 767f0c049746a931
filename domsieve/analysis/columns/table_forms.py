"""What tables of counts must be: checked of those that come from files, which anybody may have made.

Imports the tables and the hashes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from domsieve.analysis.columns.hash import U64, combine
from domsieve.analysis.columns.tables import Table

_MOST = 1 << 62  # so that no sum over a column overflows


@dataclass(frozen=True, slots=True)
class TableForm:
    """The form of a table.

    Parameters
    ----------
    fixed : types of its fixed columns by name, as numpy writes them.
    sums : names of its sums, at least 0 each.
    key_of : the two fixed columns whose pairs its keys stand for; None where its keys stand for something else.
    """

    fixed: Mapping[str, str]
    sums: tuple[str, ...] = ()
    key_of: tuple[str, str] | None = None

    def check(self, name: str, table: object) -> None:
        """Do nothing where a table has this form; `name` is its own, for messages.

        Raises
        ------
        ValueError, TypeError : it has another one.
        """
        if not isinstance(table, Table):
            raise TypeError(f"{name} is no table")
        types = {"key": table.key.dtype.str, **_types(table.fixed), **_types(table.sums)}
        if (
            types != {"key": "<u8", **self.fixed, **dict.fromkeys(self.sums, "<i8")}
            or table.fixed.keys() != self.fixed.keys()
        ):
            raise ValueError(f"{name} has other columns")
        if (table.key[1:] <= table.key[:-1]).any():
            raise ValueError(f"{name} has rows out of order")
        for column in table.sums.values():
            if column.size and (int(column.min()) < 0 or int(column.max()) > _MOST // column.size):
                raise ValueError(f"{name} has sums that cannot be")
        if self.key_of and (table.key != combine(*(table.fixed[part] for part in self.key_of))).any():
            raise ValueError(f"{name} has keys that are not those of its rows")


def check_known(name: str, keys: U64, table: Table) -> None:
    """Do nothing where a table has a row for each of the `keys` of another one, which is called `name`.

    Raises
    ------
    ValueError : it lacks one.
    """
    if (table.find(keys) < 0).any():
        raise ValueError(f"{name} names what is not there")


def _types(columns: Mapping[str, np.ndarray[tuple[int], np.dtype[np.generic]]]) -> dict[str, str]:
    return {name: column.dtype.newbyteorder("<").str for name, column in columns.items()}
