"""Produce records and consume them in a group, with confluent-kafka.

    moldau up                                              # or any Kafka cluster
    python examples/clients/produce_and_consume.py         # the address of another cluster as an argument

The producer is idempotent and reports every record that was not delivered. The consumer commits an offset
only after it has processed the record, so a record is processed at least once.
"""

import sys

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

TOPIC = "greetings"
GREETINGS = {"cs": "ahoj", "en": "hello", "es": "hola"}
WAIT_S = 30


def produce(servers: str) -> None:
    def report(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            print(f"{message.key()!r} was not delivered: {error}", file=sys.stderr)

    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
    for language, greeting in GREETINGS.items():
        producer.produce(TOPIC, key=language, value=greeting, on_delivery=report)
    producer.flush()


def consume(servers: str, count: int) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": "greeters",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([TOPIC])
    try:
        for _ in range(count):
            message = consumer.poll(WAIT_S)
            if message is None:
                raise TimeoutError(f"no record in topic {TOPIC} within {WAIT_S} s")
            if message.error():
                raise KafkaException(message.error())
            key, value = message.key() or b"", message.value() or b""
            print(
                f"{message.topic()}[{message.partition()}]@{message.offset()} {key.decode()}: {value.decode()}"
            )
            consumer.commit(message=message, asynchronous=False)
    finally:
        consumer.close()


if __name__ == "__main__":
    bootstrap_servers = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
    produce(bootstrap_servers)
    consume(bootstrap_servers, len(GREETINGS))
