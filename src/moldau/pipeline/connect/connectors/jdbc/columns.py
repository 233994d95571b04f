"""The columns of a table, and what they are in a Connect schema. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Final

from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType

UNSET_SCALE: Final = 38
"""For numbers whose column allows any count of digits after the point: a Decimal must name one."""
PRECISION: Final = "connect.decimal.precision"
_INTEGER_DIGITS_MAX: Final = 18


class Kind(Enum):
    BOOLEAN = auto()
    INT8 = auto()
    INT16 = auto()
    INT32 = auto()
    INT64 = auto()
    FLOAT32 = auto()
    FLOAT64 = auto()
    DECIMAL = auto()
    STRING = auto()
    BYTES = auto()
    DATE = auto()
    TIME = auto()
    TIMESTAMP = auto()


@dataclass(frozen=True)
class Column:
    name: str
    kind: Kind
    is_optional: bool = True
    is_key: bool = False
    is_auto: bool = False
    """The database numbers the rows."""
    precision: int | None = None
    scale: int | None = None
    """Digits after the point. None: any count."""
    has_zone: bool = False
    """Of a timestamp: the database knows which moment it is."""
    type_name: str = ""
    """As declared, where the kind does not say all."""


_PLAIN: Final = {
    Kind.BOOLEAN: SchemaType.BOOLEAN,
    Kind.INT8: SchemaType.INT8,
    Kind.INT16: SchemaType.INT16,
    Kind.INT32: SchemaType.INT32,
    Kind.INT64: SchemaType.INT64,
    Kind.FLOAT32: SchemaType.FLOAT32,
    Kind.FLOAT64: SchemaType.FLOAT64,
    Kind.STRING: SchemaType.STRING,
    Kind.BYTES: SchemaType.BYTES,
}
_LOGICAL: Final = {Kind.DATE: schemas.date, Kind.TIME: schemas.time, Kind.TIMESTAMP: schemas.timestamp}


def mapped(column: Column, numeric_mapping: str) -> Column:
    """The column as `numeric.mapping` wants it: a number may become an integer or a double."""
    if column.kind is not Kind.DECIMAL or numeric_mapping == "none":
        return column
    precision, scale = column.precision, column.scale
    kind = Kind.DECIMAL
    if scale is None or precision is None:
        kind = Kind.DECIMAL if numeric_mapping == "precision_only" else Kind.FLOAT64
    elif scale <= 0 and precision <= _INTEGER_DIGITS_MAX:
        kind = _integer(precision)
    elif scale > 0 and (
        numeric_mapping == "best_fit_eager_double"
        or (numeric_mapping == "best_fit" and precision <= _INTEGER_DIGITS_MAX)
    ):
        kind = Kind.FLOAT64
    return replace(column, kind=kind)


def _integer(digits: int) -> Kind:
    if digits > 9:
        return Kind.INT64
    if digits > 4:
        return Kind.INT32
    return Kind.INT16 if digits > 2 else Kind.INT8


def column_schema(column: Column) -> Schema:
    if column.kind in _LOGICAL:
        return _LOGICAL[column.kind](optional=column.is_optional)
    if column.kind is Kind.DECIMAL:
        scale = UNSET_SCALE if column.scale is None else max(column.scale, 0)
        parameters = {schemas.SCALE: str(scale)}
        if column.precision is not None:
            parameters[PRECISION] = str(column.precision)
        return Schema(SchemaType.BYTES, column.is_optional, schemas.DECIMAL, 1, parameters=parameters)
    return Schema(_PLAIN[column.kind], column.is_optional)


def row_schema(columns: Sequence[Column], name: str | None) -> Schema:
    fields = tuple(Field(column.name, column_schema(column)) for column in columns)
    return Schema(SchemaType.STRUCT, name=name, fields=fields)
