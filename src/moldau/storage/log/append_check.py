"""What a leader checks in a batch before it appends it, with Kafka's error codes.

Pure, and safe on any thread. The log checks the usual batch inline and uses this module for everything else: to find
out what exactly is wrong, and for topics whose settings require a look at the records.
"""

from typing import Final, NoReturn

from moldau.core.error_codes import ErrorCode
from moldau.core.errors import ApiError, PeerError
from moldau.core.ids import NO_TIMESTAMP, TopicPartition
from moldau.protocol.records.batch import (
    ATTRIBUTES_AT,
    COMPRESSION_MASK,
    HEADER_SIZE,
    LOG_APPEND_TIME_FLAG,
    LOG_OVERHEAD,
    MAGIC,
    MAGIC_AT,
    MAX_TIMESTAMP_AT,
    BatchHeader,
    Compression,
    crc_matches,
    read_header,
    stamp_log_append_time,
    write_crc,
)
from moldau.protocol.records.builder import recompress
from moldau.protocol.records.record import scan_records, uncompressed_records
from moldau.storage.log_config import INT64_MAX, PRODUCER_COMPRESSION, LogConfig

DECOMPRESSED_BYTES_MAX: Final = 128 << 20
"""How large a batch may be when unpacked, where the broker has to unpack it. Guards against decompression bombs."""
SCANNED_BYTES_MAX: Final = 64 << 10
"""Uncompressed batches up to this size are checked at once."""
RECORD_BYTES_MIN: Final = 7
"""A record's length, attributes, timestamp, offset, key, value and headers take at least one byte each."""
RECORD_ERRORS_NAMED: Final = 3
LEGACY_RECORD_OVERHEAD: Final = 14

_CODECS: Final = {
    "none": Compression.NONE,
    "uncompressed": Compression.NONE,
    "gzip": Compression.GZIP,
    "snappy": Compression.SNAPPY,
    "lz4": Compression.LZ4,
    "zstd": Compression.ZSTD,
}


class RecordsRefused(ApiError):
    """Some records of a batch are invalid, so the whole batch is rejected (KIP-467)."""

    def __init__(self, code: ErrorCode, message: str, record_errors: list[tuple[int, str | None]]) -> None:
        super().__init__(code, message)
        self.record_errors = record_errors


class UnpackingNeeded(Exception):
    """The batch must be unpacked before it can be appended: run `prepare_batch` on a worker thread."""


def needs_unpacking(records: memoryview, config: LogConfig, now_ms: int) -> bool:
    """Whether `prepare_batch` would take long, because it must read many records or compressed ones."""
    if len(records) < HEADER_SIZE:
        return False
    header = read_header(records)
    codec = header.attributes & COMPRESSION_MASK
    if not codec and len(records) <= SCANNED_BYTES_MAX:
        return False
    wanted = _CODECS.get(config.compression_type, codec)
    return wanted != codec or _needs_record_scan(header, config, now_ms)


def prepare_batch(
    records: memoryview, topic_partition: TopicPartition, config: LogConfig, *, now_ms: int, is_client: bool
) -> memoryview:
    """Returns the one batch in `records` as it is to be stored, except for offset and epoch. Rejects what Kafka
    rejects."""
    size = _size_of_one_batch(records)
    records = records[:size]
    header = read_header(records) if size >= HEADER_SIZE else None
    if header is None:
        _refuse(ErrorCode.CORRUPT_MESSAGE, f"Record batch of {size} bytes in {topic_partition} is too short")
    if is_client and header.base_offset != 0:
        _refuse_record(
            f"The baseOffset of the record batch in the append to {topic_partition} should be 0, "
            f"but it is {header.base_offset}"
        )
    check_size(size, topic_partition, config)
    if not crc_matches(records, 0, size):
        _refuse(
            ErrorCode.CORRUPT_MESSAGE,
            f"Record is corrupt (stored crc = {header.crc}) in topic partition {topic_partition}.",
        )
    _check_header(header, topic_partition, is_client)
    if header.is_control:
        return records
    try:
        return _as_configured(records, header, topic_partition, config, now_ms)
    except PeerError as error:
        _refuse_record(f"A record batch for {topic_partition} cannot be read: {error}")


