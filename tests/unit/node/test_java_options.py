"""`KAFKA_OPTS`: the JAAS file becomes settings, and what is wrong with it is said."""

from pathlib import Path

import pytest

from moldau.core.errors import ConfigError
from moldau.core.settings.resolve import BrokerLayers
from moldau.core.settings.static_layer import static_layer
from moldau.node.java_options import with_java_options

BOOK = """
// One keytab for each broker.
KafkaServer {
  com.sun.security.auth.module.Krb5LoginModule required
  useKeyTab=true storeKey=true
  keyTab="/etc/kafka/kafka0.keytab" principal="kafka/kafka0.kia.manning.com@EXAMPLE.COM";
  org.apache.kafka.common.security.scram.ScramLoginModule required username="broker" password="a;b}";
};
/* another listener */
clients.KafkaServer { org.apache.kafka.common.security.plain.PlainLoginModule required user_franz='gregor'; };
Client {
  org.apache.zookeeper.server.auth.DigestLoginModule required username="broker" password="secret";
};
"""
SETTINGS = """
listeners=PLAINTEXT://:9092,SASL_SSL://:9094,CLIENTS://:9095
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_PLAINTEXT,CLIENTS:SASL_PLAINTEXT
zookeeper.connect=localhost:2181
sasl.mechanism.inter.broker.protocol=PLAIN
"""


def layers_with(folder: Path, text: str, *options: str, settings: str = SETTINGS) -> BrokerLayers:
    path = folder / "kafka jaas.conf"
    path.write_text(text)
    words = [f"'-Djava.security.auth.login.config={path}'", "-Dsun.security.krb5.debug=true", *options]
    return with_java_options(static_layer(settings), {"KAFKA_OPTS": " ".join(words)})


def test_the_file_of_the_book_becomes_settings(tmp_path: Path) -> None:
    given = static_layer(SETTINGS).static
    static = layers_with(tmp_path, BOOK).static
    added = {name: text for name, text in static.items() if name not in given}
    scram = 'ScramLoginModule required username= "broker" password= "a;b}" ;'
    assert {name: text.rpartition("security.")[2] for name, text in added.items()} == {
        "listener.name.sasl_ssl.gssapi.sasl.jaas.config": (
            "auth.module.Krb5LoginModule required useKeyTab=true storeKey=true keyTab= "
            '"/etc/kafka/kafka0.keytab" principal= "kafka/kafka0.kia.manning.com@EXAMPLE.COM" ;'
        ),
        "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config": f"scram.{scram}",
        "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": f"scram.{scram}",
        "listener.name.clients.plain.sasl.jaas.config": "plain.PlainLoginModule required user_franz= 'gregor' ;",
        "moldau.zookeeper.sasl.jaas.config": (
            'org.apache.zookeeper.server.auth.DigestLoginModule required username= "broker" password= "secret" ;'
        ),
    }


def test_settings_of_the_broker_win(tmp_path: Path) -> None:
    name = "listener.name.clients.plain.sasl.jaas.config"
    own = "PlainLoginModule required user_a=b;"
    assert layers_with(tmp_path, BOOK, settings=f"{SETTINGS}{name}={own}\n").static[name] == own


def test_the_section_for_zookeeper_may_have_another_name(tmp_path: Path) -> None:
    text = BOOK.replace("Client {", "Other {")
    name = "moldau.zookeeper.sasl.jaas.config"
    assert name not in layers_with(tmp_path, text).static
    assert name in layers_with(tmp_path, text, "-Dzookeeper.sasl.clientconfig=Other").static


def test_without_the_variable_nothing_changes() -> None:
    layers = static_layer(SETTINGS)
    assert with_java_options(layers, {}) is layers
    assert with_java_options(layers, {"KAFKA_OPTS": "-Xmx1g -Da"}) is layers


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("KafkaServer {\n a required b=c; }", "malformed at KafkaServer; a section is of the form"),
        ("KafkaServer a required;", "malformed at KafkaServer"),
        ("KafkaServer { a required };", "malformed at KafkaServer"),
        ('KafkaServer {\n a required b="c;\n};', "line 2: a quote is not closed"),
        ("KafkaServer { a nonsense; };", "second word is not one of"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=f"kafka jaas.conf.*{complaint}"):
        layers_with(tmp_path, text)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    options = {"KAFKA_OPTS": "-Djava.security.auth.login.config=/nowhere/jaas.conf"}
    with pytest.raises(ConfigError, match=r"/nowhere/jaas\.conf, which KAFKA_OPTS names: No such file"):
        with_java_options(static_layer(SETTINGS), options)
    with pytest.raises(ConfigError, match="KAFKA_OPTS cannot be read"):
        with_java_options(static_layer(SETTINGS), {"KAFKA_OPTS": "'-Dx"})
