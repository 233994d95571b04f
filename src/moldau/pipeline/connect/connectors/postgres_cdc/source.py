"""PostgresCdcSource: the tables of a database as they are, then every change, by logical decoding.

The slot advances only in `committed`: what the server forgets is in Kafka. What it sends again after a failure is
skipped by the position in the offsets.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import Final

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import (
    ConnectError,
    Offset,
    RetriableError,
    SourceConnector,
    SourceContext,
    SourceTask,
)
from moldau.pipeline.connect.connectors.postgres_cdc.changes import Changes, snapshot_record
from moldau.pipeline.connect.connectors.postgres_cdc.database import Database
from moldau.pipeline.connect.connectors.postgres_cdc.failures import SlotInUse, SlotLost
from moldau.pipeline.connect.connectors.postgres_cdc.pgoutput import Lsn, lsn_text, read_message
from moldau.pipeline.connect.connectors.postgres_cdc.positions import FROM_THE_START, Position, position_of
from moldau.pipeline.connect.connectors.postgres_cdc.replication import ReplicationConnection
from moldau.pipeline.connect.connectors.postgres_cdc.settings import DECLARATIONS, settings_of
from moldau.pipeline.connect.connectors.postgres_cdc.snapshot import Snapshot
from moldau.pipeline.connect.connectors.postgres_cdc.tables import topic_name
from moldau.pipeline.connect.connectors.postgres_cdc.transactions import heartbeat_record
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.declarations import ConfigValue, Texts

log = logging.getLogger(__name__)

POLL_S_MAX: Final = 0.1
"""A poll returns soon, so that a task can be stopped."""
READ_S_MAX: Final = 0.5
ATTEMPT_S: Final = 0.5
"""Between two attempts to get a slot that another client has."""


class Phase(Enum):
    APART = "not connected"
    SLOT = "waiting for a slot"
    TABLES = "reading the tables"
    LOG = "reading the log"
    DONE = "nothing left to do"


class PostgresCdcSourceTask(SourceTask):
    def start(self, config: Texts, context: SourceContext) -> None:
        self._settings = settings_of(config)
        values = self._settings.values
        self._partition = {"server": self._settings.prefix}
        stored = context.offset(self._partition)
        self._position = None if stored is None else position_of(stored)
        self._wants_tables = self._settings.snapshot_mode == "always"
        self._wait_s = min(values["poll.interval.ms"] / 1000, POLL_S_MAX)
        self._count_max: int = values["max.batch.size"]
        self._heartbeat_s: float = values["heartbeat.interval.ms"] / 1000
        self._heartbeat_at = time.monotonic() + self._heartbeat_s
        self._phase = Phase.APART
        self._database: Database | None = None
        self._replication: ReplicationConnection | None = None
        self._snapshot: Snapshot | None = None
        self._changes: Changes | None = None
        self._failure: Exception | None = None
        self._is_all_committed = True
        self._slot_wanted_since: float | None = None
        self._attempt_at = 0.0

    def poll(self) -> Sequence[SourceRecord]:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        try:
            records = self._poll()
        except RetriableError:
            # The next poll connects again, and goes on behind what was returned last.
            self._disconnect()
            raise
        if records:
            self._is_all_committed = False
        return records

    def next_poll_ms(self) -> int:
        return 1 if self._phase is Phase.LOG else 100

    def committed(self) -> None:
        self._is_all_committed = True
        if self._replication is not None and self._changes is not None and self._changes.end_lsn:
            try:
                self._replication.confirm(self._changes.end_lsn)
            except RetriableError:
                # The next poll reports it, and connects again.
                log.debug("the stream has ended", exc_info=True)

    def stop(self) -> None:
        if not hasattr(self, "_settings"):
            return
        self._disconnect()
        if self._settings.values["slot.drop.on.stop"]:
            database = Database(self._settings)
            try:
                database.drop_slot(self._settings.slot)
            except ConnectError as failure:
                log.warning("The slot %s cannot be dropped: %s", self._settings.slot, failure)
            finally:
                database.close()

    # The phases

    def _poll(self) -> Sequence[SourceRecord]:
        match self._phase:
            case Phase.APART:
                self._connect()
            case Phase.SLOT:
                self._await_slot()
            case Phase.TABLES:
                return self._read_tables()
            case Phase.LOG:
                return self._read_log()
            case Phase.DONE:
                pass
        return ()

    def _connect(self) -> None:
        if time.monotonic() < self._attempt_at:
            return
        settings = self._settings
        database = self._database = Database(settings)
        database.check_server()
        mode = settings.snapshot_mode
        if mode == "initial_only" and self._position is not None and self._position.reading is None:
            self._phase = Phase.DONE
            return
        database.ensure_publication()
        try:
            slot = database.slot(settings.slot)
            if (
                slot is None
                and self._position is not None
                and not self._wants_tables
                and mode != "initial_only"
            ):
                raise SlotLost(
                    f"{settings.server}: the replication slot {settings.slot} does not exist any more, and the "
                    f"connector has read up to {lsn_text(self._position.lsn)}: changes since then are lost. Delete "
                    "the connector's offsets, or set snapshot.mode=when_needed, to read the tables again"
                )
        except SlotLost:
            if mode != "when_needed":
                raise
            log.warning("The slot %s is lost: the tables are read again", settings.slot)
            if database.slot_exists(settings.slot):
                database.drop_slot(settings.slot)
            slot, self._position = None, None
        position = self._position
        is_to_read = mode != "no_data" and (position is None or position.reading is not None)
        if slot is not None and not (is_to_read or self._wants_tables):
            if position is None:
                self._position = Position(0)
            self._begin_log()
            return
        self._replication = ReplicationConnection(settings.connection(), settings.server)
        is_temporary = slot is not None or mode == "initial_only"
        name = f"moldau_{settings.slot[:30]}_{time.time_ns():x}" if is_temporary else settings.slot
        self._replication.begin_slot(name, is_temporary=is_temporary)
        self._phase = Phase.SLOT

    def _await_slot(self) -> None:
        assert self._replication is not None and self._database is not None
        slot = self._replication.finish_slot(self._wait_s)
        if slot is None:
            if self._slot_wanted_since is None:
                self._slot_wanted_since = time.monotonic()
                log.info("%s: the slot waits for running transactions to end", self._settings.server)
            return
        self._slot_wanted_since = None
        settings = self._settings
        if settings.snapshot_mode == "no_data":
            self._position = Position(slot.lsn, 0)
            self._begin_log()
            return
        position = self._position
        begins = self._wants_tables or position is None or position.reading is None
        if begins or position is None:
            # Until a row has been read, the reading begins again after a failure.
            position = Position(slot.lsn, 0, reading=FROM_THE_START)
        else:
            position = position.interrupted(slot.lsn)
        self._position, self._wants_tables = position, False
        behind = None if begins else position.reading
        self._snapshot = Snapshot(settings, self._database, slot.snapshot, behind)
        self._snapshot_lsn: Lsn = slot.lsn
        self._snapshot_us = time.time_ns() // 1000
        # The snapshot has its own transaction now.
        self._replication.close()
        self._replication = None
        self._phase = Phase.TABLES

    def _read_tables(self) -> Sequence[SourceRecord]:
        assert self._snapshot is not None and self._position is not None
        rows = self._snapshot.take(self._count_max)
        records = []
        now_us = time.time_ns() // 1000
        position = self._position
        for row in rows:
            position = replace(position, reading=None if row.is_last else row.reading)
            records.append(
                snapshot_record(self._settings, row, position, self._snapshot_lsn, self._snapshot_us, now_us)
            )
        self._position = position
        if len(rows) < self._count_max:
            self._position = replace(position, reading=None)
            self._disconnect()
            log.info(
                "%s: the tables have been read as of %s", self._settings.server, lsn_text(self._snapshot_lsn)
            )
            if self._settings.snapshot_mode == "initial_only":
                self._phase = Phase.DONE
        return records

    def _begin_log(self) -> None:
        settings, database, position = self._settings, self._database, self._position
        assert database is not None and position is not None
        if self._replication is not None:
            self._replication.close()
        self._replication = ReplicationConnection(settings.connection(), settings.server)
        try:
            self._replication.start(settings.slot, settings.publication)
        except SlotInUse as failure:
            self._wait_for_slot(failure)
            return
        self._slot_wanted_since = None
        self._changes = Changes(settings, position, database.shape_of, database.is_after)
        self._is_all_committed = True
        self._phase = Phase.LOG

    def _wait_for_slot(self, failure: SlotInUse) -> None:
        now = time.monotonic()
        if self._slot_wanted_since is None:
            self._slot_wanted_since = now
            log.info("%s", failure)
        values = self._settings.values
        delay_s = values["slot.retry.delay.ms"] / 1000
        if now - self._slot_wanted_since > delay_s * values["slot.max.retries"]:
            self._slot_wanted_since = None
            raise failure
        self._disconnect()
        self._attempt_at = now + min(delay_s, ATTEMPT_S)

    def _read_log(self) -> Sequence[SourceRecord]:
        replication, changes = self._replication, self._changes
        assert replication is not None and changes is not None
        records: list[SourceRecord] = []
        now_us = time.time_ns() // 1000
        try:
            wait_s = self._wait_s
            end = time.monotonic() + READ_S_MAX
            # The end comes also where only tables change that are not captured.
            while len(records) < self._count_max and time.monotonic() < end:
                change = replication.receive(wait_s)
                if change is None:
                    break
                records += changes.read(read_message(change.data), change.lsn, now_us)
                wait_s = 0.0
        except Exception as failure:
            self._position = changes.position
            if not records:
                raise
            # What was read before it is not lost.
            self._failure = failure
            if isinstance(failure, RetriableError):
                self._disconnect()
            return records
        self._position = changes.position
        if not records and self._is_all_committed:
            if changes.is_between_transactions:
                changes.end_lsn = max(changes.end_lsn, replication.sent_to)
            replication.advance(changes.end_lsn)
        replication.report_if_due(self._settings.values["status.update.interval.ms"] / 1000)
        if self._heartbeat_s and time.monotonic() >= self._heartbeat_at:
            records.append(self._heartbeat(changes))
        return records

    def _heartbeat(self, changes: Changes) -> SourceRecord:
        self._heartbeat_at = time.monotonic() + self._heartbeat_s
        values = self._settings.values
        query = values["heartbeat.action.query"]
        if query and self._database is not None:
            self._database.run(query)
        topic = topic_name(f"{values['topic.heartbeat.prefix']}.{self._settings.prefix}")
        now_ms = time.time_ns() // 1_000_000
        return heartbeat_record(
            topic, self._settings.prefix, now_ms, self._partition, changes.heartbeat_offset()
        )

    def _disconnect(self) -> None:
        for one in (self._snapshot, self._replication, self._database):
            if one is not None:
                one.close()
        self._snapshot = self._replication = self._database = self._changes = None
        self._phase = Phase.APART


class PostgresCdcSourceConnector(SourceConnector):
    declarations = DECLARATIONS
    task_class = PostgresCdcSourceTask
    aliases = ("PostgresCdcSource", "PostgresCdc", "io.debezium.connector.postgresql.PostgresConnector")

    def start(self, config: Texts) -> None:
        settings_of(config)
        super().start(config)

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        """Also whether the database can be captured."""
        name = "database.hostname"
        try:
            settings = settings_of(config)
        except ConfigError:
            # The declarations say which setting is wrong.
            return ()
        except ConnectError as failure:
            return (
                ConfigValue("table.include.list", config.get("table.include.list"), errors=[str(failure)]),
            )
        try:
            database = Database(settings)
        except ConnectError as failure:
            return (ConfigValue(name, config.get(name), errors=[str(failure)]),)
        try:
            database.check_server()
            database.slot(settings.slot)
        except ConnectError as failure:
            return (ConfigValue(name, config.get(name), errors=[str(failure)]),)
        finally:
            database.close()
        return ()

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        for partition, offset in offsets:
            if not isinstance(partition.get("server"), str):
                raise ConnectError(
                    f"A source partition is {{'server': topic.prefix}} here, not {dict(partition)}"
                )
            if offset is not None:
                position_of(offset)
