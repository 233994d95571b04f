"""A follower and its leader tell each other what has changed, and nothing else (KIP-227)."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

import pytest

from moldau.broker.fetch.follower_fetch_session import LOOK_MS
from moldau.cluster.fetcher import FETCH_VERSION, LEADER_RETRY_MS
from moldau.core.error_codes import ErrorCode
from moldau.core.ids import BrokerId, TopicId
from moldau.protocol.codec import decode, encode
from moldau.protocol.headers import decode_request_header, encode_response_header
from moldau.protocol.messages.log.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from sim.story import PATIENCE_S, TOPIC, Story, lone_fetcher, tell

PARTITIONS = (0, 1, 2)


class ScriptedLeader:
    """Implements `cluster.peer_network.PeerNetwork` and `PeerChannel`: gives one answer after the other, then none."""

    def __init__(self, *answers: tuple[int, Mapping[int, ErrorCode]]) -> None:
        """Of each answer the session and what is said of which partition."""
        self._answers = list(answers)
        self.asked: list[FetchRequest] = []
        self.is_silent = asyncio.Event()

    async def connect(self, broker_id: int, timeout_s: float) -> "ScriptedLeader":
        return self

    async def exchange(self, frame: bytes, timeout_s: float) -> memoryview:
        header, position = decode_request_header(frame)
        request, _ = decode(FetchRequest, FETCH_VERSION, memoryview(frame), position)
        self.asked.append(request)
        if not self._answers:
            self.is_silent.set()
            await asyncio.Event().wait()
        session_id, codes = self._answers.pop(0)
        topic_id = self.asked[0].topics[0].topic_id
        if not codes:  # Nothing comes in time.
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), request.max_wait_ms / 1000)
        data = [PartitionData(partition_index=index, error_code=code) for index, code in codes.items()]
        answer = FetchResponse(
            session_id=session_id,
            responses=[FetchableTopicResponse(topic_id=topic_id, partitions=data)] if data else [],
        )
        head = encode_response_header(FetchRequest.API_KEY, FETCH_VERSION, header.correlation_id)
        return memoryview(head + bytes(encode(answer, FETCH_VERSION)))

    def close(self) -> None: ...


def named(request: FetchRequest) -> list[int]:
    return sorted(each.partition for topic in request.topics for each in topic.partitions)


def forgotten(request: FetchRequest) -> list[int]:
    return sorted(each for topic in request.forgotten_topics_data for each in topic.partitions)


def ask(*answers: tuple[int, Mapping[int, ErrorCode]]) -> list[FetchRequest]:
    """What a follower of all three partitions asks, request by request, whose leader answers so."""
    asked: list[FetchRequest] = []

    async def story(it: Story) -> None:
        broker = it.brokers[1].broker
        assert broker is not None
        leader = ScriptedLeader(*answers)
        fetcher = lone_fetcher(broker, BrokerId(2), leader)
        for index in PARTITIONS:
            partition = broker.partitions.find(TOPIC, index)
            assert partition is not None
            partition.is_leader = False  # As far as this one goes.
            fetcher.follow(partition)
        await asyncio.wait_for(leader.is_silent.wait(), PATIENCE_S)
        fetcher.close()
        asked.extend(leader.asked)

    tell(story)
    return asked


FINE = ErrorCode.NONE


def test_everything_is_named_once() -> None:
    asked = ask((7, dict.fromkeys(PARTITIONS, FINE)), (7, {}), (7, {1: FINE}))
    assert [named(each) for each in asked] == [[0, 1, 2], [], [], []]
    assert [(each.session_id, each.session_epoch) for each in asked] == [(0, 0), (7, 1), (7, 2), (7, 3)]


def test_a_leader_without_sessions_hears_everything_each_time() -> None:
    asked = ask((0, dict.fromkeys(PARTITIONS, FINE)), (0, dict.fromkeys(PARTITIONS, FINE)))
    assert [named(each) for each in asked] == [[0, 1, 2]] * 3
    assert [(each.session_id, each.session_epoch) for each in asked] == [(0, 0)] * 3


def test_what_is_put_off_is_taken_back_and_named_again_in_time() -> None:
    refused = dict.fromkeys(PARTITIONS, FINE) | {1: ErrorCode.NOT_LEADER_OR_FOLLOWER}
    asked = ask((7, refused), (7, {}), (7, {1: FINE}))
    assert [named(each) for each in asked] == [[0, 1, 2], [], [1], []]
    assert [forgotten(each) for each in asked] == [[], [1], [], []]
    assert 0 < asked[1].max_wait_ms <= LEADER_RETRY_MS


class Follower:
    """Says what a follower of partition 0's leader says."""

    def __init__(self, it: Story) -> None:
        leader = it.leader()
        assert leader is not None
        part, broker = it.partition(leader), it.brokers[leader].broker
        assert part is not None and broker is not None
        replica = next(each for each in it.brokers if each != leader)
        member = broker.members.find(replica)
        assert member is not None
        self._it = it
        self._host = it.brokers[leader].host
        self._part = part
        self._state = ReplicaState(replica_id=replica, replica_epoch=member.epoch)

    @property
    def topic_id(self) -> TopicId:
        return self._part.topic_id

    async def ask(
        self, session_id: int, epoch: int, offsets: Mapping[int, int], forget: Sequence[int] = ()
    ) -> FetchResponse:
        wanted = [
            FetchPartition(
                partition=index,
                current_leader_epoch=self._part.leader_epoch,
                fetch_offset=offset,
                partition_max_bytes=100_000,
            )
            for index, offset in offsets.items()
        ]
        request = FetchRequest(
            replica_state=self._state,
            max_wait_ms=0,
            min_bytes=1,
            session_id=session_id,
            session_epoch=epoch,
            topics=[FetchTopic(topic_id=self.topic_id, partitions=wanted)] if wanted else [],
            forgotten_topics_data=[ForgottenTopic(topic_id=self.topic_id, partitions=forget)]
            if forget
            else [],
        )
        return await self._it.client.ask(self._host, request, FETCH_VERSION, FetchResponse)

    async def until_all_is_looked_at(self) -> None:
        """By the next request, on the simulated clock."""
        due = self._it.loop.time() + LOOK_MS / 1000
        await self._it.until(lambda: self._it.loop.time() > due)


