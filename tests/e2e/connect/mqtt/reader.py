"""Runs a task of MqttSource as a worker does, in a process that a test kills.

usage: reader.py CONFIG FILE      appends the payloads to FILE, durably, and then tells the task that they are committed
"""

import json
import os
import sys
import time

from connect_kit import StoredOffsets
from moldau.pipeline.connect.api import RetriableError
from moldau.pipeline.connect.connectors.mqtt.source import MqttSourceTask


def main(config: dict[str, str], path: str) -> None:
    task = MqttSourceTask()
    task.start(config, StoredOffsets())
    with open(path, "ab") as out:
        while True:
            try:
                records = task.poll()
            except RetriableError:
                time.sleep(0.02)
                continue
            if records:
                out.write(b"".join(one.value + b"\n" for one in records))
                out.flush()
                os.fsync(out.fileno())
                task.committed()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), sys.argv[2])
