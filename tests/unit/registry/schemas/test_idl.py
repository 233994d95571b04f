"""Avro IDL: the JSON it becomes, and the errors of an invalid text."""

import json
from typing import Any

import pytest

from moldau.registry.schemas import InvalidSchema, parse
from moldau.registry.schemas.avro.idl import SeveralTypes, schema_of

SHOP = """
/** What the shop sells. */
@namespace("acme.shop")
protocol Shop {
  import idl "units.avdl";

  /**
   * An order,
   *   with its lines.
   */
  @aliases(["acme.old.Order"]) @owner.`team`({"name": "core", "levels": [1, 0x10, -2.5e1]})
  record Order {
    string @order("ignore") @aliases(["nr", "no"]) id;
    /** When it was placed. */ timestamp_ms placed, /** When it was paid. */ paid = -1;
    array<Line> lines = [];  // None is allowed.
    map<union { null, string }> notes = {};
    string? remark = null;
    int? points = 7;
    @java-class("java.util.UUID") string `error` = "\\u00e4\\t\\"";
    decimal(9, 2) amount;
    double share = NaN;
    Kind kind = "NEW";
    acme.units.Unit unit;
    Hash? hash;
    date due;
  }

  record Line { string sku; Order? within = null; }
  enum Kind { NEW, /** gone */ OLD } = NEW;
  fixed Hash(0x10);
  error Refused { string why; }

  /** Looks an order up. */
  @cached(true) Order find(string id, int? limit = null) throws Refused;
  void ping() oneway;
}
"""
UNITS = "namespace acme.units; enum Unit { KG, M }"


def schema(files: dict[str, str], name: str | None = None, path: str = "shop.avdl") -> Any:
    text = schema_of(path, lambda wanted: files[wanted], name)
    assert parse("AVRO", text).canonical, "what comes out is an Avro schema"
    return json.loads(text)


def idl(text: str, name: str | None = None) -> Any:
    return schema({"shop.avdl": text}, name)


def test_everything_the_language_has() -> None:
    line = {
        "type": "record",
        "name": "Line",
        "namespace": "acme.shop",
        "fields": [
            {"name": "sku", "type": "string"},
            {"name": "within", "type": ["null", "acme.shop.Order"], "default": None},
        ],
    }
    with pytest.raises(SeveralTypes, match=r"acme\.shop\.Order, acme\.shop\.Line, acme\.shop\.Kind"):
        schema({"shop.avdl": SHOP, "units.avdl": UNITS})
    found = schema({"shop.avdl": SHOP, "units.avdl": UNITS}, "Order")
    assert {key: found[key] for key in found if key != "fields"} == {
        "type": "record",
        "name": "Order",
        "namespace": "acme.shop",
        "doc": "An order,\n  with its lines.",
        "aliases": ["acme.old.Order"],
        "owner.team": {"name": "core", "levels": [1, 16, -25.0]},
    }
    fields = {field.pop("name"): field for field in found["fields"]}
    assert fields["id"] == {"type": "string", "order": "ignore", "aliases": ["nr", "no"]}
    moment = {"type": "long", "logicalType": "timestamp-millis"}
    assert fields["placed"] == {"type": moment, "doc": "When it was placed."}
    assert fields["paid"] == {"type": moment, "doc": "When it was paid.", "default": -1}
    assert fields["lines"] == {"type": {"type": "array", "items": line}, "default": []}
    assert fields["notes"] == {"type": {"type": "map", "values": ["null", "string"]}, "default": {}}
    assert fields["remark"] == {"type": ["null", "string"], "default": None}
    assert fields["points"] == {"type": ["int", "null"], "default": 7}
    assert fields["error"] == {
        "type": {"type": "string", "java-class": "java.util.UUID"},
        "default": 'ä\t"',
    }
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    assert fields["amount"] == {"type": decimal}
    assert fields["share"] == {"type": "double", "default": "NaN"}
    assert (fields["kind"]["type"]["default"], fields["kind"]["default"]) == ("NEW", "NEW")
    assert fields["unit"]["type"]["symbols"] == ["KG", "M"]
    assert fields["hash"]["type"][1]["size"] == 16
    assert fields["due"] == {"type": {"type": "int", "logicalType": "date"}}


