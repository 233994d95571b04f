"""When two schemas are the same, and when a registration makes a new version: stored versions, order, references."""

from typing import Any

import pytest

from e2e.registry.registry_process import ask
from e2e.registry.schemas import field, look_up, record, refusal, register, versions

P = record("P", field("a"))
WIDER = record("P", field("a"), field("b", default=""))


def noted(version: object, **more: str) -> dict[str, Any]:
    return {"properties": {"confluent:version": str(version), **more}}


def test_the_latest_version_registered_as_minus_one_is_itself(url: str, subject: str) -> None:
    first = register(url, subject, P).body["id"]
    second = register(url, subject, WIDER).body["id"]
    assert register(url, subject, WIDER, version=-1).body == {"id": second}
    assert versions(url, subject) == [1, 2]
    # The previous version is not the latest: it becomes a new version with its own number and id.
    third = register(url, subject, P, version=-1).body["id"]
    assert third not in (first, second)
    found = ask(url, "GET", f"/subjects/{subject}/versions/latest").body
    assert (found["version"], found["metadata"]) == (3, noted(3))
    assert register(url, subject, P, version=-1).body == {"id": third}
    assert versions(url, subject) == [1, 2, 3]


def test_a_noted_version_need_not_be_sent(url: str, subject: str) -> None:
    schema_id = register(url, subject, P, version=1).body["id"]
    assert ask(url, "GET", f"/subjects/{subject}/versions/1").body["metadata"] == noted(1)
    for metadata in (None, {}, noted(1)):
        assert look_up(url, subject, P, metadata=metadata).body["version"] == 1
        assert register(url, subject, P, metadata=metadata).body == {"id": schema_id}
    assert refusal(look_up(url, subject, P, metadata=noted(2))) == (404, 40403)
    assert refusal(look_up(url, subject, P, metadata=noted(1, owner="me"))) == (404, 40403)


def test_another_noted_version_is_a_new_version(url: str, subject: str) -> None:
    first = register(url, subject, P, version=1).body["id"]
    second = register(url, subject, P, metadata=noted(7)).body["id"]
    assert second != first and versions(url, subject) == [1, 2]
    found = ask(url, "GET", f"/subjects/{subject}/versions/2").body
    assert found["metadata"] == noted(2), "the number is the registry's"


def test_where_none_is_noted_the_number_must_be_the_versions(url: str, subject: str) -> None:
    schema_id = register(url, subject, P).body["id"]
    assert look_up(url, subject, P, metadata=noted(1)).body["version"] == 1
    assert register(url, subject, P, metadata=noted(1)).body == {"id": schema_id}
    assert refusal(look_up(url, subject, P, metadata=noted(2))) == (404, 40403)
    assert register(url, subject, P, metadata=noted(2)).body["id"] != schema_id
    assert versions(url, subject) == [1, 2]


def test_the_story_of_one_schema_and_its_noted_versions(url: str, subject: str) -> None:
    """What Confluent's registry answers to the same requests in the same order."""
    ids: list[int] = []

    def registered(place: int, **fields: Any) -> None:
        """The id is the one from that request, or a new one."""
        answer = register(url, subject, P, **fields)
        assert answer.status == 200, answer
        if place > len(ids):
            ids.append(answer.body["id"])
        assert ids.index(answer.body["id"]) + 1 == place == len(set(ids[:place]))

    def found(version: int, metadata: dict[str, Any] | None = None) -> None:
        assert look_up(url, subject, P, metadata=metadata).body["version"] == version

    registered(1)
    registered(1, version=-1)
    registered(2, version=2)
    registered(2, version=-1)
    found(1)
    found(1, noted(1))
    found(2, noted(2))
    ask(url, "DELETE", f"/subjects/{subject}/versions/1")
    found(2)
    registered(2)
    registered(3, version=3)
    registered(3, version=-1)
    assert refusal(register(url, subject, P, version=3)) == (422, 42201)
    registered(4, version=4)
    found(4)
    registered(5, metadata=noted(-1))
    registered(2, metadata=noted(2))
    registered(3, metadata=noted(3))
    registered(6, metadata=noted(0))
    assert ask(url, "GET", f"/subjects/{subject}/versions/latest").body["metadata"] == noted(6)
    registered(6, metadata={})
    registered(7, metadata={"properties": {"owner": "me"}})
    registered(8, version=-1)
    assert ask(url, "GET", f"/subjects/{subject}/versions/8").body["metadata"] == noted(8, owner="me")
    found(7, {"properties": {"owner": "me"}})
    ask(url, "DELETE", f"/subjects/{subject}/versions/7")
    found(8, {"properties": {"owner": "me"}})
    assert versions(url, subject) == [2, 3, 4, 5, 6, 8]


