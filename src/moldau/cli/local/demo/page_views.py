"""Produces a few page views a second until its parent ends.

`python -m moldau.cli.local.demo.page_views SERVERS [FILE]`: FILE has more settings of the client, as JSON. The topics
are those of `statements.sql`, which has created them.
"""

import os
import random
import sys
import time
from pathlib import Path
from typing import Final

import orjson
from confluent_kafka import Producer

PAGES: Final = ("home", "search", "cart", "checkout", "help")
REGIONS: Final = ("Bohemia", "Moravia", "Silesia")
NAMES: Final = ("Anna", "Bedrich", "Clara", "David", "Eva", "Filip", "Gita", "Hugo", "Ivana", "Jan")
USERS: Final = {
    f"user-{number}": {"name": name, "region": REGIONS[number % len(REGIONS)]}
    for number, name in enumerate(NAMES)
}
VIEWS_PER_S: Final = 10


def main() -> None:
    servers, started_by = sys.argv[1], os.getppid()
    more = [orjson.loads(Path(file).read_bytes()) for file in sys.argv[2:]]
    settings = {"bootstrap.servers": servers, "partitioner": "murmur2_random", "log_level": 2}
    producer = Producer({**settings, **(more[0] if more else {})})
    for user_id, user in USERS.items():
        producer.produce("users", key=user_id, value=orjson.dumps(user))
    # A page view is joined with what is known of its user by then.
    producer.flush()
    while os.getppid() == started_by:
        view = {"page": random.choice(PAGES)}
        producer.produce("pageviews", key=random.choice(list(USERS)), value=orjson.dumps(view))
        producer.poll(0)
        time.sleep(1 / VIEWS_PER_S)


if __name__ == "__main__":
    main()
