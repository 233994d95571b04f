"""Avro from and to JSON, in Avro's own JSON encoding: a value of a union is null or an object whose one key names the
type. Writing also takes a plain value where only one type of the union fits.

Logical types are the numbers, strings and bytes below them, as in Confluent's REST Proxy.
"""

import io
import math
from collections.abc import Callable
from typing import Any, Final

import fastavro

Convert = Callable[[Any], Any]
SPECIAL_NUMBERS: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class AvroCodec:
    """The records of one schema. `named` are the schemas it refers to, parsed before it. Raises ValueError for a value
    that does not fit, with its place."""

    def __init__(self, schema: Any, named: list[Any]) -> None:
        known: dict[str, Any] = {}
        for each in named:
            fastavro.parse_schema(without_logical_types(each), named_schemas=known)
        self._schema = fastavro.parse_schema(without_logical_types(schema), named_schemas=known)
        plan = _Plan(known)
        self._to_datum = plan.writing(self._schema)
        self._to_json = plan.reading(self._schema)

    def encode(self, value: Any) -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, self._schema, self._to_datum(value))
        return out.getvalue()

    def decode(self, data: bytes) -> Any:
        datum = fastavro.schemaless_reader(io.BytesIO(data), self._schema, None, return_named_type=True)
        return self._to_json(datum)


def without_logical_types(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            name: without_logical_types(value) if name in ("type", "items", "values", "fields") else value
            for name, value in schema.items()
            if name != "logicalType"
        }
    return [without_logical_types(each) for each in schema] if isinstance(schema, list) else schema


class _Plan:
    """Makes converters for schemas that fastavro has parsed: names are full, and known."""

    def __init__(self, known: dict[str, Any]) -> None:
        self._known = known
        self._writers: dict[str, Convert] = {}
        self._readers: dict[str, Convert] = {}

    def writing(self, schema: Any) -> Convert:
        if isinstance(schema, list):
            return self._union_writer(schema)
        kind, name = kind_of(schema, self._known)
        if name is None:
            return self._plain_writer(kind, schema)
        if name not in self._writers:
            # A record may contain itself, so its converter is found when it is used.
            self._writers[name] = lambda value: self._writers[name](value)
            self._writers[name] = self._named_writer(kind, name, self._known[name])
        return lambda value: self._writers[name](value)

    def _plain_writer(self, kind: str, schema: Any) -> Convert:
        if kind == "array":
            item = self.writing(schema["items"])
            return lambda value: [
                _at(f"[{index}]", item, each) for index, each in enumerate(_checked(value, list, "an array"))
            ]
        if kind == "map":
            entry = self.writing(schema["values"])
            return lambda value: {
                key: _at(f".{key}", entry, each) for key, each in _checked(value, dict, "an object").items()
            }
        return _PRIMITIVES[kind]

    def _named_writer(self, kind: str, name: str, schema: Any) -> Convert:
        if kind == "enum":
            symbols = frozenset(schema["symbols"])

            def enum(value: Any) -> Any:
                if not isinstance(value, str) or value not in symbols:
                    raise _misfit(value, f"one of {', '.join(schema['symbols'][:10])}")
                return value

            return enum
        if kind == "fixed":

            def fixed(value: Any) -> bytes:
                data = _bytes(value)
                if len(data) != schema["size"]:
                    raise _misfit(value, f"{schema['size']} bytes, a character for each")
                return data

            return fixed
        fields = {field["name"]: self.writing(field["type"]) for field in schema["fields"]}
        optional = frozenset(field["name"] for field in schema["fields"] if "default" in field)

        def record(value: Any) -> dict[str, Any]:
            given = _checked(value, dict, f"an object for record {name}")
            datum = {}
            for field, convert in fields.items():
                if field in given:
                    datum[field] = _at(f".{field}", convert, given[field])
                elif field not in optional:
                    raise ValueError(f" has no field {field}, which record {name} requires")
            if len(datum) < len(given):
                unknown = next(field for field in given if field not in fields)
                raise ValueError(f" has field {unknown}, which record {name} does not have")
            return datum

        return record

    def _union_writer(self, branches: list[Any]) -> Convert:
        by_tag: dict[str, Convert] = {}
        marked: dict[str, str] = {}
        for branch in branches:
            kind, name = kind_of(branch, self._known)
            by_tag[name or kind] = self.writing(branch)
            if name is not None:
                marked[name] = name

        def union(value: Any) -> Any:
            if value is None and "null" in by_tag:
                return None
            if isinstance(value, dict) and len(value) == 1:
                ((tag, inner),) = value.items()
                if tag in by_tag:
                    return _marked(tag, _at(f".{tag}", by_tag[tag], inner))
            fitting = []
            for tag, convert in by_tag.items():
                try:
                    fitting.append((tag, convert(value)))
                except ValueError:
                    continue
            numbers = [pair for pair in fitting if pair[0] in ("int", "long", "float", "double")]
            if len(fitting) == 1 or (fitting and len(numbers) == len(fitting)):
                return _marked(*fitting[0])
            tags = ", ".join(by_tag)
            raise _misfit(value, f'one of the types {tags}, as an object {{"TYPE": value}}')

        def _marked(tag: str, datum: Any) -> Any:
            return (tag, datum) if tag in marked else datum

        return union

    def reading(self, schema: Any) -> Convert:
        if isinstance(schema, list):
            return self._union_reader(schema)
        kind, name = kind_of(schema, self._known)
        if kind == "array":
            item = self.reading(schema["items"])
            return lambda datum: [item(each) for each in datum]
        if kind == "map":
            entry = self.reading(schema["values"])
            return lambda datum: {key: entry(each) for key, each in datum.items()}
        if kind in ("bytes", "fixed"):
            return lambda datum: datum.decode("latin-1")
        if kind in ("float", "double"):
            return _number_to_json
        if kind == "record":
            assert name is not None
            if name not in self._readers:
                self._readers[name] = lambda datum: self._readers[name](datum)
                fields = [
                    (field["name"], self.reading(field["type"])) for field in self._known[name]["fields"]
                ]
                self._readers[name] = lambda datum: {
                    field: convert(datum[field]) for field, convert in fields
                }
            return lambda datum: self._readers[name](datum)
        return lambda datum: datum

    def _union_reader(self, branches: list[Any]) -> Convert:
        by_type: dict[type, tuple[str, Convert]] = {}
        named: dict[str, Convert] = {}
        for branch in branches:
            kind, name = kind_of(branch, self._known)
            if name is not None:
                named[name] = self.reading(branch)
            else:
                by_type.setdefault(_PYTHON_TYPES[kind], (kind, self.reading(branch)))

        def union(datum: Any) -> Any:
            if datum is None:
                return None
            if isinstance(datum, tuple):
                return {datum[0]: named[datum[0]](datum[1])}
            tag, convert = by_type[type(datum)]
            return {tag: convert(datum)}

        return union


