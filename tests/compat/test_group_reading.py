"""Every client reads as a member of a group, commits, and goes on where the group was: it or any other."""

from collections.abc import Callable

import pytest

from compat.client import Client, Record
from compat.confluent_client import ConfluentClient

NewTopic = Callable[..., str]
RECORDS = 20


@pytest.fixture
def filled(new_topic: NewTopic, confluent: ConfluentClient) -> str:
    topic = new_topic()
    confluent.produce(
        topic, [Record(str(number).encode()) for number in range(RECORDS)], {"linger.ms": "100"}
    )
    return topic


def test_a_group_goes_on_where_it_was(client: Client, filled: str) -> None:
    group = f"group-of-{filled}"
    for start, count in ((0, 7), (7, 1), (8, 12)):
        read = client.read_as_group(filled, group, count)
        assert [record.offset for record in read] == list(range(start, start + count))
        assert [record.value for record in read] == [
            str(number).encode() for number in range(start, start + count)
        ]


def test_another_client_takes_over(client: Client, confluent: ConfluentClient, filled: str) -> None:
    """Offsets are committed for whoever comes next, whatever the library."""
    group = f"group-of-{filled}"
    for reader, start in ((client, 0), (confluent, 5), (client, 10)):
        read = reader.read_as_group(filled, group, 5)
        assert [record.offset for record in read] == list(range(start, start + 5))


def test_several_partitions(client: Client, confluent: ConfluentClient, new_topic: NewTopic) -> None:
    topic = new_topic(partitions=3)
    written = [Record(str(number).encode(), partition=number % 3) for number in range(30)]
    confluent.produce(topic, written)
    group = f"group-of-{topic}"
    read = client.read_as_group(topic, group, 11) + client.read_as_group(topic, group, 19)
    assert sorted((r.partition, r.offset) for r in read) == [
        (p, offset) for p in range(3) for offset in range(10)
    ]
