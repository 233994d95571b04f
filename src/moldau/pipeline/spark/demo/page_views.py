"""Produces a few page views a second until stopped: `python -m moldau.pipeline.spark.demo.page_views SERVERS`."""

import os
import random
import sys
import time
from typing import Final

import orjson
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

PAGES: Final = ("home", "search", "cart", "checkout", "help")
REGIONS: Final = ("Bohemia", "Moravia", "Silesia")
USERS: Final = 20
VIEWS_PER_S: Final = 10
TOPICS: Final = ("users", "pageviews", "pageviews-enriched", "pageviews-per-page")


def create_topics(servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_topics([NewTopic(topic, 2) for topic in TOPICS]).values():
        try:
            future.result(30)
        except KafkaException as failure:
            if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def main() -> None:
    servers, started_by = sys.argv[1], os.getppid()
    create_topics(servers)
    producer = Producer({"bootstrap.servers": servers, "partitioner": "murmur2_random", "log_level": 2})
    for number in range(USERS):
        user = {"name": f"user-{number}", "region": REGIONS[number % len(REGIONS)]}
        producer.produce("users", key=f"user-{number}", value=orjson.dumps(user))
    producer.flush()
    while os.getppid() == started_by:
        user = {"user": f"user-{random.randrange(USERS)}", "page": random.choice(PAGES)}
        producer.produce("pageviews", key=user["user"], value=orjson.dumps(user))
        producer.poll(0)
        time.sleep(1 / VIEWS_PER_S)


if __name__ == "__main__":
    main()
