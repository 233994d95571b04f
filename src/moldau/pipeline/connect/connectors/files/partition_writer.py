"""Writes the chunks of one topic partition. Owns its open files until they are in the target."""

import logging
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, Final, NamedTuple

from moldau.pipeline.connect.api import RetriableError
from moldau.pipeline.connect.connectors.files.archive_names import ArchiveName, folder_text
from moldau.pipeline.connect.connectors.files.chunks import Chunk, ChunkLimits, next_rotation_ms
from moldau.pipeline.connect.connectors.files.envelope import Envelopes
from moldau.pipeline.connect.connectors.files.file_store import FileStore
from moldau.pipeline.connect.connectors.files.formats.file_format import FileFormat, FileWriter
from moldau.pipeline.connect.connectors.files.partitioners import Folder, Time, offset_ms
from moldau.pipeline.connect.connectors.files.projection import projection
from moldau.pipeline.connect.data.errors import DataError
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.schema import Schema

log = logging.getLogger(__name__)

SPOOL_BYTES: Final = 1 << 20
"""What a file may have in memory. More goes to a temporary file without a name."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the settings say about files."""

    folder_of: Folder
    time_of: Time
    format: FileFormat
    limits: ChunkLimits
    topics_folder: str
    delimiter: str
    """Between topic and partition in a name. Part of Confluent's settings; the source reads `+` only."""
    pad_width: int
    has_last_offset: bool
    has_envelopes: bool
    nulls: str
    """`fail`, `ignore` or `write`."""
    null_folder: str
    rotation_ms: int
    """By the clock. 0: never."""
    zone: Any
    spool_folder: str | None


class _Row(NamedTuple):
    folder: str
    schema: Schema | None
    value: Any
    ms: int | None


@dataclass(slots=True)
class _OpenFile:
    path: str
    topic: str
    first_offset: int
    spool: IO[bytes]
    writer: FileWriter
    size: int = 0
    last_offset: int = -1
    is_finished: bool = False
    is_stored: bool = False

    def close(self) -> None:
        if not self.is_finished:
            self.writer.abandon()
        self.spool.close()


