"""Masks fields: their values become 0, false, empty, or one replacement for all."""

from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from moldau.core.settings.checks import NON_EMPTY
from moldau.core.settings.key import Importance, string, strings
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import Record
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.data.validation import RANGES
from moldau.pipeline.connect.declarations import Declaration, Texts
from moldau.pipeline.connect.transforms.structs import fields_of, struct_of
from moldau.pipeline.connect.transforms.transformation import (
    NON_EMPTY_LIST,
    REPLACE_NULL_WITH_DEFAULT,
    VALUE,
    StructTransformation,
)
from moldau.pipeline.java_texts.numbers import real_number, rounded_float

_EMPTY: Final[dict[type, Any]] = {
    bool: False,
    int: 0,
    float: 0.0,
    Decimal: Decimal(0),
    str: "",
    datetime: datetime(1970, 1, 1, tzinfo=UTC),
    date: date(1970, 1, 1),
    time: time(),
}


class _Plan(NamedTuple):
    schema: Schema
    masked: list[tuple[int, SchemaType]]


class MaskField(StructTransformation):
    doc = "Masks fields with the empty value of their type (0, false, an empty text and so on) or with a replacement."
    passes_null = False
    declarations = (
        Declaration(
            strings(
                "fields", (), "Names of fields to mask.", importance=Importance.HIGH, check=NON_EMPTY_LIST
            ),
            is_required=True,
        ),
        Declaration(
            string(
                "replacement",
                None,
                "The value for all fields. They must be numbers or texts then.",
                importance=Importance.LOW,
                check=NON_EMPTY,
            )
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, texts: Texts, part: str = VALUE, of: str = "") -> None:
        super().__init__(texts, part, of)
        self._names: tuple[str, ...] = self.settings["fields"]
        self._replacement: str | None = self.settings["replacement"]

    def of_object(self, record: Record, value: dict[str, Any]) -> Any:
        made = dict(value)
        for name in self._names:
            made[name] = self._masked(value.get(name), SchemaType.INT64, name)
        return made

    def plan(self, schema: Schema) -> _Plan:
        found = [
            (place, one.schema.type)
            for place, one in enumerate(fields_of(schema, self.of))
            if one.name in self._names
        ]
        return _Plan(schema, found)

    def of_struct(self, record: Record, plan: _Plan, struct: Struct) -> tuple[Schema, Struct]:
        values = list(self.values(struct))
        for place, kind in plan.masked:
            values[place] = self._masked(values[place], kind, plan.schema.fields[place].name)
        return plan.schema, struct_of(plan.schema, values)

    def _masked(self, value: Any, kind: SchemaType, name: str) -> Any:
        if value is None:
            return None
        if self._replacement is not None:
            return self._replaced(value, kind, name, self._replacement)
        if type(value) in _EMPTY:
            return _EMPTY[type(value)]
        if isinstance(value, list | dict):
            return type(value)()
        raise DataError(
            f"{self.of} cannot mask the field {name}, which is a {type(value).__name__}: exclude it with ReplaceField, "
            "or Cast it to string first"
        )

    def _replaced(self, value: Any, kind: SchemaType, name: str, text: str) -> Any:
        try:
            match value:
                case str():
                    return text
                case bool():
                    pass
                case int():
                    # As Java does: what does not fit wraps around.
                    low, high = RANGES.get(kind, RANGES[SchemaType.INT64])
                    return (int(Decimal(text)) - low) % (high - low + 1) + low
                case float():
                    number = real_number(text)
                    return rounded_float(number) if kind is SchemaType.FLOAT32 else number
                case Decimal():
                    return Decimal(text)
        except (ValueError, InvalidOperation, OverflowError):
            raise DataError(
                f"{self.of}: Unable to convert {text} to number for the field {name}: choose a replacement that is a "
                "number, or mask the fields of texts with another transformation"
            ) from None
        raise DataError(
            f"{self.of} cannot mask the field {name}, which is a {type(value).__name__}, with a custom replacement: "
            "only numbers and texts can have one"
        )
