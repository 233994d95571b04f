"""Topic and broker configs: described with their sources, altered bit by bit, in force at once."""

import os
from collections.abc import Callable, Iterator

import pytest

from compat.client import AdminClient, ConfigEntry, Feature, Record
from compat.java_client import JavaClient
from compat.server_process import wait_until
from compat.test_topics import code_of

NewTopic = Callable[..., str]
WEEK_MS = str(7 * 24 * 3_600_000)


def wait_for_value(client: AdminClient, topic: str, key: str, value: str) -> dict[str, ConfigEntry]:
    """Kafka's controller answers before its brokers have the change, so a reader waits for it."""
    wait_until(lambda: client.topic_config(topic)[key].value == value, f"{key} of {topic} is {value}")
    return client.topic_config(topic)


def test_every_key_is_described_with_its_default(admin_client: AdminClient, new_topic: NewTopic) -> None:
    topic = new_topic()
    config = admin_client.topic_config(topic)
    assert (config["retention.ms"].value, config["retention.ms"].source) == (WEEK_MS, "DEFAULT_CONFIG")
    expected = {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "max.message.bytes": "1048588",
        "message.timestamp.type": "CreateTime",
        "min.insync.replicas": "1",
        "segment.bytes": "1073741824",
        "index.interval.bytes": "4096",
        "min.cleanable.dirty.ratio": "0.5",
        "unclean.leader.election.enable": "false",
    }
    assert {key: config[key].value for key in expected} == expected
    assert not any(entry.is_read_only or entry.is_sensitive for entry in config.values())


def test_alter_and_restore(admin_client: AdminClient, new_topic: NewTopic) -> None:
    topic = new_topic(max_message_bytes="2000")
    assert admin_client.topic_config(topic)["max.message.bytes"].source == "DYNAMIC_TOPIC_CONFIG"
    admin_client.alter_topic_config(topic, put={"retention.ms": "60000", "segment.ms": "30000"})
    config = wait_for_value(admin_client, topic, "retention.ms", "60000")
    assert config["retention.ms"].source == "DYNAMIC_TOPIC_CONFIG"
    assert config["segment.ms"].value == "30000"
    assert config["max.message.bytes"].value == "2000"

    admin_client.alter_topic_config(topic, remove=["retention.ms"])
    config = wait_for_value(admin_client, topic, "retention.ms", WEEK_MS)
    assert config["retention.ms"].source == "DEFAULT_CONFIG"
    assert config["segment.ms"].value == "30000"


@pytest.mark.needs(Feature.INCREMENTAL_CONFIGS)
def test_append_and_subtract_of_a_list(admin_client: AdminClient, new_topic: NewTopic) -> None:
    topic = new_topic()
    admin_client.alter_topic_config(topic, append={"cleanup.policy": "compact"})
    wait_for_value(admin_client, topic, "cleanup.policy", "delete,compact")
    admin_client.alter_topic_config(topic, subtract={"cleanup.policy": "delete"})
    wait_for_value(admin_client, topic, "cleanup.policy", "compact")


@pytest.mark.parametrize(
    "change",
    [
        {"put": {"retention.ms": "soon"}},
        {"put": {"no.such.key": "1"}},
        {"put": {"cleanup.policy": "shred"}},
        {"put": {"max.message.bytes": "-1"}},
        {"put": {"compression.type": "rar"}},
        {"put": {"segment.ms": "1000", "min.cleanable.dirty.ratio": "2"}},
    ],
)
def test_refused_changes_change_nothing(
    admin_client: AdminClient, new_topic: NewTopic, change: dict[str, dict[str, str]]
) -> None:
    topic = new_topic()
    before = admin_client.topic_config(topic)
    assert code_of(lambda: admin_client.alter_topic_config(topic, **change)) == "INVALID_CONFIG"  # type: ignore[arg-type]
    assert admin_client.topic_config(topic) == before


@pytest.mark.needs(Feature.INCREMENTAL_CONFIGS)
def test_appending_to_a_number_is_refused(admin_client: AdminClient, new_topic: NewTopic) -> None:
    topic = new_topic()
    before = admin_client.topic_config(topic)
    change = {"retention.ms": "1"}
    assert code_of(lambda: admin_client.alter_topic_config(topic, append=change)) == "INVALID_CONFIG"
    assert admin_client.topic_config(topic) == before


def test_a_change_is_in_force_at_once(admin_client: AdminClient, new_topic: NewTopic) -> None:
    topic = new_topic()
    large = Record(os.urandom(5000))
    admin_client.produce(topic, [large])
    admin_client.alter_topic_config(topic, put={"max.message.bytes": "1000"})
    wait_for_value(admin_client, topic, "max.message.bytes", "1000")
    assert code_of(lambda: admin_client.produce(topic, [large])) == "MESSAGE_TOO_LARGE"
    admin_client.alter_topic_config(topic, remove=["max.message.bytes"])
    wait_for_value(admin_client, topic, "max.message.bytes", "1048588")
    admin_client.produce(topic, [large])


@pytest.fixture
def broker_name(java: JavaClient) -> str:
    return str(java.call("describe_cluster")["nodes"][0]["id"])


def test_broker_configs(java: JavaClient, broker_name: str) -> None:
    config = java.call("describe_configs", type="BROKER", name=broker_name)
    assert config["num.partitions"]["value"] == "1"
    assert config["message.max.bytes"]["value"] == "1048588"
    assert (config["log.dirs"]["source"], config["log.dirs"]["read_only"]) == ("STATIC_BROKER_CONFIG", True)
    assert config["log.retention.ms"]["read_only"] is False


@pytest.fixture
def cluster_wide_retention(java: JavaClient) -> Iterator[str]:
    changes = [("SET", "log.retention.ms", "7200000")]
    java.call("alter_configs", type="BROKER", name="", changes=changes)
    yield "7200000"
    java.call("alter_configs", type="BROKER", name="", changes=[("DELETE", "log.retention.ms", None)])


def test_a_cluster_wide_default_reaches_every_topic(
    java: JavaClient, new_topic: NewTopic, broker_name: str, cluster_wide_retention: str
) -> None:
    topic = new_topic()
    entry = wait_for_value(java, topic, "retention.ms", cluster_wide_retention)["retention.ms"]
    assert entry.source == "DYNAMIC_DEFAULT_BROKER_CONFIG"
    assert entry.synonyms[0] == ("log.retention.ms", cluster_wide_retention, "DYNAMIC_DEFAULT_BROKER_CONFIG")
    broker_entry = java.call("describe_configs", type="BROKER", name=broker_name)["log.retention.ms"]
    assert broker_entry["source"] == "DYNAMIC_DEFAULT_BROKER_CONFIG"

    java.alter_topic_config(topic, put={"retention.ms": "1000000"})
    entry = wait_for_value(java, topic, "retention.ms", "1000000")["retention.ms"]
    assert entry.synonyms[:2] == (
        ("retention.ms", "1000000", "DYNAMIC_TOPIC_CONFIG"),
        ("log.retention.ms", cluster_wide_retention, "DYNAMIC_DEFAULT_BROKER_CONFIG"),
    )


def test_read_only_broker_keys_are_refused(java: JavaClient, broker_name: str) -> None:
    changes = [("SET", "log.dirs", "/elsewhere")]
    refused = code_of(lambda: java.call("alter_configs", type="BROKER", name=broker_name, changes=changes))
    assert refused == "INVALID_REQUEST"
