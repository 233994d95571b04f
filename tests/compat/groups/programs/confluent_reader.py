"""A member that commits whatever it reads and says so: one line for each commit, "partition next-offset"."""

import json
import sys

from confluent_kafka import Consumer


def main() -> None:
    job = json.loads(sys.argv[1])
    sys.stdin.readline()
    consumer = Consumer(job["consumer"])
    consumer.subscribe([job["source"]])
    while True:
        message = consumer.poll(0.05)
        if message is not None and message.error() is None:
            consumer.commit(message=message, asynchronous=False)
            print(message.partition(), message.offset() + 1, flush=True)


if __name__ == "__main__":
    main()
