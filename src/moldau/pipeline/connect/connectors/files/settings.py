"""The settings of the file sinks, under Confluent's names, and what they mean."""

from collections.abc import Mapping
from typing import Any, Final

from moldau.core.errors import ConfigError
from moldau.core.settings.checks import one_of
from moldau.core.settings.key import Importance, boolean, integer, long, password, string, strings
from moldau.pipeline.connect.connectors.files.chunks import ChunkLimits
from moldau.pipeline.connect.connectors.files.file_store import Location
from moldau.pipeline.connect.connectors.files.formats.avro_files import CODECS as AVRO_CODECS
from moldau.pipeline.connect.connectors.files.formats.avro_files import AvroFiles
from moldau.pipeline.connect.connectors.files.formats.byte_files import LINES, ByteFiles
from moldau.pipeline.connect.connectors.files.formats.file_format import FileFormat
from moldau.pipeline.connect.connectors.files.formats.json_lines import JsonLines
from moldau.pipeline.connect.connectors.files.formats.parquet_files import CODECS as PARQUET_CODECS
from moldau.pipeline.connect.connectors.files.formats.parquet_files import ParquetFiles
from moldau.pipeline.connect.connectors.files.partition_writer import Layout
from moldau.pipeline.connect.connectors.files.partitioners import (
    EXTRACTORS,
    HOURLY,
    folder_of_records,
    short_name,
    time_of_records,
    zone_of,
)
from moldau.pipeline.connect.connectors.files.projection import COMPATIBILITIES
from moldau.pipeline.connect.declarations import Declaration

FORMATS: Final = ("Avro", "Json", "Parquet", "ByteArray")
_HIGH: Final = Importance.HIGH
_LOW: Final = Importance.LOW


_ROTATION: Final = (
    Declaration(
        long(
            "rotate.interval.ms",
            -1,
            "Files are written when a record is so much younger than the first one, by timestamp.extractor. It "
            "takes a record to notice. -1: no limit.",
            importance=_HIGH,
        ),
        group="Files",
        display_name="Span (ms)",
    ),
    Declaration(
        long(
            "rotate.schedule.interval.ms",
            -1,
            "Files are also written when the clock passes a multiple of this interval since midnight, so that a "
            "quiet topic does not wait. Which records share a file is not repeatable then. -1: never.",
            importance=Importance.MEDIUM,
        ),
        group="Files",
        display_name="Schedule (ms)",
    ),
    Declaration(
        long(
            "rotate.bytes",
            256 << 20,
            "The size of the open files of a topic partition after which they are written.",
            at_least=1,
            importance=Importance.MEDIUM,
        ),
        group="Files",
        display_name="Bytes",
    ),
    Declaration(
        integer(
            "rotate.files",
            500,
            "How many folders the open files of a topic partition may be in. One more, and all are written.",
            at_least=1,
            importance=_LOW,
        ),
        group="Files",
        display_name="Open files",
    ),
    Declaration(
        string(
            "schema.compatibility",
            "NONE",
            "Whether records of an older schema version are converted to the newest in a file (BACKWARD, FULL), "
            "newer ones to the oldest (FORWARD), or every other schema begins new files (NONE).",
            importance=_HIGH,
            check=one_of(*COMPATIBILITIES, ignore_case=True),
        ),
        group="Format",
        display_name="Schema compatibility",
    ),
    Declaration(
        string(
            "behavior.on.null.values",
            "fail",
            "What to do with a record without a value: fail, ignore, or write it if the format can.",
            importance=_LOW,
            check=one_of("fail", "ignore", "write", ignore_case=True),
        ),
        group="Format",
        display_name="Null values",
    ),
    Declaration(
        string(
            "tombstone.encoded.partition",
            "",
            "The folder of records without a value. Empty: that of the partitioner.",
            importance=_LOW,
        ),
        group="Format",
        display_name="Folder of null values",
    ),
    Declaration(
        boolean(
            "store.envelope",
            False,
            "Files have topic, partition, offset, timestamp, key and headers of each record too, not only its "
            "value. FileSource restores them.",
            importance=Importance.MEDIUM,
        ),
        group="Format",
        display_name="Whole records",
    ),
)
_FORMAT: Final = (
    Declaration(
        string(
            "avro.codec",
            "null",
            "How blocks of Avro files are compressed.",
            importance=_LOW,
            check=one_of(*AVRO_CODECS),
        ),
        group="Format",
        display_name="Avro codec",
    ),
    Declaration(
        string(
            "parquet.codec",
            "snappy",
            "How Parquet files are compressed.",
            importance=_LOW,
            check=one_of(*PARQUET_CODECS),
        ),
        group="Format",
        display_name="Parquet codec",
    ),
    Declaration(
        string(
            "s3.compression.type",
            "none",
            "How JSON and byte files are compressed, in any storage.",
            importance=_LOW,
            check=one_of("none", "gzip"),
        ),
        group="Format",
        display_name="Compression",
    ),
    Declaration(
        integer("s3.compression.level", -1, "The level of gzip; -1: the usual one.", at_least=-1, at_most=9),
        group="Format",
        display_name="Compression level",
    ),
    Declaration(
        string(
            "json.decimal.format",
            "BASE64",
            "How decimals are written to JSON: BASE64 as Connect does, NUMERIC as a number.",
            importance=_LOW,
            check=one_of("BASE64", "NUMERIC", ignore_case=True),
        ),
        group="Format",
        display_name="Decimals in JSON",
    ),
    Declaration(
        string("format.bytearray.extension", ".bin", "The extension of byte files.", importance=_LOW),
        group="Format",
        display_name="Extension of byte files",
    ),
    Declaration(
        string(
            "format.bytearray.separator",
            None,
            "What follows each value in byte files. Not set: the end of a line.",
            importance=_LOW,
        ),
        group="Format",
        display_name="Separator in byte files",
    ),
)
_NAMES: Final = (
    Declaration(
        integer(
            "filename.offset.zero.pad.width",
            10,
            "The number of digits of offsets in the names of files, filled up with zeros.",
            at_least=0,
            importance=_LOW,
        ),
        group="Files",
        display_name="Digits of offsets",
    ),
    Declaration(
        string("file.delim", "+", "What is between topic, partition and offset in names.", importance=_LOW),
        group="Files",
        display_name="Delimiter in names",
    ),
    Declaration(
        string(
            "spool.dir",
            "",
            "A folder on the worker for files that are not complete. Empty: that of the system.",
            importance=_LOW,
        ),
        group="Files",
        display_name="Spool folder",
    ),
)


