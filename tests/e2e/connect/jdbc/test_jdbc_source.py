"""JdbcSource on real databases: modes, offsets, types, tables that come and go, and what can go wrong."""

import json
import os
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from jdbc_kit import FAST, PostgreSqlShop, ServedShop, Shop

from connect_kit import eventually, read
from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.jdbc import table_reader
from moldau.pipeline.connect.connectors.jdbc.source import JdbcSourceConnector, JdbcSourceTask
from moldau.pipeline.connect.connectors.jdbc.table_reader import GROUP_ROWS_MAX
from moldau.pipeline.connect.data.records import SourceRecord
from moldau.pipeline.connect.runtime.record_chain import RecordChain, Waiting
from moldau.pipeline.connect.runtime.source_chain import SourceChain

KILLS = int(os.environ.get("MOLDAU_KILL_ROUNDS", "8"))
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
BOTH = {"mode": "timestamp+incrementing", "incrementing_column_name": "id"}


def values(records: list[SourceRecord]) -> list[dict[str, Any]]:
    return [one.value.as_dict() for one in records]


def ids(records: list[SourceRecord]) -> list[int]:
    return [one.value["id"] for one in records]


def moments(shop: Shop) -> str:
    """The type of a column for timestamps with milliseconds at least."""
    return shop.typed(postgresql="TIMESTAMP", mariadb="DATETIME(6)", sqlite="DATETIME")


def fails(task: JdbcSourceTask, message: str) -> None:
    """The next reading fails."""
    with pytest.raises(ConnectError, match=message):
        eventually(task.poll, "the reading fails")


