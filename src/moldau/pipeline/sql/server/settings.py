"""The server's settings, under the names ksqlDB uses: one declaration per key.

Keys that begin with `ksql.streams.` and are not declared here become properties of every query. Keys of Kafka's
clients, such as `security.protocol` or `sasl.username`, go to the Kafka client.
"""

from collections.abc import Mapping, Sequence
from typing import Final
from zlib import crc32

from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, integer, password, string, strings
from moldau.pipeline.sql.engine.protected_topics import (
    HIDDEN_TOPICS,
    PATTERNS,
    PLATFORM_TOPICS,
    READONLY_TOPICS,
)
from moldau.services.configuration import setting_texts
from moldau.services.listening import Address, parse_listeners
from moldau.services.security.keys import GuardedHttpSecurity

PORT_DEFAULT: Final = 8088
APPLICATION_ID_MAX: Final = 180
"""Leaves room for the names of stores in the names of internal topics."""
STREAMS_PREFIX: Final = "ksql.streams."
CLIENT_PREFIXES: Final = ("security.", "sasl.", "ssl.", "consumer.", "producer.", "client.")
"""Of properties that go to the Kafka client by their own name."""
PASSED_ON: Final = ("ksql.functions.", "ksql.schema.registry.", "ksql.connect.", "ksql.properties.")
"""Prefixes of properties whose names are not all known in advance."""
PREFIXES: Final = (STREAMS_PREFIX, *PASSED_ON, *CLIENT_PREFIXES)
"""Of names that may appear although they are not declared."""
WITHOUT_EFFECT: Final = frozenset(
    {
        "auto.offset.reset",
        "compression.type",
        "confluent.support.metrics.enable",
        "ksql.access.validator.enable",
        "ksql.authorization.cache.expiry.time.secs",
        "ksql.authorization.cache.max.entries",
        "ksql.cast.strings.preserve.nulls",
        "ksql.fail.on.production.error",
        "ksql.headers.columns.enabled",
        "ksql.lambdas.enabled",
        "ksql.metrics.extension",
        "ksql.metrics.tags.custom",
        "ksql.nested.error.set.null",
        "ksql.output.topic.name.prefix",
        "ksql.pull.queries.enable",
        "ksql.query.error.max.queue.size",
        "ksql.query.persistent.max.bytes.buffering.total",
        "ksql.query.pull.consistency.token.enabled",
        "ksql.query.pull.interpreter.enabled",
        "ksql.query.pull.limit.clause.enabled",
        "ksql.query.pull.metrics.enabled",
        "ksql.query.pull.range.scan.enabled",
        "ksql.query.pull.router.thread.pool.size",
        "ksql.query.pull.stream.enabled",
        "ksql.query.pull.thread.pool.size",
        "ksql.query.push.v2.enabled",
        "ksql.query.push.v2.interpreter.enabled",
        "ksql.query.push.v2.registry.installed",
        "ksql.query.retry.backoff.initial.ms",
        "ksql.query.retry.backoff.max.ms",
        "ksql.query.status.running.threshold.seconds",
        "ksql.query.transient.max.bytes.buffering.total",
        "ksql.rowpartition.rowoffset.enabled",
        "ksql.runtime.feature.shared.enabled",
        "ksql.security.extension.class",
        "ksql.server.install.dir",
        "ksql.server.preconditions",
        "ksql.server.static.queries",
        "ksql.server.websockets.num.threads",
        "ksql.shared.runtimes.count",
        "ksql.sink.window.change.log.additional.retention",
        "ksql.source.table.materialization.enabled",
        "ksql.suppress.buffer.size.bytes",
        "ksql.suppress.enabled",
        "ksql.timestamp.throw.on.invalid",
        "ksql.transient.prefix",
        "ksql.udf.collect.metrics",
        "ksql.udf.enable.security.manager",
        "ksql.udfs.enabled",
        "ksql.verticle.instances",
        "ksql.websocket.connection.max.timeout.ms",
        "ksql.worker.pool.size",
        "metric.reporters",
        "response.http.headers.config",
        "ui.enabled",
    }
)
"""Settings of ksqlDB that a file may contain although they have no effect here. Authentication is not among them:
ignoring it would leave open what the file means to close."""
HIGH: Final = Importance.HIGH


