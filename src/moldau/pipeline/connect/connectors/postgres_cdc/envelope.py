"""Debezium's envelope around a change: before, after, where it comes from, and what kind of change it is. Pure."""

from dataclasses import dataclass, replace
from typing import Any, Final

from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct

CREATE: Final = "c"
READ: Final = "r"
UPDATE: Final = "u"
DELETE: Final = "d"
TRUNCATE: Final = "t"

VERSION: Final = "0.1.0"
CONNECTOR: Final = "postgresql"
NOT_SNAPSHOT: Final = "false"
_SNAPSHOT_STATES: Final = "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"


def optional(schema: Schema) -> Schema:
    return replace(schema, optional=True)


SOURCE_SCHEMA: Final = schemas.struct(
    {
        "version": schemas.STRING,
        "connector": schemas.STRING,
        "name": schemas.STRING,
        "ts_ms": schemas.INT64,
        "snapshot": Schema(
            SchemaType.STRING,
            optional=True,
            name="io.debezium.data.Enum",
            version=1,
            default=NOT_SNAPSHOT,
            parameters={"allowed": _SNAPSHOT_STATES},
        ),
        "db": schemas.STRING,
        "sequence": optional(schemas.STRING),
        "ts_us": optional(schemas.INT64),
        "ts_ns": optional(schemas.INT64),
        "schema": schemas.STRING,
        "table": schemas.STRING,
        "txId": optional(schemas.INT64),
        "lsn": optional(schemas.INT64),
        "xmin": optional(schemas.INT64),
    },
    name="io.debezium.connector.postgresql.Source",
    version=1,
)
TRANSACTION_SCHEMA: Final = schemas.struct(
    {"id": schemas.STRING, "total_order": schemas.INT64, "data_collection_order": schemas.INT64},
    name="event.block",
    version=1,
    optional=True,
)


def envelope_schema(name: str, row: Schema) -> Schema:
    return schemas.struct(
        {
            "before": row,
            "after": row,
            "source": SOURCE_SCHEMA,
            "transaction": TRANSACTION_SCHEMA,
            "op": schemas.STRING,
            "ts_ms": optional(schemas.INT64),
            "ts_us": optional(schemas.INT64),
            "ts_ns": optional(schemas.INT64),
        },
        name=f"{name}.Envelope",
        version=2,
    )


@dataclass(frozen=True, slots=True)
class Origin:
    """Where in the database's history a change is."""

    server: str
    """The prefix of the topics."""
    database: str
    ts_us: int
    """When it was committed, or when the snapshot read it."""
    lsn: int
    xid: int | None = None
    commit_lsn: int | None = None
    """Of the transaction before."""
    snapshot: str = NOT_SNAPSHOT

    def struct(self, schema: str, table: str) -> Struct:
        commit = "null" if self.commit_lsn is None else f'"{self.commit_lsn}"'
        return Struct(
            SOURCE_SCHEMA,
            (
                VERSION,
                CONNECTOR,
                self.server,
                self.ts_us // 1000,
                self.snapshot,
                self.database,
                f'[{commit},"{self.lsn}"]',
                self.ts_us,
                self.ts_us * 1000,
                schema,
                table,
                self.xid,
                self.lsn,
                None,
            ),
        )


def envelope(
    schema: Schema,
    op: str,
    before: Struct | None,
    after: Struct | None,
    source: Struct,
    now_us: int,
    transaction: Struct | None = None,
) -> Struct:
    values: tuple[Any, ...] = (
        before,
        after,
        source,
        transaction,
        op,
        now_us // 1000,
        now_us,
        now_us * 1000,
    )
    return Struct(schema, values)
