"""The assignment of a group's member, as Kafka's consumer protocol writes it."""

import struct

import pytest

from moldau.pipeline.sql.server.groups import assigned_topics


def assignment(**partitions: list[int]) -> bytes:
    parts = [struct.pack(">hi", 1, len(partitions))]
    for topic, numbers in partitions.items():
        parts.append(struct.pack(">h", len(topic)) + topic.encode())
        parts.append(struct.pack(f">i{len(numbers)}i", len(numbers), *numbers))
    return b"".join(parts) + struct.pack(">i", -1)


def test_topics_with_partitions_are_found() -> None:
    assert assigned_topics(assignment(orders=[0, 2], idle=[], users=[1])) == {"orders", "users"}


@pytest.mark.parametrize("data", [None, b"", b"\x00\x01", b"another protocol's bytes \xff\xff"])
def test_what_is_no_assignment_has_none(data: bytes | None) -> None:
    assert assigned_topics(data) == frozenset()
