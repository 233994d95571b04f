"""Converts times: between numbers since 1970, texts, and the logical types Date, Time and Timestamp."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any, Final, NamedTuple

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, string
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.derived import Derived
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import (
    DAY_MS,
    date_of,
    days_of,
    moment_of,
    ms_of,
    ms_of_time,
    time_of,
)
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import DATE, TIME, TIMESTAMP, Field, Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import RANGES, shown
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.structs import fields_of, struct_of, with_fields
from moldau.pipeline.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    VALUE,
    StructTransformation,
    kind_of,
)
from moldau.pipeline.java_texts.simple_date_format import SimpleDateFormat, simple_date_format

STRING: Final = "string"
UNIX: Final = "unix"
_TYPES: Final = {
    STRING: schemas.STRING,
    UNIX: schemas.INT64,
    "Date": schemas.date(),
    "Time": schemas.time(),
    "Timestamp": schemas.timestamp(),
}
_PER_SECOND: Final = {
    "seconds": 1,
    "milliseconds": 1_000,
    "microseconds": 1_000_000,
    "nanoseconds": 1_000_000_000,
}

Convert = Callable[[Any], Any]


class _Plan(NamedTuple):
    schema: Schema
    place: int | None
    convert: Convert


class TimestampConverter(StructTransformation):
    doc = (
        "Converts times between numbers since 1970 (unix), texts (string), and the logical types Date, Time and "
        "Timestamp: one field, or the whole key or value."
    )
    declarations = (
        Declaration(
            string(
                "field",
                "",
                "The field with the time. Empty: the whole key or value.",
                importance=Importance.HIGH,
            )
        ),
        Declaration(
            string(
                "target.type",
                "",
                "What the time becomes: string, unix, Date, Time, or Timestamp.",
                importance=Importance.HIGH,
                check=one_of(*_TYPES),
            ),
            is_required=True,
        ),
        Declaration(
            string(
                "format",
                "",
                "How times are written as text: a pattern of Java's SimpleDateFormat, in UTC. Needed for the target "
                "string, and to read texts.",
            )
        ),
        Declaration(
            string(
                "unix.precision",
                "milliseconds",
                "What numbers since 1970 count. Times are converted in milliseconds: what is finer is lost.",
                importance=Importance.LOW,
                check=one_of("nanoseconds", "microseconds", "milliseconds", "seconds"),
            )
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        self._field: str = self.settings["field"]
        self._target: str = self.settings["target.type"]
        self._per_second = _PER_SECOND[self.settings["unix.precision"]]
        pattern = self.settings["format"].strip()
        if self._target == STRING and not pattern:
            raise ConfigError(
                f"{self.of}: TimestampConverter requires format option to be specified when using string timestamps: "
                "for instance format=yyyy-MM-dd"
            )
        try:
            self._format: SimpleDateFormat | None = simple_date_format(pattern) if pattern else None
        except ValueError as wrong:
            raise ConfigError(
                f"Invalid value {pattern} for configuration format: TimestampConverter requires a "
                f"SimpleDateFormat-compatible pattern: {wrong}"
            ) from None
        self._write = self._writer()
        self._wholes = Derived(self._whole)

    def transform(self, record: Record, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if not self._field:
            if schema is None:
                return None, self._convert_any(value)
            made, convert = self._wholes.of(schema)
            return made, convert(value)
        if value is None and schema is not None:
            return self._plans.of(schema).schema, None
        return super().transform(record, schema, value)

    def of_object(self, record: Record, value: dict[str, Any]) -> Any:
        return {**value, self._field: self._convert_any(value.get(self._field))}

    def plan(self, schema: Schema) -> _Plan:
        fields = list(fields_of(schema, self.of))
        place = schema.index.get(self._field)
        convert: Convert = self._convert_any
        if place is not None:
            made, convert = self._whole(fields[place].schema)
            fields[place] = Field(self._field, made)
        made = replace(with_fields(schema, fields, self.of), optional=schema.optional)
        if schema.default is not None:
            made = replace(made, default=self._struct(_Plan(made, place, convert), schema.default))
        return _Plan(made, place, convert)

    def of_struct(self, record: Record, plan: _Plan, struct: Struct) -> tuple[Schema, Struct]:
        return plan.schema, self._struct(plan, struct)

    def _struct(self, plan: _Plan, struct: Struct) -> Struct:
        values = list(self.values(struct))
        if plan.place is not None:
            values[plan.place] = plan.convert(values[plan.place])
        return struct_of(plan.schema, values)

    def _whole(self, schema: Schema) -> tuple[Schema, Convert]:
        """Of the field, or of the whole key or value."""
        made = replace(_TYPES[self._target], optional=schema.optional)
        read, write = self._reader(schema), self._write
        if read is None:
            return made, lambda value: self._refuse(schema)
        return made, lambda value: None if value is None else write(read(value))

    def _reader(self, schema: Schema) -> Callable[[Any], int] | None:
        """To milliseconds. None where the schema is not of a time."""
        match schema.name, schema.type:
            case str(name), _ if name in _READERS:
                return _READERS[name]
            case _, SchemaType.STRING:
                return self._ms_of_text
            case _, SchemaType.INT64:
                return self._ms_of_number
        return None

    def _refuse(self, schema: Schema) -> Any:
        raise DataError(
            f"{self.of}: the schema {schema} does not correspond to a known timestamp type format: it takes string, "
            "int64, Date, Time and Timestamp; Cast it first"
        )

    def _convert_any(self, value: Any) -> Any:
        """Of a value without a schema."""
        match value:
            case None:
                return None
            case datetime():
                return self._write(ms_of(value))
            case date():
                return self._write(days_of(value) * DAY_MS)
            case time():
                return self._write(ms_of_time(value))
            case bool():
                pass
            case int():
                return self._write(self._ms_of_number(value))
            case str():
                return self._write(self._ms_of_text(value))
        raise DataError(f"{self.of} does not support {kind_of(value)} as a time: {shown(value)}")

    def _ms_of_text(self, text: str) -> int:
        if self._format is None:
            raise DataError(
                f"{self.of} cannot read the text {shown(text)} as a time, because it does not know its format: set "
                "format, for instance to yyyy-MM-dd"
            )
        try:
            return self._format.parse(text)
        except ValueError:
            raise DataError(
                f"{self.of}: Could not parse timestamp: value ({text}) does not match pattern ({self._format.pattern})"
            ) from None

    def _ms_of_number(self, value: int) -> int:
        return _scaled(value, 1_000, self._per_second)

    def _writer(self) -> Callable[[int], Any]:
        """From milliseconds."""
        match self._target:
            case "Date":
                return lambda ms: date_of(ms // DAY_MS)
            case "Time":
                return lambda ms: time_of(ms % DAY_MS)
            case "Timestamp":
                return moment_of
            case "unix":
                return lambda ms: _scaled(ms, self._per_second, 1_000)
        return self._text_of

    def _text_of(self, ms: int) -> str:
        assert self._format is not None
        try:
            return self._format.format(ms)
        except ValueError as wrong:
            raise DataError(f"{self.of} cannot write {ms} ms since 1970 as text: {wrong}") from None


def _scaled(value: int, to: int, of: int) -> int:
    """Cut off towards 0, and at the limits of 64 bits."""
    if to >= of:
        low, high = RANGES[SchemaType.INT64]
        return max(low, min(high, value * (to // of)))
    factor = of // to
    return value // factor if value >= 0 else -(-value // factor)


_READERS: Final[dict[str, Callable[[Any], int]]] = {
    DATE: lambda value: days_of(value) * DAY_MS,
    TIME: ms_of_time,
    TIMESTAMP: ms_of,
}