def check_follower_batches(
    records: memoryview, topic_partition: TopicPartition, end_offset: int
) -> list[tuple[int, BatchHeader]]:
    """Returns the position and header of each whole batch a leader sent. Offsets come from the leader and must follow
    the log's own end. A batch cut off at the end of the response is left out: the next fetch brings it again."""
    batches: list[tuple[int, BatchHeader]] = []
    position = 0
    while len(records) - position >= HEADER_SIZE:
        header = read_header(records, position)
        if header.magic != MAGIC or header.size < HEADER_SIZE or header.last_offset_delta < 0:
            _refuse(
                ErrorCode.CORRUPT_MESSAGE,
                f"The leader of {topic_partition} sent no valid batch at byte {position}",
            )
        if header.size > len(records) - position:
            break
        if not crc_matches(records, position, header.size):
            _refuse(
                ErrorCode.CORRUPT_MESSAGE,
                f"Record is corrupt (stored crc = {header.crc}) in topic partition {topic_partition}.",
            )
        if header.base_offset < end_offset:
            _refuse(
                ErrorCode.INVALID_RECORD,
                f"Unexpected offset in append to {topic_partition}. First offset {header.base_offset} "
                f"is less than the next offset {end_offset}.",
            )
        batches.append((position, header))
        end_offset = header.next_offset
        position += header.size
    return batches


def check_size(size: int, topic_partition: TopicPartition, config: LogConfig) -> None:
    if size > config.max_message_bytes:
        _refuse(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"The record batch size in the append to {topic_partition} is {size} bytes "
            f"which exceeds the maximum configured value of {config.max_message_bytes}.",
        )
    if size > config.segment_bytes:
        _refuse(
            ErrorCode.RECORD_LIST_TOO_LARGE,
            f"Message batch size is {size} bytes in append to partition {topic_partition}, "
            f"which exceeds the maximum configured segment size of {config.segment_bytes}.",
        )


def _size_of_one_batch(records: memoryview) -> int:
    total = len(records)
    size = _whole_batch_at(records, 0)
    if size == 0:
        _refuse_record(
            "A produce request must contain one record batch for each partition; this one contains none"
        )
    magic = records[MAGIC_AT]
    if magic != MAGIC:
        _refuse_record(
            f"Only record batches with magic version {MAGIC} can be produced; this one has {magic}"
        )
    if total > size and _whole_batch_at(records, size):
        _refuse_record(
            "A produce request may contain only one record batch for each partition; this one contains more"
        )
    return size


def _whole_batch_at(records: memoryview, position: int) -> int:
    """The size of the batch at `position`; 0 when there is no whole batch."""
    left = len(records) - position
    if left < MAGIC_AT + 1:
        return 0
    length = int.from_bytes(records[position + 8 : position + 12], "big", signed=True)
    if length < LEGACY_RECORD_OVERHEAD:
        _refuse(ErrorCode.CORRUPT_MESSAGE, f"A record batch says it has a length of {length} bytes")
    if records[position + MAGIC_AT] > MAGIC:
        _refuse(ErrorCode.CORRUPT_MESSAGE, f"Invalid magic {records[position + MAGIC_AT]} in a record batch")
    return length + LOG_OVERHEAD if length + LOG_OVERHEAD <= left else 0


def _check_header(header: BatchHeader, topic_partition: TopicPartition, is_client: bool) -> None:
    if header.attributes & COMPRESSION_MASK > max(Compression):
        _refuse_record(f"Unknown compression codec in a record batch for {topic_partition}")
    if not is_client:
        return
    offsets = f"[{header.base_offset}, {header.last_offset}]"
    if header.last_offset_delta < 0:
        _refuse_record(f"Batch has an invalid offset range: {offsets} in topic partition {topic_partition}")
    if header.record_count <= 0:
        _refuse_record(
            f"Invalid reported count for record batch: {header.record_count} in topic partition {topic_partition}"
        )
    if header.record_count != header.last_offset_delta + 1:
        _refuse_record(
            f"Inconsistent batch offset range {offsets} and count of records {header.record_count} "
            f"in topic partition {topic_partition}"
        )
    is_plain = not header.attributes & COMPRESSION_MASK
    if is_plain and header.record_count * RECORD_BYTES_MIN > header.size - HEADER_SIZE:
        _refuse_record(
            f"A record batch of {header.size} bytes for {topic_partition} cannot hold "
            f"{header.record_count} records"
        )
    if header.is_control:
        _refuse_record(
            f"Clients are not allowed to write control records in topic partition {topic_partition}"
        )
    if header.producer_id >= 0 and header.base_sequence < 0:
        _refuse_record(
            f"Invalid sequence number {header.base_sequence} in record batch with producerId "
            f"{header.producer_id} in topic partition {topic_partition}"
        )


