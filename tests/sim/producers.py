"""Clients that write: with acks=all and idempotence, and without either."""

from contextlib import suppress
from typing import Final

from moldau.core.error_codes import ErrorCode
from moldau.protocol.messages.log.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from moldau.protocol.messages.transactions.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from moldau.protocol.records.builder import build_batch
from moldau.protocol.records.record import Record
from moldau.testing.simulation.sim_loop import EPOCH_MS
from sim.history import History, Place, Violation
from sim.sim_client import TRANSACTION, TROUBLE, SimClient

ACKS_ALL: Final = -1
PRODUCE_VERSION: Final = 9
NEVER: Final = frozenset({ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID})
"""To a producer with one batch under way these say that a batch it was told of is gone."""


async def produce(
    client: SimClient,
    place: tuple[str, int],
    values: list[bytes],
    *,
    acks: int = ACKS_ALL,
    producer: tuple[int, int] = (-1, -1),
    sequence: int = -1,
    transactional_id: str | None = None,
    version: int = PRODUCE_VERSION,
) -> tuple[ErrorCode, int]:
    """The error and the base offset. One of TROUBLE when there was no answer."""
    topic, partition = place
    now_ms = EPOCH_MS
    batch = build_batch(
        [Record(offset, now_ms, None, value, ()) for offset, value in enumerate(values)],
        producer_id=producer[0],
        producer_epoch=producer[1],
        base_sequence=sequence,
        is_transactional=transactional_id is not None,
    )
    request = ProduceRequest(
        transactional_id=transactional_id,
        acks=acks,
        timeout_ms=2000,
        topic_data=[
            TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=partition, records=bytes(batch))]
            )
        ],
    )
    leader = await client.leader(topic, partition)
    try:
        answer = await client.ask(leader, request, version, ProduceResponse)
    except TROUBLE:
        client.forget(topic, partition)
        raise
    found = answer.responses[0].partition_responses[0]
    code = ErrorCode(found.error_code)
    if code is not ErrorCode.NONE:
        client.forget(topic, partition)
    return code, found.base_offset


async def keep_producing(client: SimClient, history: History, place: tuple[str, int]) -> None:
    """One batch after the other, each until it is acknowledged, with the same sequence number."""
    producer = (await init_producer(client, None), 0)
    sequence = number = 0
    while True:
        values = [f"{client.name}-{place[1]}-{number + step}".encode() for step in range(1 + number % 3)]
        history.sent.update(values)
        while True:
            try:
                code, base = await produce(client, place, values, producer=producer, sequence=sequence)
            except TROUBLE:
                await client.pause()
                continue
            if code is ErrorCode.NONE:
                break
            if code in NEVER:
                raise Violation(f"{values} got {code.name}: something acknowledged before it is gone")
            await client.pause()
        for step, value in enumerate(values):
            history.acknowledge(value, Place(*place, base + step))
        number += len(values)
        sequence += len(values)
        await client.pause()


async def keep_producing_loosely(client: SimClient, place: tuple[str, int]) -> None:
    """With acks=1: what it writes may be lost, and makes logs part from one another."""
    number = 0
    while True:
        number += 1
        with suppress(*TROUBLE):
            await produce(client, place, [f"loose-{client.name}-{number}".encode()], acks=1)
        await client.pause()


async def init_producer(client: SimClient, transactional_id: str | None) -> int:
    while True:
        producer = await try_init_producer(client, transactional_id)
        if producer is not None:
            return producer[0]


async def try_init_producer(client: SimClient, transactional_id: str | None) -> tuple[int, int] | None:
    request = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=4000)
    try:
        host = await client.coordinator(transactional_id or client.name, TRANSACTION)
        answer = await client.ask(host, request, 4, InitProducerIdResponse)
    except TROUBLE:
        return None
    if answer.error_code:
        await client.pause()
        return None
    return answer.producer_id, answer.producer_epoch
