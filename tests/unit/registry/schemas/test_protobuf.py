"""Protobuf: valid and invalid schemas, canonical and normalised text, imports, descriptors."""

import base64

import pytest
from google.protobuf import descriptor_pb2, timestamp_pb2

from moldau.registry.schemas import Existing, InvalidSchema, check, parse
from moldau.registry.schemas.protobuf.schema import ProtobufSchema

ORDER = """
// An order.
syntax = "proto3";
package acme.shop;
import "google/protobuf/timestamp.proto";
import "confluent/meta.proto";
option java_package = "com.acme";
message Order {
  option (confluent.message_meta).doc = "an order";
  reserved 4, 8 to 10, 20 to max; reserved "x";
  string id = 1 [(confluent.field_meta) = { doc: "the \\"id\\"", tags: ["PII", "B"] }, deprecated = true];
  repeated Line lines = 3;
  optional int32 n = 2 [json_name = "enn"];
  map<string, Line> by_name = 5;
  google.protobuf.Timestamp at = 6;
  oneof pay { string card = 7; int64 cash = 11; }
  message Line { int32 q = 1; Kind kind = 2; enum Kind { K0 = 0; K1 = 1; } }
}
service S {
  rpc Get (Order) returns (stream Order);
  rpc Put (stream Order) returns (Order) { option deprecated = true; }
}
"""
CANONICAL = """\
syntax = "proto3";
package acme.shop;

import "google/protobuf/timestamp.proto";
import "confluent/meta.proto";

option java_package = "com.acme";

message Order {
  reserved 4, 8 to 10, 20 to max;
  reserved "x";

  option (confluent.message_meta).doc = "an order";

  string id = 1 [
    (confluent.field_meta) = {
      doc: "the \\"id\\"",
      tags: [
        "PII",
        "B"
      ]
    },
    deprecated = true
  ];
  repeated Line lines = 3;
  optional int32 n = 2 [json_name = "enn"];
  map<string, Line> by_name = 5;
  google.protobuf.Timestamp at = 6;

  oneof pay {
    string card = 7;
    int64 cash = 11;
  }

  message Line {
    int32 q = 1;
    Kind kind = 2;
  
    enum Kind {
      K0 = 0;
      K1 = 1;
    }
  }
}

service S {
  rpc Get (Order) returns (stream Order);
  rpc Put (stream Order) returns (Order) {
    option deprecated = true;
  };
}
"""


def proto(text: str) -> ProtobufSchema:
    found = parse("PROTOBUF", text)
    assert isinstance(found, ProtobufSchema)
    return found


def test_canonical_drops_comments_and_layout_only() -> None:
    schema = proto(ORDER)
    assert schema.canonical == CANONICAL
    assert proto(CANONICAL).canonical == CANONICAL
    assert schema.name == "acme.shop.Order"


def test_normalised_sorts_fields_and_names_types_in_full() -> None:
    text = proto(ORDER).normalized().canonical
    assert text.index("optional int32 n = 2") < text.index("repeated .acme.shop.Order.Line lines = 3")
    assert "map<string, .acme.shop.Order.Line> by_name = 5;" in text
    assert "reserved 4;\n  reserved 8 to 10;\n  reserved 20 to max;" in text
    assert 'option (confluent.message_meta) = {\n    doc: "an order"\n  };' in text
    assert text.index('"confluent/meta.proto"') < text.index('"google/protobuf/timestamp.proto"')
    assert proto(text).normalized().canonical == text


def test_options_said_in_pieces_are_put_together() -> None:
    pieces = proto(
        'syntax = "proto3"; import "confluent/meta.proto"; message M { option (confluent.message_meta).doc = "a"; '
        'option (confluent.message_meta).tags = "T"; }'
    )
    at_once = proto(
        'syntax = "proto3"; import "confluent/meta.proto"; '
        'message M { option (confluent.message_meta) = { doc: "a", tags: ["T"] }; }'
    )
    assert pieces.normalized().canonical == at_once.normalized().canonical


