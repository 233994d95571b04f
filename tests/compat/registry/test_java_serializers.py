"""Confluent's Java serializers: Java reads what Python wrote, and the other way round."""

import base64
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from compat.registry.confluent_jars import SerializersUnavailable, java_command
from compat.registry.conftest import Platform
from compat.registry.messages import PURCHASE, avro_schema, protobuf_class

SOURCE = Path(__file__).parent / "java" / "Serdes.java"
SAID = "apples 2.5"

pytestmark = pytest.mark.java


class JavaSerdes:
    def __init__(self, url: str, log_path: Path) -> None:
        with log_path.open("wb") as log:
            self._process = subprocess.Popen(
                java_command(SOURCE, url), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self._log_path = log_path

    def write(self, kind: str, topic: str, schema: str) -> bytes:
        return base64.b64decode(self._ask(kind, "write", topic, schema.encode()))

    def read(self, kind: str, topic: str, content: bytes) -> str:
        return self._ask(kind, "read", topic, content)

    def _ask(self, kind: str, operation: str, topic: str, argument: bytes) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        line = f"{kind} {operation} {topic} {base64.b64encode(argument).decode()}\n"
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()
        answer = self._process.stdout.readline().decode().rstrip("\n")
        assert answer, self._log_path.read_text()[-4000:]
        assert not answer.startswith("error "), answer
        return answer

    def close(self) -> None:
        self._process.communicate(timeout=60)


@pytest.fixture(scope="session")
def java_serdes(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaSerdes]:
    try:
        serdes = JavaSerdes(platform.url, tmp_path_factory.mktemp("serdes") / "java.log")
    except SerializersUnavailable as reason:
        pytest.skip(str(reason))
    yield serdes
    serdes.close()


def context_of(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def proto_text(name: str) -> str:
    return f'syntax = "proto3";\npackage shop;\n\nmessage {name} {{\n  string item = 1;\n  double amount = 2;\n}}\n'


def test_java_reads_the_avro_python_wrote(
    java_serdes: JavaSerdes, registry: SchemaRegistryClient, name: str
) -> None:
    content = AvroSerializer(registry, avro_schema(name))(PURCHASE, context_of(name))
    assert java_serdes.read("avro", name, content) == SAID


def test_python_reads_the_avro_java_wrote(
    java_serdes: JavaSerdes, registry: SchemaRegistryClient, name: str
) -> None:
    content = java_serdes.write("avro", name, avro_schema(name))
    assert AvroDeserializer(registry)(content, context_of(name)) == PURCHASE
    # One schema, whoever registers it.
    again = AvroSerializer(registry, avro_schema(name))(PURCHASE, context_of(name))
    assert again == content


def test_java_reads_the_protobuf_python_wrote(
    java_serdes: JavaSerdes, registry: SchemaRegistryClient, name: str
) -> None:
    message = protobuf_class(name)
    content = ProtobufSerializer(message, registry)(message(**PURCHASE), context_of(name))
    assert java_serdes.read("protobuf", name, content) == SAID


def test_python_reads_the_protobuf_java_wrote(
    java_serdes: JavaSerdes, registry: SchemaRegistryClient, name: str
) -> None:
    content = java_serdes.write("protobuf", name, proto_text(name))
    message = protobuf_class(name)
    assert ProtobufDeserializer(message, {}, registry)(content, context_of(name)) == message(**PURCHASE)
    again = ProtobufSerializer(message, registry)(message(**PURCHASE), context_of(name))
    assert again == content, "the compiled descriptor Python sends is the text Java sent"
