"""`moldau produce` and `consume` with the formats of a schema registry, which runs in the test's own process."""

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from e2e.cli.shell import COMMAND_TIMEOUT_S, Shell
from moldau.testing import LocalCluster

ORDER_AVRO = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "note", "type": ["null", "string"], "default": None},
            {
                "name": "price",
                "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2},
            },
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        ],
    }
)
ORDER_PROTO = """
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
message Other { string x = 1; }
message Order {
  int32 id = 1;
  repeated Line lines = 2;
  google.protobuf.Timestamp at = 3;
  message Line { string sku = 1; }
}
"""
ORDER_JSON = json.dumps(
    {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "required": ["id"],
        "additionalProperties": False,
    }
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(registry=True) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[SchemaRegistryClient]:
    with SchemaRegistryClient({"url": cluster.registry_url}) as client:
        yield client


class PatientShell(Shell):
    """Its commands wait as long as it waits for them."""

    def finished(self, *arguments: str, stdin: str | bytes = b"") -> "subprocess.CompletedProcess[str]":
        return super().finished(*arguments, "--timeout", str(COMMAND_TIMEOUT_S), stdin=stdin)


@pytest.fixture
def shell(cluster: LocalCluster) -> Shell:
    shell = PatientShell(cluster.bootstrap_servers)
    shell.environment["MOLDAU_REGISTRY"] = cluster.registry_url
    return shell


def consumed(shell: Shell, topic: str, *options: str) -> list[object]:
    return [json.loads(line) for line in shell.run("consume", topic, "--quiet", *options).splitlines()]


def test_avro_with_a_schema_in_a_file_is_registered_and_read_back(
    shell: Shell, orders: str, tmp_path: Path, client: SchemaRegistryClient
) -> None:
    path = tmp_path / "order.avsc"
    path.write_text(ORDER_AVRO)
    order = {"id": 1, "note": "two", "price": "12.50", "at": "2026-01-31T12:00:00+00:00"}
    tagged = {"id": 2, "note": {"string": "plain or tagged"}, "price": 3, "at": 1769860800000}
    lines = "\n".join(map(json.dumps, (order, tagged)))
    shell.run("produce", orders, "--value-format", "avro", "--value-schema", f"@{path}", stdin=lines)
    assert consumed(shell, orders, "--value-format", "avro") == [
        order,
        {"id": 2, "note": "plain or tagged", "price": "3.00", "at": "2026-01-31T12:00:00+00:00"},
    ]
    assert client.get_latest_version(f"{orders}-value").version == 1


def test_a_schema_by_id_by_subject_and_by_version(
    shell: Shell, orders: str, client: SchemaRegistryClient
) -> None:
    schema_id = client.register_schema("elsewhere", Schema(ORDER_JSON, "JSON"))
    for told in (f"id:{schema_id}", "elsewhere", "elsewhere:1"):
        options = ["--value-format", "json-schema", "--value-schema", told]
        shell.run("produce", orders, *options, "--value", '{"id": 7}')
    assert consumed(shell, orders, "--value-format", "json-schema") == [{"id": 7}] * 3


def test_the_topics_own_subject_is_used_when_no_schema_is_named(
    shell: Shell, orders: str, client: SchemaRegistryClient
) -> None:
    client.register_schema(f"{orders}-key", Schema('"string"', "AVRO"))
    client.register_schema(f"{orders}-value", Schema(ORDER_PROTO, "PROTOBUF"))
    options = ["--key-format", "avro", "--value-format", "protobuf"]
    shell.run("produce", orders, *options, "--key", "k1", "--value", '{"x": "y"}')
    done = shell.run("consume", orders, *options, "--quiet", "--print-key", "--key-separator", " ")
    assert done == '"k1" {"x": "y"}\n'


def test_a_protobuf_message_that_is_not_the_first_of_its_file(
    shell: Shell, orders: str, tmp_path: Path
) -> None:
    path = tmp_path / "order.proto"
    path.write_text(ORDER_PROTO)
    order = {"id": 3, "lines": [{"sku": "a"}, {"sku": "b"}], "at": "2026-01-31T12:00:00Z"}
    options = ["--value-format", "protobuf", "--value-schema"]
    shell.run("produce", orders, *options, f"@{path}#shop.Order", stdin=json.dumps(order))
    shell.run("produce", orders, *options, f"@{path}#shop.Order.Line", stdin='{"sku": "c"}')
    assert consumed(shell, orders, "--value-format", "protobuf") == [order, {"sku": "c"}]
    failed = shell.run("produce", orders, *options, f"@{path}#shop.Nope", stdin="{}", code=2)
    assert "the schema has no message shop.Nope; it has shop.Other, shop.Order" in failed


def test_references_are_followed(shell: Shell, orders: str, client: SchemaRegistryClient) -> None:
    item = '{"type":"record","name":"Item","fields":[{"name":"sku","type":"string"}]}'
    client.register_schema("item", Schema(item, "AVRO"))
    order = '{"type":"record","name":"Order","fields":[{"name":"item","type":"Item"}]}'
    client.register_schema(f"{orders}-value", Schema(order, "AVRO", [SchemaReference("Item", "item", 1)]))
    shell.run("produce", orders, "--value-format", "avro", "--value", '{"item": {"sku": "x"}}')
    assert consumed(shell, orders, "--value-format", "avro") == [{"item": {"sku": "x"}}]


def test_what_serializers_write_the_command_line_reads_and_the_other_way_round(
    shell: Shell, orders: str, client: SchemaRegistryClient, cluster: LocalCluster
) -> None:
    context = SerializationContext(orders, MessageField.VALUE)
    schema = '{"type":"record","name":"R","fields":[{"name":"n","type":"long"}]}'
    framed = AvroSerializer(client, schema)({"n": 5}, context)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce(orders, framed)
    assert producer.flush(60) == 0
    shell.run("produce", orders, "--value-format", "avro", "--value", '{"n": 6}')
    assert consumed(shell, orders, "--value-format", "avro") == [{"n": 5}, {"n": 6}]
    wider = schema.replace("}]}", '},{"name":"m","type":"int","default":9}]}')
    client.register_schema("wider", Schema(wider, "AVRO"))
    as_read = consumed(shell, orders, "--value-format", "avro", "--value-schema", "wider", "-n", "1")
    assert as_read == [{"n": 5, "m": 9}]
    second = json.loads(shell.run("consume", orders, "--offset", "1", "--format", "json", "--quiet"))
    written = second.get("value_base64") or second["value"]
    data = written.encode() if "value" in second else base64.b64decode(written)
    assert AvroDeserializer(client)(data, context) == {"n": 6}


def test_a_record_that_does_not_fit_ends_the_run_after_those_before_it(
    shell: Shell, orders: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.avsc"
    path.write_text('{"type":"record","name":"R","fields":[{"name":"n","type":"int"}]}')
    options = ["--value-format", "avro", "--value-schema", f"@{path}"]
    done = shell.finished("produce", orders, *options, stdin='{"n": 1}\n{"n": "x"}\n{"n": 3}\n')
    assert done.returncode == 1
    assert done.stdout == "1 record acknowledged.\n"
    assert (
        "the value of record 2 cannot be written as avro: n is 'x', but the schema requires int"
        in done.stderr
    )


def test_other_bytes_are_told_for_what_they_look_like(shell: Shell, orders: str) -> None:
    shell.run("produce", orders, stdin='{"a": 1}\nhello\n<a/>\n')
    failed = shell.run("consume", orders, "--value-format", "avro", code=1)
    begin = "the value at offset 0 of partition 0 has no avro frame of a schema registry"
    assert f'{begin}; it looks like plain JSON: {{"a": 1}}.' in failed
    assert "--undecodable skip or raw" in failed
    done = shell.finished("consume", orders, "--value-format", "avro", "--undecodable", "skip")
    assert (done.returncode, done.stdout) == (0, "")
    assert "it looks like plain text: hello." in done.stderr
    assert "it looks like XML or HTML: <a/>." in done.stderr


def test_undecodable_records_are_passed_over_or_shown_as_they_are(
    shell: Shell, orders: str, client: SchemaRegistryClient
) -> None:
    client.register_schema(f"{orders}-value", Schema('"int"', "AVRO"))
    shell.run("produce", orders, "--value", "other")
    shell.run("produce", orders, "--value-format", "avro", "--value", "42")
    options = ["consume", orders, "--value-format", "avro", "--quiet", "--undecodable"]
    assert shell.run(*options, "skip") == "42\n"
    assert shell.run(*options, "raw") == "other\n42\n"


def test_a_frame_with_an_id_nobody_registered_says_so(
    shell: Shell, orders: str, cluster: LocalCluster
) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    producer.produce(orders, b"\x00\x00\x0f\x42\x3f rest")
    assert producer.flush(60) == 0
    failed = shell.run("consume", orders, "--value-format", "avro", code=1)
    assert "get schema 999999" in failed


def test_a_format_that_is_not_the_schemas_is_refused(
    shell: Shell, orders: str, client: SchemaRegistryClient
) -> None:
    client.register_schema(f"{orders}-value", Schema(ORDER_JSON, "JSON"))
    failed = shell.run("produce", orders, "--value-format", "avro", "--value", "{}", code=2)
    assert "is not avro: it is json-schema" in failed
    failed = shell.run("produce", orders, "--value-schema", "id:1", "--value", "{}", code=2)
    assert "--value-schema requires --value-format" in failed


def test_the_profile_names_the_registry(
    shell: Shell, orders: str, cluster: LocalCluster, tmp_path: Path, client: SchemaRegistryClient
) -> None:
    client.register_schema(f"{orders}-value", Schema('"int"', "AVRO"))
    del shell.environment["MOLDAU_REGISTRY"], shell.environment["MOLDAU_BOOTSTRAP_SERVER"]
    shell.environment["XDG_CONFIG_HOME"] = str(tmp_path)
    (tmp_path / "moldau").mkdir()
    (tmp_path / "moldau" / "profiles.toml").write_text(
        f'current = "here"\n[profiles.here]\n"bootstrap.servers" = "{cluster.bootstrap_servers}"\n'
        f'"schema.registry.url" = "{cluster.registry_url}"\n'
    )
    shell.run("produce", orders, "--value-format", "avro", "--value", "5")
    assert consumed(shell, orders, "--value-format", "avro") == [5]
