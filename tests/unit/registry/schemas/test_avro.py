"""Avro: valid and invalid schemas, canonical and normalised text, references."""

import json

import pytest

from moldau.registry.schemas import Existing, InvalidSchema, check, parse


def record(*fields: object, **more: object) -> str:
    return json.dumps({"type": "record", "name": "Order", **more, "fields": list(fields)})


def field(name: str, of: object, **more: object) -> dict[str, object]:
    return {"name": name, "type": of, **more}


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (' { "type" : "string" } ', '"string"'),
        ('{"type":"int","logicalType":"date","b":2}', '{"type":"int","logicalType":"date","b":2}'),
        (
            '{"fields":[{"type":"int","name":"a","default":1,"doc":"d"}],"doc":"x","name":"a.b.R","type":"record"}',
            '{"type":"record","name":"R","namespace":"a.b","doc":"x",'
            '"fields":[{"name":"a","type":"int","doc":"d","default":1}]}',
        ),
        (
            '{"type":"record","name":"R","namespace":"x","aliases":["Q","y.Z"],"zed":1,"fields":['
            '{"name":"a","type":"bytes","order":"ignore","p":{"b":1,"a":[1.50,null]},"aliases":["aa"],"default":"\\u00ff"},'
            '{"name":"e","type":{"type":"enum","name":"E","symbols":["A"],"default":"A"}},'
            '{"name":"g","type":{"name":"other.F","type":"fixed","size":2}},{"name":"h","type":"other.F"}]}',
            '{"type":"record","name":"R","namespace":"x","fields":['
            '{"name":"a","type":"bytes","default":"ÿ","order":"ignore","aliases":["aa"],"p":{"b":1,"a":[1.5,null]}},'
            '{"name":"e","type":{"type":"enum","name":"E","symbols":["A"],"default":"A"}},'
            '{"name":"g","type":{"type":"fixed","name":"F","namespace":"other","size":2}},'
            '{"name":"h","type":"other.F"}],"zed":1,"aliases":["Q","y.Z"]}',
        ),
        (
            '{"type":"record","name":"R","fields":[{"name":"a","type":"double","default":1e10}]}',
            '{"type":"record","name":"R","fields":[{"name":"a","type":"double","default":1.0E10}]}',
        ),
        (
            '{"type":"record","name":"int","namespace":"q","fields":[{"name":"a","type":["null","q.int"]}]}',
            '{"type":"record","name":"int","namespace":"q","fields":[{"name":"a","type":["null","q.int"]}]}',
        ),
    ],
)
def test_canonical_is_what_the_java_library_prints(text: str, canonical: str) -> None:
    schema = parse("AVRO", text)
    assert schema.canonical == canonical
    assert parse("AVRO", canonical).canonical == canonical
    assert schema.text == text


