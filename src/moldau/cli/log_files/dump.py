"""Contents of log files as lines in the format of Kafka's DumpLogSegments, or as JSON objects. Pure."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import orjson

from moldau.cli.log_files import log_file as files
from moldau.cli.log_files.log_file import LogFile
from moldau.cli.log_files.stored_records import Told, teller
from moldau.cli.render.record_output import json_field
from moldau.core.errors import PeerError
from moldau.protocol.records.batch import SEQUENCE_MAX, BatchHeader, Compression, crc_matches
from moldau.protocol.records.control import ControlType, read_end_transaction_marker
from moldau.protocol.records.record import Record, iter_records

DECOMPRESSED_BYTES_MAX = 1 << 30

Tell = Callable[[bytes | None, bytes | None], Told | None] | None


class Line(NamedTuple):
    """One line of output, as text and as JSON fields."""

    text: str
    fields: dict[str, Any]


def dump(file: LogFile, data: memoryview, with_records: bool, from_offset: int = 0) -> Iterator[Line]:
    """Raises FileDamage at the first damage."""
    if file.kind == files.LOG:
        yield from _log(file, data, with_records, from_offset)
    elif file.kind == files.INDEX:
        for offset, position in files.offset_entries(bytes(data), file.base_offset):
            yield _entry(offset=offset, position=position)
    elif file.kind == files.TIME_INDEX:
        for timestamp_ms, offset in files.time_entries(bytes(data), file.base_offset):
            yield _entry(timestamp=timestamp_ms, offset=offset)
    elif file.kind == files.TXN_INDEX:
        for aborted in files.txn_entries(bytes(data)):
            yield _entry(**aborted._asdict())
    elif file.kind == files.SNAPSHOT:
        for producer in files.producer_entries(bytes(data)):
            yield _entry(**producer._asdict())
    else:
        for epoch, start_offset in files.epoch_entries(bytes(data)):
            yield _entry(epoch=epoch, start_offset=start_offset)


def _entry(**fields: int) -> Line:
    return Line(_words(fields), fields)


def _words(fields: dict[str, Any]) -> str:
    """Names fields like Kafka: `base_offset` becomes `baseOffset`."""
    return " ".join(f"{_camel(name)}: {_word(value)}" for name, value in fields.items())


def _camel(name: str) -> str:
    first, *rest = name.removesuffix("_ms").split("_")
    return first + "".join(part.title() for part in rest)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _log(file: LogFile, data: memoryview, with_records: bool, from_offset: int) -> Iterator[Line]:
    tell = teller(file.topic)
    for position, header in files.iter_batches(data):
        if header.last_offset < from_offset:
            continue
        is_valid = crc_matches(data, position, header.size)
        yield _batch(header, position, is_valid)
        if with_records and is_valid:
            yield from _records(bytes(data[position : position + header.size]), header, tell)


def _batch(header: BatchHeader, position: int, is_valid: bool) -> Line:
    codec = header.attributes & 0x07
    named = {codec.value: codec.name.lower() for codec in Compression}
    time_name = "LogAppendTime" if header.is_log_append_time else "CreateTime"
    horizon = header.delete_horizon_ms
    before = {
        "base_offset": header.base_offset,
        "last_offset": header.last_offset,
        "count": header.record_count,
        "base_sequence": header.base_sequence,
        "last_sequence": header.last_sequence,
        "producer_id": header.producer_id,
        "producer_epoch": header.producer_epoch,
        "partition_leader_epoch": header.partition_leader_epoch,
        "is_transactional": header.is_transactional,
        "is_control": header.is_control,
    }
    after = {"size": header.size, "magic": header.magic}
    compression = named.get(codec, str(codec))
    text = (
        f"{_words(before)} deleteHorizonMs: {'OptionalLong.empty' if horizon is None else f'OptionalLong[{horizon}]'} "
        f"position: {position} {time_name}: {header.max_timestamp} {_words(after)} compresscodec: {compression} "
        f"crc: {header.crc} isvalid: {_word(is_valid)}"
    )
    more = {
        "delete_horizon_ms": horizon,
        "position": position,
        "max_timestamp": header.max_timestamp,
        "timestamp_type": "log_append_time" if header.is_log_append_time else "create_time",
        "compression": compression,
        "crc": header.crc,
        "is_valid": is_valid,
    }
    return Line(text, {"type": "batch", **before, **more, **after})


def _records(batch: bytes, header: BatchHeader, tell: Tell) -> Iterator[Line]:
    if header.is_control:
        yield from _control(batch, header)
        return
    try:
        for record in iter_records(batch, decompressed_bytes_max=DECOMPRESSED_BYTES_MAX):
            yield _record(record, header, tell)
    except PeerError as error:
        yield Line(f"| unreadable: {error}", {"type": "unreadable", "problem": str(error)})


def _record(record: Record, header: BatchHeader, tell: Tell) -> Line:
    sequence = header.base_sequence
    if sequence >= 0:
        sequence = (sequence + record.offset - header.base_offset) & SEQUENCE_MAX
    names = ",".join(name for name, _ in record.headers)
    sizes = [-1 if data is None else len(data) for data in (record.key, record.value)]
    text = (
        f"| offset: {record.offset} {'LogAppendTime' if header.is_log_append_time else 'CreateTime'}: "
        f"{record.timestamp} keySize: {sizes[0]} valueSize: {sizes[1]} sequence: {sequence} headerKeys: [{names}]"
    )
    fields: dict[str, Any] = {
        "type": "record",
        "offset": record.offset,
        "timestamp": record.timestamp,
        "sequence": sequence,
        "headers": [dict([("name", name), json_field("value", value)]) for name, value in record.headers],
    }
    told = tell(record.key, record.value) if tell else None
    if told is not None:
        kind, key, value = told
        fields.update({"kind": kind, "key": key, "value": value})
        shown = orjson.dumps(key).decode(), "null" if value is None else orjson.dumps(value).decode()
        return Line(f"{text} key: {kind} {shown[0]} payload: {shown[1]}", fields)
    fields.update([json_field("key", record.key), json_field("value", record.value)])
    if record.key is not None:
        text += f" key: {_text(record.key)}"
    return Line(f"{text} payload: {'null' if record.value is None else _text(record.value)}", fields)


def _control(batch: bytes, header: BatchHeader) -> Iterator[Line]:
    try:
        marker = read_end_transaction_marker(batch)
    except PeerError as error:
        yield Line(f"| unreadable: {error}", {"type": "unreadable", "problem": str(error)})
        return
    if marker is None:
        yield Line(f"| offset: {header.base_offset} control record of an unknown type", {"type": "control"})
        return
    name = ControlType(marker.control_type).name
    yield Line(
        f"| offset: {header.base_offset} endTxnMarker: {name} coordinatorEpoch: {marker.coordinator_epoch}",
        {
            "type": "control",
            "offset": header.base_offset,
            "marker": name.lower(),
            "coordinator_epoch": marker.coordinator_epoch,
        },
    )


def _text(data: bytes) -> str:
    """One line of text. Control characters are escaped."""
    text = data.decode(errors="backslashreplace")
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)
