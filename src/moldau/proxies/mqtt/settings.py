"""The proxy's settings: one declaration per key.

Keys that begin with `kafka.` go to the Kafka clients without the prefix, for example `kafka.security.protocol`. Rules
have names of their own: `mapping.rules=site`, and `mapping.site.filter`, `mapping.site.topic`, `mapping.site.key`.
"""

from collections.abc import Sequence
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.key import Importance, integer, string, strings
from moldau.proxies.mqtt.mapping.rules import Rule, Rules, rule_of
from moldau.services.configuration import setting_texts
from moldau.services.listening import Address, parse_listeners
from moldau.services.security.keys import PasswordSecurity

PORT_DEFAULT: Final = 1883
TLS_PORT_DEFAULT: Final = 8883
WEBSOCKET_PORT_DEFAULT: Final = 9001
METRICS_PORT_DEFAULT: Final = 9641
CLIENT_PREFIX: Final = "kafka."
RULE_PREFIX: Final = "mapping."
HIGH: Final = Importance.HIGH
LOW: Final = Importance.LOW


class MqttSettings(PasswordSecurity):
    """Of one proxy."""

    KIND = "MQTT proxy"

    bootstrap_servers = strings(
        "bootstrap.servers", ("localhost:9092",), "The Kafka cluster behind the proxy.", importance=HIGH
    )
    listeners = strings(
        "listeners",
        (f"mqtt://0.0.0.0:{PORT_DEFAULT}",),
        "Where the proxy listens: one address, `mqtt://host:port`, or with TLS `mqtts://host:port`.",
        importance=HIGH,
    )
    websocket_listener = string(
        "websocket.listener",
        "",
        "Where the proxy also listens for MQTT over websockets, at the path `/mqtt`: `ws://host:port`, or with TLS "
        "`wss://host:port`. Empty: nowhere.",
    )
    metrics_listener = string(
        "metrics.listener",
        "",
        "Where Prometheus finds figures of the proxy, at the path `/metrics`: `http://host:port`. It has neither TLS "
        "nor logins. Empty: nowhere.",
    )
    proxy_id = string(
        "proxy.id",
        "mqtt",
        "The name under which this proxy keeps its sessions. Proxies that run at the same time need different ones; "
        "one that starts under the name of another takes its sessions over.",
        importance=HIGH,
    )
    default_topic = string(
        "topic.default",
        "mqtt",
        "The Kafka topic of messages that no rule matches. Their MQTT topic is the key.",
        importance=HIGH,
    )
    default_partitions = integer(
        "topic.partitions", 6, "The partitions of Kafka topics that the proxy creates.", at_least=1
    )
    replication_factor = integer(
        "topic.replication.factor",
        3,
        "The replicas of Kafka topics that the proxy creates; fewer if there are not so many brokers.",
        at_least=1,
    )
    state_topic = string(
        "state.topic",
        None,
        "The compacted topic with sessions. Default: `_mqtt-` and the name of the proxy.",
    )
    retained_topic = string(
        "retained.topic",
        "_mqtt_retained",
        "The compacted topic with retained messages. Proxies with the same one share them.",
    )
    mapping_rules = strings(
        "mapping.rules",
        (),
        "Names of rules, in the order in which they are tried. Each has settings of its own: `mapping.NAME.filter`, an "
        "MQTT filter, or `mapping.NAME.match`, a regular expression; `mapping.NAME.topic`, a template; "
        "`mapping.NAME.key`, a template, by default the MQTT topic.",
    )
    connections_max = integer("connections.max", 50_000, "How many clients may be connected.", at_least=1)
    packet_bytes_max = integer(
        "packet.bytes.max", 1_000_000, "The largest packet a client may send.", at_least=1_024
    )
    subscriptions_max = integer(
        "subscriptions.max", 10_000, "How many subscriptions a session may have.", at_least=1
    )
    retained_max = integer("retained.max", 1_000_000, "How many retained messages are kept.", at_least=0)
    receive_max = integer(
        "receive.max",
        1_000,
        "How many messages of one client may be on their way to Kafka before the proxy stops reading from it.",
        at_least=1,
        at_most=65_535,
    )
    inflight_max = integer(
        "inflight.max",
        100,
        "How many messages may be on their way to one client before it acknowledges one.",
        at_least=1,
        at_most=65_535,
    )
    backlog_bytes_max = integer(
        "backlog.bytes.max",
        67_108_864,
        "How many bytes may be on their way to Kafka before the proxy stops reading from all clients.",
        at_least=1_048_576,
    )
    connect_timeout_ms = integer(
        "connect.timeout.ms", 20_000, "How long a client may take to send its CONNECT.", at_least=100
    )
    session_expiry_max_s = integer(
        "session.expiry.max.s",
        604_800,
        "How long sessions are kept at most after their client has gone; a client may ask for less.",
        at_least=1,
    )
    will_restart_grace_ms = integer(
        "will.restart.grace.ms",
        10_000,
        "After a restart of the proxy clients have so long to come back before their wills are published.",
        at_least=0,
    )
    sys_interval_ms = integer(
        "sys.interval.ms",
        10_000,
        "How often `$SYS` topics, figures of the proxy for MQTT clients, are sent to their subscribers when they have "
        "changed. 0: there are none.",
        at_least=0,
    )
    start_timeout_ms = integer(
        "start.timeout.ms", 60_000, "How long to try to reach Kafka before giving up.", at_least=100
    )

    @property
    def address(self) -> Address:
        """Where it listens. Raises ConfigError."""
        is_encrypted = any(one.startswith("mqtts:") for one in self.listeners)
        return parse_listeners(
            self.listeners,
            port_default=TLS_PORT_DEFAULT if is_encrypted else PORT_DEFAULT,
            schemes=("mqtt", "mqtts"),
        )

    @property
    def websocket_address(self) -> Address | None:
        """Where it listens for websockets. Raises ConfigError."""
        if not self.websocket_listener:
            return None
        try:
            return parse_listeners(
                [self.websocket_listener], port_default=WEBSOCKET_PORT_DEFAULT, schemes=("ws", "wss")
            )
        except ConfigError as error:
            raise ConfigError(f"websocket.listener: {error}") from None

    @property
    def metrics_address(self) -> Address | None:
        """Where it listens for Prometheus. Raises ConfigError."""
        if not self.metrics_listener:
            return None
        try:
            return parse_listeners(
                [self.metrics_listener], port_default=METRICS_PORT_DEFAULT, schemes=("http",)
            )
        except ConfigError as error:
            raise ConfigError(f"metrics.listener: {error}") from None

    @property
    def stored_in(self) -> str:
        """The topic with the state."""
        return self.state_topic or f"_mqtt-{self.proxy_id}"


