"""The Avro schema of columns, as ksqlDB registers it: every field may be null, maps are arrays of entries."""

import re
from collections.abc import Sequence
from typing import Any, Final

from moldau.pipeline.sql.syntax.errors import SqlError
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

FULL_NAME_DEFAULT: Final = "io.confluent.ksql.avro_schemas.KsqlDataSourceSchema"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONNECT: Final = "org.apache.kafka.connect.data."


def _logical(base: str, logical: str, connect_name: str) -> dict[str, Any]:
    return {
        "type": base,
        "connect.version": 1,
        "connect.name": _CONNECT + connect_name,
        "logicalType": logical,
    }


_SIMPLE: Final[dict[SqlType, Any]] = {
    BOOLEAN: "boolean",
    INTEGER: "int",
    BIGINT: "long",
    DOUBLE: "double",
    STRING: "string",
    BYTES: "bytes",
    DATE: _logical("int", "date", "Date"),
    TIME: _logical("int", "time-millis", "Time"),
    TIMESTAMP: _logical("long", "timestamp-millis", "Timestamp"),
}


def record_schema(columns: Sequence[Column], full_name: str = FULL_NAME_DEFAULT) -> dict[str, Any]:
    return _Names(full_name).record([(column.name, column.type) for column in columns], [])


def single_schema(column: Column, full_name: str = FULL_NAME_DEFAULT) -> Any:
    """Of a column by itself. It is not a union with null: a null is a record without value."""
    return _Names(full_name).schema(column.type, [])


class _Names:
    """Names of records inside a schema: the path of fields to them, behind the name of the outermost."""

    def __init__(self, full_name: str) -> None:
        self._namespace, _, self._root = full_name.rpartition(".")
        for part in full_name.split("."):
            _check_name(part, "the full name of the schema")
        self._used: set[str] = set()

    def schema(self, kind: SqlType, path: list[str]) -> Any:
        match kind:
            case DecimalType(precision=precision, scale=scale):
                return {
                    **_logical("bytes", "decimal", "Decimal"),
                    "precision": precision,
                    "scale": scale,
                    "connect.parameters": {"scale": str(scale), "connect.decimal.precision": str(precision)},
                }
            case Array(element=element):
                return {"type": "array", "items": ["null", self.schema(element, path)]}
            case Map(key=key, value=of):
                return self._map(key, of, path)
            case Struct(fields=fields):
                return self.record(fields, path)
        return _SIMPLE[kind]

    def record(self, fields: Sequence[tuple[str, SqlType]], path: list[str]) -> dict[str, Any]:
        name = self._unused(path)
        made = [self._field(name, kind, [*path, name]) for name, kind in fields]
        found = {"type": "record", "name": name, "namespace": self._namespace, "fields": made}
        return {**found, "connect.name": f"{self._namespace}.{name}".lstrip(".")}

    def _map(self, key: SqlType, value: SqlType, path: list[str]) -> dict[str, Any]:
        fields = [
            self._field("key", key, [*path, "MapKey"]),
            self._field("value", value, [*path, "MapValue"]),
        ]
        entry = {"type": "record", "name": self._unused(path), "namespace": self._namespace, "fields": fields}
        mark = {"connect.internal.type": "MapEntry"}
        return {"type": "array", "items": {**entry, **mark}, **mark}

    def _field(self, name: str, kind: SqlType, path: list[str]) -> dict[str, Any]:
        known = name.replace(".", "_")
        _check_name(known, "a column or field")
        return {"name": known, "type": ["null", self.schema(kind, path)], "default": None}

    def _unused(self, path: list[str]) -> str:
        wanted = "_".join([self._root, *path])
        name, number = wanted, 1
        while name in self._used:
            number += 1
            name = f"{wanted}_{number}"
        self._used.add(name)
        return name


def _check_name(name: str, what: str) -> None:
    if not _NAME.fullmatch(name):
        raise SqlError(
            f"{name!r} cannot be {what} in the format AVRO",
            hint="Names in Avro have ASCII letters, digits and underscores, and no digit in front.",
        )
