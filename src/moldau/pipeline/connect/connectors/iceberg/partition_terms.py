"""How a new table is partitioned, from texts such as `country` or `day(at)`. Imports pyiceberg."""

import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Final

from pyiceberg.table import Transaction
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    TruncateTransform,
    YearTransform,
)

from moldau.pipeline.connect.api import ConnectError

_TERM: Final = re.compile(
    r"(?:(?P<transform>\w+)\s*\(\s*)?(?P<column>[^\s(),]+)\s*(?:,\s*(?P<width>\d+)\s*)?\)?"
)
_TIMES: Final[dict[str, Any]] = {
    "year": YearTransform,
    "month": MonthTransform,
    "day": DayTransform,
    "hour": HourTransform,
}
_WIDTHS: Final[dict[str, Any]] = {"bucket": BucketTransform, "truncate": TruncateTransform}
SETTING: Final = "iceberg.tables.default-partition-by"


def transform_of(term: str) -> tuple[str, Any]:
    """The column, and what is done with it. Raises ConnectError for a term that says neither."""
    found = _TERM.fullmatch(term)
    name = (found["transform"] or "identity").lower().rstrip("s") if found else ""
    if found is not None and (found["transform"] is not None) == term.endswith(")"):
        if name == "identity" and found["width"] is None:
            return found["column"], IdentityTransform()
        if name in _TIMES and found["width"] is None:
            return found["column"], _TIMES[name]()
        if name in _WIDTHS and found["width"] is not None:
            return found["column"], _WIDTHS[name](int(found["width"]))
    raise ConnectError(
        f"Invalid value {term} for configuration {SETTING}: it takes a column, year(c), month(c), day(c), hour(c), "
        "bucket(c, 16) or truncate(c, 8)"
    )


def check_terms(terms: Sequence[str]) -> None:
    """Raises ConnectError for a term that cannot be used here."""
    for one in terms:
        _, transform = transform_of(one)
        if not isinstance(transform, IdentityTransform) and find_spec("pyiceberg_core") is None:
            raise ConnectError(
                f"{SETTING} has {one}, and to compute it takes the library pyiceberg-core, which is not installed: "
                "pip install 'pyiceberg[pyiceberg-core]', or partition by columns as they are"
            )


def partition(table: Transaction, terms: Sequence[str], name: str) -> None:
    """Of a table that is being made. Raises ConnectError for a term that does not fit its columns."""
    if not terms:
        return
    with table.update_spec() as update:
        for one in terms:
            column, transform = transform_of(one)
            field = column if isinstance(transform, IdentityTransform) else f"{column}_{_word(one)}"
            try:
                update.add_field(column, transform, field.replace(".", "_"))
            except ValueError as wrong:
                columns = ", ".join(
                    f"{it.name} {it.field_type}" for it in table.table_metadata.schema().fields
                )
                raise ConnectError(
                    f"The table {name} is not created, because it cannot be partitioned by {one}: {wrong}. The first "
                    f"record has the columns {columns}. Change {SETTING} or iceberg.table.{name}.partition-by, or "
                    "create the table"
                ) from None


def _word(term: str) -> str:
    return term.partition("(")[0].strip().lower()
