"""FileSink: which records share a file, names and folders, formats, schema changes, and what is committed."""

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fastavro import reader as avro_reader
from pyarrow import parquet

from connect_kit import Reports, sink_record
from moldau.core.errors import ConfigError
from moldau.pipeline.connect.api import ConnectError, RetriableError, TopicPartition
from moldau.pipeline.connect.connectors.files.archive_names import ArchiveName, folder_text
from moldau.pipeline.connect.connectors.files.chunks import next_rotation_ms
from moldau.pipeline.connect.connectors.files.sink import (
    FileSinkConnector,
    FileSinkTask,
    HdfsSinkConnector,
    S3SinkConnector,
)
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.header_texts import text_of
from moldau.pipeline.connect.data.records import Header, SinkRecord
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct
from moldau.pipeline.connect.declarations import validate
from moldau.pipeline.connect.plugins import find_connector

ORDERS = TopicPartition("orders", 0)
ORDER = schemas.struct({"id": schemas.INT32, "country": schemas.STRING}, name="Order", version=1)
ORDER_2 = schemas.struct(
    {
        "id": schemas.INT32,
        "country": schemas.STRING,
        "note": Schema(SchemaType.STRING, optional=True, default="none"),
    },
    name="Order",
    version=2,
)


def order(offset: int, country: str = "CZ", schema: Schema = ORDER) -> SinkRecord:
    return sink_record(
        "orders", offset, f"k{offset}", Struct.of(schema, id=offset, country=country), value_schema=schema
    )


def plain(offset: int, value: Any) -> SinkRecord:
    return sink_record("orders", offset, None, value)


STARTED: "list[Sink]" = []


@pytest.fixture(autouse=True)
def stop_tasks() -> Iterator[None]:
    yield
    while STARTED:
        STARTED.pop().task.stop()


