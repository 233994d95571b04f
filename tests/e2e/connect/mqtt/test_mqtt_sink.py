"""MqttSink on mosquitto."""

import pytest

from connect_kit import Reports, eventually, sink_record, write
from e2e.connect.mqtt.conftest import Start
from e2e.connect.mqtt.mosquitto import Mosquitto
from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.mqtt.sink import MqttSinkTask
from moldau.pipeline.connect.data.records import SinkRecord


def write_patiently(task: MqttSinkTask, records: list[SinkRecord]) -> None:
    """As a worker does: again while the task asks for it."""

    def is_written() -> bool:
        try:
            write(task, records)
        except RetriableError:
            return False
        return True

    eventually(is_written, "the records are published")


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_records_are_published(server: Mosquitto, start: Start, reports: Reports, qos: int) -> None:
    task = start("sink", mqtt_qos=str(qos))
    with server.client("orders") as peer:
        write(task, [sink_record("orders", number, None, f"order {number}") for number in range(100)])
        eventually(lambda: len(peer.found) >= 100, "the messages")
    assert peer.found == [("orders", f"order {number}".encode(), qos, False) for number in range(100)]
    assert not reports.failed


def test_topics_follow_the_record(server: Mosquitto, start: Start, reports: Reports) -> None:
    task = start("sink", mqtt_topic="orders/${key}/${partition}", mqtt_protocol_version="3.1.1")
    with server.client("orders/#") as peer:
        write(
            task,
            [
                sink_record("any", 0, "prague", "ctc"),
                sink_record("any", 1, b"brno", b"\xff"),
                sink_record("any", 2, 7, ""),
                sink_record("any", 3, "a/#", "no topic"),
                sink_record("any", 4, None, "no key"),
                sink_record("any", 5, "json", {"a": 1}),
            ],
        )
        eventually(lambda: len(peer.found) >= 3, "the messages")
    assert [one[:2] for one in peer.found] == [
        ("orders/prague/0", b"ctc"),
        ("orders/brno/0", b"\xff"),
        ("orders/7/0", b""),
    ]
    assert [one.offset for one, _ in reports.failed] == [3, 4, 5]
    assert all(isinstance(error, ConnectError) for _, error in reports.failed)
    assert "ByteArrayConverter" in str(reports.failed[2][1])


def test_retained_messages_and_tombstones(server: Mosquitto, start: Start) -> None:
    task = start("sink", mqtt_topic="orders/kept/${key}", mqtt_retained_enabled="true")
    write(task, [sink_record("any", 0, "a", "1"), sink_record("any", 1, "b", "2")])
    with server.client("orders/kept/#") as peer:
        eventually(lambda: len(peer.found) >= 2, "what is retained")
        assert sorted(peer.found) == [("orders/kept/a", b"1", 1, True), ("orders/kept/b", b"2", 1, True)]
    write(task, [sink_record("any", 2, "a", None)])
    with server.client("orders/kept/#") as peer:
        peer.publish("orders/kept/end", "")
        eventually(lambda: peer.found and peer.found[-1][0] == "orders/kept/end", "the last message")
        assert [one[0] for one in peer.found] == ["orders/kept/b", "orders/kept/end"]
    write(task, [sink_record("any", 3, "b", None)])


def test_what_the_server_refuses_is_reported(server: Mosquitto, start: Start, reports: Reports) -> None:
    task = start("sink")
    large = "x" * 100_000
    # Some versions of mosquitto close the connection after a refusal.
    write_patiently(
        task,
        [
            sink_record("forbidden", 0, None, "no right"),
            sink_record("orders", 1, None, large),
            sink_record("orders", 2, None, "fine"),
        ],
    )
    refused = {record.offset: str(error) for record, error in reports.failed}
    assert refused.keys() == {0, 1}
    assert "refuses a message to forbidden: Not authorized" in refused[0]
    assert "100000" in refused[1]


def test_the_server_goes_and_comes_back(server: Mosquitto, start: Start) -> None:
    task = start("sink")
    write(task, [sink_record("orders", 0, None, "before")])
    server.stop()
    later = [sink_record("orders", number, None, f"later {number}") for number in range(1, 30)]
    with pytest.raises(RetriableError):
        task.put(later)
    with pytest.raises(RetriableError, match=r"127\.0\.0\.1:\d+ cannot be reached"):
        task.put(later)
    assert server.start()
    with server.client("orders") as peer:
        write_patiently(task, later)
        eventually(lambda: len(peer.found) >= 29, "the messages")
        assert [one[1].decode() for one in peer.found] == [one.value for one in later]


def test_a_wrong_password(start: Start) -> None:
    task = start("sink", mqtt_password="wrong")
    with pytest.raises(ConnectError, match=r"check mqtt\.username"):
        task.put([sink_record("orders", 0, None, "never")])
