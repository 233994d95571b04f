"""Records in every format, to topics and partitions; requests that are refused."""

import json
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor

import pytest

from e2e.rest.rest_client import PATIENCE_S, RestClient, embedded, fresh
from moldau.testing import LocalCluster

AVRO = {
    "type": "record",
    "name": "Purchase",
    "fields": [
        {"name": "item", "type": "string"},
        {"name": "amount", "type": ["null", "double", "string"], "default": None},
    ],
}
SCHEMA = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
PROTO = """syntax = "proto3"; package shop; import "google/protobuf/timestamp.proto";
message Purchase { string item_name = 1; int64 count = 2; google.protobuf.Timestamp at = 3; }"""


@pytest.mark.parametrize(
    ("name", "schema", "value"),
    [
        ("json", None, {"item": "apples", "ü": [1, 2.5, None, True]}),
        ("binary", None, b64encode(b"\x00\xff").decode()),
        ("avro", json.dumps(AVRO), {"item": "apples", "amount": {"double": 2.5}}),
        ("jsonschema", json.dumps(SCHEMA), {"item": "apples"}),
        ("protobuf", PROTO, {"item_name": "apples", "count": "7", "at": "2026-01-01T00:00:00Z"}),
    ],
)
def test_every_format_comes_back_as_it_went_in(
    rest: RestClient, name: str, schema: str | None, value: object
) -> None:
    topic = fresh(name)
    fields = {} if schema is None else {"value_schema": schema}
    answer = rest.produce(topic, {"value": value}, {"value": None}, name=name, **fields)
    assert [each["offset"] for each in answer["offsets"]] == [0, 1]
    if schema is not None:
        again = {"value_schema_id": answer["value_schema_id"]}
        assert rest.produce(topic, {"value": value}, name=name, **again)["offsets"][0]["offset"] == 2
    consumer = rest.consumer(format=name).subscribe(topic)
    found = consumer.values(2 if schema is None else 3)
    assert found == [value, None, value][: len(found)]


def test_few_and_many_records_are_answered_in_their_order(rest: RestClient) -> None:
    topic = fresh("sizes")
    base = f"/v3/clusters/{rest.ok('GET', '/v3/clusters')['data'][0]['cluster_id']}"
    rest.ok("POST", f"{base}/topics", {"topic_name": topic, "partitions_count": 3})
    written: dict[tuple[int, int], int] = {}

    def produce(first: int, count: int) -> None:
        values = range(first, first + count)
        answer = rest.produce(topic, *[{"key": value, "value": value} for value in values])
        places = [(each["partition"], each["offset"]) for each in answer["offsets"]]
        written.update(zip(places, values, strict=True))

    with ThreadPoolExecutor(3) as threads:
        sizes = [1, 700, 3, 64, 65, 1, 500, 2, 1]
        for each in [threads.submit(produce, index * 1000, size) for index, size in enumerate(sizes)]:
            each.result(PATIENCE_S)
    produce(100_000, 1)
    assert len(written) == sum(sizes) + 1
    read = rest.consumer().subscribe(topic).read(len(written))
    assert {(each["partition"], each["offset"]): each["value"] for each in read} == written


def test_a_schema_that_imports_another_is_found(rest: RestClient, cluster: LocalCluster) -> None:
    from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient

    registry = SchemaRegistryClient({"url": cluster.registry_url})
    item = Schema('{"type":"record","name":"Item","fields":[{"name":"n","type":"int"}]}', "AVRO")
    registry.register_schema("item", item)
    order = Schema(
        '{"type":"record","name":"Order","fields":[{"name":"item","type":"Item"}]}',
        "AVRO",
        [SchemaReference("Item", "item", 1)],
    )
    schema_id = registry.register_schema("order", order)
    registry.close()
    topic = fresh("orders")
    rest.produce(topic, {"value": {"item": {"n": 4}}}, name="avro", value_schema_id=schema_id)
    assert rest.consumer(format="avro").subscribe(topic).values(1) == [{"item": {"n": 4}}]


def test_partitions_are_chosen_by_record_or_path(rest: RestClient, cluster: LocalCluster) -> None:
    name = cluster.create_topic(fresh("chosen"), partitions=3)
    answer = rest.produce(name, {"value": 1, "partition": 2}, {"value": 2, "partition": 1})
    assert [each["partition"] for each in answer["offsets"]] == [2, 1]
    body = {"records": [{"value": 3}]}
    reply = rest("POST", f"/topics/{name}/partitions/2?offsets=string", body, type=embedded("json"))
    assert reply.json["offsets"] == [{"partition": 2, "offset": "1", "error_code": None, "error": None}]
    rest("POST", f"/topics/{name}/partitions/7", body, type=embedded("json")).refused(40402, "no partition 7")
    mixed = rest.produce(name, {"value": 1, "partition": 0}, {"value": 2, "partition": 9})
    assert mixed["offsets"][0]["error"] is None
    assert mixed["offsets"][1]["error_code"] == 40402


@pytest.mark.parametrize(
    ("name", "body", "code", "words"),
    [
        ("json", b'{"records"', 400, "not JSON"),
        ("json", b"", 422, "no body"),
        ("json", b"[]", 422, "not a JSON object"),
        ("json", {}, 422, "records may not be empty"),
        ("json", {"records": []}, 422, "records may not be empty"),
        ("json", {"records": [7]}, 422, "records[0]"),
        ("json", {"records": [{"value": 1, "valu": 2}]}, 422, "Unrecognized field: valu"),
        ("json", {"records": [{"value": 1, "partition": -1}]}, 422, "partition"),
        ("binary", {"records": [{"value": "?"}]}, 42203, "base64"),
        ("binary", {"records": [{"value": 4}]}, 42203, "base64"),
        ("avro", {"records": [{"value": 4}]}, 42202, "value_schema"),
        ("avro", {"value_schema": '"int"', "records": [{"key": 4, "value": 4}]}, 42201, "key_schema"),
        ("avro", {"value_schema": '{"type": "rec', "records": [{"value": 4}]}, 42205, "not JSON"),
        ("avro", {"value_schema": '"int"', "records": [{"value": "x"}]}, 42203, "records[0].value"),
        ("avro", {"value_schema": 3, "records": [{"value": "x"}]}, 422, "not a string"),
        ("avro", {"value_schema_id": 987654, "records": [{"value": "x"}]}, 40801, "987654"),
        ("protobuf", {"value_schema": "message {", "records": [{"value": {}}]}, 42205, ""),
        ("jsonschema", {"value_schema": "{}x", "records": [{"value": {}}]}, 42205, ""),
    ],
)
def test_a_bad_request_is_refused_with_the_reason(
    rest: RestClient, name: str, body: object, code: int, words: str
) -> None:
    rest("POST", f"/topics/{fresh('refused')}", body, type=embedded(name)).refused(code, words)


@pytest.mark.parametrize("type", ["text/plain", "application/json", "application/vnd.kafka.xml.v2+json"])
def test_a_content_type_without_a_format_is_refused(rest: RestClient, type: str) -> None:
    rest("POST", "/topics/typed", {"records": [{"value": 1}]}, type=type).refused(415, embedded("json"))


def test_an_unknown_accept_is_refused(rest: RestClient) -> None:
    rest("GET", "/topics", accept="image/png").refused(406, "application/vnd.kafka.v2+json")