def test_a_compiled_descriptor_is_a_schema_too() -> None:
    compiled = descriptor_pb2.FileDescriptorProto()
    timestamp_pb2.DESCRIPTOR.CopyToProto(compiled)
    schema = proto(base64.b64encode(compiled.SerializeToString()).decode())
    assert "message Timestamp {\n  int64 seconds = 1;\n  int32 nanos = 2;\n}" in schema.canonical


def test_text_and_descriptor_of_one_schema_are_the_same_once_normalised() -> None:
    schema = proto(ORDER)
    again = proto(schema.serialized())
    assert check("FULL", again, [Existing(1, schema)]) == []
    assert again.normalized().canonical == schema.normalized().canonical


def test_metadata_comes_back_out_of_a_descriptor() -> None:
    text = (
        'syntax = "proto3"; import "confluent/meta.proto"; message M { option (confluent.message_meta) = '
        '{ doc: "d", params: [{ key: "a", value: "b" }], tags: ["T"], rules: [{ name: "r", expr: "x > 1" }] }; }'
    )
    schema = proto(text)
    assert proto(schema.serialized()).normalized().canonical == schema.normalized().canonical


def test_metadata_of_confluent_travels_in_the_descriptor() -> None:
    from confluent_kafka.schema_registry.confluent import meta_pb2

    compiled = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(proto(ORDER).serialized()))
    meta = compiled.message_type[0].field[0].options.Extensions[vars(meta_pb2)["field_meta"]]
    assert (meta.doc, list(meta.tags)) == ('the "id"', ["PII", "B"])
    assert compiled.options.java_package == "com.acme"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("message M { int32 a = 1 }", "line 1, column 25: expected ';', found '}'"),
        (
            "message M {\n  int32 a = ;\n}",
            "line 2, column 13: the number of field a must be an integer, not ';'",
        ),
        ("message M {", "this brace is not closed"),
        ("hello", "'hello' does not start a definition"),
        ('syntax = "proto4";', 'unknown syntax "proto4"'),
        ("/* never", "a comment that does not end"),
        (
            "message M { optional Foo a = 1; }",
            "field M.a has the type Foo, which is defined neither here nor in an import",
        ),
        ('syntax="proto3"; message M { required int32 a = 1; }', "which proto3 does not support"),
        (
            "message M { optional int32 a = 1; optional int32 b = 1; }",
            "has the number 1, which a has already",
        ),
        ("message M { optional int32 a = 1; optional int32 a = 2; }", "field M.a is defined twice"),
        ("message M { optional int32 a = 0; }", "it must be between 1 and 536,870,911"),
        ("message M { optional int32 a = 19500; }", "19000 to 19999 are reserved for Protobuf itself"),
        ("message M { reserved 1; optional int32 a = 1; }", "uses a reserved name or number"),
        ('syntax="proto3"; enum E { A = 1; }', "in proto3 the first value must be 0"),
        ("enum E { A = 0; B = 0; }", "set option allow_alias = true"),
        ("enum E { }", "enum E has no values"),
        ("message M { oneof o { } }", "oneof M.o has no fields"),
        ("message M { oneof o { repeated int32 a = 1; } }", "a field of oneof o cannot be repeated"),
        ("message M { map<float, int32> a = 1; }", "float cannot be the key of a map"),
        ("message M {} message M {}", "M is defined twice in the file"),
        ("message M { message A {} optional int32 A = 1; }", "A is defined twice in M"),
        ('import "other.proto";', 'it imports "other.proto", which is not in its references'),
        ("service S { rpc Get (Nope) returns (Nope); }", "Nope"),
    ],
)
def test_an_invalid_schema_says_where_and_why(text: str, said: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        parse("PROTOBUF", text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        'edition = "2023"; message M { int32 a = 1; }',
        "message M { optional group Result = 1 { optional string url = 2; } extensions 100 to max; }",
        'import "google/protobuf/descriptor.proto";\n'
        "extend google.protobuf.FieldOptions { optional string x = 50001; }\n"
        'message M { optional string a = 1 [(x) = "y", default = "a\\tb\\x41"]; }',
        'syntax = "proto3"; import public "google/type/money.proto"; message M { google.type.Money m = 1; }',
        'syntax = "proto3"; import "confluent/type/decimal.proto"; message M { confluent.type.Decimal d = 1; }',
        "message M { message A { optional B b = 1; } message B { optional A a = 1; } message C {} }",
        "enum E { option allow_alias = true; A = 0; B = 0; C = -1; reserved 5 to max; }",
    ],
)
def test_what_the_language_allows_is_taken(text: str) -> None:
    schema = parse("PROTOBUF", text)
    assert parse("PROTOBUF", schema.canonical).canonical == schema.canonical
    again = schema.normalized()
    assert again.normalized().canonical == again.canonical