def test_a_version_is_the_next_or_refused(url: str, subject: str) -> None:
    assert refusal(register(url, subject, P, version=2)) == (422, 42201)
    assert register(url, subject, P, version=1).status == 200
    assert register(url, subject, WIDER, version=2).status == 200
    assert versions(url, subject) == [1, 2]


def test_what_is_there_is_answered_in_every_mode(url: str, subject: str) -> None:
    schema_id = register(url, subject, P).body["id"]
    for mode in ("READONLY", "IMPORT"):
        ask(url, "PUT", f"/mode/{subject}?force=true", {"mode": mode})
        assert register(url, subject, P).body == {"id": schema_id}
        assert refusal(register(url, subject, WIDER)) == (422, 42205)


DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
DECIMAL_TURNED = {"scale": 2, "precision": 9, "logicalType": "decimal", "type": "bytes"}
NOTES = {"owner": {"team": "core", "mail": "x@y"}, "level": 3}
NOTES_TURNED = {"level": 3, "owner": {"mail": "x@y", "team": "core"}}
NESTED = {"type": "record", "name": "In", "fields": [field("x"), field("y")]}
SAME = {
    "properties of a record": (record("P", field("a"), **NOTES), record("P", field("a"), **NOTES_TURNED)),
    "properties of a field": (record("P", field("a", **NOTES)), record("P", field("a", **NOTES_TURNED))),
    "properties of a type": (record("P", field("a", DECIMAL)), record("P", field("a", DECIMAL_TURNED))),
    "aliases of a record": (
        record("P", field("a"), aliases=["Q", "R"], namespace="n"),
        record("P", field("a"), aliases=["n.R", "Q"], namespace="n"),
    ),
    "aliases of a field": (
        record("P", field("a", aliases=["b", "c"])),
        record("P", field("a", aliases=["c", "b"])),
    ),
    "aliases of an enum": (
        record("P", field("e", {"type": "enum", "name": "E", "symbols": ["X"], "aliases": ["F", "G"]})),
        record("P", field("e", {"type": "enum", "name": "E", "symbols": ["X"], "aliases": ["G", "F"]})),
    ),
    "a default that is an object": (
        record("P", field("in", NESTED, default={"x": "1", "y": "2"})),
        record("P", field("in", NESTED, default={"y": "2", "x": "1"})),
    ),
}
DIFFERENT = {
    "the order of fields": (record("P", field("a"), field("b")), record("P", field("b"), field("a"))),
    "documentation": (record("P", field("a", doc="x")), record("P", field("a", doc="y"))),
    "a property": (record("P", field("a", note=1)), record("P", field("a", note=1.0))),
    "an alias": (record("P", field("a", aliases=["b"])), record("P", field("a", aliases=["c"]))),
    "a default": (record("P", field("a", "int", default=1)), record("P", field("a", "int", default=2))),
    "symbols": (
        record("P", field("e", {"type": "enum", "name": "E", "symbols": ["X", "Y"]})),
        record("P", field("e", {"type": "enum", "name": "E", "symbols": ["Y", "X"]})),
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_avro_schemas_are_one_whatever_the_order_of(url: str, subject: str, case: str) -> None:
    first, second = SAME[case]
    schema_id = register(url, subject, first).body["id"]
    assert look_up(url, subject, second).body["id"] == schema_id
    assert register(url, subject, second).body == {"id": schema_id}
    assert register(url, subject, second, version=-1).body == {"id": schema_id}
    assert versions(url, subject) == [1]


@pytest.mark.parametrize("case", DIFFERENT)
def test_avro_schemas_are_two_that_differ_in(url: str, subject: str, case: str) -> None:
    first, second = DIFFERENT[case]
    register(url, subject, first)
    assert refusal(look_up(url, subject, second)) == (404, 40403)
    assert register(url, subject, second).status == 200
    assert versions(url, subject) == [1, 2]


def test_one_schema_with_its_references_put_in_place_in_another_order(url: str, subject: str) -> None:
    item = f"{subject}-item"
    register(url, item, record("Item", field("sku"), **NOTES))
    schema_id = register(
        url,
        subject,
        record("Order", field("item", "Item")),
        references=[{"name": "Item", "subject": item, "version": 1}],
    ).body["id"]
    whole = record(
        "Order", field("item", {"type": "record", "name": "Item", **NOTES_TURNED, "fields": [field("sku")]})
    )
    assert look_up(url, subject, whole).body["id"] == schema_id
    assert register(url, subject, whole).body == {"id": schema_id}
