"""Our declarations compared with Kafka's own: every public key, its type, default and when it may change."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kafka_jars import KafkaJarsUnavailable, kafka_jars
from moldau.core.settings.broker_keys import BrokerSettings
from moldau.core.settings.key import Scope
from moldau.core.settings.resource_keys import ClientMetricsSettings, GroupSettings
from moldau.core.settings.text_form import format_value
from moldau.core.settings.topic_keys import TopicSettings

pytestmark = [pytest.mark.java, pytest.mark.slow]

PRINT_KEYS = """
import kafka.server.DynamicBrokerConfig$;
import org.apache.kafka.common.config.ConfigDef;
public class PrintKeys {
    static void print(String kind, ConfigDef definition) {
        definition.configKeys().values().forEach(key -> {
            if (key.internalConfig) return;
            Object value = key.defaultValue == ConfigDef.NO_DEFAULT_VALUE ? null : key.defaultValue;
            String text = value == null ? "null" : "=" + ConfigDef.convertToString(value, key.type);
            String mode = !kind.equals("broker") ? kind
                : DynamicBrokerConfig$.MODULE$.dynamicConfigUpdateModes().getOrDefault(key.name, "read-only");
            System.out.println(String.join("\\t", kind, key.name, key.type.name(), text, mode));
        });
    }
    public static void main(String[] args) {
        print("broker", org.apache.kafka.server.config.AbstractKafkaConfig.CONFIG_DEF);
        print("topic", org.apache.kafka.storage.internals.log.LogConfig.configDefCopy());
        print("group", org.apache.kafka.coordinator.group.GroupConfig.configDef());
        print("client metrics", org.apache.kafka.server.metrics.ClientMetricsConfigs.configDef());
    }
}
"""
VIEWS = {view.KIND: view for view in (BrokerSettings, TopicSettings, GroupSettings, ClientMetricsSettings)}
OTHER_DEFAULT = {
    "node.id": "Kafka wants it said; a broker on its own needs no number given",
    "process.roles": "the only role there is",
    "controller.listener.names": "there are no controller listeners",
}
FIXED_HERE = {"listeners", "listener.security.protocol.map"}
"""Kafka opens and closes listeners while it runs; here a restart does."""


@pytest.fixture(scope="module")
def kafka_keys(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    java = shutil.which("java")
    if java is None:
        pytest.skip("java is not installed")
    try:
        jars = kafka_jars()
    except KafkaJarsUnavailable as reason:
        pytest.skip(str(reason))
    source: Path = tmp_path_factory.mktemp("java") / "PrintKeys.java"
    source.write_text(PRINT_KEYS)
    command = [java, "-XX:TieredStopAtLevel=1", "-cp", ":".join(map(str, jars)), str(source)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in printed.splitlines()]


def test_every_key_of_kafka_is_known_with_its_type_and_default(kafka_keys: list[list[str]]) -> None:
    assert len(kafka_keys) > 350
    differences = []
    for kind, name, type_name, default, _ in kafka_keys:
        key = VIEWS[kind].KEYS.get(name)
        if key is None:
            differences.append(f"{kind} key {name} is missing")
            continue
        text = format_value(key.default)
        ours = (key.type.name, "null" if text is None else f"={text}")
        if ours != (type_name, default) and name not in OTHER_DEFAULT:
            differences.append(f"{kind} key {name}: {type_name} {default} there, {ours[0]} {ours[1]} here")
    assert differences == []


def test_every_key_changes_when_it_does_in_kafka(kafka_keys: list[list[str]]) -> None:
    differences = [
        f"{name}: {mode} there, {BrokerSettings.KEYS[name].scope.value} here"
        for kind, name, _, _, mode in kafka_keys
        if kind == "broker" and name not in FIXED_HERE and Scope(mode) is not BrokerSettings.KEYS[name].scope
    ]
    assert differences == []