_TIME_AND_FOLDERS: Final = (
    Declaration(
        string("timestamp.field", "timestamp", "The field for timestamp.extractor=RecordField."),
        group="Folders",
        display_name="Time field",
    ),
    Declaration(
        string("directory.delim", "/", "What is between folders.", importance=_LOW),
        group="Folders",
        display_name="Folder delimiter",
    ),
)


def sink_declarations(
    *, topics_folder: str, flush_size: int | None, extractor: str, format_class: str | None
) -> tuple[Declaration, ...]:
    """Those that all file sinks share, with the defaults of one of them. None: it must be given."""
    return (
        Declaration(
            string(
                "topics.dir", topics_folder, "The folder that has a folder for each topic.", importance=_HIGH
            ),
            group="Storage",
            display_name="Topics folder",
        ),
        Declaration(
            string(
                "format.class",
                format_class or "JsonFormat",
                "The format of the files: AvroFormat, JsonFormat, ParquetFormat or ByteArrayFormat, with or without "
                "Confluent's package.",
                importance=_HIGH,
            ),
            is_required=format_class is None,
            group="Format",
            display_name="Format",
            recommends=lambda _: [f"{one}Format" for one in FORMATS],
        ),
        Declaration(
            integer(
                "flush.size",
                flush_size or 100_000,
                "The number of records of a topic partition after which files are written.",
                at_least=1,
                importance=_HIGH,
            ),
            is_required=flush_size is None,
            group="Files",
            display_name="Records",
        ),
        *_ROTATION,
        *_FORMAT,
        *_partitioner_declarations(extractor),
        *_NAMES,
    )


def _partitioner_declarations(extractor: str) -> tuple[Declaration, ...]:
    group = "Folders"
    return (
        Declaration(
            string(
                "partitioner.class",
                "DefaultPartitioner",
                "How folders are named: DefaultPartitioner (Kafka's partition), FieldPartitioner, "
                "TimeBasedPartitioner, DailyPartitioner or HourlyPartitioner, with or without Confluent's package.",
                importance=_HIGH,
            ),
            group=group,
            display_name="Partitioner",
        ),
        Declaration(
            strings("partition.field.name", (), "Fields of the value that make the folders."),
            group=group,
            display_name="Fields",
        ),
        Declaration(
            string("path.format", "", f"A pattern for folders of times, such as {HOURLY}."),
            group=group,
            display_name="Pattern",
        ),
        Declaration(
            long("partition.duration.ms", -1, "The span of time of a folder; TimeBasedPartitioner needs it."),
            group=group,
            display_name="Span of a folder (ms)",
        ),
        Declaration(
            string("locale", "en-US", "The language of names in path.format. Only English is written."),
            group=group,
            display_name="Language",
        ),
        Declaration(
            string("timezone", "UTC", "The time zone of folders and of the schedule, such as Europe/Prague."),
            group=group,
            display_name="Time zone",
        ),
        Declaration(
            string(
                "timestamp.extractor",
                extractor,
                "The time of a record: Record (its timestamp), RecordField (timestamp.field), or Wallclock, with which "
                "a record that is delivered again may go to another folder.",
            ),
            group=group,
            display_name="Time of a record",
            recommends=lambda _: EXTRACTORS,
        ),
        *_TIME_AND_FOLDERS,
    )


