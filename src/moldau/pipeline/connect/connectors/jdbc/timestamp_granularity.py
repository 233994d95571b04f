"""`timestamp.granularity`: timestamps as numbers or texts that have the database's microseconds. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from moldau.pipeline.connect.data.logical import EPOCH
from moldau.pipeline.connect.data.schema import Schema, SchemaType

_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True)
class Granularity:
    type: SchemaType
    convert: Callable[[datetime], Any]

    def schema(self, is_optional: bool) -> Schema:
        return Schema(self.type, is_optional)


def _micros(moment: datetime) -> int:
    return (moment - EPOCH) // _MICROSECOND


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")


GRANULARITIES: Final[dict[str, Granularity | None]] = {
    "connect_logical": None,
    "micros_long": Granularity(SchemaType.INT64, _micros),
    "micros_string": Granularity(SchemaType.STRING, lambda moment: str(_micros(moment))),
    "micros_iso_datetime_string": Granularity(SchemaType.STRING, _iso),
    "nanos_long": Granularity(SchemaType.INT64, lambda moment: _micros(moment) * 1_000),
    "nanos_string": Granularity(SchemaType.STRING, lambda moment: str(_micros(moment) * 1_000)),
    "nanos_iso_datetime_string": Granularity(SchemaType.STRING, lambda moment: f"{_iso(moment)}000"),
}


def as_granularity(name: str) -> Granularity | None:
    """None: Connect's own Timestamp, in milliseconds."""
    return GRANULARITIES[name.lower()]
