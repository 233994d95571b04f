"""What the HTTP layer hands to the service and gets back. Values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from moldau.pipeline.sql.engine.answers import Answer
from moldau.pipeline.sql.queries.row_stream import RowStream
from moldau.services.security.access import EVERYTHING, Access

ServerStatus = Literal["RUNNING", "STARTING", "DEGRADED", "TERMINATING", "TERMINATED", "ERROR"]


@dataclass(frozen=True, slots=True)
class StatementRequest:
    """`properties` and `variables` are those of the client's session, for this request."""

    text: str
    properties: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    command_sequence_number: int | None = None
    """The statements are executed when the commands up to this one have been read."""
    is_ksql_5: bool = False
    """The client speaks KSQL 5, where every SELECT was what is a push query today."""
    shows_tombstones: bool = True
    """Whether the shape of the answer has rows that are deleted; LIMIT counts what is shown."""
    access: Access = EVERYTHING
    """What the caller may do."""


@dataclass(frozen=True, slots=True)
class QueryError:
    timestamp_ms: int
    message: str
    type: Literal["USER", "SYSTEM", "UNKNOWN"] = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class QueryRuntime:
    """How a persistent query runs. Only the server that hosts the queries knows more than the state."""

    id: str
    state: Literal["RUNNING", "PAUSED", "ERROR", "UNRESPONSIVE"]
    host: str = ""
    """`host:port` of the server that hosts it."""
    errors: tuple[QueryError, ...] = ()
    detail: str = ""
    """What goes on, in words: `Spark is starting`."""
    records_in: int = 0
    records_out: int = 0
    records_in_per_s: float = 0.0
    records_out_per_s: float = 0.0
    lag_records: int | None = None
    lag_ms: int | None = None
    restarts: int = 0
    failed_records: int = 0
    batch_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    partition: int
    start: int
    end: int
    committed: int


@dataclass(frozen=True, slots=True)
class TopicOffsets:
    topic: str
    partitions: tuple[PartitionOffsets, ...]


@dataclass(frozen=True, slots=True)
class QueryOffsets:
    """`queryOffsetSummaries` of an extended description: how far a query has read each topic."""

    query_id: str
    group_id: str
    topics: tuple[TopicOffsets, ...]


@dataclass(frozen=True, slots=True)
class SourceStatistics:
    """Of the queries that write a stream or table, and of the rows inserted into it."""

    messages: int = 0
    messages_per_s: float = 0.0
    failed: int = 0
    failed_per_s: float = 0.0
    last_message_ms: int | None = None
    last_failed_ms: int | None = None
    offsets: tuple[QueryOffsets, ...] = ()
    query_errors: tuple[tuple[str, str], ...] = ()
    """The last error of each query that has had one: the query's id and what happened."""

    @property
    def statistics(self) -> str:
        """As ksqlDB prints them."""
        found = f"messages-per-sec: {self.messages_per_s:>9.2f}   total-messages: {self.messages:>9}"
        return (
            found
            if self.last_message_ms is None
            else f"{found}     last-message: {_time(self.last_message_ms)}"
        )

    @property
    def error_stats(self) -> str:
        lines = [f"last error of {query_id}: {message}" for query_id, message in self.query_errors]
        if self.failed:
            rate = f"consumer-failed-messages-per-sec: {self.failed_per_s:>9.2f}"
            lines.insert(0, f"{rate}   consumer-total-message-errors: {self.failed:>9}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class TopicConsumers:
    """Of SHOW TOPICS EXTENDED."""

    consumers: int = 0
    groups: int = 0


@dataclass(frozen=True, slots=True)
class Runtime:
    """What only the running server knows of what an answer names. Empty where the answer needs nothing."""

    queries: Mapping[str, QueryRuntime] = field(default_factory=dict)
    """By id; of every persistent query that the answer names."""
    transient: tuple["TransientQuery", ...] = ()
    """Of SHOW QUERIES."""
    sources: Mapping[str, SourceStatistics] = field(default_factory=dict)
    """By name; of extended descriptions."""
    topics: Mapping[str, TopicConsumers] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TransientQuery:
    """A push query of this server."""

    id: str
    statement: str
    kind: Literal["PUSH", "PULL"] = "PUSH"
    sources: tuple[str, ...] = ()
    started_ms: int = 0


@dataclass(frozen=True, slots=True)
class ConnectAnswer:
    """What the Connect cluster answered to a statement about connectors: the status and the JSON as it came."""

    kind: Literal["CREATE", "DROP", "LIST", "DESCRIBE", "PLUGINS"]
    name: str
    status: int
    body: object
    connector_status: object = None
    """Of DESCRIBE CONNECTOR, and by name of SHOW CONNECTORS."""
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Executed:
    """One statement that was executed. Statements without an answer, such as INSERT VALUES and SET, have None."""

    statement: str
    answer: Answer | ConnectAnswer | None
    command_sequence_number: int | None = None
    """The offset of its command."""
    warnings: tuple[str, ...] = ()
    runtime: Runtime = field(default_factory=Runtime)


@dataclass(frozen=True, slots=True)
class StartedQuery:
    """`stream.query_id` is for /close-query. The caller reads the stream to its end, or closes it."""

    stream: RowStream
    kind: Literal["PUSH", "PULL", "PRINT"]
    """PRINT gives rows of one column, the line."""
    statement: str


@dataclass(frozen=True, slots=True)
class ServerInfo:
    version: str
    kafka_cluster_id: str
    service_id: str
    status: ServerStatus


@dataclass(frozen=True, slots=True)
class Health:
    """`details` by name: `metastore`, `kafka`, `commandRunner`. Spark is no part of it: without it all but persistent
    queries work."""

    details: Mapping[str, bool]

    @property
    def is_healthy(self) -> bool:
        return all(self.details.values())


@dataclass(frozen=True, slots=True)
class CommandStatus:
    """`/status/{type}/{entity}/{action}`"""

    status: Literal["QUEUED", "PARSING", "EXECUTING", "SUCCESS", "ERROR", "TERMINATED"]
    message: str
    query_id: str | None = None


@dataclass(frozen=True, slots=True)
class HostStatus:
    """A server of `/clusterStatus`."""

    host: str
    """`host:port`"""
    is_alive: bool
    last_seen_ms: int
    hosts_queries: bool = False


def _time(timestamp_ms: int) -> str:
    return datetime.fromtimestamp(timestamp_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
