"""Which fields of a record become columns of a row, and which of them are its key. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import TargetField
from moldau.pipeline.connect.connectors.jdbc.sink_settings import KeyMode, Writing
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.schema import Field, Schema, SchemaType

Values = Callable[[SinkRecord], tuple[Any, ...]]

_KAFKA_SCHEMAS: Final = (schemas.STRING, schemas.INT32, schemas.INT64)
_NOT_KEYS: Final = (SchemaType.ARRAY, SchemaType.MAP, SchemaType.STRUCT)


class RecordUnfit(ConnectError):
    """The record cannot become a row: another one may."""


@dataclass(frozen=True)
class RowLayout:
    """Of all records with the same schemas."""

    keys: Sequence[TargetField]
    others: Sequence[TargetField]
    keys_of: Values
    others_of: Values
    is_delete: bool = False

    @property
    def fields(self) -> list[TargetField]:
        return [*self.keys, *self.others]

    def key(self, record: SinkRecord) -> tuple[Any, ...]:
        """Raises RecordUnfit if a part of it is null."""
        found = self.keys_of(record)
        if None in found:
            name = self.keys[found.index(None)].name
            raise RecordUnfit(
                f"{shown(record)} cannot become a row: {name}, which belongs to the primary key, is null"
            )
        return found


def layout_of(record: SinkRecord, writing: Writing) -> RowLayout:
    """Raises RecordUnfit, which says what the record would have to have."""
    is_delete = record.value is None and writing.deletes
    value_schema = None if is_delete else _value_schema(record, writing)
    keys, keys_of = _keys(record, value_schema, writing)
    if is_delete:
        return RowLayout(keys, (), keys_of, lambda _: (), is_delete=True)
    assert value_schema is not None
    names = {one.name for one in keys}
    wanted = writing.value_fields
    others = [
        one for one in value_schema.fields if one.name not in names and (not wanted or one.name in wanted)
    ]
    if not keys and not others:
        raise RecordUnfit(
            f"{shown(record)} cannot become a row: none of its fields is written. It has "
            f"{_named(value_schema.fields)}; see fields.whitelist"
        )
    targets = [TargetField(one.name, one.schema, False) for one in others]
    return RowLayout(keys, targets, keys_of, _value_parts(value_schema, [one.name for one in others]))


def shown(record: SinkRecord) -> str:
    """A record in a message."""
    topic, partition = record.original_topic or record.topic, record.original_partition
    return f"the record at offset {record.offset} of {topic}-{partition}"


def _value_schema(record: SinkRecord, writing: Writing) -> Schema:
    schema = record.value_schema
    if record.value is None:
        advice = (
            "set delete.enabled=true to delete the row with its key"
            if writing.key_mode is KeyMode.RECORD_KEY
            else "set pk.mode=record_key and delete.enabled=true to delete the row with its key"
        )
        raise RecordUnfit(
            f"{shown(record)} cannot become a row: it has no value. Either {advice}, or drop such records by the "
            "transformation Filter with the predicate RecordIsTombstone"
        )
    if schema is None:
        raise RecordUnfit(
            f"{shown(record)} cannot become a row: its value has no schema, so its columns are not known. Use a "
            "converter with schemas, for instance JsonConverter with value.converter.schemas.enable=true"
        )
    if schema.type is not SchemaType.STRUCT:
        raise RecordUnfit(
            f"{shown(record)} cannot become a row: its value is a {schema.type} and no struct with fields. The "
            "transformation HoistField makes it one"
        )
    return schema


def _keys(
    record: SinkRecord, value_schema: Schema | None, writing: Writing
) -> tuple[list[TargetField], Values]:
    names = writing.key_fields
    match writing.key_mode:
        case KeyMode.NONE:
            return [], lambda _: ()
        case KeyMode.KAFKA:
            targets = [
                TargetField(name, schema, True) for name, schema in zip(names, _KAFKA_SCHEMAS, strict=True)
            ]
            return targets, lambda one: (
                one.original_topic or one.topic,
                one.original_partition,
                one.offset,
            )
        case KeyMode.RECORD_VALUE:
            assert value_schema is not None
            names = names or [one.name for one in value_schema.fields]
            fields = _fields(record, value_schema, names, "value")
            return _key_targets(record, fields), _value_parts(value_schema, names)
        case KeyMode.RECORD_KEY:
            return _record_keys(record, names)


def _record_keys(record: SinkRecord, names: Sequence[str]) -> tuple[list[TargetField], Values]:
    schema = record.key_schema
    if record.key is None or schema is None:
        what = "key" if record.key is None else "schema for its key"
        raise RecordUnfit(
            f"{shown(record)} cannot become a row: it has no {what}, and pk.mode=record_key takes the primary key from "
            "there. The transformation ValueToKey makes a key of fields of the value; pk.mode=record_value takes them "
            "from the value"
        )
    if schema.type is not SchemaType.STRUCT:
        if len(names) != 1:
            raise RecordUnfit(
                f"{shown(record)} cannot become a row: its key is a {schema.type}, so pk.fields must have the name of "
                f"the one column for it, and has {len(names)} names"
            )
        return _key_targets(record, [Field(names[0], schema)]), lambda one: (one.key,)
    names = names or [one.name for one in schema.fields]
    fields = _fields(record, schema, names, "key")
    places = [schema.index[name] for name in names]

    def parts(one: SinkRecord) -> tuple[Any, ...]:
        values = one.key.with_defaults()
        return tuple(values[place] for place in places)

    return _key_targets(record, fields), parts


def _key_targets(record: SinkRecord, fields: Sequence[Field]) -> list[TargetField]:
    for one in fields:
        if one.schema.type in _NOT_KEYS:
            raise RecordUnfit(
                f"{shown(record)} cannot become a row: {one.name} is a {one.schema.type}, which cannot belong to a "
                "primary key; see pk.fields"
            )
    return [TargetField(one.name, one.schema, True) for one in fields]


def _fields(record: SinkRecord, schema: Schema, names: Sequence[str], what: str) -> list[Field]:
    missing = [name for name in names if name not in schema.index]
    if missing:
        raise RecordUnfit(
            f"{shown(record)} cannot become a row: its {what} does not have {', '.join(missing)}, which pk.fields "
            f"names. It has {_named(schema.fields)}"
        )
    return [schema.fields[schema.index[name]] for name in names]


def _value_parts(schema: Schema, names: Sequence[str]) -> Values:
    places = [schema.index[name] for name in names]
    if places == list(range(len(schema.fields))):
        return lambda record: record.value.with_defaults()

    def parts(record: SinkRecord) -> tuple[Any, ...]:
        values = record.value.with_defaults()
        return tuple(values[place] for place in places)

    return parts


def _named(fields: Sequence[Field]) -> str:
    return ", ".join(one.name for one in fields) or "no fields"
