"""What a record in a repartition topic carries for the task that reads it: who wrote it, and when its turn was.

The order time is that of the input record it was made from, not its own timestamp: a window that closes late tells an
old time, and its record must not overtake what others wrote before. The tasks of a slot write through one producer,
and the shares of several batches lie one after the other, so the log itself does not tell writers apart.
"""

import struct
from collections.abc import Iterator
from typing import Final

from moldau.pipeline.operators.records import Columns, Headers
from moldau.pipeline.spark.orders import TaskId

NAME: Final = "_moldau"
_FORM: Final = struct.Struct(">qHH")


def stamp(order_ms: int, task: TaskId) -> tuple[str, bytes]:
    return NAME, _FORM.pack(order_ms, task.part, task.partition)


def by_writer(columns: Columns) -> Iterator[Columns]:
    """One `Columns` for each task that wrote some of the records, without the stamps."""
    rows: dict[bytes, list[int]] = {}
    orders: list[int] = []
    rest: list[Headers] = []
    for index, headers in enumerate(columns.headers or ()):
        name, mark = headers[-1]
        assert name == NAME and mark is not None, f"{columns.topic} has a record that no task of ours wrote"
        orders.append(_FORM.unpack(mark)[0])
        rows.setdefault(mark[8:], []).append(index)
        rest.append(headers[:-1])
    has_headers = any(rest)
    for writer, mine in sorted(rows.items()):
        yield Columns(
            columns.topic,
            columns.partition,
            [columns.offsets[index] for index in mine],
            [columns.timestamps_ms[index] for index in mine],
            [columns.keys[index] for index in mine],
            [columns.values[index] for index in mine],
            [rest[index] for index in mine] if has_headers else None,
            order_ms=[orders[index] for index in mine],
            writer=writer.hex(),
        )
