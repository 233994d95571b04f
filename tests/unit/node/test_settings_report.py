"""What a broker logs of its settings when it starts."""

from moldau.core.settings.static_layer import static_layer
from moldau.node.settings_report import settings_report

FILE = """
broker.id=3
num.partitions=4
log.retention.hours=168
ssl.keystore.password=secret
listener.name.plaintext.ssl.key.password=secret
listener.name.plaintext.max.connections=5
config.providers.vault.token=secret
"""


def test_what_is_not_default_is_told_and_secrets_are_not() -> None:
    layers = static_layer(FILE)._replace(
        dynamic_default={"num.partitions": "8", "min.insync.replicas": "1"}, dynamic={"log.retention.ms": "5"}
    )
    assert settings_report(layers).split("\n\t") == [
        "settings other than the default:",
        "broker.id = 3",
        "config.providers.vault.token = [hidden]",
        "listener.name.plaintext.max.connections = 5",
        "listener.name.plaintext.ssl.key.password = [hidden]",
        "log.retention.ms = 5 (set for this broker in the cluster)",
        "node.id = 3",
        "num.partitions = 8 (set for all brokers in the cluster)",
        "ssl.keystore.password = [hidden]",
    ]


def test_a_broker_of_nothing_but_defaults_says_so() -> None:
    assert settings_report(static_layer()) == "settings other than the default:\n\tnone"
