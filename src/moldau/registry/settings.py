"""The registry's settings, under the names Confluent's registry uses: one declaration per key.

Keys that begin with `kafkastore.` and are not declared here go to the Kafka client without the prefix, for example
`kafkastore.security.protocol` or `kafkastore.sasl.username`.
"""

from collections.abc import Sequence
from typing import Final

from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, integer, string, strings
from moldau.registry.failures import COMPATIBILITY_LEVELS
from moldau.services.configuration import setting_texts
from moldau.services.listening import Address, parse_listeners
from moldau.services.security.keys import GuardedHttpSecurity

CLIENT_PREFIX: Final = "kafkastore."
PORT_DEFAULT: Final = 8081
RENAMED: Final = {
    "avro.compatibility.level": "schema.compatibility.level",
    "master.eligibility": "leader.eligibility",
    "schema.registry.master.eligibility": "leader.eligibility",
}
"""Names that older releases of Confluent's registry used."""
WITHOUT_EFFECT: Final = frozenset(
    {
        "confluent.support.metrics.enable",
        "debug",
        "host.port",
        "inter.instance.headers.whitelist",
        "inter.instance.protocol",
        "kafkagroup.rebalance.timeout.ms",
        "kafkastore.checkpoint.dir",
        "kafkastore.checkpoint.version",
        "kafkastore.connection.url",
        "kafkastore.group.id",
        "kafkastore.init.wait.for.reader",
        "kafkastore.topic.skip.validation",
        "kafkastore.update.handlers",
        "kafkastore.write.max.retries",
        "metadata.encoder.old.secret",
        "metadata.encoder.secret",
        "metadata.encoder.topic",
        "metrics.jmx.prefix",
        "port",
        "resource.extension.class",
        "schema.cache.expiry.secs",
        "schema.canonicalize.on.consume",
        "schema.providers.json.fetch.remote.schemas",
        "schema.registry.inter.instance.protocol",
        "schema.registry.resource.extension.class",
        "size.limit.filter.enabled",
    }
)
"""Settings of Confluent's registry that a file may contain although they have no effect here. Security settings are
not among them: ignoring those would leave open what the file means to close."""
HIGH: Final = Importance.HIGH


class RegistrySettings(GuardedHttpSecurity):
    KIND = "registry"

    listeners = strings(
        "listeners",
        (f"http://0.0.0.0:{PORT_DEFAULT}",),
        "Where the registry listens: one address, `http://host:port` or `https://host:port`.",
        importance=HIGH,
    )
    host_name = string(
        "host.name",
        None,
        "The name under which other instances reach this one, to forward writes. Default: the listener's "
        "host, or this machine's name.",
    )
    bootstrap_servers = strings(
        "kafkastore.bootstrap.servers",
        ("localhost:9092",),
        "The Kafka cluster that stores the schemas. An address may start with `PLAINTEXT://`.",
        importance=HIGH,
    )
    topic = string(
        "kafkastore.topic", "_schemas", "The compacted topic with one partition that stores everything."
    )
    topic_replication_factor = integer(
        "kafkastore.topic.replication.factor",
        3,
        "The replication factor of that topic when it is created; lower if there are fewer brokers.",
        at_least=1,
    )
    message_bytes_max = integer(
        "kafkastore.max.message.bytes",
        1_048_576,
        "The largest record the registry writes, and so the largest schema. Raise the topic's max.message.bytes too.",
        at_least=1_024,
    )
    timeout_ms = integer(
        "kafkastore.timeout.ms",
        10_000,
        "How long a write to the topic may take.",
        at_least=100,
    )
    init_timeout_ms = integer(
        "kafkastore.init.timeout.ms",
        60_000,
        "How long to try to reach Kafka and to read the topic before giving up.",
        at_least=100,
    )
    group_id = string(
        "schema.registry.group.id",
        "schema-registry",
        "Instances with the same group elect one primary. It is also the transactional id that fences a former "
        "primary.",
        importance=HIGH,
    )
    session_timeout_ms = integer(
        "kafkagroup.session.timeout.ms",
        10_000,
        "How long a primary may be silent before another instance replaces it.",
        at_least=1_000,
    )
    heartbeat_interval_ms = integer(
        "kafkagroup.heartbeat.interval.ms",
        3_000,
        "How often an instance sends a heartbeat.",
        at_least=100,
    )
    leader_eligibility = boolean(
        "leader.eligibility", True, "Whether this instance may become the primary.", importance=HIGH
    )
    leader_read_timeout_ms = integer(
        "leader.read.timeout.ms",
        60_000,
        "How long a forwarded write may take, including the election of a new primary.",
        at_least=100,
    )
    compatibility_level = string(
        "schema.compatibility.level",
        "BACKWARD",
        "The compatibility level of subjects without a configuration of their own.",
        check=one_of(*COMPATIBILITY_LEVELS, ignore_case=True),
        importance=HIGH,
    )
    validate_fields = boolean(
        "schema.validate.fields",
        False,
        "Whether field names are checked against the reserved ones, unless a configuration says otherwise.",
    )
    validate_new_schemas = boolean(
        "schema.validate.new.schemas",
        True,
        "Whether Avro's names and defaults are checked in new schemas, unless a configuration says otherwise.",
    )
    schema_search_default_limit = integer(
        "schema.search.default.limit", 1_000, "How many schemas a search returns.", at_least=1
    )
    schema_search_max_limit = integer(
        "schema.search.max.limit", 1_000, "The largest limit a search may ask for.", at_least=1
    )
    mode_mutability = boolean("mode.mutability", True, "Whether modes may be changed.")
    schema_cache_size = integer("schema.cache.size", 1_000, "How many parsed schemas are cached.", at_least=1)
    request_bytes_max = integer(
        "size.limit.filter.max.request.body.size",
        16_777_216,
        "The largest request body that is accepted.",
        at_least=1_024,
    )

    @property
    def address(self) -> Address:
        return parse_listeners(self.listeners, port_default=PORT_DEFAULT)

    @property
    def default_level(self) -> str:
        return self.compatibility_level.upper()


class Configuration:
    """The settings, and the properties that go to the Kafka client."""

    def __init__(self, texts: dict[str, str]) -> None:
        own = {name: text for name, text in texts.items() if name in RegistrySettings.KEYS}
        self.settings = RegistrySettings.parse(own)
        self.settings.address  # noqa: B018 Reports an invalid address now, not later.
        servers = ",".join(_without_protocol(server) for server in self.settings.bootstrap_servers)
        self.without_effect = sorted(WITHOUT_EFFECT & texts.keys())
        extra = {name: text for name, text in texts.items() if name not in own and name not in WITHOUT_EFFECT}
        self.client = {"bootstrap.servers": servers} | {
            name.removeprefix(CLIENT_PREFIX): text for name, text in extra.items()
        }


def read_configuration(
    text: str = "", *, file: str = "schema-registry.properties", overrides: Sequence[str] = ()
) -> Configuration:
    """Raises ConfigError with the file and line, or the override."""
    return Configuration(
        setting_texts(
            RegistrySettings,
            text,
            file=file,
            overrides=overrides,
            command="moldau registry",
            prefixes=(CLIENT_PREFIX,),
            without_effect=WITHOUT_EFFECT,
            renamed=RENAMED,
        )
    )


def _without_protocol(server: str) -> str:
    return server.rpartition("://")[2]