class Sink:
    """A started task and what it reports."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.reports = Reports()
        self.task = FileSinkTask()
        self.task.start(
            {"path": str(folder), **{name.replace("_", "."): text for name, text in settings.items()}},
            self.reports,
        )
        self.task.opened([ORDERS])
        STARTED.append(self)

    def write(self, *records: SinkRecord) -> int:
        """What is committed."""
        self.task.put(records)
        found = self.task.flush({ORDERS: records[-1].offset + 1})
        return found[ORDERS]

    def files(self) -> dict[str, bytes]:
        self.task.stop()
        found = (one for one in self.folder.rglob("*") if one.is_file())
        return {one.relative_to(self.folder).as_posix(): one.read_bytes() for one in sorted(found)}


def rows(content: bytes) -> list[Any]:
    return [json.loads(line) for line in content.splitlines()]


def test_a_file_has_as_many_records_as_flush_size_and_only_whole_files_are_committed(tmp_path: Path) -> None:
    sink = Sink(tmp_path, flush_size="3")
    assert sink.write(*(order(offset) for offset in range(8))) == 6
    assert sink.write(order(8)) == 9
    files = sink.files()
    assert list(files) == [f"orders/partition=0/orders+0+{first:010}.json" for first in (0, 3, 6)]
    assert rows(files["orders/partition=0/orders+0+0000000003.json"])[0] == {"id": 3, "country": "CZ"}


def test_the_same_records_make_the_same_files(tmp_path: Path) -> None:
    for extension in ("Avro", "Parquet", "Json"):
        settings = {"flush_size": "5", "format_class": extension, "s3_compression_type": "gzip"}
        first, second = (
            Sink(tmp_path / f"{extension}1", **settings),
            Sink(tmp_path / f"{extension}2", **settings),
        )
        records = [order(offset, "CZ" if offset % 3 else "DE") for offset in range(20)]
        first.write(*records)
        for record in records:
            second.write(record)
        assert first.files() == second.files() != {}


def test_folders_by_field_share_a_chunk(tmp_path: Path) -> None:
    sink = Sink(
        tmp_path, flush_size="4", partitioner_class="FieldPartitioner", partition_field_name="country"
    )
    countries = ["CZ", "DE", "CZ", "a/../b"]
    assert sink.write(*(order(offset, one) for offset, one in enumerate(countries))) == 4
    assert list(sink.files()) == [
        "orders/country=CZ/orders+0+0000000000.json",
        "orders/country=DE/orders+0+0000000001.json",
        "orders/country=a%2F..%2Fb/orders+0+0000000003.json",
    ]


def test_folders_by_time_in_a_time_zone(tmp_path: Path) -> None:
    sink = Sink(
        tmp_path,
        flush_size="2",
        partitioner_class="io.confluent.connect.storage.partitioner.TimeBasedPartitioner",
        path_format="'year'=YYYY/'month'=MM/'day'=dd/'hour'=HH",
        partition_duration_ms="3600000",
        timezone="Europe/Prague",
        timestamp_extractor="RecordField",
        timestamp_field="at",
    )
    winter, summer = "2026-01-31T23:30:00Z", int(datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp() * 1_000)
    assert sink.write(plain(0, {"at": winter}), plain(1, {"at": summer})) == 2
    assert list(sink.files()) == [
        "orders/year=2026/month=02/day=01/hour=00/orders+0+0000000000.json",
        "orders/year=2026/month=07/day=01/hour=14/orders+0+0000000001.json",
    ]


def test_a_span_of_record_time_ends_a_file(tmp_path: Path) -> None:
    sink = Sink(tmp_path, rotate_interval_ms="100")
    offsets = [0, 50, 99, 100, 199, 350]
    assert sink.write(*(order(offset) for offset in offsets)) == 350
    assert [len(rows(content)) for content in sink.files().values()] == [3, 2]


def test_the_schedule_writes_what_is_open(tmp_path: Path) -> None:
    assert next_rotation_ms(now_ms=1_000, interval_ms=600, offset_ms=0) == 1_200
    assert next_rotation_ms(now_ms=1_200, interval_ms=600, offset_ms=100) == 1_700
    sink = Sink(tmp_path, rotate_schedule_interval_ms="1")
    sink.task.put([order(0), order(1)])
    while sink.task.flush({ORDERS: 2})[ORDERS] < 2:
        pass
    assert list(sink.files()) == ["orders/partition=0/orders+0+0000000000.json"]


def test_the_size_and_the_number_of_files_are_limited(tmp_path: Path) -> None:
    sink = Sink(tmp_path / "bytes", rotate_bytes="60")
    assert sink.write(*(order(offset) for offset in range(5))) == 3
    sink = Sink(
        tmp_path / "files",
        rotate_files="2",
        partitioner_class="FieldPartitioner",
        partition_field_name="country",
    )
    assert sink.write(*(order(offset, one) for offset, one in enumerate("ABABCC"))) == 4


@pytest.mark.parametrize(
    ("compatibility", "versions", "files"),
    [
        ("NONE", [1, 1, 2, 1], [[1, 1], [2], [1]]),
        ("BACKWARD", [1, 2, 1, 2], [[1], [2, 2, 2]]),
        ("FORWARD", [2, 1, 2, 1], [[2], [1, 1, 1]]),
        ("FULL", [1, 2, 1], [[1], [2, 2]]),
    ],
)
def test_a_change_of_the_schema_ends_a_file_or_converts_records(
    tmp_path: Path, compatibility: str, versions: list[int], files: list[list[int]]
) -> None:
    sink = Sink(tmp_path, schema_compatibility=compatibility)
    kinds = {1: ORDER, 2: ORDER_2}
    sink.write(*(order(offset, schema=kinds[one]) for offset, one in enumerate(versions)))
    # A change to something else closes the last file.
    sink.write(plain(len(versions), 1))
    written = [[2 if "note" in row else 1 for row in rows(content)] for content in sink.files().values()]
    assert written == files


EVERYTHING = schemas.struct(
    {
        "small": schemas.INT8,
        "long": schemas.INT64,
        "float": schemas.FLOAT32,
        "flag": schemas.BOOLEAN,
        "bytes": schemas.BYTES,
        "nothing": Schema(SchemaType.STRING, optional=True),
        "texts": schemas.array(schemas.STRING),
        "counts": schemas.mapping(schemas.STRING, schemas.INT64),
        "names": schemas.mapping(schemas.INT32, schemas.STRING),
        "inner": ORDER,
        "amount": schemas.decimal(2),
        "day": schemas.date(),
        "hour": schemas.time(),
        "moment": schemas.timestamp(),
    },
    name="Everything",
)
VALUE = Struct(
    EVERYTHING,
    [
        -128,
        1 << 62,
        1.5,
        True,
        b"\x00\xff",
        None,
        ["a", "b"],
        {"x": 1},
        {7: "seven"},
        Struct(ORDER, [1, "CZ"]),
        Decimal("-12.50"),
        date(2026, 1, 31),
        time(12, 30, 1, 5_000),
        datetime(2026, 1, 31, 12, tzinfo=UTC),
    ],
)


def test_all_types_in_all_formats(tmp_path: Path) -> None:
    record = sink_record("orders", 0, None, VALUE, value_schema=EVERYTHING)
    avro = Sink(tmp_path / "avro", flush_size="1", format_class="AvroFormat", avro_codec="snappy")
    assert avro.write(record) == 1
    [name] = avro.files()
    with open(tmp_path / "avro" / name, "rb") as stream:
        [row] = avro_reader(stream)
    assert row["amount"] == Decimal("-12.50")
    assert row["moment"] == datetime(2026, 1, 31, 12, tzinfo=UTC)
    assert row["names"] == [{"key": 7, "value": "seven"}]
    table = Sink(tmp_path / "parquet", flush_size="1", format_class="ParquetFormat", parquet_codec="zstd")
    assert table.write(record) == 1
    [name] = table.files()
    assert name.endswith("orders+0+0000000000.zst.parquet")
    [row] = parquet.read_table(tmp_path / "parquet" / name, partitioning=None).to_pylist()
    assert (row["day"], row["hour"], row["inner"]) == (
        date(2026, 1, 31),
        time(12, 30, 1, 5_000),
        {"id": 1, "country": "CZ"},
    )
    lines = Sink(tmp_path / "json", flush_size="1", s3_compression_type="gzip", json_decimal_format="NUMERIC")
    assert lines.write(record) == 1
    [(name, content)] = lines.files().items()
    assert name.endswith(".json.gz")
    [row] = rows(gzip.decompress(content))
    assert (row["amount"], row["bytes"], row["day"]) == (-12.5, "AP8=", 20_484)


def test_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    sink = Sink(tmp_path, flush_size="3", format_class="ByteArrayFormat", format_bytearray_separator="|")
    sink.write(plain(0, b"\x00a"), plain(1, "text"), plain(2, 5), plain(3, b"b"))
    assert list(sink.files().values()) == [b"\x00a|text|b|"]
    [(failed, error)] = sink.reports.failed
    assert failed.offset == 2
    assert "ByteArrayConverter" in str(error)


def test_poison_is_reported_and_the_others_are_written(tmp_path: Path) -> None:
    sink = Sink(tmp_path, flush_size="3", format_class="Parquet")
    huge = Struct.of(ORDER, id=1 << 40, country="CZ")
    poison = [
        plain(1, {"no": "schema"}),
        sink_record("orders", 2, None, huge, value_schema=ORDER),
        plain(3, None),
    ]
    assert sink.write(order(0), *poison, order(4), order(5)) == 6
    assert [record.offset for record, _ in sink.reports.failed] == [1, 2, 3]
    texts = [str(error) for _, error in sink.reports.failed]
    assert "has no schema" in texts[0]
    assert "field id" in texts[1]
    assert "behavior.on.null.values" in texts[2]
    [name] = sink.files()
    assert parquet.read_table(tmp_path / name, partitioning=None)["id"].to_pylist() == [0, 4, 5]


def test_null_values_are_left_out_or_written(tmp_path: Path) -> None:
    ignoring = Sink(tmp_path / "ignored", flush_size="2", behavior_on_null_values="ignore")
    assert ignoring.write(order(0), plain(1, None), order(2)) == 3
    assert [len(rows(one)) for one in ignoring.files().values()] == [2]
    writing = Sink(
        tmp_path / "written",
        flush_size="2",
        behavior_on_null_values="write",
        tombstone_encoded_partition="deleted",
    )
    assert writing.write(plain(0, None), plain(1, {"a": 1})) == 2
    assert writing.files()["orders/deleted/orders+0+0000000000.json"] == b"null\n"


def test_an_envelope_has_key_headers_and_where_the_record_was(tmp_path: Path) -> None:
    sink = Sink(tmp_path, flush_size="2", store_envelope="true")
    tombstone = sink_record("orders", 8, "k", None, key_schema=schemas.STRING)
    headed = sink_record("orders", 7, "k", "v", headers=(Header("trace", 5, schemas.INT32),))
    assert sink.write(headed, tombstone) == 9
    [content] = sink.files().values()
    first, second = rows(content)
    assert first == {
        "topic": "orders",
        "partition": 0,
        "offset": 7,
        "timestamp": 1_700_000_000_007,
        "key": "k",
        "headers": [{"key": "trace", "value": text_of(5)}],
        "value": "v",
    }
    assert (second["key"], second["value"]) == ("k", None)


def test_topics_that_were_renamed_to_one_do_not_share_files(tmp_path: Path) -> None:
    sink = Sink(tmp_path, flush_size="1")
    for topic in ("one", "two"):
        record = sink_record(topic, 0, None, {"from": topic})
        record.topic = "all"
        sink.task.put([record])
    assert list(sink.files()) == [
        "all/partition=0/one+0+0000000000.json",
        "all/partition=0/two+0+0000000000.json",
    ]


def test_a_put_that_fails_is_repeated_without_duplicates(tmp_path: Path) -> None:
    sink = Sink(tmp_path, flush_size="3")
    sink.task.put([order(0)])
    (tmp_path / "orders").write_text("in the way")
    with pytest.raises(RetriableError, match=r"orders\+0\+0000000000\.json cannot be written"):
        sink.task.put([order(1), order(2), order(3)])
    with pytest.raises(RetriableError):
        sink.task.flush({ORDERS: 4})
    (tmp_path / "orders").unlink()
    sink.task.put([order(1), order(2), order(3)])
    assert sink.task.flush({ORDERS: 4}) == {ORDERS: 3}
    assert [row["id"] for content in sink.files().values() for row in rows(content)] == [0, 1, 2]


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "+tmp"
    left.mkdir()
    for name in ("orders+0+0000000000.json.ab.tmp", "orders+1+0000000000.json.ab.tmp", "other"):
        (left / name).touch()
    Sink(tmp_path)
    assert sorted(one.name for one in left.iterdir()) == ["orders+1+0000000000.json.ab.tmp", "other"]


def test_partitions_that_are_taken_away_leave_no_files(tmp_path: Path) -> None:
    sink = Sink(tmp_path, flush_size="2")
    sink.task.put([order(0)])
    sink.task.closed([ORDERS])
    sink.task.opened([ORDERS])
    assert sink.write(order(0), order(1)) == 2
    assert [len(rows(one)) for one in sink.files().values()] == [2]


def test_a_large_file_does_not_stay_in_memory(tmp_path: Path) -> None:
    sink = Sink(tmp_path, rotate_bytes=str(4 << 20))
    text = "x" * 100_000
    assert sink.write(*(plain(offset, text) for offset in range(50))) == 42
    [content] = sink.files().values()
    assert len(content) == 42 * 100_003


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"partitioner.class": "FieldPartitioner"}, "partition.field.name"),
        ({"partitioner.class": "TimeBasedPartitioner"}, "partition.duration.ms"),
        ({"partitioner.class": "Nobody"}, "DefaultPartitioner"),
        ({"partitioner.class": "DailyPartitioner", "timezone": "Mars/Base"}, "timezone"),
        ({"format.class": "OrcFormat"}, "Parquet"),
        ({"format.class": "ByteArray", "store.envelope": "true"}, "store.envelope"),
        ({"flush.size": "0"}, "flush.size"),
    ],
)
def test_settings_that_do_not_fit_are_refused(tmp_path: Path, settings: dict[str, str], text: str) -> None:
    config = {"path": str(tmp_path), **settings}
    with pytest.raises(ConfigError, match=text):
        FileSinkConnector().start(config)
    errors = [*validate(FileSinkConnector.declarations, config), *FileSinkConnector.check(config)]
    assert any(one.errors for one in errors)


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match="no absolute path"):
        FileSinkConnector().start({"path": "relative/folder"})
    (tmp_path / "file").touch()
    with pytest.raises(ConnectError, match="cannot be used"):
        FileSinkConnector().start({"path": str(tmp_path / "file" / "folder")})


def test_names_of_java() -> None:
    assert find_connector("io.confluent.connect.s3.S3SinkConnector").connector is S3SinkConnector
    assert find_connector("S3SinkConnector").connector is S3SinkConnector
    assert find_connector("io.confluent.connect.hdfs3.Hdfs3SinkConnector").connector is HdfsSinkConnector
    assert find_connector("FileSink").connector is FileSinkConnector


def test_file_names_are_read_back() -> None:
    name = ArchiveName("a.b-c_d", 12, 345, ".snappy.parquet")
    assert ArchiveName.parse(name.text(10)) == name
    assert ArchiveName.parse(name.text(0, last_offset=350)) == name
    assert ArchiveName.parse("part-00000.parquet") is None
    assert folder_text("..") == "%2E%2E"
    assert folder_text("") == "__HIVE_DEFAULT_PARTITION__"
