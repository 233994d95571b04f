"""What has been added to a table since a snapshot, file by file. Imports pyiceberg.

A table is read in steps: first the snapshot that is current, whole, then each later one for the files it adds. The
files of a step have an order, so a file and a number of rows say how far a reading has got.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import ArrowScan
from pyiceberg.table import FileScanTask, Table
from pyiceberg.table.snapshots import Operation, Snapshot

from moldau.pipeline.connect.api import ConnectError
from moldau.pipeline.connect.connectors.iceberg.catalog import failures


@dataclass(frozen=True, slots=True)
class Step:
    """The rows that one snapshot adds, or all that it has."""

    snapshot_id: int
    is_whole: bool
    files: Sequence[FileScanTask]
    """In the order in which they are read."""


class TableChanges:
    def __init__(self, catalog: Catalog, name: str, *, fails_on_rewrite: bool) -> None:
        self.name = name
        self._catalog = catalog
        self._fails = fails_on_rewrite
        self._table: Table | None = None

    def refresh(self) -> None:
        """Raises ConnectError if there is no such table."""
        with failures(f"The table {self.name}"):
            try:
                self._table = self._catalog.load_table(self.name)
            except NoSuchTableError:
                raise ConnectError(
                    f"The table {self.name} does not exist: create it, or take it out of iceberg.tables"
                ) from None

    def current_id(self) -> int | None:
        """None if nothing has been written."""
        snapshot = self._loaded.current_snapshot()
        return None if snapshot is None else snapshot.snapshot_id

    def whole(self, snapshot_id: int) -> Step:
        """All rows of a snapshot."""
        with failures(f"Snapshot {snapshot_id} of {self.name}"):
            snapshot = self._loaded.snapshot_by_id(snapshot_id)
            if snapshot is None:
                raise self._expired(snapshot_id)
            numbers = self._numbers(snapshot)
            files = self._loaded.scan(snapshot_id=snapshot_id).plan_files()
            ordered = sorted(files, key=lambda one: (numbers.get(one.file.file_path, 0), one.file.file_path))
            return Step(snapshot_id, True, ordered)

    def added(self, snapshot_id: int) -> Step:
        """What a snapshot adds to the one before it."""
        with failures(f"Snapshot {snapshot_id} of {self.name}"):
            snapshot = self._loaded.snapshot_by_id(snapshot_id)
            if snapshot is None:
                raise self._expired(snapshot_id)
            if self._is_passed_over(snapshot):
                return Step(snapshot_id, False, ())
            scan = self._loaded.incremental_append_scan(
                from_snapshot_id_exclusive=snapshot.parent_snapshot_id, to_snapshot_id_inclusive=snapshot_id
            )
            return Step(snapshot_id, False, sorted(scan.plan_files(), key=lambda one: one.file.file_path))

    def after(self, snapshot_id: int) -> int | None:
        """The snapshot that follows one, which may have expired itself; None if it is the current one."""
        snapshot = self._loaded.current_snapshot()
        if snapshot is None or snapshot.snapshot_id == snapshot_id:
            return None
        while snapshot is not None and snapshot.parent_snapshot_id != snapshot_id:
            parent = snapshot.parent_snapshot_id
            snapshot = None if parent is None else self._loaded.snapshot_by_id(parent)
        if snapshot is None:
            raise self._expired(snapshot_id)
        return snapshot.snapshot_id

    def batches(self, file: FileScanTask) -> Iterator[pa.RecordBatch]:
        """The rows of a file without those that have been deleted, in its order, with the columns of the table."""
        table = self._loaded
        with failures(f"{file.file.file_path} of {self.name}"):
            yield from ArrowScan(table.metadata, table.io, table.schema(), AlwaysTrue()).to_record_batches(
                [file]
            )

    @property
    def columns(self) -> pa.Schema:
        return self._loaded.schema().as_arrow()

    @property
    def _loaded(self) -> Table:
        if self._table is None:
            self.refresh()
        assert self._table is not None
        return self._table

    def _numbers(self, snapshot: Snapshot) -> dict[str, int]:
        """Of files, in the order in which they were committed."""
        io = self._loaded.io
        return {
            entry.data_file.file_path: entry.sequence_number or 0
            for manifest in snapshot.manifests(io)
            for entry in manifest.fetch_manifest_entry(io)
        }

    def _is_passed_over(self, snapshot: Snapshot) -> bool:
        """Raises ConnectError for a snapshot that changes rows, if that is a failure."""
        operation = None if snapshot.summary is None else snapshot.summary.operation
        if operation in (Operation.OVERWRITE, Operation.DELETE) and self._fails:
            raise ConnectError(
                f"Snapshot {snapshot.snapshot_id} of {self.name} deletes or overwrites rows, and the topic can only "
                "take added ones: pass over such snapshots with behavior.on.rewrite=ignore, or delete the offsets of "
                "the connector to read the table from the beginning"
            )
        return operation is not Operation.APPEND

    def _expired(self, snapshot_id: int) -> ConnectError:
        return ConnectError(
            f"{self.name} has no snapshot {snapshot_id} any more, which the connector has to go on from: it has "
            "expired, or the table was replaced or rolled back. Keep snapshots for longer than the connector may be "
            "down; delete its offsets to read the table from the beginning"
        )
