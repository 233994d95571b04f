"""MQTT without a server: settings, topics, and what an inbox remembers."""

import threading
from pathlib import Path
from typing import Any

import pytest

from connect_kit import eventually, sink_record
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.mqtt.inbox import Inbox, Received
from moldau.pipeline.connect.connectors.mqtt.settings import ConnectionSettings, server_of
from moldau.pipeline.connect.connectors.mqtt.sink import MqttSinkConnector, payload_of, topic_of
from moldau.pipeline.connect.connectors.mqtt.source import DECLARATIONS, MqttSourceConnector, filters_of
from moldau.pipeline.connect.declarations import validate, values_of
from moldau.pipeline.connect.plugins import find_connector

SOURCE = {"name": "gauges", "mqtt.server.uri": "tcp://localhost", "mqtt.topics": "sensors/#"}
SINK = {"name": "gauges", "mqtt.server.uri": "tcp://localhost", "topics": "orders"}


def message(mid: int, *, qos: int = 1, is_duplicate: bool = False) -> Received:
    return Received("sensors", str(mid).encode(), mid, qos, False, is_duplicate)


def settings_of(**settings: str) -> ConnectionSettings:
    given = {**SOURCE, **{name.replace("_", "."): value for name, value in settings.items()}}
    return ConnectionSettings.of(values_of(DECLARATIONS, given, of="MqttSource"), name="gauges", task=1)


def test_connectors_are_found_under_the_well_known_names() -> None:
    assert find_connector("io.confluent.connect.mqtt.MqttSourceConnector").connector is MqttSourceConnector
    assert find_connector("MqttSink").connector is MqttSinkConnector


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("tcp://broker", "tcp://broker:1883"),
        ("mqtt://broker:2000/", "tcp://broker:2000"),
        ("ssl://broker", "ssl://broker:8883"),
        ("mqtts://[::1]:9", "ssl://::1:9"),
    ],
)
def test_servers(uri: str, shown: str) -> None:
    assert str(server_of(uri)) == shown


@pytest.mark.parametrize(
    "uri",
    [
        "broker:1883",
        "http://broker",
        "tcp://",
        "tcp://broker:x",
        "tcp://broker/path",
        "tcp://me:secret@broker",
    ],
)
def test_uris_that_name_no_server(uri: str) -> None:
    with pytest.raises(ConfigError, match=r"mqtt\.server\.uri") as failed:
        server_of(uri)
    assert "secret" not in str(failed.value)


def test_a_session_that_is_kept_has_a_name() -> None:
    assert settings_of().client_id == ""
    assert settings_of(mqtt_clean_session_enabled="false").client_id == "moldau-gauges-1"
    assert settings_of(mqtt_client_id="mine").client_id == "mine-1"
    assert "secret" not in repr(settings_of(mqtt_username="me", mqtt_password="secret"))


def test_files_that_are_not_in_pem(tmp_path: Path) -> None:
    store = tmp_path / "store.jks"
    store.write_bytes(b"\xfe\xed")
    tls = {"mqtt_server_uri": "ssl://localhost"}
    with pytest.raises(ConfigError, match="keytool"):
        settings_of(**tls, mqtt_ssl_trust_store_path=str(store))
    with pytest.raises(ConfigError, match=r"mqtt\.ssl\.key\.store\.path=.*nowhere.*No such file"):
        settings_of(**tls, mqtt_ssl_key_store_path=str(tmp_path / "nowhere"))


@pytest.mark.parametrize("topics", ["a/#/b", "a#", "a/b+", "#/a", "$share/group/a#"])
def test_filters_that_no_server_accepts(topics: str) -> None:
    with pytest.raises(ConfigError, match="whole levels"):
        filters_of([topics])
    (wrong,) = MqttSourceConnector.check({**SOURCE, "mqtt.topics": topics})
    assert wrong.name == "mqtt.topics"


def test_topics_are_spread_over_tasks() -> None:
    def topics(tasks_max: int, text: str) -> list[str]:
        connector = MqttSourceConnector()
        connector.start({**SOURCE, "mqtt.topics": text})
        return [one["mqtt.topics"] for one in connector.task_configs(tasks_max)]

    assert topics(2, "a,b,c,+/#") == ["a,c", "b,+/#"]
    assert topics(5, "a,b") == ["a", "b"]
    assert topics(2, "a,$share/g/b,c") == ["a,$share/g/b", "c,$share/g/b"]


