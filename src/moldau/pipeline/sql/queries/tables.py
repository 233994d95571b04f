"""The tables that pull queries may ask: each is fed from its topic and kept in memory.

One consumer in one thread feeds all of them. A restart loads them again.
"""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from confluent_kafka import Consumer, KafkaException, TopicPartition

from moldau.pipeline.serdes.serde import ServiceAway
from moldau.pipeline.sql.definitions import SourceInfo
from moldau.pipeline.sql.queries import clients
from moldau.pipeline.sql.queries.messages import Received, receive
from moldau.pipeline.sql.queries.table_content import TableContent
from moldau.pipeline.sql.syntax.errors import SqlError
from moldau.pipeline.sql.translation.row import OnFailure, log_failure

log = logging.getLogger(__name__)

POLL_S: Final = 0.05
ASK_S: Final = 10.0
RETRY_S: Final = 1.0


class TableNotReady(SqlError):
    """The table is still being loaded; the message says how far it is."""


@dataclass(frozen=True, slots=True)
class TableStatus:
    name: str
    topic: str
    is_ready: bool
    """All records that the topic had when the table was added are loaded."""
    lag: int
    """Records of the topic that are not loaded yet, as far as known."""
    entries: int
    bytes_held: int
    """Of keys and values, without the overhead of the map (about 100 bytes for each entry). An estimate."""


@dataclass(slots=True)
class _Table:
    source: SourceInfo
    retention_ms: int | None
    content: TableContent
    positions: dict[int, int] = field(default_factory=dict)
    """Partition to the offset behind the last record that is loaded."""
    ends: dict[int, int] = field(default_factory=dict)
    """Where each partition ended when it was asked for the last time."""
    unread: set[int] | None = None
    """Partitions whose end was not seen yet. None: the partitions are not known yet."""
    ready: threading.Event = field(default_factory=threading.Event)

    @property
    def lag(self) -> int:
        return sum(
            max(0, end - self.positions.get(partition, 0)) for partition, end in list(self.ends.items())
        )


