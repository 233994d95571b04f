"""The settings of JdbcSource, under the names of the Java connector."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import NON_EMPTY, one_of
from moldau.core.settings.key import Importance, boolean, integer, long, string, strings
from moldau.pipeline.connect.connectors.jdbc.row_queries import Watched
from moldau.pipeline.connect.connectors.jdbc.settings import CONNECTION, ISOLATIONS, TABLE_TYPES
from moldau.pipeline.connect.connectors.jdbc.table_names import TableFilter
from moldau.pipeline.connect.connectors.jdbc.table_reader import Reading
from moldau.pipeline.connect.connectors.jdbc.timestamp_granularity import GRANULARITIES
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of

OF: Final = "JdbcSource"
MODES: Final = ("bulk", "timestamp", "incrementing", "timestamp+incrementing")
NUMERIC_MAPPINGS: Final = ("none", "precision_only", "best_fit", "best_fit_eager_double")
MODE, OUTPUT, TABLES = "Mode", "Output", "Tables"

DECLARATIONS: Final = (
    *CONNECTION,
    Declaration(
        strings("table.whitelist", (), "The tables to read; none: all."),
        group=TABLES,
        width="LONG",
        display_name="Tables to read",
    ),
    Declaration(
        strings("table.blacklist", (), "The tables not to read. Excludes table.whitelist."),
        group=TABLES,
        width="LONG",
        display_name="Tables not to read",
    ),
    Declaration(
        string("catalog.pattern", "", "A pattern of LIKE for the databases whose tables are read."),
        group=TABLES,
        display_name="Databases",
    ),
    Declaration(
        string(
            "schema.pattern",
            "",
            "A pattern of LIKE for the schemas whose tables are read.",
            importance=Importance.HIGH,
        ),
        group=TABLES,
        display_name="Schemas",
    ),
    TABLE_TYPES,
    Declaration(
        long(
            "table.poll.interval.ms",
            60_000,
            "How often the connector looks for new and dropped tables.",
            at_least=1,
            importance=Importance.LOW,
        ),
        group=TABLES,
        display_name="Interval for tables (ms)",
    ),
    Declaration(
        string(
            "mode",
            "",
            "What is read again: bulk everything; incrementing rows with a larger number; timestamp rows with a later "
            "timestamp; timestamp+incrementing both.",
            check=one_of(*MODES),
            importance=Importance.HIGH,
        ),
        is_required=True,
        group=MODE,
        display_name="Mode",
        dependents=("incrementing.column.name", "timestamp.column.name", "validate.non.null"),
        recommends=lambda _: MODES,
    ),
    Declaration(
        string(
            "incrementing.column.name",
            "",
            "The column whose numbers grow with each new row. Empty: the one that the database numbers.",
        ),
        group=MODE,
        display_name="Incrementing column",
        is_visible=lambda texts: "incrementing" in texts.get("mode", ""),
    ),
    Declaration(
        strings(
            "timestamp.column.name",
            (),
            "The columns with the time of the last change: of each row, the first that is not null.",
        ),
        group=MODE,
        display_name="Timestamp columns",
        is_visible=lambda texts: "timestamp" in texts.get("mode", ""),
    ),
    Declaration(
        long(
            "timestamp.initial",
            None,
            "Without a stored offset: the timestamp to begin behind, in milliseconds since 1970. -1: now.",
            importance=Importance.LOW,
        ),
        group=MODE,
        display_name="First timestamp",
    ),
    Declaration(
        boolean(
            "validate.non.null",
            True,
            "Whether columns that tell what is new must be declared NOT NULL.",
            importance=Importance.LOW,
        ),
        group=MODE,
        display_name="Require NOT NULL",
    ),
    Declaration(
        string(
            "query",
            "",
            "A query to read instead of tables. In other modes than bulk it becomes a subquery, and may have its own "
            "WHERE.",
        ),
        group=MODE,
        width="LONG",
        display_name="Query",
    ),
    Declaration(
        string("query.suffix", "", "A text behind each query.", importance=Importance.LOW),
        group=MODE,
        display_name="Query suffix",
    ),
    Declaration(
        string(
            "transaction.isolation.mode",
            ISOLATIONS[0],
            "The isolation of the transactions that read.",
            check=one_of(*ISOLATIONS, ignore_case=True),
            importance=Importance.LOW,
        ),
        group=MODE,
        display_name="Isolation",
    ),
    Declaration(
        string(
            "topic.prefix",
            "",
            "Before the name of a table, it makes the name of the topic. With a query it is the topic.",
            check=NON_EMPTY,
            importance=Importance.HIGH,
        ),
        is_required=True,
        group=OUTPUT,
        display_name="Topic prefix",
    ),
    Declaration(
        integer(
            "poll.interval.ms",
            5_000,
            "How often each table is read.",
            at_least=1,
            importance=Importance.HIGH,
        ),
        group=OUTPUT,
        display_name="Interval (ms)",
    ),
    Declaration(
        integer(
            "batch.max.rows",
            2_000,
            "The largest number of rows that are read at once, and are written in one transaction.",
            at_least=1,
            importance=Importance.LOW,
        ),
        group=OUTPUT,
        display_name="Rows at once",
    ),
    Declaration(
        long(
            "timestamp.delay.interval.ms",
            0,
            "How old a timestamp must be before its row is read, so that transactions that began earlier can end.",
            at_least=0,
            importance=Importance.HIGH,
        ),
        group=OUTPUT,
        display_name="Delay (ms)",
    ),
    Declaration(
        string(
            "timestamp.granularity",
            "connect_logical",
            "What timestamps become: Connect's Timestamp in milliseconds, or a number or text with microseconds.",
            check=one_of(*GRANULARITIES, ignore_case=True),
            importance=Importance.LOW,
        ),
        group=OUTPUT,
        display_name="Granularity of timestamps",
    ),
    Declaration(
        string(
            "numeric.mapping",
            None,
            "What decimals become: none Connect's Decimal; precision_only integers where they have no digits after the "
            "point; best_fit also doubles; best_fit_eager_double doubles however many digits they have.",
            check=one_of(*NUMERIC_MAPPINGS, ignore_case=True),
            importance=Importance.LOW,
        ),
        group=OUTPUT,
        display_name="Mapping of decimals",
    ),
    Declaration(
        boolean(
            "numeric.precision.mapping",
            False,
            "The earlier name of numeric.mapping=precision_only.",
            importance=Importance.LOW,
        ),
        group=OUTPUT,
        display_name="Mapping by precision",
    ),
)


def parsed(config: Texts) -> dict[str, Any]:
    """Raises ConfigError, also for settings that do not fit together."""
    values = values_of(DECLARATIONS, config, of=OF)
    for _, error in problems(values):
        raise ConfigError(f"{OF}: {error}")
    return values


def problems(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names of settings, and what is wrong with them in view of the others."""
    found = []
    both = "table.whitelist and table.blacklist exclude each other: set one of them"
    if values["table.whitelist"] and values["table.blacklist"]:
        found += [("table.whitelist", both), ("table.blacklist", both)]
    if values["query"] and (values["table.whitelist"] or values["table.blacklist"]):
        found.append(("query", "query replaces tables: leave out table.whitelist and table.blacklist"))
    mode = values["mode"]
    if "timestamp" in mode and not values["timestamp.column.name"]:
        found.append(("timestamp.column.name", f"mode={mode} needs timestamp.column.name"))
    if values["query"] and mode.endswith("incrementing") and not values["incrementing.column.name"]:
        found.append(("incrementing.column.name", f"mode={mode} with a query needs incrementing.column.name"))
    if "\0" in values["query"] + values["query.suffix"]:
        found.append(("query", "a query cannot have the character NUL"))
    return found


def filter_of(values: Mapping[str, Any]) -> TableFilter:
    return TableFilter(values["table.whitelist"], values["table.blacklist"])


def reading_of(values: Mapping[str, Any]) -> Reading:
    mode = values["mode"]
    watched = Watched(
        values["timestamp.column.name"] if "timestamp" in mode else (),
        values["incrementing.column.name"] if mode.endswith("incrementing") else None,
    )
    earlier = "precision_only" if values["numeric.precision.mapping"] else "none"
    return Reading(
        watched,
        values["topic.prefix"],
        values["query.suffix"],
        (values["numeric.mapping"] or earlier).lower(),
        values["timestamp.granularity"],
        values["timestamp.delay.interval.ms"],
        values["timestamp.initial"],
        values["validate.non.null"],
    )
