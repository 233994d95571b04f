"""Migration from an older registry: schemas that would be rejected today, and their next versions."""

from collections.abc import Iterator

import pytest

from compat.server_process import wait_until
from e2e.registry.registry_process import ask
from e2e.registry.schemas import field, look_up, record, reference, refusal, register, versions, write
from moldau.testing import LocalCluster

OLD: dict[str, tuple[str, str]] = {
    "a dashed namespace": (
        record("P", field("a"), namespace="com.acme-corp"),
        record("P", field("a"), field("b", default=""), namespace="com.acme_corp"),
    ),
    "a dashed name": (
        record("old-p", field("a")),
        record("P", field("a"), aliases=["old-p"]),
    ),
    "a dashed field": (
        record("P", field("a-b"), field("c")),
        record("P", field("c")),
    ),
    "a dashed symbol": (
        record("P", field("e", {"type": "enum", "name": "E", "symbols": ["X-1", "Y"]})),
        record("P", field("f", default="")),
    ),
    "a default of another type": (
        record("P", field("n", "int", default="none"), field("c")),
        record("P", field("n", "int", default=0), field("c")),
    ),
    "a default of no branch": (
        record("P", field("n", ["null", "string"], default=5)),
        record("P", field("n", ["null", "string"], default=None)),
    ),
}


@pytest.fixture
def importing(url: str, subject: str) -> Iterator[str]:
    assert ask(url, "PUT", f"/mode/{subject}", {"mode": "IMPORT"}).status == 200
    yield subject
    ask(url, "DELETE", f"/mode/{subject}")


def imported(url: str, subject: str, schema: str, schema_id: int, version: int) -> None:
    answer = register(url, subject, schema, id=schema_id, version=version)
    assert answer.body == {"id": schema_id}, answer


_ids = iter(range(730_000, 740_000, 100))


@pytest.mark.parametrize("case", OLD)
def test_an_old_schema_is_imported_found_and_followed(url: str, importing: str, case: str) -> None:
    old, new = OLD[case]
    schema_id = next(_ids)
    imported(url, importing, old, schema_id, 4)
    ask(url, "DELETE", f"/mode/{importing}")
    assert look_up(url, importing, old).body["version"] == 4
    assert register(url, importing, old).body == {"id": schema_id}, "registering again is no new version"
    assert refusal(register(url, f"{importing}-new", old)) == (422, 42201), "elsewhere it would be new"
    # Every level that compares with the old version does so; none rejects its names.
    for level in ("BACKWARD", "FULL_TRANSITIVE"):
        ask(url, "PUT", f"/config/{importing}", {"compatibility": level})
        tested = ask(url, "POST", f"/compatibility/subjects/{importing}/versions/4", {"schema": new})
        assert tested.status == 200, tested
    ask(url, "PUT", f"/config/{importing}", {"compatibility": "BACKWARD"})
    assert register(url, importing, new).status == 200
    assert versions(url, importing) == [4, 5]


@pytest.mark.parametrize("case", OLD)
def test_new_schemas_need_not_be_validated(url: str, subject: str, case: str) -> None:
    old = OLD[case][0]
    ask(url, "PUT", f"/config/{subject}", {"validateNewSchemas": False})
    body = {"schema": old}
    assert ask(url, "POST", f"/compatibility/subjects/{subject}/versions", body).body["is_compatible"]
    assert register(url, subject, old).status == 200
    ask(url, "PUT", f"/config/{subject}", {"validateNewSchemas": True})
    assert register(url, subject, old).status == 200, "it is there"
    wider = old.replace('"fields":[', '"fields":[' + '{"name":"z","type":"string","default":""},')
    assert refusal(register(url, subject, wider)) == (422, 42201)
    tested = ask(url, "POST", f"/compatibility/subjects/{subject}/versions", {"schema": wider})
    assert refusal(tested) == (422, 42201)


def test_what_another_registry_has_written_goes_on(url: str, subject: str, cluster: LocalCluster) -> None:
    """Records as an older registry left them in the topic, including deleted ones."""
    write(
        cluster,
        subject,
        {"version": 1, "id": 745_001, "schema": OLD["a dashed name"][0], "deleted": True},
        {"version": 2, "id": 745_002, "schema": OLD["a dashed field"][0], "deleted": False},
        {"version": 3, "id": 745_003, "schema": "{broken", "deleted": True},
    )
    listed = f"/subjects/{subject}/versions?deleted=true"
    wait_until(lambda: ask(url, "GET", listed).body == [1, 2, 3], "the records are not read")
    ask(url, "PUT", f"/config/{subject}", {"compatibility": "BACKWARD_TRANSITIVE"})
    assert look_up(url, subject, OLD["a dashed name"][0], "?deleted=true").body["version"] == 1
    answer = register(url, subject, record("P", field("c"), field("of_this_test", default="")))
    assert answer.status == 200 and answer.body["id"] > 745_003
    assert versions(url, subject) == [2, 4]


@pytest.mark.parametrize(
    "old",
    [
        '{"type":"object","properties":{"$$a":{"$ref":"http://127.0.0.1:1/elsewhere.json"}}}',
        '{"type":"strange"}',
    ],
)
def test_a_json_schema_nobody_can_read_is_found_and_named(url: str, importing: str, old: str) -> None:
    schema_id = next(_ids)
    answer = register(url, importing, old, id=schema_id, version=1, schemaType="JSON")
    assert answer.body == {"id": schema_id}
    ask(url, "DELETE", f"/mode/{importing}")
    assert look_up(url, importing, old, schemaType="JSON").body["version"] == 1
    assert register(url, importing, old, schemaType="JSON").body == {"id": schema_id}
    new = '{"type":"object"}'
    answer = register(url, importing, new, schemaType="JSON")
    assert refusal(answer) == (422, 42201)
    assert "cannot be compared with version 1, which is invalid" in answer.body["message"]
    ask(url, "DELETE", f"/subjects/{importing}/versions/1")
    assert register(url, importing, new, schemaType="JSON").status == 200


def test_a_stored_reference_to_the_latest_protects_what_is_the_latest(
    url: str, subject: str, cluster: LocalCluster
) -> None:
    """Some registries stored -1 as it was sent."""
    item = f"{subject}-item"
    register(url, item, record("Item", field("sku")))
    text, references = record("Order", field("item", "Item")), [reference("Item", item, -1)]
    write(
        cluster,
        subject,
        {"version": 1, "id": 746_001, "schema": text, "references": references, "deleted": False},
    )
    wait_until(lambda: ask(url, "GET", f"/subjects/{subject}/versions").body == [1], "it is not read")
    assert ask(url, "GET", f"/subjects/{item}/versions/1/referencedby").body == [746_001]
    assert refusal(ask(url, "DELETE", f"/subjects/{item}")) == (422, 42206)
    for version in (1, -1):
        found = look_up(url, subject, text, references=[reference("Item", item, version)])
        assert found.body["id"] == 746_001, found


def test_a_new_schema_may_refer_to_an_old_one(url: str, importing: str) -> None:
    schema_id = next(_ids)
    imported(url, importing, OLD["a dashed namespace"][0], schema_id, 1)
    references = [reference("com.acme-corp.P", importing, 1)]
    answer = register(
        url, f"{importing}-new", record("Q", field("p", "com.acme-corp.P")), references=references
    )
    assert answer.status == 200, answer
