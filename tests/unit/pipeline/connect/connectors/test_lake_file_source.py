"""FileSource: an archive comes back as it was written, in order and once, whatever interrupts the reading."""

import gzip
import json
import os
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from connect_kit import Reports, StoredOffsets, eventually, sink_record
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, TopicPartition
from moldau.pipeline.connect.connectors.files.sink import FileSinkTask
from moldau.pipeline.connect.connectors.files.source import (
    FileSourceConnector,
    FileSourceTask,
    S3SourceConnector,
)
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.records import Header, SinkRecord, SourceRecord
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.plugins import find_connector

KILLS = int(os.environ.get("MOLDAU_KILL_ROUNDS", "6"))
ORDER = schemas.struct({"id": schemas.INT64, "country": schemas.STRING}, name="Order", version=1)
MOMENT = datetime(2026, 1, 31, 12, 30, tzinfo=UTC)
ITEM = schemas.struct({"id": schemas.INT64, "amount": schemas.decimal(2), "at": schemas.timestamp()})


def order(offset: int, partition: int = 0, country: str = "CZ") -> SinkRecord:
    record = sink_record(
        "orders",
        offset,
        f"k{offset}",
        Struct.of(ORDER, id=offset, country=country),
        value_schema=ORDER,
        key_schema=schemas.STRING,
        headers=(Header("trace", 5, schemas.INT8),),
    )
    record.partition = record.original_partition = partition
    return record


def archive(folder: Path, records: list[SinkRecord], **settings: str) -> None:
    """What the sink makes of them."""
    task = FileSinkTask()
    config = {"path": str(folder), **{name.replace("_", "."): text for name, text in settings.items()}}
    task.start(config, Reports())
    places = {TopicPartition(one.topic, one.partition or 0): one.offset + 1 for one in records}
    task.opened(list(places))
    task.put(records)
    if "rotate_schedule_interval_ms" in settings:
        eventually(lambda: task.flush(places) == places, "the clock has passed the next interval")
    else:
        task.flush(places)
    task.stop()


