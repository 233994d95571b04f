"""Builds nodes from Avro's JSON, with the checks of Avro's specification.

Errors say where: the JSON path from the top, and the field or type by name.
"""

import difflib
import re
from collections.abc import Mapping
from typing import Any

from moldau.registry.schemas.avro.defaults import why_not_default
from moldau.registry.schemas.avro.types import (
    MISSING,
    NAMED,
    PRIMITIVES,
    TYPE_NAMES,
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Name,
    NamedType,
    Primitive,
    Record,
    Union,
    described,
)
from moldau.registry.schemas.model import InvalidSchema

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ORDERS = ("ascending", "descending", "ignore")
_SCHEMA_RESERVED = frozenset(
    {"doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases"}
)
_ENUM_RESERVED = _SCHEMA_RESERVED | {"default"}
_FIELD_RESERVED = frozenset({"default", "doc", "name", "order", "type", "aliases"})


class Parser:
    """Parses one text. `names` starts with the references' types and grows as types are defined.

    `strict` is off for stored and imported schemas: defaults and the characters of names are not checked.
    """

    def __init__(self, names: Mapping[str, NamedType], *, strict: bool = True) -> None:
        self.names = dict(names)
        self.strict = strict

    def parse(self, json: Any, namespace: str | None = None, path: str = "") -> AvroType:
        if isinstance(json, str):
            return self._by_name(json, namespace, path)
        if isinstance(json, list):
            return self._union(json, namespace, path)
        if not isinstance(json, dict):
            raise _wrong(path, f"a type is a name, an object or a list of types, not {_shown(json)}")
        kind = json.get("type")
        if not isinstance(kind, str):
            reason = "has no type" if kind is None else "has a type that is not a name"
            raise _wrong(path, f"{_shown(json)} {reason}; write the inner type instead")
        if kind in PRIMITIVES:
            return Primitive(kind, _props(json, _SCHEMA_RESERVED))
        if kind in NAMED:
            return self._named(kind, json, namespace, path)
        if kind == "array":
            self._need(json, "items", path, "an array")
            items = self.parse(json["items"], namespace, f"{path}/items")
            return Array(items, _props(json, _SCHEMA_RESERVED))
        if kind == "map":
            self._need(json, "values", path, "a map")
            values = self.parse(json["values"], namespace, f"{path}/values")
            return Map(values, _props(json, _SCHEMA_RESERVED))
        return self._by_name(kind, namespace, path)

    def _by_name(self, name: str, namespace: str | None, path: str) -> AvroType:
        if name in PRIMITIVES:
            return Primitive(name)
        for full in [name] if "." in name or not namespace else [f"{namespace}.{name}", name]:
            if full in self.names:
                return self.names[full]
        if name in ("array", "map", "record", "enum", "fixed"):
            raise _wrong(path, f'"{name}" needs its own object: {{"type": "{name}", ...}}')
        raise _wrong(path, f'there is no type "{name}"{self._nearest(name)}')

    def _nearest(self, name: str) -> str:
        known = [*TYPE_NAMES, *self.names]
        near = difflib.get_close_matches(name, known[:2000], 1)
        if near:
            return f'; did you mean "{near[0]}"?'
        return ": define it here, or add the schema that does to the references"

    def _union(self, json: list[Any], namespace: str | None, path: str) -> Union:
        branches: list[AvroType] = []
        seen: set[str] = set()
        for position, item in enumerate(json):
            where = f"{path}/{position}"
            branch = self.parse(item, namespace, where)
            if isinstance(branch, Union):
                raise _wrong(where, "a union cannot contain a union; put its types in the outer one")
            key = branch.name.full if isinstance(branch, Record | Enum | Fixed) else branch.kind
            if key in seen:
                raise _wrong(where, f"the union has {key} twice")
            seen.add(key)
            branches.append(branch)
        return Union(branches)

    def _named(self, kind: str, json: dict[str, Any], namespace: str | None, path: str) -> NamedType:
        self._need(json, "name", path, f"a {kind}")
        name = self._name(json, namespace, path)
        if name.full in self.names:
            raise _wrong(path, f"{name.full} is defined a second time; refer to it by its name")
        doc = json.get("doc")
        if doc is not None and not isinstance(doc, str):
            doc = None
        aliases = [_qualified(alias, name.namespace) for alias in _texts(json, "aliases", path)]
        if kind == "fixed":
            return self._define(self._fixed(json, name, aliases, doc, path))
        if kind == "enum":
            return self._define(self._enum(json, name, aliases, doc, path))
        record = Record(name, [], aliases, doc, _props(json, _SCHEMA_RESERVED), is_error=kind == "error")
        self._define(record)
        self._fields(record, json, path)
        return record

    def _define(self, node: NamedType) -> NamedType:
        self.names[node.name.full] = node
        return node

    def _fixed(
        self, json: dict[str, Any], name: Name, aliases: list[Name], doc: str | None, path: str
    ) -> Fixed:
        size = json.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise _wrong(path, f'fixed {name.full} needs "size", a number of bytes, not {_shown(size)}')
        return Fixed(name, size, aliases, doc, _props(json, _SCHEMA_RESERVED))

    def _enum(
        self, json: dict[str, Any], name: Name, aliases: list[Name], doc: str | None, path: str
    ) -> Enum:
        symbols = json.get("symbols")
        if not isinstance(symbols, list):
            raise _wrong(path, f'enum {name.full} needs "symbols", a list of names')
        seen: set[str] = set()
        for symbol in symbols:
            self._check_name(symbol, f"{path}/symbols", f"a symbol of enum {name.full}")
            if symbol in seen:
                raise _wrong(f"{path}/symbols", f"enum {name.full} has the symbol {symbol} twice")
            seen.add(symbol)
        default = json.get("default")
        if default is not None and default not in seen:
            raise _wrong(path, f"the default {_shown(default)} of enum {name.full} is not one of its symbols")
        return Enum(name, list(symbols), default, aliases, doc, _props(json, _ENUM_RESERVED))

    def _fields(self, record: Record, json: dict[str, Any], path: str) -> None:
        fields = json.get("fields")
        if not isinstance(fields, list):
            raise _wrong(path, f'record {record.name.full} needs "fields", a list')
        seen: set[str] = set()
        for position, item in enumerate(fields):
            where = f"{path}/fields/{position}"
            if not isinstance(item, dict):
                raise _wrong(where, f"a field of {record.name.full} is an object, not {_shown(item)}")
            field = self._field(record, item, where)
            if field.name in seen:
                raise _wrong(where, f"record {record.name.full} has the field {field.name} twice")
            seen.add(field.name)
            record.fields.append(field)

    def _field(self, record: Record, json: dict[str, Any], path: str) -> Field:
        name = json.get("name")
        self._check_name(name, path, f"a field of {record.name.full}")
        assert isinstance(name, str)
        if "type" not in json:
            raise _wrong(path, f"field {name} has no type")
        order = json.get("order", "ascending")
        if not isinstance(order, str) or order.lower() not in _ORDERS:
            raise _wrong(
                path, f"field {name} has the order {_shown(order)}; it must be one of {', '.join(_ORDERS)}"
            )
        node = self.parse(json["type"], record.name.namespace, f"{path}/type")
        doc = json.get("doc")
        default = json.get("default", MISSING)
        if self.strict and default is not MISSING and (why := why_not_default(node, default)):
            raise _wrong(path, f"the default of field {name} does not fit its type {described(node)}: {why}")
        return Field(
            name,
            node,
            default,
            doc if isinstance(doc, str) else None,
            order.lower(),
            _texts(json, "aliases", path),
            _props(json, _FIELD_RESERVED),
        )

    def _name(self, json: dict[str, Any], namespace: str | None, path: str) -> Name:
        given, own = json["name"], json.get("namespace", namespace)
        if not isinstance(given, str):
            raise _wrong(path, f"a name is a text, not {_shown(given)}")
        if own is not None and not isinstance(own, str):
            raise _wrong(path, f"a namespace is a text, not {_shown(own)}")
        name = _qualified(given, own or None)
        self._check_name(name.simple, path, "a type")
        if self.strict and name.namespace:
            for part in name.namespace.split("."):
                self._check_name(part, path, f"a part of the namespace {name.namespace}")
        return name

    def _check_name(self, name: object, path: str, whose: str) -> None:
        if not isinstance(name, str) or not name:
            raise _wrong(path, f"{whose} has no name")
        if self.strict and not _NAME.fullmatch(name):
            raise _wrong(
                path, f'"{name[:80]}" cannot name {whose}: letters, digits and _ only, and no digit first'
            )

    @staticmethod
    def _need(json: dict[str, Any], key: str, path: str, whose: str) -> None:
        if json.get(key) is None:
            raise _wrong(path, f'{whose} needs "{key}"')


def _qualified(name: str, namespace: str | None) -> Name:
    space, dot, simple = name.rpartition(".")
    return Name(simple, space or None) if dot else Name(name, namespace)


def _texts(json: dict[str, Any], key: str, path: str) -> list[str]:
    value = json.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _wrong(path, f'"{key}" is a list of names, not {_shown(value)}')
    return list(dict.fromkeys(value))


def _props(json: dict[str, Any], reserved: frozenset[str]) -> dict[str, object]:
    return {key: value for key, value in json.items() if key not in reserved}


def _shown(value: object) -> str:
    text = repr(value) if not isinstance(value, str) else f'"{value}"'
    return text if len(text) <= 80 else text[:77] + "..."


def _wrong(path: str, reason: str) -> InvalidSchema:
    return InvalidSchema(f"Not a valid Avro schema: at {path or '/'}, {reason}.")
