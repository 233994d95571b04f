"""How long a user waits: from `moldau streams run` to the first record of output, and after everything was killed.

    python bench/pipeline_start.py [--rounds N]

One application counts in windows, with records waiting in its topic. The first wait ends with the first count. Then
driver, JVM, workers and broker are killed (SIGKILL), broker and application are started again, and the second wait
ends with the count of a record written after that. Exits with 1 when a median misses its bar.
"""

import argparse
import contextlib
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from pipeline_arena import WAIT_S, broker, create
from pipeline_service import descendants

FIRST_OUTPUT_BAR_S = 8
RECOVERY_BAR_S = 20
APPLICATION = """
from moldau.pipeline.streams import LONG, STRING, StreamsBuilder, tumbling

builder = StreamsBuilder("starting", key=STRING, value=STRING)
counts = builder.stream("in").group_by_key().windowed_by(tumbling(60_000)).count()
counts.to_stream().to("out", value=LONG)
"""


@contextlib.contextmanager
def application(file: Path, servers: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [str(Path(sys.executable).with_name("moldau")), "streams", "run", str(file), "-b", servers]
    command += ["--checkpoint-dir", str(folder / "checkpoints")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        for pid in [process.pid, *descendants(process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(60)


def send(servers: str, value: str) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for number in range(100):
        producer.produce("in", key=f"key-{number % 7}", value=value)
    producer.flush(60)


def wait_for_output(servers: str, start: int) -> int:
    """The end of the output as far as it was read: the next offset of its only partition."""
    settings = {"bootstrap.servers": servers, "group.id": "reader", "isolation.level": "read_committed"}
    consumer = Consumer(settings)
    try:
        consumer.assign([TopicPartition("out", 0, start)])
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            for message in consumer.consume(100, 0.05):
                if message.error() is None:
                    return int(consumer.get_watermark_offsets(TopicPartition("out", 0))[1])
        raise TimeoutError(f"no output within {WAIT_S} s")
    finally:
        consumer.close()


def one_round() -> tuple[float, float]:
    folder = Path(tempfile.mkdtemp(prefix="moldau-bench-"))
    file = folder / "starting.py"
    file.write_text(APPLICATION)
    try:
        with broker(folder) as servers:
            create(servers, "in", "out", partitions=1)
            send(servers, "first")
            began = time.monotonic()
            with application(file, servers, folder):
                end = wait_for_output(servers, 0)
                first_s = time.monotonic() - began
                kill_broker(servers)
        began = time.monotonic()
        with broker(folder) as servers:
            send(servers, "second")
            with application(file, servers, folder):
                wait_for_output(servers, end)
                return first_s, time.monotonic() - began
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def kill_broker(servers: str) -> None:
    port = servers.rpartition(":")[2]
    for child in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
        if f":{port}".encode() in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(int(child), signal.SIGKILL)


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--rounds", type=int, default=3)
    rounds = options.parse_args().rounds
    firsts, recoveries = zip(*(one_round() for _ in range(rounds)), strict=True)
    missed = False
    for what, waits, bar in (
        ("first output", firsts, FIRST_OUTPUT_BAR_S),
        ("recovery", recoveries, RECOVERY_BAR_S),
    ):
        median = statistics.median(waits)
        missed |= median >= bar
        told = ", ".join(f"{wait:.1f}" for wait in waits)
        print(
            f"{what:14} median {median:.1f} s ({told})   < {bar} s   {'MISSED' if median >= bar else 'met'}"
        )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
