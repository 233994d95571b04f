"""The answer of a pull query of a table: its rows, handed over as the reader takes them."""

from collections.abc import Iterator
from concurrent.futures import Executor
from itertools import islice
from typing import Any, Final

from moldau.pipeline.operators.failures import FAILURES
from moldau.pipeline.sql.queries.lookup import TableLookup
from moldau.pipeline.sql.queries.row_stream import COMPLETE, End, EndReason, RowStream
from moldau.pipeline.sql.queries.table_content import TableContent

ROWS_PER_OFFER: Final = 500


def answer_rows(content: TableContent, lookup: TableLookup) -> Iterator[Any]:
    found = content.all_rows() if lookup.keys is None else content.rows_of(lookup.keys)
    condition, row = lookup.condition, lookup.row
    for key, value, timestamp_ms in found:
        if condition is None or condition(key, value, timestamp_ms):
            yield row(key, value, timestamp_ms)


def hand_over(stream: RowStream, rows: Iterator[Any], executor: Executor) -> None:
    """Offers rows as long as there is room, and goes on in a thread of the executor when there is room again."""

    def offer() -> None:
        try:
            while stream.end is None:
                some = list(islice(rows, ROWS_PER_OFFER))
                if not some:
                    stream.finish(COMPLETE)
                elif not stream.offer(some):
                    return
        except FAILURES as failure:
            stream.finish(End(EndReason.FAILED, failure))

    def go_on() -> None:
        executor.submit(offer)

    stream.on_room = go_on
    offer()
