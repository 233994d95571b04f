"""The four codecs of a record batch, with the framings that Kafka's clients read and write.

`decompress` never produces more than `size_max` bytes, whatever the input claims: it works in steps and
stops. Each library is imported with the first batch that needs it: most brokers never decompress.
"""

import zlib
from collections.abc import Callable
from typing import Final

from moldau.core.errors import PeerError
from moldau.core.ports import Buffer
from moldau.protocol.records.batch import Compression

GZIP_LEVEL_DEFAULT: Final = -1
LZ4_LEVEL_DEFAULT: Final = 9
ZSTD_LEVEL_DEFAULT: Final = 3

_GZIP_WINDOW_BITS: Final = 31
"""15 bits of window, plus 16 for the gzip wrapper."""
_STEP_BYTES_MIN: Final = 1 << 16
_STEP_BYTES_MAX: Final = 1 << 22

_XERIAL_MAGIC: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = _XERIAL_MAGIC + b"\x00\x00\x00\x01\x00\x00\x00\x01"
_XERIAL_BLOCK_BYTES: Final = 32 * 1024
_SNAPPY_RATIO_MAX: Final = 32
"""A snappy element of three bytes produces at most 64: a claimed length beyond this ratio is false."""


def compress(codec: Compression, data: Buffer, level: int | None = None) -> bytes:
    """`level` is specific to the codec; None is Kafka's default. Snappy has no levels."""
    return data if codec is Compression.NONE and isinstance(data, bytes) else _COMPRESS[codec](data, level)


def decompress(codec: Compression, data: Buffer, size_max: int) -> bytes:
    """All of `data`. PeerError when it is malformed or would exceed `size_max` bytes."""
    return _DECOMPRESS[codec](data, size_max)


def _copy(data: Buffer, level: int | None) -> bytes:
    return bytes(data)


def _gzip(data: Buffer, level: int | None) -> bytes:
    chosen = GZIP_LEVEL_DEFAULT if level is None else level
    deflater = zlib.compressobj(chosen, zlib.DEFLATED, _GZIP_WINDOW_BITS)
    return deflater.compress(data) + deflater.flush()


def _snappy(data: Buffer, level: int | None) -> bytes:
    import cramjam

    out = bytearray(_XERIAL_HEADER)
    view = memoryview(data)
    for start in range(0, len(view), _XERIAL_BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _XERIAL_BLOCK_BYTES]))
        out += len(block).to_bytes(4, "big")
        out += block
    return bytes(out)


def _lz4(data: Buffer, level: int | None) -> bytes:
    import lz4.frame

    # Kafka uses the fast compressor for its default level and the high compressor, which starts at level 3
    # here, for all others. Its reader rejects blocks that refer to earlier ones.
    fast = level is None or level == LZ4_LEVEL_DEFAULT
    frame: bytes = lz4.frame.compress(
        data,
        compression_level=0 if fast else max(3, level or 0),
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        store_size=False,
    )
    return frame


def _zstd(data: Buffer, level: int | None) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=ZSTD_LEVEL_DEFAULT if level is None else level).compress(data)


def _bounded_copy(data: Buffer, size_max: int) -> bytes:
    if len(data) > size_max:
        raise _too_large("uncompressed records", size_max)
    return bytes(data)


def _gunzip(data: Buffer, size_max: int) -> bytes:
    chunks: list[bytes] = []
    made = 0
    pending: Buffer | None = data
    try:
        while pending is not None:  # Concatenated members are one stream.
            inflater = zlib.decompressobj(_GZIP_WINDOW_BITS)
            while not inflater.eof:
                chunk = inflater.decompress(pending, _step(made))
                pending = inflater.unconsumed_tail
                if not chunk and not pending and not inflater.eof:
                    raise PeerError("gzip records end in the middle of a member")
                made += len(chunk)
                if made > size_max:
                    raise _too_large("gzip records", size_max)
                chunks.append(chunk)
            pending = inflater.unused_data or None
    except zlib.error as error:
        raise PeerError(f"gzip records are malformed: {error}") from None
    return b"".join(chunks)


