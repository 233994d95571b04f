"""What one Produce or Fetch costs in the broker, without sockets: microseconds a request, against its limit.

python bench/handlers_micro.py

A node on a temporary directory; whole frames go into `ClientSession.on_frame` as a connection would hand them
over. The limits are twice the cost a first sketch of the broker had; the program ends with code 1 past one.
"""

import asyncio
import os
import sys
import tempfile
import time
import timeit
from collections.abc import Callable
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic

from moldau.broker.request.client_session import ClientSession
from moldau.core.chunks import Chunk
from moldau.core.settings.listeners import SecurityProtocol
from moldau.core.settings.static_layer import static_layer
from moldau.node.broker_node import BrokerNode
from moldau.node.main import event_loop
from moldau.protocol.fast.fetch_codec import decode_fetch
from moldau.protocol.fast.produce_codec import decode_produce
from wire_frames import FETCH_VERSION, PRODUCE_VERSION, fetch_frame, produce_frame

ROUNDS, CALLS = 30, 1_000
LENGTH_BYTES, HEADER_BYTES = 4, 11
PARTITIONS = 6
FETCH_BYTES = 1 << 20
PRODUCE_DECODE_US_MAX, FETCH_DECODE_US_MAX = 2 * 2.5, 2 * 3.3
HANDLER_US_MAX, WITH_KERNEL_US_MAX = 2 * 4.0, 2 * 25.0
FETCH_OF_SIX_US_MAX = FETCH_DECODE_US_MAX + HANDLER_US_MAX


class NoConnection:
    """Stands where a socket would: an answer goes nowhere, and none may come late."""

    peer, local_host, local_port, listener = "127.0.0.1:1", "127.0.0.1", 9, "PLAINTEXT"
    protocol, tls_principal = SecurityProtocol.PLAINTEXT, None

    def reply(self, chunks: list[Chunk]) -> None:
        raise AssertionError("every request here is answered at once")

    def abort(self, reason: str) -> None:
        raise AssertionError(reason)

    def portion_bytes(self) -> int:
        return 1 << 20

    def rest(self, seconds: float) -> None:
        raise AssertionError("nobody has a quota")

    def limit_frames(self, bytes_max: int, setting: str) -> None:
        raise AssertionError("nobody logs in")


def microseconds(call: Callable[[], object]) -> float:
    """CPU time of the best round: what else runs on the machine shows in the others."""
    return min(timeit.repeat(call, repeat=ROUNDS, number=CALLS, timer=time.thread_time)) / CALLS * 1e6


def body(frame: bytes) -> memoryview:
    """Writable, as in a connection's buffer: offsets are set in place."""
    return memoryview(bytearray(frame[LENGTH_BYTES:]))


def costs(session: ClientSession, folder: Path) -> list[tuple[str, float, float | None]]:
    produce = body(produce_frame("micro", records=100))
    fetches = {count: body(fetch_frame("micro", count, FETCH_BYTES)) for count in (1, PARTITIONS)}
    for index in range(PARTITIONS):
        answer = session.on_frame(body(produce_frame("micro", records=100, partition=index)))
        assert answer, "a produce request was not answered"
    appended_us = microseconds(lambda: session.on_frame(produce))
    write_us = _bare_write_us(folder / "bare", len(produce))
    return [
        (
            "produce decode, 1 partition",
            microseconds(lambda: decode_produce(produce, HEADER_BYTES, PRODUCE_VERSION)),
            PRODUCE_DECODE_US_MAX,
        ),
        (
            "fetch decode, 6 partitions",
            microseconds(lambda: decode_fetch(fetches[PARTITIONS], HEADER_BYTES, FETCH_VERSION)),
            FETCH_DECODE_US_MAX,
        ),
        ("produce, 1 batch of 100 x 100 B", appended_us, WITH_KERNEL_US_MAX),
        (f"  of that, writing {len(produce)} bytes", write_us, None),
        ("  without the write", appended_us - write_us, HANDLER_US_MAX),
        ("fetch, 1 partition", microseconds(lambda: session.on_frame(fetches[1])), HANDLER_US_MAX),
        (
            "fetch, 6 partitions",
            microseconds(lambda: session.on_frame(fetches[PARTITIONS])),
            FETCH_OF_SIX_US_MAX,
        ),
    ]


def _bare_write_us(path: Path, size: int) -> float:
    """The same bytes to a file of its own beside the log: what no broker can save."""
    data = bytes(size)
    number = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        return microseconds(lambda: os.write(number, data))
    finally:
        os.close(number)
        path.unlink()


def create_topic(port: int) -> None:
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}", "log_level": 0})
    admin.create_topics([NewTopic("micro", PARTITIONS, 1)])["micro"].result()


async def measure(folder: Path) -> list[tuple[str, float, float | None]]:
    overrides = ["listeners=PLAINTEXT://127.0.0.1:0", f"log.dirs={folder / 'data'}"]
    node = BrokerNode(static_layer(overrides=overrides))
    await node.start()
    try:
        await asyncio.to_thread(create_topic, node.port)
        return costs(ClientSession(node.broker, NoConnection()), folder)
    finally:
        await node.stop()


def main() -> int:
    with (
        tempfile.TemporaryDirectory(prefix="moldau-micro-") as folder,
        asyncio.Runner(loop_factory=event_loop) as runner,
    ):
        rows = runner.run(measure(Path(folder)))
    print(f"{'microseconds':40}{'cost':>8}{'limit':>8}")
    is_missed = False
    for name, cost_us, cost_us_max in rows:
        is_over = cost_us_max is not None and cost_us > cost_us_max
        is_missed |= is_over
        limit = "" if cost_us_max is None else f"{cost_us_max:.1f}"
        print(f"{name:40}{cost_us:8.2f}{limit:>8}{'  FAIL' if is_over else ''}")
    return 1 if is_missed else 0


if __name__ == "__main__":
    sys.exit(main())
