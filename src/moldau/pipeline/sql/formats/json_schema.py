"""JSON_SR: JSON with a schema id in front; the JSON Schema of columns, as Connect writes it, and columns of one."""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from moldau.pipeline.sql.definitions import Format
from moldau.pipeline.sql.formats.json_format import json_decoder, json_encoder
from moldau.pipeline.sql.formats.json_rows import chosen_fields
from moldau.pipeline.sql.formats.registry_framing import PREFIX_SIZE, schema_id_of
from moldau.pipeline.sql.formats.subject_schema import SubjectSchema
from moldau.pipeline.sql.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Column,
    Map,
    SqlType,
    Struct,
)
from moldau.pipeline.sql.types import Decimal as DecimalType

_CONNECT: Final = "org.apache.kafka.connect.data."
_REFERENCES_MAX: Final = 50
"""Of references that lead to references."""


def _titled(connect_type: str, title: str) -> dict[str, Any]:
    return {"type": "integer", "title": _CONNECT + title, "connect.version": 1, "connect.type": connect_type}


_SCHEMAS: Final[dict[SqlType, dict[str, Any]]] = {
    BOOLEAN: {"type": "boolean"},
    INTEGER: {"type": "integer", "connect.type": "int32"},
    BIGINT: {"type": "integer", "connect.type": "int64"},
    DOUBLE: {"type": "number", "connect.type": "float64"},
    STRING: {"type": "string"},
    BYTES: {"type": "string", "connect.type": "bytes"},
    DATE: _titled("int32", "Date"),
    TIME: _titled("int32", "Time"),
    TIMESTAMP: _titled("int64", "Timestamp"),
}
_TYPES_BY_TITLE: Final = {
    _CONNECT + kind: of for kind, of in (("Date", DATE), ("Time", TIME), ("Timestamp", TIMESTAMP))
}
_TYPES: Final[dict[tuple[str, str | None], SqlType]] = {
    ("boolean", None): BOOLEAN,
    ("string", None): STRING,
    ("string", "bytes"): BYTES,
    ("integer", None): BIGINT,
    ("number", None): DOUBLE,
    **{
        (kind, connect): of
        for kind in ("integer", "number")
        for connect, of in (
            ("int8", INTEGER),
            ("int16", INTEGER),
            ("int32", INTEGER),
            ("int64", BIGINT),
            ("float32", DOUBLE),
            ("float64", DOUBLE),
        )
    },
}
"""By `type` and `connect.type`."""


def json_schema(form: Format, columns: Sequence[Column]) -> SubjectSchema:
    if form.is_wrapped or len(columns) != 1:
        made = _object_schema([(column.name, column.type) for column in columns])
    else:
        made = _schema(columns[0].type)
    return SubjectSchema(json.dumps(made, separators=(",", ":")), "JSON")


def _schema(kind: SqlType) -> dict[str, Any]:
    match kind:
        case DecimalType(precision=precision, scale=scale):
            return {
                "type": "number",
                "title": _CONNECT + "Decimal",
                "connect.version": 1,
                "connect.type": "bytes",
                "connect.parameters": {"scale": str(scale), "connect.decimal.precision": str(precision)},
            }
        case Array(element=element):
            return {"type": "array", "items": _nullable(_schema(element))}
        case Map(value=of):
            return {
                "type": "object",
                "connect.type": "map",
                "additionalProperties": _nullable(_schema(of)),
            }
        case Struct(fields=fields):
            return _object_schema(fields)
    return _SCHEMAS[kind]


def _object_schema(fields: Sequence[tuple[str, SqlType]]) -> dict[str, Any]:
    properties = {
        name: {"connect.index": index, **_nullable(_schema(kind))}
        for index, (name, kind) in enumerate(fields)
    }
    return {"type": "object", "properties": properties}


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return {"oneOf": [{"type": "null"}, schema]}


def json_sr_writer(
    form: Format, schema: SubjectSchema, columns: Sequence[Column], prefix: bytes
) -> Callable[[Any], bytes]:
    """ValueError where the schema has other fields than the columns."""
    root = json.loads(schema.text)
    is_wrapped = form.is_wrapped or len(columns) != 1
    names = [column.name for column in columns]
    if is_wrapped:
        properties = dict(_properties(root, root))
        found = [
            name or other for name, other in zip(chosen_fields(names, list(properties)), names, strict=True)
        ]
        strange = [name for name in found if name not in properties]
        if strange:
            raise ValueError(f"the JSON schema has no field for the column {strange[0]}")
        missing = [name for name in _resolved(root, root).get("required", ()) if name not in found]
        if missing:
            raise ValueError(f"the JSON schema needs a value for {missing[0]}, and no column has it")
        names = found
    write = json_encoder(columns, names, is_wrapped=is_wrapped, is_key=False)
    return lambda row: prefix + (write(row) or b"")


