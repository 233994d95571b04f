"""A coordinator that was deposed while its process stood still, and answers before it has heard of that."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from moldau.broker.topics.internal_topics import TRANSACTIONS_TOPIC
from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.transactions.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from moldau.protocol.messages.transactions.end_txn import EndTxnRequest, EndTxnResponse
from moldau.protocol.messages.transactions.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.protocol.spec import Request
from sim.sim_client import TRANSACTION, TROUBLE
from sim.story import TOPIC, Story, tell
from sim.transactions import ADD_VERSION, AGAIN, END_V1

INIT_VERSION = 4
TIMEOUT_MS = 900_000
"""Clocks of brokers differ by minutes."""
NAME = "txn"
Producer = tuple[int, int]


async def new_producer(it: Story) -> Producer:
    request = InitProducerIdRequest(transactional_id=NAME, transaction_timeout_ms=TIMEOUT_MS)
    while True:
        host = await it.client.coordinator(NAME, TRANSACTION)
        with suppress(*TROUBLE):
            answer = await it.client.ask(host, request, INIT_VERSION, InitProducerIdResponse)
            if answer.error_code == ErrorCode.NONE:
                return answer.producer_id, answer.producer_epoch
        await it.client.pause()


def begin_request(producer: Producer, *partitions: int) -> AddPartitionsToTxnRequest:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=NAME,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=[AddPartitionsToTxnTopic(name=TOPIC, partitions=list(partitions))],
    )


def end_request(producer: Producer, *, committed: bool) -> EndTxnRequest:
    return EndTxnRequest(
        transactional_id=NAME, producer_id=producer[0], producer_epoch=producer[1], committed=committed
    )


async def ask_at(it: Story, host: str, request: Request) -> ErrorCode | None:
    """What that broker says; None when it says nothing."""
    try:
        if isinstance(request, AddPartitionsToTxnRequest):
            added = await it.client.ask(host, request, ADD_VERSION, AddPartitionsToTxnResponse)
            return ErrorCode(
                added.results_by_topic_v3_and_below[0].results_by_partition[0].partition_error_code
            )
        return ErrorCode((await it.client.ask(host, request, END_V1, EndTxnResponse)).error_code)
    except TROUBLE:
        return None


async def insist(it: Story, request: Request) -> ErrorCode:
    """What the coordinator says in the end, whoever it is by then."""
    while True:
        code = await ask_at(it, await it.client.coordinator(NAME, TRANSACTION), request)
        if code is not None and code not in AGAIN:
            return code
        await it.client.pause()


def coordinator(it: Story) -> int:
    """By the latest election anybody has heard of."""
    led = [
        (part.leader_epoch, broker_id)
        for broker_id, each in it.brokers.items()
        if each.broker is not None
        and (part := each.broker.partitions.find(TRANSACTIONS_TOPIC, 0)) is not None
        and part.is_leader
    ]
    return max(led)[1]


async def depose(it: Story) -> int:
    """Returns the broker that was the coordinator. It goes on, and knows nothing of its successor yet."""
    old = coordinator(it)
    it.network.freeze(it.brokers[old].host)
    it.brokers[old].lose_session_unnoticed()
    await it.until(lambda: coordinator(it) != old)
    return old


async def after_an_abort(it: Story, producer: Producer) -> Request:
    """To the old coordinator there is nothing to commit."""
    assert await insist(it, begin_request(producer, 0)) is ErrorCode.NONE
    assert await insist(it, end_request(producer, committed=False)) is ErrorCode.NONE
    await it.client.pause()
    return end_request(producer, committed=True)


async def after_a_commit(it: Story, producer: Producer) -> Request:
    """To the old coordinator it is done already: the transaction that comes next would never be committed."""
    assert await insist(it, begin_request(producer, 0)) is ErrorCode.NONE
    assert await insist(it, end_request(producer, committed=True)) is ErrorCode.NONE
    await it.client.pause()
    return end_request(producer, committed=True)


@pytest.mark.parametrize("prepare", [after_an_abort, after_a_commit])
def test_it_does_not_say_how_a_transaction_ended(
    prepare: Callable[[Story, Producer], Awaitable[Request]],
) -> None:
    async def story(it: Story) -> None:
        producer = await new_producer(it)
        request = await prepare(it, producer)
        old = await depose(it)
        assert await insist(it, begin_request(producer, 0)) is ErrorCode.NONE
        it.network.mend_all()
        assert await ask_at(it, it.brokers[old].host, request) in {None, *AGAIN}
        it.brokers[old].rejoin_store()
        assert await insist(it, request) is ErrorCode.NONE

    tell(story)


def test_it_does_not_say_that_a_partition_is_in_the_transaction() -> None:
    async def story(it: Story) -> None:
        producer = await new_producer(it)
        assert await insist(it, begin_request(producer, 0)) is ErrorCode.NONE
        old = await depose(it)
        assert await insist(it, end_request(producer, committed=True)) is ErrorCode.NONE
        it.network.mend_all()
        assert await ask_at(it, it.brokers[old].host, begin_request(producer, 0)) in {None, *AGAIN}
        it.brokers[old].rejoin_store()
        assert await insist(it, begin_request(producer, 0)) is ErrorCode.NONE

    tell(story)


def test_it_fences_nobody() -> None:
    async def story(it: Story) -> None:
        first = await new_producer(it)
        old = await depose(it)
        second = await new_producer(it)
        assert second == (first[0], first[1] + 1)
        it.network.mend_all()
        code = await ask_at(it, it.brokers[old].host, end_request(second, committed=True))
        assert code in {None, *AGAIN}
        it.brokers[old].rejoin_store()
        assert await insist(it, begin_request(second, 0)) is ErrorCode.NONE

    tell(story)
