"""Avro records through a topic, with their schema in the registry.

    moldau up                                                   # a broker and a registry
    python examples/schema_registry/avro_round_trip.py          # other addresses as two arguments

The serializers are those of confluent-kafka. The second version of the schema adds a field with a default, so a
reader of version 2 also reads what version 1 wrote. The last step asks the registry for a change that would break
that reader, and prints the registry's answer.
"""

import json
import sys
from collections.abc import Mapping

from confluent_kafka import Consumer, Producer
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient, SchemaRegistryError
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

TOPIC = "purchases"
SUBJECT = f"{TOPIC}-value"
CONTEXT = SerializationContext(TOPIC, MessageField.VALUE)
WAIT_S = 30

ITEM = {"name": "item", "type": "string"}
AMOUNT = {"name": "amount", "type": "double", "default": 1.0}
BUYER = {"name": "buyer", "type": "string"}


def schema(*fields: Mapping[str, object]) -> str:
    return json.dumps({"type": "record", "name": "Purchase", "fields": fields})


def write(servers: str, registry: SchemaRegistryClient) -> None:
    producer = Producer({"bootstrap.servers": servers})
    first = AvroSerializer(registry, schema(ITEM))
    second = AvroSerializer(registry, schema(ITEM, AMOUNT))
    producer.produce(TOPIC, first({"item": "apples"}, CONTEXT))
    producer.produce(TOPIC, second({"item": "pears", "amount": 2.5}, CONTEXT))
    producer.flush()


def read(servers: str, registry: SchemaRegistryClient, count: int) -> None:
    deserializer = AvroDeserializer(registry, schema(ITEM, AMOUNT))
    consumer = Consumer(
        {"bootstrap.servers": servers, "group.id": "purchase-readers", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([TOPIC])
    try:
        for _ in range(count):
            message = consumer.poll(WAIT_S)
            if message is None:
                raise TimeoutError(f"no record in topic {TOPIC} within {WAIT_S} s")
            print(deserializer(message.value(), CONTEXT))
    finally:
        consumer.close()


def break_the_schema(registry: SchemaRegistryClient) -> None:
    try:
        registry.register_schema(SUBJECT, Schema(schema(ITEM, AMOUNT, BUYER), "AVRO"))
    except SchemaRegistryError as rejected:
        print(rejected.error_message)


if __name__ == "__main__":
    bootstrap_servers, url = sys.argv[1:] or ("localhost:9092", "http://localhost:8081")
    client = SchemaRegistryClient({"url": url})
    write(bootstrap_servers, client)
    read(bootstrap_servers, client, 2)
    break_the_schema(client)
