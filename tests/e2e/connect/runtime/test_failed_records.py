"""Records that cannot be processed, on real Spark: dead letters of sinks and sources, and tasks that fail of them."""

import json
from pathlib import Path
from typing import cast

from confluent_kafka import Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from e2e.connect.runtime.driver_kit import Driver, Reader, eventually, file_sink, file_source, plan_of
from e2e.connect.runtime.test_flows import PICKY, lines_of

TOLERANT = {"errors.tolerance": "all", "errors.deadletterqueue.context.headers.enable": "true"}
PREFIX = "__connect.errors."


def told(letter: Message) -> dict[str, str]:
    """The context headers."""
    headers = cast(list[tuple[str, bytes]], letter.headers() or [])
    return {key.removeprefix(PREFIX): value.decode() for key, value in headers if key.startswith(PREFIX)}


def letters_of(servers: str, topic: str, count: int) -> list[Message]:
    reader = Reader(servers, topic)
    found: list[Message] = reader.wait(count)
    reader.close()
    return found


def test_wrong_framing_in_a_sink(
    driver: Driver, servers: str, name: str, producer: Producer, tmp_path: Path
) -> None:
    file, letters = tmp_path / "lines", f"{name}-letters"
    good = json.dumps({"schema": {"type": "string"}, "payload": "good"})
    for value in (good, '{"name": "Franz"}', b"\x00\x00\x00\x00\x07Franz", good):
        producer.produce(name, value, "key", headers=[("own", b"kept")])
    producer.flush()
    config = {"value.converter": "JsonConverter", "errors.deadletterqueue.topic.name": letters}
    plan = file_sink(servers, name, file, name, config={**TOLERANT, **config})
    driver.add(plan)
    found = letters_of(servers, letters, 2)
    eventually(lambda: lines_of(file) == ["good", "good"], "the good records are in the file")
    assert [one.value() for one in found] == [b'{"name": "Franz"}', b"\x00\x00\x00\x00\x07Franz"]
    assert [one.key() for one in found] == [b"key", b"key"]
    assert ("own", b"kept") in (found[0].headers() or [])
    first, second = map(told, found)
    assert first["topic"] == name
    assert (first["partition"], first["offset"]) == ("0", "1")
    assert (first["connector.name"], first["task.id"]) == (name, "0")
    assert first["stage"] == "VALUE_CONVERTER"
    assert first["class.name"] == "org.apache.kafka.connect.json.JsonConverter"
    assert "looks like plain JSON" in first["exception.message"]
    assert "looks like a record with the schema id 7 in front" in second["exception.message"]
    eventually(lambda: driver.task(plan)["failed"] == 2, "the task counts them")
    driver.remove(plan)


def test_a_sink_reports_a_record_and_goes_on(
    driver: Driver, servers: str, name: str, producer: Producer, tmp_path: Path
) -> None:
    file, letters = tmp_path / "lines", f"{name}-letters"
    for value in ("one", "bad", "two"):
        producer.produce(name, value)
    producer.flush()
    config = {
        "topics": name,
        "obstacle": str(tmp_path / "none"),
        "file": str(file),
        "errors.deadletterqueue.topic.name": letters,
        **TOLERANT,
    }
    plan = plan_of(servers, name, "sink", PICKY, config)
    driver.add(plan)
    (letter,) = letters_of(servers, letters, 1)
    assert letter.value() == b"bad"
    assert told(letter)["stage"] == "TASK_PUT"
    assert told(letter)["exception.message"] == "it says bad"
    eventually(lambda: lines_of(file) == ["one", "two"], "the others are in the file")
    driver.remove(plan)


def test_dead_letters_of_a_source(
    driver: Driver, servers: str, name: str, reader: Reader, tmp_path: Path
) -> None:
    file, letters = tmp_path / "lines", f"{name}-letters"
    file.write_text("1\ntwo\n3\n")
    config = {
        "value.converter": "JsonConverter",
        "value.converter.schemas.enable": "false",
        "transforms": "number",
        "transforms.number.type": "org.apache.kafka.connect.transforms.Cast$Value",
        "transforms.number.spec": "int32",
        "errors.deadletterqueue.topic.name": letters,
        **TOLERANT,
    }
    plan = file_source(servers, name, file, name, config=config)
    driver.add(plan)
    assert [one.value() for one in reader.wait(2)] == [b"1", b"3"]
    (letter,) = letters_of(servers, letters, 1)
    assert letter.value() == b"two"
    assert told(letter)["stage"] == "TRANSFORMATION"
    assert told(letter)["class.name"] == "org.apache.kafka.connect.transforms.Cast$Value"
    assert json.loads(told(letter)["partition"]) == {"filename": str(file)}
    driver.remove(plan)


def test_a_record_that_the_broker_refuses(
    driver: Driver, servers: str, name: str, reader: Reader, tmp_path: Path
) -> None:
    file, letters = tmp_path / "lines", f"{name}-letters"
    new = NewTopic(name, 1, 1, config={"max.message.bytes": "5000"})
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([new])[name].result()
    file.write_text(f"small\n{'x' * 20_000}\nalso small\n")
    config = {"errors.deadletterqueue.topic.name": letters, **TOLERANT}
    plan = file_source(servers, name, file, name, config=config)
    driver.add(plan)
    assert [one.value() for one in reader.wait(2)] == [b"small", b"also small"]
    (letter,) = letters_of(servers, letters, 1)
    assert letter.value() == b"x" * 20_000
    assert told(letter)["stage"] == "KAFKA_PRODUCE"
    driver.remove(plan)


def test_without_tolerance_the_task_fails_and_says_which_record(
    driver: Driver, servers: str, name: str, producer: Producer, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    producer.produce(name, "plain text")
    producer.flush()
    strict = {"value.converter": "JsonConverter", "errors.restart.max": "0"}
    plan = file_sink(servers, name, file, name, config=strict)
    driver.add(plan)
    failed = driver.wait_task(plan, "FAILED")
    assert f"the record {name}-0 at offset 0" in failed["error"]
    assert "looks like plain text" in failed["error"]
    assert "Traceback" in failed["trace"]
    assert failed["retry_at_ms"] is None
    # What a user does then: another converter.
    mended = file_sink(servers, name, file, name)
    driver.reload(mended)
    eventually(lambda: lines_of(file) == ["plain text"], "the record is in the file")
    driver.remove(mended)
