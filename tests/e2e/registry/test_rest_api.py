"""The REST API over HTTP: every path, with the answers and codes of Confluent's registry."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from e2e.registry.registry_process import CONTENT_TYPE, Answer, ask


def record(*fields: dict[str, Any], name: str = "P") -> str:
    return json.dumps({"type": "record", "name": name, "fields": list(fields)}, separators=(",", ":"))


A = {"name": "a", "type": "string"}
B = {"name": "b", "type": "int", "default": 0}


def register(url: str, subject: str, schema: str, query: str = "", **fields: object) -> Answer:
    return ask(url, "POST", f"/subjects/{subject}/versions{query}", {"schema": schema, **fields})


def refusal(answer: Answer) -> tuple[int, int]:
    return answer.status, answer.code


def test_register_read_and_look_up(url: str, subject: str) -> None:
    first = register(url, subject, record(A, name=subject.replace("-", "")))
    assert first.status == 200 and list(first.body) == ["id"]
    assert first.content_type == CONTENT_TYPE
    schema_id, text = first.body["id"], record(A, name=subject.replace("-", ""))
    stored = {"subject": subject, "version": 1, "id": schema_id, "schema": text}
    assert ask(url, "GET", f"/subjects/{subject}/versions").body == [1]
    assert ask(url, "GET", f"/subjects/{subject}/versions/1").body == stored
    assert ask(url, "GET", f"/subjects/{subject}/versions/latest").body == stored
    assert ask(url, "GET", f"/subjects/{subject}/versions/1/schema").body == json.loads(text)
    assert ask(url, "GET", f"/schemas/ids/{schema_id}").body == {"schema": text}
    assert ask(url, "GET", f"/schemas/ids/{schema_id}?fetchMaxId=true").body["maxId"] >= schema_id
    assert ask(url, "GET", f"/schemas/ids/{schema_id}/schema").body == json.loads(text)
    assert ask(url, "GET", f"/schemas/ids/{schema_id}/subjects").body == [subject]
    assert ask(url, "GET", f"/schemas/ids/{schema_id}/versions").body == [{"subject": subject, "version": 1}]
    assert ask(url, "POST", f"/subjects/{subject}", {"schema": text}).body == stored
    assert subject in ask(url, "GET", "/subjects").body
    assert stored in ask(url, "GET", f"/schemas?subjectPrefix={subject}&latestOnly=true").body
    assert sorted(ask(url, "GET", "/schemas/types").body) == ["AVRO", "JSON", "PROTOBUF"]


def test_clients_that_take_unknown_fields_get_more(url: str, subject: str) -> None:
    header = {"Confluent_Accept_Unknown_Properties": "true"}
    answer = ask(
        url,
        "POST",
        f"/subjects/{subject}/versions",
        {"schema": record(A, name=subject.replace("-", ""))},
        **header,
    )
    assert (answer.body["version"], len(answer.body["guid"])) == (1, 36)
    guid = answer.body["guid"]
    found = ask(url, "GET", f"/subjects/{subject}/versions/1", **header).body
    assert (found["guid"], found["schemaType"], found["deleted"]) == (guid, "AVRO", False)
    assert found["ts"] > 0
    assert "schema" in ask(url, "GET", f"/schemas/guids/{guid}").body
    assert ask(url, "GET", f"/schemas/guids/{guid}/ids").body == [{"context": ".", "id": found["id"]}]
    assert refusal(ask(url, "GET", "/schemas/guids/nonsense")) == (404, 40403)


def test_a_refused_schema_is_explained_in_json_and_in_words(url: str, subject: str) -> None:
    register(url, subject, record(A))
    required = {"name": "b", "type": "int"}
    answer = register(url, subject, record(A, required))
    assert refusal(answer) == (409, 409)
    (clash,) = answer.body["clashes"]
    assert (clash["rule"], clash["version"]) == ("READER_FIELD_MISSING_DEFAULT_VALUE", 1)
    assert clash["change"] in answer.body["message"]
    path = f"/compatibility/subjects/{subject}/versions"
    body = {"schema": record(A, required)}
    assert ask(url, "POST", f"{path}/latest", body).body == {"is_compatible": False}
    verbose = ask(url, "POST", f"{path}?verbose=true", body).body
    assert verbose["clashes"] == [clash]
    assert verbose["messages"] == [
        clash["message"],
        "{oldSchemaVersion: 1}",
        f"{{oldSchema: '{record(A)}'}}",
        "{validateFields: 'false', compatibility: 'BACKWARD'}",
    ]
    assert all(message in answer.body["message"] for message in verbose["messages"])
    assert ask(url, "POST", f"{path}/1?verbose=true", {"schema": record(A, B)}).body == {
        "is_compatible": True,
        "messages": [],
        "clashes": [],
    }
    assert ask(url, "POST", "/compatibility/subjects/unknown/versions/latest", body).body["is_compatible"]
    assert refusal(ask(url, "POST", f"{path}/9", body)) == (404, 40402)


def test_configurations(url: str, subject: str) -> None:
    assert ask(url, "GET", "/config").body == {"compatibilityLevel": "BACKWARD"}
    assert refusal(ask(url, "GET", f"/config/{subject}")) == (404, 40408)
    assert ask(url, "GET", f"/config/{subject}?defaultToGlobal=true").body == {
        "compatibilityLevel": "BACKWARD"
    }
    answer = ask(url, "PUT", f"/config/{subject}", {"compatibility": "full", "normalize": True})
    assert answer.body == {"compatibility": "FULL", "normalize": True}
    assert ask(url, "GET", f"/config/{subject}").body == {"compatibilityLevel": "FULL", "normalize": True}
    assert ask(url, "DELETE", f"/config/{subject}").body == {"compatibilityLevel": "FULL", "normalize": True}
    assert refusal(ask(url, "DELETE", f"/config/{subject}")) == (404, 40401)
    assert refusal(ask(url, "PUT", f"/config/{subject}", {"compatibility": "MAYBE"})) == (422, 42203)


def test_modes(url: str, subject: str) -> None:
    assert ask(url, "GET", "/mode").body == {"mode": "READWRITE"}
    assert refusal(ask(url, "GET", f"/mode/{subject}")) == (404, 40409)
    assert ask(url, "PUT", f"/mode/{subject}", {"mode": "readonly"}).body == {"mode": "READONLY"}
    assert refusal(register(url, subject, record(A))) == (422, 42205)
    assert refusal(ask(url, "PUT", f"/mode/{subject}", {"mode": "SOMETIMES"})) == (422, 42204)
    assert ask(url, "DELETE", f"/mode/{subject}").body == {"mode": "READONLY"}
    assert register(url, subject, record(A)).status == 200
    assert refusal(ask(url, "PUT", f"/mode/{subject}", {"mode": "IMPORT"})) == (422, 42205)
    assert ask(url, "PUT", f"/mode/{subject}?force=true", {"mode": "IMPORT"}).body == {"mode": "IMPORT"}
    assert register(url, subject, record(B, name="Q"), id=700_001, version=7).body == {"id": 700_001}
    assert ask(url, "GET", f"/subjects/{subject}/versions").body == [1, 7]


def test_deleting_in_two_steps(url: str, subject: str) -> None:
    register(url, subject, record(A))
    register(url, subject, record(A, B))
    version = f"/subjects/{subject}/versions/1"
    assert refusal(ask(url, "DELETE", f"{version}?permanent=true")) == (404, 40407)
    assert ask(url, "DELETE", version).body == 1
    assert refusal(ask(url, "DELETE", version)) == (404, 40406)
    assert refusal(ask(url, "GET", version)) == (404, 40402)
    assert ask(url, "GET", f"{version}?deleted=true").body["version"] == 1
    listed = f"/subjects/{subject}/versions"
    assert ask(url, "GET", f"{listed}?deleted=true").body == [1, 2]
    assert ask(url, "GET", f"{listed}?deletedOnly=true").body == [1]
    assert ask(url, "GET", f"{listed}?deletedAsNegative=true").body == [-1, 2]
    assert ask(url, "DELETE", f"{version}?permanent=true").body == 1
    assert refusal(ask(url, "DELETE", f"/subjects/{subject}?permanent=true")) == (404, 40405)
    assert ask(url, "DELETE", f"/subjects/{subject}").body == [2]
    assert refusal(ask(url, "DELETE", f"/subjects/{subject}")) == (404, 40404)
    assert subject not in ask(url, "GET", "/subjects").body
    assert subject in ask(url, "GET", "/subjects?deleted=true").body
    assert subject in ask(url, "GET", "/subjects?deletedOnly=true").body
    assert ask(url, "DELETE", f"/subjects/{subject}?permanent=true").body == [2]
    assert subject not in ask(url, "GET", "/subjects?deleted=true").body


def test_references(url: str, subject: str) -> None:
    register(url, subject, record(A, name="Item"))
    order = record({"name": "item", "type": "Item"}, name="Order")
    reference = {"name": "Item", "subject": subject, "version": 1}
    answer = register(url, f"{subject}-order", order, references=[reference])
    found = ask(url, "GET", f"/subjects/{subject}-order/versions/1").body
    assert found["references"] == [reference]
    assert ask(url, "GET", f"/subjects/{subject}/versions/1/referencedby").body == [answer.body["id"]]
    assert refusal(ask(url, "DELETE", f"/subjects/{subject}")) == (422, 42206)
    resolved = ask(url, "GET", f"/schemas/ids/{answer.body['id']}?format=resolved").body["schema"]
    assert json.loads(resolved)["fields"][0]["type"]["name"] == "Item"


def test_metadata_and_rules_are_kept(url: str, subject: str) -> None:
    metadata = {"tags": {"P.a": ["PII"]}, "properties": {"owner": "me", "app": "shop"}}
    rule = {
        "name": "r",
        "kind": "CONDITION",
        "mode": "WRITE",
        "type": "CEL",
        "expr": "true",
        "disabled": False,
    }
    register(url, subject, record(A), metadata=metadata, ruleSet={"domainRules": [rule]})
    found = ask(url, "GET", f"/subjects/{subject}/versions/1").body
    assert found["metadata"] == metadata and found["ruleSet"] == {"domainRules": [rule]}
    by_owner = ask(url, "GET", f"/subjects/{subject}/metadata?key=owner&value=me&key=app&value=shop")
    assert by_owner.body["version"] == 1
    assert refusal(ask(url, "GET", f"/subjects/{subject}/metadata?key=owner&value=you")) == (404, 40403)
    assert subject in {one["subject"] for one in ask(url, "GET", "/schemas?ruleType=CEL").body}


def test_contexts(url: str, subject: str) -> None:
    base = f"/contexts/staging/subjects/{subject}"
    answer = ask(url, "POST", f"{base}/versions", {"schema": record(A)})
    assert answer.body == {"id": 1}, "ids are counted by context"
    qualified = f":.staging:{subject}"
    assert ask(url, "GET", f"{base}/versions/1").body["subject"] == qualified
    assert ask(url, "GET", f"/subjects/{quote(qualified)}/versions").body == [1]
    assert ask(url, "GET", "/contexts/.staging/subjects").body == [qualified]
    assert "schema" in ask(url, "GET", "/contexts/staging/schemas/ids/1").body
    assert ask(url, "GET", "/contexts").body == [".", ".staging"]
    assert ask(url, "PUT", "/contexts/staging/config", {"compatibility": "NONE"}).status == 200
    assert ask(url, "GET", f"/config/{quote(qualified)}?defaultToGlobal=true").body == {
        "compatibilityLevel": "NONE"
    }
    assert refusal(ask(url, "DELETE", "/contexts/staging")) == (422, 42211)
    for query in ("", "?permanent=true"):
        assert ask(url, "DELETE", f"{base}{query}").status == 200
    assert ask(url, "DELETE", "/contexts/staging").status == 204
    assert ask(url, "GET", "/contexts").body == ["."]


def test_an_alias_is_replaced(url: str, subject: str) -> None:
    register(url, subject, record(A))
    ask(url, "PUT", f"/config/{subject}-short", {"alias": subject})
    assert ask(url, "GET", f"/subjects/{subject}-short/versions/latest").body["subject"] == subject


def test_names_with_slashes_and_pages(url: str, subject: str) -> None:
    for letter in "abc":
        assert register(url, quote(f"{subject}/{letter}", safe=""), record(A)).status == 200
    names = [f"{subject}/{letter}" for letter in "abc"]
    prefix = quote(f"{subject}/")
    assert ask(url, "GET", f"/subjects?subjectPrefix={prefix}").body == names
    assert ask(url, "GET", f"/subjects?subjectPrefix={prefix}&offset=1&limit=1").body == names[1:2]


def test_what_the_server_says_of_itself(url: str) -> None:
    assert ask(url, "GET", "/").body == {}
    clusters = ask(url, "GET", "/v1/metadata/id").body["scope"]["clusters"]
    assert clusters["schema-registry-cluster"] == "schema-registry" and clusters["kafka-cluster"]
    assert "moldau" in ask(url, "GET", "/v1/metadata/version").body["version"]


@pytest.mark.parametrize("accept", ["application/json", "application/vnd.schemaregistry+json"])
def test_the_type_of_the_answer_is_the_one_asked_for(url: str, accept: str) -> None:
    assert ask(url, "GET", "/subjects", Accept=accept).content_type == accept
