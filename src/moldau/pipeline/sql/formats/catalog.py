"""The formats by name, and the serde of a row in each."""

from collections.abc import Callable, Sequence
from typing import Final

from moldau.pipeline.serdes.serde import Serde
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats.delimited_format import DelimitedRowSerde, delimiter_of
from moldau.pipeline.sql.formats.json_format import JsonRowSerde
from moldau.pipeline.sql.formats.kafka_format import KafkaRowSerde
from moldau.pipeline.sql.formats.none_format import NoneRowSerde
from moldau.pipeline.sql.syntax.errors import SqlError, did_you_mean
from moldau.pipeline.sql.types import Column

Make = Callable[[Format, Sequence[Column], Sequence[str] | None], Serde]

FORMATS: Final[dict[str, Make]] = {
    "DELIMITED": lambda form, columns, wanted: DelimitedRowSerde(columns, delimiter_of(form)),
    "JSON": lambda form, columns, wanted: JsonRowSerde(columns, is_wrapped=form.is_wrapped, wanted=wanted),
    "KAFKA": lambda form, columns, wanted: KafkaRowSerde(columns),
    "NONE": lambda form, columns, wanted: NoneRowSerde(columns),
}


def row_serde(
    form: Format, columns: Sequence[Column], *, is_key: bool, wanted: Sequence[str] | None = None
) -> Serde:
    """A serde of tuples of the columns. SqlError where the format cannot hold them.

    `wanted` are the names of the columns that somebody reads. A decoder may leave the others None.
    """
    make = FORMATS.get(form.name)
    if make is None:
        hint = did_you_mean(form.name, FORMATS) or f"There are {', '.join(FORMATS)}."
        raise SqlError(f"unknown format {form.name}", hint=hint)
    return make(form, columns, wanted)
