"""The calls of the handbook's and the book's tables, word for word, with their statuses."""

import json
from base64 import b64encode

from e2e.rest.rest_client import RestClient

JSON = "application/vnd.kafka.json.v2+json"
BINARY = "application/vnd.kafka.binary.v2+json"
AVRO = "application/vnd.kafka.avro.v2+json"
V2 = "application/vnd.kafka.v2+json"
USER = {"type": "record", "name": "User", "fields": [{"name": "name", "type": "string"}]}


def test_json_is_written_subscribed_read_committed_and_the_consumer_deleted(rest: RestClient) -> None:
    body = {"records": [{"key": "alice", "value": {"count": 0}}, {"value": "two"}]}
    written = rest("POST", "/topics/my_topic", body, type=JSON, accept=V2)
    assert written.status == 200
    assert written.json == {
        "offsets": [
            {"partition": 0, "offset": 0, "error_code": None, "error": None},
            {"partition": 0, "offset": 1, "error_code": None, "error": None},
        ],
        "key_schema_id": None,
        "value_schema_id": None,
    }
    assert written.content_type == V2

    wanted = {
        "name": "my_instance",
        "format": "json",
        "auto.commit.enable": "false",
        "auto.offset.reset": "earliest",
    }
    created = rest("POST", "/consumers/my_group", wanted, type=V2)
    assert created.status == 200
    base_uri = created.json["base_uri"]
    assert created.json["instance_id"] == "my_instance"
    assert base_uri == f"{rest.url}/consumers/my_group/instances/my_instance"

    assert rest("POST", f"{base_uri}/subscription", {"topics": ["my_topic"]}, type=V2).status == 204
    records = rest("GET", f"{base_uri}/records?timeout=60000", accept=JSON)
    assert records.status == 200
    assert records.content_type == JSON
    assert records.json == [
        {"topic": "my_topic", "key": "alice", "value": {"count": 0}, "partition": 0, "offset": 0},
        {"topic": "my_topic", "key": None, "value": "two", "partition": 0, "offset": 1},
    ]
    assert rest("POST", f"{base_uri}/offsets", type=V2).status == 200
    asked = {"partitions": [{"topic": "my_topic", "partition": 0}]}
    committed = rest("GET", f"{base_uri}/offsets", asked, type=V2)
    assert committed.json["offsets"] == [{"topic": "my_topic", "partition": 0, "offset": 2, "metadata": ""}]
    given = {"offsets": [{"topic": "my_topic", "partition": 0, "offset": 1}]}
    assert rest("POST", f"{base_uri}/offsets", given, type=V2).status == 200
    assert rest("GET", f"{base_uri}/offsets", asked, type=V2).json["offsets"][0]["offset"] == 1
    assert rest("DELETE", base_uri, type=V2).status == 204


def test_a_consumer_of_bytes(rest: RestClient) -> None:
    key, value = b64encode(b"\x00key").decode(), b64encode(b"\xffvalue").decode()
    body = {"records": [{"key": key, "value": value}, {"value": value}]}
    assert rest("POST", "/topics/my_binary_topic", body, type=BINARY).status == 200
    wanted = {"name": "my_reader", "format": "binary", "auto.commit.enable": "false"}
    created = rest("POST", "/consumers/my_bytes", wanted | {"auto.offset.reset": "earliest"}, type=V2)
    base_uri = created.json["base_uri"]
    assert rest("POST", f"{base_uri}/subscription", {"topics": ["my_binary_topic"]}, type=V2).status == 204
    records = rest("GET", f"{base_uri}/records?timeout=60000", accept=BINARY)
    assert (records.status, records.content_type) == (200, BINARY)
    assert [(each["key"], each["value"]) for each in records.json] == [(key, value), (None, value)]
    assert rest("POST", f"{base_uri}/offsets", type=V2).status == 200
    assert rest("DELETE", base_uri, type=V2).status == 204


def test_a_consumer_that_misspells_accept_is_answered_in_its_format(rest: RestClient) -> None:
    """The handbook's own program sends a header named Accepts."""
    rest.produce("misspelt", {"a": 1})
    consumer = rest.consumer().subscribe("misspelt")
    reply = consumer("GET", "/records?timeout=60000")
    assert (reply.status, reply.content_type) == (200, JSON)
    assert reply.json[0]["value"] == {"a": 1}


def test_avro_by_the_path_of_version_1(rest: RestClient) -> None:
    body = {
        "key_schema": json.dumps("string"),
        "value_schema": json.dumps(USER),
        "records": [{"key": "a", "value": {"name": "testUser"}}],
    }
    written = rest("POST", "/topics/my_avro_topic", body, type=AVRO)
    assert written.status == 200
    assert written.json["value_schema_id"] >= 1
    assert written.json["key_schema_id"] >= 1
    consumer = rest.consumer(format="avro")
    read = consumer("GET", "/topics/my_avro_topic?timeout=60000", accept=AVRO)
    assert (read.status, read.content_type) == (200, AVRO)
    assert read.json == [
        {"topic": "my_avro_topic", "key": "a", "value": {"name": "testUser"}, "partition": 0, "offset": 0}
    ]
    consumer("GET", "/topics/my_topic").refused(40901, "POST the topics to /subscription")


def test_topics_are_listed_with_and_without_a_header(rest: RestClient) -> None:
    rest.produce("alert", 1)
    listed = rest("GET", "/topics", accept=V2)
    assert (listed.status, listed.content_type) == (200, V2)
    # Internal topics too.
    assert {"alert", "_schemas"} <= set(listed.json)
    browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
    for accept in (None, browser):
        assert "alert" in rest("GET", "/topics", accept=accept).json
