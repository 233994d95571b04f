"""One server without HTTP: executes statements, runs transient queries, and tells how everything is."""

import asyncio
import logging
import re
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from moldau import __version__
from moldau.core.errors import ConfigError
from moldau.pipeline.sql.engine import Applied, Catalog
from moldau.pipeline.sql.engine.answers import Answer
from moldau.pipeline.sql.engine.protected_topics import is_writable
from moldau.pipeline.sql.engine.server_properties import editable_name
from moldau.pipeline.sql.formats.registry import SchemaFinder
from moldau.pipeline.sql.queries import QueryHost
from moldau.pipeline.sql.server.commands.command_log import CommandLog, LocalLog
from moldau.pipeline.sql.server.commands.command_topic import prepare_topic
from moldau.pipeline.sql.server.connect_client import ConnectClient
from moldau.pipeline.sql.server.connectors import Connectors
from moldau.pipeline.sql.server.execution import Execution
from moldau.pipeline.sql.server.failures import BAD_REQUEST, SHUTTING_DOWN, ServiceFailure, bad_statement
from moldau.pipeline.sql.server.headless import run_file
from moldau.pipeline.sql.server.hosting.membership import Membership
from moldau.pipeline.sql.server.hosting.query_driver import QueryDriver
from moldau.pipeline.sql.server.inserting import record_of, target_of
from moldau.pipeline.sql.server.metrics import metrics_text
from moldau.pipeline.sql.server.processing_log.upkeep import ProcessingLog
from moldau.pipeline.sql.server.requests import (
    CommandStatus,
    Executed,
    Health,
    HostStatus,
    QueryRuntime,
    Runtime,
    ServerInfo,
    StartedQuery,
    StatementRequest,
    TransientQuery,
)
from moldau.pipeline.sql.server.settings import Configuration, ServerSettings
from moldau.pipeline.sql.server.statistics import Statistics
from moldau.pipeline.sql.server.table_upkeep import TableUpkeep
from moldau.pipeline.sql.server.transient import TransientQueries
from moldau.pipeline.sql.server.user_functions import UserFunctions
from moldau.pipeline.sql.server.world import World
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.translation.row import log_failure

REGISTRY_PREFIX: Final = "ksql.schema.registry."
RETRY_S: Final = 0.2
ASK_S: Final = 5.0
GONE_S_MAX: Final = 30.0
"""How long DROP ... DELETE TOPIC waits for the query that writes to the topic."""

log = logging.getLogger("moldau.sql")


