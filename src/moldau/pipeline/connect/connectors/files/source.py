"""FileSource: replays an archive that FileSink has written, or any folder of Parquet, Avro or JSON files, into topics.

Its offsets are rows of files. Files that appear later are read too; a file must appear with all its bytes.
"""

import logging
import math
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, integer, long, string, strings
from moldau.pipeline.connect.api import (
    ConnectError,
    Offset,
    RetriableError,
    SourceConnector,
    SourceContext,
    SourceTask,
)
from moldau.pipeline.connect.connectors.files.archive_names import ArchiveName, is_hidden
from moldau.pipeline.connect.connectors.files.envelope import Unpacked
from moldau.pipeline.connect.connectors.files.file_store import (
    FileStore,
    Location,
    StoredFile,
    local_paths_of,
)
from moldau.pipeline.connect.connectors.files.formats.readers import BROKEN, needs_seek, reader_of
from moldau.pipeline.connect.connectors.files.replay import Row, Source, Unreadable, rows_in_order
from moldau.pipeline.connect.connectors.files.settings import (
    AWS,
    BUCKET,
    PATH,
    bucket_location,
    path_location,
)
from moldau.pipeline.connect.data.header_texts import Typed
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.declarations import Declaration, Texts, values_of

log = logging.getLogger(__name__)

FILE: Final = "file"
ROW: Final = "row"
SIZE: Final = "size"
END: Final = "end"
TASK: Final = "task.number"
TASKS: Final = "task.count"
_GROUP: Final = "Replay"
_FILES: Final = (
    Declaration(
        string("file.pattern", ".*", "Only files whose path below the folder matches are read."),
        group=_GROUP,
        display_name="Pattern for files",
    ),
    Declaration(
        boolean(
            "restore.partition",
            True,
            "Records go to the partition they came from. The topic must have as many partitions then.",
        ),
        group=_GROUP,
        display_name="Restore partitions",
    ),
    Declaration(
        string(
            "behavior.on.error",
            "fail",
            "What to do with a file that cannot be read: fail, or log it and go on with the next.",
            check=one_of("fail", "ignore", "log", ignore_case=True),
        ),
        group=_GROUP,
        display_name="Broken files",
    ),
    Declaration(
        integer("record.batch.max.size", 1_000, "The largest number of records in one poll.", at_least=1),
        group=_GROUP,
        display_name="Records in a poll",
    ),
)


def _declarations(topics_folder: str, poll_name: str, poll_ms: int) -> tuple[Declaration, ...]:
    return (
        Declaration(
            string(
                "topics.dir",
                topics_folder,
                "The folder in which the sink has written.",
                importance=Importance.HIGH,
            ),
            group=_GROUP,
            display_name="Topics folder",
        ),
        Declaration(
            string(
                "topic",
                "",
                "The topic to write to. Empty: the one that the archive was made of.",
                importance=Importance.HIGH,
            ),
            group=_GROUP,
            display_name="Topic",
        ),
        Declaration(
            strings(
                "topic.regex.list",
                (),
                "Topics for files whose path matches: `topic:pattern` each. The first that matches counts.",
            ),
            group=_GROUP,
            display_name="Topics by pattern",
        ),
        *_FILES,
        Declaration(
            long(poll_name, poll_ms, "How often the folder is listed when everything is read.", at_least=1),
            group=_GROUP,
            display_name="Listing interval (ms)",
        ),
    )


