"""Writes the rows of one table within a transaction. A row that the database rejects does not keep others from it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import Sql
from moldau.pipeline.connect.connectors.jdbc.drivers.database import Database, DatabaseAway, Row, RowsRejected
from moldau.pipeline.connect.connectors.jdbc.row_layout import RecordUnfit, RowLayout, shown
from moldau.pipeline.connect.connectors.jdbc.sink_settings import InsertMode, Writing
from moldau.pipeline.connect.connectors.jdbc.target_table import Target, TargetTable, not_unique
from moldau.pipeline.connect.data.records import SinkRecord

Report = Callable[[SinkRecord, Exception], None]

_SAVEPOINT: Final = "SAVEPOINT moldau_chunk"


@dataclass
class Run:
    """Records that follow each other in one table and are written by the same statements."""

    table: TargetTable
    layout: RowLayout | None = None
    """Of the records with a value."""
    deletes: RowLayout | None = None
    """Of those without."""
    records: list[SinkRecord] = field(default_factory=list)

    def takes(self, layout: RowLayout, insert_mode: InsertMode) -> bool:
        """Adds the layout if its records fit in. Only an upsert can be moved across the deletion of another key."""
        mine, other = (self.deletes, self.layout) if layout.is_delete else (self.layout, self.deletes)
        if mine is None and (other is None or insert_mode is InsertMode.UPSERT):
            if layout.is_delete:
                self.deletes = layout
            else:
                self.layout = layout
            return True
        return mine is layout


class _Item(NamedTuple):
    record: SinkRecord
    key: tuple[Any, ...]
    row: Row | None
    """None: the row with the key is deleted."""


class RowWriter:
    def __init__(self, database: Database, writing: Writing, report: Report) -> None:
        self._database = database
        self._writing = writing
        self._report = report

    def write(self, run: Run) -> None:
        """Raises DatabaseAway and ConnectError as the database does."""
        target, deleted = self._targets(run)
        items = [
            item for record in run.records if (item := self._item(run, target, deleted, record)) is not None
        ]
        for start in range(0, len(items), self._writing.rows_max):
            self._write_chunk(run.table, target, deleted, items[start : start + self._writing.rows_max])

    def _targets(self, run: Run) -> tuple[Target | None, Target | None]:
        target = run.table.target(run.layout) if run.layout is not None else None
        return target, run.table.target(run.deletes) if run.deletes is not None else None

    def _item(
        self, run: Run, target: Target | None, deleted: Target | None, record: SinkRecord
    ) -> _Item | None:
        layout = run.deletes if record.value is None else run.layout
        assert layout is not None
        if record.value is None and deleted is None:
            return None
        try:
            key = layout.key(record)
            if record.value is None:
                assert deleted is not None
                return _Item(record, tuple(_converted(list(key), deleted)), None)
            assert target is not None
            row = _converted([*key, *layout.others_of(record)], target)
            return _Item(record, tuple(row[: len(key)]), row)
        except RecordUnfit as unfit:
            self._report(record, unfit)
        except (ValueError, TypeError, OverflowError) as wrong:
            self._report(record, RecordUnfit(f"{shown(record)} cannot become a row: {wrong}"))
        return None

    def _write_chunk(
        self, table: TargetTable, target: Target | None, deleted: Target | None, items: Sequence[_Item]
    ) -> None:
        """Rejected rows are looked for by halves."""
        database = self._database
        database.execute(Sql(_SAVEPOINT))
        try:
            self._write_items(table, target, deleted, items)
        except RowsRejected as rejected:
            database.execute(Sql(f"ROLLBACK TO {_SAVEPOINT}"))
            if len(items) == 1:
                record = items[0].record
                self._report(record, RecordUnfit(f"{shown(record)} was rejected: {rejected}"))
                return
            middle = len(items) // 2
            self._write_chunk(table, target, deleted, items[:middle])
            self._write_chunk(table, target, deleted, items[middle:])
        except DatabaseAway:
            raise
        except ConnectError as failure:
            if target is not None and "ON CONFLICT" in str(failure):
                raise ConnectError(f"{not_unique(str(table), target.keys)} ({failure})") from failure
            raise
        else:
            database.execute(Sql(f"RELEASE {_SAVEPOINT}"))

    def _write_items(
        self, table: TargetTable, target: Target | None, deleted: Target | None, items: Sequence[_Item]
    ) -> None:
        database, name = self._database, table.table
        if self._writing.insert_mode is InsertMode.UPSERT:
            gone, rows = _last_of_each_key(items)
            if gone:
                assert deleted is not None
                database.execute_many(database.dialect.delete(name, deleted.keys), gone)
            if rows:
                assert target is not None
                database.insert(name, target.names, target.keys, rows)
            return
        if target is None:
            assert deleted is not None
            database.execute_many(database.dialect.delete(name, deleted.keys), [one.key for one in items])
            return
        rows = [one.row for one in items if one.row is not None]
        if self._writing.insert_mode is InsertMode.INSERT:
            database.insert(name, target.names, None, rows)
            return
        count = len(target.keys)
        if count < len(target.names):
            text = database.dialect.update(name, target.names[count:], target.keys)
            database.execute_many(text, [(*row[count:], *row[:count]) for row in rows])


def _last_of_each_key(items: Sequence[_Item]) -> tuple[list[Row], list[Row]]:
    """The keys that are deleted at some time, and what is written after that."""
    gone: dict[tuple[Any, ...], None] = {}
    rows: dict[tuple[Any, ...], Row] = {}
    for one in items:
        rows.pop(one.key, None)
        if one.row is None:
            gone[one.key] = None
        else:
            rows[one.key] = one.row
    return list(gone), list(rows.values())


def _converted(row: list[Any], target: Target) -> list[Any]:
    for place, convert in target.conversions:
        value = row[place]
        if value is not None:
            row[place] = convert(value)
    return row
