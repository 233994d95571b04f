"""What a limit counts."""

import pytest

from moldau.pipeline.sql.queries import EndReason, RowStream, Tombstone

GONE = Tombstone(("a", None))
ROWS = [("a", 1), GONE, ("b", 2), ("c", 3)]


@pytest.mark.parametrize(
    ("counts_tombstones", "rows"), [(True, [("a", 1), GONE]), (False, [("a", 1), ("b", 2)])]
)
@pytest.mark.parametrize("batch_rows", [1, 4])
def test_a_limit_counts_the_rows_that_are_shown(
    counts_tombstones: bool, rows: list[tuple[object, ...]], batch_rows: int
) -> None:
    stream = RowStream((), limit=2, counts_tombstones=counts_tombstones)
    for start in range(0, len(ROWS), batch_rows):
        stream.offer(ROWS[start : start + batch_rows])
    assert stream.read(60) == rows
    assert stream.end is not None
    assert stream.end.reason is EndReason.LIMIT
