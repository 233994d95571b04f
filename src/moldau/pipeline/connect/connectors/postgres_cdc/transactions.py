"""The records that say where transactions begin and end, and heartbeats. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.pipeline.connect.connectors.postgres_cdc.envelope import optional
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.data.struct import Struct

_KEY: Final = schemas.struct(
    {"id": schemas.STRING}, name="io.debezium.connector.common.TransactionMetadataKey", version=1
)
_COLLECTION: Final = schemas.struct(
    {"data_collection": schemas.STRING, "event_count": schemas.INT64}, name="event.collection", version=1
)
_VALUE: Final = schemas.struct(
    {
        "status": schemas.STRING,
        "id": schemas.STRING,
        "event_count": optional(schemas.INT64),
        "data_collections": schemas.array(_COLLECTION, optional=True),
        "ts_ms": schemas.INT64,
    },
    name="io.debezium.connector.common.TransactionMetadataValue",
    version=1,
)
_HEARTBEAT_KEY: Final = schemas.struct(
    {"serverName": schemas.STRING}, name="io.debezium.connector.common.ServerNameKey", version=1
)
_HEARTBEAT: Final = schemas.struct(
    {"ts_ms": schemas.INT64}, name="io.debezium.connector.common.Heartbeat", version=1
)


def boundary_record(
    topic: str,
    status: str,
    transaction: str,
    committed_us: int,
    counts: Mapping[str, int] | None,
    partition: Mapping[str, Any],
    offset: Mapping[str, Any],
) -> SourceRecord:
    """`counts` are the changes of each table, at the end."""
    collections = None
    if counts is not None:
        collections = [Struct(_COLLECTION, one) for one in counts.items()]
    total = None if counts is None else sum(counts.values())
    return SourceRecord(
        topic,
        Struct(_KEY, (transaction,)),
        Struct(_VALUE, (status, transaction, total, collections, committed_us // 1000)),
        _KEY,
        _VALUE,
        source_partition=partition,
        source_offset=offset,
    )


def heartbeat_record(
    topic: str, server: str, now_ms: int, partition: Mapping[str, Any], offset: Mapping[str, Any]
) -> SourceRecord:
    return SourceRecord(
        topic,
        Struct(_HEARTBEAT_KEY, (server,)),
        Struct(_HEARTBEAT, (now_ms,)),
        _HEARTBEAT_KEY,
        _HEARTBEAT,
        source_partition=partition,
        source_offset=offset,
    )