class ServerSettings(GuardedHttpSecurity):
    KIND = "SQL server"

    bootstrap_servers = strings(
        "bootstrap.servers", ("localhost:9092",), "The Kafka cluster the server works on.", importance=HIGH
    )
    listeners = strings(
        "listeners",
        (f"http://0.0.0.0:{PORT_DEFAULT}",),
        "Where the server listens: one address, `http://host:port` or `https://host:port`. HTTP/1.1, HTTP/2 and "
        "websockets.",
        importance=HIGH,
    )
    advertised_listener = string(
        "ksql.advertised.listener",
        None,
        "The address under which other servers reach this one. Default: the listener, with this machine's name.",
    )
    service_id = string(
        "ksql.service.id",
        "default_",
        "Servers with the same service id share one command topic and its queries. Prefix of internal topics.",
        importance=HIGH,
    )
    persistent_prefix = string(
        "ksql.persistent.prefix", "query_", "What precedes a query's id in its application id."
    )
    topic_replicas = integer(
        "ksql.internal.topic.replicas",
        1,
        "The replication factor of the command topic and the processing log.",
        at_least=1,
    )
    topic_min_insync_replicas = integer(
        "ksql.internal.topic.min.insync.replicas", 1, "min.insync.replicas of the command topic.", at_least=1
    )
    key_format = string(
        "ksql.persistence.default.format.key", "KAFKA", "The format of keys where WITH says none."
    )
    value_format = string(
        "ksql.persistence.default.format.value", None, "The format of values where WITH says none."
    )
    wrap_single_values = boolean(
        "ksql.persistence.wrap.single.values", None, "WRAP_SINGLE_VALUE where WITH says none."
    )
    hidden_topics = strings(
        HIDDEN_TOPICS,
        PLATFORM_TOPICS,
        "Regular expressions of topics that statements can neither see, read nor write, even if the server may.",
        check=PATTERNS,
    )
    readonly_topics = strings(
        READONLY_TOPICS,
        PLATFORM_TOPICS,
        "Regular expressions of topics that statements can neither write nor delete.",
        check=PATTERNS,
    )
    queries_file = string(
        "ksql.queries.file",
        None,
        "Headless: run the statements of this file, and serve no statements over HTTP.",
    )
    extension_dir = string(
        "ksql.extension.dir", "ext", "A folder with Python functions of the user. It need not exist."
    )
    connect_url = string(
        "ksql.connect.url", None, "The REST address of a Connect cluster, for statements about connectors."
    )
    connect_login_source = string(
        "ksql.connect.basic.auth.credentials.source",
        "NONE",
        "FILE: log in to the Connect cluster with the name and the password of a file.",
        check=one_of("NONE", "FILE"),
    )
    connect_login_file = string(
        "ksql.connect.basic.auth.credentials.file",
        None,
        "A file with the lines username=... and password=...",
    )
    connect_truststore = string(
        "ksql.connect.ssl.truststore.location",
        None,
        "With the authority of the Connect cluster's certificate: PEM, PKCS12 or JKS. Default: those of the system.",
    )
    connect_truststore_password = password("ksql.connect.ssl.truststore.password", "Of that file.")
    connect_keystore = string(
        "ksql.connect.ssl.keystore.location", None, "The certificate to show to the Connect cluster."
    )
    connect_keystore_password = password("ksql.connect.ssl.keystore.password", "Of that file.")
    connect_key_password = password("ksql.connect.ssl.key.password", "Of the key in that file.")
    registry_url = string(
        "ksql.schema.registry.url",
        None,
        "The schema registry, for AVRO, PROTOBUF and JSON_SR.",
        importance=HIGH,
    )
    registry_credentials = string(
        "ksql.schema.registry.basic.auth.user.info", None, "USER:PASSWORD for the schema registry."
    )
    state_dir = string(
        "ksql.streams.state.dir",
        "data/ksql",
        "Where queries keep their checkpoints. Servers that share a service id must share this folder.",
        importance=HIGH,
    )
    substitutes_variables = boolean(
        "ksql.variable.substitution.enable", True, "Whether ${name} in a statement stands for a variable."
    )
    queries_max = integer(
        "ksql.query.persistent.active.limit", 2**31 - 1, "How many persistent queries may run.", at_least=0
    )
    push_queries_max = integer(
        "ksql.max.push.queries", 100, "How many push queries may run on this server at a time.", at_least=0
    )
    pull_queries_max = integer(
        "ksql.query.pull.max.concurrent.requests",
        2**31 - 1,
        "How many pull queries may run at a time.",
        at_least=0,
    )
    pull_qps_max = integer(
        "ksql.query.pull.max.qps", 2**31 - 1, "How many pull queries a second are answered.", at_least=0
    )
    allows_table_scan = boolean(
        "ksql.query.pull.table.scan.enabled",
        True,
        "Whether pull queries without a key are answered. A request may override it.",
    )
    offset_lag_max = integer(
        "ksql.query.pull.max.allowed.offset.lag",
        2**31 - 1,
        "How many records a table may be behind and still be asked.",
        at_least=0,
    )
    statements_max = integer(
        "ksql.max.statements.per.request", 1_000, "How many statements one request may have.", at_least=1
    )
    request_bytes_max = integer(
        "ksql.max.request.bytes", 4 << 20, "The largest request body that is accepted.", at_least=1_024
    )
    command_timeout_ms = integer(
        "ksql.server.command.timeout.ms",
        30_000,
        "How long a write to the command topic may take.",
        at_least=100,
    )
    response_timeout_ms = integer(
        "ksql.server.command.response.timeout.ms",
        5_000,
        "How long a request waits for the command that its commandSequenceNumber names.",
        at_least=1,
    )
    start_timeout_ms = integer(
        "ksql.server.start.timeout.ms",
        60_000,
        "How long to try to reach Kafka and to read the command topic before giving up.",
        at_least=100,
    )
    heartbeat_interval_ms = integer(
        "ksql.heartbeat.send.interval.ms",
        3_000,
        "How often a server tells the group it is alive.",
        at_least=100,
    )
    session_timeout_ms = integer(
        "ksql.heartbeat.session.timeout.ms",
        10_000,
        "How long a server may be silent before others take over its queries.",
        at_least=1_000,
    )
    is_lazy = boolean(
        "ksql.spark.lazy",
        True,
        "Start Spark with the first persistent query, not with the server. Saves memory; the first query waits longer.",
    )
    spark_master = string("ksql.spark.master", "local[*]", "The Spark master that queries run on.")
    spark_conf = strings("ksql.spark.conf", (), "Settings of Spark: key=value, separated by commas.")
    trigger_ms = integer(
        "ksql.spark.trigger.ms",
        100,
        "The shortest time between the starts of two batches of a query.",
        at_least=0,
    )
    instances = integer(
        "ksql.spark.instances", 0, "Worker slots of each query. 0: as many as Spark has cores.", at_least=0
    )
    processing_log_topic_create = boolean(
        "ksql.logging.processing.topic.auto.create",
        False,
        "Write failures of queries to the processing log topic.",
    )
    processing_log_topic = string(
        "ksql.logging.processing.topic.name", None, "Default: <service.id>ksql_processing_log."
    )
    processing_log_partitions = integer(
        "ksql.logging.processing.topic.partitions", 1, "Partitions of that topic.", at_least=1
    )
    processing_log_replicas = integer(
        "ksql.logging.processing.topic.replication.factor", 1, "Its replication factor.", at_least=1
    )
    processing_log_stream_create = boolean(
        "ksql.logging.processing.stream.auto.create", False, "Define a stream over the processing log."
    )
    processing_log_stream = string(
        "ksql.logging.processing.stream.name", "KSQL_PROCESSING_LOG", "The name of that stream."
    )
    processing_log_rows = boolean(
        "ksql.logging.processing.rows.include", False, "Include the content of rows in the processing log."
    )
    fails_on_bad_records = boolean(
        "ksql.fail.on.deserialization.error",
        False,
        "Fail a query at a record that cannot be read, instead of skipping the record.",
    )
    deployment_type = string(
        "ksql.deployment.type", "confluent", "For clients.", check=one_of("confluent", "selfManaged")
    )

    @property
    def address(self) -> Address:
        return parse_listeners(self.listeners, port_default=PORT_DEFAULT)

    @property
    def internal_prefix(self) -> str:
        return f"_confluent-ksql-{self.service_id}"

    @property
    def command_topic(self) -> str:
        return f"{self.internal_prefix}_command_topic"

    @property
    def log_topic(self) -> str:
        return self.processing_log_topic or f"{self.service_id}ksql_processing_log"

    @property
    def dead_letter_topic(self) -> str:
        """Of all queries: records that could not be read or processed, with the reason in their headers."""
        return f"{self.internal_prefix}_failed_records"

    def application_id(self, query_id: str) -> str:
        """Cut where it would be too long for a topic's name, with a number that keeps it unique."""
        name = f"{self.internal_prefix}{self.persistent_prefix}{query_id}"
        if len(name) <= APPLICATION_ID_MAX:
            return name
        return f"{name[: APPLICATION_ID_MAX - 9]}_{crc32(name.encode()):08x}"


