"""server.properties and overrides: Java's syntax, unknown keys, listeners."""

import pytest

from moldau.core.errors import ConfigError
from moldau.core.settings.listeners import Listener, SecurityProtocol, advertised_endpoints, broker_listeners
from moldau.core.settings.properties import Property, parse_properties
from moldau.core.settings.resolve import BrokerLayers
from moldau.core.settings.static_layer import static_layer

STOCK = r"""
# the shape of the file Apache Kafka 4 ships
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/var/lib/logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""
STOCK_ZOOKEEPER = """
broker.id=0
num.network.threads=3
zookeeper.connect=localhost:2181
zookeeper.connection.timeout.ms=18000
zookeeper.metadata.migration.enable=false
password.encoder.secret=encoder-secret
log.message.downconversion.enable=false
confluent.support.metrics.enable=true
group.initial.rebalance.delay.ms=0
"""


def test_the_stock_files_of_both_ages_start() -> None:
    settings = static_layer(STOCK).settings()
    assert settings.node_id == 1
    assert settings.data_directories == ("/var/lib/logs",)
    assert broker_listeners(settings) == (Listener("PLAINTEXT", SecurityProtocol.PLAINTEXT, "", 9092),)
    assert advertised_endpoints(settings) == {"PLAINTEXT": ("localhost", 9092)}
    older = static_layer(STOCK_ZOOKEEPER).settings()
    assert older.node_id == 0
    assert older.group_initial_rebalance_delay_ms == 0


def test_properties_syntax() -> None:
    text = (
        "a=1\r\n  b : two words \n! comment\n#c=3\nd\te\nlong=x,\\\n   # y,\\\n\tz\n"
        "odd\\ key\\=\\:=v\\t\\u00e9\\\\\nempty\nblank =\n=no name\n"
    )
    assert parse_properties(text) == [
        Property("a", "1", 1),
        Property("b", "two words ", 2),
        Property("d", "e", 5),
        Property("long", "x,# y,z", 6),
        Property("odd key=:", "v\té\\", 9),
        Property("empty", "", 10),
        Property("blank", "", 11),
        Property("", "no name", 12),
    ]


def test_a_file_that_ends_in_a_continuation_and_a_broken_escape() -> None:
    assert parse_properties("a=b\\") == [Property("a", "b", 1)]
    with pytest.raises(ConfigError, match=r"server\.properties, line 2"):
        parse_properties("x=1\na=\\u12", file="server.properties")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (
            "num.partition=3",
            r"server\.properties, line 1: unknown setting num\.partition; did you mean num\.partitions\?",
        ),
        ("retention.ms=3", r"topic setting, .* log\.retention\.ms"),
        ("zzzzzz=3", r"unknown setting zzzzzz; .*--list-settings"),
        ("num.partitions=many", r"line 1: Invalid value many for configuration num\.partitions"),
        ("listener.name.internal.nonsense=1", "unknown setting"),
    ],
)
def test_bad_lines_name_file_line_and_remedy(line: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        static_layer(line)


def test_overrides_win_and_are_checked_alike() -> None:
    layers = static_layer(
        "num.partitions=2\nnum.partitions=3", overrides=["num.partitions = 4", "log.dirs=a=b"]
    )
    settings = layers.settings()
    assert settings.num_partitions == 4
    assert settings.data_directories == ("a=b",)
    for override in ("nonsense", "=3", "num.partitionz=1"):
        with pytest.raises(ConfigError, match="--override"):
            static_layer(overrides=[override])


def test_keys_of_listeners_and_plugins_pass() -> None:
    static_layer(
        "listeners=INTERNAL://:9092\nlistener.security.protocol.map=INTERNAL:PLAINTEXT\n"
        "listener.name.internal.ssl.keystore.location=x\n"
        "listener.name.internal.scram-sha-256.sasl.jaas.config=x\n"
        "rsm.config.anything=x\nssl.keystore.password=\n"
    ).settings()


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("PLAINTEXT://:9092", "", 9092),
        ("plaintext://0.0.0.0:0", "0.0.0.0", 0),
        ("PLAINTEXT://[::1]:9092", "::1", 9092),
        ("PLAINTEXT://my-host.example:19092", "my-host.example", 19092),
    ],
)
def test_listeners_are_read(text: str, host: str, port: int) -> None:
    settings = BrokerLayers({"listeners": text}).settings()
    assert broker_listeners(settings) == (Listener("PLAINTEXT", SecurityProtocol.PLAINTEXT, host, port),)


@pytest.mark.parametrize(
    ("static", "complaint"),
    [
        ({"listeners": "localhost:9092"}, "NAME://host:port"),
        ({"listeners": "PLAINTEXT://:99999"}, "NAME://host:port"),
        ({"listeners": "PLAINTEXT://:1,PLAINTEXT://:2"}, "twice"),
        ({"listeners": "INTERNAL://:9092"}, "add INTERNAL:PLAINTEXT"),
        ({"listeners": ""}, "names no listener"),
        ({"listener.security.protocol.map": "A:B"}, "NAME:PROTOCOL"),
        ({"advertised.listeners": "PLAINTEXT://0.0.0.0:1"}, "not an address a client can connect to"),
        (
            {
                "listeners": "A://:1,B://:1",
                "listener.security.protocol.map": "A:PLAINTEXT,B:PLAINTEXT",
            },
            "both use port 1",
        ),
    ],
)
def test_wrong_listeners_are_refused(static: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        BrokerLayers(static).settings()
