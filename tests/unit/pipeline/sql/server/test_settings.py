"""The server's settings, under ksqlDB's names."""

import pytest

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.server.settings import is_known, read_configuration

FILE = """
# A file of ksqlDB's
bootstrap.servers=PLAINTEXT://one:9092,two:9092
listeners=http://0.0.0.0:8099
ksql.service.id=shop_
ksql.streams.auto.offset.reset=earliest
ksql.streams.num.stream.threads=2
security.protocol=SASL_SSL
consumer.fetch.min.bytes=10
ksql.schema.registry.basic.auth.user.info=me:secret
ksql.udfs.enabled=true
"""


def test_a_file_of_ksqldb_is_read() -> None:
    found = read_configuration(FILE, overrides=["listeners=http://127.0.0.1:8090"])
    settings = found.settings
    assert str(settings.address) == "http://127.0.0.1:8090"
    assert settings.command_topic == "_confluent-ksql-shop__command_topic"
    assert settings.log_topic == "shop_ksql_processing_log"
    assert found.client["bootstrap.servers"] == "one:9092,two:9092"
    assert found.client["consumer.fetch.min.bytes"] == "10"
    assert "consumer.fetch.min.bytes" not in found.plain_client
    assert found.plain_client["security.protocol"] == "SASL_SSL"
    assert found.query_properties == {"auto.offset.reset": "earliest", "num.stream.threads": "2"}
    assert found.without_effect == ["ksql.udfs.enabled"]
    assert found.effective["ksql.max.push.queries"] == "100"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("authentication.method=DIGEST", r"line 1: .*authentication\.method.*BASIC"),
        (
            "ksql.service.ids=x",
            r"file\.properties, line 1: unknown setting ksql\.service\.ids.*ksql\.service\.id",
        ),
        ("ksql.max.push.queries=many", r"line 1: .*ksql\.max\.push\.queries"),
        ("listeners=ftp://0.0.0.0:1", "only http and https"),
        ("listeners=http://a:1,http://b:2", "exactly one address"),
    ],
)
def test_a_wrong_line_is_named(line: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_configuration(line, file="file.properties")


def test_an_override_needs_a_value() -> None:
    with pytest.raises(ConfigError, match="key=value"):
        read_configuration(overrides=["ksql.service.id"])


def test_known_names() -> None:
    assert is_known("ksql.streams.anything")
    assert is_known("ksql.functions.my.setting")
    assert not is_known("ksql.unheard.of")


def test_an_application_id_fits_into_a_topics_name() -> None:
    settings = read_configuration().settings
    assert settings.application_id("CSAS_A_1") == "_confluent-ksql-default_query_CSAS_A_1"
    long = [settings.application_id(f"CSAS_{'A' * 200}_{number}") for number in (1, 2)]
    assert len(set(long)) == 2
    assert max(map(len, long)) <= 180
