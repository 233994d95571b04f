"""Too few replicas in sync: what a write with acks=all is told before and after it was appended."""

from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.log.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from moldau.protocol.records.batch import Compression
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record
from moldau.testing.simulation.sim_loop import EPOCH_MS
from sim.producers import ACKS_ALL, PRODUCE_VERSION, produce
from sim.story import TOPIC, Story, tell


def cut_off(it: Story, leader: int) -> None:
    """Its followers live, but do not reach it."""
    for each, broker in it.brokers.items():
        if each != leader:
            it.network.cut(broker.host, it.brokers[leader].host)
            it.network.cut(it.brokers[leader].host, broker.host)


def test_what_was_appended_before_the_replicas_were_too_few_waits_and_is_committed_once_they_are_enough() -> (
    None
):
    """As in Kafka since KIP-966: below the minimum nothing is committed, so there is nothing to tell but that time
    is up. Whoever comes later is refused at once."""

    async def story(it: Story) -> None:
        await it.produce(b"before")
        leader = it.leader()
        assert leader is not None
        cut_off(it, leader)
        code, _ = await produce(it.client, (TOPIC, 0), [b"waits"])
        assert code is ErrorCode.REQUEST_TIMED_OUT
        assert it.isr(leader) == (leader,)
        assert it.high_watermark(leader) == 1
        code, _ = await produce(it.client, (TOPIC, 0), [b"late"])
        assert code is ErrorCode.NOT_ENOUGH_REPLICAS
        it.network.mend_all()
        await it.until(lambda: all(it.high_watermark(each) == 2 for each in it.brokers))

    tell(story)


def two_partitions(other: int) -> ProduceRequest:
    """The batch for the other one has to be packed anew, in a topic that keeps gzip."""
    record = Record(0, EPOCH_MS, None, b"value", ())
    batches = {0: build_batch([record]), other: build_batch([record], compression=Compression.SNAPPY)}
    return ProduceRequest(
        acks=ACKS_ALL,
        timeout_ms=2000,
        topic_data=[
            TopicProduceData(
                name=TOPIC,
                partition_data=[
                    PartitionProduceData(index=index, records=bytes(batch))
                    for index, batch in batches.items()
                ],
            )
        ],
    )


def test_a_write_that_was_committed_and_lost_its_replicas_before_its_answer_is_told_so() -> None:
    async def story(it: Story) -> None:
        leader = it.leader()
        assert leader is not None
        broker = it.brokers[leader].broker
        assert broker is not None
        entry = broker.catalog.find(TOPIC)
        assert entry is not None
        other = next(at for at, each in enumerate(entry.partitions) if each.replicas[1] == leader)
        it.brokers[entry.partitions[other].leader].kill(with_power=False)
        partition = broker.partitions.find(TOPIC, other)
        assert partition is not None
        await it.until(lambda: partition.is_leader and len(it.isr(leader)) == 2)
        it.brokers[leader].slow_files(delay_ms=5000)
        asked = it.loop.create_task(
            it.client.ask(
                it.brokers[leader].host, two_partitions(other), PRODUCE_VERSION, ProduceResponse, timeout_s=90
            )
        )
        await it.until(lambda: it.high_watermark(leader) == 1)
        cut_off(it, leader)
        # A follower that has everything is in sync, however long it is silent.
        await produce(it.client, (TOPIC, 0), [b"more"], acks=1)
        told = (await asked).responses[0].partition_responses
        codes = {each.index: ErrorCode(each.error_code) for each in told}
        assert codes == {
            0: ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
            other: ErrorCode.REQUEST_TIMED_OUT,
        }

    tell(story, **{"compression.type": "gzip"})