def _unlz4(data: Buffer, size_max: int) -> bytes:
    import lz4.frame

    chunks: list[bytes] = []
    made = 0
    pending: Buffer = data
    reader = lz4.frame.LZ4FrameDecompressor()
    try:
        while not reader.eof:
            chunk = reader.decompress(pending, max_length=_step(made))
            pending = b""
            if not chunk and reader.needs_input and not reader.eof:
                raise PeerError("lz4 records end in the middle of the frame")
            made += len(chunk)
            if made > size_max:
                raise _too_large("lz4 records", size_max)
            chunks.append(chunk)
    except RuntimeError as error:
        raise PeerError(f"lz4 records are malformed: {error}") from None
    if reader.unused_data:
        raise PeerError(f"lz4 records are followed by {len(reader.unused_data)} stray bytes")
    return b"".join(chunks)


def _unzstd(data: Buffer, size_max: int) -> bytes:
    import zstandard

    # Frames of streaming writers, such as the Java client, do not contain the size of their content.
    _check_zstd_ends(memoryview(data))
    chunks: list[bytes] = []
    made = 0
    try:
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            while chunk := reader.read(_step(made)):
                made += len(chunk)
                if made > size_max:
                    raise _too_large("zstd records", size_max)
                chunks.append(chunk)
    except zstandard.ZstdError as error:
        raise PeerError(f"zstd records are malformed: {error}") from None
    return b"".join(chunks)


def _check_zstd_ends(data: memoryview) -> None:
    """The streaming reader takes a truncated frame for a short one; this counts the blocks (RFC 8878,
    3.1.1)."""
    import zstandard

    position = 0
    try:
        while position < len(data) or not position:
            frame = data[position:]
            position += zstandard.frame_header_size(frame)
            is_last = 0
            while not is_last:
                block = int.from_bytes(data[position : position + 3], "little")
                is_last, kind, size = block & 1, block >> 1 & 3, block >> 3
                position += 3 + (1 if kind == 1 else size)
                if position > len(data):
                    raise PeerError("zstd records end in the middle of a frame")
            position += 4 if zstandard.get_frame_parameters(frame).has_checksum else 0
    except zstandard.ZstdError as error:
        raise PeerError(f"zstd records are malformed: {error}") from None
    if position != len(data):
        raise PeerError("zstd records end in the middle of a frame")


def _unsnappy(data: Buffer, size_max: int) -> bytes:
    view = memoryview(data)
    if bytes(view[:8]) != _XERIAL_MAGIC:
        return _unsnappy_block(view, size_max, size_max)
    blocks: list[bytes] = []
    made, position, end = 0, 0, len(view)
    while position < end:
        if bytes(view[position : position + 8]) == _XERIAL_MAGIC:  # Concatenated streams.
            position += len(_XERIAL_HEADER)
            if position > end:
                raise PeerError("snappy records end in the middle of their header")
            continue
        size = int.from_bytes(view[position : position + 4], "big")
        position += 4
        if size > end - position:
            raise PeerError(f"snappy records have a block of {size} bytes, {end - position} are left")
        block = _unsnappy_block(view[position : position + size], size_max - made, size_max)
        position += size
        made += len(block)
        blocks.append(block)
    return b"".join(blocks)


def _unsnappy_block(block: memoryview, size_left: int, size_max: int) -> bytes:
    import cramjam

    try:
        claimed = cramjam.snappy.decompress_raw_len(block)
        if claimed > size_left:
            raise _too_large("snappy records", size_max)
        if claimed > len(block) * _SNAPPY_RATIO_MAX:
            raise PeerError(f"snappy records are malformed: {len(block)} bytes cannot hold {claimed}")
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise PeerError(f"snappy records are malformed: {error}") from None


def _step(made: int) -> int:
    """How much to decompress next: small at first, because most batches are, then in proportion."""
    return min(max(made, _STEP_BYTES_MIN), _STEP_BYTES_MAX)


def _too_large(what: str, size_max: int) -> PeerError:
    return PeerError(f"{what} exceed the limit of {size_max} bytes when decompressed")


_COMPRESS: Final[dict[Compression, Callable[[Buffer, int | None], bytes]]] = {
    Compression.NONE: _copy,
    Compression.GZIP: _gzip,
    Compression.SNAPPY: _snappy,
    Compression.LZ4: _lz4,
    Compression.ZSTD: _zstd,
}

_DECOMPRESS: Final[dict[Compression, Callable[[Buffer, int], bytes]]] = {
    Compression.NONE: _bounded_copy,
    Compression.GZIP: _gunzip,
    Compression.SNAPPY: _unsnappy,
    Compression.LZ4: _unlz4,
    Compression.ZSTD: _unzstd,
}
