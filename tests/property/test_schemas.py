"""Schemas of any shape: canonical texts are fixed points, and others who know the formats agree with us."""

import contextlib
import json
import tempfile
from pathlib import Path
from typing import Any

import avro.compatibility
import avro.errors
import avro.schema
import fastavro
import jsonschema_rs
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.registry.schemas import Existing, ParsedSchema, check, parse
from moldau.registry.schemas.protobuf.schema import ProtobufSchema

NAMES = st.sampled_from(["a", "b", "c", "d"])
PRIMITIVES = st.sampled_from(["null", "boolean", "int", "long", "float", "double", "bytes", "string"])
DEFAULTS: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "int": 1,
    "long": 2,
    "float": 0.5,
    "double": 1.25,
    "bytes": "x",
    "string": "",
}


@st.composite
def avro_types(draw: st.DrawFn, names: list[str], depth: int = 3) -> Any:
    kinds = ["primitive"] if depth == 0 else ["primitive", "record", "enum", "fixed", "array", "map", "union"]
    kind = draw(st.sampled_from(kinds))
    if kind == "primitive":
        return draw(PRIMITIVES)
    if kind == "array":
        return {"type": "array", "items": draw(avro_types(names, depth - 1))}
    if kind == "map":
        return {"type": "map", "values": draw(avro_types(names, depth - 1))}
    if kind == "union":
        return draw(st.lists(PRIMITIVES, min_size=1, max_size=3, unique=True))
    name = f"N{len(names)}"
    names.append(name)
    if kind == "enum":
        symbols = draw(st.lists(st.sampled_from("XYZ"), min_size=1, unique=True))
        return {"type": "enum", "name": name, "symbols": symbols}
    if kind == "fixed":
        return {"type": "fixed", "name": name, "size": draw(st.integers(0, 2))}
    return {"type": "record", "name": name, "fields": draw(avro_fields(names, depth - 1))}


@st.composite
def avro_fields(draw: st.DrawFn, names: list[str], depth: int) -> Any:
    fields = []
    for name in draw(st.lists(NAMES, max_size=3, unique=True)):
        of = draw(avro_types(names, depth))
        field = {"name": name, "type": of}
        if isinstance(of, str) and draw(st.booleans()):
            field["default"] = DEFAULTS[of]
        fields.append(field)
    return fields


@st.composite
def avro_schemas(draw: st.DrawFn) -> str:
    """Two of them often differ in little: the names are few and given in order."""
    names = ["N0"]
    return json.dumps({"type": "record", "name": "N0", "fields": draw(avro_fields(names, 2))})


def verdict(new: ParsedSchema, old: ParsedSchema) -> bool:
    return not check("BACKWARD", new, [Existing(1, old)])


@settings(max_examples=150, deadline=None)
@given(avro_schemas(), avro_schemas())
def test_avro_verdicts_are_those_of_the_official_package(new: str, old: str) -> None:
    with contextlib.suppress(avro.errors.AvroException):
        checker: Any = avro.compatibility.ReaderWriterCompatibilityChecker
        theirs = checker().get_compatibility(avro.schema.parse(new), avro.schema.parse(old))
        agreed = theirs.compatibility is avro.compatibility.SchemaCompatibilityType.compatible
        assert verdict(parse("AVRO", new), parse("AVRO", old)) == agreed


@settings(max_examples=100, deadline=None)
@given(avro_schemas())
def test_avro_texts_mean_the_same_when_written_again(text: str) -> None:
    schema = parse("AVRO", text)
    assert parse("AVRO", schema.canonical).canonical == schema.canonical
    assert schema.normalized().normalized().canonical == schema.normalized().canonical
    assert fastavro.schema.fingerprint(
        fastavro.schema.to_parsing_canonical_form(json.loads(text)), "CRC-64-AVRO"
    ) == fastavro.schema.fingerprint(
        fastavro.schema.to_parsing_canonical_form(json.loads(schema.normalized().canonical)), "CRC-64-AVRO"
    )
    assert verdict(schema, schema.normalized()) and verdict(schema.normalized(), schema)


def _turned(value: Any) -> Any:
    """The members of every object the other way round."""
    if isinstance(value, dict):
        return {key: _turned(value[key]) for key in reversed(value)}
    return [_turned(item) for item in value] if isinstance(value, list) else value


@settings(max_examples=100, deadline=None)
@given(avro_schemas(), avro_schemas(), st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers())))
def test_avro_schemas_are_one_when_they_differ_in_order_alone(
    text: str, other: str, properties: dict[str, Any]
) -> None:
    told = {**json.loads(text), **{f"of-{name}": value for name, value in properties.items()}}
    schema, turned = parse("AVRO", json.dumps(told)), parse("AVRO", json.dumps(_turned(told)))
    assert schema.identity == turned.identity == parse("AVRO", schema.canonical).identity
    if parse("AVRO", other).canonical != schema.canonical:
        assert parse("AVRO", other).identity != schema.identity


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 12), st.sampled_from(["", "a", "ab", "abc"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=6,
)
LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [{"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}, {}, True]
    ),
    st.builds(
        lambda low, high: {"type": "integer", "minimum": low, "maximum": high},
        st.integers(-2, 5),
        st.integers(5, 9),
    ),
    st.builds(lambda length: {"type": "string", "maxLength": length}, st.integers(0, 4)),
    st.builds(
        lambda values: {"enum": values}, st.lists(st.sampled_from(["a", "ab", 1]), min_size=1, unique=True)
    ),
)
JSON_SCHEMAS: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda properties, required, closed: {
                "type": "object",
                "properties": properties,
                "required": [name for name in required if name in properties],
                "additionalProperties": closed,
            },
            st.dictionaries(NAMES, inner, max_size=3),
            st.lists(NAMES, unique=True, max_size=2),
            st.booleans(),
        ),
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=6,
)


