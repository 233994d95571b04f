"""A cluster of three brokers in this process: what clients are told, and what they keep when brokers go."""

import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from e2e.conversation import batch_of, metadata, produce_request
from e2e.wire import WireClient
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import TopicPartition
from moldau.protocol.messages.log.fetch import FetchPartition, FetchRequest, FetchTopic
from moldau.protocol.messages.log.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from moldau.storage.log.partition_log import PartitionLog
from moldau.testing import LocalCluster

PRODUCE_BY_NAME = 12
FETCH_BY_NAME = 12
WAIT_S = 60
RACKS = {1: "north", 2: "south", 3: "east"}


@pytest.fixture
def cluster() -> Iterator[LocalCluster]:
    settings = {
        "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector",
        "min.insync.replicas": "2",
    }
    with LocalCluster(brokers=3, settings=settings, racks=RACKS) as running:
        yield running


def connect(cluster: LocalCluster, broker_id: int) -> WireClient:
    address = cluster.bootstrap_servers.split(",")[broker_id - 1]
    return WireClient(int(address.rpartition(":")[2]), timeout_s=WAIT_S)


def produce(client: WireClient, topic: str, *values: bytes, acks: int = -1) -> ErrorCode:
    request = produce_request(topic, {0: bytes(batch_of(values))}, acks=acks)
    (answer,) = client.call(request, PRODUCE_BY_NAME).responses
    return ErrorCode(answer.partition_responses[0].error_code)


def fetch(client: WireClient, topic: str, *, epoch: int = -1, rack: str = "", offset: int = 0) -> object:
    partition = FetchPartition(
        partition=0, current_leader_epoch=epoch, fetch_offset=offset, partition_max_bytes=1 << 20
    )
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=1 << 20,
        topics=[FetchTopic(topic=topic, partitions=[partition])],
        rack_id=rack,
    )
    return client.call(request, FETCH_BY_NAME).responses[0].partitions[0]


def test_topics_are_created_while_there_is_no_controller(cluster: LocalCluster) -> None:
    """librdkafka waits until it hears of a controller, and asks for news of it every five minutes only."""
    for number in (1, 2, 3):
        members = cluster.broker(number).members
        cluster.call(number, lambda members=members: members.update(list(members), -1))  # type: ignore[misc]
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.create_topics([NewTopic("t", 1, 3)])["t"].result(WAIT_S)


def log_of(cluster: LocalCluster, broker_id: int, topic: str) -> PartitionLog:
    log = cluster.broker(broker_id).disks.find(TopicPartition(topic, 0))
    assert log is not None
    return log


def send_all(producer: Producer, topic: str, values: list[bytes]) -> list[object]:
    """The errors of those that failed."""
    errors: list[object] = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: errors.append(error) if error else None)
    assert producer.flush(WAIT_S) == 0
    return errors


