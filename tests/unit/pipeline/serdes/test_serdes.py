"""Serdes: bytes as Kafka's serializers write them, and refusals that say why."""

import json
import pickle
import subprocess
import sys
from typing import Any
from urllib.request import urlopen

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.operators.records import Columns
from moldau.pipeline.operators.task import Task
from moldau.pipeline.plan.windows import Windowed
from moldau.pipeline.serdes import BOOLEAN, BYTES, DOUBLE, FLOAT, INT, JSON, LONG, SHORT, STRING, Serde
from moldau.pipeline.serdes.changes import ChangeSerde
from moldau.pipeline.serdes.foreign_key import (
    Answer,
    AnswerSerde,
    Instruction,
    Subscription,
    SubscriptionSerde,
)
from moldau.pipeline.serdes.registry import AvroSerde, JsonSchemaSerde, ProtobufSerde
from moldau.pipeline.serdes.serde import ServiceAway
from moldau.pipeline.serdes.windowed import SessionWindowedSerde, TimeWindowedSerde
from moldau.pipeline.streams import StreamsBuilder
from moldau.testing import LocalCluster

AVRO = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}]}'
JSON_SCHEMA = '{"title": "R", "type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'


def round_trip(serde: Serde, value: Any, topic: str = "t") -> tuple[bytes | None, Any]:
    data = serde.encoder(topic, is_key=False)(value)
    return data, serde.decoder(topic, is_key=False)(data)


@pytest.mark.parametrize(
    ("serde", "value", "expected"),
    [
        (STRING, "Vltava ř", "Vltava ř".encode()),
        (LONG, -2, b"\xff\xff\xff\xff\xff\xff\xff\xfe"),
        (INT, 258, b"\0\0\x01\x02"),
        (SHORT, 258, b"\x01\x02"),
        (DOUBLE, 1.5, b"\x3f\xf8\0\0\0\0\0\0"),
        (FLOAT, 1.5, b"\x3f\xc0\0\0"),
        (BOOLEAN, True, b"\x01"),
        (BYTES, b"\0x", b"\0x"),
        (JSON, {"a": [1, None, "x"]}, b'{"a":[1,null,"x"]}'),
        (TimeWindowedSerde(STRING, 10), Windowed("k", 5, 15), b"k" + b"\0\0\0\0\0\0\0\x05"),
        (
            SessionWindowedSerde(STRING),
            Windowed("k", 5, 9),
            b"k" + b"\0\0\0\0\0\0\0\x09" + b"\0\0\0\0\0\0\0\x05",
        ),
    ],
    ids=lambda one: one.name if isinstance(one, Serde) else "",
)
def test_bytes_are_kafkas(serde: Serde, value: Any, expected: bytes) -> None:
    assert round_trip(serde, value) == (expected, value)
    assert round_trip(serde, None) == (None, None)


@pytest.mark.parametrize("serde", [STRING, LONG, JSON, TimeWindowedSerde(LONG, 5)], ids=lambda one: one.name)
def test_a_serde_travels(serde: Serde) -> None:
    assert pickle.loads(pickle.dumps(serde)) == serde


@pytest.mark.parametrize(
    ("serde", "value"), [(STRING, 5), (LONG, "5"), (INT, 2**40), (BYTES, "x"), (BOOLEAN, 1)]
)
def test_values_that_cannot_be_written(serde: Serde, value: Any) -> None:
    with pytest.raises(TypeError, match=str(value)):
        serde.encoder("t", is_key=False)(value)


@pytest.mark.parametrize(
    ("serde", "data"), [(LONG, b"abc"), (STRING, b"\xff"), (JSON, b"{"), (BOOLEAN, b"\x02")]
)
def test_bytes_that_cannot_be_read(serde: Serde, data: bytes) -> None:
    with pytest.raises(ValueError):
        serde.decoder("t", is_key=False)(data)


def test_what_travels_inside_an_application() -> None:
    assert round_trip(ChangeSerde(LONG), (5, None))[1] == (5, None)
    subscription = Subscription(b"digest", Instruction.ANSWER_IF_FOUND, "k", 3)
    assert round_trip(SubscriptionSerde(STRING), subscription)[1] == subscription
    assert round_trip(AnswerSerde(JSON), Answer(None, {"a": 1}, 0))[1] == Answer(None, {"a": 1}, 0)


@pytest.mark.parametrize(
    "serde", [AvroSerde("mock://avro", AVRO), JsonSchemaSerde("mock://json", JSON_SCHEMA)]
)
def test_schemas_of_the_registry(serde: Serde) -> None:
    data, value = round_trip(serde, {"a": 7}, "topic")
    assert data is not None
    assert (data[:1], value) == (b"\0", {"a": 7})
    assert round_trip(serde, None) == (None, None)


def order_message() -> Any:
    """A message class, as generated code would define it."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(
        name="serdes_order.proto", package="moldau.test", syntax="proto3"
    )
    file.message_type.add(name="Order").field.add(name="total", number=1, type=3, label=1)
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("moldau.test.Order"))


def test_protobuf() -> None:
    message = order_message()
    data, value = round_trip(ProtobufSerde("mock://protobuf", message), message(total=7), "topic")
    assert (data or b"")[:1] == b"\0"
    assert value.total == 7


def test_the_registry_of_a_cluster() -> None:
    """Bytes of each format name a schema that the registry has; a registry that is away is no fault of the record."""
    message = order_message()
    with LocalCluster(registry=True) as cluster:
        url = cluster.registry_url
        for serde, value in (
            (AvroSerde(url, AVRO), {"a": 7}),
            (JsonSchemaSerde(url, JSON_SCHEMA), {"a": 7}),
            (ProtobufSerde(url, message), message(total=7)),
        ):
            data, read = round_trip(serde, value, f"orders-{serde.format}")
            assert read == value
            schema_id = int.from_bytes((data or b"")[1:5])
            with urlopen(f"{url}/schemas/ids/{schema_id}/versions") as answer:
                assert json.load(answer) == [{"subject": f"orders-{serde.format}-value", "version": 1}]
        avro, _ = round_trip(AvroSerde(url, AVRO), {"a": 7}, "orders-avro")
    builder = StreamsBuilder("away", key=STRING)
    builder.stream("in", value=AvroSerde(url, AVRO, **{"max.retries": 0})).to("out")  # type: ignore[arg-type]
    topology = builder.build()
    task = Task(topology, topology.whole, 0, on_error="dead_letter")
    with pytest.raises(ServiceAway, match="schema registry"):
        task.apply([Columns("in", 0, [0], [1], [b"k"], [avro])], 0)


def test_reading_needs_no_schema_and_writing_does() -> None:
    data, _ = round_trip(AvroSerde("mock://avro", AVRO), {"a": 7}, "topic")
    reader = AvroSerde("mock://avro")
    assert reader.decoder("topic", is_key=False)(data) == {"a": 7}
    with pytest.raises(ConfigError, match="has no schema to write with"):
        reader.encoder("topic", is_key=False)({"a": 7})


KEEPS_MANY = """
from pathlib import Path
from moldau.pipeline.serdes import JSON

def resident_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4 // 1024

encode = JSON.encoder("kept", is_key=False)
before = resident_mb()
kept = [encode({"number": number}) for number in range(30_000)]
print(resident_mb() - before)
"""


def test_json_that_is_kept_takes_the_memory_of_its_bytes() -> None:
    """A store of 30,000 short values: about 3 MB, and 120 MB where each keeps the buffer it was written in."""
    done = subprocess.run([sys.executable, "-c", KEEPS_MANY], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 30
