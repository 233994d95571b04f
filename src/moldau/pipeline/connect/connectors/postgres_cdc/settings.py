"""What the connector can be configured with: Debezium's names and defaults."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import NON_EMPTY, one_of
from moldau.core.settings.key import ConfigKey, Importance, boolean, integer, long, password, string, strings
from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.postgres_cdc.selection import Patterns, Selection
from moldau.pipeline.connect.connectors.postgres_cdc.types.columns import Modes
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of

OF: Final = "PostgresCdcSource"
SNAPSHOT_MODES: Final = ("initial", "always", "initial_only", "no_data", "never", "when_needed")
TIME_MODES: Final = ("adaptive", "adaptive_time_microseconds", "connect")
AUTOCREATE_MODES: Final = ("all_tables", "filtered", "no_tables", "disabled")
SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


def _group(name: str, *keys: ConfigKey[Any], required: tuple[str, ...] = ()) -> tuple[Declaration, ...]:
    return tuple(
        Declaration(key, is_required=key.name in required, group=name, display_name=key.name) for key in keys
    )


_CONNECTION: Final = _group(
    "Connection",
    string("database.hostname", "", "The server's address.", importance=Importance.HIGH, check=NON_EMPTY),
    integer("database.port", 5432, "Its port.", at_least=1, at_most=65535, importance=Importance.HIGH),
    string(
        "database.user",
        "",
        "A role with LOGIN and REPLICATION that may read the tables.",
        importance=Importance.HIGH,
        check=NON_EMPTY,
    ),
    password("database.password", "Its password.", importance=Importance.HIGH),
    string("database.dbname", "", "The database to capture.", importance=Importance.HIGH, check=NON_EMPTY),
    string(
        "database.sslmode",
        "prefer",
        "How the connection is encrypted, as for psql.",
        check=one_of(*SSL_MODES),
    ),
    string("database.sslrootcert", "", "A file with the certificates to check the server's with."),
    string("database.sslcert", "", "A file with the client's certificate."),
    string("database.sslkey", "", "A file with the client's key."),
    required=("database.hostname", "database.user", "database.dbname"),
)
_REPLICATION: Final = _group(
    "Replication",
    string(
        "plugin.name",
        "pgoutput",
        "The decoding plugin of the server: pgoutput comes with PostgreSQL, others are not supported.",
        check=one_of("pgoutput"),
    ),
    string("slot.name", "debezium", "The replication slot. Made when it is missing.", check=NON_EMPTY),
    boolean(
        "slot.drop.on.stop",
        False,
        "Drop the slot when the task stops. For tests: changes made until the next start are lost.",
    ),
    integer("slot.max.retries", 6, "How often to try again when another client has the slot.", at_least=0),
    long("slot.retry.delay.ms", 10_000, "The pause between these.", at_least=0),
    string("publication.name", "dbz_publication", "The publication.", check=NON_EMPTY),
    string(
        "publication.autocreate.mode",
        "all_tables",
        "What to do about the publication: all_tables makes one for all tables if it is missing (needs a superuser), "
        "filtered makes and keeps one for the captured tables (their owner can), no_tables makes an empty one, "
        "disabled expects it.",
        check=one_of(*AUTOCREATE_MODES),
    ),
    long("status.update.interval.ms", 10_000, "How often the position is sent to the server.", at_least=100),
)
_SELECTION: Final = _group(
    "Tables",
    strings(
        "schema.include.list", (), "Schemas to capture: regular expressions.", importance=Importance.HIGH
    ),
    strings("schema.exclude.list", (), "Schemas not to capture: regular expressions."),
    strings(
        "table.include.list",
        (),
        "Tables to capture: regular expressions that match schema.table whole, ignoring case.",
        importance=Importance.HIGH,
    ),
    strings("table.exclude.list", (), "Tables not to capture: regular expressions."),
    strings("column.include.list", (), "Columns to capture: regular expressions for schema.table.column."),
    strings("column.exclude.list", (), "Columns not to capture: regular expressions."),
    string(
        "message.key.columns",
        "",
        "Columns that make the key of a table instead of its primary key: schema.table:a,b;schema.other:c",
    ),
)
_RECORDS: Final = _group(
    "Records",
    string(
        "topic.prefix",
        "",
        "The name of this server: topics are prefix.schema.table. Do not change it later.",
        importance=Importance.HIGH,
        check=NON_EMPTY,
    ),
    boolean("tombstones.on.delete", True, "After a deletion, write a record without a value too."),
    strings("skipped.operations", ("t",), "Operations to leave out: any of c, u, d, t; none for nothing."),
    string(
        "decimal.handling.mode",
        "precise",
        "numeric and money as precise decimals, double or string.",
        check=one_of("precise", "double", "string"),
    ),
    string(
        "time.precision.mode",
        "adaptive",
        "Times as whole numbers: as precise as the column (adaptive), times of day in microseconds "
        "(adaptive_time_microseconds), or Connect's Date, Time and Timestamp in milliseconds (connect).",
        check=one_of(*TIME_MODES),
    ),
    string(
        "interval.handling.mode",
        "numeric",
        "Intervals as microseconds, with 365.25 / 12 days a month (numeric), or as ISO 8601 (string).",
        check=one_of("numeric", "string"),
    ),
    string(
        "binary.handling.mode",
        "bytes",
        "bytea as bytes, or as text in base64, base64-url-safe or hex.",
        check=one_of("bytes", "base64", "base64-url-safe", "hex"),
    ),
    string(
        "hstore.handling.mode",
        "json",
        "hstore as JSON text, or as a map of texts.",
        check=one_of("json", "map"),
    ),
    integer("money.fraction.digits", 2, "Digits after the point of money.", at_least=0, at_most=10),
    boolean(
        "include.unknown.datatypes", False, "Columns of unknown types as bytes, instead of leaving them out."
    ),
    string(
        "unavailable.value.placeholder",
        "__debezium_unavailable_value",
        "Stands for a large value that an update did not touch.",
    ),
    boolean(
        "provide.transaction.metadata",
        False,
        "Write where transactions begin and end to prefix.transaction, and number the changes in each.",
    ),
    required=("topic.prefix",),
)
_WORK: Final = _group(
    "Work",
    string(
        "snapshot.mode",
        "initial",
        "When the tables are read whole: initial when there is no offset yet, always at each start, initial_only "
        "without changes afterwards, no_data (or never) not at all, when_needed also when the slot has been lost.",
        importance=Importance.HIGH,
        check=one_of(*SNAPSHOT_MODES),
    ),
    integer("max.batch.size", 2048, "How many records a poll returns at most.", at_least=1),
    long("poll.interval.ms", 500, "How long a poll waits for changes at most.", at_least=1),
    integer(
        "heartbeat.interval.ms",
        0,
        "How often to write a heartbeat to its topic, so that offsets advance when the tables do not change. 0: never.",
        at_least=0,
    ),
    string("topic.heartbeat.prefix", "__debezium-heartbeat", "That topic is this.prefix."),
    string("heartbeat.action.query", "", "A statement to run with each heartbeat."),
)
DECLARATIONS: Final = (*_CONNECTION, *_RECORDS, *_SELECTION, *_REPLICATION, *_WORK)


@dataclass(frozen=True, slots=True)
class Settings:
    values: Mapping[str, Any]
    selection: Selection
    modes: Modes

    @property
    def prefix(self) -> str:
        found: str = self.values["topic.prefix"]
        return found

    @property
    def slot(self) -> str:
        found: str = self.values["slot.name"]
        return found

    @property
    def publication(self) -> str:
        found: str = self.values["publication.name"]
        return found

    @property
    def snapshot_mode(self) -> str:
        found: str = self.values["snapshot.mode"]
        return "no_data" if found == "never" else found

    @property
    def skipped(self) -> frozenset[str]:
        return frozenset(self.values["skipped.operations"])

    def connection(self) -> dict[str, str]:
        """The parameters of libpq."""
        named = {
            "host": "hostname",
            "port": "port",
            "user": "user",
            "password": "password",
            "dbname": "dbname",
            "sslmode": "sslmode",
            "sslrootcert": "sslrootcert",
            "sslcert": "sslcert",
            "sslkey": "sslkey",
        }
        given = {name: self.values[f"database.{ours}"] for name, ours in named.items()}
        return {
            **{name: str(value) for name, value in given.items() if value not in (None, "")},
            "options": "-c datestyle=ISO -c intervalstyle=iso_8601 -c timezone=UTC -c extra_float_digits=1 "
            "-c bytea_output=hex -c lc_monetary=C",
            "connect_timeout": "10",
        }

    @property
    def server(self) -> str:
        """In messages: the database, without secrets."""
        values = self.values
        return f"{values['database.dbname']} on {values['database.hostname']}:{values['database.port']}"


def settings_of(config: Texts) -> Settings:
    """Raises ConfigError for a wrong setting, ConnectError for settings that contradict each other."""
    values = values_of(DECLARATIONS, config, of=OF)
    for name in ("schema", "table", "column"):
        if values[f"{name}.include.list"] and values[f"{name}.exclude.list"]:
            raise ConnectError(f"{OF}: set {name}.include.list or {name}.exclude.list, not both")
    try:
        selection = Selection(
            schemas=Patterns(values["schema.include.list"], values["schema.exclude.list"]),
            tables=Patterns(values["table.include.list"], values["table.exclude.list"]),
            columns=Patterns(values["column.include.list"], values["column.exclude.list"]),
            keys=values["message.key.columns"],
        )
    except ValueError as failure:
        raise ConfigError(f"{OF}: {failure}") from failure
    modes = Modes(
        decimal=values["decimal.handling.mode"],
        time=values["time.precision.mode"],
        interval=values["interval.handling.mode"],
        binary=values["binary.handling.mode"],
        hstore=values["hstore.handling.mode"],
        money_digits=values["money.fraction.digits"],
        unavailable=values["unavailable.value.placeholder"],
        with_unknown=values["include.unknown.datatypes"],
    )
    return Settings(values, selection, modes)
