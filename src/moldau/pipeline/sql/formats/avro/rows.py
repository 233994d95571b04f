"""Rows in Avro's binary encoding, with a schema that is generated from the columns or comes from the registry."""

import io
import json
import struct
from collections.abc import Callable, Sequence
from typing import Any, Final

from moldau.pipeline.code.generated import generated_function, tuple_of
from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats.avro.columns import columns_of, type_of
from moldau.pipeline.sql.formats.avro.flat import flat_decoder, flat_encoder
from moldau.pipeline.sql.formats.avro.parsed import parsed
from moldau.pipeline.sql.formats.avro.schemas import FULL_NAME_DEFAULT, record_schema, single_schema
from moldau.pipeline.sql.formats.avro.values import Convert, matching_fields, reader, writer
from moldau.pipeline.sql.formats.registry_framing import PREFIX_SIZE
from moldau.pipeline.sql.formats.subject_schema import SubjectSchema
from moldau.pipeline.sql.types import Column, SqlType

FAILURES: Final = (
    ValueError,
    TypeError,
    ArithmeticError,
    LookupError,
    AttributeError,
    EOFError,
    OSError,
    struct.error,
)
"""What fastavro raises on bytes or values that do not fit the schema."""


def avro_schema(form: Format, columns: Sequence[Column]) -> SubjectSchema:
    full_name = dict(form.properties).get("SCHEMA_FULL_NAME", FULL_NAME_DEFAULT)
    if form.is_wrapped or len(columns) != 1:
        made = record_schema(columns, full_name)
    else:
        made = single_schema(columns[0], full_name)
    return SubjectSchema(json.dumps(made, separators=(",", ":")), "AVRO")


def avro_writer(
    form: Format, schema: SubjectSchema, columns: Sequence[Column], prefix: bytes
) -> Callable[[Any], bytes]:
    """Of rows that are not None. ValueError where the schema does not hold the columns."""
    from fastavro import schemaless_writer

    known = parsed(schema)
    datum = _datum(form, known.tree, columns)

    def general(front: bytes, found: Any) -> bytes:
        out = io.BytesIO()
        out.write(front)
        schemaless_writer(out, known.codec, found)
        return out.getvalue()

    flat = flat_encoder(known.tree) if _is_whole(known.tree, columns) else None
    write = flat or general

    def encode(row: Any) -> bytes:
        try:
            return write(prefix, datum(row))
        except FAILURES as wrong:
            raise ValueError(f"the row cannot be written as AVRO: {wrong}") from None

    return encode


def _is_whole(tree: Any, columns: Sequence[Column]) -> bool:
    """Whether every field of a record gets a value from a column."""
    if not isinstance(tree, dict) or tree.get("type") != "record":
        return False
    found = matching_fields(tree, [column.name for column in columns])
    return {field["name"] for field in found if field is not None} == {
        field["name"] for field in tree["fields"]
    }


def avro_reader(
    form: Format, schema: SubjectSchema, columns: Sequence[Column], wanted: Sequence[str] | None
) -> Callable[[bytes], Any]:
    """Of records with the schema's id in front. ValueError where the schema does not give the columns."""
    from fastavro import schemaless_reader

    known = parsed(schema)
    row = _row(form, known.tree, columns, wanted)

    def general(data: bytes, start: int) -> Any:
        source = io.BytesIO(data)
        source.seek(start)
        return schemaless_reader(source, known.codec, None)

    read = flat_decoder(known.tree) or general

    def decode(data: bytes) -> Any:
        try:
            found = read(data, PREFIX_SIZE)
        except FAILURES as wrong:
            raise ValueError(
                f"the record does not decode as AVRO with the schema {schema.id}: {wrong!r}"
            ) from None
        return row(found)

    return decode


def avro_columns(
    form: Format, schema: SubjectSchema, name: str, named: Callable[[str], str]
) -> tuple[Column, ...]:
    """`name` is of a column by itself, `named` makes the names of fields."""
    tree = parsed(schema).tree
    if form.is_wrapped:
        return columns_of(tree, named) if isinstance(tree, dict) and tree.get("type") == "record" else ()
    kind = type_of(tree, named)
    return () if kind is None else (Column(name, kind),)


def _is_record(form: Format, tree: Any, columns: Sequence[Column]) -> bool:
    if not form.is_wrapped and len(columns) == 1:
        return False
    if not isinstance(tree, dict) or tree.get("type") != "record":
        shown = ", ".join(column.name for column in columns)
        raise ValueError(f"the Avro schema is no record with the columns {shown}")
    return True


def _datum(form: Format, tree: Any, columns: Sequence[Column]) -> Callable[[Any], Any]:
    if not _is_record(form, tree, columns):
        write = _converter(writer, tree, columns[0]) or _same
        return lambda row: write(row[0])
    found = matching_fields(tree, [column.name for column in columns])
    parts, namespace = [], dict[str, Any]()
    for index, (column, field) in enumerate(zip(columns, found, strict=True)):
        if field is None:
            raise ValueError(f"the Avro schema {tree['name']} has no field for the column {column.name}")
        namespace |= {f"n{index}": field["name"], f"c{index}": _converter(writer, field["type"], column)}
        parts.append(f"n{index}: {_converted(f'v{index}', index, namespace)}")
    _check_other_fields(tree, {field["name"] for field in found if field is not None})
    lines = ["{}, = row".format(", ".join(f"v{index}" for index in range(len(columns))))] if columns else []
    made: Callable[[Any], Any] = generated_function(
        "row", [*lines, f"return {{{', '.join(parts)}}}"], namespace
    )
    return made


def _check_other_fields(record: Any, written: set[str]) -> None:
    for field in record["fields"]:
        kind = field["type"]
        can_be_null = isinstance(kind, list) and "null" in kind
        if field["name"] not in written and "default" not in field and not can_be_null:
            raise ValueError(
                f"the Avro schema {record['name']} needs a value for {field['name']}, and no column has it"
            )


def _row(
    form: Format, tree: Any, columns: Sequence[Column], wanted: Sequence[str] | None
) -> Callable[[Any], Any]:
    if not _is_record(form, tree, columns):
        read = _converter(reader, tree, columns[0]) or _same
        return lambda value: None if value is None else (read(value),)
    found = matching_fields(tree, [column.name for column in columns])
    parts, namespace = [], dict[str, Any]()
    for index, (column, field) in enumerate(zip(columns, found, strict=True)):
        if field is None or (wanted is not None and column.name not in wanted):
            parts.append("None")
            continue
        namespace |= {f"n{index}": field["name"], f"c{index}": _converter(reader, field["type"], column)}
        parts.append(_converted(f"f[n{index}]", index, namespace))
    made: Callable[[Any], Any] = generated_function("f", [f"return {tuple_of(parts)}"], namespace)
    return made


def _converted(value: str, index: int, namespace: dict[str, Any]) -> str:
    if namespace[f"c{index}"] is None:
        return value
    return f"(None if (x := {value}) is None else c{index}(x))"


def _converter(make: Callable[[Any, SqlType], Convert | None], tree: Any, column: Column) -> Convert | None:
    """What goes wrong names the column."""
    try:
        convert = make(tree, column.type)
    except ValueError as wrong:
        raise ValueError(f"column {column.name}: {wrong}") from None
    if convert is None:
        return None

    def named(value: Any) -> Any:
        try:
            return convert(value)
        except FAILURES as wrong:
            raise ValueError(f"column {column.name} {column.type}: {wrong}") from None

    return named


def _same(value: Any) -> Any:
    return value
