"""Mirror between Moldau and Apache Kafka, both ways at once: records, settings, groups that move over, and no loop."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from compat.apache_kafka import ApacheKafka
from e2e.connect.mirror.flow_kit import ANSWER_S, Flow, produced, read_messages, read_values, until
from e2e.connect.mirror.test_groups import committed, read_and_commit
from moldau.testing import LocalCluster

pytestmark = [pytest.mark.slow, pytest.mark.java]

TOPIC = "shared"
RETENTION = {"retention.ms": "7200000"}


class Place(NamedTuple):
    alias: str
    bootstrap_servers: str

    @property
    def address(self) -> tuple[str, str]:
        return self.alias, self.bootstrap_servers

    def create_topic(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.bootstrap_servers})
        for future in admin.create_topics([NewTopic(TOPIC, 1, 1, config=RETENTION)]).values():
            future.result(ANSWER_S)

    def topics(self) -> set[str]:
        found = AdminClient({"bootstrap.servers": self.bootstrap_servers}).list_topics(timeout=ANSWER_S)
        return {name for name in found.topics if name.endswith(TOPIC)}

    def values_of(self, other: "Place") -> list[bytes | None]:
        """What is mirrored here."""
        return read_values(self.bootstrap_servers, f"{other.alias}.{TOPIC}")


@pytest.fixture
def places(kafka: ApacheKafka) -> Iterator[tuple[Place, Place]]:
    with LocalCluster() as moldau:
        yield Place("moldau", moldau.bootstrap_servers), Place("kafka", kafka.bootstrap)


def test_both_ways_at_once(places: tuple[Place, Place]) -> None:
    moldau, kafka = places
    ways = ((moldau, kafka), (kafka, moldau))
    for place in places:
        place.create_topic()
        values = [f"{place.alias} {number}".encode() for number in range(10)]
        produced(place, TOPIC, values, key=b"k", headers=[("h", b"\x80")])
    settings = {
        "topics": f".*{TOPIC}",
        "groups": "mover-.*",
        "heartbeats.replication.enabled": "false",
        "sync.group.offsets.enabled": "true",
    }
    flows = [Flow(here.address, there.address, settings) for here, there in ways]
    for here, there in ways:
        until(flows, partial(_has, there, here, 10), f"{here.alias} is mirrored")
        group, mirrored = f"mover-{here.alias}", f"{here.alias}.{TOPIC}"
        assert len(read_and_commit(here, group, TOPIC, 10)) == 10
        end = read_messages(there.bootstrap_servers, mirrored)[-1].offset() + 1
        until(flows, partial(_committed_is, there, group, mirrored, end), f"{group} is translated")
        produced(here, TOPIC, [b"later"])
        until(flows, partial(_has, there, here, 11), "a later record is mirrored")
        assert read_and_commit(there, group, mirrored, 1) == [b"later"]
        first = read_messages(there.bootstrap_servers, mirrored)[0]
        assert (first.key(), first.headers()) == (b"k", [("h", b"\x80")])
        assert first.value() == f"{here.alias} 0".encode()
    for flow in (*flows, *flows):
        flow.turn()
    for here, there in ways:
        assert here.topics() == {TOPIC, f"{there.alias}.{TOPIC}"}
        assert len(here.values_of(there)) == 11
    for flow in flows:
        flow.stop()


def _has(there: Place, here: Place, count: int) -> bool:
    return len(there.values_of(here)) >= count


def _committed_is(there: Place, group: str, topic: str, end: int) -> bool:
    return committed(there, group, topic) == end
