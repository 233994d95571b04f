"""FileSink: archives topics as files on a disk, in S3 or in HDFS, exactly once; with the settings of Confluent's sinks.

A task that starts again writes the same files as before (`chunks.py`), so offsets are committed behind them only.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import (
    RetriableError,
    SinkConnector,
    SinkContext,
    SinkTask,
    TopicPartition,
)
from moldau.pipeline.connect.connectors.files.file_store import FileStore, Location, local_paths_of
from moldau.pipeline.connect.connectors.files.partition_writer import PartitionWriter
from moldau.pipeline.connect.connectors.files.settings import (
    AWS,
    BUCKET,
    HDFS,
    PATH,
    bucket_location,
    hdfs_location,
    layout_of,
    path_location,
    sink_declarations,
)
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.declarations import ConfigValue, Declaration, Texts, values_of

FILE_SINK: Final = (
    *PATH,
    *sink_declarations(topics_folder="", flush_size=100_000, extractor="Record", format_class="JsonFormat"),
    *AWS,
)
S3_SINK: Final = (
    *BUCKET,
    *AWS,
    *sink_declarations(topics_folder="topics", flush_size=None, extractor="Wallclock", format_class=None),
)
HDFS_SINK: Final = (
    *HDFS,
    *sink_declarations(
        topics_folder="topics", flush_size=None, extractor="Wallclock", format_class="AvroFormat"
    ),
)


class FileSinkTask(SinkTask):
    of: ClassVar[str] = "FileSink"
    settings: ClassVar[Sequence[Declaration]] = FILE_SINK
    has_last_offset: ClassVar[bool] = False

    @staticmethod
    def location_of(values: Mapping[str, Any]) -> Location:
        return path_location(values)

    def start(self, config: Texts, context: SinkContext) -> None:
        values = values_of(self.settings, config, of=self.of)
        self._context = context
        self._layout = layout_of(values, has_last_offset=self.has_last_offset)
        self._store = FileStore(self.location_of(values))
        self._writers: dict[TopicPartition, PartitionWriter] = {}

    def opened(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        self.closed(partitions)
        try:
            for one in partitions:
                self._store.remove_temporary(f"{one.topic}+{one.partition}+")
        except OSError as failure:
            raise RetriableError(f"{self._store.url} cannot be listed: {failure}") from failure
        return {}

    def put(self, records: Sequence[SinkRecord]) -> None:
        for record in records:
            place = TopicPartition(record.original_topic or record.topic, record.original_partition)
            writer = self._writers.get(place)
            if writer is None:
                writer = self._writers[place] = PartitionWriter(*place, self._layout, self._store)
            writer.put(record, self._context.report)

    def flush(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        now_ms = time.time_ns() // 1_000_000
        durable = dict(offsets)
        for place, writer in self._writers.items():
            writer.flush(now_ms)
            if place in durable and writer.open_from is not None:
                durable[place] = writer.open_from
        return durable

    def closed(self, partitions: Sequence[TopicPartition]) -> None:
        for one in partitions:
            writer = self._writers.pop(one, None)
            if writer is not None:
                writer.close()

    def stop(self) -> None:
        self.closed(list(getattr(self, "_writers", ())))


class S3SinkTask(FileSinkTask):
    of = "S3SinkConnector"
    settings = S3_SINK

    @staticmethod
    def location_of(values: Mapping[str, Any]) -> Location:
        return bucket_location(values)


class HdfsSinkTask(FileSinkTask):
    of = "Hdfs3SinkConnector"
    settings = HDFS_SINK
    has_last_offset = True

    @staticmethod
    def location_of(values: Mapping[str, Any]) -> Location:
        return hdfs_location(values)


class _FolderSink(SinkConnector):
    """What the connectors of this module share. It has no task class: it cannot be run."""

    task: ClassVar[type[FileSinkTask]]

    def start(self, config: Texts) -> None:
        values = values_of(self.declarations, config, of=self.task.of)
        layout_of(values, has_last_offset=self.task.has_last_offset)
        FileStore(self.task.location_of(values)).check()
        super().start(config)

    @classmethod
    def local_paths(cls, config: Texts) -> Sequence[tuple[str, str]]:
        return local_paths_of(
            cls.task.location_of(values_of(cls.declarations, config, of=cls.task.of)), config
        )

    @classmethod
    def check(cls, config: Texts) -> Sequence[ConfigValue]:
        try:
            values = values_of(cls.declarations, config, of=cls.task.of)
        except ConfigError:
            return ()  # What is wrong with a single value is reported with it.
        try:
            layout_of(values, has_last_offset=False)
            cls.task.location_of(values)
        except ConfigError as wrong:
            named = [one.name for one in cls.declarations if one.name in str(wrong)]
            name = min(named, key=str(wrong).index, default="format.class")
            return [ConfigValue(name, config.get(name), errors=[str(wrong)])]
        return ()


class FileSinkConnector(_FolderSink):
    declarations = FILE_SINK
    task_class = task = FileSinkTask
    aliases = ("FileSink",)


class S3SinkConnector(_FolderSink):
    declarations = S3_SINK
    task_class = task = S3SinkTask
    aliases = ("S3Sink", "io.confluent.connect.s3.S3SinkConnector")


class HdfsSinkConnector(_FolderSink):
    declarations = HDFS_SINK
    task_class = task = HdfsSinkTask
    aliases = (
        "HdfsSink",
        "io.confluent.connect.hdfs3.Hdfs3SinkConnector",
        "io.confluent.connect.hdfs.HdfsSinkConnector",
    )
