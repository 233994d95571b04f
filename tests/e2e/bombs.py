"""Record batches that are small to send and enormous to look into."""

import zlib

import cramjam
import lz4.frame
import zstandard

from moldau.protocol.records.batch import (
    HEADER,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    BatchHeader,
    Compression,
    write_crc,
)

GB = 1 << 30
MB = 1 << 20

_ZSTD_BLOCK_BYTES = 128 << 10
_KEYLESS_RECORD = bytes((12, 0, 0, 0, 1, 1, 0))
"""Six bytes follow; no attributes, time and offset as the batch's, no key, no value, no headers."""


def sealed(
    records: bytes,
    codec: Compression,
    count: int,
    *,
    last_offset_delta: int | None = None,
    base_sequence: int = -1,
) -> bytearray:
    """`records`, compressed or not, behind a header that is right about everything but perhaps the count."""
    batch = bytearray(HEADER_SIZE) + records
    header = BatchHeader(
        base_offset=0,
        length=len(batch) - LOG_OVERHEAD,
        partition_leader_epoch=-1,
        magic=MAGIC,
        crc=0,
        attributes=codec,
        last_offset_delta=count - 1 if last_offset_delta is None else last_offset_delta,
        base_timestamp=1_700_000_000_000,
        max_timestamp=1_700_000_000_000,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=base_sequence,
        record_count=count,
    )
    HEADER.pack_into(batch, 0, *header)
    write_crc(batch, 0, len(batch))
    return batch


def zstd_bomb() -> bytearray:
    """4 GB in 131 kB: blocks of one repeated byte (RFC 8878, 3.1.1.2), made without compressing anything."""
    blocks = 4 * GB // _ZSTD_BLOCK_BYTES
    header = zstandard.MAGIC_NUMBER.to_bytes(4, "little") + bytes((0, 7 << 3))
    block = (_ZSTD_BLOCK_BYTES << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    last = (_ZSTD_BLOCK_BYTES << 3 | 1 << 1 | 1).to_bytes(3, "little") + b"\0"
    return sealed(header + block * (blocks - 1) + last, Compression.ZSTD, 1)


def gzip_bomb() -> bytearray:
    """1 GB in 1 MB: sixteen members, each the same."""
    deflater = zlib.compressobj(9, zlib.DEFLATED, 31)
    member = deflater.compress(bytes(63 * MB)) + deflater.flush()
    return sealed(member * 16, Compression.GZIP, 1)


def lz4_bomb() -> bytearray:
    """240 MB in 1 MB, which is as far as lz4 goes: sixty times the same block."""
    options = {"block_size": lz4.frame.BLOCKSIZE_MAX4MB, "block_linked": False, "store_size": False}
    frame = lz4.frame.compress(bytes(4 * MB), **options)
    start, block, end = frame[:7], frame[7:-4], frame[-4:]
    return sealed(start + block * 60 + end, Compression.LZ4, 1)


def snappy_bomb() -> bytearray:
    """256 MB in 12 MB, which is as far as snappy goes."""
    block = bytes(cramjam.snappy.compress_raw(bytes(32 * MB)))
    stream = b"\x82SNAPPY\0" + (1).to_bytes(4, "big") * 2
    return sealed(stream + (len(block).to_bytes(4, "big") + block) * 8, Compression.SNAPPY, 1)


def snappy_liar() -> bytearray:
    """Says it unpacks to 4 GB and has nothing in it."""
    return sealed(b"\xff\xff\xff\xff\x0f" + bytes(100), Compression.SNAPPY, 1)


def swarm(count: int) -> bytearray:
    """As many records as fit just below what a broker may unpack, none of them acceptable where keys are asked for."""
    unpacked = _KEYLESS_RECORD * count
    return sealed(zstandard.ZstdCompressor(level=1).compress(unpacked), Compression.ZSTD, count)