class Configuration:
    """The settings, the rules, and the properties that go to the Kafka clients."""

    def __init__(self, texts: dict[str, str]) -> None:
        own = {name: text for name, text in texts.items() if name in MqttSettings.KEYS}
        self.settings = MqttSettings.parse(own)
        # Reports mistakes now, not later.
        _ = (self.settings.address, self.settings.websocket_address, self.settings.metrics_address)
        self.client = {
            "bootstrap.servers": ",".join(self.settings.bootstrap_servers),
            "socket.keepalive.enable": "true",
        } | {
            name.removeprefix(CLIENT_PREFIX): text
            for name, text in texts.items()
            if name.startswith(CLIENT_PREFIX)
        }
        self.rules = Rules(self._rules(texts), self.settings.default_topic)

    def _rules(self, texts: dict[str, str]) -> list[Rule]:
        found: dict[str, dict[str, str]] = {name: {} for name in self.settings.mapping_rules}
        for name, text in texts.items():
            if name.startswith(RULE_PREFIX) and name not in MqttSettings.KEYS:
                rule, _, setting = name.removeprefix(RULE_PREFIX).rpartition(".")
                if rule not in found:
                    raise ConfigError(
                        f"{name}: there is no rule {rule!r} in mapping.rules; the rules there are tried in their order"
                    )
                found[rule][setting] = text
        return [rule_of(name, settings) for name, settings in found.items()]


def read_configuration(
    text: str = "", *, file: str = "mqtt.properties", overrides: Sequence[str] = ()
) -> Configuration:
    """Raises ConfigError with the file and line, or the override."""
    return Configuration(
        setting_texts(
            MqttSettings,
            text,
            file=file,
            overrides=overrides,
            command="moldau mqtt",
            prefixes=(CLIENT_PREFIX, RULE_PREFIX),
        )
    )