class PartitionWriter:
    def __init__(self, topic: str, partition: int, layout: Layout, store: FileStore) -> None:
        self._topic, self._partition = topic, partition
        self._layout = layout
        self._store = store
        self._next_offset = -1
        """Records below have been taken: a put that failed is repeated."""
        self._chunk: Chunk | None = None
        self._ends = False
        """The chunk is complete, and perhaps not yet in the target."""
        self._rotation_ms = 0
        self._files: dict[str, _OpenFile] = {}
        self._envelopes = Envelopes(needs_schema=layout.format.needs_schema)

    @property
    def open_from(self) -> int | None:
        """The first offset that is not in the target, if there is one."""
        return None if self._chunk is None else self._chunk.first_offset

    def put(self, record: SinkRecord, report: Callable[[SinkRecord, Exception], None]) -> None:
        """Raises RetriableError when the target does not take a file; the same records may be put again then."""
        if record.offset < self._next_offset:
            return
        if self._ends:
            self._store_chunk()
        try:
            row = self._row(record)
            if row is not None and self._chunk is not None:
                layout = self._layout
                if self._chunk.ends_before(layout.limits, row.folder, row.schema, row.ms):
                    self._ends = True
                    self._store_chunk()
                    row = self._row(record)
            if row is not None:
                self._append(record, row)
        except DataError as wrong:
            report(record, wrong)
        self._next_offset = record.offset + 1
        if self._chunk is not None and self._chunk.is_full(self._layout.limits):
            self._ends = True
            self._store_chunk()

    def flush(self, now_ms: int) -> None:
        """Stores a chunk that is complete, or whose time has come by the clock."""
        rotation_ms = self._layout.rotation_ms
        if self._chunk is not None and rotation_ms and now_ms >= self._rotation_ms:
            self._ends = True
        if self._ends:
            self._store_chunk()

    def close(self) -> None:
        """Drops what is not in the target: those records will be delivered again."""
        for one in self._files.values():
            one.close()
        self._files, self._chunk, self._ends = {}, None, False

    def _row(self, record: SinkRecord) -> _Row | None:
        """None for a record that is left out. Raises DataError."""
        layout = self._layout
        ms = layout.time_of(record) if layout.limits.span_ms else None
        if layout.has_envelopes:
            schema, value = self._envelopes.row_of(record)
        elif record.value is None and layout.nulls != "write":
            if layout.nulls == "ignore":
                return None
            raise DataError(
                "its value is null, and behavior.on.null.values=fail: set it to ignore or write, or set "
                "store.envelope=true to keep keys of deleted records"
            )
        else:
            schema, value = record.value_schema, record.value
        if schema is None and layout.format.needs_schema:
            raise DataError(
                "it has no schema, and this format.class needs one: use JsonFormat, or a value.converter with schemas, "
                "such as AvroConverter"
            )
        is_null = record.value is None and layout.null_folder
        inside = layout.null_folder if is_null else layout.folder_of(record)
        topic = folder_text(record.topic)
        parts = (layout.topics_folder, topic, inside)
        return _Row("/".join(part for part in parts if part), schema, value, ms)

    def _append(self, record: SinkRecord, row: _Row) -> None:
        chunk, file = self._chunk, self._files.get(row.folder)
        if file is None:
            file = self._open_file(record, row)
            kept = row.schema
        else:
            assert chunk is not None
            kept = chunk.schemas[row.folder]
        value = row.value
        if kept is not None and row.schema is not None and kept is not row.schema:
            value = projection(row.schema, kept)(value)
        try:
            file.writer.write(value)
        except DataError:
            if row.folder not in self._files:
                file.close()
            raise
        if chunk is None:
            chunk = self._chunk = Chunk(record.offset, row.ms)
            self._set_rotation()
        self._files[row.folder] = file
        chunk.schemas.setdefault(row.folder, kept)
        chunk.count += 1
        chunk.last_offset = file.last_offset = record.offset
        size = file.writer.size
        chunk.bytes += size - file.size
        file.size = size

    def _open_file(self, record: SinkRecord, row: _Row) -> _OpenFile:
        # Two topics that a transformation has given one name must not write the same file.
        topic = record.original_topic or record.topic
        path = f"{row.folder}/{topic}+{self._partition}+{record.offset}"
        spool: Any = tempfile.SpooledTemporaryFile(SPOOL_BYTES, dir=self._layout.spool_folder)  # noqa: SIM115 until stored
        try:
            writer = self._layout.format.writer(spool, row.schema, path)
        except DataError:
            spool.close()
            raise
        return _OpenFile(row.folder, topic, record.offset, spool, writer)

    def _set_rotation(self) -> None:
        interval_ms = self._layout.rotation_ms
        if interval_ms:
            now_ms = time.time_ns() // 1_000_000
            self._rotation_ms = next_rotation_ms(now_ms, interval_ms, offset_ms(self._layout.zone, now_ms))

    def _store_chunk(self) -> None:
        """May be repeated until it succeeds."""
        for file in self._files.values():
            if not file.is_finished:
                file.writer.finish()
                file.is_finished = True
            if not file.is_stored:
                name = self._name(file)
                try:
                    self._store.put(f"{file.path}/{name}", file.spool)
                except OSError as failure:
                    raise RetriableError(
                        f"{name} cannot be written to {self._store.url}/{file.path}: {failure}. It is tried again"
                    ) from failure
                file.is_stored = True
        chunk = self._chunk
        if chunk is not None:
            log.debug(
                "%s-%d: %d records to offset %d in %d files",
                self._topic,
                self._partition,
                chunk.count,
                chunk.last_offset,
                len(self._files),
            )
        self.close()
        # A tombstone takes the schema of the records before it, in its own chunk only.
        self._envelopes = Envelopes(needs_schema=self._layout.format.needs_schema)

    def _name(self, file: _OpenFile) -> str:
        layout = self._layout
        last_offset = file.last_offset if layout.has_last_offset else None
        name = ArchiveName(file.topic, self._partition, file.first_offset, layout.format.extension)
        return name.text(layout.pad_width, last_offset).replace("+", layout.delimiter)
