"""What seeds once found, told as stories of a small simulated cluster."""

import asyncio
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from moldau.broker.topics.internal_topics import TRANSACTIONS_TOPIC
from moldau.coordination.image import ImageDelta
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import BrokerId
from moldau.protocol.messages.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from moldau.protocol.messages.transactions.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from sim.producers import init_producer, produce
from sim.sim_client import TRANSACTION, SimClient
from sim.story import PATIENCE_S, TOPIC, Story, lone_fetcher, tell


class WorstLuck(Random):
    """A machine that loses power with it keeps only what was synced."""

    def random(self) -> float:
        return 0.99

    def randint(self, a: int, b: int) -> int:
        return a

    def choice(self, seq: Any) -> Any:
        return seq[0]


def test_a_leader_that_lost_power_and_is_back_at_once_does_not_lead_by_its_old_registration() -> None:
    async def story(it: Story) -> None:
        for number in range(5):
            await it.produce(b"%d" % number)
        await it.until(lambda: all(it.high_watermark(each) == 5 for each in it.brokers))
        leader = it.leader()
        assert leader is not None
        it.brokers[leader].kill(with_power=True, luck=WorstLuck())
        # Long before its session ends, so that the dead process's registration is still there.
        await it.brokers[leader].start()
        await it.until(lambda: all(it.high_watermark(each) == 5 for each in it.brokers))
        assert it.leader() not in (None, leader)

    tell(story)


def test_a_deposed_leader_counts_nothing_a_later_leader_wrote() -> None:
    """It may not have heard of its successor when one of its old followers, by mistake, asks it once more."""

    async def story(it: Story) -> None:
        leader = it.leader()
        assert leader is not None
        part = it.partition(leader)
        assert part is not None and part.leading is not None
        replica = next(each for each in it.brokers if each != leader)
        broker = it.brokers[leader].broker
        assert broker is not None
        member = broker.members.find(replica)
        assert member is not None
        answer = await it.fetch_as(replica, member.epoch, leader, part.leader_epoch, 2, part.leader_epoch + 1)
        assert answer.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH

    tell(story)


class SlowNetwork:
    """Implements `cluster.peer_network.PeerNetwork` and `PeerChannel`: nobody is reached before `is_reached` is set,
    and nobody ever answers."""

    def __init__(self) -> None:
        self.is_reached = asyncio.Event()
        self.is_asked = asyncio.Event()
        self.frames: list[bytes] = []

    async def connect(self, broker_id: int, timeout_s: float) -> "SlowNetwork":
        await self.is_reached.wait()
        return self

    async def exchange(self, frame: bytes, timeout_s: float) -> memoryview:
        self.frames.append(frame)
        self.is_asked.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody answers")

    def close(self) -> None: ...


def test_what_was_followed_when_connecting_began_is_not_asked_for_when_it_is_followed_no_more() -> None:
    """Else a broker that leads by then tells the leader it followed before how far its own writes go."""

    async def story(it: Story) -> None:
        follower = next(each for each in it.brokers if each != it.leader())
        broker, part = it.brokers[follower].broker, it.partition(follower)
        assert broker is not None and part is not None
        for is_followed in (True, False):
            network = SlowNetwork()
            fetcher = lone_fetcher(broker, BrokerId(it.leader() or 0), network)
            fetcher.follow(part)
            await asyncio.sleep(0.1)
            if not is_followed:
                fetcher.unfollow(part)
            network.is_reached.set()
            await asyncio.wait_for(network.is_asked.wait(), PATIENCE_S)
            assert (part.topic_id in network.frames[0]) == is_followed
            fetcher.close()

    tell(story)


