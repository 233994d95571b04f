"""Transactions as their readers and their producers see them."""

from collections.abc import Callable, Mapping

import pytest

from compat.client import ClientFailure, OffsetSpec, Record
from compat.confluent_client import ConfluentClient
from compat.conftest import JAVA
from compat.groups.conftest import BOTH_PROTOCOLS, JAVA_CONSUMER, OpenMember, OpenTransactional
from compat.groups.java_admin import JavaAdmin
from compat.groups.java_member import JavaMember
from compat.groups.member import wait_for_assignments, wait_for_records
from compat.groups.transactional import FENCED, JavaTransactional, refusal_of
from compat.groups.waiting import wait_until

COMMITTED = {"isolation.level": "read_committed"}
UNCOMMITTED = {"isolation.level": "read_uncommitted"}


def values(
    client: ConfluentClient, topic: str, isolation: Mapping[str, str] = COMMITTED
) -> list[bytes | None]:
    return [record.value for record in client.consume(topic, settings=isolation)]


def test_committed_is_seen_and_aborted_never(
    new_topic: Callable[..., str], open_transactional: OpenTransactional, confluent: ConfluentClient
) -> None:
    topic = new_topic()
    producer = open_transactional(topic)
    for number in range(6):
        producer.begin()
        producer.send(topic, [b"%d" % number])
        (producer.commit if number % 2 else producer.abort)()
    confluent.produce(topic, [Record(b"plain")])
    assert values(confluent, topic) == [b"1", b"3", b"5", b"plain"]
    assert values(confluent, topic, UNCOMMITTED) == [b"0", b"1", b"2", b"3", b"4", b"5", b"plain"]


def test_all_partitions_of_a_transaction_end_together(
    new_topic: Callable[..., str], open_transactional: OpenTransactional, confluent: ConfluentClient
) -> None:
    topic = new_topic(3)
    producer = open_transactional(topic)
    for ending in (producer.commit, producer.abort):
        producer.begin()
        for number in range(3):
            producer.send(topic, [b"x"], number)
        ending()
    for number in range(3):
        # One record and one marker of each transaction; markers are written after EndTxn is answered.
        wait_until(
            lambda at=number: confluent.offset_for(topic, OffsetSpec.LATEST, at) == 4, "all have ended"
        )
        assert len(confluent.consume(topic, number, settings=COMMITTED)) == 1


@pytest.mark.java
def test_the_last_stable_offset_holds_readers_back(
    new_topic: Callable[..., str],
    open_transactional: OpenTransactional,
    open_member: OpenMember,
    confluent: ConfluentClient,
    java_admin: JavaAdmin,
) -> None:
    """An open transaction hides what comes after it too, in Fetch and in ListOffsets."""
    topic = new_topic()
    confluent.produce(topic, [Record(b"before")])
    producer = open_transactional(topic)
    producer.begin()
    producer.send(topic, [b"open"])
    confluent.produce(topic, [Record(b"after")])
    careful = open_member("careful", isolation_level="read_committed")
    careless = open_member("careless", of="careless", isolation_level="read_uncommitted")
    assert [got.value for got in wait_for_records([careless], 3)] == [b"before", b"open", b"after"]
    assert [got.value for got in wait_for_records([careful], 1)] == [b"before"]
    assert java_admin.end_offset(topic, committed=True) == 1
    assert java_admin.end_offset(topic, committed=False) == 3
    assert values(confluent, topic) == [b"before"]
    producer.commit()
    assert [got.value for got in wait_for_records([careful], 3)] == [b"before", b"open", b"after"]
    assert java_admin.end_offset(topic, committed=True) == java_admin.end_offset(topic, committed=False) == 4


def test_a_zombie_is_fenced(
    new_topic: Callable[..., str], open_transactional: OpenTransactional, confluent: ConfluentClient
) -> None:
    topic = new_topic()
    zombie = open_transactional(topic)
    zombie.begin()
    zombie.send(topic, [b"of the zombie"])
    successor = open_transactional(topic)
    successor.begin()
    successor.send(topic, [b"of the successor"])
    assert refusal_of(zombie.commit) in FENCED
    successor.commit()
    assert values(confluent, topic) == [b"of the successor"]