def kind_of(schema: Any, known: dict[str, Any]) -> tuple[str, str | None]:
    """The kind of a type, and its full name if it is a record, an enum or a fixed."""
    if isinstance(schema, str):
        return (known[schema]["type"], schema) if schema in known else (schema, None)
    kind = schema["type"]
    if isinstance(kind, dict | list):
        return kind_of(kind, known) if isinstance(kind, dict) else ("union", None)
    if kind in ("record", "error", "enum", "fixed"):
        return ("record" if kind == "error" else kind), schema["name"]
    return kind_of(kind, known) if kind in known else (kind, None)


def _at(place: str, convert: Convert, value: Any) -> Any:
    try:
        return convert(value)
    except ValueError as error:
        raise ValueError(f"{place}{error}") from None


def _checked(value: Any, kind: type, expected: str) -> Any:
    if not isinstance(value, kind):
        raise _misfit(value, expected)
    return value


def _misfit(value: Any, expected: str) -> ValueError:
    shown = repr(value) if value is not None else "null"
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return ValueError(f" is {shown}, but the schema requires {expected}")


def _whole(bits: int, kind: str) -> Convert:
    def convert(value: Any) -> Any:
        if type(value) is not int or not -(2**bits) <= value < 2**bits:
            raise _misfit(value, kind)
        return value

    return convert


def _number(value: Any) -> Any:
    if type(value) is float or type(value) is int:
        return float(value)
    if isinstance(value, str) and value in SPECIAL_NUMBERS:
        return SPECIAL_NUMBERS[value]
    raise _misfit(value, "a number")


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        try:
            return value.encode("latin-1")
        except UnicodeEncodeError:
            pass
    raise _misfit(value, "bytes: a string with a character up to \\u00ff for each")


def _only(kind: type | None, words: str) -> Convert:
    def convert(value: Any) -> Any:
        if (value is not None) if kind is None else (type(value) is not kind):
            raise _misfit(value, words)
        return value

    return convert


def _number_to_json(value: float) -> Any:
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


_PRIMITIVES: Final[dict[str, Convert]] = {
    "null": _only(None, "null"),
    "boolean": _only(bool, "true or false"),
    "int": _whole(31, "an int"),
    "long": _whole(63, "a long"),
    "float": _number,
    "double": _number,
    "string": _only(str, "a string"),
    "bytes": _bytes,
}
_PYTHON_TYPES: Final[dict[str, type]] = {
    "boolean": bool,
    "int": int,
    "long": int,
    "float": float,
    "double": float,
    "string": str,
    "bytes": bytes,
    "array": list,
    "map": dict,
    "null": type(None),
}
