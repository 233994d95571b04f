"""A client that has its next requests on the way already: they are served the moment an earlier one is answered."""

from collections import deque
from itertools import pairwise

from moldau.broker.request.client_session import ClientSession
from moldau.broker.topics.topic_rules import NewTopic
from moldau.cluster.peer_network import request_frame
from moldau.core.chunks import Chunk
from moldau.protocol.messages.log.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record
from moldau.testing.simulation.sim_loop import EPOCH_MS
from moldau.testing.simulation.sim_network import SimConnection
from sim.producers import ACKS_ALL, PRODUCE_VERSION
from sim.story import Story, tell

PAIRS = "pairs"
WRITES = 20


class Pipeline(SimConnection):
    """All its frames have arrived; as on a socket, an answer makes room for the next of them."""

    def __init__(self, it: Story, leader: int, frames: list[bytes]) -> None:
        super().__init__(it.network, "pipeline", it.brokers[leader].host)
        broker = it.brokers[leader].broker
        assert broker is not None
        self.session = ClientSession(broker, self)
        self._loop = it.loop
        self._frames = deque(frames)
        self.answered_at: list[float] = []

    def serve_next(self) -> None:
        if self._frames:
            assert self.session.on_frame(memoryview(bytearray(self._frames.popleft()))) is None

    def reply(self, chunks: list[Chunk]) -> None:
        self.answered_at.append(self._loop.time())
        self.serve_next()


def write(partition: int, correlation_id: int) -> bytes:
    batch = build_batch([Record(0, EPOCH_MS, None, b"value", ())])
    data = PartitionProduceData(index=partition, records=bytes(batch))
    request = ProduceRequest(
        acks=ACKS_ALL, timeout_ms=30_000, topic_data=[TopicProduceData(name=PAIRS, partition_data=[data])]
    )
    return request_frame(request, PRODUCE_VERSION, correlation_id, "pipeline")


def test_what_is_written_while_a_follower_is_listened_to_does_not_wait_for_its_next_fetch() -> None:
    """A follower's fetch commits a write to one partition, and with that the next write, to another, is served: the
    same fetch takes it along, in whichever order it names the two."""

    async def story(it: Story) -> None:
        leader = it.leader()
        assert leader is not None
        broker = it.brokers[leader].broker
        assert broker is not None
        await broker.topics.create(NewTopic(PAIRS, 2 * len(it.brokers), len(it.brokers)))

        def led() -> list[int]:
            return [each.index for each in broker.partitions.of_topic(PAIRS) if each.is_leader]

        await it.until(lambda: len(led()) == 2)
        client = Pipeline(it, leader, [write(led()[each % 2], each) for each in range(WRITES)])
        client.serve_next()
        await it.until(lambda: len(client.answered_at) == WRITES)
        longest_s = max(after - before for before, after in pairwise(client.answered_at))
        assert longest_s * 1000 < broker.configs.broker.replica_fetch_wait_max_ms / 2

    tell(story)
