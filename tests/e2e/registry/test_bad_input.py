"""Wrong, hostile and enormous requests: each gets the documented error code, and the registry keeps running."""

import json
import socket
from typing import Any

import pytest

from e2e.registry.registry_process import ask
from moldau.testing import LocalCluster

POST = "/subjects/hostile/versions"


@pytest.fixture(autouse=True)
def unharmed(url: str) -> Any:
    yield
    assert ask(url, "GET", "/subjects").status == 200
    assert ask(url, "POST", "/subjects/healthy/versions", {"schema": '"int"'}).status == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "expected"),
    [
        ("POST", POST, {"schema": "{"}, (422, 42201)),
        ("POST", POST, {"schema": '{"type":"recrod"}'}, (422, 42201)),
        ("POST", POST, {"schema": "message {", "schemaType": "PROTOBUF"}, (422, 42201)),
        ("POST", POST, {"schema": '{"type": 7}', "schemaType": "JSON"}, (422, 42201)),
        ("POST", POST, {"schema": '"int"', "schemaType": "THRIFT"}, (422, 42201)),
        ("POST", POST, {"schema": ""}, (422, 42201)),
        ("POST", POST, {}, (422, 42201)),
        ("POST", POST, {"schema": {"type": "int"}}, (422, 422)),
        ("POST", POST, [1, 2], (422, 422)),
        ("POST", POST, b"", (422, 422)),
        ("POST", POST, b"{not json", (400, 400)),
        ("POST", POST, b"\xff\xfe\x00", (400, 400)),
        ("POST", POST, b"[" * 100_000, (400, 400)),
        ("POST", "/subjects/a%00b/versions", {"schema": '"int"'}, (422, 42208)),
        ("GET", "/subjects/nobody/versions", None, (404, 40401)),
        ("GET", "/subjects/nobody/versions/1", None, (404, 40401)),
        ("GET", "/subjects/nobody/versions/0", None, (422, 42202)),
        ("GET", "/subjects/nobody/versions/x", None, (422, 42202)),
        ("GET", "/subjects/nobody/versions/-7", None, (422, 42202)),
        ("GET", "/subjects/healthy/versions/99", None, (404, 40402)),
        ("DELETE", "/subjects/nobody", None, (404, 40401)),
        ("GET", "/schemas/ids/999999", None, (404, 40403)),
        ("GET", "/schemas/ids/abc", None, (404, 404)),
        ("GET", "/schemas/ids/99999999999999999999", None, (404, 404)),
        ("POST", "/subjects/nobody", {"schema": '"int"'}, (404, 40401)),
        ("POST", "/subjects/healthy", {"schema": '"long"'}, (404, 40403)),
        ("GET", "/nowhere", None, (404, 404)),
        ("PATCH", "/subjects", None, (405, 405)),
        ("PUT", "/config", {"compatibility": None, "normalize": "perhaps"}, (422, 422)),
    ],
)
def test_the_documented_number(
    url: str, method: str, path: str, body: object, expected: tuple[int, int]
) -> None:
    ask(url, "POST", "/subjects/healthy/versions", {"schema": '"int"'})
    answer = ask(url, method, path, body)
    assert (answer.status, answer.code) == expected, answer
    assert answer.body["message"]


def test_wrong_content_types(url: str) -> None:
    body = {"schema": '"int"'}
    assert ask(url, "POST", POST, body, Content_Type="text/plain").code == 415
    assert ask(url, "POST", POST, body, Accept="text/html").code == 406


def test_a_schema_of_five_megabytes(url: str) -> None:
    symbols = [f"S{number:07}" for number in range(500_000)]
    schema = json.dumps({"type": "enum", "name": "E", "symbols": symbols})
    assert len(schema) > 5_000_000
    answer = ask(url, "POST", POST, {"schema": schema})
    assert answer.status == 422 and answer.code in (42201, 42209)


def test_a_body_past_all_limits(cluster: LocalCluster, url: str) -> None:
    """The registry stops reading; its answer may be lost with the connection."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as wire:
        wire.sendall(
            f"POST {POST} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Content-Length: {10**10}\r\n\r\n".encode()
        )
        chunk = b"x" * 1_000_000
        try:
            for _ in range(64):
                wire.sendall(chunk)
            answered = wire.recv(4096)
        except OSError:
            return
        assert b" 413 " in answered


@pytest.mark.parametrize(
    ("schema_type", "schema"),
    [
        ("AVRO", '{"type":"array","items":' * 5_000 + '"int"' + "}" * 5_000),
        ("JSON", '{"items":' * 5_000 + "{}" + "}" * 5_000),
        ("PROTOBUF", 'syntax="proto3"; ' + "message M {" * 5_000 + "}" * 5_000),
        ("JSON", '{"$ref":"#"}'),
        ("JSON", '{"$ref":"http://127.0.0.1:1/never-fetched.json"}'),
        ("PROTOBUF", 'syntax="proto3"; import "itself.proto"; message M { M m = 1; }'),
    ],
)
def test_deep_and_circular_schemas(url: str, subject: str, schema_type: str, schema: str) -> None:
    answer = ask(url, "POST", f"/subjects/{subject}/versions", {"schema": schema, "schemaType": schema_type})
    assert answer.status in (200, 422), answer


def test_a_recursive_message_is_a_schema_like_others(url: str) -> None:
    schema = 'syntax = "proto3"; message Tree { string name = 1; repeated Tree children = 2; }'
    answer = ask(url, "POST", "/subjects/tree/versions", {"schema": schema, "schemaType": "PROTOBUF"})
    assert answer.status == 200


def test_a_schema_that_refers_to_itself(url: str) -> None:
    reference = {"name": "P", "subject": "circle", "version": 1}
    body = {
        "schema": '{"type":"record","name":"Q","fields":[{"name":"p","type":"P"}]}',
        "references": [reference],
    }
    answer = ask(url, "POST", "/subjects/circle/versions", body)
    assert (answer.status, answer.code) == (422, 42201)
