"""The settings of JdbcSink, under the names of the Java connector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import NON_EMPTY, one_of
from moldau.core.settings.key import Importance, boolean, integer, string, strings
from moldau.pipeline.connect.connectors.jdbc.settings import CONNECTION
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of

OF: Final = "JdbcSink"
WRITES, DATA, TABLES, RETRIES = "Writes", "Data mapping", "Tables", "Retries"
KAFKA_FIELDS: Final = ("__connect_topic", "__connect_partition", "__connect_offset")


class InsertMode(StrEnum):
    INSERT = "insert"
    UPSERT = "upsert"
    UPDATE = "update"


class KeyMode(StrEnum):
    NONE = "none"
    KAFKA = "kafka"
    RECORD_KEY = "record_key"
    RECORD_VALUE = "record_value"


DECLARATIONS: Final = (
    *CONNECTION,
    Declaration(
        string(
            "insert.mode",
            InsertMode.INSERT,
            "How rows are written: insert always adds one; upsert replaces the row with the same key, so that records "
            "that come twice do no harm; update changes rows that exist.",
            check=one_of(*InsertMode, ignore_case=True),
            importance=Importance.HIGH,
        ),
        group=WRITES,
        display_name="Mode",
        dependents=("pk.mode",),
        recommends=lambda _: list(InsertMode),
    ),
    Declaration(
        integer(
            "batch.size",
            3_000,
            "The largest number of rows in one statement. All records that a task is given at once are written in one "
            "transaction.",
            at_least=1,
        ),
        group=WRITES,
        display_name="Rows of a statement",
    ),
    Declaration(
        boolean(
            "delete.enabled",
            False,
            "Whether a record without a value deletes the row with its key. Needs pk.mode=record_key.",
        ),
        group=WRITES,
        display_name="Delete",
        dependents=("pk.mode",),
    ),
    Declaration(
        string(
            "table.name.format",
            "${topic}",
            "The name of the table; ${topic} is replaced by the topic. It may have a schema: warehouse.${topic}.",
            check=NON_EMPTY,
        ),
        group=DATA,
        width="LONG",
        display_name="Table",
    ),
    Declaration(
        string(
            "pk.mode",
            KeyMode.NONE,
            "Where the primary key comes from: none; kafka topic, partition and offset of the record; record_key the "
            "record's key; record_value fields of its value.",
            check=one_of(*KeyMode, ignore_case=True),
            importance=Importance.HIGH,
        ),
        group=DATA,
        display_name="Primary key from",
        dependents=("pk.fields",),
        recommends=lambda _: list(KeyMode),
    ),
    Declaration(
        strings(
            "pk.fields",
            (),
            "The fields of the primary key. kafka: three names of columns, unless the default ones suit. record_key: "
            "fields of the key, none: all of them; for a key that is no struct the name of its column. record_value: "
            "fields of the value, none: all of them.",
        ),
        group=DATA,
        width="LONG",
        display_name="Primary key",
        is_visible=lambda texts: texts.get("pk.mode", KeyMode.NONE) != KeyMode.NONE,
    ),
    Declaration(
        strings(
            "fields.whitelist",
            (),
            "The fields of the value that are written; none: all of them. Those of the key are always written.",
        ),
        group=DATA,
        width="LONG",
        display_name="Fields",
    ),
    Declaration(
        boolean(
            "auto.create",
            False,
            "Whether a table that is missing is created, with columns for the fields of the first record.",
        ),
        group=TABLES,
        display_name="Create tables",
    ),
    Declaration(
        boolean(
            "auto.evolve",
            False,
            "Whether columns that are missing are added. Their fields must be optional or have a default.",
        ),
        group=TABLES,
        display_name="Add columns",
    ),
    Declaration(
        strings(
            "table.types",
            ("TABLE",),
            "Which kinds of tables may be written to.",
            importance=Importance.LOW,
            inert="the database says whether something with the table's name can be written to",
        ),
        group=TABLES,
        display_name="Types of tables",
    ),
    Declaration(
        integer(
            "max.retries",
            10,
            "How often a write is repeated that the database asks to repeat, for instance after a deadlock. A task "
            "whose database is away waits for it without end.",
            at_least=0,
        ),
        group=RETRIES,
        display_name="Retries",
    ),
    Declaration(
        integer(
            "retry.backoff.ms",
            3_000,
            "The pause before a write is repeated.",
            at_least=0,
            inert="the worker's pauses are used, which double up to errors.retry.delay.max.ms",
        ),
        group=RETRIES,
        display_name="Pause (ms)",
    ),
)


@dataclass(frozen=True)
class Writing:
    """How records become rows; the same for all of a task."""

    insert_mode: InsertMode = InsertMode.INSERT
    key_mode: KeyMode = KeyMode.NONE
    key_fields: Sequence[str] = ()
    value_fields: frozenset[str] = frozenset()
    """Empty: all."""
    deletes: bool = False
    creates: bool = False
    evolves: bool = False
    rows_max: int = 3_000
    retries_max: int = 10
    table_format: str = "${topic}"


def parsed(config: Texts) -> dict[str, Any]:
    """Raises ConfigError, also for settings that do not fit together."""
    values = values_of(DECLARATIONS, config, of=OF)
    for _, error in problems(values):
        raise ConfigError(f"{OF}: {error}")
    return values


def problems(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names of settings, and what is wrong with them in view of the others."""
    found = []
    insert_mode, key_mode = values["insert.mode"].lower(), values["pk.mode"].lower()
    if insert_mode != InsertMode.INSERT and key_mode == KeyMode.NONE:
        text = (
            f"insert.mode={insert_mode} needs a primary key: set pk.mode to kafka, record_key or record_value"
        )
        found.append(("pk.mode", text))
    if values["delete.enabled"] and key_mode != KeyMode.RECORD_KEY:
        text = "delete.enabled=true needs pk.mode=record_key: of a deleted row only the record's key is known"
        found.append(("delete.enabled", text))
    fields = values["pk.fields"]
    if key_mode == KeyMode.KAFKA and len(fields) not in (0, len(KAFKA_FIELDS)):
        text = (
            "pk.mode=kafka needs three names in pk.fields, for topic, partition and offset, or none for "
            f"{', '.join(KAFKA_FIELDS)}: it has {len(fields)}"
        )
        found.append(("pk.fields", text))
    return found


def writing_of(values: Mapping[str, Any]) -> Writing:
    key_mode = KeyMode(values["pk.mode"].lower())
    fields = values["pk.fields"]
    return Writing(
        insert_mode=InsertMode(values["insert.mode"].lower()),
        key_mode=key_mode,
        key_fields=fields or (KAFKA_FIELDS if key_mode is KeyMode.KAFKA else ()),
        value_fields=frozenset(values["fields.whitelist"]),
        deletes=values["delete.enabled"],
        creates=values["auto.create"],
        evolves=values["auto.evolve"],
        rows_max=values["batch.size"],
        retries_max=values["max.retries"],
        table_format=values["table.name.format"],
    )