def test_imports_come_from_references_and_theirs() -> None:
    unit = parse("PROTOBUF", 'syntax = "proto3"; package u; enum Unit { KG = 0; }')
    item = parse(
        "PROTOBUF",
        'syntax = "proto3"; import "unit.proto"; message Item { u.Unit unit = 1; }',
        {"unit.proto": unit},
    )
    order = parse(
        "PROTOBUF",
        'syntax = "proto3"; import "item.proto"; message Order { Item item = 1; }',
        {"item.proto": item},
    )
    assert 'import "item.proto";' in order.canonical
    assert ".Item item = 1;" in order.normalized().canonical


def test_a_clash_behind_an_import_is_found() -> None:
    def order(kind: str) -> ProtobufSchema:
        item = parse("PROTOBUF", f'syntax = "proto3"; message Item {{ {kind} n = 1; }}')
        text = 'syntax = "proto3"; import "item.proto"; message Order { Item item = 4; }'
        found = parse("PROTOBUF", text, {"item.proto": item})
        assert isinstance(found, ProtobufSchema)
        return found

    found = check("BACKWARD", order("string"), [Existing(1, order("int32"))])
    assert [(clash.rule, clash.path) for clash in found] == [
        ("FIELD_SCALAR_KIND_CHANGED", "#/Item/1"),
        ("FIELD_NAMED_TYPE_CHANGED", "#/Order/4"),
    ]


ITEM = 'syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto"; message Item { string sku = 1; }'


@pytest.mark.parametrize(
    "text",
    [
        'syntax = "proto3"; message Order { shop.Item item = 1; google.protobuf.Timestamp at = 2; }',
        'syntax = "proto3"; import "other.proto"; message Order { shop.Item item = 1; }',
        'syntax = "proto3"; import public "other.proto"; import public "item.proto"; message Order { shop.Item i=1; }',
    ],
)
def test_what_is_used_is_linked_whatever_is_imported(text: str) -> None:
    schema = parse("PROTOBUF", text, {"item.proto": parse("PROTOBUF", ITEM)}, strict=False)
    assert isinstance(schema, ProtobufSchema)
    assert schema.pool().FindMessageTypeByName("Order").fields[0].message_type.full_name == "shop.Item"
    compiled = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(schema.serialized()))
    assert "item.proto" in compiled.dependency and "other.proto" not in compiled.dependency
    assert [compiled.dependency[index] for index in compiled.public_dependency] in ([], ["item.proto"])


def test_a_type_that_an_import_passes_on_is_not_imported_again() -> None:
    item = parse("PROTOBUF", ITEM)
    passing = parse("PROTOBUF", 'syntax = "proto3"; import public "item.proto";', {"item.proto": item})
    text = 'syntax = "proto3"; import "all.proto"; message Order { shop.Item item = 1; }'
    schema = parse("PROTOBUF", text, {"all.proto": passing})
    assert isinstance(schema, ProtobufSchema)
    assert list(schema.descriptor().dependency) == ["all.proto"]


def test_files_that_import_one_another_are_refused_where_they_must_link() -> None:
    one = parse("PROTOBUF", 'syntax = "proto3"; import "two.proto"; message One {}', strict=False)
    two = parse("PROTOBUF", 'syntax = "proto3"; import "one.proto"; message Two {}', strict=False)
    text = (
        'syntax = "proto3"; import "one.proto"; import "two.proto"; message M { One one = 1; Two two = 2; }'
    )
    references = {"one.proto": one, "two.proto": two}
    assert parse("PROTOBUF", text, references, strict=False).canonical
    with pytest.raises(InvalidSchema):
        parse("PROTOBUF", text, references)
