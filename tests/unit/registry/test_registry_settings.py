"""The registry's settings: Confluent's names, the Kafka client's behind a prefix, errors with their location."""

import pytest

from moldau.core.errors import ConfigError
from moldau.registry.settings import read_configuration


def test_defaults_are_those_of_a_laptop() -> None:
    configuration = read_configuration()
    assert str(configuration.settings.address) == "http://0.0.0.0:8081"
    assert configuration.settings.default_level == "BACKWARD"
    assert configuration.client == {"bootstrap.servers": "localhost:9092"}


def test_a_file_of_confluents_is_read_and_overrides_win() -> None:
    configuration = read_configuration(
        "listeners=http://127.0.0.1:18081\n"
        "kafkastore.bootstrap.servers=PLAINTEXT://a:9092,SASL_SSL://b:9093\n"
        "kafkastore.topic=_schemas\n"
        "kafkastore.security.protocol=SASL_SSL\n"
        "schema.compatibility.level=full\n",
        overrides=["kafkastore.topic=_other"],
    )
    assert str(configuration.settings.address) == "http://127.0.0.1:18081"
    assert configuration.settings.topic == "_other"
    assert configuration.settings.default_level == "FULL"
    assert configuration.client == {"bootstrap.servers": "a:9092,b:9093", "security.protocol": "SASL_SSL"}


def test_the_file_confluents_registry_comes_with_is_taken() -> None:
    configuration = read_configuration(
        "listeners=http://0.0.0.0:8081\n"
        "kafkastore.bootstrap.servers=PLAINTEXT://localhost:9092\n"
        "kafkastore.topic=_schemas\n"
        "kafkastore.write.max.retries=5\n"
        "debug=false\n"
        "metadata.encoder.secret=REPLACE_ME_WITH_HIGH_ENTROPY_STRING\n"
        "resource.extension.class=io.confluent.dekregistry.DekRegistryResourceExtension\n"
        "avro.compatibility.level=full\n"
        "master.eligibility=false\n"
    )
    assert configuration.without_effect == [
        "debug",
        "kafkastore.write.max.retries",
        "metadata.encoder.secret",
        "resource.extension.class",
    ]
    assert configuration.client == {"bootstrap.servers": "localhost:9092"}
    assert configuration.settings.default_level == "FULL" and not configuration.settings.leader_eligibility


@pytest.mark.parametrize(
    "guard",
    [
        "authentication.enable=true",
        "confluent.schema.registry.auth.mechanism=SSL",
    ],
)
def test_a_setting_that_guards_the_registry_is_not_passed_over(guard: str) -> None:
    with pytest.raises(ConfigError, match="unknown setting"):
        read_configuration(guard)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mode.mutable=false", "line 1: unknown setting mode.mutable; did you mean mode.mutability?"),
        ("\nschema.compatibility.level=SOME", "line 2: Invalid value SOME"),
        ("listeners=ftp://a:1", "only http and https"),
        ("listeners=http://a:1,http://b:2", "exactly one address"),
        ("listeners=http://a:x", "is not a valid address"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words.replace("?", r"\?")):
        read_configuration(text)