class Replay:
    """A source whose offsets outlive its tasks."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.offsets = StoredOffsets()
        self.config = {"path": str(folder), "poll.interval.ms": "1"}
        self.config |= {name.replace("_", "."): text for name, text in settings.items()}

    def task(self) -> FileSourceTask:
        made = FileSourceTask()
        made.start(self.config, self.offsets)
        return made

    def take(self, task: FileSourceTask) -> list[SourceRecord]:
        polled = list(task.poll())
        self.offsets.store(polled)
        return polled

    def all(self) -> list[SourceRecord]:
        """What one task reads until nothing is left."""
        task, found = self.task(), []
        while polled := self.take(task):
            found += polled
        task.stop()
        return found


def shown(record: SourceRecord | SinkRecord) -> tuple[Any, ...]:
    """All that a backup must keep."""
    value = record.value.as_dict() if isinstance(record.value, Struct) else record.value
    return (record.topic, record.partition, record.key, value, record.timestamp_ms, record.headers)


@pytest.mark.parametrize("kind", ["Parquet", "Avro", "Json"])
def test_whole_records_come_back_as_they_were(tmp_path: Path, kind: str) -> None:
    written = [order(offset, offset % 2, "CZ" if offset % 3 else "DE") for offset in range(40)]
    tombstone = sink_record("orders", 40, "k1", None, key_schema=schemas.STRING)
    archive(
        tmp_path,
        [*written, tombstone],
        flush_size="7",
        format_class=kind,
        store_envelope="true",
        rotate_schedule_interval_ms="1",
        partitioner_class="DailyPartitioner",
    )
    found = Replay(tmp_path).all()
    expected = sorted([*written, tombstone], key=lambda one: (one.partition, one.offset))
    assert [shown(one) for one in found] == [shown(one) for one in expected]
    if kind != "Json":
        assert [one.value_schema for one in found] == [ORDER if one.value else None for one in expected]


@pytest.mark.parametrize("kind", ["Parquet", "Avro", "Json"])
def test_folders_of_one_partition_are_merged_by_offset(tmp_path: Path, kind: str) -> None:
    written = [order(offset, country=("CZ", "DE", "SK")[offset % 3]) for offset in range(12)]
    archive(
        tmp_path,
        written,
        flush_size="6",
        format_class=kind,
        store_envelope="true",
        partitioner_class="FieldPartitioner",
        partition_field_name="country",
    )
    assert len(list(tmp_path.rglob("orders+*"))) == 6
    assert [one.key for one in Replay(tmp_path).all()] == [f"k{offset}" for offset in range(12)]


@pytest.mark.parametrize("kind", ["Parquet", "Avro"])
def test_values_keep_their_schemas(tmp_path: Path, kind: str) -> None:
    written = [
        sink_record(
            "items",
            offset,
            None,
            Struct.of(ITEM, id=offset, amount=Decimal(f"{offset}.50"), at=MOMENT),
            value_schema=ITEM,
        )
        for offset in range(3)
    ]
    archive(tmp_path, written, flush_size="3", format_class=kind)
    found = Replay(tmp_path, topic="copy").all()
    assert [one.topic for one in found] == ["copy"] * 3
    assert [one.value.as_dict() for one in found] == [one.value.as_dict() for one in written]
    assert found[0].value_schema.field("amount").schema == schemas.decimal(2)


def test_plain_values_keep_their_types(tmp_path: Path) -> None:
    for kind in ("Parquet", "Avro"):
        folder = tmp_path / kind
        written = [
            sink_record("texts", number, None, text, value_schema=schemas.STRING)
            for number, text in enumerate("ab")
        ]
        archive(folder, written, flush_size="2", format_class=kind)
        assert [(one.value, one.value_schema) for one in Replay(folder).all()] == [
            ("a", schemas.STRING),
            ("b", schemas.STRING),
        ]


@pytest.mark.slow
def test_kills(tmp_path: Path) -> None:
    """A task that ends at any moment, before or after its records are written, while the archive grows."""
    random = Random(7)
    replay = Replay(tmp_path, record_batch_max_size="17")
    count, found = 0, []
    for _ in range(KILLS):
        written = [order(offset, country=random.choice("ABC")) for offset in range(count, count + 50)]
        archive(
            tmp_path,
            written,
            flush_size="25",
            format_class=random.choice(("Parquet", "Avro", "Json")),
            store_envelope="true",
            partitioner_class="FieldPartitioner",
            partition_field_name="country",
        )
        count += 50
        task = replay.task()
        for _ in range(random.randrange(6)):
            found += replay.take(task)
        task.poll()
    found += replay.all()
    assert [one.value["id"] for one in found] == list(range(count))
    assert not replay.all()


def test_tasks_share_the_topic_partitions(tmp_path: Path) -> None:
    archive(
        tmp_path, [order(offset, offset % 8) for offset in range(80)], flush_size="5", store_envelope="true"
    )
    connector = FileSourceConnector()
    connector.start({"path": str(tmp_path)})
    found = []
    for config in connector.task_configs(3):
        replay = Replay(tmp_path)
        replay.config |= config
        found.append({(one.partition, one.key) for one in replay.all()})
    assert sum(map(len, found)) == 80
    assert len(set.union(*found)) == 80
    assert sum(1 for one in found if one) > 1


def test_files_of_others(tmp_path: Path) -> None:
    """Any folder of files, with names of their own; files that are being written are left out."""
    (tmp_path / "year=2026").mkdir()
    parquet.write_table(
        pa.table({"id": [1, 2], "name": ["a", None]}), tmp_path / "year=2026" / "part-0.parquet"
    )
    (tmp_path / "lines.json.gz").write_bytes(gzip.compress(b'{"id": 3}\n\n{"id": 4}\n'))
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "+tmp").mkdir()
    (tmp_path / "+tmp" / "x.json").write_text("{}")
    (tmp_path / "notes.md").write_text("no data")
    with pytest.raises(ConnectError, match="set topic"):
        Replay(tmp_path).all()
    found = Replay(tmp_path, topic="rest", topic_regex_list="years:^year=").all()
    assert [(one.topic, one.value["id"], one.partition) for one in found] == [
        ("rest", 3, None),
        ("rest", 4, None),
        ("years", 1, None),
        ("years", 2, None),
    ]
    assert found[3].value["name"] is None
    assert [one.value["id"] for one in Replay(tmp_path, topic="x", file_pattern=r"\.gz$").all()] == [3, 4]


def test_a_broken_file_fails_or_is_left_out(tmp_path: Path) -> None:
    archive(tmp_path, [order(offset) for offset in range(4)], flush_size="2")
    broken = tmp_path / "orders/partition=0/orders+0+0000000000.json"
    broken.write_text('{"id":0}\n{"id":\n')
    failing = Replay(tmp_path)
    task = failing.task()
    assert [one.value["id"] for one in failing.take(task)] == [0]
    with pytest.raises(
        ConnectError, match=r"Row 2 of .*orders\+0\+0000000000.json cannot be read.*behavior.on.error"
    ):
        failing.take(task)
    assert [one.value["id"] for one in Replay(tmp_path, behavior_on_error="ignore").all()] == [0, 2, 3]
    # A file that was mended is read on, and nothing twice.
    broken.write_text('{"id":0}\n{"id":1}\n')
    assert [one.value["id"] for one in failing.all()] == [1, 2, 3]


def test_files_that_appear_later(tmp_path: Path) -> None:
    replay = Replay(tmp_path)
    task = replay.task()
    assert not replay.take(task)
    assert task.next_poll_ms() >= 1
    archive(tmp_path, [order(0)], flush_size="1")
    found: list[SourceRecord] = []
    while not found:
        found = replay.take(task)
    assert [one.value["id"] for one in found] == [0]


def test_offsets_can_be_set(tmp_path: Path) -> None:
    archive(tmp_path, [order(offset) for offset in range(3)], flush_size="3")
    path = "orders/partition=0/orders+0+0000000000.json"
    replay = Replay(tmp_path)
    replay.offsets.stored[json.dumps({"file": path})] = {"row": 2}
    FileSourceConnector.check_offsets({}, [({"file": path}, {"row": 2}), ({"file": path}, None)])
    assert [one.value["id"] for one in replay.all()] == [2]
    for partition, offset in (({"name": path}, {"row": 2}), ({"file": path}, {"row": "2"})):
        with pytest.raises(ConnectError, match="here"):
            FileSourceConnector.check_offsets({}, [(partition, offset)])


def test_settings_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    for settings, text in (
        ({"topic.regex.list": "no colon"}, "topic:pattern"),
        ({"file.pattern": "("}, "file.pattern"),
        ({"behavior.on.error": "shrug"}, "behavior.on.error"),
    ):
        with pytest.raises(ConfigError, match=text):
            FileSourceConnector().start({"path": str(tmp_path), **settings})


def test_names_of_java() -> None:
    found = find_connector("io.confluent.connect.s3.source.S3SourceConnector").connector
    assert found is S3SourceConnector
