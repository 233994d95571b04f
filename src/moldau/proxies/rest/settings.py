"""The proxy's settings, under the names Confluent's REST Proxy uses: one declaration per key.

Keys with one of the prefixes `client.`, `producer.`, `consumer.` and `admin.` that are not declared here go to the
Kafka clients without the prefix, for example `client.security.protocol` or `producer.linger.ms`. Those that begin with
`schema.registry.` go to the client of the schema registry.
"""

import copy
from collections.abc import Sequence
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.key import Importance, boolean, integer, long, string, strings
from moldau.services.configuration import setting_texts
from moldau.services.listening import Address, parse_listeners
from moldau.services.security.keys import BEARER, HttpSecurity

PORT_DEFAULT: Final = 8082
REGISTRY_PREFIX: Final = "schema.registry."
CLIENT_PREFIXES: Final = ("client.", "producer.", "consumer.", "admin.")
WITHOUT_EFFECT: Final = frozenset(
    {
        "api.v2.enable",
        "api.v3.enable",
        "client.init.timeout.ms",
        "client.zk.session.timeout.ms",
        "confluent.resource.name.authority",
        "consumer.iterator.backoff.ms",
        "consumer.iterator.timeout.ms",
        "debug",
        "fetch.min.bytes",
        "kafka.rest.resource.extension.class",
        "metrics.jmx.prefix",
        "port",
        "producer.threads",
        "streaming.connection.max.duration.ms",
        "use.custom.request.logging",
        "zookeeper.connect",
    }
)
"""Settings of Confluent's REST Proxy that a file may contain although they have no effect here. Security settings are
not among them: ignoring those would leave open what the file means to close."""
HIGH: Final = Importance.HIGH


class RestSettings(HttpSecurity):
    KIND = "REST proxy"

    listeners = strings(
        "listeners",
        (f"http://0.0.0.0:{PORT_DEFAULT}",),
        "Where the proxy listens: one address, `http://host:port` or `https://host:port`.",
        importance=HIGH,
    )
    bootstrap_servers = strings(
        "bootstrap.servers",
        ("localhost:9092",),
        "The Kafka cluster. An address may start with `PLAINTEXT://`.",
        importance=HIGH,
    )
    schema_registry_url = string(
        "schema.registry.url",
        "http://localhost:8081",
        "The schema registry, for records in Avro, JSON Schema and Protobuf.",
        importance=HIGH,
    )
    instance_id = string("id", "", "This instance's part of the names that it gives to consumer instances.")
    host_name = string(
        "host.name",
        None,
        "The name under which clients reach this instance, in the links of answers. With several instances behind a "
        "load balancer each needs its own, because a consumer instance lives in one of them. Default: the Host "
        "header of the request.",
    )
    advertised_listeners = strings(
        "advertised.listeners",
        (),
        "Like host.name, as an address: `http://host:port` or `https://host:port`. Wins over host.name.",
    )
    request_bytes_max = integer(
        "request.max.bytes", 16_777_216, "The largest body that is accepted.", at_least=1_024
    )
    record_bytes_max = integer(
        "stream.record.max.bytes",
        4_194_304,
        "The largest record of a v3 stream of records, as JSON.",
        at_least=1_024,
    )
    request_timeout_ms = integer(
        "request.timeout.ms", 60_000, "How long a client may take to send a body.", at_least=100
    )
    connections_max = integer(
        "connections.max", 10_000, "How many connections are served at a time.", at_least=1
    )
    client_timeout_ms = integer(
        "client.timeout.ms", 30_000, "How long questions to the Kafka cluster may take.", at_least=100
    )
    consumer_request_timeout_ms = integer(
        "consumer.request.timeout.ms",
        1_000,
        "How long a read waits for records if the request does not say.",
        at_least=0,
    )
    consumer_request_timeout_max_ms = integer(
        "consumer.request.timeout.max.ms",
        60_000,
        "The longest wait that a request may ask for. A longer one counts as this.",
        at_least=0,
    )
    consumer_request_bytes_max = long(
        "consumer.request.max.bytes",
        67_108_864,
        "The most bytes of keys and values that one read returns.",
        at_least=1,
    )
    consumer_instance_timeout_ms = integer(
        "consumer.instance.timeout.ms",
        300_000,
        "How long a consumer instance may be idle before it is deleted.",
        at_least=100,
    )
    consumer_instances_max = integer(
        "consumer.instances.max", 200, "How many consumer instances may exist at a time.", at_least=1
    )
    consumer_threads = integer(
        "consumer.threads", 50, "How many reads from Kafka may wait at the same time.", at_least=1
    )
    simple_consumers_max = integer(
        "simpleconsumer.pool.size.max",
        25,
        "How many reads without a consumer instance, and streams of events, may run at the same time.",
        at_least=1,
    )
    login_passthrough = boolean(
        "client.login.passthrough",
        False,
        "Whether every user reaches Kafka with the name and the password of the request, so that the cluster's access "
        "rules hold for the user. client.security.protocol and client.sasl.mechanism say how.",
    )
    registry_passthrough = boolean(
        "schema.registry.login.passthrough",
        False,
        "With client.login.passthrough: whether every user reaches the schema registry, too, with the name and the "
        "password of the request.",
    )
    login_users_max = integer(
        "client.login.users.max",
        100,
        "How many users may have clients of their own at a time, with client.login.passthrough.",
        at_least=1,
    )
    batch_entries_max = integer(
        "produce.batch.maximum.entries", 1_000, "How many records a v3 batch may have.", at_least=1
    )

    @property
    def address(self) -> Address:
        return parse_listeners(self.listeners, port_default=PORT_DEFAULT)

    def own_url(self, port: int) -> str | None:
        """The address that answers name, or None to take it from the request."""
        if self.advertised_listeners:
            return str(
                parse_listeners(self.advertised_listeners, port_default=port, schemes=("http", "https"))
            )
        if self.host_name:
            return str(Address(self.address.scheme, self.host_name, port))
        return None


