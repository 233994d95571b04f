"""QueryHost: all transient queries of a process, and what they share."""

from collections.abc import Mapping

from moldau.pipeline.sql.queries.inserts import Inserts
from moldau.pipeline.sql.queries.prepared import Definitions, Prepared, PullSettings
from moldau.pipeline.sql.queries.row_stream import RowStream
from moldau.pipeline.sql.queries.tables import Tables
from moldau.pipeline.sql.syntax.tree.relations import Query
from moldau.pipeline.sql.syntax.tree.statements import Print


class QueryHost:
    """`client_settings` are librdkafka's, as for pipelines: with the prefix `consumer.` or `producer.` for one kind of
    client. `registry_url` is for PRINT; formats of sources carry their own."""

    def __init__(
        self,
        bootstrap_servers: str,
        client_settings: Mapping[str, str] | None = None,
        *,
        registry_url: str | None = None,
    ) -> None:
        self.tables = Tables()
        self.inserts = Inserts()

    def prepare(
        self,
        text: str,
        definitions: Definitions,
        settings: PullSettings = PullSettings(),  # noqa: B008
        query: Query | None = None,
    ) -> Prepared:
        """Of the text of one SELECT, by itself, with or without a semicolon. Remembers what it has prepared, by text,
        settings and the definitions' version, so that an unchanged statement costs microseconds. `query`: the parsed
        text, where the caller has it. SqlError: the query has no meaning, or is not possible as a pull query."""
        raise NotImplementedError

    def start(
        self,
        prepared: Prepared,
        *,
        offset_reset: str | None = None,
        query_id: str = "",
        settings: PullSettings = PullSettings(),  # noqa: B008
    ) -> RowStream:
        """Returns when the query runs: a push query from `latest` gives all that is written from then on. Asks brokers,
        or waits for a table, so call it in a thread unless `is_immediate`. `offset_reset` is `auto.offset.reset` if the
        user has set it: None is ksqlDB's default, streams from the latest and tables from the earliest. SqlError or
        TableNotReady where it cannot start."""
        raise NotImplementedError

    def is_immediate(self, prepared: Prepared) -> bool:
        """Whether `start` takes microseconds: a lookup by key in a table that is loaded."""
        raise NotImplementedError

    def print_topic(self, statement: Print) -> RowStream:
        """PRINT. The rows are lines: each has one column, the text. Asks brokers, so call it in a thread."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends all queries, and waits until their threads have ended."""
        raise NotImplementedError
