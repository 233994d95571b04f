"""The stamp of a record in a repartition topic, a header for the task that reads it: its writer and its order time.

The order time is the time of the input record, not the record's own timestamp: a window that closes late emits an old
timestamp, and its record must not overtake records that others wrote before. The header has to name the writer, because
the tasks of a slot share a producer and several batches follow each other in the log.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from moldau.pipeline.operators.records import Columns, Headers, OutputRecord
from moldau.pipeline.spark.orders import TaskId

NAME: Final = "_moldau"
OUTSIDER: Final = b"\xff\xff\xff\xff"
_ORDER: Final = struct.Struct(">q")
_WRITER: Final = struct.Struct(">HH")
_make = partial(tuple.__new__, OutputRecord)  # as OutputRecord(...), in half the time


def stamped(records: Iterable[OutputRecord], internal: frozenset[str], task: TaskId) -> list[OutputRecord]:
    """The outputs of a task. Those for internal topics get a stamp as their last header."""
    writer, pack = _WRITER.pack(task.part, task.partition), _ORDER.pack
    last_ms, header = -1, (NAME, pack(-1) + writer)
    found = []
    for record in records:
        topic, partition, timestamp_ms, key, value, headers, order_ms = record
        if topic in internal:
            if order_ms != last_ms:
                last_ms, header = order_ms, (NAME, pack(order_ms) + writer)
            marked = (*headers, header) if headers else (header,)
            record = _make((topic, partition, timestamp_ms, key, value, marked, order_ms))
        found.append(record)
    return found


def in_own_partition(
    records: Iterable[OutputRecord], transform_inputs: Mapping[str, int], task: TaskId
) -> list[OutputRecord]:
    """Records for a topic that the driver reads whole stay in the partition of their task, whatever their key: so the
    log keeps the order of all that a task wrote."""
    return [
        one._replace(partition=task.partition % transform_inputs[one.topic])
        if one.topic in transform_inputs
        else one
        for one in records
    ]


def by_writer(columns: Columns) -> Iterator[Columns]:
    """One `Columns` for each writer, without the stamps."""
    if not columns.headers or not all(one and one[-1][0] == NAME for one in columns.headers):
        columns = _with_stamps(columns)
    stamps = [headers[-1][1] or b"" for headers in columns.headers or ()]
    orders = struct.unpack(f">{len(stamps)}q", b"".join([stamp[: _ORDER.size] for stamp in stamps]))
    writers = [stamp[_ORDER.size :] for stamp in stamps]
    rest: list[Headers] | None = [headers[:-1] for headers in columns.headers or ()]
    if not any(rest or ()):
        rest = None
    names = sorted(set(writers))
    if len(names) == 1:
        yield _some(columns, orders, rest, names[0])
        return
    for name in names:
        mine = [index for index, writer in enumerate(writers) if writer == name]
        picked = Columns(
            columns.topic,
            columns.partition,
            [columns.offsets[index] for index in mine],
            [columns.timestamps_ms[index] for index in mine],
            [columns.keys[index] for index in mine],
            [columns.values[index] for index in mine],
        )
        headers = None if rest is None else [rest[index] for index in mine]
        yield _some(picked, [orders[index] for index in mine], headers, name)


def _with_stamps(columns: Columns) -> Columns:
    """Adds a stamp to records that no task wrote, such as replayed dead letters: its order time is their timestamp."""
    found = columns.headers or [()] * len(columns)
    headers = [
        one if one and one[-1][0] == NAME else (*one, (NAME, _ORDER.pack(timestamp_ms) + OUTSIDER))
        for one, timestamp_ms in zip(found, columns.timestamps_ms, strict=True)
    ]
    return replace(columns, headers=headers)


def _some(
    columns: Columns, orders: "tuple[int, ...] | list[int]", headers: list[Headers] | None, writer: bytes
) -> Columns:
    return replace(columns, headers=headers, order_ms=orders, writer=writer.hex())