class Tables:
    def __init__(
        self,
        bootstrap_servers: str,
        client_settings: clients.ClientSettings,
        on_failure: OnFailure = log_failure,
    ) -> None:
        self._settings = {
            **clients.consumer(bootstrap_servers, client_settings, "moldau-sql-tables", 100),
            "enable.partition.eof": "true",
        }
        self._on_failure = on_failure
        self._lock = threading.Lock()
        self._tables: dict[str, _Table] = {}
        self._unusable: dict[str, SqlError] = {}
        """Tables whose format cannot be read here, and why."""
        self._assigned: dict[str, list[int]] = {}
        """Topic to its partitions; the thread's own."""
        self._is_changed = False
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, source: SourceInfo, retention_ms: int | None = None) -> None:
        """Begins to load a table; returns at once. `retention_ms` is that of the windows, of a windowed table
        (`plan.grouping.window.retention_ms` of its query). A table of that name that is there already is replaced if
        it is another. One whose format cannot be read here is said in the log, and to those who ask it."""
        with self._lock:
            known = self._tables.get(source.name)
            if known is not None and (known.source, known.retention_ms) == (source, retention_ms):
                return
            self._unusable.pop(source.name, None)
            try:
                content = TableContent(source, retention_ms, self._on_failure)
            except SqlError as wrong:
                self._unusable[source.name] = wrong
                if self._tables.pop(source.name, None) is not None:
                    self._is_changed = True
                log.error("the table %s cannot be asked on this server: %s", source.name, wrong)
                return
            self._tables[source.name] = _Table(source, retention_ms, content)
            self._is_changed = True
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._feed, name="sql-tables", daemon=True)
                self._thread.start()

    def remove(self, name: str) -> None:
        with self._lock:
            self._unusable.pop(name, None)
            if self._tables.pop(name, None) is not None:
                self._is_changed = True

    def status(self) -> list[TableStatus]:
        with self._lock:
            tables = list(self._tables.values())
        return [
            TableStatus(
                one.source.name,
                one.source.topic,
                one.ready.is_set(),
                one.lag,
                len(one.content),
                one.content.bytes_held,
            )
            for one in tables
        ]

    def is_ready(self, name: str) -> bool:
        found = self._tables.get(name)
        return found is not None and found.ready.is_set()

    def content(self, source: SourceInfo, wait_s_max: float) -> TableContent:
        """The rows of a loaded table. SqlError where it is not kept, TableNotReady where it is not loaded in time."""
        found = self._tables.get(source.name)
        if found is None and (wrong := self._unusable.get(source.name)) is not None:
            raise SqlError(f"the table {source.name} cannot be asked on this server: {wrong}")
        if found is None:
            hint = (
                "CREATE SOURCE TABLE over its topic makes one that is kept, and so does CREATE TABLE ... AS SELECT. "
                "EMIT CHANGES at the end asks for its changes instead."
            )
            raise SqlError(f"the table {source.name} is not materialized, so it cannot be asked", hint=hint)
        if not found.ready.wait(wait_s_max):
            raise self._not_ready(found, wait_s_max)
        return found.content

    def close(self) -> None:
        self._closing.set()
        with self._lock:
            thread, self._thread = self._thread, None
            self._tables.clear()
        if thread is not None:
            thread.join()

    def _not_ready(self, table: _Table, waited_s: float) -> TableNotReady:
        name, topic = table.source.name, table.source.topic
        if table.unread is None:
            message = (
                f"the table {name} waits for its topic {topic}, which does not exist or cannot be reached"
            )
        else:
            lag = table.lag
            loaded = sum(table.positions.values())
            message = (
                f"the table {name} is being loaded: {loaded} of {loaded + lag} records of {topic} are read"
            )
        return TableNotReady(f"{message} after {waited_s:g} s", hint="Try again in a moment.")

    # The thread

    def _feed(self) -> None:
        consumer = Consumer(self._settings)
        next_try_s = 0.0
        try:
            while not self._closing.is_set():
                if self._is_changed and time.monotonic() >= next_try_s:
                    next_try_s = time.monotonic() + RETRY_S
                    self._assign(consumer)
                received = receive(consumer, POLL_S)
                while received is not None and not self._closing.is_set():
                    try:
                        self._take(received)
                        break
                    except ServiceAway as away:
                        log.debug("tables wait: %s", away)
                        self._closing.wait(RETRY_S)
        finally:
            consumer.close()

    def _assign(self, consumer: Consumer) -> None:
        """Begins to read the topics of new tables, and no longer reads those of removed ones."""
        with self._lock:
            self._is_changed = False
            tables = list(self._tables.values())
        wanted = {one.source.topic for one in tables}
        for topic in self._assigned.keys() - wanted:
            partitions = self._assigned.pop(topic)
            consumer.incremental_unassign([TopicPartition(topic, partition) for partition in partitions])
        for topic in {one.source.topic for one in tables if one.unread is None}:
            try:
                self._begin(consumer, topic, [one for one in tables if one.source.topic == topic])
            except KafkaException as failure:
                log.debug("tables wait for the topic %s: %s", topic, failure)
                self._is_changed = True

    def _begin(self, consumer: Consumer, topic: str, tables: Sequence[_Table]) -> None:
        """Reads a topic from its beginning, for all tables of it: another one may be there already, and sees its
        records again, which changes nothing."""
        found = consumer.list_topics(topic, timeout=ASK_S).topics[topic]
        if found.error is not None:
            raise KafkaException(found.error)
        partitions = sorted(found.partitions)
        if topic in self._assigned:
            old = [TopicPartition(topic, partition) for partition in self._assigned.pop(topic)]
            consumer.incremental_unassign(old)
        consumer.incremental_assign([TopicPartition(topic, partition, 0) for partition in partitions])
        self._assigned[topic] = partitions
        ends = {
            partition: consumer.get_watermark_offsets(TopicPartition(topic, partition), ASK_S)[1]
            for partition in partitions
        }
        for one in tables:
            if one.unread is None:
                one.ends = ends
                one.positions = dict.fromkeys(partitions, 0)
                one.unread = set(partitions)

    def _take(self, received: Received) -> None:
        with self._lock:
            tables = [one for one in self._tables.values() if one.unread is not None]
        for table in tables:
            topic, unread = table.source.topic, table.unread or set()
            for columns in received.batch:
                if columns.topic == topic:
                    table.content.load(zip(columns.keys, columns.values, columns.timestamps_ms, strict=True))
                    table.positions[columns.partition] = columns.offsets[-1] + 1
            for (name, partition), offset in received.ends.items():
                if name == topic:
                    table.positions[partition] = max(table.positions[partition], offset)
                    unread.discard(partition)
            if not unread:
                table.ready.set()
