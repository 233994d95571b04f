"""MqttSource on mosquitto."""

import re
from typing import Any

import pytest

from connect_kit import StoredOffsets, eventually, read
from e2e.connect.mqtt.conftest import Start
from e2e.connect.mqtt.mosquitto import Mosquitto
from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.mqtt.source import MqttSourceTask
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.data.validation import check

KEPT = {"mqtt_clean_session_enabled": "false", "mqtt_qos": "1"}


def subscribed(task: MqttSourceTask) -> MqttSourceTask:
    eventually(lambda: not task.poll() and task._connection.is_open, "the task has subscribed")
    return task


def payloads(records: list[SourceRecord]) -> list[str]:
    return [one.value.decode() for one in records]


def polled(task: MqttSourceTask, count: int) -> list[SourceRecord]:
    """As many records, not committed."""
    found: list[SourceRecord] = []

    def are_there() -> bool:
        found.extend(task.poll())
        return len(found) >= count

    eventually(are_there, f"{count} records")
    return found


def until_back(task: MqttSourceTask) -> None:
    """As a worker does: polls again while the task asks for it."""

    def is_back() -> bool:
        try:
            task.poll()
        except RetriableError:
            return False
        return task._connection.is_open

    eventually(is_back, "the task is connected again")


@pytest.mark.parametrize("version", ["5", "3.1.1"])
def test_messages_become_records(server: Mosquitto, start: Start, version: str) -> None:
    topics = "sensors/+/temperature,sensors/deep/#"
    task = subscribed(
        start(
            "source",
            mqtt_topics=topics,
            kafka_topic="gauges",
            mqtt_qos="2",
            mqtt_protocol_version=version,
        )
    )
    with server.client() as peer:
        peer.publish("sensors/one/temperature", "21.5", 0)
        peer.publish("sensors/one/pressure", "not subscribed to")
        peer.publish("sensors/deep/er/and/deeper", b"\x00\xff", 2)
    first, second = read(task, StoredOffsets(), 2)
    for record in (first, second):
        assert record.topic == "gauges" and record.source_partition is None
        assert record.value_schema is not None and record.key_schema is not None
        check(record.value_schema, record.value)
        check(record.key_schema, record.key)
        for one in record.headers:
            assert one.schema is not None
            check(one.schema, one.value)
    assert (first.key, first.value) == ("sensors/one/temperature", b"21.5")
    assert (second.key, second.value) == ("sensors/deep/er/and/deeper", b"\x00\xff")
    headers = {one.key: one.value for one in second.headers}
    assert headers["mqtt.topic"] == second.key and headers["mqtt.qos"] == 1
    assert headers["mqtt.retained"] is False and headers["mqtt.duplicate"] is False
    assert {one.key: one.value for one in first.headers}["mqtt.qos"] == 0


def test_retained_messages_come_once_in_a_session(server: Mosquitto, start: Start) -> None:
    with server.client() as peer:
        peer.publish("sensors/retained", "kept", retain=True)
        task = start("source", mqtt_topics="sensors/retained", **KEPT)
        (record,) = read(task, StoredOffsets(), 1)
        assert {one.key: one.value for one in record.headers}["mqtt.retained"] is True
        task.stop()
        again = subscribed(start("source", mqtt_topics="sensors/retained", **KEPT))
        peer.publish("sensors/retained", "next")
        assert payloads(read(again, StoredOffsets(), 1)) == ["next"]
        peer.publish("sensors/retained", "", retain=True)


def test_what_is_not_committed_comes_again(server: Mosquitto, start: Start) -> None:
    """The task dies after it has handed out records; the next one gets them, and those of the time between."""
    settings = {"mqtt_topics": "sensors/crash", **KEPT}
    task = subscribed(start("source", **settings))
    with server.client() as peer:
        peer.publish_all("sensors/crash", ["1", "2"])
        assert payloads(read(task, StoredOffsets(), 2)) == ["1", "2"]
        peer.publish_all("sensors/crash", ["3", "4"])
        assert payloads(polled(task, 2)) == ["3", "4"]
        task.stop()
        peer.publish_all("sensors/crash", ["5"])
    second = start("source", **settings)
    found = read(second, StoredOffsets(), 3)
    assert payloads(found) == ["3", "4", "5"]
    assert [{one.key: one.value for one in each.headers}["mqtt.duplicate"] for each in found] == [
        True,
        True,
        False,
    ]
    second.stop()
    assert not subscribed(start("source", **settings)).poll()


def test_a_topic_that_is_not_configured_any_more_is_skipped(server: Mosquitto, start: Start) -> None:
    subscribed(start("source", mqtt_topics="sensors/old", **KEPT)).stop()
    task = subscribed(start("source", mqtt_topics="sensors/new", **KEPT))
    with server.client() as peer:
        peer.publish_all("sensors/old", ["old"])
        peer.publish_all("sensors/new", ["new"])
    assert payloads(read(task, StoredOffsets(), 1)) == ["new"]


