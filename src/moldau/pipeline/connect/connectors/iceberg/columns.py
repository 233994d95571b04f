"""Which columns a table needs for records, and values as those columns take them. Pure; types are Arrow's.

All types are those that Iceberg has: whole numbers have 32 or 64 bits, times are in microseconds.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import pyarrow as pa

from moldau.pipeline.connect.connectors.files.formats.arrow_values import arrow_schema
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.logical import date_of, moment_of
from moldau.pipeline.connect.data.schema import Schema
from moldau.pipeline.connect.data.validation import shown

ENTRY: Final = "element"
_WIDER: Final = {
    pa.int32(): {pa.int64()},
    pa.float32(): {pa.float64()},
}


def columns_of(schema: Schema) -> pa.Schema:
    """Of a struct. Raises DataError for one that columns cannot have."""
    return iceberg_schema(arrow_schema(schema))


def check_names(records: pa.Schema) -> None:
    """Raises DataError for fields without a name, at any depth: tables with such a column cannot be read."""
    for one in records:
        _check_names(one, "")


def _check_names(field: pa.Field, path: str) -> None:
    kind, types = field.type, pa.types
    if not field.name:
        raise DataError(
            f'a field {f"of {path} " if path else ""}has the name "", which no column has: rename or drop it with the '
            "transformation ReplaceField"
        )
    here = f"{path}.{field.name}" if path else field.name
    if types.is_struct(kind):
        inner = _inside(kind)
    elif types.is_map(kind):
        inner = [kind.key_field, kind.item_field]
    else:
        inner = [kind.value_field] if types.is_list(kind) else []
    for one in inner:
        _check_names(one, here)


def iceberg_schema(found: pa.Schema) -> pa.Schema:
    return pa.schema([_field(one) for one in found])


def _field(field: pa.Field) -> pa.Field:
    return pa.field(field.name, _normal(field.type), field.nullable)


def _normal(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_struct(kind):
        return pa.struct([_field(kind.field(place)) for place in range(kind.num_fields)])
    if types.is_map(kind):
        return pa.map_(
            pa.field("key", _normal(kind.key_type), nullable=False),
            pa.field("value", _normal(kind.item_type), kind.item_field.nullable),
        )
    if types.is_list(kind) or types.is_large_list(kind):
        return pa.list_(pa.field(ENTRY, _normal(kind.value_type), kind.value_field.nullable))
    for matches, normal in _NORMAL:
        if matches(kind):
            return normal
    if types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    return kind


_NORMAL: Final = (
    (pa.types.is_int8, pa.int32()),
    (pa.types.is_int16, pa.int32()),
    (pa.types.is_large_string, pa.string()),
    (pa.types.is_large_binary, pa.binary()),
    (pa.types.is_time, pa.time64("us")),
)


def optional_schema(found: pa.Schema) -> pa.Schema:
    return pa.schema([_optional(one) for one in found])


def _optional(field: pa.Field) -> pa.Field:
    """It and what is inside of it."""
    return pa.field(field.name, _optional_type(field.type))


def _optional_type(kind: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_struct(kind):
        return pa.struct([_optional(kind.field(place)) for place in range(kind.num_fields)])
    if types.is_map(kind):
        return pa.map_(kind.key_field, pa.field("value", _optional_type(kind.item_type)))
    if types.is_list(kind):
        return pa.list_(pa.field(ENTRY, _optional_type(kind.value_type)))
    return kind


def merged_schema(table: pa.Schema, records: pa.Schema) -> pa.Schema:
    """The columns of the table, changed so that the records fit. Raises DataError if that is impossible."""
    return pa.schema(_merged_fields(list(table), list(records), ""))


def _merged_fields(table: list[pa.Field], records: list[pa.Field], path: str) -> list[pa.Field]:
    found: Mapping[str, pa.Field] = {one.name: one for one in records}
    merged = []
    for one in table:
        other = found.get(one.name)
        if other is None:
            merged.append(one.with_nullable(True))
        else:
            kind = _merged(one.type, other.type, f"{path}{one.name}")
            merged.append(pa.field(one.name, kind, one.nullable or other.nullable))
    known = {one.name for one in table}
    return [*merged, *(_optional(one) for one in records if one.name not in known)]


def _merged(table: pa.DataType, record: pa.DataType, path: str) -> pa.DataType:
    types = pa.types
    if types.is_struct(table) and types.is_struct(record):
        return pa.struct(_merged_fields(_inside(table), _inside(record), f"{path}."))
    if types.is_list(table) and types.is_list(record):
        inner = _merged(table.value_type, record.value_type, f"{path}.{ENTRY}")
        return pa.list_(pa.field(ENTRY, inner, table.value_field.nullable or record.value_field.nullable))
    if types.is_map(table) and types.is_map(record):
        key = _merged(table.key_type, record.key_type, f"{path}.key")
        value = _merged(table.item_type, record.item_type, f"{path}.value")
        is_nullable = table.item_field.nullable or record.item_field.nullable
        return pa.map_(pa.field("key", key, nullable=False), pa.field("value", value, is_nullable))
    if table == record or table in _WIDER.get(record, ()) or _is_fitting_decimal(record, table):
        return table
    if record in _WIDER.get(table, ()) or _is_fitting_decimal(table, record):
        return record
    raise DataError(
        f"column {path} is {table} in the table and {record} in the record: convert the field with the transformation "
        "Cast, or write to another table"
    )


def _inside(kind: pa.DataType) -> list[pa.Field]:
    return [kind.field(place) for place in range(kind.num_fields)]


def _is_fitting_decimal(narrow: pa.DataType, wide: pa.DataType) -> bool:
    types = pa.types
    if not (types.is_decimal(narrow) and types.is_decimal(wide)):
        return False
    return bool(narrow.scale == wide.scale and narrow.precision <= wide.precision)


# Values without a schema, as the JSON converter makes them


def inferred_schema(value: Mapping[str, Any]) -> pa.Schema:
    """Of an object. What is null or empty tells nothing, and gets no column."""
    found = _inferred(value)
    return pa.schema([]) if found is None else pa.schema(_inside(found))


def _inferred(value: Any) -> pa.DataType | None:
    match value:
        case bool():
            return pa.bool_()
        case int():
            return pa.int64()
        case float():
            return pa.float64()
        case str():
            return pa.string()
        case bytes():
            return pa.binary()
        case Decimal():
            return pa.decimal128(38, max(0, -int(value.as_tuple().exponent)))
        case dict():
            fields = {str(name): _inferred(one) for name, one in value.items()}
            known = [pa.field(name, kind) for name, kind in fields.items() if kind is not None]
            return pa.struct(known) if known else None
        case list():
            inner: pa.DataType | None = None
            for one in value:
                kind = _inferred(one)
                if kind is not None:
                    inner = kind if inner is None else _merged(inner, kind, ENTRY)
            return None if inner is None else pa.list_(pa.field(ENTRY, inner))
    return None


def adopted_schema(table: pa.Schema, records: pa.Schema) -> pa.Schema:
    """A record without a schema says nothing about columns that it does not have, and `fitted` converts its values to
    those that it has: only what the table lacks is left of its types."""
    return pa.schema(_adopted_fields(list(table), list(records)))


def _adopted_fields(table: list[pa.Field], records: list[pa.Field]) -> list[pa.Field]:
    found = {one.name: one for one in records}
    known = {one.name for one in table}
    kept = [
        pa.field(one.name, _adopted(one.type, found[one.name].type), one.nullable)
        if one.name in found
        else one
        for one in table
    ]
    return [*kept, *(one for one in records if one.name not in known)]


def _adopted(table: pa.DataType, record: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_struct(table) and types.is_struct(record):
        return pa.struct(_adopted_fields(_inside(table), _inside(record)))
    if types.is_list(table) and types.is_list(record):
        return pa.list_(
            pa.field(ENTRY, _adopted(table.value_type, record.value_type), table.value_field.nullable)
        )
    return table


def has_columns(value: Any, kind: pa.DataType) -> bool:
    """Whether all fields of an object have a column."""
    if isinstance(value, dict) and pa.types.is_struct(kind):
        for name, one in value.items():
            place = kind.get_field_index(name)
            if place < 0:
                if _inferred(one) is not None:
                    return False
            elif isinstance(one, dict | list) and not has_columns(one, kind.field(place).type):
                return False
    elif isinstance(value, list) and pa.types.is_list(kind):
        return all(has_columns(one, kind.value_type) for one in value if isinstance(one, dict | list))
    return True


def fitted(value: Any, field: pa.Field, path: str = "") -> Any:
    """A value without a schema as the column takes it. Raises DataError."""
    where = f"{path}{field.name}"
    if value is None:
        if field.nullable:
            return None
        raise DataError(f"field {where} is null or missing, and the column is required")
    kind, types = field.type, pa.types
    if types.is_struct(kind):
        if isinstance(value, dict):
            return {one.name: fitted(value.get(one.name), one, f"{where}.") for one in _inside(kind)}
    elif types.is_list(kind):
        if isinstance(value, list):
            return [fitted(one, kind.value_field, f"{where}.") for one in value]
    elif types.is_map(kind):
        if isinstance(value, dict):
            return [
                (fitted(key, kind.key_field, where), fitted(one, kind.item_field, where))
                for key, one in value.items()
            ]
    else:
        try:
            return _fitted_leaf(value, kind)
        except (ValueError, TypeError, InvalidOperation, DataError):
            pass
    raise DataError(f"field {where} is {shown(value)}, and the column is {kind}")


def _fitted_leaf(value: Any, kind: pa.DataType) -> Any:
    """Raises ValueError, TypeError, InvalidOperation or DataError."""
    types = pa.types
    match value:
        case bool():
            is_fitting = types.is_boolean(kind)
        case int() if types.is_timestamp(kind):
            return moment_of(value)
        case int() if types.is_date(kind):
            return date_of(value)
        case int():
            width = kind.bit_width - 1 if types.is_integer(kind) else 0
            is_fitting = types.is_floating(kind) or (
                types.is_integer(kind) and -(1 << width) <= value < 1 << width
            )
            value = float(value) if types.is_floating(kind) else value
        case float():
            is_fitting = types.is_floating(kind)
        case str() if types.is_timestamp(kind):
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        case str() if types.is_date(kind):
            return date.fromisoformat(value)
        case _:
            is_fitting = (types.is_string(kind) and isinstance(value, str)) or (
                types.is_binary(kind) and isinstance(value, bytes)
            )
    if types.is_decimal(kind):
        number = Decimal(str(value))
        return number.quantize(Decimal(1).scaleb(-kind.scale)) if number.is_finite() else _unfit()
    return value if is_fitting else _unfit()


def _unfit() -> Any:
    raise ValueError
