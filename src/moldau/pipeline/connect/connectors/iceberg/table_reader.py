"""The rows of one table as records, from an offset on. Owns how far the reading has got. Imports pyiceberg."""

import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Final

from moldau.pipeline.connect.api import ConnectError, Offset
from moldau.pipeline.connect.connectors.files.formats.arrow_values import schema_of_fields
from moldau.pipeline.connect.connectors.files.formats.parquet_files import READ
from moldau.pipeline.connect.connectors.files.formats.plain_values import from_plain
from moldau.pipeline.connect.connectors.iceberg.table_changes import Step, TableChanges
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import SourceRecord

TABLE: Final = "table"


@dataclass(frozen=True, slots=True)
class Position:
    """Behind a row of a snapshot."""

    snapshot: int
    whole: bool
    """The snapshot is read with all its rows, not only those it adds."""
    file: str
    row: int
    """Counted from 1, in the file."""
    end: bool
    """It is the last row of the snapshot."""


def position_of(offset: Offset) -> Position:
    """Raises ConnectError for an offset that is none of this connector."""
    kinds: Mapping[str, type] = {"snapshot": int, "whole": bool, "file": str, "row": int, "end": bool}
    if any(type(offset.get(name)) is not kind for name, kind in kinds.items()):
        raise ConnectError(
            "A source offset is {'snapshot': id, 'whole': false, 'file': path, 'row': n, 'end': false} here, not "
            f"{dict(offset)}"
        )
    return Position(**{name: offset[name] for name in kinds})


class TableReader:
    def __init__(
        self,
        changes: TableChanges,
        topic: str,
        offset: Offset | None,
        *,
        skips_existing: bool,
        interval_s: float,
    ) -> None:
        self._changes = changes
        self._topic = topic
        self._position = None if offset is None else position_of(offset)
        self._skips_existing = skips_existing
        self._done: int | None = None
        """The last snapshot that has been read to its end, or passed over."""
        if self._position is not None and self._position.end:
            self._done = self._position.snapshot
        self._interval_s = interval_s
        self._look_at = 0.0
        self._current: Iterator[SourceRecord] | None = None

    def take(self, count: int) -> list[SourceRecord]:
        """As many at most; fewer when nothing more is there. After a failure the next call goes on."""
        if self._current is None:
            if self.wait_ms() > 0:
                return []
            self._look_at = time.monotonic() + self._interval_s
            self._changes.refresh()
            self._current = self._records()
        try:
            found = list(islice(self._current, count))
        except Exception:
            # The rows of this call have not been delivered.
            self._current = None
            self._look_at = 0.0
            raise
        if len(found) < count:
            self._current = None
        if found:
            self._position = position_of(found[-1].source_offset or {})
        return found

    def wait_ms(self) -> int:
        """Until the table is looked at again; 0 if there may be rows now."""
        if self._current is not None:
            return 0
        return max(0, math.ceil((self._look_at - time.monotonic()) * 1_000))

    def _records(self) -> Iterator[SourceRecord]:
        """Everything up to the current snapshot."""
        changes, position, done = self._changes, self._position, self._done
        if position is not None and position.end:
            done = position.snapshot
        elif position is not None:
            step = changes.whole(position.snapshot) if position.whole else changes.added(position.snapshot)
            yield from self._of_step(step, position)
            done = position.snapshot
        elif done is None:
            current = changes.current_id()
            if current is None:
                self._skips_existing = False
                return
            if not self._skips_existing:
                yield from self._of_step(changes.whole(current), None)
            done = current
        while (following := changes.after(done)) is not None:
            yield from self._of_step(changes.added(following), None)
            done = following
        # All rows have been delivered: otherwise the generator would not have been asked for more.
        self._done = done

    def _of_step(self, step: Step, behind: Position | None) -> Iterator[SourceRecord]:
        """The last row of a step is known by there being none after it."""
        columns = self._changes.columns
        try:
            schema = replace(schema_of_fields(columns, None), name=self._changes.name)
        except DataError as wrong:
            raise ConnectError(f"The table {self._changes.name} cannot be read: {wrong}") from None
        convert = from_plain(schema, READ)
        made = partial(
            SourceRecord,
            self._topic,
            value_schema=schema,
            source_partition={TABLE: self._changes.name},
        )
        before: tuple[str, int, Any] | None = None
        for file, row, value in self._rows(step, behind):
            if before is not None:
                yield made(value=convert(before[2]), source_offset=_offset(step, *before[:2], is_last=False))
            before = file, row, value
        if before is not None:
            yield made(value=convert(before[2]), source_offset=_offset(step, *before[:2], is_last=True))

    def _rows(self, step: Step, behind: Position | None) -> Iterator[tuple[str, int, Any]]:
        files, skipped = list(step.files), 0
        if behind is not None:
            paths = [one.file.file_path for one in files]
            if behind.file not in paths:
                raise ConnectError(
                    f"Snapshot {step.snapshot_id} of {self._changes.name} has no file {behind.file}, in which the "
                    "connector has stopped: delete its offsets to read the table from the beginning"
                )
            files, skipped = files[paths.index(behind.file) :], behind.row
        for file in files:
            number = 0
            for batch in self._changes.batches(file):
                # Rows are made only of what is read.
                rows = (
                    batch.slice(max(0, skipped - number)).to_pylist()
                    if skipped > number
                    else batch.to_pylist()
                )
                first = max(number, skipped) + 1
                for row, value in enumerate(rows, first):
                    yield file.file.file_path, row, value
                number += batch.num_rows
            skipped = 0


def _offset(step: Step, file: str, row: int, *, is_last: bool) -> dict[str, Any]:
    return asdict(Position(step.snapshot_id, step.is_whole, file, row, is_last))
