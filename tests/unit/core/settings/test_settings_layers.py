"""Layers: which value is in force and where it came from."""

import pytest

from moldau.core.errors import ConfigError
from moldau.core.settings.resolve import BrokerLayers, ConfigSource, Synonym, resolve_topic
from moldau.core.settings.topic_keys import HOUR_MS, MINUTE_MS, TopicSettings


def test_the_most_specific_layer_wins() -> None:
    layers = BrokerLayers(
        {"log.retention.bytes": "1"}, {"log.retention.bytes": "2"}, {"log.retention.bytes": "3"}
    )
    assert layers.settings().log_retention_bytes == 3
    assert layers._replace(dynamic={}).settings().log_retention_bytes == 2
    assert layers.synonyms("log.retention.bytes") == [
        Synonym("log.retention.bytes", "3", ConfigSource.DYNAMIC_BROKER_CONFIG),
        Synonym("log.retention.bytes", "2", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
        Synonym("log.retention.bytes", "1", ConfigSource.STATIC_BROKER_CONFIG),
        Synonym("log.retention.bytes", "-1", ConfigSource.DEFAULT_CONFIG),
    ]


@pytest.mark.parametrize(
    ("static", "retention_ms"),
    [
        ({}, 168 * HOUR_MS),
        ({"log.retention.hours": "1"}, HOUR_MS),
        ({"log.retention.hours": "1", "log.retention.minutes": "2"}, 2 * MINUTE_MS),
        ({"log.retention.hours": "1", "log.retention.minutes": "2", "log.retention.ms": "3"}, 3),
        ({"log.retention.hours": "-1"}, -1),
        ({"log.retention.ms": "-1"}, -1),
    ],
)
def test_a_topic_takes_the_broker_keys_with_their_units(static: dict[str, str], retention_ms: int) -> None:
    broker = BrokerLayers(static).settings()
    assert resolve_topic(broker, {}).retention_ms == retention_ms
    assert resolve_topic(broker, {"retention.ms": "42"}).retention_ms == 42


def test_the_synonyms_of_a_topic_key_are_the_broker_keys_in_force_first() -> None:
    layers = BrokerLayers({"log.retention.hours": "1"}, {"log.retention.ms": "5"})
    found = layers.fallback_synonyms(TopicSettings.KEYS["retention.ms"])
    assert found == [
        Synonym("log.retention.ms", "5", ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
        Synonym("log.retention.hours", "1", ConfigSource.STATIC_BROKER_CONFIG),
        Synonym("log.retention.hours", "168", ConfigSource.DEFAULT_CONFIG),
    ]


def test_unknown_topic_keys_are_refused_with_the_nearest() -> None:
    with pytest.raises(
        ConfigError, match=r"Unknown topic config name: retention\.mss.*did you mean retention\.ms\?"
    ):
        resolve_topic(BrokerLayers().settings(), {"retention.mss": "1"})


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        ({"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "5"}, "min.compaction.lag.ms"),
        ({"remote.storage.enable": "true"}, "Tiered Storage"),
    ],
)
def test_topic_keys_that_clash_are_refused(overrides: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        resolve_topic(BrokerLayers().settings(), overrides)


@pytest.mark.parametrize(
    ("static", "complaint"),
    [
        ({"replica.fetch.wait.max.ms": "60000"}, "replica.lag.time.max.ms"),
        ({"log.cleaner.dedupe.buffer.size": "1000000"}, "log.cleaner.dedupe.buffer.size"),
        ({"node.id": "1", "broker.id": "2"}, "differ"),
        ({"process.roles": "controller"}, "process.roles"),
        ({"log.dirs": "a,,b"}, "log.dirs"),
        ({"log.dirs": "a,a"}, "twice"),
        ({"listeners": "SSL://:9093"}, "ssl.keystore.location"),
        (
            {"listeners": "PLAINTEXT://:9092", "security.inter.broker.protocol": "SSL"},
            "none of the listeners",
        ),
        (
            {"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "SASL_PLAINTEXT"},
            "keep one",
        ),
        (
            {
                "listeners": "SASL_PLAINTEXT://:9092",
                "security.inter.broker.protocol": "SASL_PLAINTEXT",
                "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "PLAIN",
            },
            "sasl.enabled.mechanisms",
        ),
        ({"listener.name.plaintext.max.connections": "many"}, "many"),
        ({"advertised.listeners": "EXTERNAL://h:1"}, "EXTERNAL"),
        ({"inter.broker.listener.name": "INTERNAL"}, "INTERNAL"),
    ],
)
def test_broker_keys_that_clash_are_refused(static: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        BrokerLayers(static).settings()