def test_the_server_goes_and_comes_back(server: Mosquitto, start: Start) -> None:
    """Records that were handed out before are committed after: nothing is lost, and nothing comes twice."""
    task = subscribed(start("source", mqtt_topics="sensors/away", **KEPT))
    with server.client() as peer:
        peer.publish_all("sensors/away", ["1", "2"])
    before = polled(task, 2)
    server.stop()

    def has_noticed() -> Any:
        try:
            return task.poll() and None
        except RetriableError as failure:
            return str(failure)

    assert re.search(r"127\.0\.0\.1:\d+ cannot be reached", eventually(has_noticed, "the task sees it"))
    task.committed()
    assert server.start()
    until_back(task)
    with server.client() as peer:
        peer.publish_all("sensors/away", ["3"])
    assert payloads([*before, *read(task, StoredOffsets(), 1)]) == ["1", "2", "3"]


def test_many_messages_are_under_way_at_once(server: Mosquitto, start: Start) -> None:
    """Without acknowledgements: mosquitto's own limit of 20 does not hold for the connector."""
    task = subscribed(start("source", mqtt_topics="sensors/many", mqtt_qos="1"))
    with server.client() as peer:
        peer.publish_all("sensors/many", [str(number) for number in range(1000)])
    assert payloads(polled(task, 1000)) == [str(number) for number in range(1000)]


def test_a_full_buffer_makes_the_server_wait(server: Mosquitto, start: Start) -> None:
    task = subscribed(
        start("source", mqtt_topics="sensors/full", mqtt_qos="0", records_buffer_queue_size="10")
    )
    with server.client() as peer:
        peer.publish_all("sensors/full", [str(number) for number in range(50)])
    assert len(task._inbox._waiting) <= 10
    assert payloads(read(task, StoredOffsets(), 50)) == [str(number) for number in range(50)]


def test_tasks_share_a_topic(server: Mosquitto, start: Start) -> None:
    settings = {"mqtt_topics": "$share/group/sensors/shared", "mqtt_qos": "1", "tasks_max": 2}
    tasks = [subscribed(start("source", task, **settings)) for task in range(2)]
    with server.client() as peer:
        peer.publish_all("sensors/shared", [str(number) for number in range(20)])
    found: list[list[SourceRecord]] = [[], []]

    def are_there() -> bool:
        for mine, task in zip(found, tasks, strict=True):
            mine += task.poll()
        return sum(map(len, found)) >= 20

    eventually(are_there, "all messages")
    assert sorted(payloads([*found[0], *found[1]]), key=int) == [str(number) for number in range(20)]
    assert all(found)


@pytest.mark.filterwarnings(
    # paho leaves the socket of a failed handshake to the garbage collector.
    "ignore:Exception ignored in. <ssl.SSLSocket:pytest.PytestUnraisableExceptionWarning"
)
def test_tls(server: Mosquitto, start: Start) -> None:
    settings = {"mqtt_server_uri": f"ssl://127.0.0.1:{server.tls_port}", "mqtt_topics": "sensors/tls"}
    with pytest.raises(ConnectError, match=r"not trusted: .*mqtt\.ssl\.trust\.store\.path"):
        start("source", **settings).poll()
    task = subscribed(start("source", **settings, mqtt_ssl_trust_store_path=str(server.certificate)))
    with server.client() as peer:
        peer.publish("sensors/tls", "secret")
    assert payloads(read(task, StoredOffsets(), 1)) == ["secret"]
    plain = start("source", mqtt_server_uri=f"ssl://127.0.0.1:{server.port}", mqtt_topics="sensors/tls")
    with pytest.raises(RetriableError, match="perhaps this port does not speak TLS"):
        plain.poll()


def test_refusals_say_what_to_do(server: Mosquitto, start: Start) -> None:
    for version in ("5", "3.1.1"):
        with pytest.raises(
            ConnectError, match=r"does not let the connector in.*check mqtt\.username"
        ) as failed:
            start(
                "source", mqtt_topics="sensors/#", mqtt_password="wrong", mqtt_protocol_version=version
            ).poll()
        assert not isinstance(failed.value, RetriableError) and "wrong" not in str(failed.value)
    nowhere = start("source", mqtt_topics="sensors/#", mqtt_server_uri="tcp://127.0.0.1:1")
    with pytest.raises(RetriableError, match=r"tcp://127\.0\.0\.1:1 cannot be reached"):
        nowhere.poll()


def test_the_second_server_of_the_list(server: Mosquitto, start: Start) -> None:
    uris = f"tcp://127.0.0.1:1,{server.config['mqtt.server.uri']}"
    subscribed(start("source", mqtt_topics="sensors/#", mqtt_server_uri=uris))
