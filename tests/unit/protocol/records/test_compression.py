"""Framings, levels, and bombs that must not go off."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import cramjam
import lz4.frame
import pytest
import zstandard

from moldau.core.errors import PeerError
from moldau.protocol.records.batch import Compression
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.compression import compress, decompress
from moldau.protocol.records.record import Record, iter_records

MIB = 1 << 20


def gzip_bomb(mebibytes: int) -> bytes:
    deflater = zlib.compressobj(1, zlib.DEFLATED, 31)
    return b"".join(deflater.compress(bytes(MIB)) for _ in range(mebibytes)) + deflater.flush()


def zstd_bomb(mebibytes: int) -> bytes:
    compressor = zstandard.ZstdCompressor().compressobj()
    return b"".join(compressor.compress(bytes(MIB)) for _ in range(mebibytes)) + compressor.flush()


def lz4_bomb(mebibytes: int) -> bytes:
    frame = lz4.frame.LZ4FrameCompressor(
        block_size=lz4.frame.BLOCKSIZE_MAX1MB, block_linked=False, auto_flush=True
    )
    stored: bytes = frame.begin() + frame.compress(bytes(MIB)) * mebibytes + frame.flush()
    return stored


def snappy_bomb(mebibytes: int) -> bytes:
    block = bytes(cramjam.snappy.compress_raw(bytes(MIB)))
    return b"\x82SNAPPY\x00\0\0\0\1\0\0\0\1" + (len(block).to_bytes(4, "big") + block) * mebibytes


@pytest.mark.parametrize(
    ("codec", "bomb"),
    [
        (Compression.GZIP, gzip_bomb),
        (Compression.ZSTD, zstd_bomb),
        (Compression.LZ4, lz4_bomb),
        (Compression.SNAPPY, snappy_bomb),
    ],
)
def test_a_bomb_stops_at_the_bound(codec: Compression, bomb: Callable[[int], bytes]) -> None:
    stored = bomb(256)
    assert len(decompress(codec, bomb(4), 4 * MIB)) == 4 * MIB
    tracemalloc.start()
    try:
        with pytest.raises(PeerError, match=f"limit of {8 * MIB} bytes"):
            decompress(codec, stored, 8 * MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * MIB


def test_a_raw_snappy_block_that_lies_about_its_size() -> None:
    lie = b"\xff\xff\xff\x7f" + b"\x00\x61"
    with pytest.raises(PeerError, match="limit of"):
        decompress(Compression.SNAPPY, lie, MIB)
    with pytest.raises(PeerError, match="cannot hold"):
        decompress(Compression.SNAPPY, lie, 1 << 30)


def test_a_bomb_in_a_batch_names_the_bound() -> None:
    batch = build_batch([Record(0, 0, None, bytes(MIB))], compression=Compression.ZSTD)
    with pytest.raises(PeerError, match="limit of 1000 bytes"):
        list(iter_records(batch, decompressed_bytes_max=1000))


def test_snappy_is_read_raw_and_framed_and_written_framed() -> None:
    content = b"river " * 20_000
    framed = compress(Compression.SNAPPY, content)
    assert framed.startswith(b"\x82SNAPPY\x00\0\0\0\1\0\0\0\1")
    assert decompress(Compression.SNAPPY, framed, MIB) == content
    assert decompress(Compression.SNAPPY, framed + framed, MIB) == content * 2
    assert decompress(Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(content)), MIB) == content


def test_lz4_frames_have_independent_blocks_as_the_java_reader_demands() -> None:
    for level in (None, 1, 9, 17):
        info = lz4.frame.get_frame_info(compress(Compression.LZ4, bytes(200_000), level))
        assert not info["block_linked"]
        assert info["block_size"] == 64 * 1024


def test_gzip_members_may_be_concatenated() -> None:
    assert decompress(Compression.GZIP, gzip.compress(b"one ") + gzip.compress(b"two"), MIB) == b"one two"


def test_zstd_frames_need_not_say_their_size() -> None:
    stream = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    stored = stream.compress(b"water" * 1000) + stream.flush()
    assert zstandard.frame_content_size(stored) == -1
    assert decompress(Compression.ZSTD, stored + stored, MIB) == b"water" * 2000


@pytest.mark.parametrize(
    ("codec", "levels"),
    [
        (Compression.GZIP, (-1, 1, 9)),
        (Compression.LZ4, (1, 2, 9, 12, 17)),
        (Compression.ZSTD, (-131072, -5, 1, 22)),
        (Compression.SNAPPY, (None,)),
    ],
)
def test_every_level_kafka_allows(codec: Compression, levels: tuple[int | None, ...]) -> None:
    content = b"".join(b"line %d\n" % (i * i) for i in range(5000))
    sizes = []
    for level in levels:
        stored = compress(codec, content, level)
        sizes.append(len(stored))
        assert decompress(codec, stored, len(content)) == content
    assert len(levels) == 1 or sizes[-1] < max(sizes)
