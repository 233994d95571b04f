"""How many windows a record may belong to."""

import pytest
from shop_catalog import decided

from moldau.pipeline.sql.syntax.errors import SqlError


def explained(window: str) -> None:
    decided(f"EXPLAIN SELECT region, COUNT(*) FROM orders WINDOW {window} GROUP BY region EMIT CHANGES;")


def test_too_many_windows_for_a_record() -> None:
    with pytest.raises(SqlError) as refused:
        explained("HOPPING (SIZE 100000 DAYS, ADVANCE BY 1 MILLISECONDS)")
    assert "each record would belong to 8,640,000,000,000 windows" in refused.value.message
    assert refused.value.at == (
        1,
        len("EXPLAIN SELECT region, COUNT(*) FROM orders WINDOW HOPPING (SIZE 100000 DAYS, ADVANCE BY ") + 1,
    )
    assert "at most 10,000 times ADVANCE" in refused.value.hint


def test_one_more_than_the_limit() -> None:
    explained("HOPPING (SIZE 10000 SECONDS, ADVANCE BY 1 SECOND)")
    with pytest.raises(SqlError, match="10,001 windows"):
        explained("HOPPING (SIZE 10000001 MILLISECONDS, ADVANCE BY 1 SECOND)")


def test_long_windows_that_do_not_overlap() -> None:
    explained("TUMBLING (SIZE 100000000 DAYS, GRACE PERIOD 100000000 DAYS)")
    explained("SESSION (100000000 DAYS)")