def found(answer: FetchResponse) -> dict[int, tuple[int, bool]]:
    """Of each partition in the answer its error, and whether there are records."""
    return {
        each.partition_index: (each.error_code, bool(each.records))
        for topic in answer.responses
        for each in topic.partitions
    }


def test_a_leader_answers_with_what_is_news() -> None:
    async def story(it: Story) -> None:
        follower = Follower(it)
        first = await follower.ask(0, 0, {0: 0})
        assert first.session_id != 0
        assert found(first) == {0: (0, False)}
        assert found(await follower.ask(first.session_id, 1, {})) == {}
        await it.produce(b"one")
        assert found(await follower.ask(first.session_id, 2, {})) == {0: (0, True)}
        # It did not say that it has got it; and it has heard of the high watermark.
        again = await follower.ask(first.session_id, 3, {0: 0})
        assert found(again) == {0: (0, True)}
        assert again.responses[0].partitions[0].high_watermark == 1
        assert found(await follower.ask(first.session_id, 4, {0: 1})) == {}

    tell(story)


def test_what_is_not_there_is_refused_until_it_is_taken_back() -> None:
    async def story(it: Story) -> None:
        follower = Follower(it)
        first = await follower.ask(0, 0, {0: 0, 9: 0})
        assert found(first) == {0: (0, False), 9: (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, False)}
        assert found(await follower.ask(first.session_id, 1, {}, forget=[9])) == {}
        await follower.until_all_is_looked_at()
        assert found(await follower.ask(first.session_id, 2, {})) == {}

    tell(story)


def test_everything_is_looked_at_again_after_a_while() -> None:
    """Whatever went by unnoticed is noticed then; here an answer that the follower never used."""

    async def story(it: Story) -> None:
        follower = Follower(it)
        await it.produce(b"one")
        first = await follower.ask(0, 0, {0: 0})
        assert found(first) == {0: (0, True)}
        assert found(await follower.ask(first.session_id, 1, {})) == {}
        await follower.until_all_is_looked_at()
        assert found(await follower.ask(first.session_id, 2, {})) == {0: (0, True)}

    tell(story)


@pytest.mark.parametrize(
    ("session_id", "epoch", "code"),
    [
        (99, 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (0, 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (1, 5, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
    ],
)
def test_a_request_out_of_order_is_refused_and_the_follower_starts_anew(
    session_id: int, epoch: int, code: ErrorCode
) -> None:
    async def story(it: Story) -> None:
        follower = Follower(it)
        assert (await follower.ask(0, 0, {0: 0})).session_id == 1
        assert (await follower.ask(session_id, epoch, {})).error_code == code
        assert found(await follower.ask(0, 0, {0: 0})) == {0: (0, False)}

    tell(story)


def test_a_request_without_a_session_gets_none() -> None:
    async def story(it: Story) -> None:
        follower = Follower(it)
        answer = await follower.ask(0, -1, {0: 0})
        assert (answer.session_id, found(answer)) == (0, {0: (0, False)})
        assert (await follower.ask(0, 1, {})).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND

    tell(story)
