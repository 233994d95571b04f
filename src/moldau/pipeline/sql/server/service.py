"""One server without HTTP: executes statements, runs transient queries, and tells how everything is."""

import asyncio
from collections.abc import Mapping, Sequence

from moldau.pipeline.sql.engine import Catalog
from moldau.pipeline.sql.queries import QueryHost
from moldau.pipeline.sql.server.requests import (
    CommandStatus,
    Executed,
    Health,
    HostStatus,
    QueryRuntime,
    ServerInfo,
    StartedQuery,
    StatementRequest,
    TransientQuery,
)
from moldau.pipeline.sql.server.settings import Configuration, ServerSettings


class SqlService:
    """`start` and `stop` block; the coroutines belong to the event loop that serves HTTP. All of them raise
    `ServiceFailure`, with ksqlDB's code and the statement, and nothing else that is expected."""

    def __init__(self, configuration: Configuration, url: str) -> None:
        """`url`: how other servers reach this one."""
        self.configuration = configuration
        self.settings: ServerSettings = configuration.settings
        self.url = url
        self.catalog: Catalog
        self.queries: QueryHost

    def start(self) -> None:
        """Returns when the command topic has been read. ConfigError where it cannot be."""
        raise NotImplementedError

    def stop(self) -> None:
        """Ends transient queries, and the driver process after its batches."""
        raise NotImplementedError

    async def execute(self, request: StatementRequest) -> list[Executed]:
        """POST /ksql: statements in their order, up to the first that fails. SELECT and PRINT fail with QUERY_ENDPOINT.
        The result has one entry for each statement."""
        raise NotImplementedError

    async def start_query(self, request: StatementRequest) -> StartedQuery:
        """POST /query, /query-stream, /ws/query: one SELECT or PRINT."""
        raise NotImplementedError

    def close_query(self, query_id: str) -> bool:
        """Whether there was a push query of this id."""
        raise NotImplementedError

    async def insert(self, target: str, row: Mapping[str, object], properties: Mapping[str, str]) -> None:
        """POST /inserts-stream: a row in JSON, columns by name. Returns when it is acknowledged."""
        await self.send(target, row, properties)

    def send(
        self, target: str, row: Mapping[str, object], properties: Mapping[str, str]
    ) -> "asyncio.Future[None]":
        """As `insert`, without waiting: the future is done when the row is acknowledged, or fails. ServiceFailure at
        once where the row does not fit the columns."""
        raise NotImplementedError

    async def terminate_cluster(self, topics: Sequence[str] = ()) -> None:
        """POST /ksql/terminate: ends all queries of all servers of this service id, deletes the topics of streams and
        tables whose names these patterns match, and the command topic."""
        raise NotImplementedError

    # What it tells. None of these block.

    def info(self) -> ServerInfo:
        raise NotImplementedError

    async def health(self) -> Health:
        """Asks the brokers."""
        raise NotImplementedError

    def command_status(self, command_id: str) -> CommandStatus | None:
        """`stream/PAGEVIEWS/create`. None: there is no such command."""
        raise NotImplementedError

    def command_statuses(self) -> dict[str, CommandStatus]:
        raise NotImplementedError

    def query_runtimes(self) -> dict[str, QueryRuntime]:
        raise NotImplementedError

    def transient_queries(self) -> tuple[TransientQuery, ...]:
        raise NotImplementedError

    def hosts(self) -> tuple[HostStatus, ...]:
        """The servers of this service id that were heard of, this one among them."""
        raise NotImplementedError

    def is_valid_property(self, name: str) -> bool:
        """Whether SET takes a property of this name."""
        raise NotImplementedError

    def metrics_text(self) -> str:
        """/metrics, in Prometheus' text format."""
        raise NotImplementedError
