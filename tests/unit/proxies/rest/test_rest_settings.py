"""The settings of the REST proxy: Confluent's names, where the rest goes, and what is refused."""

import pytest

from moldau.core.errors import ConfigError
from moldau.proxies.rest.settings import read_configuration

FILE = """
bootstrap.servers=PLAINTEXT://kafka-1:9092,kafka-2:9092
listeners=http://0.0.0.0:9999
schema.registry.url=http://registry:8081
schema.registry.basic.auth.user.info=me:secret
client.security.protocol=SASL_PLAINTEXT
producer.linger.ms=7
consumer.fetch.min.bytes=2
consumer.request.timeout.ms=5000
zookeeper.connect=zk:2181
"""


def test_a_file_of_confluent_is_read() -> None:
    configuration = read_configuration(FILE, overrides=["consumer.threads=3"])
    settings = configuration.settings
    assert str(settings.address) == "http://0.0.0.0:9999"
    assert (settings.consumer_request_timeout_ms, settings.consumer_threads) == (5000, 3)
    common = {"bootstrap.servers": "kafka-1:9092,kafka-2:9092", "security.protocol": "SASL_PLAINTEXT"}
    producer, consumer = configuration.client("producer"), configuration.client("consumer")
    assert common.items() <= producer.items() and common.items() <= consumer.items()
    assert (producer["linger.ms"], consumer["fetch.min.bytes"]) == ("7", "2")
    assert "linger.ms" not in consumer
    assert configuration.registry == {"url": "http://registry:8081", "basic.auth.user.info": "me:secret"}
    assert configuration.without_effect == ["zookeeper.connect"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("consumer.threads=many", "kafka-rest.properties, line 1: Invalid value many"),
        ("listenrs=http://x:1", "unknown setting listenrs; did you mean listeners?"),
        ("listeners=ftp://x:1", "ftp://x:1 is not supported"),
        ("listeners=http://x:y", "not a valid address"),
        ("listeners=http://x:1/path", "has a path"),
        ("listeners=http://x:1,http://y:2", "exactly one address"),
        ("advertised.listeners=tcp://x:1", "tcp://x:1 is not supported"),
        ("client.login.passthrough=true", "client.sasl.mechanism"),
        (
            "client.login.passthrough=true\nclient.sasl.mechanism=PLAIN\nclient.sasl.username=rest",
            "client.sasl.password",
        ),
        (
            "client.login.passthrough=true\nclient.sasl.mechanism=PLAIN\nauthentication.method=BEARER",
            "takes tokens",
        ),
        ("authorization.enabled=true", "with client.login.passthrough=true"),
        ("schema.registry.login.passthrough=true", "needs client.login.passthrough"),
        ("nothing.like.it=1", "`moldau rest --list-settings`"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_configuration(text)
    assert words in str(caught.value)


def test_the_name_in_links() -> None:
    def own_url(*overrides: str) -> str | None:
        return read_configuration(overrides=overrides).settings.own_url(8082)

    assert own_url() is None
    assert own_url("host.name=a.example") == "http://a.example:8082"
    assert own_url("host.name=a", "advertised.listeners=https://b.example:443") == "https://b.example:443"


@pytest.mark.parametrize("passed", [True, False])
def test_the_login_of_a_user_at_the_registry(passed: bool) -> None:
    texts = [
        "client.login.passthrough=true",
        "client.sasl.mechanism=PLAIN",
        "schema.registry.basic.auth.user.info=proxy:own",
        f"schema.registry.login.passthrough={str(passed).lower()}",
    ]
    shared = read_configuration("\n".join(texts))
    own = shared.for_user("alice", "wonder:land").registry
    assert own["basic.auth.user.info"] == ("alice:wonder:land" if passed else "proxy:own")
    assert shared.registry["basic.auth.user.info"] == "proxy:own"
    assert "login.passthrough" not in own
