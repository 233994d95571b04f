"""Version 3: records one by one, in batches, and as one long stream."""

import http.client
import json
import time
from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from e2e.rest.rest_client import PATIENCE_S, RestClient, fresh

USER = json.dumps({"type": "record", "name": "User", "fields": [{"name": "n", "type": "int"}]})


@pytest.fixture(scope="module")
def base(rest: RestClient) -> str:
    return f"/v3/clusters/{rest.ok('GET', '/v3/clusters')['data'][0]['cluster_id']}/topics"


def test_one_record_with_everything(rest: RestClient, base: str) -> None:
    topic = fresh("one")
    # Recent, or retention would delete it at once.
    now_ms = int(time.time()) * 1000
    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    record = {
        "partition_id": 0,
        "headers": [{"name": "h", "value": b64encode(b"1").decode()}, {"name": "none"}],
        "key": {"type": "STRING", "data": "alice"},
        "value": {"type": "JSON", "data": {"n": 1}},
        "timestamp": now.isoformat(),
    }
    said = rest.ok("POST", f"{base}/{topic}/records", record, type="application/json")
    del said["cluster_id"]
    assert said == {
        "error_code": 200,
        "topic_name": topic,
        "partition_id": 0,
        "offset": 0,
        "timestamp": f"{now:%Y-%m-%dT%H:%M:%S}.000Z",
        "key": {"type": "STRING", "size": 5},
        "value": {"type": "JSON", "size": 7},
    }
    found = rest.ok("POST", "/poll", {"topics": {topic: {"0": 0}}, "format": "binary", "timeout_ms": 60_000})
    assert found["records"][0]["headers"] == [{"name": "h", "value": "MQ=="}, {"name": "none", "value": None}]
    assert found["records"][0]["timestamp"] == now_ms


def test_schemas_by_text_id_version_and_the_latest(rest: RestClient, base: str) -> None:
    topic = fresh("schemas")
    path = f"{base}/{topic}/records"
    first = rest.ok("POST", path, {"value": {"type": "AVRO", "schema": USER, "data": {"n": 1}}})["value"]
    assert (first["type"], first["subject"], first["schema_version"]) == ("AVRO", f"{topic}-value", 1)
    for way in ({"schema_id": first["schema_id"]}, {"schema_version": 1}, {}):
        again = rest.ok("POST", path, {"value": {**way, "data": {"n": 2}}})["value"]
        assert again["schema_id"] == first["schema_id"]
    assert [each["n"] for each in rest.consumer(format="avro").subscribe(topic).values(4)] == [1, 2, 2, 2]
    rest("POST", path, {"value": {"type": "AVRO", "schema": USER, "data": {"n": "x"}}}).refused(
        42203, "value.data.n"
    )


def test_subjects_by_the_name_of_the_record(rest: RestClient, base: str) -> None:
    topic = fresh("named")
    schema = 'syntax = "proto3"; // message Old {}\npackage shop; message Order { int32 n = 1; }'
    ways = [
        ("AVRO", USER, "RECORD_NAME", "User"),
        ("AVRO", USER, "TOPIC_RECORD_NAME", f"{topic}-User"),
        ("AVRO", USER, "TOPIC_NAME", f"{topic}-value"),
        ("JSONSCHEMA", json.dumps({"title": "Order", "type": "object"}), "RECORD_NAME", "Order"),
        ("PROTOBUF", schema, "RECORD_NAME", "shop.Order"),
    ]
    for kind, text, strategy, subject in ways:
        value = {"type": kind, "schema": text, "subject_name_strategy": strategy, "data": {"n": 1}}
        said = rest.ok("POST", f"{base}/{topic}/records", {"value": value})["value"]
        assert (said["subject"], said["schema_version"]) == (subject, 1)
    for given, code, words in (
        ({"schema": '"int"', "type": "AVRO"}, 42205, "no name"),
        ({"schema_version": 1}, 400, "needs schema or schema_id"),
        ({"schema_version": 1, "subject_name_strategy": "MY_OWN"}, 400, "MY_OWN"),
    ):
        record = {"value": {"subject_name_strategy": "RECORD_NAME", **given, "data": 1}}
        rest("POST", f"{base}/{topic}/records", record).refused(code, words)


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"value": {"type": "BINARY", "data": "?"}}, "is not a base64 string"),
        ({"value": {"type": "STRING", "data": 4}}, "is not a string"),
        ({"value": {"type": "XML", "data": 4}}, "XML"),
        ({"value": {"type": ["JSON"], "data": 4}}, "['JSON'] is none of"),
        ({"value": 4}, "value is not an object"),
        ({"valu": 4}, "Unrecognized field: valu"),
        ({"partition_id": "x"}, "partition_id"),
        ({"timestamp": "yesterday"}, "ISO 8601"),
        ({"headers": [4]}, "headers"),
    ],
)
def test_a_wrong_record_is_a_bad_request(rest: RestClient, base: str, record: object, words: str) -> None:
    rest("POST", f"{base}/{fresh('wrong')}/records", record).refused(400, words)


