"""Tests of `orders.py` against a real broker, inside the test's own process.

    pip install moldau pytest
    pytest examples/testing

The fixtures come with the package: there is no conftest.py, no container and no port to choose.
"""

from confluent_kafka import Consumer, Producer
from orders import copy_large_orders, next_record

from moldau.testing import Faults


def produce(servers: str, *orders: str) -> None:
    producer = Producer({"bootstrap.servers": servers})
    for order in orders:
        producer.produce("orders", order)
    producer.flush()


def read_all(servers: str, count: int) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "test", "auto.offset.reset": "earliest"})
    consumer.subscribe(["large-orders"])
    records = [next_record(consumer) for _ in range(count)]
    consumer.close()
    return records


def test_large_orders_are_copied_once(moldau_bootstrap: str, moldau_faults: Faults) -> None:
    produce(moldau_bootstrap, "7", "250", "31", "900")
    # The broker commits a transaction and the connection breaks before the client hears of it.
    lost = moldau_faults.drop("EndTxn", is_served=True)

    copy_large_orders(moldau_bootstrap, 4)

    assert lost.hits == 1
    assert read_all(moldau_bootstrap, 2) == [b"250", b"900"]
