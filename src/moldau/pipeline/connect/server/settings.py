"""The worker's settings, under the names of Kafka Connect: one declaration per key.

Settings of converters and config providers, and those with the prefixes of Kafka's clients and of internal topics, have
names that are not all known in advance.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, class_name, integer, long, short, string, strings
from moldau.pipeline.connect.data.java_clients import librdkafka_settings
from moldau.pipeline.connect.runtime.client_overrides import admin_overrides, overrides
from moldau.pipeline.connect.runtime.secrets import resolve
from moldau.pipeline.connect.runtime.task_settings import (
    ADMIN_OVERRIDE,
    CONSUMER_OVERRIDE,
    PRODUCER_OVERRIDE,
)
from moldau.services.configuration import setting_texts
from moldau.services.listening import Address, parse_listeners, reachable_host
from moldau.services.security.keys import PrefixedHttpSecurity

PORT_DEFAULT: Final = 8083
HIGH: Final = Importance.HIGH
PACKAGE: Final = "org.apache.kafka.connect"
PROVIDERS: Final = "config.providers"
TOPIC_PREFIXES: Final = ("config.storage.", "offset.storage.", "status.storage.")
"""What follows is a setting of the topic, as in KIP-605."""
CONVERTER_PREFIXES: Final = ("key.converter.", "value.converter.", "header.converter.")
CLIENT_PREFIXES: Final = ("security.", "sasl.", "ssl.", "client.")
"""Of properties that go to every Kafka client by their own name."""
ROLE_PREFIXES: Final = {
    "producer.": PRODUCER_OVERRIDE,
    "consumer.": CONSUMER_OVERRIDE,
    "admin.": ADMIN_OVERRIDE,
}
PREFIXES: Final = (f"{PROVIDERS}.", *CONVERTER_PREFIXES, *TOPIC_PREFIXES, *CLIENT_PREFIXES, *ROLE_PREFIXES)
"""Of names that may appear although they are not declared."""
POLICIES: Final = ("All", "None", "Principal")
"""What connectors may set of their Kafka clients."""
WITHOUT_EFFECT: Final = frozenset(
    {
        "admin.listeners",
        "connect.protocol",
        "connections.max.idle.ms",
        "exactly.once.source.support",
        "header.converter.plugin.version",
        "inter.worker.key.generation.algorithm",
        "inter.worker.key.size",
        "inter.worker.key.ttl.ms",
        "inter.worker.signature.algorithm",
        "inter.worker.verification.algorithms",
        "internal.key.converter",
        "internal.value.converter",
        "key.converter.plugin.version",
        "metadata.max.age.ms",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "offset.flush.timeout.ms",
        "offset.storage.file.filename",
        "plugin.discovery",
        "receive.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "response.http.headers.config",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "scheduled.rebalance.max.delay.ms",
        "send.buffer.bytes",
        "socket.connection.setup.timeout.max.ms",
        "socket.connection.setup.timeout.ms",
        "value.converter.plugin.version",
        "worker.sync.timeout.ms",
        "worker.unsync.backoff.ms",
    }
)
"""Settings of Kafka Connect that a file may contain although they have no effect here. Those that restrict access are
not among them: ignoring one would leave open what the file means to close."""


class WorkerSettings(PrefixedHttpSecurity):
    KIND = "Connect worker"

    bootstrap_servers = strings(
        "bootstrap.servers", ("localhost:9092",), "The Kafka cluster the worker works on.", importance=HIGH
    )
    group_id = string(
        "group.id",
        "connect-cluster",
        "Workers with the same group share connectors and tasks. Not the group of any consumer or sink connector.",
        importance=HIGH,
    )
    listeners = strings(
        "listeners",
        (f"http://0.0.0.0:{PORT_DEFAULT}",),
        "Where the REST API listens: one address, `http://host:port` or `https://host:port`.",
        importance=HIGH,
    )
    advertised_host = string(
        "rest.advertised.host.name", None, "The host under which other workers reach this one."
    )
    advertised_port = integer(
        "rest.advertised.port", None, "The port under which other workers reach this one.", at_least=1
    )
    advertised_listener = string(
        "rest.advertised.listener", None, "The protocol of that address.", check=one_of("http")
    )
    config_topic = string(
        "config.storage.topic",
        "connect-configs",
        "The topic with the configurations of connectors and tasks: one partition, compacted.",
        importance=HIGH,
    )
    config_replicas = short(
        "config.storage.replication.factor",
        3,
        "Its replicas; fewer if there are not so many brokers.",
        at_least=-1,
    )
    offset_topic = string(
        "offset.storage.topic",
        "connect-offsets",
        "The topic with the offsets of sources. Workers also share the work by its partitions.",
        importance=HIGH,
    )
    offset_partitions = integer(
        "offset.storage.partitions",
        25,
        "Its partitions when it is created. As many workers can share the work.",
        at_least=-1,
    )
    offset_replicas = short(
        "offset.storage.replication.factor",
        3,
        "Its replicas; fewer if there are not so many brokers.",
        at_least=-1,
    )
    status_topic = string(
        "status.storage.topic",
        "connect-status",
        "The topic with the states of connectors and tasks.",
        importance=HIGH,
    )
    status_partitions = integer(
        "status.storage.partitions", 5, "Its partitions when it is created.", at_least=-1
    )
    status_replicas = short(
        "status.storage.replication.factor",
        3,
        "Its replicas; fewer if there are not so many brokers.",
        at_least=-1,
    )
    key_converter = class_name(
        "key.converter", f"{PACKAGE}.json.JsonConverter", "The converter of keys.", importance=HIGH
    )
    value_converter = class_name(
        "value.converter", f"{PACKAGE}.json.JsonConverter", "The converter of values.", importance=HIGH
    )
    header_converter = class_name(
        "header.converter", f"{PACKAGE}.storage.SimpleHeaderConverter", "The converter of headers."
    )
    providers = strings(
        PROVIDERS, (), "Names of config providers, which put secrets in place of `${name:path:key}`."
    )
    plugin_path = strings(
        "plugin.path",
        (),
        "Folders with connectors of the user, as Python modules. Folders of jars are ignored.",
    )
    disabled_plugins = strings(
        "plugins.disabled",
        (),
        "Connectors that cannot be used, by class or short name: they are not listed, validated, created or run.",
    )
    allowed_paths = strings(
        "connector.allowed.paths",
        ("*",),
        "Folders and files of the worker's machine that connectors may read and write: files, SQLite databases, "
        "certificates and keys. *: everywhere. Empty: nowhere.",
    )
    override_policy = string(
        "connector.client.config.override.policy",
        "All",
        "What connectors may set of their Kafka clients: All, None, or Principal (only sasl.* and security.protocol).",
    )
    session_timeout_ms = integer(
        "session.timeout.ms",
        10_000,
        "How long a worker may be silent before others take over its work.",
        at_least=1_000,
        importance=HIGH,
    )
    heartbeat_interval_ms = integer(
        "heartbeat.interval.ms", 3_000, "How often a worker tells the group it is alive.", at_least=100
    )
    rebalance_timeout_ms = integer(
        "rebalance.timeout.ms",
        60_000,
        "How long a worker may take to end work that another takes over.",
        at_least=1_000,
    )
    graceful_stop_ms = long(
        "task.shutdown.graceful.timeout.ms",
        5_000,
        "How long connectors may take to stop when the worker stops.",
        at_least=0,
    )
    flush_interval_ms = long(
        "offset.flush.interval.ms", 5_000, "How often sink tasks flush and commit their offsets.", at_least=1
    )
    tracks_topics = boolean(
        "topic.tracking.enable", True, "Whether the worker keeps which topics a connector uses."
    )
    resets_topics = boolean("topic.tracking.allow.reset", True, "Whether a request may make it forget them.")
    creates_topics = boolean(
        "topic.creation.enable", True, "Whether `topic.creation.*` of source connectors has an effect."
    )
    cors_origins = string(
        "access.control.allow.origin", "", "Access-Control-Allow-Origin of answers. Empty: none."
    )
    cors_methods = string(
        "access.control.allow.methods", "", "Access-Control-Allow-Methods of answers. Empty: GET, POST, HEAD."
    )
    request_bytes_max = integer(
        "rest.max.request.bytes", 4 << 20, "The largest request body that is accepted.", at_least=1_024
    )
    start_timeout_ms = integer(
        "worker.start.timeout.ms",
        60_000,
        "How long to try to reach Kafka and to read the topics before giving up.",
        at_least=100,
    )
    write_timeout_ms = integer(
        "worker.write.timeout.ms", 30_000, "How long a write to the config topic may take.", at_least=100
    )
    connector_timeout_ms = long(
        "connector.call.timeout.ms",
        120_000,
        "A connector that does not return from a call within this time has failed.",
        at_least=1_000,
    )
    changes_interval_ms = long(
        "connector.changes.interval.ms",
        5_000,
        "How often a connector is asked whether its work should be spread again.",
        at_least=100,
    )
    tasks_limit = integer(
        "tasks.max.limit",
        200,
        "How many tasks a connector may have. Each costs the workers threads, clients of Kafka and memory: tasks.max "
        "above this is refused.",
        at_least=1,
    )
    state_dir = string(
        "state.dir",
        "data/connect",
        "A folder on a local disk for the files of the process that runs the tasks. Workers may share it: each takes a "
        "folder of its own in it.",
        importance=HIGH,
    )
    is_lazy = boolean(
        "spark.lazy",
        True,
        "Start Spark with the first task, not with the worker. Saves memory; the first task waits.",
    )
    spark_master = string("spark.master", "local[*]", "The Spark master that tasks run on.")
    spark_conf = strings("spark.conf", (), "Settings of Spark: key=value, separated by commas.")
    spark_lanes = integer(
        "spark.lanes",
        0,
        "How many of Spark's Python processes tasks are spread over. 0: as many as Spark has cores.",
        at_least=0,
    )

    @property
    def address(self) -> Address:
        return parse_listeners(self.listeners, port_default=PORT_DEFAULT)


class Configuration:
    """The settings, and the properties that go elsewhere. Secrets are resolved."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.providers = {name: text for name, text in texts.items() if name.startswith(PROVIDERS)}
        """What resolves secrets in configurations of connectors."""
        resolved = resolve(texts, self.providers).config
        own = {name: text for name, text in resolved.items() if name in WorkerSettings.KEYS}
        self.settings = WorkerSettings.parse(own)
        self.settings.address  # noqa: B018 Reports an invalid address now, not later.
        if self.override_policy not in POLICIES:
            raise ConfigError(
                f"connector.client.config.override.policy: {self.settings.override_policy} is not known here: set "
                f"{', '.join(POLICIES)}"
            )
        self.without_effect = sorted(WITHOUT_EFFECT & texts.keys())
        self.bootstrap_servers = ",".join(
            server.rpartition("://")[2] for server in self.settings.bootstrap_servers
        )
        plain = {name: text for name, text in resolved.items() if name.startswith(CLIENT_PREFIXES)}
        shared = librdkafka_settings(plain).settings
        roles = {
            new + name.removeprefix(old): text
            for name, text in resolved.items()
            for old, new in ROLE_PREFIXES.items()
            if name.startswith(old)
        }
        self.task_clients: Mapping[str, str] = {**shared, **overrides(roles).clients}
        """Of tasks, with the prefixes `consumer.` and `producer.`."""
        self.client: Mapping[str, str] = {
            "bootstrap.servers": self.bootstrap_servers,
            **shared,
            **admin_overrides(roles),
        }
        """Of the worker itself."""
        self._topic_texts = {
            name: text
            for name, text in resolved.items()
            if name.startswith(TOPIC_PREFIXES) and name not in WorkerSettings.KEYS
        }
        self.converters = {
            name: text
            for name, text in texts.items()
            if name.startswith(CONVERTER_PREFIXES) and name not in WITHOUT_EFFECT
        }

    @property
    def override_policy(self) -> str:
        """One of POLICIES: the class without its package and its suffix."""
        name = self.settings.override_policy.strip().rpartition(".")[2]
        return name.removesuffix("ConnectorClientConfigOverridePolicy")

    def topic_config(self, prefix: str) -> dict[str, str]:
        """Settings of an internal topic: what follows `config.storage.` and is not the worker's own."""
        return {
            name.removeprefix(prefix): text
            for name, text in self._topic_texts.items()
            if name.startswith(prefix)
        }

    def connector_config(self, config: Mapping[str, str]) -> dict[str, str]:
        """With the worker's converters where the connector names none. A converter that the connector names does not
        inherit the worker's settings for another one."""
        found = dict(config)
        settings = self.settings
        for use, default in (
            ("key", settings.key_converter),
            ("value", settings.value_converter),
            ("header", settings.header_converter),
        ):
            if not found.get(f"{use}.converter"):
                prefix = f"{use}.converter."
                found[f"{use}.converter"] = default
                found |= {
                    name: text
                    for name, text in self.converters.items()
                    if name.startswith(prefix) and name not in config
                }
        return found

    def advertised(self, port: int) -> str:
        """`host:port` under which other workers reach this one: its worker id."""
        settings = self.settings
        host = reachable_host(settings.advertised_host or settings.address.host)
        return f"{host}:{settings.advertised_port or port}"


def read_configuration(
    text: str = "", *, file: str = "connect-distributed.properties", overrides: Sequence[str] = ()
) -> Configuration:
    """Raises ConfigError with the file and line, or the override."""
    return Configuration(
        setting_texts(
            WorkerSettings,
            text,
            file=file,
            overrides=overrides,
            command="moldau connect worker",
            prefixes=PREFIXES,
            without_effect=WITHOUT_EFFECT,
            resolved_later="${",
        )
    )


def is_known(name: str) -> bool:
    """Whether a property of this name may be set."""
    return name in WorkerSettings.KEYS or name in WITHOUT_EFFECT or name.startswith(PREFIXES)