def test_a_zombie_cannot_write(
    new_topic: Callable[..., str], open_transactional: OpenTransactional, confluent: ConfluentClient
) -> None:
    topic = new_topic()
    zombie = open_transactional(topic)
    zombie.begin()
    zombie.send(topic, [b"of the zombie"])
    open_transactional(topic)
    assert refusal_of(lambda: zombie.send(topic, [b"too late"])) in FENCED
    assert values(confluent, topic, UNCOMMITTED) == [b"of the zombie"]
    assert values(confluent, topic) == []


@pytest.mark.java
def test_an_admin_may_fence(
    new_topic: Callable[..., str],
    open_transactional: OpenTransactional,
    confluent: ConfluentClient,
    java_admin: JavaAdmin,
) -> None:
    topic = new_topic()
    producer = open_transactional(topic)
    producer.begin()
    producer.send(topic, [b"x"])
    java_admin.call("fence_producer", transactional_id=topic)
    assert refusal_of(producer.commit) in FENCED
    assert values(confluent, topic) == []


@pytest.mark.java
def test_a_transaction_that_takes_too_long_is_aborted(
    new_topic: Callable[..., str],
    open_transactional: OpenTransactional,
    confluent: ConfluentClient,
    java_admin: JavaAdmin,
) -> None:
    topic = new_topic()
    producer = open_transactional(topic, transaction_timeout_ms="1000")
    producer.begin()
    producer.send(topic, [b"x"])
    assert java_admin.end_offset(topic, committed=True) == 0
    wait_until(lambda: java_admin.end_offset(topic, committed=True) == 2, "it is aborted")
    assert java_admin.describe_transaction(topic)["state"] == "CompleteAbort"
    assert refusal_of(producer.commit) in FENCED | {"_TIMED_OUT", "INVALID_TXN_STATE", "_STATE"}
    assert values(confluent, topic) == []


def test_a_timeout_beyond_the_broker_s(open_transactional: OpenTransactional, topic: str) -> None:
    with pytest.raises(ClientFailure, match=r"(?i)transaction timeout is larger than"):
        open_transactional(topic, transaction_timeout_ms="900001")


@pytest.mark.parametrize("library_of", BOTH_PROTOCOLS, indirect=True)
def test_offsets_are_committed_with_the_transaction(
    new_topic: Callable[..., str],
    open_transactional: OpenTransactional,
    open_member: OpenMember,
    group: str,
    confluent: ConfluentClient,
) -> None:
    topic = new_topic(2)
    member = open_member("c1")
    wait_for_assignments({member: [(topic, 0), (topic, 1)]})
    producer = open_transactional(topic)
    for offset, ending in ((5, producer.commit), (9, producer.abort)):
        producer.begin()
        producer.send(topic, [b"x"])
        producer.send_offsets({(topic, 0): (offset, "")}, member)
        ending()
    assert member.committed([(topic, 0), (topic, 1)]) == {(topic, 0): (5, "")}


@pytest.mark.parametrize("library_of", [JAVA, JAVA_CONSUMER], indirect=True)
def test_offsets_of_a_stale_generation_are_refused(
    new_topic: Callable[..., str],
    open_transactional: OpenTransactional,
    open_member: OpenMember,
    group: str,
    confluent: ConfluentClient,
) -> None:
    """A member that was expelled cannot commit what others are reading now (KIP-447)."""
    topic = new_topic()
    member = open_member("c1")
    wait_for_assignments({member: [(topic, 0)]})
    producer = open_transactional(topic)
    assert isinstance(member, JavaMember)
    assert isinstance(producer, JavaTransactional)
    offsets = {(topic, 0): (5, "")}
    for generation, member_id in ((member.generation - 1, member.member_id), (member.generation, "nobody")):
        producer.begin()
        producer.send(topic, [b"x"])
        with pytest.raises(ClientFailure) as refused:
            producer.send_offsets_of(offsets, group, generation, member_id)
        assert refused.value.code == "CommitFailedException"
        producer.abort()
    assert member.committed([(topic, 0)]) == {}
    assert values(confluent, topic) == []
