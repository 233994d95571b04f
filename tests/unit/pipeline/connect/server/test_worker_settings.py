"""The worker's settings, as files of Kafka Connect have them."""

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.server.settings import read_configuration


def test_a_file_of_kafka() -> None:
    configuration = read_configuration(
        """
        bootstrap.servers=PLAINTEXT://one:9092,two:9092
        group.id=connect-cluster
        key.converter=org.apache.kafka.connect.json.JsonConverter
        value.converter=org.apache.kafka.connect.json.JsonConverter
        key.converter.schemas.enable=true
        value.converter.schemas.enable=false
        offset.storage.topic=connect-offsets
        offset.storage.replication.factor=1
        config.storage.min.insync.replicas=1
        offset.flush.interval.ms=10000
        metadata.max.age.ms=1000
        producer.compression.type=zstd
        """
    )
    assert configuration.bootstrap_servers == "one:9092,two:9092"
    assert configuration.without_effect == ["metadata.max.age.ms"]
    assert configuration.topic_config("config.storage.") == {"min.insync.replicas": "1"}
    assert configuration.task_clients["producer.compression.type"] == "zstd"
    own = {"connector.class": "x", "key.converter": "StringConverter"}
    effective = configuration.connector_config(own)
    # A converter of its own does not inherit the settings of the worker's.
    assert "key.converter.schemas.enable" not in effective
    assert effective["value.converter.schemas.enable"] == "false"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("grup.id=x", "unknown setting grup.id; did you mean group.id?"),
        ("group.id", "does not have the form key=value"),
        ("offset.flush.interval.ms=soon", "offset.flush.interval.ms"),
        ("listeners=ftp://a:1", "only http and https"),
        ("listeners=http://a:1,http://b:2", "exactly one address"),
        ("connector.client.config.override.policy=Most", "connector.client.config.override.policy"),
    ],
)
def test_wrong_settings(override: str, message: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        read_configuration(overrides=[override])
    assert message in str(wrong.value)


def test_the_address_for_other_workers() -> None:
    def advertised(**settings: str) -> str:
        given = [f"{name.replace('_', '.')}={value}" for name, value in settings.items()]
        return read_configuration(overrides=given).advertised(1234)

    assert advertised(listeners="http://127.0.0.1:0") == "127.0.0.1:1234"
    assert advertised(rest_advertised_host_name="me", rest_advertised_port="80") == "me:80"
