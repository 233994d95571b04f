"""INSERT INTO ... VALUES."""

from decimal import Decimal

import pytest
from shop_catalog import decided

from moldau.pipeline.sql.engine import Facts, InsertRow
from moldau.pipeline.sql.syntax.errors import SqlError


def inserted(text: str, facts: Facts | None = None) -> InsertRow:
    decision = decided(text, facts=facts or Facts(now_ms=1_000))
    assert decision.insert is not None
    assert decision.command is None
    return decision.insert


def test_all_columns_in_their_order_without_those_of_headers() -> None:
    row = inserted("INSERT INTO orders VALUES (1, 'eu', 2, '2020-01-31', 1.5, 'aGk=', ARRAY[1, 2]);")
    assert row.topic == "orders"
    assert row.key == (1,)
    assert row.value == ("eu", 2.0, 18292, Decimal("1.50"), b"hi", [1, 2])
    assert row.timestamp_ms == 1_000


def test_named_columns_and_the_time() -> None:
    row = inserted("INSERT INTO orders (region, ROWTIME, id) VALUES ('eu', 77, 5);")
    assert row.key == (5,)
    assert row.value == ("eu", None, None, None, None, None)
    assert row.timestamp_ms == 77


def test_expressions_are_computed() -> None:
    row = inserted("INSERT INTO orders (id, amount) VALUES (2 * 3, CAST('1.5' AS DOUBLE) + 1);")
    assert row.key == (6,)
    assert row.value is not None
    assert row.value[1] == 2.5


def test_a_stream_may_do_without_a_key() -> None:
    assert inserted("INSERT INTO orders (region) VALUES ('eu');").key is None


def test_a_row_without_values_is_not_a_tombstone() -> None:
    assert inserted("INSERT INTO users (id) VALUES (1);").value == (None,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INSERT INTO user VALUES (1);", "Did you mean USERS?"),
        ("INSERT INTO users (name) VALUES ('x');", "needs its key: no value for ID"),
        ("INSERT INTO users (id, name) VALUES (NULL, 'x');", "needs its key: no value for ID"),
        ("INSERT INTO rates VALUES ('EUR', 1);", "read-only"),
        ("INSERT INTO per_region VALUES ('eu', 1, 2);", "windowed"),
        ("INSERT INTO orders (trace) VALUES ('aGk=');", "filled from headers"),
        ("INSERT INTO orders (id, ROWPARTITION) VALUES (1, 2);", "pseudo column ROWPARTITION"),
        ("INSERT INTO orders (id, ROWTIME) VALUES (1, -2);", "must not be negative"),
        ("INSERT INTO orders VALUES (1);", "7 columns and 1 values"),
        ("INSERT INTO orders (rgion) VALUES ('eu');", "Did you mean REGION?"),
        ("INSERT INTO orders (id, id) VALUES (1, 2);", "given twice"),
        ("INSERT INTO orders (id) VALUES ('one');", "ID is INTEGER and cannot take a STRING"),
        ("INSERT INTO orders (day) VALUES ('someday');", "column DAY"),
        ("INSERT INTO orders (price) VALUES (1.555);", "does not fit DECIMAL(6, 2)"),
        ("INSERT INTO orders (raw) VALUES ('???');", "base64"),
        ("INSERT INTO orders (id) VALUES (amount);", "AMOUNT is a name where a value should stand"),
        ("INSERT INTO orders (id) VALUES (1 / 0);", "cannot be computed"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(SqlError) as failure:
        inserted(text)
    assert message in str(failure.value)


def test_a_server_may_accept_no_inserts() -> None:
    settings = {"ksql.insert.into.values.enabled": "false"}
    with pytest.raises(SqlError, match="accepts no INSERT"):
        inserted("INSERT INTO users VALUES (1, 'x');", Facts(settings=settings))
