"""Runs a task of RedisSink as a worker does, in a process that a test kills.

usage: writer.py CONFIG COUNT      writes the records of a topic up to COUNT, from where the target says
"""

import json
import sys
import time

from connect_kit import Reports, sink_record
from moldau.pipeline.connect.api import RetriableError, TopicPartition
from moldau.pipeline.connect.connectors.redis.sink import RedisSinkTask

PLACE = TopicPartition("ticks", 0)
BATCH = 7


def main(config: dict[str, str], count: int) -> None:
    task = RedisSinkTask()
    task.start(config, Reports())
    while True:
        try:
            start = task.opened([PLACE]).get(PLACE, 0)
            break
        except RetriableError:
            time.sleep(0.02)
    # A worker may have committed less than the target has.
    start = max(0, start - 3)
    print("started", flush=True)
    while start < count:
        batch = [sink_record("ticks", at, None, {"n": at}) for at in range(start, min(start + BATCH, count))]
        try:
            task.put(batch)
        except RetriableError:
            time.sleep(0.02)
            continue
        start = batch[-1].offset + 1
        time.sleep(0.001)
    task.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), int(sys.argv[2]))