def json_sr_reader(
    form: Format, schema: SubjectSchema, columns: Sequence[Column], wanted: Sequence[str] | None
) -> Callable[[bytes], Any]:
    """The same whatever the schema: values are taken by the types of the columns."""
    read = json_decoder(columns, wanted, is_wrapped=form.is_wrapped or len(columns) != 1, is_key=False)

    def decode(data: bytes) -> Any:
        schema_id_of(data, "JSON_SR")
        return read(data[PREFIX_SIZE:])

    return decode


def json_schema_columns(
    form: Format, schema: SubjectSchema, name: str, named: Callable[[str], str]
) -> tuple[Column, ...]:
    """`name` is of a column by itself, `named` makes the names of fields."""
    root = json.loads(schema.text)
    if not form.is_wrapped:
        kind = _type(root, root, named)
        return () if kind is None else (Column(name, kind),)
    return tuple(Column(one, kind) for one, kind in _fields(root, root, named))


def _fields(node: Any, root: Any, named: Callable[[str], str]) -> list[tuple[str, SqlType]]:
    within = (id(_resolved(node, root)),)
    found = [(named(name), _type(one, root, named, within)) for name, one in _properties(node, root)]
    return [(name, kind) for name, kind in found if kind is not None]


def _properties(node: Any, root: Any) -> Iterator[tuple[str, Any]]:
    """In the order of `connect.index`, and as they are written where there is none."""
    found = list(_resolved(node, root).get("properties", {}).items())
    yield from sorted(
        found, key=lambda one: one[1].get("connect.index", 0) if isinstance(one[1], dict) else 0
    )


def _type(node: Any, root: Any, named: Callable[[str], str], around: tuple[int, ...] = ()) -> SqlType | None:
    """None where SQL has no such type. `around` are the schemas that this one is in: none contains itself."""
    found = _resolved(node, root)
    if id(found) in around:
        return None
    around = (*around, id(found))
    choices = [one for word in ("oneOf", "anyOf") for one in found.get(word, ()) if one != {"type": "null"}]
    if choices:
        return _type(choices[0], root, named, around) if len(choices) == 1 else None
    kind, connect, title = _single_type(found), found.get("connect.type"), found.get("title")
    if title == _CONNECT + "Decimal":
        said = found.get("connect.parameters", {})
        return DecimalType(int(said.get("connect.decimal.precision", 38)), int(said.get("scale", 0)))
    if title in _TYPES_BY_TITLE:
        return _TYPES_BY_TITLE[title]
    match kind:
        case "array":
            return _array_type(found, root, named, around)
        case "object":
            return _object_type(found, root, named, around)
        case None if "enum" in found:
            return STRING
        case None:
            return None
    return _TYPES.get((kind, connect)) or _TYPES.get((kind, None))


def _array_type(node: Any, root: Any, named: Callable[[str], str], around: tuple[int, ...]) -> SqlType | None:
    items = node.get("items")
    if node.get("connect.type") == "map" and items is not None:
        of = dict(_properties(items, root)).get("value")
        value = None if of is None else _type(of, root, named, around)
        return None if value is None else Map(STRING, value)
    element = None if items is None else _type(items, root, named, around)
    return None if element is None else Array(element)


def _object_type(
    node: Any, root: Any, named: Callable[[str], str], around: tuple[int, ...]
) -> SqlType | None:
    others = node.get("additionalProperties")
    if isinstance(others, dict) and not node.get("properties"):
        value = _type(others, root, named, around)
        return None if value is None else Map(STRING, value)
    found = [(named(name), _type(one, root, named, around)) for name, one in _properties(node, root)]
    fields = [(name, kind) for name, kind in found if kind is not None]
    return Struct(fields) if fields else None


def _single_type(node: Any) -> str | None:
    kind = node.get("type")
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        return others[0] if len(others) == 1 else None
    return kind if isinstance(kind, str) else None


def _resolved(node: Any, root: Any) -> Any:
    """Follows references inside the document; {} where they lead nowhere."""
    for _ in range(_REFERENCES_MAX):
        if not isinstance(node, dict):
            return {}
        target = node.get("$ref")
        if not isinstance(target, str):
            return node
        if not target.startswith("#"):
            return {}
        node = root
        for part in target.lstrip("#/").split("/"):
            node = node.get(part) if isinstance(node, dict) and part else node
    return {}