FILE_SOURCE: Final = (*PATH, *AWS, *_declarations("", "poll.interval.ms", 10_000))
S3_SOURCE: Final = (*BUCKET, *AWS, *_declarations("topics", "s3.poll.interval.ms", 60_000))


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which files are read, and to which topics."""

    folder: str
    topic: str
    by_pattern: Sequence[tuple[str, re.Pattern[str]]]
    pattern: re.Pattern[str]

    def topic_of(self, path: str, name: ArchiveName | None) -> str:
        for topic, pattern in self.by_pattern:
            if pattern.search(path):
                return topic
        return self.topic or ("" if name is None else name.topic)


def _choice(values: Mapping[str, Any]) -> _Choice:
    by_pattern = []
    for one in values["topic.regex.list"]:
        topic, separator, pattern = one.partition(":")
        if not separator:
            raise ConfigError(
                f"Invalid value {one} for configuration topic.regex.list: it takes topic:pattern"
            )
        by_pattern.append((topic, _compiled("topic.regex.list", pattern)))
    folder = values["topics.dir"].strip("/")
    return _Choice(folder, values["topic"], by_pattern, _compiled("file.pattern", values["file.pattern"]))


def _compiled(setting: str, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as wrong:
        raise ConfigError(f"Invalid value {pattern} for configuration {setting}: {wrong}") from None


class FileSourceTask(SourceTask):
    of: ClassVar[str] = "FileSource"
    settings: ClassVar[Sequence[Declaration]] = FILE_SOURCE
    poll_name: ClassVar[str] = "poll.interval.ms"

    @staticmethod
    def location_of(values: Mapping[str, Any]) -> Location:
        return path_location(values)

    def start(self, config: Texts, context: SourceContext) -> None:
        values = values_of(self.settings, config, of=self.of)
        self._context = context
        self._choice = _choice(values)
        self._restores_partition: bool = values["restore.partition"]
        self._fails: bool = values["behavior.on.error"].lower() == "fail"
        self._count_max: int = values["record.batch.max.size"]
        self._poll_ms: int = values[self.poll_name]
        self._task, self._tasks = int(config.get(TASK, "0")), int(config.get(TASKS, "1"))
        self._store = FileStore(self.location_of(values))
        self._sizes: dict[str, int] = {}
        """Of the files that have been read to their ends."""
        self._rows: dict[str, int] = {}
        """What has been read of the others."""
        self._groups: list[list[Source]] = []
        """What is to be read, the next at the end."""
        self._current: Iterator[Row] = iter(())
        self._failure: ConnectError | None = None
        self._listed = -math.inf

    def poll(self) -> Sequence[SourceRecord]:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        found: list[SourceRecord] = []
        try:
            self._take(found)
        except ConnectError as failure:
            # What has been read before counts as delivered: the failure waits for the next poll.
            self._groups, self._current = [], iter(())
            if not found:
                raise
            self._failure = failure
        return found

    def next_poll_ms(self) -> int:
        rest_ms = (self._listed - time.monotonic()) * 1_000 + self._poll_ms
        return int(rest_ms) if rest_ms > 1 and not self._groups else 1

    def _take(self, found: list[SourceRecord]) -> None:
        while len(found) < self._count_max:
            row = self._next_row()
            if row is not None:
                found.append(self._record(row))
            elif self._groups:
                self._current = rows_in_order(self._groups.pop(), self._open)
            elif found or time.monotonic() < self._listed + self._poll_ms / 1_000 or not self._list():
                return

    def _next_row(self) -> Row | None:
        try:
            return next(self._current, None)
        except Unreadable as broken:
            if self._fails:
                raise ConnectError(
                    f"{self._store.url}: {broken}. Remove or mend the file, or skip it with behavior.on.error=ignore"
                ) from broken.__cause__
            log.warning("%s: skipped, as behavior.on.error says", broken)
            self._sizes[broken.source.path] = broken.source.size
            # The others of its topic partition are read after the next listing.
            self._current, self._listed = iter(()), -math.inf
            return None

    def _list(self) -> bool:
        """Looks for files that have not been read. False if there are none."""
        try:
            stored = self._store.files()
        except OSError as failure:
            raise RetriableError(f"{self._store.url} cannot be listed: {failure}") from failure
        self._listed = time.monotonic()
        groups: dict[tuple[str, str], list[Source]] = {}
        for one in stored:
            source = self._source(one)
            if source is not None:
                own = "" if source.partition is not None else source.path
                groups.setdefault((f"{source.topic}+{source.partition}", own), []).append(source)
        self._groups = [groups[key] for key in sorted(groups, reverse=True)]
        return bool(self._groups)

    def _source(self, file: StoredFile) -> Source | None:
        """None for a file that has been read, that is none of this task, or no data."""
        choice, path = self._choice, file.path
        if self._sizes.get(path) == file.size or not path.startswith(choice.folder and f"{choice.folder}/"):
            return None
        inside = path[len(choice.folder) :].lstrip("/")
        name = ArchiveName.parse(path.rpartition("/")[2])
        if is_hidden(inside) or reader_of(path) is None or choice.pattern.search(inside) is None:
            return None
        group = path if name is None else f"{name.topic}+{name.partition}"
        if zlib.crc32(group.encode()) % self._tasks != self._task:
            return None
        topic = choice.topic_of(inside, name)
        if not topic:
            raise ConnectError(
                f"{self._store.url}/{path} is not named like a file of an archive, so there is no topic for it: set "
                "topic, or leave it out with file.pattern"
            )
        stored = self._context.offset({FILE: path}) or {}
        if stored.get(END) and stored.get(SIZE) == file.size:
            self._sizes[path] = file.size
            return None
        skipped = max(int(stored.get(ROW, 0)), self._rows.get(path, 0))
        first, partition = (-1, None) if name is None else (name.first_offset, name.partition)
        return Source(path, file.size, first, topic, partition, skipped)

    def _open(self, source: Source) -> Iterator[Typed]:
        read = reader_of(source.path)
        assert read is not None
        open_file = self._store.open if needs_seek(source.path) else self._store.stream
        number = 0
        try:
            with open_file(source.path) as stream:
                for typed in read(stream, source.path):
                    number += 1
                    yield typed
        except FileNotFoundError:
            log.warning("%s/%s has disappeared: the rest of it is not read", self._store.url, source.path)
        except BROKEN as wrong:
            raise Unreadable(source, number + 1, wrong) from wrong
        except OSError as failure:
            if _is_broken(failure):
                raise Unreadable(source, number + 1, failure) from failure
            raise RetriableError(f"{self._store.url}/{source.path} cannot be read: {failure}") from failure
        if number <= source.skipped:
            self._sizes[source.path] = source.size

    def _record(self, row: Row) -> SourceRecord:
        source = row.source
        if row.is_last:
            self._sizes[source.path] = source.size
            self._rows.pop(source.path, None)
        else:
            self._rows[source.path] = row.number
        make = partial(
            SourceRecord,
            source_partition={FILE: source.path},
            source_offset={ROW: row.number, SIZE: source.size, END: row.is_last},
        )
        keeps_partition = self._restores_partition
        if not row.is_envelope:
            return make(
                source.topic,
                value=row.typed.value,
                value_schema=row.typed.schema,
                partition=source.partition if keeps_partition else None,
            )
        was = Unpacked(row.typed.schema, row.typed.value)
        return make(
            self._choice.topic_of(source.path, None) or was.topic,
            key=was.key,
            key_schema=was.key_schema,
            value=was.value,
            value_schema=was.value_schema,
            partition=was.partition if keeps_partition else None,
            timestamp_ms=was.timestamp_ms,
            headers=was.headers,
        )


def _is_broken(failure: OSError) -> bool:
    """Arrow reports broken files as OSError, without a number, like failures of object stores."""
    return failure.errno is None and "AWS Error" not in str(failure)


class S3SourceTask(FileSourceTask):
    of = "S3SourceConnector"
    settings = S3_SOURCE
    poll_name = "s3.poll.interval.ms"

    @staticmethod
    def location_of(values: Mapping[str, Any]) -> Location:
        return bucket_location(values)


class _FolderSource(SourceConnector):
    """What the connectors of this module share. It has no task class: it cannot be run."""

    task: ClassVar[type[FileSourceTask]]

    def start(self, config: Texts) -> None:
        values = values_of(self.declarations, config, of=self.task.of)
        _choice(values)
        FileStore(self.task.location_of(values)).check()
        super().start(config)

    @classmethod
    def local_paths(cls, config: Texts) -> Sequence[tuple[str, str]]:
        return local_paths_of(
            cls.task.location_of(values_of(cls.declarations, config, of=cls.task.of)), config
        )

    def task_configs(self, tasks_max: int) -> Sequence[Texts]:
        """A topic partition of the archive belongs to one task."""
        return [{**self.config, TASK: str(task), TASKS: str(tasks_max)} for task in range(tasks_max)]

    @classmethod
    def check_offsets(cls, config: Texts, offsets: Sequence[tuple[Offset, Offset | None]]) -> None:
        for partition, offset in offsets:
            if not isinstance(partition.get(FILE), str):
                raise ConnectError(f"A source partition is {{'{FILE}': path}} here, not {dict(partition)}")
            if offset is not None and type(offset.get(ROW)) is not int:
                raise ConnectError(
                    f"A source offset is {{'{ROW}': n}} here, the number of rows already read, not {dict(offset)}"
                )


class FileSourceConnector(_FolderSource):
    declarations = FILE_SOURCE
    task_class = task = FileSourceTask
    aliases = ("FileSource",)


class S3SourceConnector(_FolderSource):
    declarations = S3_SOURCE
    task_class = task = S3SourceTask
    aliases = ("S3Source", "io.confluent.connect.s3.source.S3SourceConnector")
