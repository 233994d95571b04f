"""JdbcSink on real databases: modes, keys, tables that are created and grow, and records that cannot be written."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from jdbc_kit import ServedShop, Shop

from connect_kit import sink_record
from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.jdbc.dialects.dialect import Sql
from moldau.pipeline.connect.data import schema as schemas
from moldau.pipeline.connect.data.records import SinkRecord
from moldau.pipeline.connect.data.schema import Schema, SchemaType
from moldau.pipeline.connect.data.struct import Struct

TEXT = Schema(SchemaType.STRING, optional=True)
PRODUCT = schemas.struct({"id": schemas.INT32, "name": TEXT}, name="Product")
PRODUCT_2 = schemas.struct({"id": schemas.INT32, "name": TEXT, "price": schemas.decimal(2, optional=True)})
MOMENT = datetime(2026, 3, 29, 1, 30, 15, 250_000, tzinfo=UTC)


def product(offset: int, number: int, name: str | None, schema: Schema = PRODUCT, **more: Any) -> SinkRecord:
    value = Struct.of(schema, id=number, name=name, **more)
    return sink_record("products", offset, number, value, key_schema=schemas.INT32, value_schema=schema)


def tombstone(offset: int, number: int) -> SinkRecord:
    return sink_record("products", offset, number, None, key_schema=schemas.INT32)


def products(shop: Shop) -> list[tuple[Any, ...]]:
    return shop.rows("SELECT * FROM products ORDER BY id, name")


def test_insert_adds_every_record(shop: Shop) -> None:
    task = shop.sink(auto_create="true")
    shop.write(task, [product(0, 1, "kniha"), product(1, 2, None)])
    shop.write(task, [product(0, 1, "kniha")])
    assert products(shop) == [(1, "kniha"), (1, "kniha"), (2, None)]


def test_upsert_replaces_rows_however_often_records_come(shop: Shop) -> None:
    task = shop.sink(insert_mode="upsert", pk_mode="record_key", pk_fields="id", auto_create="true")
    records = [product(0, 1, "kniha"), product(1, 2, "pero"), product(2, 1, "mapa")]
    for _ in range(2):
        shop.write(task, records)
    shop.write(task, [product(3, 2, "tužka 100 %"), product(4, 3, 'o\'clock \\ "x"')])
    assert products(shop) == [(1, "mapa"), (2, "tužka 100 %"), (3, 'o\'clock \\ "x"')]


def test_update_changes_what_exists(shop: Shop) -> None:
    shop.run("CREATE TABLE products (id INT PRIMARY KEY, name VARCHAR(20), stock INT DEFAULT 7)")
    shop.run("INSERT INTO products (id, name) VALUES (1, 'kniha')")
    task = shop.sink(insert_mode="update", pk_mode="record_value", pk_fields="id")
    shop.write(task, [product(0, 1, "mapa"), product(1, 2, "pero")])
    assert products(shop) == [(1, "mapa", 7)]


@pytest.mark.parametrize("mode", ["insert", "upsert"])
def test_tombstones_delete(shop: Shop, mode: str) -> None:
    settings = {"pk_mode": "record_key", "pk_fields": "id", "delete_enabled": "true"}
    task = shop.sink(insert_mode=mode, auto_create="true", **settings)
    # Before there is a table, there is nothing to delete.
    shop.write(task, [tombstone(0, 9)])
    shop.write(
        task,
        [product(1, 1, "a"), product(2, 2, "b"), tombstone(3, 1), tombstone(4, 2), product(5, 1, "again")],
    )
    assert products(shop) == [(1, "again")]
    shop.write(task, [tombstone(6, 1), tombstone(7, 77)])
    assert products(shop) == []


def test_a_row_after_a_deletion_has_no_old_columns(shop: Shop) -> None:
    shop.run("CREATE TABLE products (id INT PRIMARY KEY, name VARCHAR(20), note VARCHAR(20))")
    shop.run("INSERT INTO products VALUES (1, 'kniha', 'old')")
    task = shop.sink(insert_mode="upsert", pk_mode="record_key", pk_fields="id", delete_enabled="true")
    shop.write(task, [tombstone(0, 1), product(1, 1, "mapa")])
    assert products(shop) == [(1, "mapa", None)]


def test_key_of_kafka_makes_inserts_idempotent(shop: Shop) -> None:
    task = shop.sink(insert_mode="upsert", pk_mode="kafka", auto_create="true")
    for _ in range(2):
        shop.write(task, [product(0, 1, "a"), product(1, 1, "b")])
    found = shop.rows("SELECT * FROM products ORDER BY __connect_offset")
    assert found == [("products", 0, 0, 1, "a"), ("products", 0, 1, 1, "b")]


def test_struct_keys_and_chosen_fields(shop: Shop) -> None:
    key = schemas.struct({"country": schemas.STRING, "id": schemas.INT64})
    task = shop.sink(insert_mode="upsert", pk_mode="record_key", fields_whitelist="name", auto_create="true")
    value = Struct.of(PRODUCT_2, id=5, name="kniha", price=Decimal("1.00"))
    record = sink_record("products", 0, Struct(key, ["CZ", 1]), value, key_schema=key, value_schema=PRODUCT_2)
    shop.write(task, [record, record])
    assert shop.rows("SELECT * FROM products") == [("CZ", 1, "kniha")]


EVERYTHING = schemas.struct(
    {
        "id": schemas.INT64,
        "tiny": schemas.INT8,
        "small": schemas.INT16,
        "single": schemas.FLOAT32,
        "real_": schemas.FLOAT64,
        "flag": schemas.BOOLEAN,
        "text_": schemas.STRING,
        "data": schemas.BYTES,
        "price": schemas.decimal(2),
        "day_": schemas.date(),
        "clock": schemas.time(),
        "at_": schemas.timestamp(),
        "nothing": schemas.timestamp(optional=True),
        "with_default": Schema(SchemaType.STRING, default="it's"),
    }
)


def test_every_type_there_and_back(shop: Shop) -> None:
    """Into a table that the sink creates, and out of it by the source."""
    values = [
        1 << 60,
        -128,
        300,
        0.5,
        -1.0e100,
        True,
        "Dvořák 𝄞",
        b"\0\xff'",
        Decimal("12345678901234.56"),
        date(2026, 2, 28),
        time(23, 59, 58, 125_000),
        MOMENT,
        None,
        None,
    ]
    record = sink_record("all.things", 0, None, Struct(EVERYTHING, values), value_schema=EVERYTHING)
    task = shop.sink(
        auto_create="true", table_name_format="things", db_timezone="Europe/Prague", pk_mode="kafka"
    )
    shop.write(task, [record])
    source = shop.source(mode="bulk", db_timezone="Europe/Prague")
    [found] = shop.read(source, 1)
    want = dict(zip(EVERYTHING.index, values, strict=True)) | {"with_default": "it's"}
    if shop.kind == "sqlite":
        # SQLite counts with doubles.
        want["price"] = Decimal("12345678901234.56")
    got = {name: found.value[name] for name in EVERYTHING.index}
    if shop.kind != "postgresql":
        got["flag"] = bool(got["flag"])
    assert {**got, "price": got["price"].quantize(Decimal("0.01"))} == want


def test_columns_are_added(shop: Shop) -> None:
    task = shop.sink(
        insert_mode="upsert", pk_mode="record_value", pk_fields="id", auto_create="true", auto_evolve="true"
    )
    other = shop.sink(
        insert_mode="upsert", pk_mode="record_value", pk_fields="id", auto_create="true", auto_evolve="true"
    )
    shop.write(other, [product(0, 1, "kniha")])
    shop.write(task, [product(1, 1, "kniha"), product(2, 2, "pero", PRODUCT_2, price=Decimal("2.50"))])
    # The other task does not know of the new column yet.
    shop.write(other, [product(3, 3, "mapa", PRODUCT_2, price=Decimal("3.50"))])
    assert [(one, name, price and float(price)) for one, name, price in products(shop)] == [
        (1, "kniha", None),
        (2, "pero", 2.5),
        (3, "mapa", 3.5),
    ]
    required = schemas.struct({"id": schemas.INT32, "colour": schemas.STRING})
    refused = sink_record("products", 4, None, Struct.of(required, id=4, colour="red"), value_schema=required)
    shop.write_some(task, [refused, product(5, 5, "sešit")])
    [(record, error)] = shop.reports.failed
    assert record is refused
    assert "cannot get the column colour: its field is neither optional nor has a default" in str(error)
    assert len(products(shop)) == 4


def test_tasks_that_begin_together(shop: Shop) -> None:
    """Several create the table, and then add the same column, at one moment."""
    settings = {"insert_mode": "upsert", "pk_mode": "record_value", "pk_fields": "id"}
    tasks = [shop.sink(auto_create="true", auto_evolve="true", **settings) for _ in range(3)]
    for turn, schema in enumerate((PRODUCT, PRODUCT_2)):
        together = Barrier(len(tasks))

        def begin(
            number: int, turn: int = turn, schema: Schema = schema, together: Barrier = together
        ) -> None:
            together.wait()
            shop.write(tasks[number], [product(number, 10 * turn + number, "x", schema)])

        with ThreadPoolExecutor(len(tasks)) as pool:
            list(pool.map(begin, range(len(tasks))))
    assert [row[0] for row in products(shop)] == [0, 1, 2, 10, 11, 12]


def test_a_column_that_nobody_adds(shop: Shop) -> None:
    shop.run("CREATE TABLE products (ID INT, Name VARCHAR(20))")
    task = shop.sink()
    shop.write_some(task, [product(0, 1, "kniha"), product(1, 2, "pero", PRODUCT_2)])
    [(_, error)] = shop.reports.failed
    assert "has no column price: add it, set auto.evolve=true" in str(error)
    assert shop.rows("SELECT * FROM products") == [(1, "kniha")]


def test_a_missing_table(shop: Shop) -> None:
    task = shop.sink()
    with pytest.raises(ConnectError, match=r"has no table products: create it, set auto\.create=true"):
        task.put([product(0, 1, "kniha")])
    shop.run("CREATE TABLE products (id INT, name VARCHAR(20))")
    shop.write(task, [product(0, 1, "kniha")])
    # Dropped and made again with other columns while the task runs.
    shop.run("DROP TABLE products", "CREATE TABLE products (name VARCHAR(20), more INT, id INT)")
    shop.write(task, [product(1, 2, "pero")])
    assert shop.rows("SELECT name, more, id FROM products") == [("pero", None, 2)]


def test_rejected_rows_do_not_keep_others_out(shop: Shop) -> None:
    shop.run("CREATE TABLE products (id INT NOT NULL PRIMARY KEY, name VARCHAR(5) NOT NULL)")
    task = shop.sink(batch_size="8")
    records = [product(one, one, f"n{one}") for one in range(40)]
    for bad in (3, 17, 18, 39):
        records[bad] = product(bad, bad, None)
    records.append(product(40, 7, "twice"))
    shop.write_some(task, records)
    assert [one.offset for one, _ in shop.reports.failed] == [3, 17, 18, 39, 40]
    assert "the record at offset 3 of products-0 was rejected" in str(shop.reports.failed[0][1])
    assert [number for number, _ in products(shop)] == [
        one for one in range(40) if one not in (3, 17, 18, 39)
    ]


def test_poison(served: ServedShop) -> None:
    """Values that only the driver or the server rejects."""
    served.run("CREATE TABLE products (id INT PRIMARY KEY, name VARCHAR(9), at_ TIMESTAMP NULL)")
    schema = schemas.struct(
        {"id": schemas.INT64, "name": schemas.STRING, "at_": schemas.timestamp(optional=True)}
    )

    def poison(offset: int, number: int, name: str, moment: datetime | None = None) -> SinkRecord:
        return sink_record(
            "products", offset, None, Struct(schema, [number, name, moment]), value_schema=schema
        )

    records = [poison(number, number, "good") for number in range(10)]
    records[2] = poison(2, 1 << 40, "large")
    records[5] = poison(5, 5, "a name that is too long")
    records[7] = poison(7, 7, "early", datetime(1, 1, 1, tzinfo=UTC))
    records[8] = poison(8, 8, "zero \0")
    task = served.sink(
        insert_mode="upsert", pk_mode="record_value", pk_fields="id", db_timezone="America/New_York"
    )
    served.write_some(task, records)
    failed = sorted(one.offset for one, _ in served.reports.failed)
    # Only PostgreSQL cannot keep the character NUL.
    assert failed == ([2, 5, 7, 8] if served.kind == "postgresql" else [2, 5, 7])
    assert [number for number, *_ in products(served)] == [one for one in range(10) if one not in failed]


def test_a_changed_type(shop: Shop) -> None:
    """The field has become a text, and the column is a number."""
    shop.run("CREATE TABLE products (id INT, name INT)")
    task = shop.sink()
    shop.write_some(task, [product(0, 1, "kniha")])
    [(_, error)] = shop.reports.failed
    assert "cannot take the field name: it is a string, and the column is int" in str(error).lower()
    assert "Cast" in str(error)


def test_upsert_without_an_index(shop: Shop) -> None:
    shop.run("CREATE TABLE products (id INT, name VARCHAR(20))")
    task = shop.sink(insert_mode="upsert", pk_mode="record_key", pk_fields="id")
    with pytest.raises(ConnectError, match=r"has no primary key or unique index of id.*create it, or change"):
        task.put([product(0, 1, "kniha")])
    shop.run("CREATE UNIQUE INDEX one_id ON products (id)")
    shop.write(task, [product(0, 1, "kniha"), product(0, 1, "kniha")])
    assert products(shop) == [(1, "kniha")]


def test_records_without_what_a_row_needs(shop: Shop) -> None:
    task = shop.sink(insert_mode="upsert", pk_mode="record_key", pk_fields="id", auto_create="true")
    keyless = product(4, 1, "kniha")
    keyless.key = None
    records = [
        tombstone(0, 1),
        sink_record("products", 1, 1, {"id": 1}, key_schema=schemas.INT32),
        sink_record("products", 2, 1, "text", key_schema=schemas.INT32, value_schema=schemas.STRING),
        sink_record("products", 3, 1, Struct.of(PRODUCT, id=1), value_schema=PRODUCT),
        keyless,
    ]
    shop.write_some(task, [*records, product(5, 5, "good")])
    texts = [str(error) for _, error in shop.reports.failed]
    assert len(texts) == len(records), texts
    for text, part in zip(
        texts,
        (
            "it has no value. Either set delete.enabled=true",
            "has no schema",
            "no struct",
            "no schema for",
            "no key",
        ),
        strict=True,
    ):
        assert part in text
    assert products(shop) == [(5, "good")]


def test_tables_of_several_topics(shop: Shop) -> None:
    """Each topic has its own table, in a schema or database that the format names."""
    if shop.kind == "sqlite":
        pytest.skip("a file of SQLite has one schema")
    shop.run(shop.typed(postgresql="CREATE SCHEMA archive", mariadb="CREATE DATABASE IF NOT EXISTS archive"))
    task = shop.sink(auto_create="true", table_name_format="archive.${topic}")
    records = [product(one, one, "x") for one in range(10)]
    for one in records[::2]:
        one.topic = "odd name; \"'`"
    shop.write(task, records)
    mark = shop.mark
    name = "odd name; \"'`".replace(mark, mark * 2)
    assert len(shop.rows("SELECT * FROM archive.products")) == 5
    assert len(shop.rows(f"SELECT * FROM archive.{mark}{name}{mark}")) == 5
    if shop.kind == "mariadb":
        shop.run("DROP DATABASE archive")


def test_an_outage(served: ServedShop) -> None:
    """The worker gives the same records again until the server is back."""
    task = served.sink(insert_mode="upsert", pk_mode="record_key", pk_fields="id", auto_create="true")
    served.write(task, [product(0, 1, "before")])
    served.end_server()
    for _ in range(2):
        with pytest.raises(RetriableError, match=r"cannot (be reached|execute|write|roll back|commit)"):
            task.put([product(1, 1, "after"), product(2, 2, "new")])
    served.start_server()
    served.write(task, [product(1, 1, "after"), product(2, 2, "new")])
    assert products(served) == [(1, "after"), (2, "new")]


def test_an_outage_at_the_start(served: ServedShop) -> None:
    served.end_server()
    task = served.sink(auto_create="true")
    with pytest.raises(RetriableError, match="cannot be reached"):
        task.put([product(0, 1, "kniha")])
    served.start_server()
    served.write(task, [product(0, 1, "kniha")])
    assert products(served) == [(1, "kniha")]


def test_wrong_password(served: ServedShop) -> None:
    with pytest.raises(
        ConnectError, match=r"cannot be reached: .*(authentication failed|Access denied).*: check connection"
    ) as wrong:
        served.sink(**{"connection.password": "wrong"})
    assert not isinstance(wrong.value, RetriableError)


def test_a_deadlock_is_repeated(served: ServedShop) -> None:
    """Another transaction holds a row: the write waits for it, or is given again."""
    served.run(
        "CREATE TABLE products (id INT PRIMARY KEY, name VARCHAR(20))", "INSERT INTO products VALUES (1, 'a')"
    )
    timeout = served.typed(postgresql="SET lock_timeout = '50ms'", mariadb="SET innodb_lock_wait_timeout = 1")
    served.run("BEGIN", "UPDATE products SET name = 'held' WHERE id = 1")
    task = served.sink(insert_mode="upsert", pk_mode="record_key", pk_fields="id", max_retries="1")
    task.put([product(0, 2, "free")])
    task._database.execute(Sql(timeout))
    task._database.commit()
    with pytest.raises(RetriableError):
        task.put([product(1, 1, "kniha")])
    served.run("COMMIT")
    served.write(task, [product(1, 1, "kniha")])
    assert products(served) == [(1, "kniha"), (2, "free")]