def test_settings_that_do_not_fit_together() -> None:
    (wrong,) = MqttSourceConnector.check({**SOURCE, "mqtt.password": "x"})
    assert wrong.name == "mqtt.password" and "mqtt.username" in wrong.errors[0]
    assert MqttSourceConnector.check({}) == ()
    both = MqttSourceConnector.check({**SOURCE, "mqtt.server.uri": "http://x", "mqtt.topics": "a#"})
    assert [one.name for one in both] == ["mqtt.server.uri", "mqtt.topics"]
    errors = {one.name: one.errors for one in validate(DECLARATIONS, {"mqtt.qos": "3"}) if one.errors}
    assert errors.keys() == {"mqtt.server.uri", "mqtt.topics", "mqtt.qos"}
    (wrong,) = MqttSinkConnector.check({**SINK, "mqtt.topic": "a/${value}"})
    assert wrong.name == "mqtt.topic" and "${key}" in wrong.errors[0]
    (wrong,) = MqttSinkConnector.check({**SINK, "mqtt.topic": "a/#"})
    assert wrong.name == "mqtt.topic"
    assert not MqttSinkConnector.check(SINK)


@pytest.mark.parametrize("key", [None, "", 1.5, {"a": 1}, b"\xff", "a+b", "x" * 70_000])
def test_keys_that_make_no_topic(key: Any) -> None:
    with pytest.raises(ConnectError):
        topic_of("to/${key}", sink_record("orders", 0, key, "value"))


def test_topics_and_payloads_of_records() -> None:
    record = sink_record("orders", 0, 7, "tea")
    assert topic_of("${topic}/${key}/${partition}", record) == "orders/7/0"
    assert payload_of(record) == b"tea"
    with pytest.raises(ConnectError, match="StringConverter"):
        payload_of(sink_record("orders", 0, None, [1]))


def test_a_message_is_acknowledged_when_it_is_written() -> None:
    inbox = Inbox(10)
    inbox.begin_session(is_resumed=False)
    assert not inbox.add(message(1)) and not inbox.add(message(0, qos=0)) and not inbox.add(message(2))
    assert [one.mid for one in inbox.take(2, 0)] == [1, 0]
    assert inbox.next_to_acknowledge() is None
    inbox.committed()
    assert inbox.next_to_acknowledge() == 1 and inbox.next_to_acknowledge() is None


def test_a_message_that_comes_again_is_not_taken_twice() -> None:
    inbox = Inbox(10)
    inbox.begin_session(is_resumed=False)
    inbox.add(message(1))
    inbox.take(1, 0)
    inbox.begin_session(is_resumed=True)
    assert not inbox.add(message(1, is_duplicate=True)) and not inbox.take(1, 0)
    inbox.committed()
    inbox.begin_session(is_resumed=True)
    assert inbox.add(message(1, is_duplicate=True)), "it is written, and only its acknowledgement was lost"
    assert not inbox.take(1, 0)
    # The number is free now.
    assert not inbox.add(message(1)) and len(inbox.take(1, 0)) == 1


def test_a_new_session_counts_again() -> None:
    """What was received in the old one is written, but its numbers mean other messages now."""
    inbox = Inbox(10)
    inbox.begin_session(is_resumed=False)
    inbox.add(message(1))
    assert len(inbox.take(1, 0)) == 1
    inbox.begin_session(is_resumed=False)
    inbox.add(message(1))
    inbox.committed()
    assert inbox.next_to_acknowledge() is None
    assert len(inbox.take(1, 0)) == 1
    inbox.committed()
    assert inbox.next_to_acknowledge() == 1


def test_a_full_inbox_waits() -> None:
    inbox = Inbox(1)
    inbox.begin_session(is_resumed=False)
    inbox.add(message(1))
    second = threading.Thread(target=inbox.add, args=(message(2),))
    second.start()
    assert [one.mid for one in inbox.take(5, 0)] == [1]
    second.join(60)
    assert [one.mid for one in inbox.take(5, 0)] == [2]
    inbox.add(message(3))
    third = threading.Thread(target=inbox.add, args=(message(4),))
    third.start()
    inbox.close()
    eventually(lambda: not third.is_alive(), "a closed inbox lets it go")
    assert [one.mid for one in inbox.take(5, 0)] == [3], "the server sends the last one again"
