"""The place of a record in a batch. Sorts rows into the order in which a task would process the records.

Order time, task that wrote the record, partition and offset, packed so that the bytes sort in this order.
"""

import struct
from itertools import accumulate
from typing import Any, Final

import numpy as np
import pyarrow as pa

from moldau.pipeline.operators.records import Columns, OutputRecord

_PLACE: Final = struct.Struct(">q4sIq")


def places(columns: Columns) -> list[bytes]:
    """The order time never goes back within a writer: a late record stays behind the record that it followed."""
    writer, partition, pack = bytes.fromhex(columns.writer), columns.partition, _PLACE.pack
    orders = accumulate(
        columns.timestamps_ms if columns.order_ms is None else columns.order_ms, max, initial=0
    )
    next(orders)
    return [
        pack(order_ms, writer, partition, offset)
        for order_ms, offset in zip(orders, columns.offsets, strict=True)
    ]


def order_ms_of(place: bytes) -> int:
    order_ms: int = _PLACE.unpack(place)[0]
    return order_ms


def place_of_time(timestamp_ms: int) -> bytes:
    """For a row without a place: its own timestamp decides."""
    return _PLACE.pack(max(0, timestamp_ms), b"", 0, 0)


def in_order(table: pa.Table, topic: str) -> list[OutputRecord]:
    """Returns encoded rows as records, in the order of their places. Rows without a place are ordered by timestamp."""
    keys, values = table.column("key").to_pylist(), table.column("value").to_pylist()
    times: list[int] = table.column("timestamp_ms").to_pylist()
    headers = table.column("headers").to_pylist()
    places = [
        place_of_time(times[index]) if place is None else place
        for index, place in enumerate(table.column("order").to_pylist())
    ]
    turns: Any = (
        np.argsort(np.array(times, dtype=np.int64), kind="stable")
        if table.column("order").null_count == len(table)
        else sorted(range(len(places)), key=places.__getitem__)
    )
    return [
        OutputRecord(
            topic,
            None,
            times[index],
            keys[index],
            values[index],
            tuple((one["key"], one["value"]) for one in headers[index] or ()),
            order_ms_of(places[index]),
        )
        for index in turns
    ]