class Configuration:
    """The settings, and the properties that go to the clients of Kafka and of the registry."""

    def __init__(self, texts: dict[str, str]) -> None:
        own = {name: text for name, text in texts.items() if name in RestSettings.KEYS}
        self.settings = RestSettings.parse(own)
        self.settings.address  # noqa: B018 Reports an invalid address now, not later.
        self.settings.own_url(PORT_DEFAULT)
        mechanism = texts.get("client.sasl.mechanism", texts.get("client.sasl.mechanisms", ""))
        passthrough = self.settings.login_passthrough
        if passthrough and not mechanism.startswith(("PLAIN", "SCRAM")):
            raise ConfigError(
                "client.login.passthrough needs client.sasl.mechanism, which is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512."
            )
        if self.settings.registry_passthrough and not passthrough:
            raise ConfigError(
                "schema.registry.login.passthrough needs client.login.passthrough=true: without it no request has a "
                "name and a password to pass on."
            )
        if passthrough and BEARER in self.settings.security["authentication.method"]:
            raise ConfigError(
                "client.login.passthrough needs a name and a password with every request, and "
                "authentication.method=BEARER takes tokens: leave authentication.method at "
                "NONE, the cluster checks the passwords."
            )
        own_login = {"client.sasl.username", "client.sasl.password"} & texts.keys()
        if passthrough and len(own_login) == 1:
            raise ConfigError(
                f"{own_login.pop()} is set, and the other half of the proxy's own login is not: set both "
                "client.sasl.username and client.sasl.password, or neither."
            )
        self.has_own_login = bool(own_login) or not passthrough
        """Without a login of its own the proxy asks Kafka only in the name of the users of requests."""
        self.without_effect = sorted(WITHOUT_EFFECT & texts.keys())
        extra = {name: text for name, text in texts.items() if name not in own and name not in WITHOUT_EFFECT}
        self._extra = extra
        servers = [server.rpartition("://")[2] for server in self.settings.bootstrap_servers]
        self._common = {
            "bootstrap.servers": ",".join(servers),
            "client.id": "moldau-rest",
            "socket.keepalive.enable": "true",
            **self._without_prefix("client."),
        }
        self.registry = {
            "url": self.settings.schema_registry_url or "",
            **self._without_prefix(REGISTRY_PREFIX),
        }

    def client(self, kind: str) -> dict[str, str]:
        """Properties for a Kafka client; `kind` is producer, consumer or admin."""
        return self._common | self._without_prefix(f"{kind}.")

    def for_user(self, name: str, password: str) -> "Configuration":
        """The same, with the clients of Kafka logged in as that user."""
        found = copy.copy(self)
        found._common = self._common | {"sasl.username": name, "sasl.password": password}
        found.has_own_login = True
        if self.settings.registry_passthrough:
            found.registry = self.registry | {"basic.auth.user.info": f"{name}:{password}"}
        return found

    def _without_prefix(self, prefix: str) -> dict[str, str]:
        return {
            name.removeprefix(prefix): text for name, text in self._extra.items() if name.startswith(prefix)
        }


def read_configuration(
    text: str = "", *, file: str = "kafka-rest.properties", overrides: Sequence[str] = ()
) -> Configuration:
    """Raises ConfigError with the file and line, or the override."""
    texts = setting_texts(
        RestSettings,
        text,
        file=file,
        overrides=overrides,
        command="moldau rest",
        prefixes=(*CLIENT_PREFIXES, REGISTRY_PREFIX),
        without_effect=WITHOUT_EFFECT,
    )
    try:
        return Configuration(texts)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}" if text else str(error)) from None
