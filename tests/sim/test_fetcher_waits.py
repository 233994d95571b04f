"""How long a follower lets its requests wait at a leader."""

import asyncio

from moldau.cluster.fetcher import FETCH_VERSION, LEADER_RETRY_MS
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import BrokerId
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import decode_request_header, encode_response_header
from moldau.protocol.messages.log.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from sim.story import PATIENCE_S, TOPIC, Story, lone_fetcher, tell


class ForgetfulLeader:
    """Implements `cluster.peer_network.PeerNetwork` and `PeerChannel`: it has not heard of partition 0 yet, has nothing
    new of the others, and leaves the second request without an answer."""

    def __init__(self) -> None:
        self.asked: list[FetchRequest] = []
        self.is_asked_again = asyncio.Event()

    async def connect(self, broker_id: int, timeout_s: float) -> "ForgetfulLeader":
        return self

    async def exchange(self, frame: bytes, timeout_s: float) -> memoryview:
        header, position = decode_request_header(frame)
        request, _ = decode(FetchRequest, FETCH_VERSION, memoryview(frame), position)
        self.asked.append(request)
        if len(self.asked) > 1:
            self.is_asked_again.set()
            await asyncio.Event().wait()
        [topic] = request.topics
        not_yet = ErrorCode.NOT_LEADER_OR_FOLLOWER
        found = [
            PartitionData(
                partition_index=each.partition, error_code=ErrorCode.NONE if each.partition else not_yet
            )
            for each in topic.partitions
        ]
        answer = FetchResponse(responses=[FetchableTopicResponse(topic_id=topic.topic_id, partitions=found)])
        head = encode_response_header(FetchRequest.API_KEY, FETCH_VERSION, header.correlation_id)
        return memoryview(head + bytes(encode(answer, FETCH_VERSION)))

    def close(self) -> None: ...


def test_a_request_is_back_when_a_partition_that_was_put_off_is_due() -> None:
    """Nothing else can be asked while it is parked, and what is written to that partition waits meanwhile."""

    async def story(it: Story) -> None:
        follower = next(each for each in it.brokers if each != it.leader())
        broker = it.brokers[follower].broker
        assert broker is not None
        leader = ForgetfulLeader()
        fetcher = lone_fetcher(broker, BrokerId(it.leader() or 0), leader)
        for index in (0, 1):
            partition = broker.partitions.find(TOPIC, index)
            assert partition is not None
            fetcher.follow(partition)
        await asyncio.wait_for(leader.is_asked_again.wait(), PATIENCE_S)
        first, second = leader.asked
        assert [each.partition for each in first.topics[0].partitions] == [0, 1]
        assert [each.partition for each in second.topics[0].partitions] == [1]
        assert first.max_wait_ms == broker.configs.broker.replica_fetch_wait_max_ms
        assert 0 < second.max_wait_ms <= LEADER_RETRY_MS
        fetcher.close()

    tell(story)