def read_all(
    cluster: LocalCluster, topic: str, count: int, poll: Callable[[], None] = lambda: None
) -> list[bytes]:
    consumer = Consumer(
        {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
    )
    consumer.subscribe([topic])
    values: list[bytes] = []
    try:

        def has_all() -> bool:
            poll()
            message = consumer.poll(0.1)
            if message is not None and not message.error():
                values.append(message.value() or b"")
            return len(values) >= count

        cluster.wait_until(has_all, f"{count} records of {topic}")
    finally:
        consumer.close()
    return values


def test_everybody_tells_the_same_of_the_cluster(cluster: LocalCluster) -> None:
    cluster.create_topic("orders", partitions=3)
    seen = []
    for broker_id in (1, 2, 3):
        with connect(cluster, broker_id) as client:
            answer = metadata(client, ["orders"])
            seen.append(
                (
                    [(each.node_id, each.port, each.rack) for each in answer.brokers],
                    answer.controller_id,
                    [(each.leader_id, list(each.replica_nodes)) for each in answer.topics[0].partitions],
                )
            )
    assert seen[0] == seen[1] == seen[2]
    brokers, controller_id, partitions = seen[0]
    assert [(broker_id, rack) for broker_id, _, rack in brokers] == list(RACKS.items())
    assert controller_id in RACKS
    assert sorted(leader for leader, _ in partitions) == [1, 2, 3]
    assert all(sorted(replicas) == [1, 2, 3] for _, replicas in partitions)


def test_only_the_leader_takes_records_and_replicas_have_them(cluster: LocalCluster) -> None:
    cluster.create_topic("orders", partitions=1)
    leader = cluster.leader("orders")
    follower = next(each for each in RACKS if each != leader)
    with connect(cluster, follower) as client:
        assert produce(client, "orders", b"no") is ErrorCode.NOT_LEADER_OR_FOLLOWER
        asked = ListOffsetsPartition(partition_index=0, timestamp=-1)
        topic = ListOffsetsTopic(name="orders", partitions=[asked])
        answer = client.call(ListOffsetsRequest(replica_id=-1, topics=[topic]), 7)
        assert answer.topics[0].partitions[0].error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    with connect(cluster, leader) as client:
        assert produce(client, "orders", b"one", b"two") is ErrorCode.NONE
        assert fetch(client, "orders", epoch=7).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH  # type: ignore[attr-defined]
    # Acknowledged by all: there, and the same bytes, on every replica.
    logs = [log_of(cluster, each, "orders") for each in RACKS]
    assert [log.end_offset for log in logs] == [2, 2, 2]
    stored = [
        found.read() for log in logs if (found := log.read(0, 1 << 20, end_offset=2, at_least_one_batch=True))
    ]
    assert len(stored) == 3
    assert len(set(stored)) == 1


def test_too_few_in_sync(cluster: LocalCluster) -> None:
    cluster.create_topic("orders", partitions=1)
    leader = cluster.leader("orders")
    for each in [each for each in RACKS if each != leader]:
        cluster.kill(each)
    cluster.wait_until(lambda: cluster.partition("orders").isr == (leader,), "only the leader is in sync")
    with connect(cluster, leader) as client:
        assert produce(client, "orders", b"no") is ErrorCode.NOT_ENOUGH_REPLICAS
        # Whoever wants no promise gets none: written, but not committed, so nobody reads it yet.
        assert produce(client, "orders", b"loose", acks=1) is ErrorCode.NONE
        found = fetch(client, "orders")
        assert (found.high_watermark, bytes(found.records or b"")) == (0, b"")  # type: ignore[attr-defined]


def test_a_consumer_is_sent_to_the_replica_in_its_rack(cluster: LocalCluster) -> None:
    cluster.create_topic("orders", partitions=1)
    leader = cluster.leader("orders")
    nearby = next(each for each in RACKS if each != leader)
    with connect(cluster, leader) as client:
        assert produce(client, "orders", b"one") is ErrorCode.NONE
        answer = fetch(client, "orders", rack=RACKS[nearby])
        assert answer.preferred_read_replica == nearby  # type: ignore[attr-defined]
        assert not answer.records  # type: ignore[attr-defined]
        stays = fetch(client, "orders", rack=RACKS[leader])
        assert stays.preferred_read_replica == -1  # type: ignore[attr-defined]
        assert stays.records  # type: ignore[attr-defined]
    cluster.wait_until(lambda: log_of(cluster, nearby, "orders").high_watermark == 1, "the follower knows it")
    with connect(cluster, nearby) as client:
        assert fetch(client, "orders", rack=RACKS[nearby]).records  # type: ignore[attr-defined]


def test_the_leader_dies_and_nothing_acknowledged_is_lost(cluster: LocalCluster) -> None:
    cluster.create_topic("orders", partitions=1)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": True})
    first = [b"before-%d" % number for number in range(200)]
    assert send_all(producer, "orders", first) == []
    assert sorted(read_all(cluster, "orders", 200)) == sorted(first)
    dead = cluster.leader("orders")
    cluster.kill(dead)
    second = [b"after-%d" % number for number in range(200)]
    assert send_all(producer, "orders", second) == []
    assert cluster.leader("orders") != dead
    assert read_all(cluster, "orders", 200) == second  # The group goes on where it was.
    cluster.restart(dead)
    cluster.wait_until(lambda: len(cluster.partition("orders").isr) == 3, "the dead broker is in sync again")


@pytest.mark.parametrize("how", ["pause", "isolate"])
def test_a_deposed_leader_takes_nothing_back(cluster: LocalCluster, how: str) -> None:
    """What it took while it was alone is cut off when it comes back."""
    cluster.create_topic("orders", partitions=1)
    old = cluster.leader("orders")
    with connect(cluster, old) as client:
        assert produce(client, "orders", b"kept") is ErrorCode.NONE
    if how == "pause":
        cluster.pause(old)
    else:
        cluster.isolate(old)
        partition = cluster.broker(old).partitions.find("orders", 0)
        assert partition is not None
        assert partition.is_leader, "a leader that is cut off does not know that it was deposed"
        lost = memoryview(batch_of([b"lost"]))
        cluster.call(
            old,
            lambda: log_of(cluster, old, "orders").append_as_leader(
                lost, leader_epoch=partition.leader_epoch, now_ms=cluster.clock.now_ms()
            ),
        )
        assert log_of(cluster, old, "orders").end_offset == 2
    cluster.wait_until(lambda: cluster.leader("orders", beside=old) != old, "somebody else leads")
    new = cluster.leader("orders", beside=old)
    with connect(cluster, new) as client:
        assert produce(client, "orders", b"new") is ErrorCode.NONE
    if how == "pause":
        cluster.resume(old)
    else:
        cluster.rejoin(old)
    cluster.wait_until(lambda: old in cluster.partition("orders").isr, "it is in sync again")
    assert log_of(cluster, old, "orders").end_offset == 2
    assert read_all(cluster, "orders", 2) == [b"kept", b"new"]


def test_brokers_restart_one_after_the_other_and_clients_notice_nothing(cluster: LocalCluster) -> None:
    cluster.create_topic("orders", partitions=3)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "enable.idempotence": True})
    values = [b"%d" % number for number in range(300)]
    errors: list[object] = []
    sent = iter(values)

    def send_some() -> None:
        for value in [next(sent, None) for _ in range(20)]:
            if value is not None:
                producer.produce(
                    "orders", value, on_delivery=lambda error, _: errors.append(error) if error else None
                )
        producer.poll(0)

    for each in RACKS:
        send_some()
        cluster.restart(each)
        cluster.wait_until(
            lambda: all(len(cluster.partition("orders", index).isr) == 3 for index in range(3)), "all in sync"
        )
        send_some()
    while (value := next(sent, None)) is not None:
        producer.produce("orders", value)
    assert producer.flush(WAIT_S) == 0
    assert errors == []
    assert sorted(read_all(cluster, "orders", 300)) == sorted(values)