class Configuration:
    """The settings, and the properties that go elsewhere."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        own = {name: text for name, text in texts.items() if name in ServerSettings.KEYS}
        self.settings = ServerSettings.parse(own)
        self.settings.address  # noqa: B018 Reports an invalid address now, not later.
        self.texts = dict(texts)
        """The properties that were set, by name."""
        defaults = {
            name: _text(key.default) for name, key in ServerSettings.KEYS.items() if key.default is not None
        }
        self.effective: Mapping[str, str] = {**defaults, **texts}
        """Every setting as text, with its default where it was not set."""
        self.without_effect = sorted(WITHOUT_EFFECT & texts.keys())
        servers = ",".join(server.rpartition("://")[2] for server in self.settings.bootstrap_servers)
        self.client = {"bootstrap.servers": servers} | {
            name: text for name, text in texts.items() if name.startswith(CLIENT_PREFIXES) and name not in own
        }
        self.plain_client = {
            name: text
            for name, text in self.client.items()
            if not name.startswith(("consumer.", "producer."))
        }
        """What every kind of client takes."""
        self.query_properties = {
            name.removeprefix(STREAMS_PREFIX): text
            for name, text in texts.items()
            if name.startswith(STREAMS_PREFIX) and name not in own
        }


def read_configuration(
    text: str = "", *, file: str = "ksql-server.properties", overrides: Sequence[str] = ()
) -> Configuration:
    """Raises ConfigError with the file and line, or the override."""
    return Configuration(
        setting_texts(
            ServerSettings,
            text,
            file=file,
            overrides=overrides,
            command="moldau sql server",
            prefixes=PREFIXES,
            without_effect=WITHOUT_EFFECT,
        )
    )


def is_known(name: str) -> bool:
    """Whether a property of this name may be set."""
    return name in ServerSettings.KEYS or name in WITHOUT_EFFECT or name.startswith(PREFIXES)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)