def test_a_write_verified_before_its_transaction_was_ended_is_not_appended_after() -> None:
    """It would open a transaction that nobody ends (KIP-890)."""

    async def story(it: Story) -> None:
        producer_id = await init_producer(it.client, "txn")
        coordinator = await it.client.coordinator("txn", TRANSACTION)
        leaders = [await it.client.leader(TOPIC, each) for each in range(3)]
        index, leader = next((at, host) for at, host in enumerate(leaders) if host != coordinator)
        added = await it.client.ask(
            coordinator,
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id="txn",
                v3_and_below_producer_id=producer_id,
                v3_and_below_producer_epoch=0,
                v3_and_below_topics=[AddPartitionsToTxnTopic(name=TOPIC, partitions=[index])],
            ),
            3,
            AddPartitionsToTxnResponse,
        )
        assert added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code == 0
        # The coordinator says that the transaction is open; that is heard only when it has been ended.
        it.network.cut(coordinator, leader)
        writing = it.loop.create_task(
            produce(
                it.client,
                (TOPIC, index),
                [b"late"],
                producer=(producer_id, 0),
                sequence=0,
                transactional_id="txn",
            )
        )
        await asyncio.sleep(0.2)
        other = SimClient("other", it.network, [leader], Random(1))
        marker = WritableTxnMarker(
            producer_id=producer_id,
            producer_epoch=0,
            transaction_result=False,
            topics=[WritableTxnMarkerTopic(name=TOPIC, partition_indexes=[index])],
            coordinator_epoch=0,
        )
        ending = it.loop.create_task(
            other.ask(leader, WriteTxnMarkersRequest(markers=[marker]), 1, WriteTxnMarkersResponse)
        )
        await asyncio.sleep(0.2)
        it.network.mend_all()
        await ending
        code, _ = await writing
        assert code is ErrorCode.NOT_ENOUGH_REPLICAS
        # Tried again it is told the truth, or is part of the transaction that really is open.
        code, _ = await produce(
            it.client,
            (TOPIC, index),
            [b"late"],
            producer=(producer_id, 0),
            sequence=0,
            transactional_id="txn",
        )
        assert code is ErrorCode.NONE

    tell(story)


@pytest.mark.parametrize("side", ["leader", "follower"])
def test_a_throttled_replica_catches_up_slowly_and_comes_into_sync(side: str) -> None:
    """20 KB a second (KIP-73): ten seconds' worth passes at once, the rest of 400 KB must wait for the window to
    pass. At the leader what the other follower fetched counts too."""

    async def story(it: Story) -> None:
        leader = it.leader()
        assert leader is not None
        away = next(each for each in it.brokers if each != leader)
        it.brokers[away].kill(with_power=False)
        await it.until(lambda: len(it.isr(leader)) == 2)
        for _ in range(40):
            await it.produce(b"x" * 10_000)
        it.set_broker(**{f"{side}.replication.throttled.rate": "20000", "replica.fetch.max.bytes": "102000"})
        begun = it.loop.time()
        await it.brokers[away].start()
        await it.until(lambda: away in it.isr(leader))
        assert it.loop.time() - begun > 5

    tell(story, **{f"{side}.replication.throttled.replicas": "*"})


def test_a_replica_that_is_taken_away_and_given_back_at_once_gets_a_new_log() -> None:
    """Its old one is still there then, but about to be deleted."""

    async def story(it: Story) -> None:
        await it.produce(b"one")
        follower = next(each for each in it.brokers if each != it.leader())
        member = it.brokers[follower].member
        old = it.partition(follower)
        assert member is not None and old is not None
        image, delta = member.image, ImageDelta(topics=frozenset({TOPIC}))
        topic = image.topics[TOPIC]
        others = tuple(each for each in topic.replicas[0] if each != follower)
        without = replace(topic, replicas=(others, *topic.replicas[1:]))
        member.applier.image_changed(replace(image, topics={**image.topics, TOPIC: without}), delta)
        member.applier.image_changed(image, delta)
        await it.produce(b"two")
        await it.until(lambda: it.high_watermark(follower) == 2)
        new = it.partition(follower)
        assert new is not None and new.log is not None and new.log is not old.log

    tell(story)


def test_while_a_transaction_has_no_coordinator_its_producer_is_to_try_again() -> None:
    async def story(it: Story) -> None:
        producer_id = await init_producer(it.client, "txn")
        coordinator = await it.client.coordinator("txn", TRANSACTION)
        leaders = [await it.client.leader(TOPIC, each) for each in range(3)]
        index, leader = next((at, host) for at, host in enumerate(leaders) if host != coordinator)
        broker = next(each.broker for each in it.brokers.values() if each.host == leader)
        assert broker is not None
        entry = broker.catalog.find(TRANSACTIONS_TOPIC)
        assert entry is not None
        nobody = tuple(each._replace(leader=-1) for each in entry.partitions)
        broker.catalog.put(replace(entry, partitions=nobody))
        code, _ = await produce(
            it.client,
            (TOPIC, index),
            [b"early"],
            producer=(producer_id, 0),
            sequence=0,
            transactional_id="txn",
        )
        assert code is ErrorCode.NOT_ENOUGH_REPLICAS

    tell(story)
