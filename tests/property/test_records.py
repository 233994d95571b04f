"""Record batches: what is built is read back, also by kafka-python; what is broken is the peer's fault."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moldau.core.errors import PeerError
from moldau.protocol.records.batch import Compression, crc_matches, read_header
from moldau.protocol.records.builder import build_batch, recompress
from moldau.protocol.records.compression import compress, decompress
from moldau.protocol.records.record import (
    Record,
    every_record_has_key,
    iter_records,
    read_varint,
    scan_records,
    uncompressed_records,
    write_varint,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # kafka-python reads its schemas through a deprecated call
    from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

BYTES_MAX = 1 << 20
codecs = st.sampled_from(Compression)
# kafka-python's snappy needs a library of its own; compat tests cover that codec with other clients.
foreign_codecs = st.sampled_from([codec for codec in Compression if codec is not Compression.SNAPPY])
byte_strings = st.none() | st.binary(max_size=40) | st.binary(min_size=130, max_size=200)
header_lists = st.lists(st.tuples(st.text(max_size=10), st.none() | st.binary(max_size=20)), max_size=3).map(
    tuple
)
timestamps = st.integers(0, 2**62)


@st.composite
def record_lists(draw: st.DrawFn, *, gaps: bool = True, base_offset: int = 0) -> list[Record]:
    offset = base_offset - 1
    records = []
    for _ in range(draw(st.integers(1, 12))):
        offset += draw(st.integers(1, 1000)) if gaps else 1
        records.append(
            Record(offset, draw(timestamps), draw(byte_strings), draw(byte_strings), draw(header_lists))
        )
    return records


@given(st.integers(-(2**63), 2**63 - 1))
def test_varint_round_trip(value: int) -> None:
    out = bytearray(b"x")
    write_varint(out, value)
    assert read_varint(out, 1) == (value, len(out))


@given(record_lists(base_offset=77), codecs, st.integers(0, 9))
@settings(max_examples=100)
def test_built_batches_read_back(records: list[Record], codec: Compression, tail: int) -> None:
    batch = build_batch(
        records,
        base_offset=77,
        last_offset=records[-1].offset + tail,
        compression=codec,
        leader_epoch=5,
        producer_id=8,
        producer_epoch=2,
        base_sequence=44,
        is_transactional=True,
    )
    header = read_header(batch)
    assert list(iter_records(batch, decompressed_bytes_max=BYTES_MAX)) == records
    assert crc_matches(memoryview(batch), 0, len(batch))
    assert (header.size, header.record_count, header.compression) == (len(batch), len(records), codec)
    assert (header.base_offset, header.last_offset) == (77, records[-1].offset + tail)
    assert header.max_timestamp == max(record.timestamp for record in records)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (8, 2, 44)
    assert header.is_transactional and not header.is_control
    assert every_record_has_key(batch, decompressed_bytes_max=BYTES_MAX) == all(
        record.key is not None for record in records
    )


@given(record_lists(gaps=False), foreign_codecs)
@settings(max_examples=60)
def test_another_client_reads_what_we_build(records: list[Record], codec: Compression) -> None:
    reader = DefaultRecordBatch(bytes(build_batch(records, compression=codec, producer_id=3)))
    assert reader.validate_crc()
    seen = [Record(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in reader]
    assert seen == records


@given(record_lists(gaps=False), foreign_codecs)
@settings(max_examples=60)
def test_we_read_what_another_client_builds(records: list[Record], codec: Compression) -> None:
    builder = DefaultRecordBatchBuilder(2, int(codec), False, -1, -1, -1, 1 << 20)
    for index, record in enumerate(records):
        builder.append(
            index,
            timestamp=record.timestamp,
            key=record.key,
            value=record.value,
            headers=list(record.headers),
        )
    assert list(iter_records(bytes(builder.build()), decompressed_bytes_max=BYTES_MAX)) == records


@given(record_lists(), codecs, codecs)
@settings(max_examples=60)
def test_recompression_changes_the_codec_and_nothing_else(
    records: list[Record], source: Compression, target: Compression
) -> None:
    batch = build_batch(records, compression=source, producer_id=7, base_sequence=3, log_append_time_ms=9_999)
    again = recompress(batch, target, decompressed_bytes_max=BYTES_MAX)
    before, after = read_header(batch), read_header(again)
    assert crc_matches(memoryview(again), 0, len(again))
    assert after.compression is target
    same = {"length": 0, "crc": 0, "attributes": 0}
    assert before._replace(**same) == after._replace(**same)
    assert after.is_log_append_time
    assert list(iter_records(again, decompressed_bytes_max=BYTES_MAX)) == [
        record._replace(timestamp=9_999) for record in records
    ]


@given(record_lists(), codecs)
@settings(max_examples=60)
def test_a_scan_finds_the_spans(records: list[Record], codec: Compression) -> None:
    batch = build_batch(records, compression=codec)
    header = read_header(batch)
    data = uncompressed_records(batch, header, BYTES_MAX)
    spans = list(scan_records(data, header))
    assert [(delta, key, has_value) for _, _, _, delta, key, _, has_value in spans] == [
        (record.offset, record.key, record.value is not None) for record in records
    ]
    assert b"".join(bytes(data[start:end]) for start, end, *_ in spans) == bytes(data)


@given(st.data(), record_lists(), codecs)
@settings(max_examples=150)
def test_a_damaged_batch_raises_peer_error_only(
    data: st.DataObject, records: list[Record], codec: Compression
) -> None:
    batch = build_batch(records, compression=codec)
    for _ in range(data.draw(st.integers(1, 4))):
        batch[data.draw(st.integers(0, len(batch) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(batch)) | st.just(len(batch)))
    try:
        list(iter_records(batch[:cut], decompressed_bytes_max=BYTES_MAX))
    except PeerError as error:
        assert str(error)


@given(codecs, st.binary(max_size=200), st.booleans())
@settings(max_examples=150)
def test_garbage_records_raise_peer_error_only(codec: Compression, garbage: bytes, framed: bool) -> None:
    if framed:
        garbage = compress(codec, garbage)
    batch = build_batch([Record(0, 0, b"k", b"v")], compression=codec)
    batch[61:] = garbage
    batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
    try:
        list(iter_records(batch, decompressed_bytes_max=BYTES_MAX))
    except PeerError as error:
        assert str(error)


@given(codecs, st.binary(max_size=5000), st.integers(1, 60))
@settings(max_examples=100)
def test_compression_round_trip_within_its_bound(codec: Compression, data: bytes, times: int) -> None:
    content = data * times
    stored = compress(codec, content)
    assert decompress(codec, memoryview(stored), len(content)) == content
    if content:
        with pytest.raises(PeerError, match=f"limit of {len(content) - 1} bytes"):
            decompress(codec, stored, len(content) - 1)


@given(st.sampled_from([codec for codec in Compression if codec]), st.data())
@settings(max_examples=100)
def test_a_cut_stream_is_never_taken_for_a_whole_one(codec: Compression, data: st.DataObject) -> None:
    content = data.draw(st.binary(min_size=1, max_size=400)) * 300
    stored = compress(codec, content)
    cut = data.draw(st.integers(0, len(stored) - 1))
    try:
        short = decompress(codec, stored[:cut], len(content))
    except PeerError:
        return
    # Xerial's framing has no end mark: a cut between two blocks cannot be seen.
    assert codec is Compression.SNAPPY
    assert content.startswith(short)
