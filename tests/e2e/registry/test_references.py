"""References: which version they mean, what protects a referenced schema, and where Protobuf finds its types."""

from typing import Any

import pytest

from e2e.registry.registry_process import ask
from e2e.registry.schemas import field, look_up, record, reference, refusal, register, versions

ITEM = record("Item", field("sku"))
ITEM_WIDER = record("Item", field("sku"), field("size", "int", default=0))
ORDER = record("Order", field("item", "Item"))
PROTO_ITEM = 'syntax = "proto3"; package shop; message Item { string sku = 1; }'


def test_a_reference_to_the_latest_version_is_stored_with_its_number(url: str, subject: str) -> None:
    item, order = f"{subject}-item", f"{subject}-order"
    register(url, item, ITEM)
    register(url, item, ITEM_WIDER)
    answer = register(url, order, ORDER, references=[reference("Item", item, -1)])
    assert answer.status == 200
    stored = ask(url, "GET", f"/subjects/{order}/versions/1").body
    assert stored["references"] == [reference("Item", item, 2)]
    assert ask(url, "GET", f"/subjects/{item}/versions/2/referencedby").body == [answer.body["id"]]
    for path in (f"/subjects/{item}/versions/2", f"/subjects/{item}"):
        assert refusal(ask(url, "DELETE", path)) == (422, 42206)
    for version in (2, -1):
        references = [reference("Item", item, version)]
        assert look_up(url, order, ORDER, references=references).body["version"] == 1
        assert register(url, order, ORDER, references=references).body == answer.body
    assert refusal(look_up(url, order, ORDER, references=[reference("Item", item, 1)])) == (404, 40403)


def test_the_latest_version_is_another_one_later(url: str, subject: str) -> None:
    item, order = f"{subject}-item", f"{subject}-order"
    register(url, item, ITEM)
    latest = [reference("Item", item, -1)]
    first = register(url, order, ORDER, references=latest).body["id"]
    register(url, item, ITEM_WIDER)
    second = register(url, order, ORDER, references=latest).body["id"]
    assert second != first and versions(url, order) == [1, 2]
    assert ask(url, "GET", f"/subjects/{order}/versions/2").body["references"] == [reference("Item", item, 2)]


def test_what_refers_to_the_latest_of_nothing_is_refused(url: str, subject: str) -> None:
    answer = register(url, subject, ORDER, references=[reference("Item", f"{subject}-nothing", -1)])
    assert refusal(answer) == (422, 42201)


@pytest.mark.parametrize(
    ("schema_type", "target", "text"),
    [
        ("AVRO", ITEM, ORDER),
        ("JSON", '{"type":"string"}', '{"type":"object","properties":{"item":{"$ref":"Item"}}}'),
        ("PROTOBUF", PROTO_ITEM, 'syntax = "proto3"; import "Item"; message O { shop.Item item = 1; }'),
    ],
)
def test_a_new_schema_may_not_refer_to_a_soft_deleted_version(
    url: str, subject: str, schema_type: str, target: str, text: str
) -> None:
    item, order = f"{subject}-item", f"{subject}-order"
    register(url, item, target, schemaType=schema_type)
    references = [reference("Item", item, 1)]
    before = register(url, order, text, schemaType=schema_type, references=references)
    assert before.status == 200
    assert ask(url, "DELETE", f"/subjects/{order}").status == 200
    assert ask(url, "DELETE", f"/subjects/{item}/versions/1").status == 200
    answer = register(url, f"{subject}-new", text, schemaType=schema_type, references=references)
    assert refusal(answer) == (422, 42201)
    assert "soft-deleted" in answer.body["message"]
    found = look_up(url, order, text, "?deleted=true", schemaType=schema_type, references=references)
    assert found.body["id"] == before.body["id"], "what is stored stays of use"


def test_a_soft_deleted_version_two_references_away_is_refused_too(url: str, subject: str) -> None:
    unit, item, order = f"{subject}-unit", f"{subject}-item", f"{subject}-order"
    register(url, unit, record("Unit", field("code")))
    ask(url, "DELETE", f"/subjects/{unit}")
    # An imported schema with an id may refer to a deleted one.
    ask(url, "PUT", f"/mode/{item}", {"mode": "IMPORT"})
    answer = register(
        url,
        item,
        record("Item", field("unit", "Unit")),
        id=710_001,
        version=5,
        references=[reference("Unit", unit, 1)],
    )
    assert answer.status == 200, answer
    assert refusal(register(url, order, ORDER, references=[reference("Item", item, 5)])) == (422, 42201)
    ask(url, "DELETE", f"/mode/{item}")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('syntax = "proto3"; message Order { shop.Item item = 1; }', "item.proto"),
        ('syntax = "proto3"; import "other/item.proto"; message Order { shop.Item item = 1; }', "item.proto"),
        ('syntax = "proto3"; message Order { google.protobuf.Timestamp at = 1; }', None),
        ('syntax = "proto3"; import "nowhere.proto"; message Order { string id = 1; }', None),
    ],
)
def test_protobuf_types_come_from_any_reference_and_from_what_is_built_in(
    url: str, subject: str, text: str, name: str | None
) -> None:
    register(url, f"{subject}-item", PROTO_ITEM, schemaType="PROTOBUF")
    references = [reference(name, f"{subject}-item", 1)] if name else []
    body: dict[str, Any] = {"schemaType": "PROTOBUF", "references": references}
    answer = register(url, subject, text, **body)
    assert answer.status == 200, answer
    assert look_up(url, subject, text, **body).body["id"] == answer.body["id"]
    assert register(url, subject, text, "?normalize=true", **body).status == 200
    serialized = ask(url, "GET", f"/schemas/ids/{answer.body['id']}?format=serialized")
    assert serialized.status == 200
    # In strict mode files must link by their imports.
    ask(url, "PUT", f"/config/{subject}-strict", {"validateFields": True})
    assert refusal(register(url, f"{subject}-strict", text, **body)) == (422, 42201)


def test_a_protobuf_type_that_is_nowhere_is_refused(url: str, subject: str) -> None:
    for text in (
        'syntax = "proto3"; message Order { shop.Item item = 1; }',
        'syntax = "proto3"; message M {} service S { rpc Get (M) returns (Nowhere); }',
        "extend google.protobuf.Nowhere { optional string x = 50001; }",
    ):
        answer = register(url, subject, text, schemaType="PROTOBUF")
        assert refusal(answer) == (422, 42201), text
        assert "owhere" in answer.body["message"] or "shop.Item" in answer.body["message"]
