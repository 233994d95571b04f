"""How far a table has been read, in the form of the Java connector's offsets, so that either goes on from the other's.

partition   {"protocol": "1", "table": "public.orders"}, earlier {"table": "orders"}; of a query {"query": "query"}
offset      {"incrementing": 7, "timestamp": 1700000000123, "timestamp_nanos": 123456000}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from moldau.pipeline.connect.api import ConnectError, Offset
from moldau.pipeline.connect.connectors.jdbc.table_names import TableName
from moldau.pipeline.connect.data.logical import EPOCH

INCREMENTING: Final = "incrementing"
TIMESTAMP: Final = "timestamp"
NANOS: Final = "timestamp_nanos"
QUERY_PARTITION: Final = {"query": "query"}
_MICROSECOND: Final = timedelta(microseconds=1)
_FORM: Final = (
    f"it has whole numbers as '{INCREMENTING}', or as '{TIMESTAMP}' in milliseconds with the nanoseconds of the second "
    f"as '{NANOS}'"
)


@dataclass(frozen=True, slots=True)
class Position:
    moment: datetime | None = None
    number: int | None = None

    def offset(self) -> dict[str, int]:
        found = {}
        if self.number is not None:
            found[INCREMENTING] = self.number
        if self.moment is not None:
            found.update(moment_offset(self.moment))
        return found

    @classmethod
    def of(cls, offset: Offset | None) -> "Position":
        """Raises ConnectError for an offset that is not one of this connector."""
        if offset is None:
            return cls()
        number, ms, nanos = (offset.get(name) for name in (INCREMENTING, TIMESTAMP, NANOS))
        if any(one is not None and type(one) is not int for one in (number, ms, nanos)):
            raise ConnectError(f"{dict(offset)} is not a source offset of a table: {_FORM}")
        return cls(None if ms is None else moment_at(ms, nanos), number)


def moment_offset(moment: datetime) -> dict[str, int]:
    microseconds = (moment - EPOCH) // _MICROSECOND
    return {TIMESTAMP: microseconds // 1_000, NANOS: microseconds % 1_000_000 * 1_000}


def moment_at(ms: int, nanos: int | None) -> datetime:
    """The nanoseconds are those of the second, and contain the milliseconds."""
    try:
        if nanos is None:
            return EPOCH + timedelta(milliseconds=ms)
        return EPOCH + timedelta(seconds=ms // 1_000, microseconds=nanos // 1_000)
    except OverflowError:
        raise ConnectError(f"{ms} milliseconds since 1970 cannot be a timestamp of a source offset") from None


def partitions_of(table: TableName | None, database: str) -> list[Mapping[str, Any]]:
    """Under which an offset may be stored; the first one is written. Java's drivers differ in what they say of the
    database, and earlier versions of the connector named the table only."""
    if table is None:
        return [QUERY_PARTITION]
    names = [str(table)]
    if database and table.schema:
        names.append(f"{database}.{table}")
    return [*({"protocol": "1", "table": name} for name in names), {"table": table.name}]


def check_partition(partition: Mapping[str, Any]) -> None:
    if dict(partition) == QUERY_PARTITION:
        return
    if not isinstance(partition.get("table"), str) or partition.get("protocol", "1") != "1":
        raise ConnectError(
            f"{dict(partition)} is not a source partition of a table: it is "
            '{"protocol": "1", "table": "schema.table"}, or {"query": "query"}'
        )