@st.composite
def evolved(draw: st.DrawFn, old: Any) -> Any:
    """The schema with a little changed somewhere inside."""
    if draw(st.integers(0, 5)) == 0 or not isinstance(old, dict):
        return draw(LEAVES)
    new = dict(old)
    for key in ("items", "properties", "anyOf"):
        if key == "items" and key in new:
            new[key] = draw(evolved(new[key]))
        elif key == "properties" and new.get(key):
            name = draw(st.sampled_from(sorted(new[key])))
            new[key] = {**new[key], name: draw(evolved(new[key][name]))}
            new["required"] = draw(st.sampled_from([[], new["required"], [name]]))
        elif key == "anyOf" and key in new:
            new[key] = [*new[key], draw(LEAVES)]
    for key in ("maximum", "minimum", "maxLength"):
        if key in new:
            new[key] = draw(st.integers(0, 9))
    return new


@settings(max_examples=250, deadline=None)
@given(st.data(), JSON_SCHEMAS, st.lists(VALUES, min_size=5, max_size=20))
def test_what_one_json_schema_lets_through_so_does_one_that_may_follow_it(
    data: st.DataObject, old: Any, values: list[Any]
) -> None:
    new = data.draw(evolved(old))
    if verdict(parse("JSON", json.dumps(new)), parse("JSON", json.dumps(old))):
        for value in values:
            assert jsonschema_rs.is_valid(new, value) or not jsonschema_rs.is_valid(old, value), value


@settings(max_examples=100, deadline=None)
@given(JSON_SCHEMAS)
def test_json_schemas_may_follow_themselves(value: Any) -> None:
    schema = parse("JSON", json.dumps(value))
    assert verdict(schema, schema.normalized()) and verdict(schema.normalized(), schema)
    assert json.loads(schema.canonical) == value


SCALARS = ["int32", "int64", "sint32", "fixed64", "bool", "double", "string", "bytes"]


@st.composite
def protobuf_files(draw: st.DrawFn) -> str:
    is_proto3 = draw(st.booleans())
    labels = ["", "optional ", "repeated "] if is_proto3 else ["optional ", "required ", "repeated "]
    messages = []
    for name in draw(st.lists(st.sampled_from(["M", "N", "O"]), min_size=1, unique=True)):
        numbers = iter(draw(st.permutations(range(1, 9))))
        body = [
            "message Inner { " + ("" if is_proto3 else "optional ") + "Kind k = 1; }",
            "enum Kind { K = 0; L = 1; }",
        ]
        for field in draw(st.lists(NAMES, max_size=3, unique=True)):
            of = draw(st.sampled_from([*SCALARS, "Inner", "Kind", f"{name}.Inner", "map<string, Inner>"]))
            label = "" if of.startswith("map") else draw(st.sampled_from(labels))
            body.append(f"{label}{of} {field} = {next(numbers)};")
        if draw(st.booleans()):
            body.append(f"oneof choice {{ string x = {next(numbers)}; Inner y = {next(numbers)}; }}")
        if draw(st.booleans()):
            body.append('reserved 100, 200 to 300; reserved "old";')
        messages.append(f"message {name} {{ {' '.join(draw(st.permutations(body)))} }}")
    package = draw(st.sampled_from(["", "package p;", "package p.q;"]))
    return f'syntax = "{"proto3" if is_proto3 else "proto2"}"; {package} {" ".join(messages)}'


def compiled(text: str) -> FileDescriptorProto:
    """By Google's own compiler."""
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "default.proto", Path(folder) / "out"
        path.write_text(text)
        assert protoc.main(["protoc", f"-I{folder}", f"--descriptor_set_out={out}", str(path)]) == 0, text
        return FileDescriptorSet.FromString(out.read_bytes()).file[0]


@settings(max_examples=60, deadline=None)
@given(protobuf_files())
def test_protobuf_descriptors_are_those_of_the_compiler(text: str) -> None:
    schema = parse("PROTOBUF", text)
    assert isinstance(schema, ProtobufSchema)
    expected = compiled(text)
    assert sorted_fields(schema.descriptor()) == sorted_fields(expected)
    for again in (schema.canonical, schema.normalized().canonical):
        assert sorted_fields(compiled(again)) == sorted_fields(expected)


def sorted_fields(file: FileDescriptorProto) -> FileDescriptorProto:
    """A oneof, or an entry of a map, stands where it stands: the order of fields and nested types says nothing."""
    for message in file.message_type:
        sort_message(message)
    return file


def sort_message(message: Any) -> None:
    message.field.sort(key=lambda field: field.number)
    message.nested_type.sort(key=lambda nested: nested.name)
    for field in message.field:
        if field.proto3_optional:
            field.oneof_index = 0
    message.oneof_decl.sort(key=lambda oneof: oneof.name)
    for nested in message.nested_type:
        sort_message(nested)