def test_several_records_in_one_body_are_answered_line_by_line(rest: RestClient, base: str) -> None:
    topic = fresh("lines")
    body = b'{"value":{"type":"JSON","data":1}}\n{"value":{"type":"XML"}}{"value":{"type":"JSON","data":2}}'
    reply = rest("POST", f"{base}/{topic}/records", body, type="application/json")
    assert reply.status == 200
    answers = [json.loads(line) for line in reply.body.splitlines()]
    assert [each["error_code"] for each in answers] == [200, 400, 200]
    assert [each.get("offset") for each in answers] == [0, None, 1]


class Stream:
    """A request whose body is sent piece by piece, while its answer is read."""

    def __init__(self, rest: RestClient, path: str) -> None:
        self.connection = http.client.HTTPConnection(rest.address, timeout=PATIENCE_S)
        self.connection.putrequest("POST", path)
        self.connection.putheader("Content-Type", "application/json")
        self.connection.putheader("Transfer-Encoding", "chunked")
        self.connection.endheaders()
        self._response: http.client.HTTPResponse | None = None

    def send(self, data: bytes) -> None:
        self.connection.send(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self) -> None:
        self.connection.send(b"0\r\n\r\n")

    def answer(self) -> Any:
        if self._response is None:
            self._response = self.connection.getresponse()
            assert self._response.status == 200
        line = self._response.readline()
        return json.loads(line) if line else None


@pytest.fixture
def stream(rest: RestClient, base: str) -> Iterator[Stream]:
    stream = Stream(rest, f"{base}/{fresh('stream')}/records")
    yield stream
    stream.connection.close()


def test_a_stream_is_answered_record_by_record(stream: Stream) -> None:
    for number in range(5):
        stream.send(b'{"value":{"type":"JSON",')
        stream.send(b'"data":"}{%d"}}\n' % number)
        assert stream.answer()["offset"] == number
    stream.send(b'{"value":{"type":"XML"}}')
    assert stream.answer()["error_code"] == 400
    stream.send(b'{"value":{"type":"STRING","data":"last"}}' * 3)
    assert [stream.answer()["offset"] for _ in range(3)] == [5, 6, 7]
    stream.end()
    assert stream.answer() is None


def test_a_stream_ends_with_what_is_no_record(stream: Stream) -> None:
    stream.send(b'{"value":{"type":"JSON","data":1}} nonsense')
    assert stream.answer()["offset"] == 0
    assert "begins with {" in stream.answer()["message"]
    assert stream.answer() is None


def test_a_batch_names_what_failed(rest: RestClient, base: str) -> None:
    topic = fresh("batch")
    path = f"{base}/{topic}/records:batch"
    good = {"value": {"type": "JSON", "data": 1}}
    entries = [{"id": "a", **good}, {"id": "b", "value": {"type": "XML"}}, {"id": "c", **good}]
    reply = rest("POST", path, {"entries": entries})
    assert reply.status == 207
    assert [(each["id"], each["offset"]) for each in reply.json["successes"]] == [("a", 0), ("c", 1)]
    assert [(each["id"], each["error_code"]) for each in reply.json["failures"]] == [("b", 400)]
    rest("POST", path, {"entries": []}).refused(42208, "Empty batch.")
    rest("POST", path, {"entries": [good]}).refused(42208, "identifier")
    rest("POST", path, {"entries": [{"id": "a"}, {"id": "a"}]}).refused(42208, "not distinct")
    rest("POST", path, {"entries": [{"id": str(n)} for n in range(1001)]}).refused(42208, "Too many")
