"""Transient SQL: push and pull queries, inserts and PRINT, in this process and without Spark.

    host = QueryHost(bootstrap_servers, client_settings)
    host.tables.add(source, retention_ms)                    # keeps a table ready for pull queries
    prepared = host.prepare(text, definitions)                # parsed and typed once, remembered by text
    stream = await asyncio.to_thread(host.start, prepared)   # a RowStream
    async for batch in stream: ...
    await host.inserts.insert(target, key, value, timestamp_ms)
    lines = await asyncio.to_thread(host.print_topic, statement)

`preparing` parses and types a query; `row_stream` delivers what it gives. A push query is a `memory_run` of its own
operators (or a `straight_run`, where it only filters and projects), and a `reader` that takes it through its topics:
`history` reads what is there, in the order of `time_merge`; `tail` shares one consumer among all that are live;
`following` moves readers between the two. `tables` feeds the content of tables (`table_content`, `table_rows`), and
`pull` asks it by a `lookup`. `inserts` writes rows; `printing` shows a topic in the formats that `sniffing` finds.
Knows Kafka, but not HTTP. Imported by `server`. Start reading at `host.py`.
"""

from moldau.pipeline.sql.queries.host import QueryHost
from moldau.pipeline.sql.queries.prepared import Definitions, Prepared, PullSettings
from moldau.pipeline.sql.queries.row_stream import End, EndReason, ResultColumn, RowStream, Tombstone
from moldau.pipeline.sql.queries.tables import TableNotReady, TableStatus

__all__ = [
    "Definitions",
    "End",
    "EndReason",
    "Prepared",
    "PullSettings",
    "QueryHost",
    "ResultColumn",
    "RowStream",
    "TableNotReady",
    "TableStatus",
    "Tombstone",
]
