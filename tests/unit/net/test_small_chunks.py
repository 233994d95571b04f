"""An answer of many small file slices is sent in a few large chunks, whole and in order."""

import asyncio
import os
import random
import struct
from pathlib import Path

import pytest

from moldau.core.chunks import FileSlice
from moldau.net.connection import SMALL_BYTES_MAX, Chunk, Connection
from moldau.net.listener import ConnectionLimits, Endpoint, Listeners
from moldau.storage.os_files import OsFile

LIMITS = ConnectionLimits(1 << 20, idle_ms_max=60_000, connections_max=10, connections_per_ip_max=10)
FRAME = struct.pack(">i", 1) + b"?"


class Answering:
    def __init__(self, answer: list[Chunk]) -> None:
        self._answer = answer

    def on_frame(self, _: memoryview) -> list[Chunk]:
        return list(self._answer)

    def closed(self) -> None: ...


async def received(answer: list[Chunk], size: int) -> bytes:
    """So many bytes of what a client gets for one request."""
    loop = asyncio.get_running_loop()

    def open_session(_: Connection) -> Answering:
        return Answering(answer)

    listeners = Listeners(loop, lambda: LIMITS, open_session, backlog=1, send_buffer_bytes=-1)
    try:
        endpoint = listeners.listen(Endpoint("PLAINTEXT", "127.0.0.1", 0))
        reader, writer = await asyncio.open_connection(endpoint.host, endpoint.port)
        try:
            writer.write(FRAME)
            return await reader.readexactly(size)
        finally:
            writer.close()
    finally:
        listeners.close()


@pytest.fixture
def file(tmp_path: Path) -> OsFile:
    path = tmp_path / "log"
    path.write_bytes(os.urandom(4 << 20))
    return OsFile(str(path), os.O_RDWR)


def test_pieces_of_every_size_arrive_in_order(file: OsFile) -> None:
    rng = random.Random(7)
    sizes = [
        *(rng.randrange(1, 200) for _ in range(3000)),
        SMALL_BYTES_MAX,
        SMALL_BYTES_MAX + 1,
        2 << 20,
        5,
        90_000,
    ]
    rng.shuffle(sizes)
    answer: list[Chunk] = []
    for size in sizes:
        answer += [rng.randbytes(rng.choice([3, 40, 50_000])), FileSlice(file, rng.randrange(1 << 20), size)]
    expected = b"".join(each.read() if isinstance(each, FileSlice) else bytes(each) for each in answer)
    assert asyncio.run(received(answer, len(expected))) == expected


def test_a_file_that_is_shorter_now_ends_the_connection(file: OsFile) -> None:
    answer: list[Chunk] = [b"head", FileSlice(file, (4 << 20) - 10, 20), b"tail"]
    with pytest.raises(asyncio.IncompleteReadError, match="0 bytes read"):
        asyncio.run(received(answer, 28))