def test_a_file_says_which_schema_it_is_for() -> None:
    found = idl("namespace a.b; schema array<P?>; record P { Q q; } record Q { string x; }")
    assert found["items"][0] == "null"
    inner = found["items"][1]
    assert (inner["name"], inner["namespace"], inner["fields"][0]["type"]["name"]) == ("P", "a.b", "Q")
    assert idl("schema P; record P { string x; }", "P")["name"] == "P"


def test_without_that_it_is_the_one_type_no_other_uses() -> None:
    assert idl("record Q { string x; } record P { array<Q> q; } error E { P p; }")["name"] == "P"
    assert idl("record Tree { string x; array<Tree> children; }")["name"] == "Tree"


def test_imports_are_read_beside_the_file_that_names_them_and_once() -> None:
    protocol = {
        "protocol": "Bar",
        "namespace": "bar",
        "types": [
            {
                "type": "record",
                "name": "Bar",
                "fields": [{"name": "in", "type": {"type": "fixed", "name": "F", "size": 2}}],
            }
        ],
    }
    json_schema = {
        "type": "record",
        "name": "foo.Foo",
        "fields": [
            {
                "name": "kinds",
                "type": {"type": "array", "items": {"type": "enum", "name": "Kind", "symbols": ["A"]}},
            },
            {"name": "next", "type": ["null", "Foo"]},
        ],
    }
    files = {
        "a/shop.avdl": """
            import schema "foo.avsc"; import protocol "deep/bar.avpr"; import idl "deep/units.avdl";
            record P { foo.Foo foo; foo.Kind kind; bar.Bar bar; units.Unit unit; }
        """,
        "a/foo.avsc": json.dumps(json_schema),
        "a/deep/bar.avpr": json.dumps(protocol),
        "a/deep/units.avdl": 'import idl "units.avdl"; import schema "../foo.avsc"; enum units.Unit { KG }',
    }
    found = schema(files, path="a/shop.avdl")
    types = [field["type"] for field in found["fields"]]
    assert types[0]["fields"][0]["type"]["items"]["symbols"] == ["A"]
    assert types[1] == "foo.Kind"
    assert types[2]["fields"][0]["type"]["size"] == 2
    assert (types[3]["name"], types[3]["namespace"]) == ("Unit", "units")


def test_a_type_that_is_not_there_stays_a_name_for_a_reference() -> None:
    text = schema_of("p", {"p": "namespace shop; record P { Item item; }"}.__getitem__)
    item = parse("AVRO", '{"type":"record","name":"Item","namespace":"shop","fields":[]}')
    assert parse("AVRO", text, {"shop.Item": item}).name == "shop.P"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("record P {", "line 1, column 11: the text ends in the middle of a definition"),
        ("record P {\n  string 1;\n}", "line 2, column 10: '1' cannot name a field"),
        ("record P { string a }", "line 1, column 21: expected ';', found '}'"),
        ("/* never", "a comment that does not end"),
        ("record P { string a = ; }", "';' is not JSON"),
        ("record P { @x(1) Q q; } record Q {}", "a reference to Q cannot be annotated"),
        ("record P {} record P {}", "defines P twice"),
        ("fixed F(many);", "'many' is not an integer"),
        ("protocol A { } record P {}", "'record' comes after the end of the protocol"),
        ("@x(1) record P {}", "an annotation must come before"),
        ("import thing 'x';", '"\'" has no meaning'),
        ('import thing "x";', "an import must name an idl, a protocol or a schema"),
        ("", "does not say which type to use; it has none"),
        ("record A {} record B {}", "does not say which type to use; it has A, B"),
        ("schema " + "array<" * 2_000 + "int" + ">" * 2_000 + ";", "nested too deeply"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        schema_of("x", {"x": text}.__getitem__)
    assert said in str(caught.value)


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(InvalidSchema, match="has no type Order; it has P, Q"):
        idl("record P {} record Q {}", "Order")