def text_of(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(" ", "milliseconds")


def test_invoices(shop: Shop) -> None:
    """The worked example of the book: a new row, then updates of it."""
    stamp = shop.typed(sqlite="DATETIME", postgresql="TIMESTAMP", mariadb="DATETIME")
    shop.run(
        "CREATE TABLE invoices (id INT PRIMARY KEY NOT NULL, title VARCHAR(50) NOT NULL, details CHAR(50), "
        f"billedamt REAL, modified {stamp} DEFAULT CURRENT_TIMESTAMP NOT NULL)",
        "INSERT INTO invoices (id, title, details, billedamt) VALUES (1, 'book', 'Franz Kafka', 500.00)",
    )
    task = shop.source(**BOTH, timestamp_column_name="modified")
    [record] = shop.read(task, 1)
    assert record.topic == "db-invoices"
    found = record.value.as_dict()
    assert (found["id"], found["title"], found["details"].rstrip(), found["billedamt"]) == (
        1,
        "book",
        "Franz Kafka",
        500.0,
    )
    assert abs(found["modified"] - datetime.now(UTC)) < timedelta(minutes=10)
    shop.read_nothing(task)
    shop.run("UPDATE invoices SET billedamt = 450.00, modified = '2026-12-31 12:00:00' WHERE id = 1")
    shop.read_nothing(task)  # The row is of the future.
    later = text_of(found["modified"] + timedelta(milliseconds=1))
    if shop.kind == "mariadb":
        shop.run("ALTER TABLE invoices MODIFY modified DATETIME(3) NOT NULL")
    shop.run(f"UPDATE invoices SET billedamt = 475.00, modified = '{later}' WHERE id = 1")
    [changed] = shop.read(shop.source(**BOTH, timestamp_column_name="modified"), 1)
    assert changed.value["billedamt"] == 475.0


def test_bulk_reads_everything_again(shop: Shop) -> None:
    shop.run("CREATE TABLE t (id INT, name VARCHAR(9))", "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    task = shop.source(mode="bulk", batch_max_rows="2")
    found = shop.read(task, 6)
    assert ids(found) == [1, 2, 3] * 2
    assert found[0].source_partition is None


def test_incrementing_goes_on_behind_the_last_number(shop: Shop) -> None:
    number = shop.typed(
        sqlite="INTEGER PRIMARY KEY",
        postgresql="SERIAL PRIMARY KEY",
        mariadb="INT PRIMARY KEY AUTO_INCREMENT",
    )
    shop.run(f"CREATE TABLE operators (id {number}, name VARCHAR(20))")
    shop.run("INSERT INTO operators (name) VALUES ('ČD'), ('RegioJet'), ('Leo Express')")
    # The database numbers the rows: the column need not be named.
    found = shop.read(shop.source(mode="incrementing", batch_max_rows="2"), 3)
    assert values(found) == [
        {"id": 1, "name": "ČD"},
        {"id": 2, "name": "RegioJet"},
        {"id": 3, "name": "Leo Express"},
    ]
    assert [one.source_offset for one in found] == [{"incrementing": number} for number in (1, 2, 3)]
    shop.run("UPDATE operators SET name = 'x' WHERE id = 1", "INSERT INTO operators (name) VALUES ('Arriva')")
    task = shop.source(mode="incrementing", incrementing_column_name="ID")
    assert ids(shop.read(task, 1)) == [4]
    shop.read_nothing(task)


def test_operators(shop: Shop) -> None:
    """The worked example of the handbook: two transformations make the number of the row the record's key."""
    number = shop.typed(
        sqlite="INTEGER PRIMARY KEY",
        postgresql="SERIAL PRIMARY KEY",
        mariadb="INT PRIMARY KEY AUTO_INCREMENT",
    )
    shop.run(f"CREATE TABLE operators (id {number}, name VARCHAR(20))")
    shop.run("INSERT INTO operators (name) VALUES ('ČD'), ('RegioJet')")
    chain = RecordChain(
        {
            "transforms": "createKey,extractInt",
            "transforms.createKey.type": "org.apache.kafka.connect.transforms.ValueToKey",
            "transforms.createKey.fields": "id",
            "transforms.extractInt.type": "org.apache.kafka.connect.transforms.ExtractField$Key",
            "transforms.extractInt.field": "id",
            "key.converter": "org.apache.kafka.connect.converters.IntegerConverter",
            "value.converter": "JsonConverter",
            "value.converter.schemas.enable": "false",
        },
        Waiting(lambda: 0, lambda _: False),
    )
    task = shop.source(mode="incrementing", incrementing_column_name="id", topic_prefix="pg-")
    output = SourceChain(chain).output(shop.read(task, 2))
    assert not output.failed
    assert [(one.topic, one.key, json.loads(one.value or b"")) for one in output.records] == [
        ("pg-operators", b"\0\0\0\1", {"id": 1, "name": "ČD"}),
        ("pg-operators", b"\0\0\0\2", {"id": 2, "name": "RegioJet"}),
    ]


def test_timestamp_columns_and_the_first_moment(shop: Shop) -> None:
    kind = moments(shop)
    shop.run(f"CREATE TABLE t (id INT, changed {kind}, made {kind} NOT NULL)")
    for number in range(5):
        changed = f"'{text_of(BEGIN + timedelta(hours=number + 10))}'" if number % 2 else "NULL"
        made = text_of(BEGIN + timedelta(hours=number))
        shop.run(f"INSERT INTO t VALUES ({number}, {changed}, '{made}')")
    settings = {"mode": "timestamp", "timestamp_column_name": "changed,made"}
    assert ids(shop.read(shop.source(**settings), 5)) == [0, 2, 4, 1, 3]
    shop.offsets.stored.clear()
    initial = int((BEGIN + timedelta(hours=2)).timestamp() * 1_000)
    assert ids(shop.read(shop.source(**settings, timestamp_initial=str(initial)), 3)) == [4, 1, 3]
    shop.offsets.stored.clear()
    shop.read_nothing(shop.source(**settings, timestamp_initial="-1"))


def test_young_rows_wait(shop: Shop) -> None:
    shop.run(f"CREATE TABLE t (id INT NOT NULL, at_ {moments(shop)} NOT NULL)")
    now = datetime.now(UTC)
    for number, age in enumerate((3_600, 10)):
        shop.run(f"INSERT INTO t VALUES ({number}, '{text_of(now - timedelta(seconds=age))}')")
    task = shop.source(**BOTH, timestamp_column_name="at_", timestamp_delay_interval_ms="1800000")
    assert ids(shop.read(task, 1)) == [0]
    shop.read_nothing(task)


def test_a_query(shop: Shop) -> None:
    shop.run(
        "CREATE TABLE t (id INT NOT NULL, country INT)",
        "CREATE TABLE c (code INT, name VARCHAR(9))",
        "INSERT INTO c VALUES (1, 'CZ'), (2, 'SK')",
        "INSERT INTO t VALUES (1, 1), (2, 2), (3, 1)",
    )
    query = "SELECT t.id, c.name AS country FROM t JOIN c ON c.code = t.country WHERE c.name LIKE '%Z';"
    settings = {"query": query, "topic_prefix": "czech"}
    found = shop.read(shop.source(mode="bulk", **settings), 2)
    assert {one.topic for one in found} == {"czech"}
    assert sorted(ids(found)) == [1, 3]
    both = {"mode": "incrementing", "incrementing_column_name": "id"}
    assert ids(shop.read(shop.source(**both, **settings), 2)) == [1, 3]
    shop.run("INSERT INTO t VALUES (4, 2), (5, 1)")
    task = shop.source(**both, **settings, query_suffix="LIMIT 1")
    [record] = shop.read(task, 1)
    assert record.value.as_dict() == {"id": 5, "country": "CZ"}
    assert record.source_partition == {"query": "query"}


MODES = {
    "incrementing": {"mode": "incrementing", "incrementing_column_name": "id"},
    "timestamp": {"mode": "timestamp", "timestamp_column_name": "changed"},
    "both": {**BOTH, "timestamp_column_name": "changed"},
}


@pytest.mark.parametrize("mode", MODES)
def test_tasks_that_end_at_any_moment(shop: Shop, mode: str) -> None:
    """What was not written to Kafka is read again, and what was is not. A poll is lost with the task, or committed."""
    random = Random(17)
    table = Changes(shop, random)
    seen: list[tuple[int, int]] = []
    for _ in range(KILLS):
        if random.random() < 0.8:
            table.change(may_update=mode != "incrementing")
        task = shop.source(**MODES[mode], batch_max_rows=str(random.choice((20, 37, 1_000))))
        polls = random.randrange(1, 8)
        while polls:
            polls -= 1
            records = task.poll()
            # The last poll of a task may be lost.
            if polls or random.random() < 0.5:
                shop.offsets.store(records)
                seen += [(one.value["id"], one.value["version"]) for one in records]
        task.stop()
    last = shop.source(**MODES[mode])
    eventually(lambda: table.is_complete(shop, last, seen), "all rows are read")
    shop.read_nothing(last)
    assert len(seen) == len(set(seen)), "no row is read twice"
    assert {row: version for row, version in sorted(seen)} == table.rows


class Changes:
    """Rows that are inserted and updated, at most 10 at one moment."""

    def __init__(self, shop: Shop, random: Random) -> None:
        self._shop, self._random = shop, random
        self._moment = BEGIN
        self.rows: dict[int, int] = {}
        shop.run(
            f"CREATE TABLE t (id INT NOT NULL PRIMARY KEY, version INT, changed {moments(shop)} NOT NULL)"
        )

    def change(self, *, may_update: bool) -> None:
        texts = []
        for _ in range(self._random.randrange(1, 6)):
            self._moment += timedelta(milliseconds=1)
            stamp = text_of(self._moment)
            for _ in range(self._random.randrange(1, 10)):
                number = len(self.rows)
                self.rows[number] = 0
                texts.append(f"({number}, 0, '{stamp}')")
        self._shop.run(f"INSERT INTO t VALUES {', '.join(texts)}")
        if may_update:
            self._moment += timedelta(milliseconds=1)
            some = self._random.sample(sorted(self.rows), min(10, len(self.rows)))
            for one in some:
                self.rows[one] += 1
            numbers = ", ".join(map(str, some))
            self._shop.run(
                f"UPDATE t SET version = version + 1, changed = '{text_of(self._moment)}' WHERE id IN ({numbers})"
            )

    def is_complete(self, shop: Shop, task: Any, seen: list[tuple[int, int]]) -> bool:
        records = task.poll()
        shop.offsets.store(records)
        seen += [(one.value["id"], one.value["version"]) for one in records]
        return set(self.rows.items()) <= set(seen)


@pytest.mark.parametrize("together", [GROUP_ROWS_MAX, 8])
def test_rows_of_one_moment(shop: Shop, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are handed out together. If they are too many, a task that ends within them reads some again."""
    monkeypatch.setattr(table_reader, "GROUP_ROWS_MAX", together)
    shop.run(f"CREATE TABLE t (id INT, changed {moments(shop)} NOT NULL)")
    rows = ", ".join(
        f"({number}, '{text_of(BEGIN + timedelta(hours=number // 30))}')" for number in range(90)
    )
    shop.run(f"INSERT INTO t VALUES {rows}")
    settings = {**MODES["timestamp"], "batch_max_rows": "4"}
    task = shop.source(**settings)
    found = read(task, shop.offsets, 8)
    task.stop()
    task = shop.source(**settings)
    found += read(task, shop.offsets, 60 if together > 90 else 90)
    assert sorted(set(ids(found))) == list(range(90))
    assert len(found) == 90 or together < 90
    shop.read_nothing(task)
    shop.read_nothing(shop.source(**settings))


def test_types_of_postgresql(shop: Shop) -> None:
    if not isinstance(shop, PostgreSqlShop):
        pytest.skip("types of PostgreSQL")
    shop.run(
        "CREATE TYPE mood AS ENUM ('sad', 'happy')",
        "CREATE TABLE t (id BIGINT NOT NULL, a SMALLINT, b REAL, c NUMERIC(12, 3), d NUMERIC, e BOOLEAN, f UUID, "
        "g JSONB, h BYTEA, i DATE, j TIME, k TIMESTAMP, l TIMESTAMPTZ, m mood, n INT[], o INTERVAL, p TIMESTAMP)",
        "INSERT INTO t VALUES (1, -2, 0.5, 12.345, 0.1, true, '00000000-0000-0000-0000-00000000000a', '{\"a\": 1}', "
        "'\\x00ff', '2026-02-28', '23:59:58.125', '2026-03-29 02:30:00', '2026-03-29 02:30:00+02', 'happy', "
        "'{1,2}', '1 day 02:00:00', 'infinity')",
        "INSERT INTO t (id) VALUES (2)",
    )
    first, second = shop.read(shop.source(mode="incrementing", incrementing_column_name="id"), 2)
    assert first.value.as_dict() == {
        "id": 1,
        "a": -2,
        "b": 0.5,
        "c": Decimal("12.345"),
        "d": Decimal("0.1"),
        "e": True,
        "f": "00000000-0000-0000-0000-00000000000a",
        "g": '{"a": 1}',
        "h": b"\0\xff",
        "i": date(2026, 2, 28),
        "j": time(23, 59, 58, 125_000),
        "k": datetime(2026, 3, 29, 2, 30, tzinfo=UTC),
        "l": datetime(2026, 3, 29, 0, 30, tzinfo=UTC),
        "m": "happy",
        "n": "{1,2}",
        "o": "1 day 02:00:00",
        "p": datetime.max.replace(tzinfo=UTC),
    }
    assert set(second.value.values[1:]) == {None}


def test_types_of_mariadb(shop: Shop) -> None:
    if shop.kind != "mariadb":
        pytest.skip("types of MariaDB")
    shop.run(
        "CREATE TABLE t (id BIGINT UNSIGNED NOT NULL, a TINYINT UNSIGNED, b FLOAT, c DECIMAL(12, 3), d BIT(1), "
        "e VARBINARY(9), f DATE, g TIME(3), h DATETIME(6), i TIMESTAMP(3) NULL, j ENUM('x', 'y'), k JSON, l YEAR, "
        "m SET('p', 'q'), n LONGTEXT)",
        "INSERT INTO t VALUES (1, 255, 0.5, 12.345, b'1', x'00ff', '2026-02-28', '23:59:58.125', "
        "'2026-06-29 02:30:00.000001', '2026-06-29 02:30:00', 'y', '{\"a\": 1}', 2026, 'p,q', 'Dvořák 𝄞')",
        "INSERT INTO t (id) VALUES (2)",
    )
    settings = {"mode": "incrementing", "incrementing_column_name": "id", "db_timezone": "Europe/Prague"}
    first, second = shop.read(shop.source(**settings), 2)
    assert first.value.as_dict() == {
        "id": 1,
        "a": 255,
        "b": 0.5,
        "c": Decimal("12.345"),
        "d": 1,
        "e": b"\0\xff",
        "f": date(2026, 2, 28),
        "g": time(23, 59, 58, 125_000),
        "h": datetime(2026, 6, 29, 0, 30, 0, 1, tzinfo=UTC),
        "i": datetime(2026, 6, 29, 2, 30, tzinfo=UTC),
        "j": "y",
        "k": '{"a": 1}',
        "l": 2026,
        "m": "p,q",
        "n": "Dvořák 𝄞",
    }
    assert set(second.value.values[1:]) == {None}


def test_numeric_mapping(shop: Shop) -> None:
    shop.run("CREATE TABLE t (a DECIMAL(4, 0), b DECIMAL(10, 2), c DECIMAL(30, 2))")
    shop.run("INSERT INTO t VALUES (7, 1.50, 2.25)")
    whole, fraction, large = Decimal(7), Decimal("1.50"), Decimal("2.25")
    for mapping, wanted in {
        "none": (whole, fraction, large),
        "precision_only": (7, fraction, large),
        "best_fit": (7, 1.5, large),
        "best_fit_eager_double": (7, 1.5, 2.25),
    }.items():
        [record] = shop.read(shop.source(mode="bulk", numeric_mapping=mapping), 1)
        found = record.value.values
        assert found == wanted, mapping
        assert [type(one) for one in found] == [type(one) for one in wanted]


def test_which_tables(shop: Shop) -> None:
    for name in ("cars", "trains", "trams"):
        shop.run(f"CREATE TABLE {name} (id INT)", f"INSERT INTO {name} VALUES (1)")
    shop.run("CREATE VIEW fast AS SELECT * FROM trains")

    def topics(**settings: str) -> set[str]:
        task = shop.source(mode="bulk", **settings)
        found: set[str] = set()
        polls = [task.poll() for _ in range(6)]
        for records in polls:
            found |= {one.topic for one in records}
        return found

    assert topics() == {"db-cars", "db-trains", "db-trams"}
    assert topics(table_whitelist="trains,fast,none") == {"db-trains"}
    assert topics(table_whitelist="trains,fast", table_types="TABLE,VIEW") == {"db-trains", "db-fast"}
    assert topics(table_blacklist="trains") == {"db-cars", "db-trams"}


def test_tables_come_and_go(shop: Shop) -> None:
    shop.run("CREATE TABLE a (id INT)", "INSERT INTO a VALUES (1)")
    connector = JdbcSourceConnector()
    connector.start(shop.source_config(mode="bulk", table_poll_interval_ms="1"))
    assert len(connector.task_configs(4)) == 1
    assert not connector.changed()
    shop.run("CREATE TABLE b (id INT)", "CREATE TABLE c (id INT)")
    eventually(connector.changed, "the new tables are seen")
    assert [one["tables"].count('"b"') for one in connector.task_configs(2)] == [0, 1]
    task = shop.source(mode="bulk", table_whitelist="a")
    shop.read(task, 1)
    shop.run("DROP TABLE a")
    fails(task, r"\ba\b")
    eventually(connector.changed, "a table is gone")
    connector.stop()


def test_a_column_changes_its_type(shop: Shop) -> None:
    """Records from then on have the new type."""
    if shop.kind == "sqlite":
        pytest.skip("SQLite cannot change the type of a column")
    shop.run("CREATE TABLE t (id INT NOT NULL, size_ INT)", "INSERT INTO t VALUES (1, 40)")
    task = shop.source(mode="incrementing", incrementing_column_name="id")
    assert values(shop.read(task, 1)) == [{"id": 1, "size_": 40}]
    shop.run(
        shop.typed(
            postgresql="ALTER TABLE t ALTER size_ TYPE TEXT", mariadb="ALTER TABLE t MODIFY size_ VARCHAR(9)"
        ),
        "ALTER TABLE t ADD colour VARCHAR(9)",
        "INSERT INTO t VALUES (2, 'XL', 'red')",
    )
    assert values(shop.read(task, 1)) == [{"id": 2, "size_": "XL", "colour": "red"}]
    shop.run("ALTER TABLE t DROP id")
    fails(task, r"\bid\b")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"mode": "incrementing", "incrementing_column_name": "no"},
            "table .*t has no column no: it has id, name",
        ),
        ({"mode": "incrementing"}, "has 0 columns that the database numbers"),
        ({"mode": "incrementing", "incrementing_column_name": "id"}, "nulls are allowed there"),
        (
            {"mode": "incrementing", "incrementing_column_name": "name", "validate_non_null": "false"},
            "is no whole number",
        ),
        (
            {"mode": "timestamp", "timestamp_column_name": "name", "validate_non_null": "false"},
            "the column name is no timestamp",
        ),
    ],
)
def test_unsuitable_columns(shop: Shop, settings: dict[str, str], message: str) -> None:
    shop.run("CREATE TABLE t (id INT, name VARCHAR(9))", "INSERT INTO t VALUES (1, 'a')")
    with pytest.raises(ConnectError, match=message):
        shop.source(**settings).poll()


def test_an_outage(served: ServedShop) -> None:
    """In the middle of a result: the rest follows when the server is back."""
    served.run("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, pad VARCHAR(9000))")
    rows = ", ".join(f"({number}, '{'x' * 9_000}')" for number in range(200))
    served.run(f"INSERT INTO t VALUES {rows}")
    task = served.source(**MODES["incrementing"], batch_max_rows="10")
    found = served.read(task, 20)
    served.end_server()
    with pytest.raises(RetriableError):
        eventually(lambda: found.extend(task.poll()), "the outage is noticed")
    with pytest.raises(RetriableError, match="cannot be reached"):
        eventually(task.poll, "the server is still away")
    served.start_server()
    served.run("INSERT INTO t VALUES (200, '')")

    def is_complete() -> bool:
        try:
            found.extend(task.poll())
        except RetriableError:
            return False
        return len(found) > 200

    eventually(is_complete, "all rows are read")
    assert ids(found) == list(range(201))


def test_unreachable(served: ServedShop) -> None:
    def start(**changes: str) -> None:
        connector = JdbcSourceConnector()
        try:
            connector.start({**served.config, **FAST, "topic.prefix": "x", "mode": "bulk", **changes})
        finally:
            connector.stop()

    with pytest.raises(
        ConnectError, match=r"cannot be reached: .*(authentication failed|Access denied).*: check connection"
    ) as wrong:
        start(**{"connection.password": "wrong"})
    assert not isinstance(wrong.value, RetriableError)
    url = served.config["connection.url"]
    with pytest.raises(ConnectError, match="nowhere") as wrong:
        start(**{"connection.url": url.replace("/shop", "/nowhere")})
    assert not isinstance(wrong.value, RetriableError)
    with pytest.raises(RetriableError, match="cannot be reached"):
        start(**{"connection.url": url.replace(url.rpartition(":")[2], "1/shop")})


def test_a_query_that_is_wrong(shop: Shop) -> None:
    task = shop.source(mode="bulk", query="SELECT * FROM nowhere")
    with pytest.raises(ConnectError, match="nowhere"):
        task.poll()
