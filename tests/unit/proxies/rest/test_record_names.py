"""The name of the record that a schema describes."""

import json

import pytest

from moldau.proxies.rest.failures import RestFailure
from moldau.proxies.rest.formats.record_names import record_name

PROTO = """// message NotThis {}
syntax = "proto3"; /* package nor.this; */
package my.shop ;
option java_package = "message Quoted { // not this either";
import "other.proto";
message Order { message Line {} }
message Second {}"""


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        ("avro", '{"type": "record", "name": "User", "fields": []}', "User"),
        ("avro", '{"type": "record", "name": "User", "namespace": "a.b", "fields": []}', "a.b.User"),
        ("avro", '{"type": "enum", "name": "c.Kind", "namespace": "a", "symbols": []}', "c.Kind"),
        ("jsonschema", '{"title": "Order", "type": "object", "name": "not this"}', "Order"),
        ("protobuf", PROTO, "my.shop.Order"),
        ("protobuf", "message M{}", "M"),
    ],
)
def test_the_name_is_found(kind: str, text: str, name: str) -> None:
    assert record_name(kind, text) == name


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("avro", '"int"'),
        ("avro", "no JSON"),
        ("avro", json.dumps(["null", "int"])),
        ("jsonschema", '{"type": "object"}'),
        ("jsonschema", '{"title": 4}'),
        ("protobuf", 'syntax = "proto3";'),
    ],
)
def test_a_schema_without_a_name_is_refused(kind: str, text: str) -> None:
    with pytest.raises(RestFailure, match="no name") as refused:
        record_name(kind, text)
    assert refused.value.code == 42205
