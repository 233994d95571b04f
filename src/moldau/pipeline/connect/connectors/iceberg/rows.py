"""The rows of one table that are not committed yet, each with the record it was."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa

from moldau.pipeline.connect.api import TopicPartition

BATCH_ROWS: Final = 2_000


@dataclass(slots=True)
class _Batch:
    places: list[TopicPartition]
    offsets: list[int]
    rows: pa.RecordBatch


class Rows:
    def __init__(self) -> None:
        self._batches: list[_Batch] = []
        self._places: list[TopicPartition] = []
        self._offsets: list[int] = []
        self._rows: list[dict[str, Any]] = []
        self._schema: pa.Schema | None = None
        self.first: dict[TopicPartition, int] = {}
        """The lowest offset of each topic partition."""
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._rows) + sum(len(one.offsets) for one in self._batches)

    def add(self, place: TopicPartition, offset: int, row: dict[str, Any], schema: pa.Schema) -> None:
        """`row` fits the columns of `schema`."""
        if schema is not self._schema or len(self._rows) >= BATCH_ROWS:
            self._make_batch()
            self._schema = schema
        self._places.append(place)
        self._offsets.append(offset)
        self._rows.append(row)
        self.first.setdefault(place, offset)

    def drop(self, places: Collection[TopicPartition]) -> None:
        """Those of partitions that went away."""
        gone = set(places)
        self._keep(lambda place, offset: place not in gone)

    def drop_written(self, ends: Mapping[TopicPartition, int]) -> None:
        """Those that the table has."""
        self._keep(lambda place, offset: offset >= ends.get(place, 0))

    def ends(self) -> dict[TopicPartition, int]:
        """Behind the last row of each topic partition."""
        found: dict[TopicPartition, int] = {}
        for one in self._all():
            for place, offset in zip(one.places, one.offsets, strict=True):
                found[place] = max(found.get(place, 0), offset + 1)
        return found

    def table(self, schema: pa.Schema) -> pa.Table:
        """All of them with the columns of `schema`."""
        return pa.Table.from_batches([_recast(one.rows, schema) for one in self._all()], schema)

    def clear(self) -> None:
        self._batches.clear()
        self._places, self._offsets, self._rows = [], [], []
        self.first.clear()
        self.bytes = 0

    def _all(self) -> list[_Batch]:
        self._make_batch()
        return self._batches

    def _make_batch(self) -> None:
        if self._rows:
            rows = pa.RecordBatch.from_pylist(self._rows, self._schema)
            self._batches.append(_Batch(self._places, self._offsets, rows))
            self.bytes += rows.nbytes
            self._places, self._offsets, self._rows = [], [], []

    def _keep(self, is_kept: Callable[[TopicPartition, int], bool]) -> None:
        kept = []
        for one in self._all():
            mask = [is_kept(*pair) for pair in zip(one.places, one.offsets, strict=True)]
            if not all(mask):
                one = _Batch(
                    [place for place, keep in zip(one.places, mask, strict=True) if keep],
                    [offset for offset, keep in zip(one.offsets, mask, strict=True) if keep],
                    one.rows.filter(pa.array(mask, pa.bool_())),
                )
            if one.offsets:
                kept.append(one)
        self.clear()
        self._batches = kept
        self.bytes = sum(one.rows.nbytes for one in kept)
        for one in kept:
            for place, offset in zip(one.places, one.offsets, strict=True):
                self.first.setdefault(place, offset)


def _recast(rows: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of the table have changed since the rows were taken."""
    if rows.schema.equals(schema):
        return rows
    return pa.RecordBatch.from_pylist(rows.to_pylist(maps_as_pydicts=None), schema)