class SqlService:
    """`start` and `stop` block; the coroutines belong to the event loop that serves HTTP. All of them raise
    `ServiceFailure`, with ksqlDB's code and the statement, and nothing else that is expected."""

    def __init__(self, configuration: Configuration, url: str) -> None:
        """`url`: how other servers reach this one."""
        self.configuration = configuration
        self.settings: ServerSettings = configuration.settings
        self.url = url
        self._client = {**configuration.plain_client, "socket.keepalive.enable": "true"}
        self._admin = _admin(self._client)
        self._functions = UserFunctions(self.settings.extension_dir)
        self._functions.refresh()
        self.catalog = Catalog(self._functions.library, _registry_settings(configuration.texts))
        self._membership = self._new_membership()
        self._processing_log = ProcessingLog(configuration, self.catalog, lambda: self._membership.is_host)
        self._driver = QueryDriver(
            configuration,
            self.catalog,
            self._admin,
            lambda: self._functions.paths,
            self._processing_log.failures_of,
        )
        self.queries = self._new_query_host()
        self._tables = TableUpkeep(self.queries.tables, self.catalog)
        self._log = self._new_log()
        self._world = World(self._admin, _schema_finder(configuration.texts), self._texts)
        self._transient = TransientQueries(
            self.settings, self.catalog, self.queries, self._functions, self._texts
        )
        self._statistics = Statistics(
            self.settings,
            self.catalog,
            self._admin,
            self._client,
            self._driver,
            self._membership,
            self._transient,
        )
        self._execution = Execution(
            self.settings,
            self.catalog,
            self._log,
            self._world,
            self.queries.inserts,
            self.queries.own_threads,
            Connectors(ConnectClient(self.settings)),
            runtime_of=self._statistics.runtime_of,
            before_deletion=self._wait_gone,
            goes_on=self._goes_on,
        )
        self._cluster_id = ""
        self._is_loaded = False
        self._terminating = threading.Event()

    def _new_membership(self) -> Membership:
        return Membership(
            self._client,
            self._membership_topic,
            self.url,
            session_timeout_ms=self.settings.session_timeout_ms,
            heartbeat_interval_ms=self.settings.heartbeat_interval_ms,
            on_turn=lambda is_host: self._driver.turn(is_host),
        )

    def _new_query_host(self) -> QueryHost:
        settings = dict(self.configuration.client)
        servers = settings.pop("bootstrap.servers")
        failures = self._processing_log.failures_of("transient")
        url = self.settings.registry_url
        return QueryHost(
            servers,
            settings,
            registry_url=url,
            on_failure=failures or log_failure,
            own_threads_max=max(self.settings.push_queries_max, 1),
        )

    def _new_log(self) -> CommandLog | LocalLog:
        if self.is_headless:
            return LocalLog(self.catalog, self._applied)
        topic, timeout_s = self.settings.command_topic, self.settings.command_timeout_ms / 1000
        return CommandLog(self._client, topic, self.catalog, self._applied, timeout_s=timeout_s)

    @property
    def is_headless(self) -> bool:
        return self.settings.queries_file is not None

    # Start and stop

    def start(self) -> None:
        """Returns when the command topic has been read. ConfigError where it cannot be."""
        deadline = time.monotonic() + self.settings.start_timeout_ms / 1000
        self._cluster_id = self._reach(deadline)
        prepare_topic(
            self._admin,
            self._membership_topic,
            replicas=self.settings.topic_replicas,
            min_insync_replicas=self.settings.topic_min_insync_replicas,
        )
        if isinstance(self._log, CommandLog):
            self._log.open(deadline)
        else:
            assert self.settings.queries_file is not None
            run_file(Path(self.settings.queries_file), self._execution)
        self._is_loaded = True
        self._tables.keep_up()
        self._driver.start()
        self._membership.start()
        self._processing_log.start(self._world, self._execution)

    def stop(self) -> None:
        """Ends transient queries, and the driver process after its batches."""
        self._terminating.set()
        self._processing_log.stop()
        self._membership.stop()
        self._execution.close()
        self._driver.stop()
        self.queries.close()
        self._log.close()

    # What requests ask for

    async def execute(self, request: StatementRequest) -> list[Executed]:
        """POST /ksql: statements in their order, up to the first that fails. SELECT and PRINT fail with QUERY_ENDPOINT.
        The result has one entry for each statement."""
        self._require_open()
        self._refresh_functions()
        return await self._execution.run(request)

    async def start_query(self, request: StatementRequest) -> StartedQuery:
        """POST /query, /query-stream, /ws/query: one SELECT or PRINT."""
        self._require_open()
        self._refresh_functions()
        return await self._transient.start(request, self._execution.session(request))

    def close_query(self, query_id: str) -> bool:
        """Whether there was a push query of this id."""
        return self._transient.close(query_id)

    async def insert(self, target: str, row: Mapping[str, object], properties: Mapping[str, str]) -> None:
        """POST /inserts-stream: a row in JSON, columns by name. Returns when it is acknowledged."""
        await self.send(target, row, properties)

    def send(
        self, target: str, row: Mapping[str, object], properties: Mapping[str, str]
    ) -> "asyncio.Future[None]":
        """As `insert`, without waiting: the future is done when the row is acknowledged, or fails. ServiceFailure at
        once where the row does not fit the columns."""
        try:
            now_ms = int(time.time() * 1000)
            record = record_of(target_of(self.catalog, target), row, now_ms, self.configuration.effective)
        except SqlError as wrong:
            raise bad_statement(wrong, f"INSERT INTO {target}") from wrong
        return self.queries.inserts.send(record.source, record.key, record.value, record.timestamp_ms)

    async def terminate_cluster(self, topics: Sequence[str] = ()) -> None:
        """POST /ksql/terminate: ends all queries of all servers of this service id, deletes the topics of streams and
        tables whose names these patterns match, and the command topic."""
        self._require_open()
        try:
            patterns = [re.compile(pattern) for pattern in topics]
        except re.error as wrong:
            raise ServiceFailure(BAD_REQUEST, f"deleteTopicList has an invalid pattern: {wrong}") from None
        running = [self.settings.application_id(query) for query in self.catalog.queries]
        await self._execution.run(StatementRequest("TERMINATE ALL;"))
        self._terminating.set()
        await asyncio.to_thread(self._delete_everything, patterns, running)

    # What it tells. None of these block.

    def info(self) -> ServerInfo:
        return ServerInfo(
            __version__,
            self._cluster_id,
            self.settings.service_id,
            "RUNNING" if self._is_loaded else "STARTING",
        )

    async def health(self) -> Health:
        """Asks the brokers."""
        kafka = await asyncio.to_thread(self._reaches_kafka)
        return Health(
            {"metastore": self._is_loaded, "kafka": kafka, "commandRunner": self._log.problem is None}
        )

    def command_status(self, command_id: str) -> CommandStatus | None:
        """`stream/PAGEVIEWS/create`. None: there is no such command."""
        return self._log.statuses.get(command_id)

    def command_statuses(self) -> dict[str, CommandStatus]:
        return dict(self._log.statuses)

    def query_runtimes(self) -> dict[str, QueryRuntime]:
        return self._statistics.query_runtimes()

    def runtime_of(self, answer: Answer) -> Runtime:
        return self._statistics.runtime_of(answer)

    def transient_queries(self) -> tuple[TransientQuery, ...]:
        return self._transient.running()

    def hosts(self) -> tuple[HostStatus, ...]:
        """The servers of this service id that were heard of, this one among them."""
        return self._membership.hosts()

    def check_property(self, name: str) -> None:
        """SqlError where SET takes no property of this name."""
        editable_name(name, ServerSettings.KEYS)

    def metrics_text(self) -> str:
        """/metrics, in Prometheus' text format. Asks the driver process, so call it in a thread."""
        own = metrics_text(
            self.query_runtimes().values(),
            self.queries.tables.status(),
            transient_running=len(self.transient_queries()),
            transient_started=self._transient.started,
            transient_failed=self._transient.failed,
            is_host=self._membership.is_host,
            commands=self.catalog.next_offset,
        )
        return own + self._driver.metrics_text()

    @property
    def driver_pid(self) -> int | None:
        """The process that runs Spark for this server, if there is one."""
        return self._driver.pid

    # Within

    @property
    def _membership_topic(self) -> str:
        """Headless servers have no commands, but a topic to divide the work by."""
        return f"{self.settings.internal_prefix}_configs" if self.is_headless else self.settings.command_topic

    def _refresh_functions(self) -> None:
        if self._functions.refresh():
            self.catalog.library = self._functions.library

    def _texts(self) -> Mapping[str, str]:
        return {**self.configuration.effective, **self.catalog.system_properties}

    def _applied(self, applied: Applied) -> None:
        """Called by the thread that replays."""
        if self._is_loaded:
            self._tables.keep_up()
            self._driver.wake()

    def _goes_on(self, applied: Applied) -> str:
        """What happens now, for the answer to a command that starts a query."""
        if applied.change is None or not applied.change.queries or self._driver.is_ready:
            return ""
        if applied.command.entity in ("terminate", "pause", "resume"):
            return ""
        if self._driver.problem is not None:
            return f"Spark does not run: {self._driver.problem}"
        host = next((one.host for one in self.hosts() if one.hosts_queries), None)
        if host is not None and not self._membership.is_host:
            return f"The server {host} hosts the persistent queries of {self.settings.service_id}."
        return "Spark is starting; the query begins when it has."

    def _wait_gone(self, applied: Applied) -> None:
        if applied.change is None or not self._membership.is_host:
            return
        ended = [self.settings.application_id(name) for name in applied.change.removed_queries]
        if ended and not self._driver.wait_gone(ended, GONE_S_MAX):
            log.warning("%s: the query has not ended yet, and its topic is deleted", ", ".join(ended))

    def _require_open(self) -> None:
        if self._terminating.is_set():
            raise ServiceFailure(SHUTTING_DOWN, "The server is shutting down")
        if self.is_headless:
            raise ServiceFailure(
                BAD_REQUEST,
                f"This server runs the statements of {self.settings.queries_file} (ksql.queries.file), and takes no "
                "others: change the file and restart it",
            )

    def _reach(self, deadline: float) -> str:
        """The id of the cluster. Raises ConfigError where no broker answers in time."""
        while True:
            try:
                left = max(min(deadline - time.monotonic(), ASK_S), 0.1)
                return self._admin.list_topics(timeout=left).cluster_id or ""
            except KafkaException as error:
                if time.monotonic() >= deadline:
                    raise ConfigError(
                        f"no Kafka broker answers at {self._client['bootstrap.servers']}: {error.args[0].str()}. "
                        "Start one, or name another one with -b"
                    ) from None
            time.sleep(RETRY_S)

    def _reaches_kafka(self) -> bool:
        try:
            self._admin.list_topics(timeout=ASK_S)
        except KafkaException:
            return False
        return True

    def _delete_everything(self, patterns: Sequence[re.Pattern[str]], ended: list[str]) -> None:
        settings = self.configuration.effective
        used = {source.topic for source in self.catalog.sources.values()}
        doomed = [
            topic
            for topic in used
            if is_writable(topic, settings) and any(pattern.fullmatch(topic) for pattern in patterns)
        ]
        self._driver.wait_gone(ended, GONE_S_MAX)
        self._world.delete(doomed, with_subjects=True)
        self._world.delete([self.settings.command_topic])


def _admin(client: Mapping[str, str]) -> AdminClient:
    try:
        return AdminClient({**client, "log_level": 0})
    except KafkaException as error:
        raise ConfigError(f"the Kafka client rejects its settings: {error.args[0].str()}") from None


def _registry_settings(texts: Mapping[str, str]) -> dict[str, str]:
    """`ksql.schema.registry.basic.auth.user.info` as SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO, as formats have it."""
    return {
        name.removeprefix("ksql.").replace(".", "_").upper(): text
        for name, text in texts.items()
        if name.startswith(REGISTRY_PREFIX)
    }


def _schema_finder(texts: Mapping[str, str]) -> SchemaFinder | None:
    settings = {
        name.removeprefix(REGISTRY_PREFIX): text
        for name, text in texts.items()
        if name.startswith(REGISTRY_PREFIX)
    }
    url = settings.pop("url", None)
    return None if url is None else SchemaFinder(url, settings)
