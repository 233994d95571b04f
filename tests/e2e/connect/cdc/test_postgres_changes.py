"""PostgresCdc on a real server: the tables first, then each change in Debezium's envelope, with what goes wrong."""

import pytest

from connect_kit import eventually
from e2e.connect.cdc.cdc_kit import Shop, shown
from moldau.pipeline.connect.api import ConnectError, RetriableError
from moldau.pipeline.connect.connectors.postgres_cdc.source import PostgresCdcSourceConnector
from moldau.pipeline.connect.plugins import find_connector

BOOK = {"id": 1, "kind": "book", "author": "Franz Kafka", "price": "500.00"}


def with_products(shop: Shop) -> None:
    shop.run("CREATE TABLE products (id int PRIMARY KEY, kind text, author text, price text)")
    shop.run("INSERT INTO products VALUES (1, 'book', 'Franz Kafka', '500.00')")


def test_rows_that_are_there_then_their_changes(shop: Shop) -> None:
    with_products(shop)
    shop.run("ALTER TABLE products REPLICA IDENTITY FULL")
    task = shop.task()
    [first] = shop.read(task, 1)
    assert shown(first) == ("pg.public.products", {"id": 1}, "r", None, BOOK)
    assert first.value["source"]["snapshot"] == "last"
    shop.until_logging(task)
    shop.run("UPDATE products SET price = '450.00' WHERE id = 1")
    shop.run("DELETE FROM products")
    changes = shop.read(task, 3)
    cheaper = {**BOOK, "price": "450.00"}
    topic = "pg.public.products"
    assert [shown(one) for one in changes] == [
        (topic, {"id": 1}, "u", BOOK, cheaper),
        (topic, {"id": 1}, "d", cheaper, None),
        (topic, {"id": 1}, None),
    ]


def test_a_task_goes_on_where_the_last_one_was(shop: Shop) -> None:
    with_products(shop)
    first = shop.task()
    shop.read(first, 1)
    shop.until_logging(first)
    first.stop()
    shop.run("INSERT INTO products VALUES (2, 'chair', NULL, NULL)")
    [change] = shop.read(shop.task(), 1)
    assert shown(change)[1:3] == ({"id": 2}, "c")


def test_a_table_that_changes_its_columns(shop: Shop) -> None:
    with_products(shop)
    task = shop.task()
    shop.read(task, 1)
    shop.until_logging(task)
    shop.run("ALTER TABLE products ADD pages int")
    shop.run("INSERT INTO products VALUES (2, 'book', 'Karel Čapek', NULL, 168)")
    [change] = shop.read(task, 1)
    assert change.value["after"]["pages"] == 168


def test_a_connection_that_is_lost_is_made_again(shop: Shop) -> None:
    with_products(shop)
    task = shop.task()
    shop.read(task, 1)
    shop.until_logging(task)
    shop.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL"
    )
    shop.run("INSERT INTO products VALUES (2, 'book', 'Božena Němcová', NULL)")

    def next_change() -> object:
        try:
            found = task.poll()
        except RetriableError:
            return None
        return [shown(one)[1] for one in found]

    assert eventually(next_change, "the change after the loss") == [{"id": 2}]


def test_a_wrong_password_is_said_when_the_connector_is_checked(shop: Shop) -> None:
    wrong = {**shop.config, "database.password": "guess"}
    [error] = [text for one in PostgresCdcSourceConnector.check(wrong) for text in one.errors]
    assert "password" in error
    assert not PostgresCdcSourceConnector.check(shop.config)


def test_a_slot_that_is_gone_is_an_error_and_no_silent_loss(shop: Shop) -> None:
    with_products(shop)
    task = shop.task()
    shop.read(task, 1)
    shop.until_logging(task)
    task.stop()
    eventually(lambda: not shop.is_slot_active(), "the slot is free")
    shop.run(f"SELECT pg_drop_replication_slot('{shop.name}')")
    with pytest.raises(ConnectError, match="does not exist any more"):
        eventually(shop.task().poll, "a failure")
    again = shop.task(snapshot_mode="when_needed")
    assert [shown(one)[2] for one in shop.read(again, 1)] == ["r"]


def test_a_snapshot_that_cannot_begin_leaves_no_connection(shop: Shop) -> None:
    """The server forgets an exported snapshot when the connection that made it ends."""
    with_products(shop)
    task = shop.task()
    task.poll()
    shop.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'walsender'")
    with pytest.raises(RetriableError):
        eventually(lambda: task.poll() or None, "a failure")
    assert len(shop.read(task, 1)) == 1
    # Taking the snapshot again needs no more than the usual connections.
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
    [count] = shop.connection.execute(query, (shop.name,)).fetchone()
    assert count <= 4


def test_names_of_java() -> None:
    found = find_connector("io.debezium.connector.postgresql.PostgresConnector").connector
    assert found is PostgresCdcSourceConnector
