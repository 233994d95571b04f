"""Turns what logical decoding sends into records. Owns the position in the log.

It does no I/O: the catalog is asked through two functions.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from moldau.core.errors import PeerError
from moldau.pipeline.connect.connectors.postgres_cdc.envelope import (
    CREATE,
    DELETE,
    READ,
    TRANSACTION_SCHEMA,
    TRUNCATE,
    UPDATE,
    Origin,
    envelope,
)
from moldau.pipeline.connect.connectors.postgres_cdc.pgoutput import (
    FULL_IDENTITY,
    Begin,
    Commit,
    Delete,
    Insert,
    Lsn,
    Message,
    Relation,
    Row,
    Truncate,
    Update,
)
from moldau.pipeline.connect.connectors.postgres_cdc.positions import (
    ALL,
    Key,
    Position,
    is_seen,
    offset_of,
)
from moldau.pipeline.connect.connectors.postgres_cdc.settings import Settings
from moldau.pipeline.connect.connectors.postgres_cdc.snapshot import SnapshotRow
from moldau.pipeline.connect.connectors.postgres_cdc.tables import CapturedTable, TableShape, topic_name
from moldau.pipeline.connect.connectors.postgres_cdc.transactions import boundary_record
from moldau.pipeline.connect.data.records import Header, SourceRecord
from moldau.pipeline.connect.data.struct import Struct

NEW_KEY: Final = "__debezium.newkey"
OLD_KEY: Final = "__debezium.oldkey"

ShapeOf = Callable[[Relation], TableShape]
IsAfter = Callable[[TableShape, Key, Key], bool]


class Changes:
    def __init__(self, settings: Settings, position: Position, shape_of: ShapeOf, is_after: IsAfter) -> None:
        self.position = position
        self.end_lsn: Lsn = 0
        """Of the last complete transaction."""
        self._settings = settings
        self._partition = {"server": settings.prefix}
        self._database: str = settings.values["database.dbname"]
        self._has_tombstones: bool = settings.values["tombstones.on.delete"]
        self._has_boundaries: bool = settings.values["provide.transaction.metadata"]
        self._shape_of = shape_of
        self._is_after = is_after
        self._tables: dict[int, tuple[Relation, CapturedTable | None]] = {}
        self._begin: Begin | None = None
        self._to_skip = 0
        self._done = 0
        self._commit_lsn: Lsn | None = None
        self._change_lsn: Lsn = 0
        self._orders: Counter[str] = Counter()

    @property
    def is_between_transactions(self) -> bool:
        return self._begin is None

    def heartbeat_offset(self) -> dict[str, object]:
        return offset_of(self.position)

    def read(self, message: Message, lsn: Lsn, now_us: int) -> Sequence[SourceRecord]:
        """The records of a message. `lsn` is where the change is in the log."""
        match message:
            case Relation():
                self._tables[message.oid] = (message, self._captured(message))
            case Begin():
                self._begin = message
                self._to_skip = self.position.to_skip(message.final_lsn)
                self._done = 0
                self._orders.clear()
            case Commit():
                return self._commit(message)
            case Insert() | Update() | Delete() | Truncate():
                return self._change(message, lsn, now_us)
        return ()

    def _commit(self, message: Commit) -> Sequence[SourceRecord]:
        begin = self._opened()
        self._begin = None
        self.end_lsn = message.end_lsn
        self._commit_lsn = message.final_lsn
        if self._to_skip == ALL:
            return ()
        self.position = self.position.at(message.final_lsn, ALL)
        if not (self._has_boundaries and self._orders):
            return ()
        return (self._boundary("END", begin),)

    def _change(
        self, message: Insert | Update | Delete | Truncate, lsn: Lsn, now_us: int
    ) -> Sequence[SourceRecord]:
        begin = self._opened()
        self._done += 1
        self._change_lsn = lsn
        is_skipped = self._to_skip == ALL or self._done <= self._to_skip or lsn <= self.position.change_lsn
        made: list[SourceRecord] = []
        relations = message.relations if isinstance(message, Truncate) else (message.relation,)
        for oid in relations:
            relation, table = self._table(oid)
            if table is None:
                continue
            is_first = not self._orders
            self._orders[table.shape.full_name] += 1
            if is_skipped:
                continue
            if is_first and self._has_boundaries:
                made.append(self._boundary("BEGIN", begin))
            made += self._records(message, relation, table, begin, now_us)
        if not is_skipped:
            change_lsn = self.position.change_lsn
            self.position = self.position.at(begin.final_lsn, self._done)
            if change_lsn:
                self.position = self._with_change_lsn(change_lsn)
            offset = self._offset()
            for one in made:
                one.source_offset = offset
        return made

    def _records(
        self,
        message: Insert | Update | Delete | Truncate,
        relation: Relation,
        table: CapturedTable,
        begin: Begin,
        now_us: int,
    ) -> Iterator[SourceRecord]:
        writer = _Writer(self, table, begin, now_us)
        match message:
            case Insert(_, new):
                if not self._is_seen(table, new):
                    yield from writer.created(new)
            case Delete(_, old):
                if not self._is_seen(table, old):
                    yield from writer.deleted(old)
            case Update(_, old, new):
                yield from self._updates(writer, table, relation, old, new)
            case Truncate() if TRUNCATE not in self._settings.skipped:
                yield writer.record(TRUNCATE, None, None, None)

    def _updates(
        self, writer: "_Writer", table: CapturedTable, relation: Relation, old: Row | None, new: Row
    ) -> Iterator[SourceRecord]:
        if old is not None and table.has_other_key(old, new):
            if not self._is_seen(table, old):
                yield from writer.deleted(old, new)
            if not self._is_seen(table, new):
                yield from writer.created(new, old)
        elif not self._is_seen(table, new):
            before = old if relation.identity == FULL_IDENTITY else None
            yield from writer.updated(before, new)

    def _is_seen(self, table: CapturedTable, row: Row) -> bool:
        if not self.position.windows:
            return False
        shape = table.shape
        return is_seen(
            self.position,
            self._opened().final_lsn,
            shape.full_name,
            table.primary_key(row),
            lambda key, start: self._is_after(shape, key, start),
        )

    def origin_of(self, begin: Begin) -> Origin:
        return Origin(
            self._settings.prefix,
            self._database,
            begin.committed_us,
            self._change_lsn,
            begin.xid,
            self._commit_lsn,
        )

    def transaction_of(self, begin: Begin, table: CapturedTable) -> Struct | None:
        if not self._has_boundaries:
            return None
        total = self._orders.total()
        order = self._orders[table.shape.full_name]
        return Struct(TRANSACTION_SCHEMA, (_transaction_id(begin), total, order))

    def is_written(self, op: str) -> bool:
        return op not in self._settings.skipped

    def record(self, table: CapturedTable, key: Struct | None, value: Struct | None) -> SourceRecord:
        """Without its offset, which all records of a change share."""
        return SourceRecord(
            table.topic,
            key,
            value,
            table.key_schema,
            None if value is None else value.schema,
            source_partition=self._partition,
        )

    @property
    def has_tombstones(self) -> bool:
        return self._has_tombstones

    def _boundary(self, status: str, begin: Begin) -> SourceRecord:
        return boundary_record(
            topic_name(f"{self._settings.prefix}.transaction"),
            status,
            _transaction_id(begin),
            begin.committed_us,
            self._orders if status == "END" else None,
            self._partition,
            self._offset(),
        )

    def _offset(self) -> dict[str, object]:
        begin = self._begin
        if begin is None:
            return offset_of(self.position, change_lsn=self._change_lsn)
        return offset_of(self.position, xid=begin.xid, change_lsn=self._change_lsn, ts_us=begin.committed_us)

    def _with_change_lsn(self, change_lsn: Lsn) -> Position:
        position = self.position
        return Position(position.lsn, position.done, change_lsn, position.windows)

    def _captured(self, relation: Relation) -> CapturedTable | None:
        if not self._settings.selection.has_table(relation.schema, relation.table):
            return None
        return CapturedTable(self._shape_of(relation), self._settings)

    def _table(self, oid: int) -> tuple[Relation, CapturedTable | None]:
        try:
            return self._tables[oid]
        except KeyError:
            raise PeerError(
                f"pgoutput sent a change of the table with oid {oid} before its description"
            ) from None

    def _opened(self) -> Begin:
        if self._begin is None:
            raise PeerError("pgoutput sent a change or a commit outside of a transaction")
        return self._begin


class _Writer:
    """The records of one change of one table."""

    def __init__(self, changes: Changes, table: CapturedTable, begin: Begin, now_us: int) -> None:
        self._changes = changes
        self._table = table
        self._begin = begin
        self._now_us = now_us

    def created(self, new: Row, old: Row | None = None) -> Iterator[SourceRecord]:
        """`old` is the row this one has been before its key was changed."""
        if not self._changes.is_written(CREATE):
            return
        made = self.record(CREATE, self._table.key(new), None, self._table.row(new, old))
        if old is not None and self._table.key_schema is not None:
            made.headers = (Header(OLD_KEY, self._table.key(old), self._table.key_schema),)
        yield made

    def updated(self, old: Row | None, new: Row) -> Iterator[SourceRecord]:
        if self._changes.is_written(UPDATE):
            table = self._table
            before = None if old is None else table.row(old)
            yield self.record(UPDATE, table.key(new), before, table.row(new, old))

    def deleted(self, old: Row, new: Row | None = None) -> Iterator[SourceRecord]:
        """`new` is the row this one becomes because its key is changed."""
        if not self._changes.is_written(DELETE):
            return
        table = self._table
        key = table.key(old)
        headers: tuple[Header, ...] = ()
        if new is not None and table.key_schema is not None:
            headers = (Header(NEW_KEY, table.key(new), table.key_schema),)
        made = self.record(DELETE, key, table.row(old), None)
        made.headers = headers
        yield made
        if self._changes.has_tombstones and key is not None:
            tombstone = self._changes.record(table, key, None)
            tombstone.headers = headers
            yield tombstone

    def record(
        self, op: str, key: Struct | None, before: Struct | None, after: Struct | None
    ) -> SourceRecord:
        table, begin = self._table, self._begin
        source = self._changes.origin_of(begin).struct(table.shape.schema, table.shape.name)
        transaction = self._changes.transaction_of(begin, table)
        value = envelope(table.envelope_schema, op, before, after, source, self._now_us, transaction)
        made = self._changes.record(table, key, value)
        if op == TRUNCATE:
            made.key_schema = None
        return made


def snapshot_record(
    settings: Settings, row: SnapshotRow, position: Position, lsn: Lsn, read_us: int, now_us: int
) -> SourceRecord:
    """Of a row that the first reading of the tables has found. `position` is behind it."""
    table = row.table
    origin = Origin(settings.prefix, settings.values["database.dbname"], read_us, lsn, snapshot=row.state)
    source = origin.struct(table.shape.schema, table.shape.name)
    value = envelope(table.envelope_schema, READ, None, table.row(row.texts), source, now_us)
    return SourceRecord(
        table.topic,
        table.key(row.texts),
        value,
        table.key_schema,
        table.envelope_schema,
        source_partition={"server": settings.prefix},
        source_offset=offset_of(position, settings.snapshot_mode, change_lsn=lsn, ts_us=read_us),
    )


def _transaction_id(begin: Begin) -> str:
    return f"{begin.xid}:{begin.final_lsn}"
