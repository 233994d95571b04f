"""Roles in the topic of a running cluster, written as `moldau roles` writes them, without its access rules."""

import time
from collections.abc import Callable

from confluent_kafka import Producer

from moldau.security.roles.model import ROLES_TOPIC, Binding
from moldau.security.roles.records import PRESENT, Member, key_of
from moldau.testing import LocalCluster

WAIT_S = 60.0


class Roles:
    """Creates the topic, as the first grant does."""

    def __init__(self, cluster: LocalCluster) -> None:
        cluster.create_topic(ROLES_TOPIC, partitions=1, configs={"cleanup.policy": "compact"})
        self._producer = Producer(cluster.client_settings())

    def set(self, *subjects: Binding | Member, present: bool = True) -> None:
        """Grants roles and adds members to groups, or the reverse."""
        for subject in subjects:
            self._producer.produce(ROLES_TOPIC, PRESENT if present else b"", key_of(subject))
        assert self._producer.flush(WAIT_S) == 0


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "it has not come true in time"