def test_normalised_texts_of_one_schema_are_the_same() -> None:
    one = parse(
        "AVRO",
        '{"type":"record","name":"a.R","doc":"","aliases":["Z","A"],"fields":['
        '{"name":"d","type":{"type":"bytes","zed":1,"abc":2,"scale":2,"precision":4,"logicalType":"decimal"}},'
        '{"name":"m","type":{"type":"map","values":"int"},"default":{"b":1,"a":2}}]}',
    )
    other = parse(
        "AVRO",
        '{"type":"record","namespace":"a","name":"R","aliases":["a.A","Z"],"fields":['
        '{"order":"ascending","name":"d","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":2,'
        '"abc":2,"zed":1}},{"name":"m","type":{"type":"map","values":"int"},"default":{"a":2,"b":1}}]}',
    )
    assert one.canonical != other.canonical
    assert one.normalized().canonical == other.normalized().canonical
    assert one.normalized().normalized().canonical == one.normalized().canonical


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        ("string", "not JSON"),
        ("5", "a type is a name, an object or a list of types"),
        ('{"type":"flot"}', 'there is no type "flot"; did you mean "float"?'),
        ('{"type":"shop.Unknown"}', "define it here, or add the schema that does to the references"),
        ('{"type":"record","fields":[]}', 'a record needs "name"'),
        ('{"type":"record","name":"R"}', 'record R needs "fields"'),
        ('{"type":{"type":"string"}}', "write the inner type instead"),
        (record(field("a-b", "int")), '"a-b" cannot name a field of Order'),
        (record(field("a", "int"), field("a", "int")), "has the field a twice"),
        (record({"name": "a"}), "field a has no type"),
        (record(field("a", "array", items="int")), '"array" needs its own object'),
        (record(field("a", "int", default="x")), 'does not fit its type int: "x" is not a int'),
        (record(field("a", "int", default=2**31)), "is not a int"),
        (record(field("a", ["null", "int"], default="x")), "fits none of the union's types"),
        (record(field("a", "int", order="up")), "it must be one of ascending, descending, ignore"),
        (record(field("a", {"type": "array"})), 'an array needs "items"'),
        (record(field("a", {"type": "map"})), 'a map needs "values"'),
        (record(field("a", {"type": "fixed", "name": "F"})), 'fixed F needs "size"'),
        (record(field("a", {"type": "fixed", "name": "F", "size": -1})), 'fixed F needs "size"'),
        (record(field("a", {"type": "enum", "name": "E", "symbols": ["A", "A"]})), "has the symbol A twice"),
        (record(field("a", {"type": "enum", "name": "E", "symbols": ["1"]})), '"1" cannot name a symbol'),
        (
            record(field("a", {"type": "enum", "name": "E", "symbols": ["A"], "default": "B"})),
            "is not one of its symbols",
        ),
        ('["int","int"]', "the union has int twice"),
        ('["int",["string"]]', "a union cannot contain a union"),
        (
            record(
                field("a", {"type": "fixed", "name": "F", "size": 1}),
                field("b", {"type": "fixed", "name": "F", "size": 2}),
            ),
            "F is defined a second time",
        ),
    ],
)
def test_an_invalid_schema_says_where_and_why(text: str, said: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        parse("AVRO", text)
    assert said in str(caught.value)


def test_what_was_stored_long_ago_is_taken_though_its_default_is_wrong() -> None:
    text = record(field("a", "int", default="x"))
    assert parse("AVRO", text, strict=False).canonical


def test_a_reference_is_a_name_in_the_canonical_text_and_in_place_in_the_resolved_one() -> None:
    item = parse("AVRO", '{"type":"record","name":"shop.Item","fields":[{"name":"sku","type":"string"}]}')
    order = parse("AVRO", record(field("item", "shop.Item"), field("other", "shop.Item")), {"item": item})
    assert '"type":"shop.Item"' in order.canonical
    assert "sku" not in order.canonical
    assert "sku" in order.resolved()
    assert parse("AVRO", order.resolved()).canonical == order.resolved()


def test_references_of_references_are_known() -> None:
    unit = parse("AVRO", '{"type":"enum","name":"Unit","symbols":["KG"]}')
    item = parse(
        "AVRO", '{"type":"record","name":"Item","fields":[{"name":"u","type":"Unit"}]}', {"unit": unit}
    )
    order = parse("AVRO", record(field("item", "Item"), field("u", "Unit")), {"item": item})
    assert order.canonical.count("Unit") == 1
    assert "symbols" not in order.canonical


def test_a_clash_behind_a_reference_is_found() -> None:
    old = parse("AVRO", '{"type":"record","name":"Item","fields":[{"name":"n","type":"int"}]}')
    new = parse("AVRO", '{"type":"record","name":"Item","fields":[{"name":"n","type":"string"}]}')
    orders = [parse("AVRO", record(field("item", "Item")), {"item": item}) for item in (old, new)]
    (clash,) = check("BACKWARD", orders[1], [Existing(3, orders[0])])
    assert (clash.rule, clash.path, clash.version) == ("TYPE_MISMATCH", "/fields/0/type/fields/0/type", 3)
    assert clash.message.startswith("Field item.n is string but was int in version 3")


def test_two_references_may_not_define_one_name_differently() -> None:
    one = parse("AVRO", '{"type":"fixed","name":"F","size":1}')
    other = parse("AVRO", '{"type":"fixed","name":"F","size":2}')
    with pytest.raises(InvalidSchema, match="F is defined differently by two references"):
        parse("AVRO", record(field("f", "F")), {"a": one, "b": other})


def test_a_schema_of_another_type_clashes_in_words() -> None:
    new = parse("JSON", '{"type":"object"}')
    (clash,) = check("BACKWARD", new, [Existing(1, parse("AVRO", '"string"'))])
    assert clash.rule == "SCHEMA_TYPE_CHANGED"
    assert "of type JSON, and version 1 of type AVRO" in clash.message
    assert check("NONE", new, [Existing(1, parse("AVRO", '"string"'))]) == []


def test_a_clash_is_json_for_tools() -> None:
    new = parse("AVRO", record(field("a", "int"), field("b", "string")))
    (clash,) = check("BACKWARD", new, [Existing(7, parse("AVRO", record(field("a", "int"))))])
    assert clash.to_json() == {
        "rule": "READER_FIELD_MISSING_DEFAULT_VALUE",
        "path": "/fields/1",
        "direction": "BACKWARD",
        "version": 7,
        "reason": "Field b is new since version 7 and has no default",
        "change": 'add "default": "" to field b',
        "message": clash.message,
        "additional": {"field": "b"},
    }


def test_comments_are_taken_and_not_stored() -> None:
    text = """
        // A purchase.
        {"type": "record", /* not "this" */ "name": "P", // nor this
         "fields": [{"name": "a", "type": "string", "doc": "http://x/*y*/ \\"// z"}]}
    """
    plain = (
        '{"type":"record","name":"P","fields":[{"name":"a","type":"string","doc":"http://x/*y*/ \\"// z"}]}'
    )
    assert parse("AVRO", text).canonical == plain
    with pytest.raises(InvalidSchema, match="line 2, column 20"):
        parse("AVRO", "// one\n        { /* two */")
    with pytest.raises(InvalidSchema):
        parse("JSON", "{} // no")