def test_a_follower_that_was_long_away_starts_over(cluster: LocalCluster) -> None:
    """Its leader keeps nothing of what it would need next."""
    cluster.create_topic("orders", partitions=1)
    leader = cluster.leader("orders")
    away = next(each for each in RACKS if each != leader)
    with connect(cluster, leader) as client:
        assert produce(client, "orders", b"old") is ErrorCode.NONE
        cluster.kill(away)
        cluster.wait_until(lambda: away not in cluster.partition("orders").isr, "it is not in sync")
        assert produce(client, "orders", b"gone") is ErrorCode.NONE
        assert produce(client, "orders", b"kept") is ErrorCode.NONE
        cluster.call(leader, lambda: log_of(cluster, leader, "orders").delete_records_before(2))
    cluster.restart(away)
    cluster.wait_until(lambda: away in cluster.partition("orders").isr, "it is in sync again")
    log = log_of(cluster, away, "orders")
    assert (log.start_offset, log.end_offset) == (2, 3)


def test_transactions_go_on_when_their_coordinator_dies(cluster: LocalCluster) -> None:
    cluster.create_topic("orders", partitions=2)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "t"})
    producer.init_transactions(WAIT_S)
    for number in range(2):
        producer.begin_transaction()
        producer.produce("orders", b"%d-0" % number, partition=0)
        producer.produce("orders", b"%d-1" % number, partition=1)
        producer.commit_transaction(WAIT_S)
        if number == 0:
            # A group's topic cannot be made any more when a broker is gone.
            assert sorted(read_all(cluster, "orders", 2)) == [b"0-0", b"0-1"]
            cluster.kill(cluster.leader("__transaction_state"))
    assert sorted(read_all(cluster, "orders", 2)) == [b"1-0", b"1-1"]


def test_settings_given_at_creation_are_on_every_broker(cluster: LocalCluster) -> None:
    """They may reach a broker while it is still making the log."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    topics = [f"picky-{number}" for number in range(30)]
    for topic in topics:
        new = NewTopic(topic, 3, 3, config={"min.insync.replicas": "3"})
        admin.create_topics([new])[topic].result(WAIT_S)

    def minimums(broker_id: int, topic: str) -> list[int]:
        def look() -> list[int]:
            hosted = cluster.broker(broker_id).partitions.of_topic(topic)
            return [partition.log.config.min_insync_replicas for partition in hosted]

        return cluster.call(broker_id, look)

    deadline = time.monotonic() + WAIT_S
    places = [(broker_id, topic) for broker_id in RACKS for topic in topics]
    while any(len(minimums(*place)) < 3 for place in places):
        assert time.monotonic() < deadline, "not all logs were made"
        time.sleep(0.1)
    assert {place: found for place in places if (found := minimums(*place)) != [3, 3, 3]} == {}
