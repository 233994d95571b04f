"""The threads on which blocking calls to Kafka and to the registry run, by what they wait for.

Each kind has its own, so that reads that wait for records do not hold up questions about topics.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

REGISTRY_MAX: Final = 8
ADMIN_MAX: Final = 16
LOGINS_MAX: Final = 8
CONTROL_MAX: Final = 32


class Threads:
    """`reads` wait for records, `control` changes and closes consumers, `admin` asks about the cluster, `logins` tries
    the logins of users."""

    def __init__(self, reads: int) -> None:
        self.reads = ThreadPoolExecutor(reads, "rest-read")
        self.control = ThreadPoolExecutor(CONTROL_MAX, "rest-consumer")
        self.admin = ThreadPoolExecutor(ADMIN_MAX, "rest-admin")
        self.logins = ThreadPoolExecutor(LOGINS_MAX, "rest-login")
        self.registry = ThreadPoolExecutor(REGISTRY_MAX, "rest-registry")

    def close(self) -> None:
        for pool in (self.reads, self.control, self.admin, self.logins, self.registry):
            pool.shutdown(wait=False, cancel_futures=True)
