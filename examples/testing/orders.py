"""The code under test: copies large orders from one topic to another, exactly once."""

from confluent_kafka import Consumer, Producer

LARGE = 100


def copy_large_orders(servers: str, count: int) -> None:
    """Reads `count` orders. Each copy and the offset of its order are committed in one transaction."""
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "copier",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    producer = Producer({"bootstrap.servers": servers, "transactional.id": "copier"})
    producer.init_transactions()
    consumer.subscribe(["orders"])
    try:
        for _ in range(count):
            order = next_record(consumer)
            producer.begin_transaction()
            if int(order) >= LARGE:
                producer.produce("large-orders", order)
            positions = consumer.position(consumer.assignment())
            producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata())
            producer.commit_transaction()
    finally:
        consumer.close()


def next_record(consumer: Consumer) -> bytes:
    while (message := consumer.poll(1)) is None or message.error():
        pass
    return message.value() or b""
