"""The processing log of a server: its topic, its stream, and what fills it. Nothing of it unless it is asked for."""

from collections.abc import Callable

from moldau.core.errors import ConfigError
from moldau.pipeline.sql.engine import Catalog, NewTopic, Session
from moldau.pipeline.sql.server.execution import Execution
from moldau.pipeline.sql.server.failures import ServiceFailure
from moldau.pipeline.sql.server.processing_log.entries import stream_statement
from moldau.pipeline.sql.server.processing_log.failed_records import FailedRecords
from moldau.pipeline.sql.server.processing_log.failure_log import FailureLog
from moldau.pipeline.sql.server.settings import Configuration
from moldau.pipeline.sql.server.world import World
from moldau.pipeline.sql.syntax.errors import SqlError


class ProcessingLog:
    def __init__(self, configuration: Configuration, catalog: Catalog, is_host: Callable[[], bool]) -> None:
        self._configuration = configuration
        self._settings = configuration.settings
        self._catalog = catalog
        self._failed_records = FailedRecords(
            configuration.plain_client,
            self._settings.dead_letter_topic,
            self._settings.log_topic,
            with_rows=self._settings.processing_log_rows,
            query_of=self._query_of,
            is_host=is_host,
        )

    @property
    def is_kept(self) -> bool:
        return self._settings.processing_log_topic_create

    def start(self, world: World, execution: Execution) -> None:
        """Raises ConfigError where its topic or stream cannot be made."""
        settings = self._settings
        if not self.is_kept:
            return
        wanted = NewTopic(
            settings.log_topic, settings.processing_log_partitions, settings.processing_log_replicas
        )
        try:
            if settings.log_topic not in world.topic_names():
                world.create([wanted], [])
            if settings.processing_log_stream_create and settings.queries_file is None:
                text = stream_statement(settings.processing_log_stream, settings.log_topic)
                execution.run_blocking(text, Session())
        except (SqlError, ServiceFailure) as wrong:
            raise ConfigError(f"the processing log cannot be made: {wrong}") from None
        self._failed_records.start()

    def stop(self) -> None:
        self._failed_records.stop()

    def failures_of(self, query_id: str) -> FailureLog | None:
        """What is told of the failed expressions of a query; None: nothing is."""
        if not self.is_kept:
            return None
        client = dict(self._configuration.plain_client)
        servers = client.pop("bootstrap.servers")
        with_rows = self._settings.processing_log_rows
        return FailureLog(servers, self._settings.log_topic, query_id, client, with_rows)

    def _query_of(self, topic: str) -> str:
        """The queries that read a topic, for the name of a logger."""
        names = {source.name for source in self._catalog.sources.values() if source.topic == topic}
        return "_".join(query.id for query in self._catalog.queries.values() if names & {*query.sources})
