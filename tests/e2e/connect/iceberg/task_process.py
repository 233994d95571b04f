"""A process that runs a sink's task over a log of numbered records, as a worker would, until it is killed.

usage: python task_process.py MODULE:TASK CONFIG COMMITTED RECORDS SEED

The committed offset is in a file that is replaced, and a record's value has its offset: the target tells
what is missing and what is there twice.
"""

import importlib
import json
import os
import random
import sys
from collections.abc import Mapping
from pathlib import Path

from moldau.pipeline.connect.api import TopicPartition
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.struct import Struct

PLACE = TopicPartition("numbers", 0)
PLAIN = schemas.struct({"id": schemas.INT64, "group": schemas.STRING}, name="Number", version=1)
NOTED = schemas.struct(
    {"id": schemas.INT64, "group": schemas.STRING, "note": schemas.STRING}, name="Number", version=2
)
PHASE = 150
"""The schema changes every so many records."""


class Context:
    def __init__(self) -> None:
        self.wanted: dict[TopicPartition, int] = {}

    def report(self, record: SinkRecord, error: Exception) -> None:
        raise error

    def rewind(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.wanted.update(offsets)


def record(offset: int) -> SinkRecord:
    schema = NOTED if offset // PHASE % 2 else PLAIN
    values = (offset, f"g{offset % 3}", "note")[: len(schema.fields)]
    return SinkRecord(
        PLACE.topic,
        value=Struct(schema, values),
        value_schema=schema,
        partition=0,
        timestamp_ms=offset,
        offset=offset,
        original_topic=PLACE.topic,
        original_partition=0,
    )


def main() -> None:
    name, config, committed, records, seed = sys.argv[1:]
    module, _, kind = name.partition(":")
    task = getattr(importlib.import_module(module), kind)()
    context = Context()
    task.start(json.loads(config), context)
    at, end, dice = int(Path(committed).read_text()), int(records), random.Random(seed)
    task.opened([PLACE])
    print("ready", flush=True)
    durable = at
    while durable < end:
        # The log goes on behind the end: a sink may keep the last records back until there are more.
        following = at + dice.randrange(1, 200)
        task.put([record(offset) for offset in range(at, following)])
        at = following
        found = task.flush({PLACE: at}) or {}
        at = context.wanted.pop(PLACE, at)
        durable = found.get(PLACE, at)
        fresh = Path(f"{committed}.new")
        fresh.write_text(str(durable))
        os.replace(fresh, committed)
    task.stop()


if __name__ == "__main__":
    main()