def _as_configured(
    records: memoryview, header: BatchHeader, topic_partition: TopicPartition, config: LogConfig, now_ms: int
) -> memoryview:
    if config.log_append_time and header.is_log_append_time:
        _refuse(
            ErrorCode.INVALID_TIMESTAMP,
            f"Invalid timestamp type in a record batch for {topic_partition}. "
            "Producer should not set timestamp type to LogAppendTime.",
        )
    codec = _CODECS.get(config.compression_type) if config.compression_type != PRODUCER_COMPRESSION else None
    is_recoded = codec is not None and codec != header.attributes & COMPRESSION_MASK
    if is_recoded or _needs_record_scan(header, config, now_ms):
        records = _check_records(records, header, topic_partition, config, now_ms)
    if codec is not None and is_recoded:
        level = _level(codec, config)
        records = memoryview(recompress(records, codec, level, decompressed_bytes_max=DECOMPRESSED_BYTES_MAX))
        check_size(len(records), topic_partition, config)
    if config.log_append_time:
        stamp_log_append_time(records, 0, len(records), now_ms)
    return records


def _level(codec: Compression, config: LogConfig) -> int | None:
    return {
        Compression.GZIP: config.compression_gzip_level,
        Compression.LZ4: config.compression_lz4_level,
        Compression.ZSTD: config.compression_zstd_level,
    }.get(codec)


def _needs_record_scan(header: BatchHeader, config: LogConfig, now_ms: int) -> bool:
    if config.compact:
        return True
    if config.log_append_time:
        return False
    return (
        header.is_log_append_time
        or config.message_timestamp_before_max_ms != INT64_MAX
        or header.max_timestamp - now_ms > config.message_timestamp_after_max_ms
    )


def _check_records(
    records: memoryview, header: BatchHeader, topic_partition: TopicPartition, config: LogConfig, now_ms: int
) -> memoryview:
    """Checks for keys if the topic is compacted, and timestamps unless the broker sets them. Also corrects the
    batch's maximum timestamp."""
    errors: list[tuple[int, str | None]] = []
    has_bad_time = False
    earliest, latest = _time_bounds(config, now_ms)
    youngest: int = NO_TIMESTAMP
    data = uncompressed_records(records, header, DECOMPRESSED_BYTES_MAX)
    for index, (_, _, delta, _, key, _, _) in enumerate(scan_records(data, header)):
        timestamp = header.max_timestamp if header.is_log_append_time else header.base_timestamp + delta
        youngest = max(youngest, timestamp)
        if config.compact and key is None:
            message = (
                f"Compacted topic cannot accept message without key in topic partition {topic_partition}"
            )
            errors.append((index, message))
        elif timestamp != NO_TIMESTAMP and not earliest <= timestamp <= latest:
            has_bad_time = True
            message = (
                f"Timestamp {timestamp} of message with offset {index} is out of range. "
                f"The timestamp should be within [{earliest}, {latest}]"
            )
            errors.append((index, message))
    if has_bad_time:
        text = "One or more records have been rejected due to invalid timestamp"
        raise RecordsRefused(ErrorCode.INVALID_TIMESTAMP, text, errors)
    if errors:
        named = ", ".join(f"{index}: {message}" for index, message in errors[:RECORD_ERRORS_NAMED])
        text = (
            f"One or more records have been rejected due to {len(errors)} record errors in total, "
            f"and only showing the first three errors at most: {named}"
        )
        raise RecordsRefused(ErrorCode.INVALID_RECORD, text, errors)
    if not config.log_append_time and (header.is_log_append_time or youngest != header.max_timestamp):
        attributes = header.attributes & ~LOG_APPEND_TIME_FLAG
        records[ATTRIBUTES_AT : ATTRIBUTES_AT + 2] = attributes.to_bytes(2, "big", signed=True)
        records[MAX_TIMESTAMP_AT : MAX_TIMESTAMP_AT + 8] = youngest.to_bytes(8, "big", signed=True)
        write_crc(records, 0, len(records))
    return records


def _time_bounds(config: LogConfig, now_ms: int) -> tuple[int, int]:
    if config.log_append_time:
        return -INT64_MAX, INT64_MAX
    return now_ms - config.message_timestamp_before_max_ms, now_ms + config.message_timestamp_after_max_ms


def _refuse(code: ErrorCode, message: str) -> NoReturn:
    raise ApiError(code, message)


def _refuse_record(message: str) -> NoReturn:
    raise ApiError(ErrorCode.INVALID_RECORD, message)