AWS: Final = (
    Declaration(
        string("s3.region", "", "The region of the bucket. Empty: found out."),
        group="S3",
        display_name="Region",
    ),
    Declaration(
        string(
            "store.url", "", "The address of the service if it is not Amazon's, such as http://minio:9000."
        ),
        group="S3",
        display_name="Address",
    ),
    Declaration(
        string("aws.access.key.id", "", "Empty: from the environment, as Amazon's clients do."),
        group="S3",
        display_name="Access key",
    ),
    Declaration(
        password("aws.secret.access.key", "The secret of the access key."),
        group="S3",
        display_name="Secret key",
    ),
    Declaration(
        password("aws.session.token", "Of temporary keys."), group="S3", display_name="Session token"
    ),
    Declaration(
        boolean(
            "s3.path.style.access.enabled", True, "The bucket is in the path of addresses, not in the host."
        ),
        group="S3",
        display_name="Path style",
    ),
    Declaration(string("s3.proxy.url", "", "A proxy for HTTP."), group="S3", display_name="Proxy"),
)
PATH: Final = (
    Declaration(
        string(
            "path",
            "",
            "The folder: /folder, file:///folder, s3://bucket/prefix or hdfs://host:port/folder. All workers must "
            "reach it.",
            importance=_HIGH,
        ),
        is_required=True,
        group="Storage",
        display_name="Folder",
    ),
)
BUCKET: Final = (
    Declaration(
        string("s3.bucket.name", "", "The bucket.", importance=_HIGH),
        is_required=True,
        group="S3",
        display_name="Bucket",
    ),
)
HDFS: Final = (
    Declaration(
        string("hdfs.url", "", "The address of HDFS, such as hdfs://namenode:8020.", importance=_HIGH),
        group="HDFS",
        display_name="HDFS",
    ),
    Declaration(string("store.url", "", "The same."), group="HDFS", display_name="Store"),
    Declaration(
        string("hadoop.user", "", "The user of HDFS. Empty: that of the process."),
        group="HDFS",
        display_name="User",
    ),
)


def path_location(values: Mapping[str, Any]) -> Location:
    return _with_keys(values["path"], values)


def bucket_location(values: Mapping[str, Any]) -> Location:
    return _with_keys(f"s3://{values['s3.bucket.name']}", values)


def hdfs_location(values: Mapping[str, Any]) -> Location:
    url = values["hdfs.url"] or values["store.url"]
    if not url:
        raise ConfigError(
            "hdfs.url is not set: it takes the address of HDFS, for example hdfs.url=hdfs://namenode:8020"
        )
    return Location(url, user=values["hadoop.user"] or None)


def _with_keys(url: str, values: Mapping[str, Any]) -> Location:
    return Location(
        url,
        access_key=values["aws.access.key.id"] or None,
        secret_key=values["aws.secret.access.key"],
        session_token=values["aws.session.token"],
        region=values["s3.region"] or None,
        endpoint=values["store.url"] or None,
        is_path_style=values["s3.path.style.access.enabled"],
        proxy=values["s3.proxy.url"] or None,
    )


def layout_of(values: Mapping[str, Any], *, has_last_offset: bool) -> Layout:
    """Raises ConfigError for settings that do not fit together."""
    time_of = time_of_records(values)
    return Layout(
        folder_of=folder_of_records(values, time_of),
        time_of=time_of,
        format=_format_of(values),
        limits=ChunkLimits(
            records_max=values["flush.size"],
            bytes_max=values["rotate.bytes"],
            files_max=values["rotate.files"],
            span_ms=max(0, values["rotate.interval.ms"]),
            compatibility=values["schema.compatibility"].upper(),
        ),
        topics_folder=values["topics.dir"].strip("/"),
        delimiter=values["file.delim"],
        pad_width=values["filename.offset.zero.pad.width"],
        has_last_offset=has_last_offset,
        has_envelopes=values["store.envelope"],
        nulls=values["behavior.on.null.values"].lower(),
        null_folder=values["tombstone.encoded.partition"].strip("/"),
        rotation_ms=max(0, values["rotate.schedule.interval.ms"]),
        zone=zone_of(values["timezone"]),
        spool_folder=values["spool.dir"] or None,
    )


def _format_of(values: Mapping[str, Any]) -> FileFormat:
    gzip_level: int | None = None
    if values["s3.compression.type"] == "gzip":
        gzip_level = values["s3.compression.level"] if values["s3.compression.level"] >= 0 else 6
    match short_name(values["format.class"], FORMATS, "format.class"):
        case "Avro":
            return AvroFiles(values["avro.codec"])
        case "Parquet":
            return ParquetFiles(values["parquet.codec"])
        case "ByteArray":
            if values["store.envelope"]:
                raise ConfigError(
                    "store.envelope needs AvroFormat, ParquetFormat or JsonFormat: bytes have no columns"
                )
            separator = values["format.bytearray.separator"]
            return ByteFiles(
                values["format.bytearray.extension"],
                (LINES if separator is None else separator).encode(),
                gzip_level,
            )
    return JsonLines(gzip_level, are_decimals_numbers=values["json.decimal.format"].upper() == "NUMERIC")
