"""Rejected requests, with the error codes and messages of Confluent's registry."""

import json

import pytest

from e2e.registry.registry_process import ask
from e2e.registry.schemas import field, look_up, record, reference, refusal, register

A = record("P", field("a"))
AB = record("P", field("a"), field("b"))


@pytest.mark.parametrize("mode", ["FORWARD", "forward"])
def test_forward_is_a_mode_of_the_global_context_alone(url: str, subject: str, mode: str) -> None:
    for place in (subject, f":.x:{subject}", ":.x:", f":.__GLOBAL:{subject}"):
        answer = ask(url, "PUT", f"/mode/{place}", {"mode": mode})
        assert refusal(answer) == (422, 42204), place
        assert answer.body["message"] == "Forward mode only supported on global level"
    assert refusal(ask(url, "PUT", "/mode", {"mode": mode})) == (422, 42204)
    assert ask(url, "PUT", "/mode/:.__GLOBAL:", {"mode": mode}).body == {"mode": "FORWARD"}
    assert ask(url, "DELETE", "/mode/:.__GLOBAL:").status == 200


def test_the_words_of_confluents_registry(url: str, subject: str) -> None:
    register(url, subject, A)
    register(url, subject, record("P", field("a"), field("c", default="")))

    def said(method: str, path: str, body: object = None) -> tuple[int, str]:
        answer = ask(url, method, path, body)
        return answer.code, answer.body["message"]

    ask(url, "DELETE", f"/subjects/{subject}/versions/1")
    assert said("DELETE", f"/subjects/{subject}/versions/1") == (
        40406,
        f"Subject '{subject}' Version 1 was soft deleted.Set permanent=true to delete permanently",
    )
    ask(url, "DELETE", f"/subjects/{subject}")
    assert said("DELETE", f"/subjects/{subject}") == (
        40404,
        f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently",
    )
    assert said("DELETE", f"/subjects/{subject}/versions/latest") == (40402, "Version -1 not found.")
    assert said("PUT", f"/config/{subject}", {"compatibility": "SOME"}) == (
        42203,
        "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
        "forward_transitive, and full_transitive",
    )
    assert said("PUT", f"/mode/{subject}", {"mode": "SOMETIMES"}) == (
        42204,
        "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.",
    )
    assert said("PUT", "/config/__GLOBAL", {"compatibility": "FULL"}) == (
        42208,
        "The specified subject '__GLOBAL' is not a valid.",
    )
    item = f"{subject}-item"
    register(url, item, record("Item", field("sku")))
    register(
        url, f"{subject}-order", record("O", field("i", "Item")), references=[reference("Item", item, 1)]
    )
    assert said("DELETE", f"/subjects/{item}") == (
        42206,
        f"One or more references exist to the schema {{magic=1,keytype=SCHEMA,subject={item},version=1}}.",
    )


def test_a_refusal_shows_the_old_schema_and_what_was_compared(url: str, subject: str) -> None:
    register(url, subject, A)
    register(url, subject, record("P", field("a"), field("c", default="")))
    ask(url, "PUT", f"/config/{subject}", {"compatibility": "FULL_TRANSITIVE"})
    path = f"/compatibility/subjects/{subject}/versions?verbose=true"
    messages = ask(url, "POST", path, {"schema": AB}).body["messages"]
    second = messages.index("{oldSchemaVersion: 2}")
    assert messages[second + 1].startswith('{oldSchema: \'{"type":"record"')
    first = messages.index("{oldSchemaVersion: 1}")
    assert messages[first + 1] == f"{{oldSchema: '{A}'}}" and second < first
    assert messages[-1] == "{validateFields: 'false', compatibility: 'FULL_TRANSITIVE'}"
    answer = register(url, subject, AB)
    assert refusal(answer) == (409, 409)
    start = (
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: ['
    )
    assert answer.body["message"] == start + ", ".join(messages) + "]"


def test_a_long_old_schema_is_cut(url: str, subject: str) -> None:
    long = record("P", field("a"), doc="x" * 11_000)
    register(url, subject, long)
    path = f"/compatibility/subjects/{subject}/versions/latest?verbose=true"
    messages = ask(url, "POST", path, {"schema": AB}).body["messages"]
    assert f"{{oldSchema: <truncated> '{long[:10_240]}...'}}" in messages


def test_an_invalid_schema_is_a_message_of_a_verbose_test(url: str, subject: str) -> None:
    path = f"/compatibility/subjects/{subject}/versions"
    answer = ask(url, "POST", f"{path}?verbose=true", {"schema": "{"}).body
    assert answer["is_compatible"] is False and len(answer["messages"]) == 1
    assert refusal(ask(url, "POST", path, {"schema": "{"})) == (422, 42201)
    assert refusal(look_up(url, subject, "{")) == (422, 42201), "before the subject is looked for"


RESERVED = {"properties": {"confluent:reserved": "b, z"}}
TYPES = {
    "AVRO": (A, AB),
    "JSON": (
        '{"type":"object","properties":{"a":{}}}',
        '{"type":"object","properties":{"a":{},"b":{}}}',
    ),
    "PROTOBUF": (
        'syntax = "proto3"; message P { string a = 1; }',
        'syntax = "proto3"; message P { string a = 1; string b = 2; }',
    ),
}


@pytest.mark.parametrize("schema_type", TYPES)
def test_reserved_fields_are_neither_used_nor_given_back(url: str, subject: str, schema_type: str) -> None:
    plain, with_reserved = TYPES[schema_type]
    ask(url, "PUT", f"/config/{subject}", {"compatibility": "NONE", "validateFields": True})
    body = {"schemaType": schema_type}
    assert register(url, subject, plain, metadata=RESERVED, **body).status == 200
    answer = register(url, subject, with_reserved, metadata=RESERVED, **body)
    assert refusal(answer) == (409, 409)
    assert "The new schema has field that conflicts with the reserved field b." in answer.body["message"]
    assert "{validateFields: 'true', compatibility: 'NONE'}" in answer.body["message"]
    fewer = {"properties": {"confluent:reserved": "b"}}
    tested = ask(
        url,
        "POST",
        f"/compatibility/subjects/{subject}/versions?verbose=true",
        {"schema": plain, "metadata": fewer, **body},
    ).body
    assert tested["is_compatible"] is False
    assert tested["messages"][0] == (
        "The new schema has reserved field z removed from its metadata which is present in the old schema's "
        "metadata."
    )
    ask(url, "PUT", f"/config/{subject}", {"validateFields": False})
    assert register(url, subject, with_reserved, metadata=RESERVED, **body).status == 200


def test_a_json_name_with_two_dollars_is_refused_where_fields_are_validated(url: str, subject: str) -> None:
    text = json.dumps({"type": "object", "properties": {"$$x": {}}})
    assert register(url, subject, text, schemaType="JSON").status == 200
    ask(url, "PUT", f"/config/{subject}-strict", {"validateFields": True})
    assert refusal(register(url, f"{subject}-strict", text, schemaType="JSON")) == (422, 42201)
